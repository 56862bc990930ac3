"""What runs exported models: onnxruntime; a reader of PMML as its specification has it; and, where they are installed, JPMML and
PMML4S, which need Java (``pip install -e '.[test,test-exports]'``).

Each takes a model, columns of plain values (None where one is missing) and what the columns are, and gives labels and shares. The
shares are None where a scorer gives none.
"""

import json
import math
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from discreet import Boolean, Numeric

MISSING = "\x7f no value"  # a string that no table here has
NAMESPACE = "{http://www.dmg.org/PMML-4_4}"


def kind_of(column, types):
    """What a column is in ONNX and PMML by default, or as said."""
    if isinstance(column, Numeric):
        return "number"
    expected = "boolean" if isinstance(column, Boolean) else column.value_bins.types[0]
    return types.get(column.name, expected)


class Onnx:
    """onnxruntime. Truth values are numbers."""

    name = "onnx"

    def __call__(self, model, columns, types=None):
        import onnx
        import onnxruntime

        types = {name: kind for name, kind in (types or {}).items() if kind != "boolean"}
        written = model.to_onnx(types, MISSING)
        onnx.checker.check_model(written, full_check=True)
        alone = onnxruntime.SessionOptions()
        alone.intra_op_num_threads = alone.inter_op_num_threads = (
            1  # waiting threads would take the time of other tests
        )
        session = onnxruntime.InferenceSession(written, alone, providers=["CPUExecutionProvider"])
        feeds = {put.name: self._fed(put, columns) for put in session.get_inputs()}
        labels, shares = session.run(None, feeds)
        return labels.tolist(), shares

    @staticmethod
    def _fed(put, columns):
        if put.type == "tensor(int64)":  # of a model that looks at no column
            return np.zeros((len(next(iter(columns.values()))), 1), np.int64)
        return onnx_column(columns[put.name], put.type == "tensor(string)")


def onnx_column(values, is_text):
    """A column of plain values as ONNX takes it."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fbiu":
        return values.astype(np.float64).reshape(-1, 1)
    array = np.empty((len(values), 1), object if is_text else np.float64)
    array[:, 0] = [(MISSING if is_text else math.nan) if v is None else v for v in values]
    return array


class ReadPmml:
    """PMML as its specification says: three truth values; the first rule, or the first node, that is true."""

    def __init__(self, as_tree=False):
        self.as_tree = as_tree
        self.name = f"{type(self).__name__} as tree" if as_tree else type(self).__name__

    def __call__(self, model, columns, types=None):
        root = ElementTree.fromstring(model.to_pmml(types, self.as_tree))
        field_types = {f.get("name"): f.get("dataType") for f in root.iter(f"{NAMESPACE}DataField")}
        if (card := root.find(f"{NAMESPACE}Scorecard")) is not None:
            return self._of_card(card, columns, field_types)
        target = root.find(f".//{NAMESPACE}MiningField[@usageType='target']").get("name")
        rules = [rule_or_node(rule) for rule in root.iter(f"{NAMESPACE}SimpleRule")]
        top = rules or [rule_or_node(root.find(f"{NAMESPACE}TreeModel/{NAMESPACE}Node"))]
        labels, shares = [], []
        for i in range(len(next(iter(columns.values())))):
            record = {name: without_nan(values[i]) for name, values in columns.items()}
            found = first_true(top, record, field_types)
            labels.append(parsed(found.get("score"), field_types[target]))
            shares.append([float(d.get("probability")) for d in found.findall(f"{NAMESPACE}ScoreDistribution")])
        return labels, np.array(shares)

    @staticmethod
    def _of_card(card, columns, types):
        """The initial score and the first attribute of each characteristic that is true; then what the total means."""
        total, *fields = card.iter(f"{NAMESPACE}OutputField")
        assert total.get("feature") == "predictedValue"
        found = []
        for i in range(len(next(iter(columns.values())))):
            record = {name: without_nan(values[i]) for name, values in columns.items()}
            score = float(card.get("initialScore"))
            for table in card.iter(f"{NAMESPACE}Characteristic"):
                first = next(row for row in table if truth(row[0], record, types))
                score += float(first.get("partialScore"))
            found.append([chosen(field[0], score, field.get("dataType")) for field in fields])
        return [row[0] for row in found], np.array([row[1:] for row in found], float)


def chosen(element, score, of):
    """By `if`, as deep as it goes, or by ranges."""
    if element.tag == f"{NAMESPACE}Constant":
        return parsed(element.text or "", element.get("dataType"))
    if element.tag == f"{NAMESPACE}Discretize":
        return parsed(discretized(element, score), of)
    assert element.get("function") == "if"
    below, then, other = element
    field, limit = below
    assert (below.get("function"), field.get("field")) == ("lessThan", "total")
    return chosen(then if score < float(limit.text) else other, score, of)


def discretized(table, score):
    assert table.get("field") == "total"
    for place in table:
        (interval,) = place
        low, high = (interval.get(name) for name in ("leftMargin", "rightMargin"))
        assert interval.get("closure") == "closedOpen"
        if float(low) <= score and (high is None or score < float(high)):
            return place.get("binValue")
    raise AssertionError("no range has this total")


def rule_or_node(element):
    predicate = next(child for child in element if child.tag.removeprefix(NAMESPACE) in PREDICATES)
    return predicate, element, [rule_or_node(node) for node in element.findall(f"{NAMESPACE}Node")]


def first_true(candidates, record, types):
    for predicate, element, below in candidates:
        if truth(predicate, record, types):
            return first_true(below, record, types) if below else element
    raise AssertionError("no rule or node is true")


PREDICATES = ("True", "False", "SimplePredicate", "CompoundPredicate")
COMPARISONS = {
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
    "lessThan": lambda a, b: a < b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "greaterOrEqual": lambda a, b: a >= b,
}


def truth(predicate, record, types):
    """True, False, or None if it is unknown."""
    match predicate.tag.removeprefix(NAMESPACE):
        case "True":
            return True
        case "False":
            return False
        case "SimplePredicate":
            field, operator = predicate.get("field"), predicate.get("operator")
            if operator in ("isMissing", "isNotMissing"):
                return (record[field] is None) == (operator == "isMissing")
            if record[field] is None:
                return None
            return COMPARISONS[operator](record[field], parsed(predicate.get("value"), types[field]))
    parts = [truth(part, record, types) for part in predicate]
    decides = predicate.get("booleanOperator") == "or"
    return decides if decides in parts else None if None in parts else not decides


def parsed(text, of):
    return {"string": str, "double": float, "integer": int, "boolean": {"true": True, "false": False}.get}[of](text)


def without_nan(value):
    return None if isinstance(value, float) and math.isnan(value) else value


class Jpmml(ReadPmml):
    """JPMML-Evaluator, in a Java machine within this process."""

    def __call__(self, model, columns, types=None):
        import jpmml_evaluator
        import pandas as pd

        with written_file(model.to_pmml(types, self.as_tree)) as path:
            evaluator = jpmml_evaluator.make_evaluator(path)
            evaluator.verify()
        fields = [field.getName() for field in evaluator.getOutputFields()]
        named = {field.getName() for field in evaluator.getInputFields()}
        table = pd.DataFrame({n: as_objects(values) for n, values in columns.items() if n in named}, dtype=object)
        if named:
            found = evaluator.evaluateAll(table)
            assert "errors" not in found, found["errors"].dropna().iloc[0]
        else:  # of a table without columns it does not see how many records there are
            found = pd.DataFrame([evaluator.evaluate({})] * len(next(iter(columns.values()))))
        shares = [name for name in fields if name.startswith("probability(")]
        return found[label_among(fields)].tolist(), found[shares].to_numpy(float)


class PyPmml(ReadPmml):
    """PMML4S, by pypmml. Of rules it knows the confidence in the label only. (It would round the numbers of a data frame.)"""

    def __call__(self, model, columns, types=None):
        import pandas as pd
        from pypmml import Model

        with written_file(model.to_pmml(types, self.as_tree)) as path:
            read = Model.fromFile(path)
        rows = [list(row) for row in zip(*(as_objects(values) for values in columns.values()), strict=True)]
        if len(rows) <= AT_A_TIME:
            found = pd.DataFrame([dict(read.predict(dict(zip(columns, row, strict=True)))) for row in rows])
        else:
            found = pd.concat([self._of_many(read, list(columns), part) for part in in_parts(rows)], ignore_index=True)
        shares = [name for name in read.outputNames if name.startswith("probability(")]
        given = None if found[shares].isna().all(axis=None) else found[shares].to_numpy(float)
        return found[label_among(read.outputNames)].tolist(), given

    @staticmethod
    def _of_many(read, names, rows):
        """By JSON, which has no infinite numbers: the largest go instead. A missing truth value would be read as false there."""
        import pandas as pd

        ends = {math.inf: sys.float_info.max, -math.inf: -sys.float_info.max}
        finite = [[ends.get(value, value) for value in row] for row in rows]
        said = json.loads(read.predict(json.dumps({"columns": names, "data": finite})))
        found = [dict(zip(said["columns"], row, strict=True)) for row in said["data"]]
        truths = [i for i, values in enumerate(zip(*rows, strict=True)) if True in values or False in values]
        for number, row in enumerate(rows):
            if any(row[i] is None for i in truths):
                found[number] = dict(read.predict(dict(zip(names, row, strict=True))))
        return pd.DataFrame(found)


AT_A_TIME = 20_000


def in_parts(rows):
    return [rows[i : i + AT_A_TIME] for i in range(0, len(rows), AT_A_TIME)]


def as_objects(values):
    return [None if isinstance(v, float) and math.isnan(v) else v for v in np.asarray(values, object).tolist()]


class written_file:
    """A file with a text in it, for a while."""

    def __init__(self, text):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "model.pmml"
        self.path.write_text(text, encoding="utf-8", newline="")

    def __enter__(self):
        return str(self.path)

    def __exit__(self, *_):
        self.folder.cleanup()


def label_among(names):
    """The field with the label. Before that of a card is its total."""
    return names[1] if names[0] == "total" else names[0]


NEEDS = {Jpmml: "jpmml_evaluator", PyPmml: "pypmml"}
SCORERS = [Onnx(), ReadPmml(), ReadPmml(as_tree=True)]
IN_JAVA = [Jpmml(), Jpmml(as_tree=True), PyPmml(), PyPmml(as_tree=True)]


def skip_unless_installed(scorer):
    package = NEEDS.get(type(scorer), "onnxruntime")
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    if type(scorer) in NEEDS and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")


@pytest.fixture(
    params=[*SCORERS, *(pytest.param(s, marks=pytest.mark.slow) for s in IN_JAVA)], ids=lambda scorer: scorer.name
)
def scorer(request):
    skip_unless_installed(request.param)
    return request.param
