"""Where the paper's claim for sm-laplace, (epsilon, 1/n^2)-DP, is proved, where it is refuted, and what is between.

For each dataset's parameters (K = 5, C = 0.99, public L and delta) and each epsilon: the delta that is claimed, the delta that
the worst tables found need (exactly), and the delta that is proved. Draws docs/claims.svg. The other methods come first.

    python -m benchmarks.published_claims [docs/claims.svg]
    python -m benchmarks.published_claims --trees

The second does the same for greedy trees of depth 3 and 4, with the paper's accounting by levels. In all tables below, the record
that one of the two lacks is captured by none of the rules that are chosen: it stays on the side where tests are not true. What
happens on the other sides has the same distribution on both tables, so the distribution of lists, with a tree's budget, says all.
"""

import math
import sys
from fractions import Fraction

import numpy as np
from tests.privacy.exact_learner import Learner
from tests.privacy.test_whole_learner import learner
from tests.privacy.typed_lists import divergences, output_distribution
from tests.support.selectors import budget_of, proved_of, selector

from discreet.private.mechanisms.published import ROUND_UP
from discreet.private.mechanisms.support_checks import probability_of_bad_runs
from discreet.private.noise.sums import at_least

K, CONFIDENCE = 5, 0.99
DATA = {"COMPAS": (5050, 252), "Adult": (34189, 1709), "German Credit": (700, 84)}  # training records, minimum support
CANDIDATES = {"COMPAS": 300, "Adult": 820, "German Credit": 224}
EPSILONS = {
    "COMPAS": [*np.geomspace(0.01, 0.5, 12), 0.55, 0.58, 0.586, 0.6, 0.626, 0.65, 0.7, 0.76, 0.9, 1.2],
    "Adult": [*np.geomspace(0.01, 0.1, 9), 0.11, 0.12, 0.124, 0.126, 0.129, 0.135, 0.147, 0.17, 0.2, 0.25],
    "German Credit": [*np.geomspace(0.01, 1.2, 14), 1.55, 2.0],
}
# how many rules capture all records but two (b, c), and how many capture b alone
RULES = ((4, 1), (8, 2), (11, 2), (15, 3), (14, 4))


def setup(name, epsilon, length=K, tree=False):
    n, support = DATA[name]
    budget = budget_of(
        *("sm-laplace", epsilon, length, Fraction(1, n**2)), min_support=support, confidence=CONFIDENCE, tree=tree
    )
    choice = selector("sm-laplace", budget.choice_epsilon, float(budget.choice_delta), support)
    return n, support, budget, choice


def found(name, epsilon, *shape):
    """The delta that the worst of some tables needs: exactly, from all outputs."""
    n, support, budget, choice = setup(name, epsilon, *shape)
    e, threshold = float(budget.choice_epsilon), budget.threshold(support)
    fit = Learner(choice, e, threshold, budget.settings.max_length)
    types = np.array([[True, False], [False, True], [False, False]])
    worst = 0.0
    for size in (n, threshold + math.ceil(8 / e)):
        more = np.array([[0, size - 2], [0, 1], [1, 0]])
        less = more - np.array([[0, 0], [0, 0], [1, 0]])
        worst = max(worst, *(max(divergences(fit, types, np.array(r), less, more, epsilon)) for r in RULES))
    return worst


def proved(name, epsilon, *shape):
    """By Theorem 9a, and by Theorem 9 alone."""
    _, support, budget, choice = setup(name, epsilon, *shape)
    e, threshold = float(budget.choice_epsilon), budget.threshold(support)
    sharp = proved_of("sm-laplace", budget, CANDIDATES[name]).delta
    prices = choice.prices() * ROUND_UP
    passing = np.array([at_least(threshold - n - 1, e) for n in range(support)] + [1.0])
    length = budget.settings.max_length
    return sharp, probability_of_bad_runs(prices, passing, epsilon - length * e * ROUND_UP, length - 1) * ROUND_UP


def rules_of_nobody(mechanism, epsilon, support, candidates, types, less, more, delta=0.0, length=K, tree=False):
    """The loss of "the list of K - 1 rules of the first type, in any order", with the histogram's share."""
    fit, guarantee = learner(mechanism, epsilon, delta, length, support, CONFIDENCE, candidates, tree)
    nobody = length - 1
    numbers = np.array([nobody, candidates - nobody])
    p, q = (output_distribution(fit, types, numbers, table)[(0,) * nobody] for table in (less, more))
    return abs(math.log(q / p)) + fit.epsilon, guarantee


def others(*shape, supports=(72, 84, 150, 202, 203, 205, 252, 1709)):
    """The other published methods, at K = 5 unless told: explicit neighbours, their loss, and what is proved."""
    types = np.array([[False, False], [False, True]])  # a; b (and c), of which the second type is true
    less, more = np.array([[1, 0], [0, 1]]), np.array([[1, 0], [1, 1]])
    for support in supports:
        loss, guarantee = rules_of_nobody("sm-cauchy", 1.0, support, 9, types, less, more, 0.0, *shape)
        print(f"sm-cauchy, eps 1, support {support}: loss {loss:.4g}; proved: {guarantee}")
    types = np.array([[False, True], [False, False]])  # b, of which the second type is true; c
    less, more = np.array([[0, 1], [0, 0]]), np.array([[0, 1], [1, 0]])
    for mechanism, delta in (("gl-laplace", 0.0), ("gl-exponential", 0.0), ("gl-gaussian", 1e-8)):
        for candidates in (18, 300, 820, 10**6):
            loss, guarantee = rules_of_nobody(mechanism, 1.0, 1, candidates, types, less, more, delta, *shape)
            print(f"{mechanism}, eps 1, {candidates:,} rules: loss {loss:.4g}; proved: {guarantee}", flush=True)


def trees():
    """For greedy trees: the other methods, then between which epsilons the claim for sm-laplace turns from refuted to proved."""
    for depth in (3, 4):
        shape = (depth + 1, True)
        print(f"depth {depth}")
        others(*shape, supports=(31, 32, 84, 85, 86, 87, 88, 89, 90, 252))
        for name, (n, _) in DATA.items():
            claim = 1 / n**2

            def refuted(epsilon, name=name, shape=shape, claim=claim):
                return found(name, epsilon, *shape) > claim

            def open_or_refuted(epsilon, name=name, shape=shape, claim=claim):
                return proved(name, epsilon, *shape)[0] > claim

            print(
                f"{name:14} refuted up to {edge(refuted)[0]:.4g}, proved from {edge(open_or_refuted)[1]:.4g}",
                flush=True,
            )


def edge(holds, low=0.01, high=2.0, steps=16):
    """Two epsilons close together: for the first something holds, for the second and all larger ones of a grid it does not."""
    where = [epsilon for epsilon in np.geomspace(low, high, steps) if holds(float(epsilon))]
    if not where:
        return 0.0, 0.0
    left, right = float(where[-1]), float(where[-1]) * (high / low) ** (1 / (steps - 1))
    while right / left > 1.003:
        middle = math.sqrt(left * right)
        left, right = (middle, right) if holds(middle) else (left, middle)
    return left, right


def main():
    if "--trees" in sys.argv:
        trees()
        return
    others()
    curves = {}
    for name, epsilons in EPSILONS.items():
        claim = 1 / DATA[name][0] ** 2
        for epsilon in map(float, np.round(epsilons, 4)):
            needed, (sharp, plain) = found(name, epsilon), proved(name, epsilon)
            assert needed <= sharp * (1 + 1e-9), "what is proved is false"
            verdict = "refuted" if needed > claim else "proved" if sharp <= claim else "open"
            deltas = f"claimed {claim:.3g}  needed {needed:.3g}  proved {sharp:.3g}  (Theorem 9: {plain:.3g})"
            print(f"{name:14} {epsilon:<7g} {deltas}  {verdict}", flush=True)
            curves.setdefault(name, []).append((epsilon, needed, sharp, plain))
    if len(sys.argv) > 1:
        draw(curves, sys.argv[1])


def draw(curves, path):
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"font.size": 10, "svg.hashsalt": "discreet", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), sharey=True, layout="constrained")
    for axis, (name, points) in zip(axes, curves.items(), strict=True):
        epsilon, needed, sharp, plain = np.array(points).T
        claim = 1 / DATA[name][0] ** 2
        axis.axhline(claim, color="black", label="claimed by the paper: 1/n²")
        axis.plot(epsilon, plain, ":", color="#777777", label="proved by Theorem 9 alone")
        axis.plot(epsilon, sharp, "--", color="#0072B2", label="proved (Theorem 9a)")
        axis.plot(epsilon, needed, "-", color="#D55E00", label="needed by the worst tables found")
        axis.fill_between(epsilon, claim, needed, where=needed > claim, color="#D55E00", alpha=0.15, linewidth=0)
        axis.set(
            xscale="log", yscale="log", xlabel="epsilon", title=f"{name}, n = {DATA[name][0]:,}", ylim=(1e-13, 0.1)
        )
    axes[0].set_ylabel("delta")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
