"""What a user of scikit-learn may not have meant is said: seeds, large epsilons, many fits, a schema drafted from the records."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    Ledger,
    Numeric,
    PrivacyStatement,
    PrivateCounts,
    RuleList,
    SavedModel,
    Schema,
    draft_schema,
    noisy_evaluation,
)
from discreet._utils import provenance
from discreet._utils.errors import PrivacyWarning, RepeatedFitsWarning, SeededWarning
from discreet.accounting.ledger import LedgerError
from discreet.accounting.statement import DRAFTED, Guarantee, Others
from discreet.private import reminders
from discreet.schema import SchemaRelease
from tests.support.paid_schemas import paid

SCHEMA = Schema((Numeric("n", low=0, high=40, n_cuts=9), Boolean("b")), target="y", classes=[0, 1])
X = pd.DataFrame({"n": np.arange(40.0), "b": [True, False] * 20})
Y = np.array([0, 1] * 20)
MODEL = RuleList.parse("if b then 1 else 0", [0, 1], SCHEMA)


def fitted(**given):
    return DPGreedyRuleListClassifier(**{"schema": SCHEMA, "max_length": 2} | given).fit(X, Y)


def said(call):
    """The privacy warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, PrivacyWarning)]


RELEASES = {
    "fit": fitted,
    "whole list": lambda **p: DPOptimalRuleListClassifier(max_length=2, schema=SCHEMA, **p).fit(X, Y),
    "fit_counts": lambda **p: DPGreedyRuleListClassifier(**p).fit_counts(PrivateCounts.from_table(X, Y, SCHEMA)),
    "evaluation": lambda **p: noisy_evaluation(MODEL, X, Y, **{"epsilon": 1.0, "model_is_public": True} | p),
}


@pytest.mark.parametrize("release", RELEASES)
def test_a_seed_is_warned_of_once(release, monkeypatch):
    monkeypatch.setattr(reminders, "_warned_of_seeds", False)
    (first,) = said(lambda: RELEASES[release](random_state=0))
    assert "random_state" in str(first.message)
    assert first.filename == __file__  # the line that asked for it
    assert said(lambda: [RELEASES[other](random_state=0) for other in RELEASES]) == []


@pytest.mark.parametrize("release", RELEASES)
def test_an_epsilon_above_10_is_warned_of(release):
    assert said(lambda: RELEASES[release](epsilon=10)) == []
    (warning,) = said(lambda: RELEASES[release](epsilon=10.5))
    assert "epsilon = 10.5 is above 10" in str(warning.message)
    assert warning.filename == __file__


def test_a_printed_model_says_that_nothing_is_proved_as_its_statement_does():
    seeded = fitted(random_state=0)
    assert str(seeded).startswith(f"{seeded.rule_list_}\n")
    assert str(seeded).endswith(seeded.privacy_.no_proof)
    assert "seeded" in seeded.privacy_.no_proof
    assert repr(seeded).startswith("DPGreedyRuleListClassifier(")
    proved = fitted()
    assert str(proved) == str(proved.rule_list_.merged())


def test_the_statement_names_other_fits_with_these_columns_and_their_sum():
    assert fitted().privacy_.others is None
    search = GridSearchCV(
        DPGreedyRuleListClassifier(schema=SCHEMA, epsilon=5.0), {"max_length": [2, 3, 4]}, cv=4, scoring="accuracy"
    ).fit(X, Y)
    statement = search.best_estimator_.privacy_
    assert statement.proved.epsilon == 5
    assert statement.others == Others(13, 0, 61.0, 0.0)
    assert "13 other releases with these columns were made without a ledger, with epsilon = 61 in all" in str(statement)
    assert "adds up to epsilon = 66, this one included" in str(statement)
    assert PrivacyStatement.from_json(statement.to_json()).others == statement.others


def test_a_fit_on_a_ledger_is_not_counted_and_still_told_of_those_that_are_not():
    ledger = Ledger(epsilon=3)
    assert [fitted(ledger=ledger).privacy_.others for _ in range(2)] == [None, None]
    fitted(epsilon=0.1)
    assert fitted(ledger=ledger).privacy_.others == Others(1, 0, 0.1, 0.0)


def in_threads(call):
    with parallel_config("threading"):
        return call()


REPEATED = {
    "search": lambda clf: GridSearchCV(clf, {"max_length": [2, 3]}, cv=2, scoring="accuracy").fit(X, Y),
    "folds": lambda clf: cross_val_score(clf, X, Y, cv=2, scoring="accuracy"),
    "threads": lambda clf: in_threads(lambda: cross_val_score(clf, X, Y, cv=2, scoring="accuracy", n_jobs=2)),
    "calibration": lambda clf: CalibratedClassifierCV(clf, cv=2).fit(X, Y),
}


@pytest.mark.parametrize("repeated", REPEATED)
def test_fits_that_scikit_learn_repeats_are_warned_of_once(repeated, monkeypatch):
    monkeypatch.setattr(reminders, "_warned_of_repeats", False)
    clf = DPGreedyRuleListClassifier(schema=SCHEMA)
    assert said(lambda: make_pipeline(FunctionTransformer(), clone(clf)).fit(X, Y)) == []  # a single fit
    assert said(lambda: REPEATED[repeated](clone(clf).set_params(ledger=Ledger(epsilon=100)))) == []
    seeded = said(lambda: REPEATED[repeated](clone(clf).set_params(random_state=0)))
    assert {w.category for w in seeded} <= {SeededWarning}
    first, *others = said(lambda: REPEATED[repeated](clf))
    assert first.category is RepeatedFitsWarning
    assert "each fit spends its epsilon" in str(first.message)
    assert others == said(lambda: REPEATED[repeated](clf)) == []


def test_other_columns_are_other_tables():
    fitted()
    other = Schema((Numeric("n", cuts=[3]), Boolean("b")), target="z", classes=[0, 1])
    assert fitted(schema=other).privacy_.others is None


def test_about_a_seeded_fit_nothing_is_proved_so_neither_about_the_sum():
    fitted(random_state=0)
    statement = fitted().privacy_
    assert statement.others == Others(1, 1, 0.0, 0.0)
    assert "nothing is proved about it" in str(statement)
    assert fitted(random_state=0).privacy_.others is None  # of what is not proved there is no sum


def test_a_schema_counts_once_whoever_uses_it():
    fitted(schema=paid(SCHEMA, 0.25, name="another"))
    found = paid(SCHEMA, 0.5, 1e-9)
    first, second = fitted(schema=found).privacy_, fitted(schema=found).privacy_
    assert first.others == Others(2, 0, 1.25, 0.0)
    assert second.others == Others(3, 0, 2.25, 0.0)
    assert "adds up to epsilon = 3.75, delta = 1e-09" in str(second)  # .25 + .5 + 1 + 1 + 1
    assert fitted().privacy_.others == Others(5, 0, 3.75, 1e-9)


ONE = PrivacyStatement("", None, Guarantee(1.0, 0.0))


def planned(statement=ONE, records=1, ledger=None, **more):
    """What is asked of a plan."""
    terms, schema = SimpleNamespace(records=records, ledger=ledger), SimpleNamespace(names="xyz", target=None)
    given = {"terms": terms, "schema": schema, "statement": statement, "rests_on": (), "releases_schema": None}
    return SimpleNamespace(**given | more)


def others_on_a_ledger(records):
    return reminders.others_of(planned(records=records, ledger=Ledger(1)))


def test_of_a_person_with_more_records_a_schema_counts_in_as_many_steps_as_it_takes():
    reminders.note(planned(records=3, releases_schema=SchemaRelease("schema-1f3a", 0.5, 1e-6, 3)))
    for records, steps in ((1, 1), (3, 1), (4, 2), (7, 3)):
        delta = Guarantee(0.5, 1e-6).for_person(steps).delta
        assert others_on_a_ledger(records) == Others(1, 0, 0.5 * steps, delta)


def test_what_others_come_to_is_counted_for_the_same_person():
    fitted(epsilon=1.0, records_per_person=4)
    assert fitted(epsilon=1.0).privacy_.others.epsilon == 0.25
    assert fitted(epsilon=2.0, records_per_person=2).privacy_.others.epsilon == 2.5
    reminders.note(planned(PrivacyStatement("", None, Guarantee(0.5, 1e-6))))
    assert others_on_a_ledger(2).delta == Guarantee(0.5, 1e-6).for_person(2).delta


def test_no_release_of_many_threads_is_lost():
    one = planned(PrivacyStatement("", None, Guarantee(0.1, 0.0)))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: reminders.note(one), range(2000)))
    assert reminders.others_of(one) == Others(1999, 0, 199.9, 0.0)


def test_sums_of_any_length_are_said():
    """A fraction may be too long for a ledger. What is only a reminder may not end a release."""
    long = Guarantee.of(Fraction(10**400 + 1, 10**400), 5e-324)
    reminders.note(planned(PrivacyStatement("", None, long), records=3))
    assert others_on_a_ledger(3) == Others(1, 0, 1.0000000000000002, 2.5e-323)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_goes_on_counting():
    code = (
        "import os, sys\nfrom discreet.private import reminders as t\n"
        "from tests.estimators.test_reminders import planned\n"
        "one = planned()\nt.note(one)\n"
        "with t._lock:\n    pid = os.fork()\n"  # as if another thread had it
        "if not pid:\n    t.note(one); t.note(one)\n"
        "    os._exit(t.others_of(one).releases)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 2


OLD = '{"format": "discreet privacy statement", "version": 3, "mechanism": "mass", "published": null, '
OLD += '"proved": {"epsilon": 1.0, "delta": 0.0}, "because": [], "assumes": []'


def test_statements_of_before_are_read_and_others_that_are_none_are_not():
    assert PrivacyStatement.from_json(OLD + "}").others is None
    good = '{"releases": 2, "unproved": 1, "epsilon": 0.5, "delta": 0.0}'
    assert PrivacyStatement.from_json(f'{OLD}, "others": {good}}}').others == Others(2, 1, 0.5, 0.0)
    for old, new in [
        ("2", "0"),
        ("2", "2.5"),
        ("1", "3"),
        ("0.5", "-1"),
        ("0.0", "2"),
        ('"delta"', '"d"'),
        ("2", "true"),
    ]:
        with pytest.raises(ValueError, match="is not a discreet privacy statement"):
            PrivacyStatement.from_json(f'{OLD}, "others": {good.replace(old, new, 1)}}}')


KINDS = {
    "pandas": lambda: pd.DataFrame(columns()),
    "pandas, texts": lambda: pd.DataFrame(columns() | {"t": ["x", "y"] * 20}),
    "polars": lambda: pl.DataFrame(columns()),
    "pyarrow": lambda: pa.table(columns()),
}


def columns():
    """The records, at a new place in memory."""
    return {"n": np.arange(40.0), "b": [True, False] * 20, "y": np.array([0, 1] * 20)}


def parts(table):
    """The same records by other objects: without the target, and the target alone."""
    if isinstance(table, pd.DataFrame):
        return table.drop(columns="y"), table["y"]
    if isinstance(table, pl.DataFrame):
        return table.drop("y"), table["y"]
    return table.drop_columns(["y"]), table["y"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_of_the_table_that_a_schema_was_drafted_from_is_noticed(kind):
    table = KINDS[kind]()
    learner = DPGreedyRuleListClassifier(schema=SCHEMA, max_length=2)
    assert learner.fit(*parts(table)).privacy_.proved is not None
    draft_schema(table, target="y")
    whole = learner.set_params(schema=Schema((*SCHEMA.columns, Boolean("y")), classes=[0, 1]))
    assert whole.fit(table, Y).privacy_.because == (DRAFTED,)
    learner = clone(learner).set_params(schema=SCHEMA)
    (warning,) = said(lambda: learner.fit(*parts(table)))
    assert "drafted from these very records" in str(warning.message)
    assert learner.privacy_.because == (DRAFTED,)
    assert learner.fit(X, parts(table)[1]).privacy_.because == (DRAFTED,)  # by its labels
    assert learner.fit_counts(PrivateCounts.from_table(*parts(table), SCHEMA)).privacy_.because == (DRAFTED,)
    assert noisy_evaluation(MODEL, *parts(table), 1.0, model_is_public=True).privacy.because == (DRAFTED,)
    assert learner.fit(*parts(KINDS[kind]())).privacy_.proved is not None  # read again


def test_a_sample_that_is_a_view_of_the_private_table_is_noticed_and_other_rows_are_not():
    array = np.column_stack([X["n"], X["b"]])
    learner = DPGreedyRuleListClassifier(schema=SCHEMA, max_length=2)
    draft_schema(array[:10])
    assert learner.fit(array, Y).privacy_.because == (DRAFTED,)
    assert learner.fit(array[10:], Y[10:]).privacy_.proved is not None
    frame = KINDS["pandas"]()[["n", "b"]]
    draft_schema({"n": frame["n"].to_numpy(), "b": frame["b"].to_numpy()})  # the dict is gone, the columns are not
    assert learner.fit(frame, Y).privacy_.because == (DRAFTED,)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_of_such_a_table_as_one_of_ibis_is_noticed(kind):
    ibis = pytest.importorskip("ibis")
    table = KINDS[kind]()
    draft_schema(table, target="y")
    learner = DPGreedyRuleListClassifier(schema=SCHEMA, max_length=2)
    opened = ibis.memtable(table)
    for counting in ("patterns", "nodes"):
        assert learner.fit_source(opened.select("n", "b", "y"), counting=counting).privacy_.because == (DRAFTED,)
    assert learner.fit_counts(PrivateCounts.from_source(opened, SCHEMA)).privacy_.because == (DRAFTED,)
    assert learner.fit_source(ibis.memtable(KINDS[kind]())).privacy_.proved is not None


@pytest.mark.parametrize("n", [0, 1])
def test_whether_a_part_of_the_sample_has_a_record_does_not_show_in_the_statement(n):
    table = KINDS["pandas"]()
    draft_schema(table, target="y")
    learner = DPGreedyRuleListClassifier(schema=SCHEMA, max_length=2)
    assert learner.fit(*parts(table.iloc[:n])).privacy_.because == (DRAFTED,)
    assert learner.fit(*parts(KINDS["pandas"]().iloc[:n])).privacy_.proved is not None


def test_a_column_of_python_objects_does_not_hide_the_others():
    objects = pl.Series("o", [object()] * 40, dtype=pl.Object)
    table = pl.DataFrame(columns()).with_columns(objects)
    sample = table.drop("o")
    draft_schema(sample, target="y")
    learner = DPGreedyRuleListClassifier(schema=SCHEMA, max_length=2)
    assert learner.fit(table.drop("y"), Y).privacy_.because == (DRAFTED,)


def test_a_sample_that_is_gone_is_forgotten():
    table = KINDS["pandas"]()
    draft_schema(table, target="y")
    owners = [place.owner for place in provenance._samples]
    assert owners
    assert all(owner() is not None for owner in owners)
    del table
    assert all(owner() is None for owner in owners)


def search(error_score, ledger):
    clf = DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger)
    return GridSearchCV(clf, {"max_length": [2, 3]}, cv=2, n_jobs=2, scoring="accuracy", error_score=error_score)


@pytest.mark.slow
def test_a_parallel_search_with_a_ledger_in_memory_ends_with_one_clear_line():
    with pytest.raises(LedgerError) as caught:
        search("raise", Ledger(epsilon=9)).fit(X, Y)
    assert "Ledger.open(path)" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="All the 4 fits failed") as caught:
        search(np.nan, Ledger(epsilon=9)).fit(X, Y)
    assert "Ledger.open(path)" in str(caught.value).strip().splitlines()[-1]


@pytest.mark.slow
def test_a_parallel_search_with_a_ledger_in_a_file_pays_for_each_fit(tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.json", epsilon=9)
    search("raise", ledger).fit(X, Y)
    assert ledger.spent[0] == 5


def test_a_ledger_in_memory_stays_behind_when_a_classifier_is_pickled():
    ledger = Ledger(epsilon=2)
    clf = fitted(ledger=ledger)
    elsewhere = pickle.loads(pickle.dumps(clf))
    assert elsewhere.rule_list_ == clf.rule_list_
    assert SavedModel.of(elsewhere).ledger == SavedModel.of(clf).ledger  # what was spent by then
    with pytest.raises(LedgerError, match=r"Ledger\.open\(path\)"):
        elsewhere.fit(X, Y)
    for here in (copy.copy(clf), copy.deepcopy(clf), clone(clf)):
        assert here.ledger is ledger
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(ledger)


def test_on_the_command_line_a_large_epsilon_was_said_aloud(tmp_path):
    SCHEMA.save(tmp_path / "schema.toml")
    X.assign(y=Y).to_csv(tmp_path / "table.csv", index=False)
    given = ["--schema", tmp_path / "schema.toml", "--epsilon", "20", "--out", tmp_path / "model.json"]
    run = "from discreet.cli import main; main()"
    given = [sys.executable, "-c", run, "fit", "greedy", tmp_path / "table.csv", *given, "--weak"]
    done = subprocess.run([*map(str, given)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert "almost no protection" in done.stdout
    assert "In the same process" not in done.stdout  # there is one fit in it
