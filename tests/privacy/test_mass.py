"""The mechanism "mass": its distribution, its price on all small neighbours, its whole output, and broken twins of each."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import Boolean, DPGreedyRuleListClassifier, Ledger, Numeric, Schema
from discreet.accounting.ledger import BudgetError, Reservation
from discreet.estimators.greedy import greedy
from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.mass import UNITS, Mass, MassSelector, mass_units, side_units
from discreet.private.noise.distributions import log_prob
from discreet.private.noise.entropy import Entropy
from discreet.private.noise.noisy_max import Exponential
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.queries.greedy import GreedyQueries
from discreet.rules.candidates import Candidates
from tests.support.counted import patterns_of
from tests.support.selectors import budget_of

from .exact_learner import Learner, divergence, output_distribution

E = Fraction(2)


def compositions(total, parts):
    for bars in itertools.combinations(range(total + parts - 1), parts - 1):
        ends = (-1, *bars, total + parts - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))


def node(patterns, classes):
    """Two rules over four patterns: in neither, in the first, in the second, in both."""
    patterns = np.array(patterns, float).reshape(4, classes)
    return NodeCounts(patterns.sum(0), np.stack([patterns[1] + patterns[3], patterns[2] + patterns[3]], axis=1))


def neighbours(classes, largest):
    for n in range(largest + 1):
        for patterns in compositions(n, 4 * classes):
            for i in range(4 * classes):
                yield node(patterns, classes), node((*patterns[:i], patterns[i] + 1, *patterns[i + 1 :]), classes)


def worst_loss(log_probs, classes, largest):
    known = {}

    def logs(one):
        key = (one.left.tobytes(), one.captured.tobytes())
        if key not in known:
            known[key] = log_probs(one)
        return known[key]

    return max(float(np.abs(logs(a) - logs(b)).max()) for a, b in neighbours(classes, largest))


def exact_mass(counts):
    size = sum(counts)
    return (size - Fraction(sum(c * c for c in counts), size)) / 2 if size else Fraction(0)


@pytest.mark.parametrize("most", [5, 10**4, 10**9, 10**12])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_mass_is_rounded_down_without_error_at_any_size(classes, most):
    counts = np.random.default_rng(0).integers(0, most, (classes, 300)).astype(float)
    counts[:, 0] = 0
    counts[1:, 1] = 0
    for column, units in zip(counts.T, side_units(counts), strict=True):
        assert units == math.floor(exact_mass([int(c) for c in column]) * UNITS)


@pytest.mark.parametrize(("classes", "largest"), [(2, 30), (3, 12), (4, 6)])
def test_one_record_changes_the_rounded_mass_of_a_side_by_0_to_1(classes, largest):
    changes = []
    for n in range(largest + 1):
        counts = np.array(list(compositions(n, classes)), float).T
        for c in range(classes):
            more = counts.copy()
            more[c] += 1
            changes.append(side_units(more) - side_units(counts))
    changes = np.concatenate(changes)
    assert changes.min() == 0
    assert changes.max() <= UNITS
    assert changes.max() >= math.floor(UNITS * largest / (largest + 1)) - 1  # attained: a stranger among n of one class


def test_beyond_the_largest_whole_number_the_mass_is_cut_off_without_an_error():
    counts = np.array([[2.0**50, 2.0**50 + 1], [2.0**50, 2.0**50]])
    assert np.ptp(side_units(counts)) == 0
    total = NodeCounts(counts[:, 0], counts[:, :1] / 2)
    assert mass_units(total).min() > 0
    assert MassSelector(E).select(total, Entropy()) in (0, 1)


def permute_and_flip(losses, scale):
    """Its distribution by definition: over all orders, the first candidate whose coin says yes."""
    chances = np.exp(-(np.array(losses) - min(losses)) / scale)
    distribution = np.zeros(len(losses))
    for order in itertools.permutations(range(len(losses))):
        rest = 1.0
        for i in order:
            distribution[i] += rest * chances[i]
            rest *= 1.0 - chances[i]
    return distribution / math.factorial(len(losses))


LOSSES = [0, UNITS, UNITS, 3 * UNITS, 40 * UNITS]


def test_the_exact_distribution_is_that_of_permute_and_flip():
    for losses in (LOSSES, [5, 5, 5], [0, 10 * UNITS], list(np.random.default_rng(0).integers(0, 5 * UNITS, 6))):
        logs = log_prob((min(losses) - np.array(losses)) / (2.0 * UNITS), Exponential())
        assert np.exp(logs) == pytest.approx(permute_and_flip(losses, 2.0 * UNITS), rel=1e-9)


@pytest.mark.parametrize("entropy", [SeededEntropy(0), Entropy()], ids=["seeded", "OpenDP"])
def test_draws_follow_permute_and_flip(entropy):
    """Four candidates; half the noise, or the exponential mechanism at the same scale, would be seen."""
    losses, scale, draws = np.array(LOSSES[:4]), 2.0 * UNITS, 6_000
    seen = np.bincount([entropy.permute_and_flip(losses, scale) for _ in range(draws)], minlength=4)
    assert stats.chisquare(seen, permute_and_flip(losses, scale) * draws).pvalue > 1e-6
    assert stats.chisquare(seen, permute_and_flip(losses, scale / 2) * draws).pvalue < 1e-6
    softmax = np.exp(-losses / scale) / np.exp(-losses / scale).sum()
    assert stats.chisquare(seen, softmax * draws).pvalue < 1e-6


@pytest.mark.parametrize("entropy", [SeededEntropy(1), Entropy()], ids=["seeded", "OpenDP"])
def test_a_selector_draws_by_its_own_probabilities(entropy):
    selector = MassSelector(Fraction(1, 3))
    here = node([3, 0, 0, 4, 2, 1, 1, 1], 2)
    seen = np.bincount([selector.select(here, entropy) for _ in range(4_000)], minlength=3)
    assert stats.chisquare(seen, np.exp(selector.log_prob(here)) * 4_000).pvalue > 1e-6


def test_opendp_prices_a_choice_as_we_do():
    """A monotone change of at most 1 costs e, not 2e; and the scale is rounded towards more noise."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    for epsilon in (Fraction(1, 3), Fraction(1, 7000), Fraction(22, 7), Fraction(10**9)):
        scale = MassSelector(epsilon).scale
        assert UNITS / Fraction(scale) <= epsilon
        for monotonic, factor in ((True, 1), (False, 2)):
            metric = linf_distance(T="i64", monotonic=monotonic)
            measure = make_noisy_max(vector_domain(atom_domain(T="i64")), metric, max_divergence(), scale, negate=True)
            assert measure.map(UNITS) == pytest.approx(factor * float(epsilon), rel=1e-12)


@pytest.mark.parametrize(("classes", "largest"), [(2, 4), (3, 2)])
def test_a_choice_costs_at_most_its_epsilon_on_all_small_neighbours(classes, largest):
    worst = worst_loss(MassSelector(E).log_prob, classes, largest)
    assert 0.5 * float(E) < worst <= float(E) * (1 + 1e-9)


def stranger(classes, n, rules):
    """n records of one class, then one more of another, which all rules but the first capture alone.

    The first captures all records; then its mass grows by n / (n + 1), and that of the others not at all.
    """
    captured = np.zeros((classes, rules))
    captured[0, 0] = n
    more = captured.copy()
    more[1, :] = 1
    left = np.zeros(classes)
    left[0] = n
    return NodeCounts(left, captured), NodeCounts(left + np.eye(classes)[1], more)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_price_of_a_choice_is_nearly_attained(classes):
    less, more = stranger(classes, 2000, 400)
    selector = MassSelector(E)
    loss = float(np.abs(selector.log_prob(less) - selector.log_prob(more)).max())
    assert 0.97 * float(E) < loss <= float(E) * (1 + 1e-9)


class NegativeExponential:
    """What argmin (M + Exponential) adds to the score that is maximised."""

    def log_pdf(self, z):
        return np.where(z > 0.0, -np.inf, z)

    def log_cdf(self, z):
        return np.minimum(z, 0.0)


def twins():
    half = MassSelector(2 * E)
    yield "half the noise", half.log_prob

    def scores(one):
        units = mass_units(one)
        return (units.min() - units) / MassSelector(E).scale

    yield "noise on the wrong side", lambda one: log_prob(scores(one), NegativeExponential())
    yield "mass without its factor 1/2", lambda one: log_prob(2 * scores(one), Exponential())

    def bare(one):  # the chance of the first candidate, if it alone gets no noise: all others must stay below it
        s = scores(one)
        return np.maximum(np.array([np.sum(Exponential().log_cdf(s[0] - s[1:]))]), -1e9)

    yield "a candidate without noise", bare


@pytest.mark.parametrize(("name", "log_probs"), list(twins()), ids=[name for name, _ in twins()])
def test_broken_twins_of_a_choice_are_caught(name, log_probs):
    assert worst_loss(log_probs, 2, 3) > float(E) * 1.01


def test_no_rule_never_has_a_smaller_mass_than_a_rule():
    """So leaving it without noise would leak nothing here: exponential noise is positive, and it would never win."""
    for here, _ in neighbours(3, 2):
        units = mass_units(here)
        assert units[-1] == units.max()


TWO_RULES = np.array(list(itertools.product([False, True], repeat=2)))


def pairs(rng, classes, scale):
    counts = np.floor(rng.random((4, classes)) * scale ** rng.random((4, classes))).astype(int)
    counts[rng.random((4, classes)) < 0.4] = 0
    more = counts.copy()
    more[rng.integers(4), rng.integers(classes)] += 1
    return counts, more


def strangers(classes, n):
    """Both rules true of n records of one class, and one stranger whom only one of them captures."""
    less = np.zeros((4, classes), int)
    less[3, 0] = n
    for cell in range(4):
        more = less.copy()
        more[cell, 1] += 1
        yield less, more


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("epsilon", "share", "max_length"), [("2", "1/2", 3), ("0.5", "1/5", 2), ("8", "1/10", 3)])
def test_a_whole_fit_costs_at_most_its_epsilon(classes, epsilon, share, max_length):
    budget = budget_of("mass", epsilon, max_length, counts_share=share)
    fit = Learner(MassSelector(budget.choice_epsilon), float(budget.counts_epsilon), None, max_length)
    rng = np.random.default_rng(0)
    tables = [pairs(rng, classes, scale) for scale in (3, 10, 100, 1000) for _ in range(15)]
    tables += [pair for n in (1, 2, 5, 1000) for pair in strangers(classes, n)]
    for less, more in tables:
        assert sum(output_distribution(fit, TWO_RULES, less).values()) == pytest.approx(1.0, abs=1e-9)
        assert divergence(fit, TWO_RULES, less, more, float(epsilon)) <= 1e-10
    # it is no slack bound: at three quarters of epsilon it fails, and so do choices that get twice their share
    if max_length == 2:
        assert max(divergence(fit, TWO_RULES, a, b, 0.75 * float(epsilon)) for a, b in tables) > 1e-4
    twin = Learner(MassSelector(3 * budget.choice_epsilon), fit.epsilon, None, max_length)
    assert max(divergence(twin, TWO_RULES, a, b, float(epsilon)) for a, b in tables) > 1e-6


class Scripted(SeededEntropy):
    """Chooses what it is told to, and notes the exact counts that noise would be added to."""

    def __init__(self, choices):
        super().__init__(0)
        self.choices, self.counted, self.scales = list(choices), [], []

    def permute_and_flip(self, losses, scale):
        self.scales.append(Fraction(scale))
        return self.choices.pop(0)

    def discrete_laplace(self, values, scale):
        self.counted.append(values.copy())
        self.scales.append(Fraction(scale))
        return values


SCHEMA = Schema([Boolean("a"), Boolean("b"), Boolean("c")], classes=("x", "y", "z"))
RULES = Candidates.of_schema(SCHEMA, 1, False)
RNG = np.random.default_rng(3)
X, Y = RNG.random((60, 3)) < 0.6, RNG.choice(["x", "y", "z"], 60)


class Overlapping(GreedyQueries):
    """A twin that counts all that a rule captures, earlier rules or not."""

    def histogram(self, prefix, rule):
        exact = self._counter.counts([]).captured[:, rule] if rule is not None else self._counter.left(prefix)
        return tuple(float(c) for c in self._entropy.discrete_laplace(exact.astype(np.int64), 1.0))


def counted(kind, X, Y, choices=(0, 0)):
    entropy, reservation = Scripted(choices), Reservation(Fraction(1), Fraction(0))
    queries = kind(patterns_of(X, Y, SCHEMA), RULES, Mass(), budget_of("mass", 1, 3))
    greedy(queries.open(reservation, entropy), 3)
    return np.concatenate(entropy.counted), entropy, reservation


def largest_change(kind):
    """Of the vector of all class counts of one fit, when any one record leaves."""
    everything, *_ = counted(kind, X, Y)
    without = [counted(kind, np.delete(X, i, 0), np.delete(Y, i))[0] for i in range(len(Y))]
    return max(int(np.abs(everything - less).sum()) for less in without)


def test_the_class_counts_of_a_fit_are_of_disjoint_parts():
    assert largest_change(GreedyQueries) == 1
    assert largest_change(Overlapping) > 1


def test_the_queries_give_the_noise_that_they_charge_for_and_spend_exactly_epsilon():
    _, entropy, reservation = counted(GreedyQueries, X, Y)
    assert reservation.spent_epsilon == 1
    choices = [s for s in entropy.scales if s > 1000]
    counts = [s for s in entropy.scales if s <= 1000]
    assert len(choices) == 2
    assert len(counts) == 3
    assert sum(UNITS / s for s in choices) + 1 / min(counts) <= 1
    assert sum(UNITS / s for s in choices) + 1 / min(counts) > Fraction(999, 1000)


def test_the_queries_refuse_parts_that_are_not_disjoint_and_choices_too_many():
    queries = GreedyQueries(patterns_of(X, Y, SCHEMA), RULES, Mass(), budget_of("mass", 1, 3))
    queries.open(Reservation(Fraction(1), Fraction(0)), SeededEntropy(0))
    queries.histogram([], 0)
    for prefix, rule in (([], 0), ([], 1), ([1], 2)):
        with pytest.raises(RuntimeError, match="not those of one rule list"):
            queries.histogram(prefix, rule)
    queries.histogram([0], None)
    with pytest.raises(RuntimeError, match="not those of one rule list"):
        queries.histogram([0], None)
    queries.select([])
    queries.select([0])
    with pytest.raises(BudgetError):
        queries.select([0, 1])
    assert repr(queries) == "<GreedyQueries>"
    with pytest.raises(TypeError, match="cannot be pickled"):
        queries.__reduce__()


@pytest.mark.parametrize(
    ("epsilon", "share", "max_length"), [(0.1, 0.3, 4), (0.7, 1 / 3, 5), (3.0, 0.999, 2), (1.0, 0.5, 1)]
)
def test_a_ledger_is_charged_exactly_epsilon(epsilon, share, max_length):
    budget = budget_of("mass", epsilon, max_length, counts_share=repr(share))
    assert budget.counts_epsilon + (max_length - 1) * budget.choice_epsilon == Fraction(str(epsilon))
    ledger = Ledger(epsilon=epsilon)
    clf = DPGreedyRuleListClassifier(
        epsilon=epsilon, counts_share=share, max_length=max_length, schema=SCHEMA, ledger=ledger
    )
    clf.fit(X, Y)
    (entry,) = ledger.entries
    assert entry.epsilon == entry.proved_epsilon == Fraction(str(epsilon))
    assert entry.delta == entry.proved_delta == 0
    if len(clf.rule_list_) == max_length:
        assert entry.unused_epsilon == 0
    assert ledger.remaining == (0, 0)
    with pytest.raises(BudgetError):
        clf.fit(X, Y)


def test_three_classes_and_a_default_that_needs_no_parameters():
    rng = np.random.default_rng(0)
    age = rng.uniform(0, 90, 3000)
    labels = np.array(["young", "grown", "old"])[np.digitize(age, [30, 60])]
    schema = Schema([Numeric("age", cuts=[30, 60])], classes=("young", "grown", "old"))
    clf = DPGreedyRuleListClassifier(epsilon=5.0, schema=schema).fit(age[:, None], labels)
    assert clf.mechanism == "mass"
    assert (
        clf.score(age[:, None], labels) > 0.6
    )  # 2/3 if a rule captures two classes at once, which ties with its negation
    assert clf.predict_proba(age[:5, None]).shape == (5, 3)
    statement = clf.privacy_
    assert (statement.mechanism, statement.published) == ("mass", None)
    assert (statement.proved.epsilon, statement.proved.delta) == (5.0, 0.0)
    assert "rounding" not in str(statement)
    assert clf.__sklearn_tags__().classifier_tags.multi_class
    assert not clf.set_params(mechanism="gl-laplace").__sklearn_tags__().classifier_tags.multi_class
