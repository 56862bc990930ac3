"""That the distributions of the replay are those of what is really drawn: by their sums, by definition, and by drawing."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.private.noise import decisions, discrete_gaussian, distributions, entropy, noisy_max, seeded
from discreet.private.sampling import envelope, problem
from discreet.private.sampling.deadline import Deadline
from discreet.rules.prior import Prior

from .by_definition import distribution_of_lists, distribution_of_trees, questions_about
from .cases import CASES, some_record
from .distributions import DiscreteGaussian, DiscreteLaplace, NoisyMax, PermuteAndFlip, precise
from .draws import DrawnList, ExactDraw
from .hooks import INTEGERS_FOR_WEIGHTS, Session, opened

NOISES = {name: getattr(distributions, name)() for name in ("Cauchy", "Gaussian", "Gumbel", "Laplace")}
SCORES = 0.3, -1.2, 0.3, 2.0, -7.5
CHOICES = [PermuteAndFlip((3, 0, 1, 1, 9), 1.7), *(NoisyMax(SCORES, name) for name in NOISES)]


@pytest.mark.parametrize("distribution", CHOICES, ids=lambda distribution: distribution.kind)
def test_the_chances_of_all_alternatives_add_up_to_one(distribution):
    with precise():
        assert abs(sum(distribution.log_prob(i).exp() for i in range(distribution.size)) - 1) < 1e-10


@pytest.mark.parametrize("sigma", [0.3, 1.3, 5.9, 6.1, 40])
def test_the_chances_of_all_gaussian_counts_add_up_to_one(sigma):
    with precise():
        total = sum(DiscreteGaussian((0,), sigma).log_prob((k,)).exp() for k in range(-20 * 40, 20 * 40 + 1))
        assert abs(total - 1) < 1e-70


def agree(seen, log_prob, n):
    """Each answer is as frequent as it should be, up to five standard deviations."""
    with precise():
        for answer, times in seen.items():
            p = float(log_prob(answer).exp())
            assert abs(times - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1, (answer, times, n * p)


@pytest.mark.parametrize("source", [entropy.Entropy(), seeded.SeededEntropy(3)], ids=["system", "seeded"])
def test_counts_and_choices_are_drawn_from_their_distributions(source):
    n = 3_000
    noisy = source.discrete_laplace(np.full(n, 7), 1.3)
    agree(Counter(noisy.tolist()), lambda answer: DiscreteLaplace((7,), 1.3).log_prob((answer,)), n)
    noisy, distribution = discrete_gaussian.release(np.full(n, 7), 1.3, source), DiscreteGaussian((7,), 1.3)
    for drawn in (noisy.tolist(), [*DiscreteGaussian((7,) * n, 1.3).drawn(np.random.default_rng(1))]):
        agree(Counter(drawn), lambda answer, distribution=distribution: distribution.log_prob((answer,)), n)
    n, distribution = 1_000, CHOICES[0]
    agree(
        Counter(source.permute_and_flip(np.array(distribution.losses), distribution.scale) for _ in range(n)),
        distribution.log_prob,
        n,
    )


@pytest.mark.parametrize("distribution", CHOICES[1:], ids=lambda distribution: distribution.kind)
def test_noisy_maxima_are_drawn_from_their_distributions(distribution):
    n, source, noise = 5_000, seeded.SeededEntropy(5), NOISES[distribution.noise]
    agree(Counter(noisy_max.choose(np.array(SCORES), noise, source) for _ in range(n)), distribution.log_prob, n)


def test_an_exact_draw_is_made_from_its_distribution_even_if_its_choices_are_not():
    """Two choices, by weights that are off, and a coin that makes up for it."""
    weights = {(0, 0): Fraction(1), (0, 1): Fraction(3), (1, 0): Fraction(2), (1, 1): Fraction(5, 2)}

    def attempt(choose):
        first = choose(np.log([0.5, 0.5]))
        return first, choose(np.log([0.4, 0.6]))

    question = attempt, lambda made: (weights[made], Fraction(0)), lambda: math.log(30), 1.0
    distribution = ExactDraw(*question, INTEGERS_FOR_WEIGHTS)
    with precise():
        assert {answer: round(float(log.exp() * 17 / 2), 12) for answer, log in distribution.all_logs.items()} == {
            answer: float(weight) for answer, weight in weights.items()
        }
    n, source = 1_500, seeded.SeededEntropy(1)
    agree(Counter(decisions.draw_exactly(*question, source) for _ in range(n)), distribution.log_prob, n)


@pytest.mark.slow
def test_rule_lists_are_drawn_from_the_distribution_of_what_is_asked():
    """Two rules, three patterns, three classes; one of the rules is three times as likely, and one class counts for half."""
    truth = np.array([[True, False, True], [False, True, True]])
    counts = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.5, 0.5, 0.0]])
    prior, rate = Prior((1.0, 2.0, 1.0), np.array([1.0, 3.0])), 0.7
    distribution = DrawnList(truth, counts, prior.lengths, (1.0, 3.0), rate)
    n, source, small = 800, seeded.SeededEntropy(2), problem.make_problem(truth, counts, prior, rate)
    seen = Counter(tuple(map(tuple, envelope.draw_by_envelope(small, source, Deadline()))) for _ in range(n))
    agree(seen, distribution.log_prob, n)
    with precise():
        assert abs(sum(distribution.log_prob(answer).exp() for answer in every_list(distribution)) - 1) < 1e-60


def every_list(distribution):
    """All labelled lists: rules and labels."""
    for rules in distribution.logs:
        for labels in product(range(len(distribution.counts)), repeat=len(rules) + 1):
            yield rules, labels


class Distributions(Session):
    """What is drawn first, as a distribution."""

    @property
    def chances(self):
        distribution = self.distributions[0]
        whole = isinstance(distribution, DrawnList)
        logs = (
            [distribution.log_prob(answer) for answer in every_list(distribution)]
            if whole
            else distribution.all_logs.values()
        )
        return sorted(float(log.exp()) for log in logs)


LISTS = {
    "one rule": ({"lengths": (1, 1), "share": 0.5}, {}),
    "two rules with negations": ({"lengths": (1, 1, 1), "share": 0.9}, {"negations": True}),
    "three rules": ({"lengths": (1, 1, 1, 1), "share": 0.9}, {}),
    "one rule a draw": ({"lengths": (1, 1), "share": 0.45}, {}),
    "class weights and a prior": ({"lengths": (1, 4), "share": 0.9, "others": 0.25}, {}),
    "limits": ({"lengths": (1, 1, 1), "share": 0.9, "rising": (0,), "apart": (0, 1)}, {}),
    "without counts": ({"lengths": (1, 1), "share": 1.0}, {}),
    "of eight rules": ({"lengths": (1,) * 9, "share": 0.9}, {}),
}
TREES = {
    "depth 1": {"depth": 1, "share": 0.5},
    "depth 2": {"depth": 2, "share": 0.9},
    "in stages": {"depth": 1, "share": 0.45},
    "by Gini": {"depth": 1, "share": 0.9, "by_gini": True},
    "by Gini, depth 2": {"depth": 2, "share": 0.9, "by_gini": True},
    "limits": {"depth": 1, "share": 0.9, "rising": (0,), "apart": (0, 1)},
}
BY_NAME = {case.name: case for case in CASES}


def first_draw(case, table, n_classes, epsilon, k):
    with precise():
        with opened(Distributions(lambda distribution: distribution.any(np.random.default_rng(0)))) as session:
            case.on(n_classes, epsilon, k)(table)
        return session.chances


def tables(case):
    rng = np.random.default_rng(len(case.name))
    for n in (0, 1, 6):
        n_classes = int(rng.choice(case.classes[:2]))
        yield (
            [some_record(rng, case.columns, n_classes) for _ in range(n)],
            n_classes,
            float(rng.choice([0.1, 2.0, 9.0])),
        )


@pytest.mark.parametrize("name", LISTS)
def test_a_rule_list_is_drawn_by_its_definition_with_the_epsilon_that_it_is_promised(name):
    case, (how, ways) = BY_NAME[f"rule list, {name}"], LISTS[name]
    limits = {key: how[key] for key in ("rising", "apart") if key in how}
    for table, n_classes, epsilon in tables(case):
        weights = [1.0, *[how.get("others", 1.0)] * (n_classes - 1)]
        rate = how["share"] * epsilon / 3
        expected = distribution_of_lists(
            table, questions_about(case.columns, **ways), how["lengths"], rate, weights, **limits
        )
        assert first_draw(case, table, n_classes, epsilon, k=3) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_drawn_by_its_definition_with_the_epsilon_that_it_is_promised(name):
    case, how = BY_NAME[f"tree, {name}"], dict(TREES[name])
    share, depth = how.pop("share"), how.pop("depth")
    for table, n_classes, epsilon in tables(case):
        rate = share * epsilon / 3
        expected = distribution_of_trees(table, questions_about(case.columns), depth, rate, [1.0] * n_classes, **how)
        assert first_draw(case, table, n_classes, epsilon, k=3) == pytest.approx(expected, rel=1e-9)
