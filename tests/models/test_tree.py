"""A tree is a value: it prints, parses back, goes to JSON, predicts as a walk from its root does, and can be made shorter."""

import json
import pickle
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Boolean, Categorical, Literal, Numeric, Rule, RuleList, SavedModel, Schema, Split, Tree
from discreet._utils.errors import ModelError, RuleError
from discreet.models.partition import Answer
from discreet.models.saved import checksum
from discreet.report.html import to_html
from discreet.rules.rules import MOST_DEPTH, truth

from ..support import brute_force
from ..support.slices import examples
from ..support.strategies import free_trees, trees

A, B = Literal("a"), Literal("b")
TEXT = """
if age <= 25 then
    if priors > 2 then yes
    else no
else if job = "a clerk" then
    if not member then "no answer"
    else if age is missing then yes
    else no
else no
""".strip()


@given(free_trees())
def test_any_tree_comes_back_from_its_text_and_json(tree):
    assert Tree.parse(str(tree), tree.classes) == tree
    assert Tree.from_json(tree.to_json()) == tree


@given(trees())
def test_a_tree_with_a_schema_comes_back_from_its_text_json_and_file(drawn):
    tree, _ = drawn
    assert Tree.from_json(tree.to_json()) == tree
    assert Tree.parse(str(tree), tree.classes, tree.schema) == tree.without_counts()
    assert SavedModel.from_json(SavedModel(tree).to_json()).model == tree


def test_line_breaks_and_indentation_do_not_matter():
    tree = Tree.parse(TEXT)
    assert str(tree) == TEXT
    assert Tree.parse(" ".join(TEXT.split())) == tree
    assert Tree.parse(TEXT.replace(" then ", "\n\tthen\r\n").replace("else", "\n  else\t")) == tree


def test_a_chain_reads_like_a_rule_list():
    text = "if a then 1\nelse if b > 2 then 0\nelse 1"
    assert str(Tree.parse(text)) == str(RuleList.parse(text)) == text


def test_every_else_belongs_to_the_nearest_if_that_has_none():
    tree = Tree.parse("if a then if b then 1 else 2 else 3")
    assert tree.root == Split(A, Split(B, 1, 2), 3)
    assert Tree.parse("if a then 1 else if b then 2 else 3").root == Split(A, 1, Split(B, 2, 3))


def test_a_tree_without_tests_is_its_answer():
    tree = Tree("yes")
    assert str(tree) == "always yes"
    assert Tree.parse("always yes") == tree == Tree.from_json(tree.to_json()) == tree.simplified()
    assert (tree.depth, len(tree), tree.used_columns, tree.schema) == (0, 1, [], None)
    assert tree.predict({"a": [1, 2]}).tolist() == ["yes", "yes"]
    assert tree.to_sql() == "'yes'"


@given(trees())
def test_predictions_are_those_of_a_walk_from_the_root(drawn):
    tree, data = drawn
    n = len(next(iter(data.values())))
    expected = []
    for i in range(n):
        node = tree.root
        while isinstance(node, Split):
            node = node.true if brute_force.rule_holds(tree.schema, Rule((node.test,)), data, i) else node.other
        expected.append(node)
    assert [tree.answers[k] for k in tree.captures(data)] == expected
    assert tree.predict(data).tolist() == [answer.label for answer in expected]
    assert tree.predict_proba(data).tolist() == [tree.shares_of(answer).tolist() for answer in expected]


@given(trees())
def test_leaves_have_the_way_to_them(drawn):
    tree, _ = drawn
    assert len(tree) == len(tree.leaves) == len(list(tree))
    assert tree.depth == max(len(leaf.way) for leaf in tree)
    for leaf in tree:
        node = tree.root
        for test, true in leaf.way:
            assert node.test == test
            node = node.true if true else node.other
        assert node is leaf.answer


def test_what_is_left_out_is_what_the_tree_needs():
    tree = Tree(Split(Literal("age", "<=", 25), np.str_("yes"), Split(Literal("job", "=", "cook"), "maybe", "no")))
    assert tree.classes == ("no", "maybe", "yes")
    assert tree.schema.names == ["age", "job"]
    assert tree == Tree.parse("if age <= 25 then yes else if job = cook then maybe else no")
    assert type(tree.leaves[0].answer.label) is str


def test_counts_may_be_any_numbers_and_shares_come_back():
    tree = Tree(Split(A, Answer(1, np.array([3, 4])), Answer(0, [-1, 2.5], (0.25, 0.75))), (0, 1))
    assert [answer.counts for answer in tree.answers] == [(3.0, 4.0), (-1.0, 2.5)]
    assert tree.predict_proba({"a": [True, False]}).tolist() == [[3 / 7, 4 / 7], [0.25, 0.75]]
    assert Tree.from_json(tree.to_json()) == tree
    bare = tree.without_counts()
    assert bare == Tree(Split(A, 1, 0), (0, 1))
    assert bare.predict_proba({"a": [True, False]}).tolist() == [[0, 1], [1, 0]]


def test_values_are_frozen_and_hashable_and_can_be_pickled():
    tree = Tree.parse(TEXT)
    assert len(tree.leaves) == 6  # what was computed once is no part of the value
    assert len({tree, Tree.parse(TEXT), pickle.loads(pickle.dumps(tree))}) == 1
    with pytest.raises(AttributeError):
        tree.root = Answer(1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected `if`"),
        ("yes", "expected `if`"),
        ("if a then 1", "expected `else`"),
        ("if a then if b then 1 else 0", "expected `else`"),
        ("if a then", "a label or `if`"),
        ("if a then always 1 else 0", "a label or `if`"),
        ("if a and b then 1 else 0", "expected `then` but found `and`"),
        ("if a then 1 else 0 else 0", "the end"),
        ("if a then 1 else if a > 3 then 1 else 0", "used both"),
    ],
)
def test_unreadable_text_says_where(text, message):
    with pytest.raises(RuleError, match=message):
        Tree.parse(text)


def _edited(**changes):
    return json.dumps(json.loads(Tree.parse("if a > 3 then 1 else 0").to_json()) | changes)


TEST = {"column": "a", "op": ">", "value": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        (RuleList.parse("always 1").to_json(), "not a discreet tree"),
        (_edited(version=2), "update"),
        (_edited(root=3), "wrong type"),
        (_edited(root=["if"]), "wrong type"),
        (_edited(root={}), "lacks an entry"),
        (_edited(root={"if": TEST, "true": {"then": 1}}), "lacks an entry"),
        (_edited(root={"if": TEST, "true": {"then": 1}, "other": 0}), "wrong type"),
        (_edited(root={"if": TEST | {"value": 4}, "true": {"then": 1}, "other": {"then": 0}}), "not fit the schema"),
        (_edited(root={"then": 7}), "not among the classes"),
        (_edited(root={"then": None}), "label must be"),
        (_edited(root={"then": 1, "counts": [1]}), "counts must be one for each class"),
        (_edited(root={"then": 1, "counts": 1}), "wrong type"),
        (_edited(root={"then": 1, "counts": ["1", 2]}), "finite number"),
        (_edited(root={"then": 1, "shares": [1]}), "shares must be one for each class"),
    ],
)
def test_unreadable_json_says_why(text, message):
    with pytest.raises(RuleError, match=message):
        Tree.from_json(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Split("a", 1, 0),
        lambda: Split(A, None, 0),
        lambda: Split(A, 1, float("nan")),
        lambda: Tree(Answer(1, (1.0, float("inf"))), (0, 1)),
        lambda: Tree(Answer(1, (1.0,)), (0, 1)),
        lambda: Tree(Split(A, 1, 0), (1, 2)),
        lambda: Tree(Split(A, 1, 0), (0, 1), Schema([Boolean("b")])),
    ],
)
def test_impossible_values_are_refused(make):
    with pytest.raises(RuleError):
        make()


def chain(depth, side):
    """As deep as that, with a leaf at each test."""
    node = Answer(0)
    for _ in range(depth):
        node = Split(A, node, 1) if side == "true" else Split(A, 1, node)
    return node


def nested(depth, side):
    """The same as JSON."""
    node = {"then": 0}
    for _ in range(depth):
        branches = {"true": node, "other": {"then": 1}} if side == "true" else {"true": {"then": 1}, "other": node}
        node = {"if": {"column": "a", "op": "is true"}, **branches}
    return node


def said(depth, side):
    """The same as text."""
    return "if a then " * depth + "0" + " else 1" * depth if side == "true" else "if a then 1 else " * depth + "0"


@pytest.mark.parametrize("side", ["true", "other"])
def test_a_tree_of_the_greatest_depth_can_do_everything(side):
    tree = Tree(chain(MOST_DEPTH, side), (0, 1))
    assert tree.depth == MOST_DEPTH
    assert Tree.parse(str(tree), tree.classes) == Tree.parse(said(MOST_DEPTH, side), (0, 1)) == tree
    assert Tree.from_json(tree.to_json()) == tree
    assert SavedModel.from_json(SavedModel(tree).to_json()).model == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree)
    assert repr(tree)
    assert len(tree.simplified()) == 2
    assert tree.to_sql()
    assert compile(tree.to_python(), "tree", "exec")
    assert to_html(SavedModel(tree))
    assert tree._repr_html_()


@pytest.mark.parametrize("side", ["true", "other"])
def test_a_deeper_tree_is_refused_however_it_comes(side):
    with pytest.raises(RuleError, match="at most 64 tests"):
        chain(MOST_DEPTH + 1, side)
    template = json.loads(Tree(Split(A, 1, 0)).to_json())
    for depth in (MOST_DEPTH + 1, 400):  # more than that cannot be written by json.dumps
        with pytest.raises(RuleError, match="at most 64 tests"):
            Tree.from_json(json.dumps(template | {"root": nested(depth, side)}))
        data = json.loads(SavedModel(Tree(Split(A, 1, 0))).to_json())
        del data["checksum"]
        data["tree"]["root"] = nested(depth, side)
        with pytest.raises(ModelError, match="tree cannot be read: a tree may have at most 64 tests"):
            SavedModel.from_json(json.dumps(data | {"checksum": checksum(data)}))
    for depth in (MOST_DEPTH + 1, 100_000):
        start = time.process_time()
        with pytest.raises(RuleError, match="at most 64 tests"):
            Tree.parse(said(depth, side))
        assert time.process_time() - start < 5


@pytest.mark.parametrize("opening", ['{"if": {"column": "a", "op": "is true"}, "true": ', '{"true": ', "["])
def test_nesting_beyond_what_python_can_read_is_refused(opening):
    start = '{"format": "discreet tree", "version": 1, "classes": [0, 1], "schema": null, "root": '
    with pytest.raises(RuleError, match="not valid JSON"):
        Tree.from_json(start + opening * 100_000)


# --- shorter trees ---------------------------------------------------------------------------------------------------------


def short(text, schema=None):
    return " ".join(str(Tree.parse(text, schema=schema).simplified()).split())


def test_tests_that_make_no_difference_go():
    assert short("if a then if a then 1 else 0 else 0") == "if a then 1 else 0"
    assert short("if a then 1 else if a then 2 else if not a then 3 else 4") == "if a then 1 else 3"
    assert short("if a then if b then 1 else 1 else 1") == "always 1"
    assert short("if a then if b then 1 else 0 else if b then 1 else 0") == "if b then 1 else 0"
    assert short("if x <= 3 then if x <= 5 then 1 else 2 else if x > 3 then 3 else 4") == "if x <= 3 then 1 else 3"
    assert short("if x > 1 then if x <= 3 then if x in [2, 3] then 1 else 2 else 3 else 4") == (
        "if x > 1 then if x <= 3 then if x in [2, 3] then 1 else 2 else 3 else 4"
    )


def test_a_missing_value_keeps_the_tests_that_only_it_needs():
    text = "if a then 1 else if not a then 0 else if b then 1 else 0"
    assert short(text, Schema([Boolean("a", missing=True), Boolean("b")])) == text
    assert short(text, Schema([Boolean("a"), Boolean("b")])) == "if a then 1 else 0"


def test_categories_that_are_used_up_leave_nothing():
    text = "if c = x then 1 else if c = y then 2 else if c = z then 3 else 4"
    three = Schema([Categorical("c", categories=["x", "y", "z"], outside="error")])
    assert short(text, three) == "if c = x then 1 else if c = y then 2 else 3"


def test_leaves_of_one_label_merge_by_their_counts_only_if_told_so():
    leaves = [Answer("yes", (1.0, 9.0)), Answer("yes", (4.0, 6.5)), Answer("no", (5.0, 5.0))]
    tree = Tree(Split(A, Split(B, *leaves[:2]), leaves[2]), ("no", "yes"))
    assert tree.simplified() == tree  # they give different probabilities
    merged = tree.simplified().merged()
    assert merged == replace(tree, root=Split(A, Answer("yes", (5.0, 15.5)), leaves[2]))
    alike = Tree(Split(A, Split(B, leaves[0], leaves[0]), leaves[2]), ("no", "yes"))
    assert alike.simplified() == alike  # one of them alone would say half of the records
    assert alike.simplified().merged() == replace(tree, root=Split(A, Answer("yes", (2.0, 18.0)), leaves[2]))


def test_shares_that_were_given_are_never_added_up():
    tree = Tree(Split(A, Answer("yes", (1, 9), (0.2, 0.8)), Answer("yes", (1, 9), (0.1, 0.9))), ("no", "yes"))
    assert tree.simplified().merged() == tree
    half = Tree(Split(A, Answer("yes", (1, 9)), Answer("yes")), ("no", "yes"))
    assert half.simplified().merged() == half


def every_record(tree):
    """All combinations of the bins that the schema foresees, of the columns that the tree uses."""
    names = tree.used_columns
    bins = [np.flatnonzero(tree.schema[name].domain) for name in names]
    return {name: np.array(column) for name, column in zip(names, zip(*product(*bins), strict=True), strict=True)}


def answers_for(tree, bins):
    n = len(next(iter(bins.values()), [0]))
    return tree.find_answers(n, lambda literal: truth(tree.schema, literal)[bins[literal.column]])


@settings(max_examples=examples(300))
@given(trees(max_leaves=16), st.booleans())
def test_a_shorter_tree_predicts_the_same_for_every_record_that_the_schema_foresees(drawn, merge):
    tree, _ = drawn
    bins = every_record(tree)
    simple = tree.simplified().merged() if merge else tree.simplified()
    assert len(simple) <= len(tree)
    before, after = answers_for(tree, bins), answers_for(simple, bins)
    assert [tree.answers[i].label for i in before] == [simple.answers[i].label for i in after]
    if not merge:
        shares = [[t.shares_of(answer).tolist() for answer in t.answers] for t in (tree, simple)]
        assert [shares[0][i] for i in before] == [shares[1][i] for i in after]
    assert set(after) == set(range(len(simple)))  # every leaf of it is reached
    assert simple == (simple.simplified().merged() if merge else simple.simplified())


@given(trees(max_leaves=16))
def test_merging_keeps_the_sum_of_counts_that_can_be_reached(drawn):
    tree, _ = drawn
    tree = replace(tree, root=_counted(tree.root, len(tree.classes)))
    kept = np.sum([answer.counts for answer in tree.simplified().answers], axis=0)
    merged = np.sum([answer.counts for answer in tree.simplified().merged().answers], axis=0)
    reached = {tree.answers[i] for i in answers_for(tree, every_record(tree))}
    assert kept.tolist() == merged.tolist() == np.sum([answer.counts for answer in reached], axis=0).tolist()


def test_leaves_with_equal_counts_are_of_different_records():
    equal = Split(Literal("b", "is true"), Answer("no", [13.0, 2.0]), Answer("no", [13.0, 2.0]))
    schema = Schema([Boolean("a"), Boolean("b")])
    below = Split(Literal("a", "is true"), equal, equal)
    tree = Tree(below, ("no", "yes"), schema)
    assert tree.simplified() == tree
    assert tree.simplified().merged().root == Answer("no", [52.0, 8.0])
    assert (
        len(Tree(Split(Literal("a", "is true"), Answer("no"), Answer("no")), ("no", "yes"), schema).simplified()) == 1
    )


def _counted(node, n, number=1):
    """Different counts at each leaf: powers of two, so that sums say which of them were added."""
    if isinstance(node, Answer):
        return Answer(node.label, [float(number)] * n)
    return Split(node.test, _counted(node.true, n, 2 * number), _counted(node.other, n, 2 * number + 1))


def test_a_wide_schema_is_no_obstacle():
    """The product of the bins of these columns is 51^60."""
    names = [f"c{i}" for i in range(60)]
    schema = Schema([Numeric(name, cuts=list(range(50))) for name in names])
    node = Answer(0)
    for name in names:
        node = Split(Literal(name, "<=", 10), Split(Literal(name, "<=", 20), 1, 2), node)
    start = time.process_time()
    assert len(Tree(node, (0, 1, 2), schema).simplified()) == 61
    assert time.process_time() - start < 5
