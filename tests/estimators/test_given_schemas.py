"""A schema may be given as a draft, or as the path of a file: the model is the same, and the parameter stays what was given."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from discreet import (
    Boolean,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    DPScoreCardClassifier,
    GreedyRuleListClassifier,
    Numeric,
    Schema,
    draft_schema,
)
from discreet._utils.errors import SchemaError
from discreet.accounting.statement import DRAFTED

SCHEMA = Schema([Numeric("age", cuts=[30, 50]), Boolean("smokes")], target="ill", classes=[0, 1])
X = pd.DataFrame({"age": np.arange(20.0, 80.0), "smokes": [True, False] * 30})
Y = (X["age"] > 50).astype(int)
SEEDED = {"epsilon": 1.0, "random_state": 0}
LEARNERS = {
    "list": lambda schema: DPOptimalRuleListClassifier(schema=schema, max_length=3, **SEEDED),
    "tree": lambda schema: DPOptimalTreeClassifier(schema=schema, max_depth=2, **SEEDED),
    "card": lambda schema: DPScoreCardClassifier(schema=schema, **SEEDED),
    "without privacy": lambda schema: GreedyRuleListClassifier(schema=schema),
}


@pytest.fixture
def path(tmp_path):
    SCHEMA.save(tmp_path / "schema.toml")
    return tmp_path / "schema.toml"


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_file_or_a_draft_stands_for_its_schema(learner, path):
    draft = draft_schema(X.copy(), n_cuts=2)
    for given, schema in ((path, SCHEMA), (str(path), SCHEMA), (draft, draft.schema)):
        expected, clf = LEARNERS[learner](schema).fit(X, Y), LEARNERS[learner](given)
        for one in (clf, clone(clf), pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
            assert one.get_params()["schema"] == given
            assert type(one.schema) is type(given)
            assert one.fit(X, Y).model_ == expected.model_
            assert one.predict(X).tolist() == expected.predict(X).tolist()


def test_a_fitted_model_needs_its_file_no_more(path):
    for table in (X, X.to_numpy(float), X.set_axis([0, 1], axis=1).astype(float)):
        clf = LEARNERS["list"](path).fit(table, Y)
        text = path.read_text()
        path.unlink()
        assert len(clf.predict(table)) == 60
        path.write_text(text)


def test_a_plan_and_a_fit_of_a_file_read_the_schema_too(path):
    X.assign(ill=Y).to_csv(path.with_name("table.csv"), index=False)
    clf = LEARNERS["list"](path)
    assert clf.plan().schema == SCHEMA
    assert clf.fit_file(path.with_name("table.csv")).model_ == LEARNERS["list"](SCHEMA).fit(X, Y).model_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "schema.toml': No such file"),
        ("[columns.age", "schema.toml': the schema is not valid TOML"),
        ("[columns.age]\ntype = 'float'", "schema.toml': column 'age' has an unknown type"),
        (b"\xff", "schema.toml': .*is not text in UTF-8"),
    ],
)
def test_an_error_names_the_file(tmp_path, text, message):
    path = Path(tmp_path / "schema.toml")
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for learner in LEARNERS.values():
        with pytest.raises(SchemaError, match=message):
            learner(path).fit(X, Y)


def test_a_draft_made_from_the_table_itself_proves_nothing():
    table = X.copy()
    clf = DPOptimalRuleListClassifier(schema=draft_schema(table, n_cuts=2), max_length=2)
    assert clf.fit(table, Y).privacy_.because == (DRAFTED,)
    assert clf.fit(X.copy(), Y).privacy_.proved is not None  # a public sample: another table
