"""What docs/exports.md says of MLflow and skops runs, where they are installed (``pip install -e '.[test-exports]'``)."""

import re
from pathlib import Path

import pytest

from discreet import DPGreedyTreeClassifier, GreedyRuleListClassifier
from discreet.datasets import load_compas

PAGE = Path(__file__).parent.parent.parent / "docs" / "exports.md"
DATA = load_compas(sensitive=False)
LEARNERS = [
    GreedyRuleListClassifier(max_length=3, schema=DATA.schema),
    DPGreedyTreeClassifier(epsilon=1.0, max_depth=2, schema=DATA.schema),
]
pytestmark = pytest.mark.slow


@pytest.fixture(params=LEARNERS, ids=lambda clf: type(clf).__name__)
def clf(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return request.param.fit(DATA.data, DATA.target)


def run(heading, clf):
    """The code below a heading of the page, and what its last line gives."""
    section = re.search(rf"^## {heading}$(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    (code,) = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    *lines, last = code.rstrip().split("\n")
    made = {"__name__": "__main__", "clf": clf, "data": DATA}
    exec("\n".join(lines), made)
    return eval(last, made), made


@pytest.mark.filterwarnings("ignore")  # MLflow warns of type hints, versions, and what it cannot infer
def test_mlflow_serves_a_saved_model(clf):
    pytest.importorskip("mlflow")
    given, _ = run("MLflow", clf)
    assert given.tolist() == clf.predict(DATA.data).tolist()


def test_skops_reads_a_saved_model_by_types_that_are_named(clf):
    pytest.importorskip("skops")
    given, made = run("skops", clf)
    assert given.tolist() == clf.predict(DATA.data).tolist()
    others = {name for name in made["types"] if not name.startswith("discreet.")}
    assert others <= {"builtins.frozenset", "fractions.Fraction"}
    assert made["loaded"].privacy == getattr(clf, "privacy_", None)
    assert made["loaded"].model == clf.model_
