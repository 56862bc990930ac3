"""Counts at the nodes of a level: against a plain count of records, one by one."""

import numpy as np
import pandas as pd
import pytest

from discreet import Boolean, Categorical, Numeric, Schema
from discreet.private.counts import levels
from discreet.private.counts.levels import LevelCounts
from discreet.rules.candidates import Candidates

from ..support.counted import patterns_of

SCHEMA = Schema(
    [
        Numeric("age", cuts=[20, 40, 60], missing=True),
        Categorical("job", categories=["clerk", "boss", "cook"]),
        Boolean("member", missing=True),
    ],
    classes=["a", "b", "c"],
)
TESTS = Candidates.of_tests(SCHEMA)


def table(n, rng):
    ages = rng.choice([10.0, 30.0, 50.0, 70.0, np.nan], n)
    return pd.DataFrame(
        {
            "age": ages,
            "job": rng.choice(["clerk", "boss", "cook"], n),
            "member": rng.choice(np.array([True, False, None], object), n),
        }
    ), rng.choice(["a", "b", "c"], n)


def truths(X):
    """(tests, records): where each test is true; nowhere where the value is missing, unless it asks for that."""
    return np.array([_true(X, test) for test in TESTS])


def _true(X, rule):
    (literal,) = rule.antecedent
    values = X[literal.column]
    if literal.op == "is missing":
        return values.isna().to_numpy()
    known = values.notna().to_numpy()
    compare = {"<=": lambda v: v <= literal.value, "=": lambda v: v == literal.value, "is true": lambda v: v is True}
    return np.array([bool(ok and compare[literal.op](v)) for ok, v in zip(known, values, strict=True)])


PATHS = [
    [()],
    [((0, True),), ((0, False),)],
    [((0, True), (4, False)), ((0, True), (4, True), (6, False)), ((0, False), (1, False), (2, False))],
    [((2, True),), ((4, True),), ((2, False), (4, False))],  # the first two overlap
]


@pytest.mark.parametrize("rows", [1 << 16, 7])
def test_counts_of_all_tests_at_all_nodes_are_those_of_the_records(rows, monkeypatch):
    monkeypatch.setattr(levels, "ROWS", rows)
    rng = np.random.default_rng(0)
    X, y = table(400, rng)
    counter = LevelCounts(patterns_of(X, y, SCHEMA).cells, TESTS)
    true, labels = truths(X), np.array([y == c for c in "abc"])
    assert len(TESTS) == 9
    assert (counter.total() == labels.sum(1)).all()
    for paths in PATHS:
        free = np.ones(len(X), bool)
        for path, node in zip(paths, counter.counts(paths), strict=True):
            inside = free & np.all([np.ones(len(X), bool), *(true[test] == side for test, side in path)], axis=0)
            free &= ~inside  # a record is at the first node that it leads to
            assert (node.left == labels[:, inside].sum(1)).all()
            assert (node.captured == labels[:, inside].astype(int) @ true[:, inside].T.astype(int)).all()


def test_without_records_or_nodes_there_is_nothing():
    empty = pd.DataFrame(
        {"age": pd.Series([], dtype=float), "job": pd.Series([], dtype=str), "member": pd.Series([], dtype=object)}
    )
    counter = LevelCounts(patterns_of(empty, np.array([], str), SCHEMA).cells, TESTS)
    (node,) = counter.counts([()])
    assert not node.left.any()
    assert not node.captured.any()
    assert counter.counts([]) == []


def test_a_test_is_undecided_where_the_path_leaves_both_answers():
    X, y = table(50, np.random.default_rng(1))
    counter = LevelCounts(patterns_of(X, y, SCHEMA).cells, TESTS)
    number = {str(TESTS[i]): i for i in range(len(TESTS))}
    assert list(counter.undecided(())) == list(range(len(TESTS)))

    def names(path):
        return {str(TESTS[int(i)]) for i in counter.undecided([(number[name], side) for name, side in path])}

    everything = set(number)
    assert names([("age <= 40", True)]) == everything - {"age <= 40", "age <= 60", "age is missing"}
    assert names([("age <= 40", False)]) == everything - {"age <= 20", "age <= 40"}
    assert names([("age is missing", True)]) == {name for name in everything if "age" not in name}
    assert names([("job = clerk", False)]) == everything - {"job = clerk"}
    assert names([("job = clerk", False), ("job = boss", False)]) == {name for name in everything if "job" not in name}


def test_nothing_exact_is_shown():
    X, y = table(5, np.random.default_rng(2))
    counter = LevelCounts(patterns_of(X, y, SCHEMA).cells, TESTS)
    assert repr(counter) == "<LevelCounts>"
