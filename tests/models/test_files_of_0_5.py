"""Files that version 0.5 wrote are read as they were meant."""

import pickle
import shutil
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from discreet.moved import MOVED
from sklearn.exceptions import InconsistentVersionWarning

from discreet import Ledger, PrivacyStatement, SavedModel, Schema
from discreet.accounting.ledger import LedgerError
from discreet.datasets import load_compas

FOLDER = Path(__file__).parent / "written_by_0_5"
MODELS = [path.stem for path in sorted(FOLDER.glob("*.pickle"))]


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    model = SavedModel.load(FOLDER / f"{name}.json")
    assert f"{model}\n" == (FOLDER / f"{name}.txt").read_text()
    assert SavedModel.from_json(model.to_json()) == model
    if model.privacy is not None:
        assert model.privacy == PrivacyStatement.from_json((FOLDER / f"{name}.statement.json").read_text())
        assert model.ledger is not None
        assert model.ledger.epsilon == 3


@pytest.mark.parametrize(
    ("name", "epsilon"), [("greedy", None), ("mass", 0.25), ("sm-laplace", 0.125), ("whole-list", 0.05)]
)
def test_the_noise_of_their_counts_is_what_0_5_said(name, epsilon):
    assert SavedModel.load(FOLDER / f"{name}.json").counts_epsilon == epsilon


@pytest.mark.skipif(find_spec("numpy._core") is None, reason="NumPy 1.26.0 does not read pickles of NumPy 2")
@pytest.mark.parametrize("name", MODELS)
def test_pickles(name):
    data = load_compas(sensitive=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # of scikit-learn, not of discreet
        clf = pickle.loads((FOLDER / f"{name}.pickle").read_bytes())
    model = SavedModel.load(FOLDER / f"{name}.json")
    assert (clf.predict(data.data) == model.predict(data.data)).all()
    assert (clf.predict_proba(data.data) == model.predict_proba(data.data)).all()
    if model.privacy is not None:
        assert clf.privacy_ == model.privacy


def test_a_ledger_is_refused_and_not_read_as_something_else(tmp_path):
    shutil.copy(FOLDER / "ledger.json", tmp_path)
    with pytest.raises(LedgerError, match="format of an earlier development version"):
        Ledger.open(tmp_path / "ledger.json", epsilon=3.0)


def test_schemas():
    assert Schema.load(FOLDER / "schema.toml").target == "is_recid"
    cuts = Schema.load(FOLDER / "cuts.toml")
    assert cuts.cuts_epsilon == 0.1
    assert len(cuts.released) == 1


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("errors", "PrivacyWarning"),
        ("rules", "Literal"),
        ("columns", "Numeric"),
        ("candidates", "Candidates"),
        ("cut_points", "private_cuts"),
        ("drafting", "draft_schema"),
        ("estimators", "GreedyRuleListClassifier"),
        ("evaluation.audit", "audit"),
        ("planning", "expect"),
        ("table_check", "TableCheck"),
    ],
)
def test_modules_that_were_documented_are_found(module, name):
    was = import_module(f"discreet.{module}")
    assert getattr(was, name) is getattr(import_module(f"discreet.{MOVED[module]}"), name)
    with pytest.raises(AttributeError):
        was.nothing  # noqa: B018
