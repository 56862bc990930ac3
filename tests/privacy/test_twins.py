"""Every broken twin is caught by the level of the audit that should catch it, and its sound version is not.

In the fast run, of those that take long, one of each kind: half the noise, records that are counted twice, no charge.
"""

import pytest

from discreet.audit.learners import excess, is_broken
from discreet.audit.observed import lower_bound

from . import twins

SLOW = {
    "trees: the best label instead of a drawn one",
    "trees: missing values in both branches",
    "rule lists: class counts of parts that overlap",
    "mass: ... and a learner that asks it twice",
    "summed lists: class counts of parts that overlap",
    "summed lists: the same, counted again from the table",
    "summed lists: a later draw that looks at all records",
    "summed lists: records of a part counted twice",
    "greedy trees by mass: nodes of a level that share records",
    "greedy trees by mass: a level that is not charged",
    "greedy trees by gl-exponential: noise of class counts halved",
    "trees: stages that do not share epsilon",
    "trees: class counts of leaves that overlap",
    "trees by Gini: rate doubled",
    "summed trees: records of a part counted twice",
    "summed trees: missing values in both branches",
    "summed trees: a later stage that looks at all records",
    "summed lists: a class weight above 1",
    "summed trees: a query that charges when it has answered",
    "rule lists: a sampler with half the noise of its distribution",
    "summed lists: a sampler with half the noise of its distribution",
    "summed trees: a sampler with half the noise of its distribution",
    "greedy trees by mass: OpenDP asked for half the noise",
}
sound_fits = {}  # several twins are of one sound subject


def named(generator):
    cases = [pytest.param(case, id=case[0], marks=[pytest.mark.slow] * (case[0] in SLOW)) for case in generator]
    return pytest.mark.parametrize("case", cases)


def sound_fit(sound, pairs):
    known = id(sound), id(pairs)
    if known not in sound_fits:
        sound_fits[known] = twins.worst_fit(sound, sound.promises()[0], pairs)
    return sound_fits[known]


def test_those_that_take_long_are_there():
    every = twins.choice_twins, twins.other_choice_twins, twins.fit_twins, twins.observed_twins
    assert {case[0] for twins_of_a_level in every for case in twins_of_a_level()} >= SLOW


@named(twins.choice_twins())
def test_level_1_catches(case):
    _, selector, distribution, price = case
    assert is_broken(twins.worst_of_twin(selector, distribution, price).ratio)


@named(twins.other_choice_twins())
def test_level_1_catches_other(case):
    assert is_broken(case[1]().ratio)


@named(twins.fit_twins())
def test_level_2_catches(case):
    _, sound, twin, pairs = case
    promise = sound.promises()[0]
    found, uncharged = sound_fit(sound, pairs)
    assert not is_broken(excess(found, promise))
    assert promise.delta > 0 or uncharged <= 1e-6
    found, uncharged = twins.worst_fit(twin, promise, pairs)
    assert is_broken(excess(found, promise)) or (promise.delta == 0 and uncharged > 0.01)


@named(twins.observed_twins())
def test_level_3_catches(case):
    epsilon, hits, other, fits = case[1]()
    assert lower_bound(hits, other, fits) > epsilon


def test_two_fits_with_noise_of_their_own_do_not_show_what_a_shared_generator_shows():
    pair = twins.Pair(twins.np.array([[20, 0], [0, 0]]), (0, 0))
    hits = [sum(x >= 21 for x in twins.shared_generator(table, 200, False)) for table in (pair.more, pair.less)]
    assert lower_bound(*hits, 200) < 0.15
