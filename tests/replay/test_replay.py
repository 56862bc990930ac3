"""An independent replay: a fit on D, the same answers forced on its neighbour D', and the log ratios of all of them added up.

The sum may never exceed what is promised, whatever the answers are. They are drawn, or drawn from all alike, or picked one by
one so that they tell most between both tables. ``distributions.py`` and ``draws.py`` have the probabilities, by formulas of
their own; ``hooks.py`` is where the answers are given; ``twins.py`` has what must be caught.

Where a delta is proved, an (epsilon, delta) promise is one about the mean of ``max(0, 1 - exp(epsilon - loss))`` over answers
that are drawn from D. It is at most delta for each pair; so the mean over many fits is above 1,000 times the mean of their
deltas in at most one of 1,000 runs (Markov).
"""

import math
import zlib

import numpy as np
import pytest

import discreet

from . import twins
from .cases import CASES, hard_pairs, some_pair
from .distributions import decimal, precise
from .hooks import Session, opened
from .loss import Telling, anything, drawn, loss_of

EPSILONS = 1e-6, 1e-3, 0.1, 1.1, 7.0, 50.0
BY_NAME = {case.name: case for case in CASES}
SOLID = 1e-60  # of epsilon: what eighty digits are off by
ROUNDED = 1e-9  # the same for scores in floating point, and quadrature (statements name that assumption)


def exceeds(loss):
    """Whether it is more than what was promised, whatever its sign."""
    rounded = any(kind.startswith("noisy max") for kind in loss.kinds)
    with precise():
        return abs(loss.total) > decimal(loss.epsilon) * (1 + decimal(ROUNDED if rounded else SOLID))


def replay(case, n_pairs, seed):
    """Of each of some random pairs: what it was, how it was answered, and what it lost."""
    rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
    for i in range(n_pairs):
        n_classes, k, epsilon = (
            int(rng.choice(case.classes)),
            int(rng.choice(case.persons)),
            float(rng.choice(EPSILONS)),
        )
        pair = some_pair(rng, case.columns, n_classes, k)
        if rng.random() < 0.2:
            some = list(hard_pairs(case.columns, k))
            pair = some[rng.integers(len(some))]
        release, how = case.on(n_classes, epsilon, k), ("telling", "drawn", "any", "drawn")[i % 4]
        if how == "telling":
            answers = Telling(release, *pair, sign=1 if rng.random() < 0.5 else -1)
        else:
            answers = (drawn if how == "drawn" else anything)(rng)
        yield (n_classes, k, epsilon, *pair), how, loss_of(release, *pair, answers)


def check(case, n_pairs, seed=0):
    excess = deltas = 0.0
    for what, how, loss in replay(case, n_pairs, seed):
        if not loss.delta:
            assert not exceeds(loss), f"{case.name}, {how} answers: {loss.total} of {loss.epsilon} on {what}"
        elif how == "drawn":
            excess += max(0.0, -math.expm1(float(decimal(loss.epsilon) - loss.total)))
            deltas += loss.delta
    assert excess <= 1000 * deltas


@pytest.mark.parametrize("case", [case for case in CASES if case.pairs >= 10], ids=lambda case: case.name)
def test_the_answers_of_a_few_pairs_tell_no_more_than_promised(case):
    check(case, 2)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answers_of_many_pairs_tell_no_more_than_promised(case):
    check(case, case.pairs, seed=1)


def test_everything_that_is_private_is_replayed():
    private = {name for name in discreet.__all__ if name.startswith(("DP", "noisy_", "private_"))}
    assert private == {case.of for case in CASES}


LISTS = "rule list, one rule", "rule list, limits", "rule list, by an envelope", "rule list, of eight rules"
TREES = "tree, depth 1", "tree, by Gini, depth 2", "tree, in stages", "tree, limits"
COUNTED = (
    "evaluation",
    *LISTS,
    *TREES[:1],
    "one greedy rule, mass",
    "greedy tree, purity",
    "one greedy rule, noisy-counts",
)
COUNTED += (
    "schema",
    "tree and its schema",
    "card, at once",
    "card, one by one",
    "card, in the leaves of a tree",
    "evaluation by groups",
    "evaluation, classes alone",
)
CHOSEN = "one greedy rule, purity", "one greedy rule, mass", "greedy tree, purity", "greedy tree, mass"
CHOSEN += "card, chosen columns", "card, chosen in the leaves of a tree"
MAXIMA = tuple(f"one greedy rule, {name}" for name in ("gl-laplace", "gl-exponential", "gl-gaussian", "sm-laplace"))
DRAWN = *LISTS, *TREES, "card, in the leaves of a tree"
CAUGHT = {  # the first of each in the fast tests
    twins.HalvedCountNoise: COUNTED,
    twins.HalvedChoiceNoise: CHOSEN,
    twins.HalvedMaxNoise: (*MAXIMA, "one greedy rule, sm-cauchy"),
    twins.TwiceEpsilonInDraws: DRAWN,
    twins.CountedTwice: COUNTED,
    twins.ChosenTwice: (*CHOSEN, *MAXIMA),
    twins.DrawnTwice: DRAWN,
    twins.SharedNoise: ("schema",),
    twins.OneBareCount: COUNTED,
    twins.BareCounts: COUNTED,
    twins.BareChoices: (*CHOSEN, *MAXIMA[:1]),
    twins.AsksByWhatItSaw: COUNTED,
}


def is_caught(case, session, epsilon, k, told=None):
    """Whether a pair of neighbours, by up to k records, shows it; ``told``: what the learner is told of k."""
    release = case.on(2, epsilon, told or k)
    rng = np.random.default_rng(0)
    pairs = [pair for hard in hard_pairs(case.columns, k) for pair in (hard, some_pair(rng, case.columns, 2, k))]
    return any(
        exceeds(loss_of(release, *pair, Telling(release, *pair, sign, session), session))
        for pair in pairs
        for sign in (1, -1)
    )


@pytest.mark.parametrize(
    ("twin", "name"),
    [
        pytest.param(twin, name, marks=[pytest.mark.slow] if i else [], id=f"{twin.__name__}, {name}")
        for twin, names in CAUGHT.items()
        for i, name in enumerate(names)
    ],
)
def test_a_broken_twin_is_caught(twin, name):
    # of Cauchy noise little is left to lose at a large epsilon: its tails are too heavy
    assert is_caught(BY_NAME[name], twin, 5.0 if name.endswith("cauchy") else 50.0, k=1)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(case.name, marks=[pytest.mark.slow] if i else [])
        for i, case in enumerate(case for case in CASES if 3 in case.persons and case.pairs >= 10)
    ],
)
def test_a_sensitivity_that_ignores_the_records_of_a_person_is_caught(name):
    assert is_caught(BY_NAME[name], Session, 50.0, k=3, told=1)


def test_random_numbers_past_the_primitives_end_the_replay():
    from discreet.private.noise.entropy import Entropy

    with opened(Session(drawn(np.random.default_rng(0)))):
        for ask in (Entropy().bits, Entropy().uniform):
            with pytest.raises(AssertionError, match="past all primitives"):
                ask(1)


def test_outside_of_a_session_the_primitives_are_as_before():
    from discreet.private.noise.seeded import SeededEntropy

    before = SeededEntropy(0).discrete_laplace(np.arange(5), 1.0)
    with opened(Session(drawn(np.random.default_rng(0)))):
        pass
    assert (SeededEntropy(0).discrete_laplace(np.arange(5), 1.0) == before).all()
