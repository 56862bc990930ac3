"""Counts at the nodes of a level: against a plain count of records, one by one."""

import numpy as np
import pandas as pd
import pytest

from discreet import Boolean, Categorical, Numeric, Schema
from discreet.private.counts import marginals
from discreet.private.counts.counting import counts_by_part
from discreet.private.counts.division import column_numbers, in_boxes, path_as_box
from discreet.private.mechanisms.mass import Mass
from discreet.private.queries.greedy import GreedyTreeQueries
from discreet.rules.candidates import Candidates

from ..support.counted import patterns_of
from ..support.selectors import budget_of

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


def counted(X, y, paths):
    """As a level is counted."""
    patterns, numbers = patterns_of(X, y, SCHEMA), column_numbers(SCHEMA.used, TESTS)
    division = in_boxes([path_as_box(path, TESTS, numbers) for path in paths])
    return counts_by_part(patterns.joint(SCHEMA.used, 1, division), TESTS, numbers)


PATHS = [
    [()],
    [((0, True),), ((0, False),)],
    [((0, True), (4, False)), ((0, True), (4, True), (6, False)), ((0, False), (1, False), (2, False))],
    [((2, True),), ((4, True),), ((2, False), (4, False))],  # the first two overlap
]


@pytest.mark.parametrize("rows", [1 << 16, 7])
def test_counts_of_all_tests_at_all_nodes_are_those_of_the_records(rows, monkeypatch):
    monkeypatch.setattr(marginals, "ROWS", rows)
    rng = np.random.default_rng(0)
    X, y = table(400, rng)
    true, labels = truths(X), np.array([y == c for c in "abc"])
    assert len(TESTS) == 9
    for paths in PATHS:
        free = np.ones(len(X), bool)
        for path, node in zip(paths, counted(X, y, paths), strict=True):
            inside = free & np.all([np.ones(len(X), bool), *(true[test] == side for test, side in path)], axis=0)
            free &= ~inside  # a record is at the first node that it leads to
            assert (node.left == labels[:, inside].sum(1)).all()
            assert (node.captured == labels[:, inside].astype(int) @ true[:, inside].T.astype(int)).all()


def test_without_records_there_is_nothing():
    empty = pd.DataFrame(
        {"age": pd.Series([], dtype=float), "job": pd.Series([], dtype=str), "member": pd.Series([], dtype=object)}
    )
    (node,) = counted(empty, np.array([], str), [()])
    assert not node.left.any()
    assert not node.captured.any()


def test_a_test_is_undecided_where_the_path_leaves_both_answers():
    X, y = table(50, np.random.default_rng(1))
    queries = GreedyTreeQueries(patterns_of(X, y, SCHEMA), TESTS, Mass(), budget_of("mass", 1, 2))
    number = {str(TESTS[i]): i for i in range(len(TESTS))}
    assert list(queries._undecided(())) == list(range(len(TESTS)))

    def names(path):
        return {str(TESTS[int(i)]) for i in queries._undecided([(number[name], side) for name, side in path])}

    everything = set(number)
    assert names([("age <= 40", True)]) == everything - {"age <= 40", "age <= 60", "age is missing"}
    assert names([("age <= 40", False)]) == everything - {"age <= 20", "age <= 40"}
    assert names([("age is missing", True)]) == {name for name in everything if "age" not in name}
    assert names([("job = clerk", False)]) == everything - {"job = clerk"}
    assert names([("job = clerk", False), ("job = boss", False)]) == {name for name in everything if "job" not in name}
