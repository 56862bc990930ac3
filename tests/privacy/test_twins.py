"""Every broken twin is caught by the level of the audit that should catch it, and its sound version is not."""

import pytest

from discreet.audit.learners import excess, is_broken
from discreet.audit.observed import lower_bound

from . import twins


def named(generator):
    cases = list(generator)
    return pytest.mark.parametrize("case", cases, ids=[case[0] for case in cases])


@named(twins.choice_twins())
def test_level_1_catches(case):
    _, selector, law, price = case
    assert is_broken(twins.worst_of_twin(selector, law, price).ratio)


@named(twins.other_choice_twins())
def test_level_1_catches_other(case):
    assert is_broken(case[1]().ratio)


@named(twins.fit_twins())
def test_level_2_catches(case):
    _, sound, twin, pairs = case
    promise = sound.promises()[0]
    found, uncharged = twins.worst_fit(sound, promise, pairs)
    assert not is_broken(excess(found, promise))
    assert promise.delta > 0 or uncharged <= 1e-6
    found, uncharged = twins.worst_fit(twin, promise, pairs)
    assert is_broken(excess(found, promise)) or (promise.delta == 0 and uncharged > 0.01)


def test_level_3_catches():
    for name, epsilon, hits, other, fits in twins.observed_twins():
        assert lower_bound(hits, other, fits) > epsilon, name


def test_two_fits_with_noise_of_their_own_do_not_show_what_a_shared_generator_shows():
    pair = twins.Pair(twins.np.array([[20, 0], [0, 0]]), (0, 0))
    hits = [sum(x >= 21 for x in twins.shared_generator(table, 200, False)) for table in (pair.more, pair.less)]
    assert lower_bound(*hits, 200) < 0.15
