"""A model as a data frame, and how much each column matters to it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.tree import DecisionTreeClassifier

from discreet import (
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    DPScoreCardClassifier,
    GreedyRuleListClassifier,
    OptimalTreeClassifier,
    ScoreCardClassifier,
    Split,
    Tree,
)
from discreet.datasets import load_compas
from discreet.models.frames import importances_of
from discreet.models.partition import Answer
from discreet.rules.rules import Literal

from ..support.strategies import rule_lists, trees

A, B = Literal("a"), Literal("b")
COMPAS = load_compas()
X, Y = COMPAS.data, COMPAS.target


def test_a_tree_has_a_row_for_each_leaf_with_the_way_to_it():
    tree = Tree(Split(A, Split(B, Answer(1, (1, 3)), Answer(0, (-2, 0))), 1), (0, 1)).without_counts()
    assert tree.to_frame().to_dict("list") == {
        "rule": ["a and b", "a and not (b)", "not (a)"],
        "label": [1, 0, 1],
        "share": [1.0, 1.0, 1.0],
    }
    assert Tree("yes", ("no", "yes")).to_frame()["rule"].tolist() == ["always"]


@given(rule_lists())
def test_a_frame_says_what_the_list_does(drawn):
    rules, _ = drawn
    frame = rules.to_frame()
    assert [f"if {rule} then" for rule in frame["rule"][:-1]] == [
        f"if {r}".rpartition(" then ")[0] + " then" for r in rules.rules
    ]
    assert frame["label"].tolist() == [rule.label for rule in rules]
    for i, label in enumerate(rules.classes):
        if all(rule.counts is not None for rule in rules):
            assert frame[f"count {label}"].tolist() == [rule.counts[i] for rule in rules]


def test_a_card_has_a_row_for_each_value_that_gives_points():
    card = ScoreCardClassifier(schema=COMPAS.schema).fit(X, Y).card_
    frame = card.to_frame()
    assert list(frame) == ["column", "value", "points"]
    assert frame["column"].iloc[0] == "start"
    assert set(frame["column"][1:]) == set(card.columns)
    several = ScoreCardClassifier(schema=COMPAS.schema, tree_depth=1).fit(X, Y).card_.to_frame()
    assert several["card"].unique().tolist()[-1] == "else"


def test_importances_of_a_tree_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (500, 4))
    y = (bits[:, 0] + bits[:, 1] * bits[:, 2] + (rng.random(500) < 0.2)) > 1
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0).fit(bits, y)
    t = theirs.tree_

    def copied(node):
        if t.children_left[node] < 0:
            counts = t.value[node][0] * t.n_node_samples[node]
            return Answer(bool(counts.argmax()), counts)
        test = Literal(f"x{t.feature[node]}")  # true is theirs on the right
        return Split(test, copied(t.children_right[node]), copied(t.children_left[node]))

    found = importances_of(Tree(copied(0), (False, True)))
    assert [found.get(f"x{i}", 0.0) for i in range(4)] == pytest.approx(theirs.feature_importances_)


@given(trees())
def test_importances_are_shares(drawn):
    tree, _ = drawn
    if all(answer.counts is not None for answer in tree.answers):
        found = importances_of(tree)
        assert not found or sum(found.values()) == pytest.approx(1.0)
        assert all(share >= 0 for share in found.values())
        assert found.keys() <= set(tree.used_columns)


LEARNERS = {
    "list": lambda **p: GreedyRuleListClassifier(max_length=3, **p),
    "tree": lambda **p: OptimalTreeClassifier(max_depth=2, **p),
    "card": lambda **p: ScoreCardClassifier(max_columns=3, **p),
    "private list": lambda **p: DPOptimalRuleListClassifier(epsilon=2.0, **p),
    "private card after a tree": lambda **p: DPScoreCardClassifier(epsilon=2.0, tree_depth=1, **p),
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_importances_stand_in_the_order_of_the_table(learner):
    given, table = LEARNERS[learner](schema=COMPAS.schema), X[sorted(X)].assign(more=1)
    clf = given.fit(table, Y)
    found = pd.Series(clf.feature_importances_, clf.feature_names_in_)
    assert found.sum() == pytest.approx(1.0)
    assert set(found.index[found > 0]) <= set(clf.model_.used_columns)
    by_position = LEARNERS[learner](schema=COMPAS.schema).fit(X.to_numpy(object) if "private" in learner else X, Y)
    assert len(by_position.feature_importances_) == X.shape[1]
    assert SelectFromModel(clf, threshold=1e-9, prefit=True).get_support().tolist() == (found > 0).tolist()


def test_there_are_none_without_counts():
    clf = DPOptimalTreeClassifier(schema=COMPAS.schema, max_depth=1, counts_share=0)
    with pytest.raises(NotFittedError):
        _ = clf.feature_importances_
    with pytest.raises(AttributeError, match="needs class counts, and this tree has none"):
        _ = clf.fit(X, Y).feature_importances_
    assert not hasattr(clf, "feature_importances_")
