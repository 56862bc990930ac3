"""Joint counts of columns and of literals are those that one gets by looking at every record."""

import copy
import pickle
from itertools import combinations, permutations

import numpy as np
import pytest

from discreet.private.counts import joint as joint_module
from discreet.private.counts import marginals as tuples_module
from discreet.private.counts.division import OUTSIDE, Division, box_of, column_numbers, divided_by, left_by
from discreet.private.counts.groups import Groups
from discreet.private.counts.joint import JointCounts
from discreet.private.counts.marginals import MarginalsInProgress
from discreet.rules.candidates import Candidates, NumberedFork, NumberedLeaf, leaves_of
from discreet.schema import Schema
from discreet.schema.columns import Numeric

from ..support.small_tables import SmallTable, every_count, small_table


def by_hand(table, groups, numbers, part, number):
    """Class counts by the bins of some groups of columns, one record after the other."""
    counts = np.zeros((table.n_classes, *(groups.bins[i] for i in numbers)))
    for record in np.flatnonzero(part == number):
        place = [table.labels[record]]
        for i in numbers:
            stride, bin_of_group = 1, 0
            for column in groups.members[i]:
                bin_of_group += stride * table.bins[column][record]
                stride *= table.schema.used[column].n_bins
            place.append(bin_of_group)
        counts[tuple(place)] += 1
    return counts


def some_division(table):
    """Two parts, and records that are in none."""
    first = np.arange(table.schema.used[0].n_bins) < 2
    second = np.arange(table.schema.used[1].n_bins) == 1
    return Division([({0: first, 1: second}, 1), ({1: second}, OUTSIDE)], 0, 2)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_every_table_is_that_of_the_records(seed, size, monkeypatch):
    monkeypatch.setattr(tuples_module, "ROWS", 7 + seed % 2 * 1000)
    table = small_table(seed, n_classes=2 + seed % 2)
    division = some_division(table)
    counted = table.marginals(size, division)
    part = division.find(table.bins, len(table.labels))
    for k in range(counted.groups.size + 1):
        for numbers in permutations(range(len(counted.groups.bins)), k):
            for number in range(2):
                expected = by_hand(table, counted.groups, numbers, part, number)
                assert (counted.in_part(number).table(numbers) == expected).all()


def test_patterns_records_and_engines_fill_the_same_tables(monkeypatch):
    monkeypatch.setattr(tuples_module, "ROWS", 7)
    table = small_table(1, n_records=100)
    division = some_division(table)
    expected = every_count(table.marginals(2, division))
    from_patterns = MarginalsInProgress(table.schema.used, 2, 2, division)
    table.patterns().add_to(from_patterns)
    assert (every_count(from_patterns.finish()) == expected).all()
    counted = MarginalsInProgress(table.schema.used, 2, 2, division)
    part = division.find(table.bins, len(table.labels))
    some = part != OUTSIDE
    layers = table.labels + 2 * part
    for number, columns in enumerate(counted.sets):
        places, stride = np.zeros(len(part), np.int64), 1
        for i in columns:
            places += stride * table.bins[i]
            stride *= table.schema.used[i].n_bins
        counted.add_counted(number, places[some], layers[some], np.ones(some.sum(), np.int64))
    assert (every_count(counted.finish()) == expected).all()


@pytest.mark.parametrize("repeats", [1, 5])
def test_records_that_agree_are_counted_once_and_as_often(repeats):
    table = small_table(2, n_records=60)
    filling = MarginalsInProgress(table.schema.used, 2, 3)
    filling.add([np.tile(b, repeats) for b in table.bins], np.tile(table.labels, repeats))
    assert (every_count(filling.finish()) == repeats * every_count(table.marginals(3))).all()


def test_counts_grow_beyond_four_bytes():
    table = small_table(3, n_records=4)
    filling = MarginalsInProgress(table.schema.used, 2, 1)
    for _ in range(3):
        filling.add_counted(0, np.array([1]), np.array([0]), np.array([2**31]))
    assert filling.finish().table([0])[0, 1] == 3 * 2**31


def test_counts_grow_beyond_four_bytes_whichever_set_an_engine_answers_first():
    filling = MarginalsInProgress([Numeric(name, cuts=range(20)) for name in "abc"], 2, 2)
    assert len(filling.sets) == 3
    for number in (2, 1, 0):
        filling.add_counted(number, np.array([1]), np.array([0]), np.array([2**32 + 5]))
    counted = filling.finish()
    assert [counted.table(numbers).sum() for numbers in counted.groups.sets] == [2**32 + 5] * 3


def test_an_engine_may_not_answer_with_bins_that_are_none():
    table = small_table(3, n_records=4)
    filling = MarginalsInProgress(table.schema.used, 2, 1)
    for place, layer in ((-1, 0), (filling.groups.bins[0], 0), (0, 2), (0, -1)):
        with pytest.raises(AssertionError, match="bug in its source"):
            filling.add_counted(0, np.array([place]), np.array([layer]), np.array([1]))


def test_the_number_of_places_is_known_before():
    for seed in range(4):
        table = small_table(seed)
        bins = [column.n_bins for column in table.schema.used]
        for size in (1, 2, 3):
            assert Groups.of(bins, size).count_places() * 2 == every_count(table.marginals(size)).size


def test_small_columns_are_counted_together_and_any_of_them_are_in_one_set():
    bins = [3, 12, 3, 40, 3, 4, 100, 3, 3]
    for size in (1, 2, 3):
        groups = Groups.of(bins, size)
        assert sorted(i for group in groups.members for i in group) == list(range(len(bins)))
        sets = [set(groups.columns_of(numbers)) for numbers in groups.sets]
        for columns in combinations(range(len(bins)), size):
            assert any(set(columns) <= numbers for numbers in sets)
    assert len(Groups.of([3] * 50, 3).members) == 25
    assert Groups.of([12, 12], 3).sets == ((0, 1),)


@pytest.mark.parametrize("few", [0, 1 << 20])
@pytest.mark.parametrize("seed", range(6))
def test_counts_of_literals_are_those_of_the_records(seed, few, monkeypatch):
    monkeypatch.setattr(joint_module, "FEW", few)  # whether all that can be asked for is kept
    table = small_table(seed, n_classes=2 + seed % 2)
    channels = np.array([[1.0, -1.0]]) if table.n_classes == 2 else np.diag([1.0, 0.5, 0.25])
    joint = JointCounts(table.marginals(3), table.candidates, channels)
    true = table.truth()[joint.order].astype(float)
    weights = channels @ table.counts()
    assert joint.none == pytest.approx(weights.sum(1))
    assert joint.one == pytest.approx(weights @ true.T)
    assert joint.two == pytest.approx(np.einsum("cn,an,bn->cab", weights, true, true))
    for i in joint.used:
        mine = true[joint.slices[i]]
        for j in joint.used:
            other = true[joint.slices[j]]
            expected = np.einsum("cn,an,bn,dn->cabd", weights, mine, other, true)
            assert joint.three(i, j) == pytest.approx(expected)
        from_here = true[joint.slices[i].start :]
        assert joint.three_from(i) == pytest.approx(np.einsum("cn,an,bn,dn->cabd", weights, mine, from_here, true))


def wide_table(seed):
    """Nine columns, of which some have no literal among the candidates."""
    rng = np.random.default_rng(seed)
    schema = Schema([Numeric(f"x{i}", cuts=range(3 + int(rng.integers(9)))) for i in range(9)])
    every = Candidates.of_schema(schema)
    unused = {f"x{i}" for i in rng.choice(9, 3, replace=False)}
    some = [i for i in rng.permutation(len(every)) if every.literals[every.members[i, 0]].column not in unused]
    bins, labels = [rng.integers(0, column.n_bins, 70) for column in schema.used], rng.integers(0, 2, 70)
    return SmallTable(schema, every.only(np.array(some[:25])), bins, labels, 2)


@pytest.mark.parametrize("few", [0, 1 << 20])
@pytest.mark.parametrize("seed", range(3))
def test_many_groups_of_which_some_have_no_literal(seed, few, monkeypatch):
    monkeypatch.setattr(joint_module, "FEW", few)
    table = wide_table(seed)
    true, weights = table.truth(), table.counts()
    for size in (2, 3):
        joint = JointCounts(table.marginals(size), table.candidates, np.eye(2))
        own = true[joint.order].astype(float)
        assert (joint.one == weights @ own.T).all()
        assert (joint.two == np.einsum("cn,an,bn->cab", weights, own, own)).all()
    assert len(joint.used) < len(joint.slices)
    every = np.einsum("cn,an,bn,dn->cabd", weights, own, own, own)
    for i in joint.used:
        assert (joint.three_from(i) == every[:, joint.slices[i], joint.slices[i].start :]).all()
        for j in joint.used:
            assert (joint.three(i, j) == every[:, joint.slices[i], joint.slices[j]]).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_set_of_many_groups_is_counted(size):
    table = wide_table(size)
    counted = table.marginals(size)
    for k in range(counted.groups.size + 1):
        for numbers in combinations(range(len(counted.groups.bins)), k):
            expected = by_hand(table, counted.groups, numbers, np.zeros(len(table.labels), int), 0)
            assert (counted.table(numbers) == expected).all()


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_where_rules_and_leaves_are(seed):
    table = small_table(seed, tests=True, n_records=50)
    columns, true = column_numbers(table.schema.used, table.candidates), table.truth()
    joint = JointCounts(table.marginals(3), table.candidates, np.eye(2))
    for place, rule in enumerate(joint.order):
        inside = Division([(box_of(rule, table.candidates, columns), 0)], OUTSIDE).find(table.bins, 50)
        assert ((inside == 0) == true[rule]).all()
        box = {joint.group_of[place]: joint.truth(place)}
        assert (joint.classes_in(box) == table.counts()[:, true[rule]].sum(1)).all()
    left = left_by([0, 2], table.candidates, columns).find(table.bins, 50)
    assert ((left == 0) == ~(true[0] | true[2])).all()
    tree = NumberedFork(
        0,
        NumberedFork(1, NumberedLeaf(), NumberedLeaf()),
        NumberedFork(2, NumberedLeaf(), NumberedFork(0, NumberedLeaf(), NumberedLeaf())),
    )
    part = divided_by(tree, table.candidates, table.schema.used).find(table.bins, 50)
    for number, (path, _) in enumerate(leaves_of(tree)):
        assert ((part == number) == np.logical_and.reduce([true[test] == side for test, side in path])).all()


def test_marginals_cannot_be_seen_or_copied():
    table = small_table(0)
    counted = table.marginals(2)
    for holder in (counted, JointCounts(counted, table.candidates, np.eye(2))):
        assert repr(holder) == f"<{type(holder).__name__}>"
        for copier in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                copier(holder)
