import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Boolean, Categorical, Ignored, Numeric, Rule, Schema
from discreet._utils.errors import CandidatesError, RuleError
from discreet.rules import candidates
from discreet.rules.candidates import Candidates

from ..support.strategies import schemas


def meanings(schema, rules):
    """What each rule says: its truth on all combinations of bins that the schema foresees."""
    bins = [np.flatnonzero(c.domain) for c in schema.columns]
    for rule in rules:
        true = [np.ones(len(b), bool) for b in bins]
        for x in rule.antecedent:
            i = schema.names.index(x.column)
            true[i] &= schema[x.column].where(x.op, x.value)[bins[i]]
        yield tuple(t.tobytes() for t in true) if all(t.any() for t in true) else None


@given(schemas(max_columns=3), st.integers(1, 3), st.booleans())
def test_all_conjunctions_once_and_none_that_is_impossible_or_always_true(schema, max_literals, negations):
    try:
        made = Candidates.of_schema(schema, max_literals, negations)
    except CandidatesError:
        made = None
    got = [] if made is None else list(meanings(schema, made))
    assert None not in got
    assert len(set(got)) == len(got)
    literals = [brute_force_literal for c in schema.columns for brute_force_literal in _literals_of(c, negations)]
    conjunctions = [
        Rule(combination) for k in range(1, max_literals + 1) for combination in itertools.combinations(literals, k)
    ]
    everything = set(meanings(schema, conjunctions)) - {None}
    always = next(iter(meanings(schema, [Rule(())])))
    assert set(got) == everything - {always}
    if made is not None:
        sizes = [len(rule.antecedent) for rule in made]
        assert sizes == sorted(sizes)
        assert max(sizes) <= max_literals


def _literals_of(column, negations):
    from discreet import Literal

    for op, value in column.tests():
        yield Literal(column.name, op, value)
        if negations:
            yield ~Literal(column.name, op, value)


def test_the_papers_numbers_of_rules():
    for n, pairs in ((12, 288), (20, 800), (27, 1458)):
        schema = Schema.of_booleans([f"c{i}" for i in range(n)])
        assert len(Candidates.of_schema(schema)) == 2 * n
        assert len(Candidates.of_schema(schema, max_literals=2)) == pairs
        assert len(Candidates.of_schema(schema, max_literals=2, negations=False)) == n + n * (n - 1) // 2


def test_one_hot_groups():
    schema = Schema([Categorical("job", categories=["a", "b", "c"])])
    assert [str(r) for r in Candidates.of_schema(schema, 2)] == [
        "job = a", "job != a", "job = b", "job != b", "job = c", "job != c",
    ]  # fmt: skip
    two = Schema([Categorical("sex", categories=["f", "m"])])
    assert [str(r) for r in Candidates.of_schema(two)] == ["sex = f", "sex = m"]
    open_ended = Schema([Categorical("sex", categories=["f", "m"], outside="other")])
    assert len(Candidates.of_schema(open_ended)) == 6


def test_intervals_from_two_cuts():
    rules = [str(r) for r in Candidates.of_schema(Schema([Numeric("x", cuts=[1, 2])]), 2)]
    assert rules == ["x <= 1", "x > 1", "x <= 2", "x > 2", "x > 1 and x <= 2"]


def test_no_function_takes_data():
    for _, function in inspect.getmembers(candidates, inspect.isfunction):
        assert not {"X", "y", "table", "data"} & set(inspect.signature(function).parameters)


def test_too_many_are_refused_before_they_are_made():
    schema = Schema.of_booleans([f"c{i}" for i in range(1000)])
    with pytest.raises(CandidatesError, match=r"1,331,336,000 candidate rules.*lower max_literals"):
        Candidates.of_schema(schema, max_literals=3)


def test_explicit_rules():
    schema = Schema([Numeric("x", cuts=[1]), Boolean("b")])
    made = Candidates.of_rules(schema, ["x <= 1 and not b", Rule.parse("b then 1")])
    assert [str(r) for r in made] == ["x <= 1 and not b", "b"]
    with pytest.raises(RuleError, match="does not fit"):
        Candidates.of_rules(schema, ["x <= 2"])
    for wrong in ([], [3], ["always"]):
        with pytest.raises(CandidatesError):
            Candidates.of_rules(schema, wrong)


@pytest.mark.parametrize("max_literals", [0, 1.5, True, "2"])
def test_max_card_is_a_whole_number(max_literals):
    with pytest.raises(CandidatesError, match="max_literals"):
        Candidates.of_schema(Schema.of_booleans(["a"]), max_literals)


def test_nothing_to_build_from():
    with pytest.raises(CandidatesError, match="no literal"):
        Candidates.of_schema(Schema([Ignored("x")]))
