"""The classifiers that choose whole trees: parameters, budget, manners, what they say."""

import io
import pickle
import re
import warnings
from contextlib import redirect_stderr
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import (
    Boolean,
    Categorical,
    DPOptimalRuleListClassifier,
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
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.estimators import private, trees
from discreet.estimators.feasibility import DEEPEST, check_trees, count_steps, estimate_seconds, is_feasible
from discreet.estimators.plans import Bar
from discreet.private.sampling.deadline import TimeLimitError
from discreet.rules.candidates import NumberedFork, NumberedLeaf

from ..support.charges import watch_charges
from ..support.slices import slow_but

IRIS = Schema(
    [
        Numeric(name, cuts=[0.5, 1, 1.5, 2, 3, 4, 5, 6])
        for name in ("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)")
    ],
    classes=[0, 1, 2],
)


@pytest.fixture(scope="module")
def compas():
    X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    return X.astype(bool), np.asarray(y)


@parametrize_with_checks([DPOptimalTreeClassifier(infer_schema=True), OptimalTreeClassifier()])
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


def test_five_lines(compas):
    clf = DPOptimalTreeClassifier(epsilon=1.0).fit(*compas)
    assert clf.score(*compas) > 0.64
    assert str(clf.privacy_.proved) == "epsilon = 1"
    assert clf.privacy_.published is None
    assert clf.privacy_.mechanism == "exact draw over all trees"
    assert "rounding" not in str(clf.privacy_)  # their distribution is that of real numbers
    assert isinstance(clf.tree_, Tree)
    assert clf.model_ is clf.tree_
    assert clf.tree_.depth <= 3
    assert str(clf) == str(clf.tree_.merged())


@pytest.mark.parametrize("criterion", ["accuracy", "gini"])
def test_probabilities_agree_with_predictions(compas, criterion):
    X, y = compas
    for seed in range(5):
        clf = DPOptimalTreeClassifier(epsilon=0.05, criterion=criterion, random_state=seed).fit(X, y)
        shares = clf.predict_proba(X)
        assert np.allclose(shares.sum(1), 1.0)
        assert (shares[np.arange(len(X)), clf.predict(X)] == shares.max(1)).all()


def test_labels_are_drawn_and_counts_may_be_left_out(compas):
    clf = DPOptimalTreeClassifier(counts_share=0).fit(*compas)
    assert all(answer.counts is None for answer in clf.tree_.answers)
    assert set(np.unique(clf.predict_proba(compas[0]))) <= {0.0, 1.0}


@pytest.mark.parametrize("counts_share", [0, 0.1, 0.3])
@pytest.mark.parametrize("stages", [None, (3,), (2, 1), (1, 1, 2)])
def test_each_stage_is_charged_and_they_add_up_to_epsilon_exactly(compas, monkeypatch, stages, counts_share):
    charged, ledger = watch_charges(monkeypatch), Ledger(epsilon=0.7)
    DPOptimalTreeClassifier(epsilon=0.7, stages=stages, counts_share=counts_share, ledger=ledger).fit(*compas)
    (entry,) = ledger.entries
    assert sum(epsilon for _, epsilon, _ in charged) == entry.spent_epsilon == entry.epsilon == ledger.epsilon
    assert entry.proved_epsilon == entry.epsilon
    assert entry.what == "DPOptimalTreeClassifier, exact draw over all trees"
    draws = [epsilon for what, epsilon, _ in charged if what == "draw of a tree"]
    assert len(draws) == len(stages or (3,))
    assert len(set(draws)) == 1
    assert [e for what, e, _ in charged if what == "class counts"] == (
        [Fraction(str(counts_share)) * ledger.epsilon] if counts_share else []
    )
    assert {delta for _, _, delta in charged} == {0}
    with pytest.raises(BudgetError):
        DPOptimalTreeClassifier(epsilon=0.1, ledger=ledger).fit(*compas)


def test_a_person_with_several_records_is_promised_epsilon_and_each_record_less(compas, monkeypatch):
    charged, ledger = watch_charges(monkeypatch), Ledger(epsilon=2)
    clf = DPOptimalTreeClassifier(epsilon=2.0, records_per_person=4, ledger=ledger).fit(*compas)
    assert sum(epsilon for _, epsilon, _ in charged) == Fraction(1, 2)
    assert ledger.remaining[0] == 0
    assert str(clf.privacy_.proved) == "epsilon = 2"
    assert "up to 4 of them" in clf.privacy_.neighbours


def test_stages_go_deeper_than_each_of_them(compas):
    clf = DPOptimalTreeClassifier(epsilon=50.0, stages=(2, 2), random_state=0).fit(*compas)
    assert clf.tree_.depth in (3, 4)
    one = DPOptimalTreeClassifier(epsilon=50.0, stages=[2], random_state=0).fit(*compas)
    assert one.tree_.depth <= 2
    assert clf.score(*compas) > one.score(*compas)
    array = DPOptimalTreeClassifier(epsilon=1.0, stages=np.array([1, 1]), random_state=0).fit(*compas)
    assert array.tree_ == DPOptimalTreeClassifier(epsilon=1.0, stages=(1, 1), random_state=0).fit(*compas).tree_


def test_a_tree_without_tests_is_a_class(compas):
    clf = DPOptimalTreeClassifier(max_depth=0).fit(*compas)
    assert (clf.tree_.depth, len(clf.tree_)) == (0, 1)
    assert str(clf) in ("always 0", "always 1")
    assert OptimalTreeClassifier(max_depth=0).fit(*compas).certificate_.score == max(np.bincount(compas[1]))


def test_feasibility_follows_from_public_numbers():
    assert is_feasible(70, 5, 2)
    assert not is_feasible(70, 6, 2)  # 13 GiB
    assert is_feasible(70, 5, 2, draws=16)
    assert not is_feasible(70, 5, 2, draws=256)
    assert is_feasible(1000, 3, 2)
    assert not is_feasible(1000, 4, 2)
    assert is_feasible(4000, 3, 2)
    assert not is_feasible(4000, 3, 3)
    assert not is_feasible(100_000, 2, 2)  # the counts of all pairs would not fit in memory
    assert is_feasible(5, 12, 2)
    check_trees(1000, [3, 3], 2, "stages", "accuracy")


@pytest.mark.parametrize(
    ("tests", "stages", "message"),
    [
        (
            1000,
            [4],
            r"^max_depth is too large for 1,000 tests: a draw of depth 4 would take about 3.7 hours and 44.7 GiB\. ",
        ),
        (
            1000,
            [4],
            r"Depth 3 is feasible: set max_depth=3, or go on in stages, stages=\(3, 3\); or have fewer tests \(",
        ),
        (1000, [4, 1], r"^stages is too large for 1,000 tests: stage 1, of depth 4, would take .* max_depth=3"),
        (1000, [3, 4], r"stage 2, of depth 4, .* for up to 8 leaves\. Set stages=\(3, 3\), or leave the stage out, "),
        (70, [4, 4, 5], r"stage 3, of depth 5, .* for up to 256 leaves\. Set stages=\(4, 4, 4\), or leave the stage"),
        (20_000, [2] * 5, r"stage 5, .* Set stages=\(2, 2, 2, 2, 1\), or leave .* stages=\(2, 2, 2, 2\), or have"),
        (5_000, [1, 3], r"stage 2, .* Set stages=\(1, 2\), or leave the stage out, stages=\(1,\), or have fewer tests"),
        (20_000, [12], r"set max_depth=2, or go on in stages, stages=\(2, 2\); or have"),
        (20, [11], r"set max_depth=10, or go on in stages, stages=\(10, 2\); or have"),
        (100_000, [2], r"GiB\. Have fewer tests \(exclude, coarser columns\)\. See docs/trees\.md$"),
    ],
)
def test_what_is_out_of_reach_is_refused_with_a_way_out_that_is_feasible(tests, stages, message):
    parameter = "max_depth" if len(stages) == 1 else "stages"
    with pytest.raises(ValueError, match=message) as refused:
        check_trees(tests, stages, 2, parameter, "accuracy")
    for depth in re.findall(r"max_depth=(\d+)", str(refused.value)):
        check_trees(tests, [int(depth)], 2, "max_depth", "accuracy")
    for found in re.findall(r"stages=\(([\d, ]+)\)", str(refused.value)):
        depths = [int(depth) for depth in found.split(",") if depth]
        assert sum(depths) <= DEEPEST
        check_trees(tests, depths, 2, "stages", "accuracy")


def test_what_is_out_of_reach_is_said_before_the_records_are_read(monkeypatch):
    data = load_adult()
    monkeypatch.setattr(PrivateCounts, "from_table", None)  # reading the records would fail
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(ValueError, match=r"^max_depth is too large for 69 tests: .* set max_depth=5"):
        DPOptimalTreeClassifier(max_depth=6, schema=data.schema, ledger=ledger).fit(data.data, data.target)
    with pytest.raises(ValueError, match=r"^stages is too large for 69 tests: stage 2, .* Set stages=\(1, 5\)"):
        DPOptimalTreeClassifier(stages=(1, 6), schema=data.schema, ledger=ledger).fit(data.data, data.target)
    assert ledger.entries == ()


def test_a_time_limit_that_strikes_while_all_trees_are_added_up_fails_the_fit_and_books_nothing():
    X, y = load_adult(binary=True, sensitive=False, return_X_y=True)
    ledger = Ledger(epsilon=1.0)
    clf = DPOptimalTreeClassifier(max_depth=5, time_limit=1e-6, ledger=ledger)
    with pytest.raises(TimeLimitError, match=r"time_limit.*; nothing was booked"):
        clf.fit(X.astype(bool), y)
    assert ledger.entries == ()
    assert not hasattr(clf, "tree_")
    with pytest.raises(TimeLimitError, match="time_limit"):
        OptimalTreeClassifier(max_depth=5, time_limit=1e-6).fit(X, y)


@pytest.mark.parametrize("criterion", ["accuracy", "gini"])
def test_class_weights(compas, criterion):
    X, y = compas
    heavy = DPOptimalTreeClassifier(class_weight={1: 50.0}, criterion=criterion, random_state=0).fit(X, y)
    assert (heavy.predict(X) == 1).mean() > 0.95
    other = DPOptimalTreeClassifier(class_weight={0: 50.0, 1: 1}, criterion=criterion, random_state=0).fit(X, y)
    assert (other.predict(X) == 0).mean() > 0.95


PRIOR = re.escape('prior must be None (all tests alike), "columns" (all columns alike')


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"max_depth": -1}, "max_depth must be an integer of at least 0"),
        ({"max_depth": 2.5}, "max_depth must be an integer"),
        ({"max_depth": 13}, "max_depth must be at most 12, not 13"),
        ({"stages": ()}, r"stages must be None or 1 to 8 depths, such as \(2, 2\), not \(\)"),
        ({"stages": (1,) * 9}, "stages must be None or 1 to 8 depths"),
        ({"stages": "2,2"}, "stages must be None or 1 to 8 depths"),
        ({"stages": 3}, "stages must be None or 1 to 8 depths"),
        ({"stages": (2, 0)}, "stages must be an integer of at least 1"),
        ({"stages": (2, "2")}, "stages must be an integer"),
        ({"stages": (8, 5)}, "stages must add up to a depth of at most 12"),
        ({"criterion": "mass"}, "criterion must be one of accuracy, gini, not 'mass'"),
        ({"criterion": "gini", "counts_share": 0}, 'counts_share must be above 0 with criterion="gini"'),
        ({"counts_share": 1.0}, "counts_share must be 0, or from 0.001 to 0.9"),
        ({"split": 0}, "split must be a probability between 0 and 1, not 0"),
        ({"split": 1.0}, "split must be a probability between 0 and 1"),
        ({"split": float("nan")}, "split must be a finite number"),
        ({"class_weight": "balanced"}, "reads the class frequencies off the private records"),
        ({"class_weight": {7: 2.0}}, "class_weight names 7"),
        ({"prior": "rows"}, PRIOR),
        ({"prior": [1, 2]}, PRIOR),
        ({"prior": {"nobody": 1}}, "there is no column 'nobody' in the schema"),
        ({"prior": {"Female": -1}}, "not below 0"),
        ({"prior": {"Female": float("inf")}}, "prior must be a finite number"),
        ({"prior": {"Female": 1e-200}}, "must not differ by more than a factor of 1e"),
        ({"time_limit": 0}, "time_limit must be None or a number of seconds above 0"),
        ({"records_per_person": 0}, "records_per_person must be an integer"),
        ({"exclude": ["nobody"]}, "nobody"),
    ],
)
def test_bad_parameters_spend_nothing_and_are_named(compas, parameters, message):
    X, y = compas
    X = X.rename(columns={X.columns[0]: "Female"})
    ledger = Ledger(epsilon=1.0)
    with pytest.raises((ValueError, TypeError), match=message):
        DPOptimalTreeClassifier(ledger=ledger, **parameters).fit(X, y)
    assert ledger.entries == ()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 13}, "max_depth must be at most 12"),
        ({"criterion": "entropy"}, "criterion must be one of accuracy, gini"),
        ({"time_limit": -1}, "time_limit must be None or a number of seconds"),
    ],
)
def test_bad_parameters_of_the_best_tree_are_named(compas, parameters, message):
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**parameters).fit(*compas)


def test_the_prior_decides_where_records_do_not(compas):
    X, y = compas
    column = X.columns[3]
    alone = {name: 0 for name in X.columns if name != column}
    clf = DPOptimalTreeClassifier(epsilon=1e-6, split=0.999, prior=alone, random_state=0)
    assert clf.fit(X, y).tree_.used_columns in ([], [column])  # a test that is asked twice goes
    rarely = [
        len(DPOptimalTreeClassifier(epsilon=1e-6, split=0.001, random_state=s).fit(X, y).tree_) for s in range(10)
    ]
    assert rarely.count(1) >= 9
    often = [
        DPOptimalTreeClassifier(epsilon=1e-6, max_depth=1, split=0.999, random_state=s).fit(X, y).tree_
        for s in range(10)
    ]
    assert sum(tree.depth == 1 for tree in often) >= 9
    schema = Schema([Numeric("a", cuts=range(1, 100)), Boolean("b")], classes=[0, 1])
    table = pd.DataFrame({"a": [50.0] * 4, "b": [True, False] * 2})
    by_column = DPOptimalTreeClassifier(
        epsilon=1e-6, max_depth=1, split=0.999, counts_share=0, prior="columns", schema=schema
    )
    used = [by_column.set_params(random_state=s).fit(table, [0, 1] * 2).tree_.used_columns for s in range(40)]
    assert used.count(["b"]) > 3  # half of the splits; one of a hundred if all tests were alike


def test_three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for criterion in ("accuracy", "gini"):
        clf = DPOptimalTreeClassifier(epsilon=10.0, criterion=criterion, schema=IRIS, random_state=0).fit(X, y)
        assert clf.score(X, y) > 0.85
        assert clf.predict_proba(X).shape == (150, 3)
    best = OptimalTreeClassifier(schema=IRIS).fit(X, y)
    assert best.certificate_.gap == 0
    assert best.certificate_.score == round(best.score(X, y) * len(y)) >= 146
    assert OptimalTreeClassifier(max_depth=2, schema=IRIS).fit(X, y).score(X, y) <= best.score(X, y)


ODD = Schema([Categorical("job", categories=["clerk", "boss"]), Numeric("age", cuts=[30])], classes=["no", "yes"])


@pytest.mark.parametrize("parameters", [{}, {"stages": (1, 1)}, {"criterion": "gini"}, {"counts_share": 0}])
def test_odd_tables_are_learned_from_like_any_other(parameters):
    clf = DPOptimalTreeClassifier(schema=ODD, **parameters)
    empty = pd.DataFrame({"job": pd.Series([], dtype=str), "age": pd.Series([], dtype=float)})
    clf.fit(empty, np.array([], dtype=str))
    one_class = pd.DataFrame({"job": ["clerk"] * 5, "age": [20.0] * 5})
    clf.fit(one_class, ["no"] * 5)
    assert set(clf.classes_) == {"no", "yes"}
    unforeseen = pd.DataFrame({"job": ["pope", None, 3], "age": ["old", None, float("inf")]})
    clf.fit(unforeseen, ["no", "maybe", None])
    assert set(clf.predict(unforeseen)) <= {"no", "yes"}


def test_a_schema_without_columns_is_refused_and_nothing_spent():
    table = pd.DataFrame({"job": ["clerk"] * 5, "age": [20.0] * 5})
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(ValueError, match="no column that may be used has a cut, a category or two values"):
        DPOptimalTreeClassifier(schema=ODD, exclude=["job", "age"], ledger=ledger).fit(table, ["no"] * 5)
    assert ledger.entries == ()


def test_a_private_learner_needs_a_schema_for_numbers():
    with pytest.raises(SchemaError, match="DPOptimalTreeClassifier needs a schema"):
        DPOptimalTreeClassifier().fit(pd.DataFrame({"age": [0.5, 1.5]}), [0, 1])
    with pytest.warns(UserWarning, match="without a schema the columns of X are read as true"):
        DPOptimalTreeClassifier().fit([[0.5], [1.5]], [0, 1])


def test_fit_counts_and_exclude(compas):
    X, y = compas
    private = PrivateCounts.from_table(X, y, Schema.of_booleans(list(X.columns)))
    (used, *_) = OptimalTreeClassifier(max_depth=1).fit(X, y).tree_.used_columns
    clf = DPOptimalTreeClassifier(random_state=3, exclude=[used]).fit_counts(private)
    again = DPOptimalTreeClassifier(random_state=3, exclude=[used]).fit(X, y)
    assert clf.tree_ == again.tree_
    assert used not in str(clf.tree_)


@pytest.mark.parametrize("parameters", [{}, {"stages": (2, 1), "criterion": "gini"}])
def test_an_engine_counts_and_the_tree_is_the_same(parameters):
    ibis = pytest.importorskip("ibis")
    data = load_german_credit()
    clf = DPOptimalTreeClassifier(random_state=4, schema=data.schema, **parameters)
    here = clf.fit(data.data, data.target).tree_
    there = clone(clf).fit_source(ibis.memtable(data.frame))
    assert there.tree_ == here
    assert there.plan_source(ibis.memtable(data.frame)).startswith("DuckDB counts the records")
    with pytest.raises(
        ValueError, match="counting must be one of auto, patterns, marginals for DPOptimalTreeClassifier"
    ):
        clf.fit_source(ibis.memtable(data.frame), counting="nodes")


def test_nothing_exact_is_kept(compas):
    clf = DPOptimalTreeClassifier(ledger=Ledger(epsilon=1.0)).fit(*compas)
    loaded = pickle.loads(pickle.dumps(clf))
    assert loaded.tree_ == clf.tree_
    assert (loaded.predict(compas[0]) == clf.predict(compas[0])).all()
    fitted = {name for name in vars(clf) if name.endswith("_") and not name.startswith("_")}
    assert fitted == {"tree_", "privacy_", "booked_", "classes_", "feature_names_in_", "n_features_in_"}
    assert not hasattr(clone(clf), "tree_")
    saved = SavedModel.from_json(SavedModel.of(clf, "again").to_json())
    assert saved.model == clf.tree_
    assert saved.parameters["criterion"] == "accuracy"
    assert saved.counts_epsilon == pytest.approx(0.1)
    assert not hasattr(DPOptimalTreeClassifier(), "model_")


def plain(text):
    """Without what a terminal obeys."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


@pytest.mark.parametrize("terminal", [True, False])
def test_an_estimate_and_then_a_bar_with_an_end(compas, monkeypatch, terminal):
    monkeypatch.setenv("FORCE_COLOR", "1") if terminal else monkeypatch.delenv("FORCE_COLOR", raising=False)
    shown = io.StringIO()
    with redirect_stderr(shown):
        DPOptimalTreeClassifier(epsilon=50.0, stages=(2, 2), verbose=True, random_state=0).fit(*compas)
    counted, first, *rest = plain(shown.getvalue()).split("\n")
    bars = "\n".join(rest)
    assert (
        counted == "The records are counted once, by 12 columns: at most 531,441 patterns, and never more than records"
    )
    assert first == (
        f"Trees of up to depth 2, then 2, over {compas[0].shape[1]} tests: less than a second for the sums, plus counting "
        "the records."
    )
    if terminal:
        assert re.fullmatch(
            r"([━╸╺\s]|counting the records|drawing (a tree|\d trees) \(stage [12] of 2\)|\d+%|\d:\d\d:\d\d|-:--:--|left)*",
            bars,
        ), bars
        assert "(stage 2 of 2)" in bars
    else:
        assert bars == ""


def test_the_best_tree_says_how_long_it_may_take(compas, capsys):
    OptimalTreeClassifier(max_depth=2, verbose=True).fit(*compas)
    assert capsys.readouterr().err.startswith("Trees of up to depth 2 over")
    OptimalTreeClassifier(max_depth=2).fit(*compas)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "parameters", [{"max_depth": d} for d in range(5)] + [{"stages": (2, 3)}, {"stages": (1, 1, 1)}]
)
def test_progress_ends_where_it_was_said_to(compas, monkeypatch, parameters):
    X, y = compas
    stages = []  # (what it is called, steps that were said, steps done)

    class Watching(Bar):
        def begin(self, title, steps):
            stages.append([title, steps, 0])

        def advance(self, steps):
            stages[-1][2] += steps

    for module in (private, trees):
        monkeypatch.setattr(module, "Bar", Watching)
    never = {X.columns[0]: 0, X.columns[1]: 0}  # tests without weight are not counted
    clf = DPOptimalTreeClassifier(epsilon=5.0, prior=never, **parameters).fit(X, y)
    assert len(stages) == len(clf._depths)
    assert all(said == done for _, said, done in stages)
    title, said, _ = stages[0]
    assert title.startswith("drawing a tree")
    assert said == count_steps(X.shape[1] - 2, clf._depths[0])
    stages.clear()
    if "max_depth" in parameters:
        OptimalTreeClassifier(**parameters).fit(X, y)
        steps = count_steps(X.shape[1], parameters["max_depth"])
        assert stages == [["searching for a tree", steps, steps]]


def test_an_estimate_grows_with_tests_depth_classes_and_stages():
    def seconds(tests=50, stages=(3,), classes=2, criterion="accuracy"):
        return estimate_seconds(tests, stages, classes, criterion)

    for more in (
        seconds(tests=51),
        seconds(stages=(4,)),
        seconds(stages=(3, 1)),
        seconds(classes=3),
        seconds(criterion="gini"),
    ):
        assert more > seconds()


def test_the_learner_says_how_many_trees_a_stage_draws():
    class Grown:
        def grow(self, tree, depth):
            return NumberedFork(0, NumberedLeaf(0), NumberedFork(1, NumberedLeaf(0), NumberedLeaf(1)))

        def count(self, tree):
            pytest.fail("counts were not asked for")

    class Told(Bar):
        def begin(self, title, steps):
            told.append((title, steps))

    told = []
    plan = replace(DPOptimalTreeClassifier(stages=(2, 2), counts_share=0, schema=IRIS).plan(), bar=Told())
    plan.queries(None)  # the first stage begins with them
    plan.run(Grown())
    assert [title for title, _ in told] == ["drawing a tree (stage 1 of 2)", "drawing 3 trees (stage 2 of 2)"]
    assert told[1][1] == 3 * told[0][1] > 0


def test_a_grid_search_over_public_parameters(compas):
    search = GridSearchCV(DPOptimalTreeClassifier(random_state=0), {"max_depth": [0, 2]}, cv=2).fit(*compas)
    assert search.best_params_ == {"max_depth": 2}
    best = GridSearchCV(OptimalTreeClassifier(), {"max_depth": [0, 2]}, cv=2).fit(*compas)
    assert best.best_params_ == {"max_depth": 2}


def test_a_pipeline(compas):
    X, y = compas
    pipeline = make_pipeline(FunctionTransformer(lambda X: ~X), DPOptimalTreeClassifier(random_state=0)).fit(X, y)
    assert pipeline.score(X, y) > 0.64


def test_names_of_columns_are_kept_and_frames_of_all_kinds_give_the_same_tree():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    data = load_german_credit()
    clf = DPOptimalTreeClassifier(random_state=1, schema=data.schema).fit(data.data, data.target)
    assert list(clf.feature_names_in_) == list(data.data.columns)
    assert set(clf.tree_.used_columns) <= set(data.data.columns)
    other = [polars.from_pandas(data.data), pyarrow.Table.from_pandas(data.data)]
    for frame in other:
        assert clone(clf).fit(frame, data.target).tree_ == clf.tree_
        assert (clf.predict(frame) == clf.predict(data.data)).all()
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(data.data.rename(columns={data.data.columns[0]: "other"}))


def test_a_seed_repeats_the_fit_and_proves_nothing(compas):
    one, two = (DPOptimalTreeClassifier(epsilon=0.01, random_state=5).fit(*compas) for _ in range(2))
    assert one.tree_ == two.tree_
    assert one.privacy_.proved is None
    assert "NO PRIVACY IS PROVED FOR IT" in str(one)
    assert DPOptimalTreeClassifier(epsilon=0.01, random_state=6).fit(*compas).tree_ != one.tree_


def test_the_best_tree_beats_drawn_ones_and_lists_of_its_depth(compas):
    X, y = compas
    best = OptimalTreeClassifier().fit(X, y)
    assert best.certificate_.gap == 0
    assert best.certificate_.score == round(best.score(X, y) * len(y))
    assert best.score(X, y) >= DPOptimalTreeClassifier(epsilon=100.0, random_state=0).fit(X, y).score(X, y)
    # a list of three literals is a tree of depth three
    assert best.score(X, y) >= DPOptimalRuleListClassifier(epsilon=100.0, random_state=0).fit(X, y).score(X, y)


def with_missing_values(data):
    """The same records, with a tenth of the values of each column gone."""
    rng = np.random.default_rng(0)
    return data.data.astype(object).mask(rng.random(data.data.shape) < 0.1, None)


@pytest.mark.parametrize(
    "load", slow_but([load_compas, load_adult, load_german_credit], [load_compas, load_german_credit])
)
def test_sql_and_python_of_fitted_trees_predict_the_same_on_all_rows(load):
    duckdb = pytest.importorskip("duckdb")
    data = load()
    X = with_missing_values(data)
    model = (
        DPOptimalTreeClassifier(epsilon=20.0, stages=(3, 2), schema=data.schema, random_state=0)
        .fit(X, data.target)
        .tree_
    )
    assert len(model) > 4
    records = pd.concat([X, data.data.astype(object)], ignore_index=True)
    predicted = model.predict(records).tolist()
    space = {}
    exec(model.to_python(), space)
    assert [space["predict"](row) for row in records.to_dict("records")] == predicted
    numbers = [c.name for c in data.schema.used if isinstance(c, Numeric)]
    rows = records.assign(row=range(len(records)), **{name: pd.to_numeric(records[name]) for name in numbers})  # noqa: F841
    found = duckdb.sql(f"SELECT {model.to_sql()} AS label FROM rows ORDER BY row")
    assert [str(label) for (label,) in found.fetchall()] == [str(label) for label in predicted]
