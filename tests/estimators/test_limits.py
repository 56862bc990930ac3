"""monotonic_cst and forbid in the classifiers: every model keeps to them, the statement says so, and mistakes are named first."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from discreet import (
    Boolean,
    Categorical,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    Ignored,
    Ledger,
    Numeric,
    OptimalRuleListClassifier,
    OptimalTreeClassifier,
    PrivacyStatement,
    SavedModel,
    Schema,
)
from discreet.rules.candidates import Candidates
from discreet.rules.limits import Limits

SCHEMA = Schema(
    [
        Numeric("age", cuts=[30, 50], ranges=[[40, 60]], missing=True),
        Boolean("smokes"),
        Categorical("job", categories=["clerk", "boss"]),
        Ignored("note"),
    ],
    target="state",
    classes=["well", "mild", "ill"],  # not in the order of the alphabet
)
AGES = [20.0, 35.0, 45.0, 55.0, 70.0]
GRID = pd.DataFrame(
    [*product(AGES, [False, True], ["clerk", "boss"]), *product([np.nan], [False, True], ["clerk", "boss"])],
    columns=["age", "smokes", "job"],
)


def table(seed, n=60):
    rng = np.random.default_rng(seed)
    X = GRID.iloc[rng.integers(0, len(GRID), n)].reset_index(drop=True)
    labels = np.where(X["age"] < 40, "ill", np.where(X["age"] < 50, "mild", "well"))  # the older, the better
    return X, np.where(rng.random(n) < 0.2, rng.choice(np.array(["well", "mild", "ill"]), n), labels)


def falls_somewhere(model, column):
    """Whether a larger value gets an earlier class, everything else being equal."""
    ranks = {label: i for i, label in enumerate(SCHEMA.classes)}
    answers = GRID.assign(rank=[ranks[label] for label in model.predict(GRID)])
    rest = [name for name in GRID if name != column]
    groups = answers.dropna(subset=[column]).sort_values(column).groupby(rest, dropna=False)["rank"]
    return any((group.diff() < 0).any() for _, group in groups)


LEARNERS = {
    "tree": lambda **given: DPOptimalTreeClassifier(epsilon=0.5, max_depth=2, schema=SCHEMA, **given),
    "list": lambda **given: DPOptimalRuleListClassifier(epsilon=0.5, schema=SCHEMA, **given),
    "list, one rule at a time": lambda **given: DPOptimalRuleListClassifier(
        epsilon=0.5, rules_per_draw=1, schema=SCHEMA, **given
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_model_is_monotone_and_without_limits_many_are_not(learner):
    models = [
        LEARNERS[learner](random_state=seed, monotonic_cst={"age": 1}).fit(*table(seed)).model_ for seed in range(8)
    ]
    assert not any(falls_somewhere(model, "age") for model in models)
    free = [LEARNERS[learner](random_state=seed).fit(*table(seed)).model_ for seed in range(8)]
    assert any(falls_somewhere(model, "age") for model in free)
    falling = LEARNERS[learner](random_state=0, monotonic_cst={"age": -1, "smokes": 1}, forbid=[("age", "job")])
    assert not falls_somewhere(falling.fit(*table(3)).model_, "smokes")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", [*LEARNERS, "stages"])
def test_no_way_to_an_answer_has_columns_that_are_forbidden_together(learner):
    make = LEARNERS.get(
        learner, lambda **given: DPOptimalTreeClassifier(epsilon=0.5, stages=(1, 1), schema=SCHEMA, **given)
    )
    for seed in range(8):
        model = make(random_state=seed, forbid=[("age", "smokes")]).fit(*table(seed)).model_
        if learner.startswith("list"):
            ways = [{literal.column for rule in model.rules for literal in rule.antecedent}]
        else:
            ways = [{test.column for test, _ in leaf.way} for leaf in model.leaves]
        assert not any({"age", "smokes"} <= way for way in ways)


def test_the_statement_the_file_and_the_ledger_say_it_at_the_same_price(tmp_path):
    ledger = Ledger(epsilon=1.0)
    given = {"monotonic_cst": {"age": 1}, "forbid": [("age", "job")]}
    clf = DPOptimalTreeClassifier(epsilon=0.5, max_depth=2, schema=SCHEMA, ledger=ledger, **given).fit(*table(0))
    said = "age rises: of two records that differ in it alone, the larger value never gets an earlier class of well, mild, ill"
    assert clf.privacy_.limits == (said, "no answer depends on both age and job")
    assert said in str(clf.privacy_)
    assert clf.privacy_.proved.epsilon == 0.5
    assert ledger.remaining[0] == 0.5
    assert PrivacyStatement.from_json(clf.privacy_.to_json()) == clf.privacy_
    SavedModel.of(clf).save(tmp_path / "model.json")
    saved = SavedModel.load(tmp_path / "model.json")
    assert saved.privacy.limits == clf.privacy_.limits
    assert saved.parameters["monotonic_cst"] == {"age": 1}
    assert DPOptimalTreeClassifier(epsilon=0.5, max_depth=2, schema=SCHEMA).fit(*table(0)).privacy_.limits == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"monotonic_cst": {"agee": 1}}, r"monotonic_cst names 'agee', but there is no such column.*; did you mean 'age'"),
        ({"monotonic_cst": {"job": 1}}, "monotonic_cst names 'job', but a categorical column has no order"),
        ({"monotonic_cst": {"age": 2}}, "monotonic_cst must be a dict of columns and .1"),
        ({"monotonic_cst": {"age": True}}, "monotonic_cst must be a dict"),
        ({"monotonic_cst": ["age"]}, "monotonic_cst must be a dict .* not list"),
        ({"forbid": [("age", "jobs")]}, "forbid names 'jobs', .*; did you mean 'job'"),
        ({"forbid": ("age", "job")}, "forbid must be a list of columns .* not .'age', 'job'."),
        ({"forbid": [("age",)]}, "a single column that may not be used at all is for exclude"),
        ({"forbid": "age,job"}, "forbid must be a list"),
        ({"forbid": [(1, 2)]}, "forbid must be a list of columns .* not ..1, 2.."),
        ({"monotonic_cst": {"age": 1}, "exclude": ["age"]}, "monotonic_cst names 'age', but that column is ignored, .* of monot"),
        ({"forbid": [("age", "job")], "exclude": ["job"]}, "forbid names 'job', but that column is ignored, .* out of forbid"),
        ({"forbid": [("age", "note")]}, "forbid names 'note', but that column is ignored"),
        ({"monotonic_cst": {"note": 1}}, "monotonic_cst names 'note', but that column is ignored"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("learner", ["tree", "list"])
def test_mistakes_are_named_before_anything_is_spent(learner, given, message):
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(ValueError, match=message):
        LEARNERS[learner](ledger=ledger, **given).fit(*table(0))
    assert ledger.n_entries == 0


def test_what_cannot_be_kept_to_is_refused_with_what_can():
    monotone, ledger = {"age": 1}, Ledger(epsilon=1.0)
    with pytest.raises(ValueError, match="monotonic_cst needs a tree that is drawn at once"):
        DPOptimalTreeClassifier(stages=(1, 1), monotonic_cst=monotone, schema=SCHEMA, ledger=ledger).fit(*table(0))
    with pytest.raises(ValueError, match='monotonic_cst needs criterion="accuracy"'):
        DPOptimalTreeClassifier(criterion="gini", monotonic_cst=monotone, schema=SCHEMA, ledger=ledger).fit(*table(0))
    for given in ({"max_length": 5}, {"max_literals": 2}):
        with pytest.raises(ValueError, match="need lists that are added up completely"):
            DPOptimalRuleListClassifier(monotonic_cst=monotone, schema=SCHEMA, ledger=ledger, **given).fit(*table(0))
        with pytest.raises(ValueError, match="need lists that are added up completely"):
            OptimalRuleListClassifier(forbid=[("age", "job")], schema=SCHEMA, **given).fit(*table(0))
    assert ledger.n_entries == 0
    DPOptimalTreeClassifier(criterion="gini", forbid=[("age", "job")], schema=SCHEMA).fit(*table(0))


@pytest.mark.parametrize("kind", [OptimalTreeClassifier, OptimalRuleListClassifier])
def test_the_best_model_keeps_to_the_limits_and_its_certificate_is_what_it_classifies(kind):
    X, y = table(5, 200)
    free, best = kind(schema=SCHEMA).fit(X, y), kind(schema=SCHEMA, monotonic_cst={"age": 1}).fit(X, y)
    assert not falls_somewhere(best.model_, "age")
    assert best.certificate_.gap == 0.0
    assert best.certificate_.bound == (best.predict(X) == y).sum() <= free.certificate_.bound
    kept = kind(schema=SCHEMA, forbid=[("age", "job"), ("age", "smokes")]).fit(X, y)
    assert kept.certificate_.bound == (kept.predict(X) == y).sum()


def test_which_side_of_a_test_is_the_larger_follows_from_its_values():
    tests = Candidates.of_tests(SCHEMA)
    limits = Limits.of({"age": 1, "smokes": -1}, None, tests, ["ill", "mild", "well"])
    found = {
        str(rule): (bool(a), bool(b)) for rule, a, b in zip(tests, limits.not_above, limits.not_below, strict=True)
    }
    assert found["age <= 30"] == (True, False)
    assert found["age in [40, 60]"] == (True, True)  # it has smaller and larger values on its other side
    assert found["age is missing"] == (False, False)
    assert found["smokes"] == (True, False)
    assert found["job = clerk"] == (False, False)
    assert limits.labels == (2, 1, 0)
    conjunction = Candidates.of_rules(SCHEMA, ["age > 30 and age <= 50", "age > 30 and smokes", "job = boss"])
    limits = Limits.of({"age": 1, "smokes": -1}, None, conjunction, ["ill", "mild", "well"])
    assert limits.not_above.tolist() == [True, True, False]
    assert limits.not_below.tolist() == [True, True, False]


def test_a_column_with_0_has_no_constraint():
    X, y = table(1)
    for learner in (DPOptimalTreeClassifier, OptimalTreeClassifier, DPOptimalRuleListClassifier):
        given = {"schema": SCHEMA, "random_state": 0} if learner.__name__.startswith("DP") else {"schema": SCHEMA}
        free, zero = learner(**given), learner(monotonic_cst={"age": 0, "job": 0}, **given)
        assert zero.fit(X, y).model_ == free.fit(X, y).model_
    gini = DPOptimalTreeClassifier(schema=SCHEMA, criterion="gini", monotonic_cst={"age": 0}, stages=(1, 1))
    assert gini.promise().limits == ()
    with pytest.raises(ValueError, match="monotonic_cst needs criterion"):
        gini.set_params(monotonic_cst={"age": 1}).promise()


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (DPOptimalTreeClassifier, {"max_depth": 1, "monotonic_cst": {"a": 1}}),
        (DPOptimalRuleListClassifier, {"max_length": 2, "monotonic_cst": {"a": 1}}),
        (DPOptimalRuleListClassifier, {"max_length": 2, "forbid": [("a", "b")]}),
    ],
)
def test_more_classes_than_the_proof_is_for_are_refused_before_anything_is_booked(kind, given):
    X, ledger = pd.DataFrame({"a": [True, False], "b": [False, True]}), Ledger(epsilon=1.0)
    for classes in (150, 151):
        schema = Schema([Boolean("a"), Boolean("b")], classes=range(classes))
        clf = kind(schema=schema, ledger=ledger, epsilon=0.5, **given)
        if classes == 151:
            with pytest.raises(ValueError, match="take up to 150 classes, and there are 151"):
                clf.plan()
            with pytest.raises(ValueError, match="take up to 150 classes, and there are 151"):
                clf.fit(X, [0, 1])
        else:
            clf.plan()
    assert not ledger.entries
