"""The classifier that grows trees level by level: parameters, budget, manners, what it says."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import (
    Categorical,
    DPGreedyTreeClassifier,
    DPOptimalTreeClassifier,
    Ledger,
    Numeric,
    OptimalTreeClassifier,
    PrivateCounts,
    SavedModel,
    Schema,
    Tree,
)
from discreet._utils.errors import SchemaError
from discreet.accounting.ledger import BudgetError
from discreet.audit.subjects import needed_parameters
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.estimators.trees import greedy_tree
from discreet.private.mechanisms.registry import MECHANISMS
from discreet.report.html import to_html
from discreet.rules.candidates import NumberedFork, NumberedLeaf

from .test_tree_estimators import IRIS, ODD


@pytest.fixture(scope="module")
def compas():
    X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    return X.astype(bool), np.asarray(y)


def made(mechanism, **parameters):
    needed = needed_parameters(MECHANISMS[mechanism])
    return DPGreedyTreeClassifier(**needed | parameters)


@parametrize_with_checks([DPGreedyTreeClassifier(infer_schema=True)])
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [DPGreedyTreeClassifier(mechanism=mechanism, infer_schema=True) for mechanism in ("gl-exponential", "sm-laplace")]
)
def test_scikit_learns_checks_with_other_mechanisms(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


def test_five_lines(compas):
    clf = DPGreedyTreeClassifier(epsilon=1.0).fit(*compas)
    assert clf.score(*compas) > 0.6
    assert str(clf.privacy_.proved) == "epsilon = 1"
    assert clf.privacy_.published is None
    assert clf.privacy_.mechanism == "mass"
    assert isinstance(clf.tree_, Tree)
    assert clf.model_ is clf.tree_
    assert clf.tree_.depth <= 3
    assert str(clf) == str(clf.tree_.merged())


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_learns_states_and_is_saved(compas, mechanism):
    clf = made(mechanism, epsilon=20.0, max_depth=2).fit(*compas)
    assert clf.score(*compas) > 0.5
    proved, published = clf.privacy_.proved, clf.privacy_.published
    assert proved.epsilon <= 20.0
    assert published is None or published.epsilon == 20.0
    assert ("authors' accounting" in str(clf.privacy_)) == (published is not None)
    saved = SavedModel.from_json(SavedModel.of(clf, "again").to_json())
    assert saved.model == clf.tree_
    plan = made(mechanism, epsilon=20.0, max_depth=2, schema=clf.tree_.schema).plan()
    assert saved.counts_epsilon == float(plan.budget.counts_epsilon)
    assert mechanism in to_html(saved)
    loaded = pickle.loads(pickle.dumps(clf))
    assert loaded.tree_ == clf.tree_


def test_only_mechanisms_for_any_number_of_classes_take_three():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for name, mechanism in MECHANISMS.items():
        clf = made(name, epsilon=10.0, max_depth=2, schema=IRIS)
        if mechanism.binary_only:
            with pytest.raises(SchemaError, match="two classes"):
                clf.fit(X, y)
        else:
            assert clf.fit(X, y).predict_proba(X).shape == (150, 3)
    assert DPGreedyTreeClassifier(epsilon=50.0, schema=IRIS, random_state=0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_levels_and_counts_are_charged_and_no_more_than_epsilon(compas, mechanism, depth):
    ledger = Ledger(epsilon=0.7, delta=1e-3)
    made(mechanism, epsilon=0.7, max_depth=depth, ledger=ledger).fit(*compas)
    (entry,) = ledger.entries
    assert entry.epsilon == Fraction(7, 10)
    assert entry.spent_epsilon <= entry.epsilon
    assert entry.what == f"DPGreedyTreeClassifier, {mechanism}"
    if depth == 0:
        assert entry.spent_epsilon == entry.epsilon
    with pytest.raises(BudgetError):
        DPGreedyTreeClassifier(epsilon=0.1, ledger=ledger).fit(*compas)


def test_a_person_with_several_records_is_promised_epsilon_and_each_record_less(compas):
    ledger = Ledger(epsilon=2)
    clf = DPGreedyTreeClassifier(epsilon=2.0, records_per_person=4, ledger=ledger).fit(*compas)
    assert ledger.remaining[0] == 0
    assert str(clf.privacy_.proved) == "epsilon = 2"
    assert "up to 4 of them" in clf.privacy_.neighbours
    assert SavedModel.of(clf).counts_epsilon == 0.25


def test_with_much_budget_it_is_the_greedy_tree_of_the_records():
    """At each node the test with the least impurity, among those that the path leaves open."""
    data = load_compas(sensitive=False)
    clf = DPGreedyTreeClassifier(epsilon=1e9, max_depth=2, schema=data.schema, random_state=0).fit(
        data.data, data.target
    )
    codes = OptimalTreeClassifier(max_depth=1, criterion="gini", schema=data.schema)

    def best(X, y, depth):
        if depth == 0:
            return None
        stump = codes.fit(X, y).tree_
        true = stump.captures(X) == 0
        return stump.root.test, best(X[true], y[true], depth - 1), best(X[~true], y[~true], depth - 1)

    def tests_of(node):
        return (node.test, tests_of(node.true), tests_of(node.other)) if hasattr(node, "test") else None

    assert tests_of(clf.tree_.root) == best(data.data, data.target, 2)


def test_deeper_trees_are_grown_with_more_budget(compas):
    shallow, deep = (
        DPGreedyTreeClassifier(epsilon=500.0, max_depth=depth, random_state=0).fit(*compas) for depth in (1, 5)
    )
    assert shallow.tree_.depth == 1
    assert deep.tree_.depth > 3
    assert deep.score(*compas) > shallow.score(*compas)


def test_a_tree_without_levels_is_a_class(compas):
    clf = DPGreedyTreeClassifier(max_depth=0).fit(*compas)
    assert (clf.tree_.depth, len(clf.tree_)) == (0, 1)
    assert str(clf) in ("always 0", "always 1")


def test_a_support_that_no_node_has_leaves_a_leaf(compas):
    clf = made("sm-laplace", min_support=10**6).fit(*compas)
    assert len(clf.tree_) == 1
    assert made("sm-laplace", epsilon=20.0, min_support=20).fit(*compas).tree_.depth > 0


class Recorded:
    """Queries that answer as told, and keep what they were asked."""

    def __init__(self, enough, tests):
        self.enough, self.tests, self.asked = enough, tests, []

    def exceed(self, nodes):
        self.asked.append(("exceed", list(nodes)))
        return [self.enough(path) for path in nodes]

    def select(self, nodes):
        self.asked.append(("select", list(nodes)))
        return [self.tests(path) for path in nodes]

    def count(self, tree):
        self.asked.append(("count", tree))
        return tree


def test_the_learner_goes_level_by_level_and_leaves_what_is_small_or_pure():
    left = ((0, False),)
    queries = Recorded(lambda path: path != left, lambda path: len(path) if len(path) < 2 else None)
    tree = greedy_tree(queries, 4)
    assert tree == NumberedFork(0, NumberedFork(1, NumberedLeaf(), NumberedLeaf()), NumberedLeaf())
    below = [((0, True), (1, True)), ((0, True), (1, False))]
    assert queries.asked == [
        ("exceed", [()]),
        ("select", [()]),
        ("exceed", [((0, True),), left]),
        ("select", [((0, True),)]),
        ("exceed", below),
        ("select", below),
        ("count", tree),
    ]
    nothing = Recorded(lambda path: True, lambda path: None)
    assert greedy_tree(nothing, 4) == NumberedLeaf()
    assert [what for what, _ in nothing.asked] == ["exceed", "select", "count"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"max_depth": -1}, "max_depth must be an integer of at least 0"),
        ({"max_depth": 2.5}, "max_depth must be an integer"),
        ({"max_depth": 13}, "max_depth must be at most 12, not 13"),
        ({"mechanism": "gini"}, "mechanism must be one of mass, "),
        ({"mechanism": None}, "mechanism must be one of mass, "),
        ({"delta": 0.1}, "delta must be None for mass"),
        ({"mechanism": "gl-gaussian", "delta": 2.0}, "delta must be above 0"),
        ({"mechanism": "sm-laplace"}, "a ledger needs a public delta"),
        ({"mechanism": "sm-cauchy", "min_support": 0}, "min_support must be a share"),
        ({"confidence": 0.4}, "confidence must be above 1/2"),
        ({"counts_share": 1.0}, "counts_share must be from 0.001 to 0.999"),
        ({"records_per_person": 0}, "records_per_person must be an integer"),
        ({"exclude": ["nobody"]}, "nobody"),
    ],
)
def test_bad_parameters_spend_nothing_and_are_named(compas, parameters, message):
    ledger = Ledger(epsilon=1.0)
    with pytest.raises((ValueError, TypeError), match=message):
        DPGreedyTreeClassifier(ledger=ledger, **parameters).fit(*compas)
    assert ledger.entries == ()


def test_odd_tables_are_learned_from_like_any_other():
    for mechanism in MECHANISMS:
        clf = made(mechanism, schema=ODD)
        empty = pd.DataFrame({"job": pd.Series([], dtype=str), "age": pd.Series([], dtype=float)})
        clf.fit(empty, np.array([], dtype=str))
        clf.fit(pd.DataFrame({"job": ["clerk"] * 5, "age": [20.0] * 5}), ["no"] * 5)
        unforeseen = pd.DataFrame({"job": ["pope", None, 3], "age": ["old", None, float("inf")]})
        clf.fit(unforeseen, ["no", "maybe", None])
        assert set(clf.predict(unforeseen)) <= {"no", "yes"}


def test_fit_counts_fit_file_and_an_engine_learn_the_same_tree(tmp_path):
    ibis = pytest.importorskip("ibis")
    data = load_german_credit()
    clf = DPGreedyTreeClassifier(random_state=4, schema=data.schema)
    here = clf.fit(data.data, data.target).tree_
    data.frame.to_csv(tmp_path / "german.csv", index=False)
    assert clone(clf).fit_file(tmp_path / "german.csv").tree_ == here
    assert clone(clf).fit_counts(PrivateCounts.from_table(data.data, data.target, data.schema)).tree_ == here
    table = ibis.memtable(data.frame)
    assert clone(clf).fit_source(table).tree_ == here
    assert "by " in clf.plan_source(table)
    with pytest.raises(ValueError, match="counting must be one of auto, patterns for DPGreedyTreeClassifier"):
        clf.fit_source(table, counting="nodes")


def test_columns_that_are_excluded_are_not_used(compas):
    X, y = compas
    (used, *_) = OptimalTreeClassifier(max_depth=1).fit(X, y).tree_.used_columns
    clf = DPGreedyTreeClassifier(epsilon=100.0, random_state=3, exclude=[used]).fit(X, y)
    assert used not in str(clf.tree_)


def test_missing_values_go_where_the_test_is_not_true():
    schema = Schema(
        [Numeric("age", cuts=[30], missing=True), Categorical("job", categories=["a", "b"])], classes=[0, 1]
    )
    X = pd.DataFrame({"age": [20.0, None, 40.0] * 100, "job": ["a", "b", "b"] * 100})
    y = [0, 1, 1] * 100
    clf = DPGreedyTreeClassifier(epsilon=100.0, max_depth=2, schema=schema).fit(X, y)
    assert clf.score(X, y) == 1.0


def test_nothing_exact_is_kept(compas):
    clf = DPGreedyTreeClassifier(ledger=Ledger(epsilon=1.0)).fit(*compas)
    fitted = {name for name in vars(clf) if name.endswith("_") and not name.startswith("_")}
    assert fitted == {"tree_", "privacy_", "booked_", "classes_", "feature_names_in_", "n_features_in_"}
    assert not hasattr(clone(clf), "tree_")
    assert not hasattr(DPGreedyTreeClassifier(), "model_")
    counts = [count for answer in clf.tree_.answers for count in answer.counts]
    assert all(count == int(count) for count in counts)


def test_a_grid_search_takes_it(compas):
    search = GridSearchCV(DPGreedyTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2).fit(*compas)
    assert search.best_params_["max_depth"] in (1, 2)


@pytest.mark.slow
def test_a_tree_drawn_whole_is_not_worse_on_the_records():
    """What docs/trees.md says: the mean of some draws, at an epsilon of 0.1."""
    data = load_adult(sensitive=False)
    private = PrivateCounts.from_table(data.data, data.target, data.schema)
    mean = {}
    for kind in (DPGreedyTreeClassifier, DPOptimalTreeClassifier):
        fits = [
            kind(epsilon=0.1, max_depth=3, schema=data.schema, random_state=i).fit_counts(private) for i in range(10)
        ]
        mean[kind] = np.mean([clf.score(data.data, data.target) for clf in fits])
    assert mean[DPOptimalTreeClassifier] > mean[DPGreedyTreeClassifier] - 0.005
