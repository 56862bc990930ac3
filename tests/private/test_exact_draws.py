"""Trees and short lists are drawn by their weights in real numbers, however their sums were rounded; exactly so."""

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.estimators.base import class_weights
from discreet.private.noise import decisions
from discreet.private.noise.decisions import Chances, is_below
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.list_sums import ListSums
from discreet.private.sampling.reference import distribution_of_draw, distribution_of_trees
from discreet.private.sampling.trees import log_weights
from discreet.private.sampling.trees.drawing import WeighedTrees
from discreet.private.sampling.trees.log_weights import ACCURACY, GINI, SCORES
from discreet.private.sampling.trees.problems import MarginalTrees, TreeProblem
from discreet.rules.candidates import Candidates, NumberedLeaf
from discreet.rules.prior import Prior, TreePrior
from discreet.schema import Schema
from discreet.schema.columns import Boolean

from ..support.exact_distributions import PRECISE, log_of, of_lists, of_trees, tuples_of_many
from ..support.slices import slow_but
from ..support.small_problems import p_value as p_value_of_lists
from ..support.small_trees import p_value as p_value_of_trees

LEAST_P = 1e-4
SCHEMA = Schema([Boolean(f"r{i}") for i in range(3)], classes=[0, 1])
PATTERNS = np.array(list(np.ndindex(2, 2, 2))).T  # the bins of each column: where it is true, and where not
TREES = [(score, classes) for score in SCORES for classes in (2, 3)]


def weights_for(classes):
    """Class weights as a fit has them: multiples of 2^-20."""
    return np.rint(np.array([1.0, 0.3, 0.7])[:classes] * 2**20) / 2**20


def tree_problem(seed, score, classes, rate=0.3, scale=1, weighted=True, tests=3):
    rng = np.random.default_rng(seed)
    truth = rng.random((tests, 6)) < 0.5
    counts = rng.integers(0, 6, (classes, 6)) * float(scale)
    if weighted:
        counts *= weights_for(classes)[:, None]
    prior = rng.uniform(0.5, 2.0, tests)
    return TreeProblem(truth, counts, TreePrior(0.4, prior / prior.sum()), rate, score)


def counts_of_patterns(seed, classes=2, scale=1):
    return np.random.default_rng(seed).integers(0, 6, (classes, 8)) * scale


def sums_of(counts, rate, lengths=(1.0, 0.5, 2.0, 1.0), weighted=False, rules=(1.0, 2.0, 0.5)):
    """Lists of up to three of three rules; ``counts`` are those of all patterns of three columns."""
    weights = weights_for(len(counts)) if weighted else np.ones(len(counts))
    schema = Schema(SCHEMA.columns, classes=list(range(len(counts))))
    candidates = Candidates.of_schema(schema, negations=False)
    marginals = tuples_of_many(schema, PATTERNS, counts, max(1, len(lengths) - 1))
    return ListSums(marginals, candidates, Prior(tuple(lengths), np.array(rules)), weights, rate)


def trees_on_marginals(counts, rate, score=ACCURACY, depth=2):
    tests = Candidates.of_tests(SCHEMA)
    marginals = tuples_of_many(SCHEMA, PATTERNS, counts, max(2, depth))
    prior = TreePrior(0.4, np.array([0.5, 0.3, 0.2]))
    return WeighedTrees(MarginalTrees(marginals, tests, np.ones(2), prior, rate, score), depth)


# -- the distribution is that of real numbers
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "classes"), TREES)
def test_what_a_tree_weighs_exactly_is_what_the_reference_says(score, classes):
    problem = tree_problem(1, score, classes, tests=2)
    weighed = WeighedTrees(problem, 2)
    found = of_trees(weighed)
    expected = dict(zip(*distribution_of_trees(problem, 2), strict=True))
    assert len(found.outcomes) == len(expected)
    for tree in found.outcomes:
        log = expected[tree]
        assert float(log_of(*weighed._weight(tree))) == pytest.approx(log, abs=1e-9)


@pytest.mark.parametrize(("classes", "weighted"), [(2, False), (2, True), (3, True)])
def test_what_a_list_weighs_exactly_is_what_the_reference_says(classes, weighted):
    counts = counts_of_patterns(2, classes)
    sums = sums_of(counts, 0.3, weighted=weighted)
    found = of_lists(sums)
    true = PATTERNS == 1
    weights = weights_for(classes) if weighted else np.ones(classes)
    distribution = distribution_of_draw(
        true, counts * weights[:, None], Prior((1.0, 0.5, 2.0, 1.0), np.array([1.0, 2.0, 0.5])), 0.3
    )
    expected = {
        (tuple(rules), tuple(labels)): log
        for (rules, labels), log in zip(distribution.lists, distribution.logs, strict=True)
    }
    _, logs = found.distributions(sums._log_most())
    assert len(found.outcomes) == len(expected)
    for (rules, labels), log in zip(found.outcomes, logs, strict=True):
        assert float(log) == pytest.approx(expected[tuple(rules), tuple(labels)], abs=1e-9)


RATES = slow_but(
    [(1e-9, 1), (1e-3, 1_000), (0.3, 1), (2.0, 1), (1.0, 100_000), (1e-3, 10**9), (1024.0, 10**7)],
    [(1e-9, 1), (1.0, 100_000), (1024.0, 10**7)],
)


@pytest.mark.parametrize(("rate", "scale"), RATES)
@pytest.mark.parametrize(("score", "classes"), TREES)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_no_tree_is_accepted_with_more_than_certainty(score, classes, depth, rate, scale):
    """So the distribution is exact: to fifty digits, whatever the size of the exponents (here up to 10^11)."""
    weighed = WeighedTrees(tree_problem(depth, score, classes, rate, scale, tests=2 if depth == 2 else 3), depth)
    found, most = of_trees(weighed), weighed._log_most()
    assert found.largest() <= Decimal(most)
    assert found.furthest(most) < Decimal("1e-50")
    assert float(Decimal(most) - found.largest()) < 2e-6 + 2e-11 * rate * scale  # and hardly any is refused


@pytest.mark.parametrize(("rate", "scale"), RATES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("longest", [0, 1, 2, 3])
def test_no_list_is_accepted_with_more_than_certainty(classes, longest, rate, scale):
    scale = min(scale, 10**8)  # so many records as can be counted
    sums = sums_of(
        counts_of_patterns(longest, classes, scale), rate, (1.0, 0.5, 2.0, 1.0)[: longest + 1], weighted=True
    )
    found, most = of_lists(sums), sums._log_most()
    assert found.largest() <= Decimal(most)
    assert found.furthest(most) < Decimal("1e-50")
    assert float(Decimal(most) - found.largest()) < 2e-6 + 2e-11 * rate * scale  # and hardly any is refused


@pytest.mark.parametrize(
    ("depth", "score", "scale"),
    [
        *((1, ACCURACY, 1), (1, GINI, 10**6), (2, ACCURACY, 10**6), (2, GINI, 1_000)),
        pytest.param(3, GINI, 10**5, marks=pytest.mark.slow),
    ],
)
def test_trees_from_marginals_are_exact_too(depth, score, scale):
    weighed = trees_on_marginals(counts_of_patterns(depth, scale=scale), 0.7, score, depth)
    found, most = of_trees(weighed), weighed._log_most()
    assert found.largest() <= Decimal(most)
    assert found.furthest(most) < Decimal("1e-50")


def test_a_rule_that_is_nearly_all_of_the_prior_loses_no_list():
    """Where a and b have nearly all of the prior, the third rules are what a subtraction leaves: it may leave nothing."""
    for scale in (1, 10**6):
        sums = sums_of(counts_of_patterns(5, scale=scale), 3.0, rules=(1.0, 1.0, 1e-15))
        found, most = of_lists(sums), sums._log_most()
        assert found.largest() <= Decimal(most)
        assert found.furthest(most) < Decimal("1e-50")
        assert len(found.outcomes) == 2 + 3 * 4 + 6 * 8 + 6 * 16


# -- errors made by hand --------------------------------------------------------------------------------------------------------


def bent(size):
    """Every logarithm that decides is off by up to so much, in a way that looks random."""

    def bend(logs):
        return logs + size * np.sin(1e4 * logs + np.arange(len(logs)))

    return bend


def break_sums(monkeypatch, size, phase=0):
    """Everything that is computed of a leaf, a split or a sum is off by up to so much."""

    def off(method):
        def broken(self, *given, **named):
            found = method(self, *given, **named)
            return found + size * np.sin(1e4 * found + phase)

        return broken

    kinds = {
        log_weights.SumProduct: ("leaf", "one_split", "over_tests", "either"),
        log_weights.TwoClassSumProduct: ("leaf", "one_split"),
    }
    for kind, names in kinds.items():
        for name in names:
            monkeypatch.setattr(kind, name, off(getattr(kind, name)))


def patched_choices(monkeypatch, bend):
    choose = Chances.choose
    monkeypatch.setattr(Chances, "choose", lambda self, logs: choose(self, bend(logs)))


def doubt_of(exact, most):
    """How far some p / (C q) is below 1, as a logarithm; a little more."""
    return float(Decimal(most) - exact.smallest()) + 1e-9


def with_bounds(monkeypatch, holder, most, doubt):
    """What is asked for its exact weight, from now on."""
    asked, weigh = [], holder._weight
    monkeypatch.setattr(holder, "_log_most", lambda: most)
    monkeypatch.setattr(holder, "_doubt", lambda: doubt)
    monkeypatch.setattr(holder, "_weight", lambda drawn: asked.append(drawn) or weigh(drawn))
    return asked


@pytest.mark.parametrize("size", slow_but([1e-2, 1e-1, 1.0], [1e-1]))
def test_trees_keep_their_distribution_with_errors_made_by_hand(monkeypatch, size):
    problem = tree_problem(3, ACCURACY, 2, weighted=False)
    weighed = WeighedTrees(problem, 1)
    plain, exact = float(of_trees(weighed).largest()), of_trees(weighed, bent(size))
    most = math.nextafter(float(exact.largest()), math.inf)
    assert exact.furthest(most) < Decimal("1e-50")
    assert exact.furthest(plain + 1e-9) > Decimal(size) / 100  # a twin whose margin is too small for this
    asked = with_bounds(monkeypatch, weighed, most, doubt_of(exact, most))
    patched_choices(monkeypatch, bent(size))
    entropy = SeededEntropy(0)
    drawn = [weighed.draw(entropy) for _ in range(1_000)]
    assert p_value_of_trees(*distribution_of_trees(problem, 1), drawn) > LEAST_P
    assert len(asked) > 1_000 * min(1.0, size)  # by exact fractions


@pytest.mark.parametrize("size", slow_but([1e-2, 1e-1, 1.0], [1e-1]))
def test_lists_keep_their_distribution_with_errors_made_by_hand(monkeypatch, size):
    counts = counts_of_patterns(4)
    sums = sums_of(counts, 0.2, (1.0, 1.0))
    plain, exact = float(of_lists(sums).largest()), of_lists(sums, bent(size))
    most = math.nextafter(float(exact.largest()), math.inf)
    assert exact.furthest(most) < Decimal("1e-50")
    assert exact.furthest(plain + 1e-9) > Decimal(size) / 100
    asked = with_bounds(monkeypatch, sums, most, doubt_of(exact, most))
    patched_choices(monkeypatch, bent(size))
    entropy = SeededEntropy(0)
    distribution = distribution_of_draw(
        PATTERNS == 1, counts.astype(float), Prior((1.0, 1.0), np.array([1.0, 2.0, 0.5])), 0.2
    )
    assert p_value_of_lists(distribution, [sums.draw(entropy) for _ in range(1_000)]) > LEAST_P
    assert len(asked) > 1_000 * min(1.0, size)


def test_draws_with_too_little_doubt_are_caught(monkeypatch):
    problem = tree_problem(3, ACCURACY, 2, weighted=False)
    weighed = WeighedTrees(problem, 1)
    most = math.nextafter(float(of_trees(weighed, bent(1.0)).largest()), math.inf)
    patched_choices(monkeypatch, bent(1.0))
    with_bounds(monkeypatch, weighed, most, weighed._doubt())  # that of choices without errors
    entropy = SeededEntropy(0)
    assert p_value_of_trees(*distribution_of_trees(problem, 1), [weighed.draw(entropy) for _ in range(1_000)]) < LEAST_P


@pytest.mark.parametrize("size", slow_but([1e-2, 1e-1, 1.0], [1e-1]))
@pytest.mark.parametrize(("score", "classes"), TREES)
def test_tables_with_errors_need_a_margin_for_them_and_no_more(monkeypatch, score, classes, size):
    """Everything that is computed of a leaf, a split or a sum is off by up to so much: the bound is what the margin is for."""
    problem, too_small = tree_problem(5, score, classes, tests=2), []
    for phase in range(4):
        with monkeypatch.context() as patch:
            break_sums(patch, size, phase)
            weighed = WeighedTrees(problem, 2)
            found, rash = of_trees(weighed), weighed._log_most()
            too_small.append(found.largest() > Decimal(rash) and found.furthest(rash) > Decimal(size) / 1_000)
            # a split of two leaves, each off, added up, put together with the leaf: five between two ways to compute one sum
            exact = log_weights.SumProduct.error
            patch.setattr(
                log_weights.SumProduct, "error", lambda self, counts, exact=exact: exact(self, counts) + 5 * size
            )
            assert found.largest() <= Decimal(weighed._log_most())
            assert found.furthest(weighed._log_most()) < Decimal("1e-50")
    assert any(too_small)  # with the bound that holds without these errors


def holders():
    """Trees and lists to draw from."""
    return WeighedTrees(tree_problem(3, GINI, 3), 2), sums_of(counts_of_patterns(4), 0.2)


# -- most draws are accepted before anything is weighed -------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "scale"), RATES)
@pytest.mark.parametrize(("score", "classes"), TREES)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_no_tree_is_accepted_at_once_where_the_exact_coin_would_refuse_it(score, classes, depth, rate, scale):
    weighed = WeighedTrees(tree_problem(depth, score, classes, rate, scale, tests=2 if depth == 2 else 3), depth)
    above, often = of_trees(weighed).too_soon(weighed._log_most(), weighed._doubt())
    assert above <= 0
    assert 1 - often < 1e-6 + 2e-11 * rate * scale  # and nearly all are


@pytest.mark.parametrize(("rate", "scale"), RATES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("longest", [0, 1, 2, 3])
def test_no_list_is_accepted_at_once_where_the_exact_coin_would_refuse_it(classes, longest, rate, scale):
    scale, lengths = min(scale, 10**8), (1.0, 0.5, 2.0, 1.0)[: longest + 1]
    sums = sums_of(counts_of_patterns(longest, classes, scale), rate, lengths, weighted=True)
    above, often = of_lists(sums).too_soon(sums._log_most(), sums._doubt())
    assert above <= 0
    assert 1 - often < 1e-6 + 2e-10 * rate * scale


@pytest.mark.parametrize("seed", slow_but(range(40), range(8)))
def test_nothing_is_accepted_at_once_too_soon_whatever_the_prior_and_the_counts(seed):
    """Priors with weights as far apart as can be given, rates and counts of any size, empty parts."""
    rng = np.random.default_rng(seed)
    rate, scale = 10.0 ** rng.uniform(-6, 3), int(10.0 ** rng.uniform(0, 6))
    prior, classes = 10.0 ** rng.uniform(-9, 0, 3), int(rng.integers(2, 4))
    counts = rng.integers(0, 3, (classes, 6)) * float(scale)
    tests = TreePrior(float(rng.choice([1e-9, 0.4, 1 - 1e-9])), prior[:2] / prior[:2].sum())
    weighed = WeighedTrees(TreeProblem(rng.random((2, 6)) < 0.5, counts, tests, rate, str(rng.choice(SCORES))), 2)
    sums = sums_of(rng.integers(0, 3, (classes, 8)) * scale, rate, weighted=bool(seed % 2), rules=prior)
    for holder, found in ((weighed, of_trees(weighed)), (sums, of_lists(sums))):
        assert found.largest() <= Decimal(holder._log_most())
        assert found.too_soon(holder._log_most(), holder._doubt())[0] <= 0


def test_bounds_that_are_too_large_are_caught(monkeypatch):
    """Three twins: one that leaves out the margin, one that trusts small weights, and one for which third rules are no matter."""
    weighed = WeighedTrees(tree_problem(1, ACCURACY, 2, tests=2), 2)
    found, most = of_trees(weighed), weighed._log_most()
    assert found.too_soon(most, 0.0)[0] > Decimal("1e-12")

    weighed = WeighedTrees(tree_problem(1, ACCURACY, 2, rate=2.0, scale=100, tests=2), 2)
    found, most, doubt = of_trees(weighed), weighed._log_most(), weighed._doubt()
    assert min(map(min, found.chosen)) == 2
    trusting = found.too_soon(most, doubt, lambda bits, doubt, weights: decisions.certain(bits, doubt, []))
    assert trusting[0] > 1
    assert found.too_soon(most, doubt)[0] <= 0

    sums = sums_of(counts_of_patterns(5), 3.0, rules=(1.0, 1.0, 1e-15))  # a third rule is less than rounding
    found, most = of_lists(sums), sums._log_most()
    assert found.too_soon(most, 2.0 * sums._margin())[0] > 1
    assert found.too_soon(most, sums._doubt())[0] <= 0
    none = sums_of(counts_of_patterns(5), 3.0, rules=(1.0, 1.0, 0.0))
    assert of_lists(none).too_soon(none._log_most(), none._doubt())[0] <= 0


@pytest.mark.parametrize("size", slow_but([1e-5, 1e-4, 1e-3], [1e-4]))
@pytest.mark.parametrize(("score", "classes"), TREES)
def test_tables_with_errors_need_more_doubt_and_no_more_than_is_proved(monkeypatch, score, classes, size):
    break_sums(monkeypatch, size)
    weighed = WeighedTrees(tree_problem(5, score, classes, tests=2), 2)
    found, rash = of_trees(weighed), weighed._doubt()
    exact = log_weights.SumProduct.error
    monkeypatch.setattr(log_weights.SumProduct, "error", lambda self, counts: exact(self, counts) + 5 * size)
    assert found.too_soon(weighed._log_most(), weighed._doubt())[0] <= 0
    assert found.too_soon(weighed._log_most(), rash)[0] > size / 10


def test_draws_are_the_same_if_none_is_accepted_at_once(monkeypatch):
    """The same uniform number decides, sooner or later."""
    expected, asked = [holder.draw(SeededEntropy(i)) for holder in holders() for i in range(50)], []
    monkeypatch.setattr(decisions, "is_below", lambda *given: asked.append(given) or is_below(*given))
    assert [holder.draw(SeededEntropy(i)) for holder in holders() for i in range(50)] == expected
    assert not asked
    for kind in (WeighedTrees, ListSums):
        monkeypatch.setattr(kind, "_doubt", lambda self: math.inf)
    assert [holder.draw(SeededEntropy(i)) for holder in holders() for i in range(50)] == expected
    assert len(asked) == 100


class LastCoin(SeededEntropy):
    """A seed whose last coins begin with given bits."""

    def __init__(self, seed, *coins):
        super().__init__(seed)
        self.coins = list(coins)

    def bits(self, size, more=False):
        return np.array([self.coins.pop(0)], np.uint64) if more and self.coins else super().bits(size, more)


def test_a_number_near_to_one_is_compared_exactly_and_may_refuse(monkeypatch):
    """A number between 1 - doubt and p / (C q), and one above that: only then there is a second attempt."""
    for holder in holders():
        first, doubt = holder.draw(SeededEntropy(5)), holder._doubt()
        asked, attempts = with_bounds(monkeypatch, holder, holder._log_most(), doubt), []
        monkeypatch.setattr(decisions, "Chances", lambda entropy: attempts.append(1) or Chances(entropy))  # noqa: B023
        assert holder.draw(LastCoin(5)) == first
        assert (len(asked), len(attempts)) == (0, 1)
        assert holder.draw(LastCoin(5, 2**53 - int(0.9 * doubt * 2**53))) == first
        assert (len(asked), len(attempts)) == (1, 2)
        holder.draw(LastCoin(5, 2**53 - 1))
        assert (len(asked), len(attempts)) == (2, 4)


# -- neighbours -----------------------------------------------------------------------------------------------------------------

MILLIONS = np.array(
    [
        [3_000_017, 1_000_003, 0, 2_500_000, 7, 1_200_001, 300_000, 10],
        [1, 2_000_000, 999_999, 3, 2_750_000, 0, 12, 2_250_000],
    ]
)
EPSILONS = slow_but([1e-6, 0.1, 1.0, 10.0], [0.1, 10.0])


def furthest_ratio(distributions):
    """The largest |log P(x) - log P'(x)|, of two tables."""
    less, more = distributions
    with localcontext(PRECISE):
        return max(abs(less[x] - more[x]) for x in less)


def at_most(epsilon):
    """Epsilon, and what sixty digits leave open."""
    with localcontext(PRECISE):
        return Decimal(epsilon) + Decimal("1e-45")


def with_one_more(counts):
    """The table, and each that has one record more, of either class in some patterns."""
    for label in (0, 1):
        for pattern in (0, 3, 7):
            more = counts.copy()
            more[label, pattern] += 1
            yield more


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("score", SCORES)
def test_trees_of_sixteen_million_records_never_differ_by_more_than_epsilon(score, epsilon):
    """Of the distribution that is sampled, coin and all, in sixty digits: none above epsilon by even 1e-15."""
    assert MILLIONS.sum() > 16_000_000

    def distribution(counts, coin=True):
        weighed = trees_on_marginals(counts, epsilon, score, 1)
        found = of_trees(weighed)
        return dict(
            zip(map(repr, found.outcomes), found.distributions(weighed._log_most() if coin else -1e9)[0], strict=True)
        )

    less = distribution(MILLIONS)
    ratios = [furthest_ratio((less, distribution(more))) for more in with_one_more(MILLIONS)]
    assert max(ratios) <= at_most(epsilon)
    assert max(ratios) > Decimal(epsilon) / 5
    without = distribution(
        MILLIONS, coin=False
    )  # by the choices alone, as they were rounded, the distribution is another
    assert furthest_ratio((less, without)) > Decimal("1e-15")


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_lists_of_sixteen_million_records_never_differ_by_more_than_epsilon(epsilon):
    def distribution(counts, coin=True):
        sums = sums_of(counts, epsilon)
        found = of_lists(sums)
        return dict(
            zip(map(repr, found.outcomes), found.distributions(sums._log_most() if coin else -1e9)[0], strict=True)
        )

    less = distribution(MILLIONS)
    ratios = [furthest_ratio((less, distribution(more))) for more in with_one_more(MILLIONS)]
    assert max(ratios) <= at_most(epsilon)
    assert max(ratios) > Decimal(epsilon) / 2
    assert furthest_ratio((less, distribution(MILLIONS, coin=False))) > Decimal("1e-15")


# -- what is done does not depend on the records --------------------------------------------------------------------------------


def operations(monkeypatch, make):
    """Shapes and types of all that goes into the arithmetic of the sums."""
    seen = []
    with monkeypatch.context() as patch:
        for kind in (log_weights.SumProduct, log_weights.TwoClassSumProduct):
            for name in ("leaf", "one_split", "over_tests", "either", "forked", "stopped"):
                method = getattr(kind, name)

                def noted(self, *given, method=method, name=name, **named):
                    seen.append((name, *((np.shape(a), np.asarray(a).dtype) for a in given), *named.items()))
                    return method(self, *given, **named)

                patch.setattr(kind, name, noted)
        make()
    return seen


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_sums_of_trees_from_marginals_are_the_same_operations_for_all_tables(monkeypatch, score, depth):
    every = [MILLIONS, counts_of_patterns(1), np.zeros((2, 8), int), np.eye(2, 8, dtype=int) * 16_000_000]
    done = [operations(monkeypatch, lambda c=c: trees_on_marginals(c, 1.0, score, depth)) for c in every]
    assert len(done[0]) > depth
    assert all(each == done[0] for each in done)


def test_a_draw_does_the_same_for_all_tables_that_give_the_same_tree(monkeypatch):
    """One more look for each node, and one coin: what else is done follows from the tree, which is released."""
    entropy = SeededEntropy(0)
    some = [trees_on_marginals(counts, 1e-9, ACCURACY, 2) for counts in (MILLIONS, counts_of_patterns(1))]
    by_tree = {}
    for weighed in some * 60:
        drawn = []
        done = operations(monkeypatch, lambda: drawn.append(weighed.draw(entropy)))  # noqa: B023
        by_tree.setdefault(_kinds(drawn[0]), set()).add(tuple(done))
    assert len(by_tree) > 3
    assert all(len(done) == 1 for done in by_tree.values())


def _kinds(tree):
    """The tests of a tree: what it asks, not how it answers."""
    return None if isinstance(tree, NumberedLeaf) else (tree.test, _kinds(tree.true), _kinds(tree.other))


def test_trees_from_patterns_follow_the_number_of_patterns_and_no_count(monkeypatch):
    problem = tree_problem(3, ACCURACY, 2, weighted=False)
    same = replace(problem, counts=problem.counts[::-1] + 3.0)
    done = [operations(monkeypatch, lambda p=p: WeighedTrees(p, 3)) for p in (problem, same)]
    assert done[0] == done[1]
    large = replace(problem, counts=problem.counts * 2.0**24)  # counts that need double precision: the type differs
    kinds = [
        {kind for _, *given in each for _, kind in given[:2] if isinstance(kind, np.dtype)}
        for each in (done[0], operations(monkeypatch, lambda: WeighedTrees(large, 3)))
    ]
    assert np.dtype(np.float32) in kinds[0]
    assert np.dtype(np.float32) not in kinds[1]


def test_weights_of_classes_are_multiples_that_can_be_added_without_error():
    found = class_weights({0: 1e-9, 1: 3.0, 2: 7.0}, np.array([0, 1, 2]))
    assert (found * 2**20 == np.rint(found * 2**20)).all()
    assert found.max() == 1.0
    assert found.min() > 0
    assert found[1] == pytest.approx(3 / 7, abs=2**-21)
    most = 2**32 - 1
    assert Fraction(float(most * found[1])) == most * Fraction(float(found[1]))
