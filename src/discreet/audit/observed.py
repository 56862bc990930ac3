"""Level 3: many fits of the classifier as a user calls it, and what they show about its loss.

Which event to look for follows from the exact distributions of level 2; how often it happens on each of the two tables is then
counted. Clopper and Pearson's bounds turn the two frequencies into a lower bound for epsilon that is wrong with probability
1/1000 at most. It must stay below what is promised; and it must come near the exact loss on that pair, or the audit would be
blind. Also the frequencies of all outcomes must agree with the exact distribution: that is how a sampler shows that does not
follow its own.

Piece by piece: does each sampler draw from the distribution that its proof is about? Each is asked for thousands of draws with
the operating system's randomness, and these are compared with the exact distribution. Half the noise, a candidate without
noise, or a merged rule is seen here even where whole fits would hardly show it.
"""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta, chisquare, kstest

from .._utils.errors import PrivacyWarning
from ..estimators.trees import Trees
from ..private.counts.counting import NodeCounts
from ..private.mechanisms.base import GreedyMechanism
from ..private.mechanisms.noisy_counts import NoisyCounts
from ..private.mechanisms.published import GlExponential, GlGaussian, GlLaplace
from ..private.mechanisms.registry import MECHANISMS
from ..private.mechanisms.smooth_gini import SmCauchy, SmLaplace
from ..private.noise import discrete_gaussian
from ..private.noise.discrete_laplace import release, scale_for
from ..private.noise.distributions import Cauchy, Gaussian, Gumbel, Laplace, log_prob
from ..private.noise.entropy import Entropy
from ..private.noise.noisy_max import Exponential, Noise
from ..private.noise.sums import log_pmf
from ..private.sampling.deadline import Deadline
from ..private.sampling.envelope import draw_by_envelope
from ..private.sampling.problem import make_problem
from ..private.sampling.reference import distribution_of_draw, distribution_of_trees
from ..private.sampling.trees.drawing import WeighedTrees
from ..private.sampling.trees.log_weights import SCORES
from ..private.sampling.trees.problems import TreeProblem
from ..rules.candidates import leaves_of
from ..rules.prior import Prior, TreePrior
from .draws import list_sums, on_marginals
from .explore import key_of, shifted_counts
from .explorer import Keeps
from .learners import Counts, Pair, Subject, as_table

CONFIDENCE = 0.999

# Rules or tests, labels if they were drawn, and on which side of its exact value the decisive count is
Outcome = tuple[Any, ...]


class Event(NamedTuple):
    """A set of outcomes that is likelier on one of two tables, and the loss of the event as a whole."""

    outcomes: frozenset[Outcome]
    on_more: bool  # whether it is likelier on the larger table
    epsilon: float
    expected: float  # what the fits will show, about


class Watch(NamedTuple):
    """How to tell the outcomes of fits on a pair of tables apart, with the chances of each on the two tables.

    Where labels were drawn, the class counts of a model are adjusted to them (``predict_proba`` is to agree with ``predict``), so
    there only lists and labels are looked at.
    """

    chances: dict[Outcome, tuple[float, float]]
    decisive: dict[Outcome, tuple[int, int]]  # for each list, which count differs, and its smaller exact value
    drawn_labels: bool
    numbers: dict[str, int]  # of the candidate rules

    def outcome(self, model: Any) -> Outcome:
        """Of a fitted model."""
        key: Outcome
        parts: list[Any]
        if isinstance(model, Keeps):
            key, parts = key_of(model.learned), [leaf for _, leaf in leaves_of(model.learned)]
        else:
            parts = [*model.rule_list_.rules, model.rule_list_.default]
            chosen = tuple(self.numbers[" and ".join(map(str, rule.antecedent))] for rule in parts[:-1])
            key = (chosen, tuple(int(rule.label) for rule in parts) if self.drawn_labels else None)
        if key not in self.decisive:
            return (*key, None)
        place, value = self.decisive[key]
        counts = [count for part in parts for count in part.counts]
        return (*key, bool(counts[place] > value))


def watch(subject: Subject, pair: Pair) -> Watch:
    """From the exact distributions on both tables."""
    less, more = subject.distributions(pair)
    chances: dict[Outcome, tuple[float, float]] = {}
    decisive: dict[Outcome, tuple[int, int]] = {}
    keys = less.outputs.keys() | more.outputs.keys()
    drawn_labels = next(iter(keys))[1] is not None
    for key in sorted(keys):
        one, two = less.outputs.get(key), more.outputs.get(key)
        p, q = (0.0 if distribution is None else math.exp(distribution.log_p) for distribution in (one, two))
        counts = () if one is None or two is None else zip(one.released, two.released, strict=True)
        place = next((i for i, (a, b) in enumerate(counts) if a[0] != b[0]), None)
        if one is None or two is None or drawn_labels or place is None:
            chances[(*key, None)] = (p, q)
            continue
        decisive[key] = (place, min(one.released[place][0], two.released[place][0]))
        at_most = math.exp(shifted_counts(np.zeros(1), np.ones(1), np.array([one.released[place][1]]))[0][0])
        chances[(*key, False)] = (p * at_most, q * (1.0 - at_most))  # the noise is at most 0, resp. below 0
        chances[(*key, True)] = (p * (1.0 - at_most), q * at_most)
    classifier = subject.make()
    numbers = {str(rule): i for i, rule in enumerate(classifier._candidates(classifier.schema))}
    return Watch(chances, decisive, drawn_labels, numbers)


def best_event(chances: dict[Outcome, tuple[float, float]], fits: int) -> Event:
    """Of all sets of outcomes with a loss above some value, the one that so many fits will show most about."""
    best = Event(frozenset(), False, 0.0, -math.inf)
    for on_more in (False, True):
        pairs = {x: (pq[::-1] if on_more else pq) for x, pq in chances.items()}
        order = sorted(pairs, key=lambda x: -pairs[x][0] / max(pairs[x][1], 1e-300))
        p, q = np.cumsum([pairs[x] for x in order], axis=0).T
        for i in range(len(order)):
            shown = lower_bound(round(p[i] * fits), round(q[i] * fits), fits)
            if shown > best.expected:
                epsilon = math.log(p[i] / q[i]) if q[i] > 0.0 else math.inf
                best = Event(frozenset(order[: i + 1]), on_more, epsilon, shown)
    return best


def lower_bound(hits: int, hits_other: int, fits: int, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """Epsilon is at least this if an event was seen so often in so many fits on each of two tables."""
    alpha = (1.0 - confidence) / 2.0
    low = float(beta.ppf(alpha, hits, fits - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1.0 - alpha, hits_other + 1, fits - hits_other)) if hits_other < fits else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf


def misfit(seen: Counter[Outcome], chances: dict[Outcome, float]) -> float:
    """How likely it is that outcomes with these chances are so far from what was expected (a chi-squared test).

    A sampler that does not follow its distribution is seen here long before it breaks a promise.
    """
    fits = seen.total()
    if any(outcome not in chances for outcome in seen):
        return 0.0
    likely = [x for x, p in chances.items() if p * fits >= 5.0]
    hits = np.array([*(seen[x] for x in likely), fits - sum(seen[x] for x in likely)], float)
    expected = np.array([chances[x] for x in likely]) * fits
    expected = np.append(expected, max(0.0, fits - expected.sum()))
    if expected[-1] < 5.0:  # too few to be told apart: with the least likely of the others
        hits, expected = (np.append(values[:-2], values[-2:].sum()) for values in (hits, expected))
    if len(hits) < 2:
        return 1.0
    return float(chisquare(hits, expected).pvalue)


def outcomes(subject: Subject, seen: Watch, counts: Counts, fits: int) -> Counter[Outcome]:
    """What comes out of so many fits on a table, each as a user makes it."""
    X, y = as_table(counts)
    if issubclass(subject.classifier, Trees):
        subject = replace(subject, classifier=type("Kept", (Keeps, subject.classifier), {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return Counter(seen.outcome(subject.make().fit(X, y)) for _ in range(fits))


class SeenDraws(NamedTuple):
    """What fits showed: a lower bound for epsilon, also in parts of the loss of the event that was looked for."""

    epsilon: float
    power: float | None
    agreement: float  # the chance of so large a difference between fits and the exact distributions


def observe(subject: Subject, pair: Pair, fits: int, delta: float) -> SeenDraws:
    """So many fits on each of two tables."""
    seen = watch(subject, pair)
    event = best_event(seen.chances, fits)
    tables = [outcomes(subject, seen, table, fits) for table in (pair.less, pair.more)]
    chances = [misfit(drawn, {x: pq[i] for x, pq in seen.chances.items()}) for i, drawn in enumerate(tables)]
    less, more = (sum(n for x, n in drawn.items() if x in event.outcomes) for drawn in tables)
    epsilon = lower_bound(*((more, less) if event.on_more else (less, more)), fits, delta)
    power = epsilon / event.epsilon if event.epsilon > 0.01 else None
    return SeenDraws(epsilon, power, min(1.0, 2.0 * min(chances)))


# --- samplers, piece by piece -----------------------------------------------------------------------------------------------

# two classes; the four rules and no rule have clearly different impurities
NODE = NodeCounts(np.array([9.0, 7.0]), np.array([[9.0, 6.0, 8.0, 0.0], [0.0, 1.0, 6.0, 5.0]]))
ONE_RULE = NodeCounts(np.array([2.0, 2.0]), np.array([[1.0], [1.0]]))
# rules 0 and 1 agree, and so do 2 and 3: each must be drawn as often as its twin
TRUTH = np.array([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 1], [0, 1, 1, 0, 1]], bool)
COUNTS = np.array([[3.0, 0.0, 1.0, 2.0, 0.0], [0.0, 2.0, 0.0, 1.0, 3.0]])
# at which epsilon choices are drawn thousands of times: no outcome may be nearly certain
EPSILONS: dict[type, str] = {
    SmLaplace: "3/2",
    GlLaplace: "3",
    NoisyCounts: "3",
    GlExponential: "6",
    GlGaussian: "12",
    SmCauchy: "15",
}


def _noise(noise: Noise, draws: int) -> float:
    return float(kstest(noise.sample(Entropy(), draws), lambda z: np.exp(noise.log_cdf(z))).pvalue)


def _follows(draw: Callable[[], Any], outcomes: Iterable[Any], logs: np.ndarray, draws: int) -> float:
    """How likely so large a difference from the distribution is, after so many draws."""
    drawn = Counter((draw(),) for _ in range(draws))
    return misfit(drawn, {(x,): float(p) for x, p in zip(outcomes, np.exp(logs), strict=True)})


def _counts(draws: int) -> float:
    e, k = Fraction(2, 5), np.arange(-400, 401)
    drawn = iter(release(np.zeros(draws, np.int64), e, Entropy()))
    return _follows(lambda: int(next(drawn)), k.tolist(), log_pmf(k, 1.0 / scale_for(e)), draws)


def _normal_counts(draws: int) -> float:
    sigma, k = 5.5, np.arange(-100, 101)
    logs, drawn = -((k / sigma) ** 2) / 2, iter(discrete_gaussian.release(np.zeros(draws, np.int64), sigma, Entropy()))
    return _follows(lambda: int(next(drawn)), k.tolist(), logs - np.logaddexp.reduce(logs), draws)


def _choice(mechanism: GreedyMechanism, draws: int) -> float:
    node = ONE_RULE if isinstance(mechanism, NoisyCounts) else NODE  # whose exact distribution is known for one rule
    selector = mechanism.selector(Fraction(EPSILONS.get(type(mechanism), "3/8")), 1e-3, 5, node.captured.shape[1])
    logs = selector.log_prob(node)
    return _follows(partial(selector.select, node, Entropy()), range(len(logs)), logs, draws)


def _flips(draws: int) -> float:
    losses = np.array([0, 100, 100, 250, 400])
    flip = partial(Entropy().permute_and_flip, losses, 100.0)
    return _follows(flip, range(5), log_prob(-losses / 100.0, Exponential()), draws)


def _lists(summed: bool, draws: int) -> float:
    prior, rate, entropy = Prior((1.0,) * (4 if summed else 3), np.ones(4)), 0.6, Entropy()
    if summed:
        draw = partial(list_sums(TRUTH, COUNTS, prior, rate).draw, entropy)
    else:
        draw = partial(draw_by_envelope, make_problem(TRUTH, COUNTS, prior, rate), entropy, Deadline())
    distribution = distribution_of_draw(TRUTH, COUNTS, prior, rate)
    return _follows(lambda: tuple(map(tuple, draw())), distribution.lists, distribution.logs, draws)


def _trees(score: str, wide: bool, draws: int) -> float:
    # of tests that agree each must be drawn as often as its twin; the last one is true nearly everywhere
    truth = np.vstack([TRUTH[:3], ~TRUTH[:1] | TRUTH[2]])
    problem = TreeProblem(truth, COUNTS, TreePrior(0.5, np.array([0.2, 0.2, 0.2, 0.4])), 0.6, score)
    trees, logs = distribution_of_trees(problem, 2)
    draw = partial(WeighedTrees(on_marginals(problem, 2) if wide else problem, 2).draw, Entropy())
    return _follows(draw, trees, logs - np.logaddexp.reduce(logs), draws)


def samplers() -> dict[str, Callable[[int], float]]:
    """By name, functions from a number of draws to the chance of so large a difference from the exact distribution."""
    checks: dict[str, Callable[[int], float]] = {
        f"a choice by {name}": partial(_choice, mechanism) for name, mechanism in MECHANISMS.items()
    }
    checks["permute-and-flip (OpenDP)"] = _flips
    checks["discrete Laplace noise (OpenDP)"] = _counts
    checks["discrete Gaussian noise (OpenDP)"] = _normal_counts
    for noise in (Laplace(), Gumbel(), Gaussian(), Cauchy()):
        checks[f"{type(noise).__name__} noise"] = partial(_noise, noise)
    checks["rule lists by envelope"] = partial(_lists, False)
    checks["rule lists by sums"] = partial(_lists, True)
    checks |= {f"trees by {score}": partial(_trees, score, False) for score in SCORES}
    checks |= {f"trees from marginals by {score}": partial(_trees, score, True) for score in SCORES}
    return checks
