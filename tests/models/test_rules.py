import json
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Boolean, Literal, Numeric, Rule, RuleList, SavedModel, Schema
from discreet._utils.errors import RuleError, SchemaError
from discreet.models.display.summary import summarize

from ..support import brute_force
from ..support.strategies import free_rule_lists, literals, rule_lists


@given(literals())
def test_literals_come_back_from_their_text(literal):
    assert Literal.parse(str(literal)) == literal
    assert ~~literal == literal
    assert Literal.parse(str(~literal)) == ~literal


@given(free_rule_lists())
def test_any_list_comes_back_from_its_text_and_json(rules):
    assert RuleList.parse(str(rules), rules.classes) == rules
    assert RuleList.from_json(rules.to_json()) == rules


@given(rule_lists())
def test_a_list_with_a_schema_comes_back_from_its_text_and_json(drawn):
    rules, _ = drawn
    assert RuleList.from_json(rules.to_json()) == rules
    assert RuleList.parse(str(rules), rules.classes, rules.schema) == rules.without_counts()


@given(rule_lists())
def test_captures_partition_the_records_as_brute_force_says(drawn):
    rules, data = drawn
    n = len(next(iter(data.values())))
    assert rules.captures(data).tolist() == brute_force.captured_by(rules.schema, rules.rules, data, n)
    proba = rules.predict_proba(data)
    assert proba.shape == (n, len(rules.classes))
    assert np.allclose(proba.sum(1), 1)
    assert (proba >= 0).all()
    assert set(rules.predict(data)) <= set(rules.classes)


LISTING = """
if Prior-Crimes > 0 then True
else if Juvenile-Felonies <= 3 and Juvenile-Crimes not in [1, 3]
        then False
else True
"""


def test_the_listing_of_the_paper():
    rules = RuleList.parse(LISTING)
    assert str(rules) == (
        "if Prior-Crimes > 0 then True\n"
        "else if Juvenile-Felonies <= 3 and Juvenile-Crimes not in [1, 3] then False\n"
        "else True"
    )
    assert len(rules) == 3
    X = {"Prior-Crimes": [1, 0, 0], "Juvenile-Felonies": [0, 0, 0], "Juvenile-Crimes": [0, 0, 2]}
    assert rules.predict(X).tolist() == [True, False, True]
    assert rules.captures(X).tolist() == [0, 1, 2]


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, lambda d: pd.DataFrame(d).convert_dtypes(), dict]


@pytest.mark.parametrize("frame", FRAMES)
def test_predicts_on_any_frame(frame):
    rules = RuleList.parse(
        "if age > 30 and job = clerk then a else if smokes then b else if job is missing then a else c"
    )
    X = frame(
        {"age": [40, 20, None, 50], "job": ["clerk", "boss", "clerk", None], "smokes": [False, True, False, False]}
    )
    assert rules.predict(X).tolist() == ["a", "b", "c", "a"]


def test_predicts_on_arrays_by_position():
    schema = Schema([Numeric("a", cuts=[0.5]), Boolean("b")])
    rules = RuleList.parse("if not b and a > 0.5 then 1 else 0", schema=schema)
    assert rules.predict(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])).tolist() == [1, 0, 0]
    with pytest.raises(SchemaError, match="3 columns without names"):
        rules.predict(np.zeros((2, 3)))


def test_a_missing_value_satisfies_only_is_missing():
    X = {"age": [None, 20.0]}
    for text, expected in [
        ("age <= 30", [0, 1]),
        ("age > 30", [0, 0]),
        ("age is missing", [1, 0]),
        ("age is not missing", [0, 1]),
    ]:
        assert RuleList.parse(f"if {text} then 1 else 0").predict(X).tolist() == expected


def test_an_empty_list_is_its_default():
    rules = RuleList((), "yes")
    assert str(rules) == "always yes"
    assert RuleList.parse("always yes") == rules
    assert rules.predict(pd.DataFrame({"a": [1, 2]})).tolist() == ["yes", "yes"]
    assert RuleList.from_json(rules.to_json()) == rules


def test_classes_of_different_types_keep_them():
    assert RuleList.parse("if a then 1 else no").predict({"a": [True, False]}).tolist() == [1, "no"]


@pytest.mark.parametrize("labels", [("a\0", "a"), (2**63 + 1, -1)])
def test_labels_that_numpy_would_change_come_back_as_they_are(labels):
    rules = RuleList((Rule((Literal("a"),), labels[0]),), labels[1])
    assert rules.predict({"a": [True, False]}).tolist() == list(labels)


def test_probabilities_come_from_counts_and_ignore_negative_noise():
    rules = RuleList((Rule((Literal("a"),), 1, (-2.0, 6.0)),), Rule((), 0, (3.0, 1.0)), (0, 1))
    assert rules.predict_proba({"a": [True, False]}).tolist() == [[0.0, 1.0], [0.75, 0.25]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected `if`"),
        ("if a then 1", "expected `else`"),
        ("if then 1 else 0", "a column's name"),
        ("if a <= x then 1 else 0", "a number"),
        ("if a then 1 else 0 0", "the end"),
        ('if "a then 1 else 0', "quotation mark"),
        ('if "a\\q" then 1 else 0', "as in JSON"),
        ("if a = 1.5 then 1 else 0", "category"),
        ("if a in [3, 1] then 1 else 0", "not above"),
        ("if a and a > 3 then 1 else 0", "used both"),
    ],
)
def test_unreadable_text_says_where(text, message):
    with pytest.raises(RuleError, match=message):
        RuleList.parse(text)


def _edited(**changes):
    return json.dumps(json.loads(RuleList.parse("if a > 3 then 1 else 0").to_json()) | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a discreet rule list"),
        (_edited(version=2), "update"),
        (_edited(rules=3), "wrong type"),
        (_edited(rules=[{"if": [], "then": 1}]), "default is the one rule"),
        (_edited(rules=[{"if": [{"column": "a", "op": ">", "value": 4}], "then": 1}]), "does not fit the schema"),
        (_edited(default={"then": 7}), "not among the classes"),
        (_edited(default={"then": 1, "counts": [1]}), "one for each class"),
        (_edited(classes=[{}]), "a label must be"),
        (_edited(schema={"columns": {"a": {"type": "formula"}}}), "unknown type"),
    ],
)
def test_unreadable_json_says_why(text, message):
    with pytest.raises(ValueError, match=message):
        RuleList.from_json(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Literal("", "<=", 3),
        lambda: Literal("a", "~", 3),
        lambda: Literal("a", "<=", "3"),
        lambda: Literal("a", "<=", float("nan")),
        lambda: Literal("a", "<=", 10**400),
        lambda: Literal("a", "in", 3),
        lambda: Literal("a", "=", True),
        lambda: Literal("a", "is true", 1),
        lambda: Rule(("a",)),
        lambda: Rule((), float("inf")),
        lambda: RuleList((Rule((Literal("a"),)),), "x"),
    ],
)
def test_impossible_values_are_refused(make):
    with pytest.raises(RuleError):
        make()


def test_values_are_frozen_and_hashable():
    rules = RuleList.parse(LISTING)
    assert len({rules, RuleList.parse(LISTING)}) == 1
    with pytest.raises(AttributeError):
        rules.rules = ()


def test_rules_that_nothing_can_reach_are_left_out():
    def short(text, schema=None):
        return str(RuleList.parse(text, schema=schema).reachable()).replace("\n", " ")

    assert short("if a then 1 else if a and b then 0 else 0") == "if a then 1 else 0"
    assert short("if a and b then 1 else if a then 0 else if b then 1 else 0") == (
        "if a and b then 1 else if a then 0 else if b then 1 else 0"
    )
    assert short("if x <= 3 then 1 else if x <= 2 then 0 else if x > 1 then 1 else 0") == "if x <= 3 then 1 else 1"
    schema = Schema([Boolean("a", missing=True), Boolean("b")])
    full = "if a then 1 else if not a then 0 else if b then 1 else 0"
    assert short(full, schema) == full  # a may be missing
    assert short("always 1") == "always 1"


@given(st.data())
def test_a_list_of_what_can_be_reached_predicts_the_same(data):
    names = ["a", "b", "c"]
    schema = Schema([Boolean(name) for name in names])
    rules = []
    for _ in range(data.draw(st.integers(0, 5))):
        used = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
        signs = [data.draw(st.booleans()) for _ in used]
        text = " and ".join(("" if sign else "not ") + name for name, sign in zip(used, signs, strict=True))
        rules.append(Rule(Rule.parse(text).antecedent, data.draw(st.integers(0, 1)), (1.0, 2.0)))
    whole = RuleList(tuple(rules), Rule((), 0, (3.0, 4.0)), (0, 1), schema)
    table = pd.DataFrame(list(product([False, True], repeat=3)), columns=names)
    short = whole.reachable()
    assert len(short) <= len(whole)
    assert (short.predict(table) == whole.predict(table)).all()
    assert (short.predict_proba(table) == whole.predict_proba(table)).all()
    assert set(short.captures(table)) == set(range(len(short)))  # every rule of it is reached


@given(rule_lists())
def test_a_merged_list_predicts_the_same_labels_and_adds_counts_up(drawn):
    rules, table = drawn
    short = rules.merged()
    assert short.rules == rules.rules[: len(short.rules)]
    assert not short.rules or short.rules[-1].label != short.default.label
    assert all(rule.label == rules.default.label for rule in rules.rules[len(short.rules) :])
    assert (short.predict(table) == rules.predict(table)).all()
    left_out = [rule.counts for rule in list(rules)[len(short.rules) :]]
    added = None if None in left_out else tuple(np.sum(left_out, axis=0))
    assert short.default.counts == (added if added is None else pytest.approx(added))


def test_only_what_is_printed_of_a_fitted_list_is_merged():
    rules = RuleList((Rule((Literal("a"),), 1, (0, 9)), Rule((Literal("b"),), 0, (5, 1))), Rule((), 0, (9, 2)), (0, 1))
    saved = SavedModel(rules)
    assert str(saved) == "if a then 1\nelse 0"
    assert str(rules) == "if a then 1\nelse if b then 0\nelse 0"
    assert SavedModel.from_json(saved.to_json()).model == rules
    assert rules.merged().default.counts == (14, 3)
    assert len(summarize(saved).steps) == 3
