"""A kind of column is one class and its name in a registry: two that the package does not have go all the way through it."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet
from discreet import (
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    GreedyRuleListClassifier,
    PrivateCounts,
    RuleList,
    SavedModel,
    Schema,
    check_table,
    draft_schema,
)
from discreet._utils.errors import SchemaError
from discreet._utils.tables import as_table
from discreet.cli import main
from discreet.report.html import to_html
from discreet.rules.candidates import Candidates
from discreet.schema.columns import KINDS, Column, canonical
from discreet.schema.columns.base import Drafted
from discreet.schema.columns.values import NumberBins, TextBins
from discreet.schema.inference import infer_schema

from ..support.strategies import DRAWN


@dataclass(frozen=True)
class Ordinal(Column):
    """Levels in order, tested by ``= "medium or more"``, since ``<=`` takes numbers only. What is no level is missing."""

    levels: tuple[str, ...] = ()

    kind: ClassVar[str] = "ordinal"

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "levels", tuple(self.levels))
        if len(self.levels) < 2:
            raise SchemaError(f"column {self.name!r}: an ordinal column needs levels, from the lowest to the highest")

    @property
    def value_bins(self):
        return TextBins({canonical(level): i for i, level in enumerate(self.levels)}, self._n_values)

    @property
    def _n_values(self):
        return len(self.levels)

    def _value_tests(self):
        return [("=", f"{level} or more") for level in self.levels[1:]]

    def _inside(self, op, value):
        tests = self._value_tests()
        return np.arange(self._n_values) > tests.index((op, value)) if (op, value) in tests else None

    @classmethod
    def inferred(cls, name, seen, n_cuts):
        sizes = ("S", "M", "L")
        return cls(name, seen.missing, sizes) if seen.numbers is None and set(seen.known) == set(sizes) else None

    @classmethod
    def drafted(cls, name, seen, most):
        found = cls.inferred(name, seen, most)
        return found and Drafted(found, "sizes, from the smallest", needs_review=True)


@dataclass(frozen=True)
class Month(Column):
    """Months by their numbers, tested by quarters (``in [4, 6]``). What is no month is missing."""

    kind: ClassVar[str] = "month"

    @property
    def value_bins(self):
        return NumberBins(0, (("<=", 3.0), ("<=", 6.0), ("<", 10.0)), limits=(1.0, 12.0))

    @property
    def _n_values(self):
        return 4

    def _value_tests(self):
        return [("in", (q, q + 2.0)) for q in (1.0, 4.0, 7.0, 10.0)]

    def _inside(self, op, value):
        tests = self._value_tests()
        return np.arange(4) == tests.index((op, value)) if (op, value) in tests else None


TOML = """\
[target]
name = "ill"
classes = ["no", "yes"]

[columns.size]
type = "ordinal"
missing = true
levels = ["S", "M", "L"]

[columns.born]
type = "month"

[columns.age]
type = "numeric"
cuts = [30, 50]
"""
SIZES, MONTHS = ["S", "M", "L", None, "m", "XL"], [1, 3, 4, 6, 7, 9, 10, 12, 0, 13, None]
MADE = """
    if size = "M or more" and born in [4, 6] then yes
    else if size != "L or more" then no
    else if born not in [7, 9] then yes
    else if size is missing then no
    else yes"""


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """The one line that the registry gets."""
    for kind in (Ordinal, Month):
        assert kind.kind not in KINDS  # else this would hide a kind of the package
        monkeypatch.setitem(KINDS, kind.kind, kind)


@pytest.fixture
def schema():
    return Schema.from_toml(TOML)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 600
    made = pd.DataFrame(
        {"size": rng.choice(np.array(SIZES, object), n), "born": rng.choice(np.array(MONTHS, float), n)}
    )
    made["age"] = rng.integers(18, 80, n)
    made["ill"] = np.where(
        (made["size"].isin(["M", "L"]) & made.born.between(4, 6)) | (rng.random(n) < 0.1), "yes", "no"
    )
    return made


def patterns(private):
    found = private.patterns
    return found._words.tolist(), found.counts.tolist()


def test_it_is_read_from_toml_and_written_back(schema):
    assert schema["size"] == Ordinal("size", True, ("S", "M", "L"))
    assert schema.to_toml(header="") == TOML
    assert Schema.from_dict(schema.to_dict()) == schema
    with pytest.raises(SchemaError, match=f"there are {', '.join(KINDS)}"):
        Schema.from_dict({"columns": {"a": {"type": "day"}}})
    with pytest.raises(SchemaError, match="unknown entry 'cuts'; it may have missing, label, levels"):
        Schema.from_dict({"columns": {"a": {"type": "ordinal", "cuts": [1]}}})


def test_its_tests_are_candidates(schema):
    found = {str(rule) for rule in Candidates.of_schema(schema)}
    assert {
        'size = "M or more"',
        'size != "M or more"',
        "size is missing",
        "born in [4, 6]",
        "born not in [7, 9]",
    } <= found


def test_it_is_inferred_where_values_look_like_it():
    table = as_table(pd.DataFrame({"size": ["S", "M", "L", None], "job": ["S", "M", "x", "L"]}))
    assert [c.kind for c in infer_schema(table).columns] == ["ordinal", "categorical"]
    draft = draft_schema(table)
    assert draft.schema["size"] == Ordinal("size", True, ("S", "M", "L"))
    assert draft.comments == {"size": "sizes, from the smallest"}
    assert draft.notes == ("'size' (ordinal): sizes, from the smallest",)


@pytest.mark.parametrize(
    "classifier",
    [
        lambda schema: GreedyRuleListClassifier(max_length=3, schema=schema),
        lambda schema: DPGreedyRuleListClassifier(epsilon=20.0, max_length=3, schema=schema, random_state=0),
        lambda schema: DPOptimalRuleListClassifier(epsilon=20.0, max_length=3, schema=schema, random_state=0),
    ],
    ids=["greedy", "private greedy", "private rule list"],
)
def test_rules_about_it_are_learned_saved_and_reported(schema, frame, classifier, tmp_path):
    X = frame.drop(columns="ill")
    clf = classifier(schema)
    if isinstance(clf, GreedyRuleListClassifier):  # it stops at what the schema does not foresee
        X = X.assign(born=X.born.where(X.born.between(1, 12)), size=X["size"].where(X["size"].isin(["S", "M", "L"])))
        clf.set_params(schema=Schema.from_toml(TOML.replace('type = "month"', 'type = "month"\nmissing = true')))
    clf.fit(X, frame.ill)
    rules = clf.rule_list_
    assert {"size", "born"} & set(rules.used_columns)
    assert RuleList.parse(str(rules), rules.classes, rules.schema) == rules.without_counts()
    assert RuleList.from_json(rules.to_json()) == rules
    saved = SavedModel.of(clf)
    saved.save(tmp_path / "model.json")
    assert SavedModel.load(tmp_path / "model.json").predict(X).tolist() == clf.predict(X).tolist()
    page = to_html(saved)
    assert "<!DOCTYPE html>" in page[:20]
    assert all(name in page for name in schema.names)


@pytest.fixture
def every_pair():
    return pd.DataFrame([(s, m) for s in SIZES for m in MONTHS], columns=["size", "born"]).assign(age=40)


def test_exports_predict_as_it_does(schema, every_pair, duckdb_engine):
    import pyarrow as pa

    rules = RuleList.parse(MADE, ("no", "yes"), schema)
    expected = rules.predict(every_pair).tolist()
    assert set(expected) == {"no", "yes"}
    made = {}
    exec(rules.to_python(), made)
    records = every_pair.astype(object).where(every_pair.notna(), None).to_dict("records")
    assert [made["predict"](record) for record in records] == expected
    assert "if 6 < born < 10:" in RuleList.parse("if born in [7, 9] then 1 else 0", (0, 1), schema).to_python()
    duckdb_engine.load("months", pa.Table.from_pandas(every_pair.assign(n=range(len(every_pair)))))
    found = duckdb_engine.query(f"SELECT {rules.to_sql()} FROM months ORDER BY n")
    assert [row[0] for row in found] == expected
    for dialect in ("postgresql", "spark"):
        assert rules.to_sql(dialect).startswith("CASE")


def test_a_table_in_duckdb_gives_the_same_patterns_and_model(schema, frame, tmp_path):
    ibis = pytest.importorskip("ibis")
    expected = patterns(PrivateCounts.from_table(frame.drop(columns="ill"), frame.ill, schema))
    table = ibis.duckdb.connect().create_table("people", frame)
    assert patterns(PrivateCounts.from_source(table, schema)) == expected
    frame.to_csv(tmp_path / "people.csv", index=False)
    assert patterns(PrivateCounts.from_file(tmp_path / "people.csv", schema)) == expected
    clf = DPGreedyRuleListClassifier(epsilon=20.0, max_length=3, schema=schema, random_state=0)
    here = clf.fit(frame.drop(columns="ill"), frame.ill).rule_list_
    assert clf.fit_source(table).rule_list_ == here


def test_a_check_counts_what_it_does_not_foresee(schema, frame, tmp_path):
    found = check_table(frame.drop(columns="ill"), frame.ill, schema).columns
    assert found["size"].taken_as == {"missing": int(frame["size"].isin(["m", "XL"]).sum())}
    assert found["size"].misspelled == {"M": int((frame["size"] == "m").sum())}
    assert found["born"].taken_as == {"missing": int(frame.born.isin([0, 13]).sum())}
    frame.to_csv(tmp_path / "people.csv", index=False)
    schema.save(tmp_path / "schema.toml")
    told = CliRunner().invoke(
        main, ["check", str(tmp_path / "people.csv"), "-s", str(tmp_path / "schema.toml"), "--json"]
    )
    assert json.loads(told.output)["columns"]["size"]["taken as"] == dict(found["size"].taken_as)


def test_nobody_outside_asks_of_what_kind_a_column_is():
    home = Path(discreet.__file__).parent
    kinds = {kind.__name__ for kind in KINDS.values()}
    assert {"Numeric", "Categorical", "Boolean", "Ignored", "Date"} <= kinds
    asked = set()
    for path in home.rglob("*.py"):
        if path.parent == home / "schema" / "columns":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                asked |= {path.relative_to(home).as_posix()} if names & kinds else set()
    assert not asked


def test_property_tests_draw_every_kind_that_a_rule_may_use():
    assert set(DRAWN) == set(KINDS) - {"ignore", Ordinal.kind, Month.kind}
