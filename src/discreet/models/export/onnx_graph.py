"""A model as an ONNX graph of standard operators: an input for each column, and as outputs the label and the shares.

Each test becomes a tensor of truth values; ``Where`` takes the number of the answer from them, and ``Gather`` its label and
shares. Numbers have 64 bits, so that every comparison is the one that ``predict`` makes, and NaN is a missing one. A string
cannot be missing in ONNX, so one string has to stand for that.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ... import __version__
from ..._utils.errors import RuleError
from ..._utils.escaping import is_unicode
from ...schema.columns.dates import DayBins
from ...schema.columns.values import TextBins, TruthBins
from ..model import Model
from ..partition import DOUBLING, FARTHEST
from ..tree import Tree
from .chains import Chain, NumberTest, Test, chains_of, kinds_of, outcomes_of, type_of

OPSETS = {"": 17, "ai.onnx.ml": 3}  # of 2022: whatever runs ONNX today has these
IR_VERSION = 8  # likewise
OPERATORS = {"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual"}
ARRAYS: dict[str, Any] = {"text": object, "boolean": np.bool_, "integer": np.int64, "number": np.float64}
BOOL = 9  # a type of tensors, as the format numbers them
# Truth values cannot be missing in ONNX, so they are numbers there
LACKS = {TextBins: ("boolean",), TruthBins: ("boolean", "text"), DayBins: ("date",)}
RECORD = "record"  # the input of a model that looks at no column: so many values, so many predictions


def to_onnx(model: Model, types: Mapping[str, str] | None, missing: str) -> bytes:
    """See ``Model.to_onnx``."""
    try:
        from onnx import helper, numpy_helper
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install 'discreet[onnx]'") from None
    kinds = kinds_of(model, types, "ONNX", LACKS)
    chains = chains_of(model, kinds)
    _check_texts(model, kinds, missing)
    labels, shares, shares_name = _labels(model), model.answer_shares, ""

    inputs = kinds or {RECORD: "integer"}
    graph, first = _Graph(inputs, missing), next(iter(inputs))
    if model.has_points_by_class:
        answer, shares_name = graph.by_class(chains, first)
    elif model.has_points:
        total = graph.total(graph.parts(chains, by_class=False))
        answer = graph.first_true([graph.compared(total, "<", limit) for limit in model.limits])
    elif isinstance(model, Tree):
        answer = graph.below(chains[0])
    else:
        answer = graph.end_of(chains[0])
    one_each = graph.node("Expand", answer, graph.node("Shape", first))
    flat = graph.node("Reshape", one_each, graph.constant([-1]))
    named = {graph.node("Gather", graph.constant(labels), flat, called="label"): labels}
    named[shares_name or graph.node("Gather", graph.constant(shares), flat, called="probabilities")] = shares

    def declared(name: str, array: np.ndarray, *width: int) -> Any:
        """An input or output of the graph: as many rows as there are records, of the type of an array."""
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), ["records", *width])

    proto = helper.make_model(
        helper.make_graph(
            [
                helper.make_node(op, taken, [name], domain=domain, **dict(attributes))
                for (op, taken, domain, attributes), name in graph.nodes.items()
            ],
            f"discreet {model.kind}",
            [declared(name, np.zeros(0, ARRAYS[kind]), 1) for name, kind in inputs.items()],
            [declared(name, rows, *rows.shape[1:]) for name, rows in named.items()],
            [numpy_helper.from_array(rows, name) for name, rows in graph.constants.values()],
        ),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in OPSETS.items()],
        ir_version=IR_VERSION,
        producer_name="discreet",
        producer_version=__version__,
    )
    helper.set_model_props(proto, {"classes": json.dumps(model.classes), "missing": json.dumps(missing)})
    written: bytes = proto.SerializeToString(deterministic=True)
    return written


def _check_texts(model: Model, kinds: Mapping[str, str], missing: str) -> None:
    if not isinstance(missing, str) or not is_unicode(missing):
        raise RuleError("missing must be the string that stands for a missing one")
    for name, kind in kinds.items():
        assert model.schema is not None
        if not is_unicode(name):
            raise RuleError(f"ONNX cannot have an input of the name {name!r}; rename the column")
        bins = model.schema[name].value_bins
        if kind == "text" and isinstance(bins, TextBins) and missing in bins.bin_of:
            raise RuleError(
                f"column {name!r} has the category {missing!r}, which would stand for missing values in ONNX; "
                "say another string with missing="
            )


def _labels(model: Model) -> np.ndarray:
    """The label of each answer, as a tensor has them."""
    outcomes = outcomes_of(model)
    of = type_of(outcomes, model.kind, "ONNX")
    if of == "text" and not all(is_unicode(str(label)) for label in outcomes):
        raise RuleError(f"a label of the {model.kind} has characters that ONNX cannot hold")
    return np.array(outcomes, ARRAYS[of])


class _Graph:
    """Nodes by what they compute, so that nothing is computed twice, and constants by their names."""

    def __init__(self, inputs: Iterable[str], missing: str) -> None:
        self.missing = missing
        self.nodes: dict[tuple[Any, ...], str] = {}
        self.constants: dict[tuple[Any, ...], tuple[str, np.ndarray]] = {}
        self._taken = set(inputs)

    def _name(self, base: str) -> str:
        """A name that nothing has."""
        name = base if base in ("label", "probabilities") else f"{base}_{len(self._taken)}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def node(self, op: str, *inputs: str, domain: str = "", called: str | None = None, **attributes: Any) -> str:
        """The output of an operator."""
        key = (op, inputs, domain, tuple(attributes.items()))
        if key not in self.nodes:
            self.nodes[key] = self._name(called or op)
        return self.nodes[key]

    def constant(self, values: Any) -> str:
        """A tensor that is the same for all records."""
        array = np.asarray(values)
        array = array.astype(np.int64) if array.dtype.kind == "i" else array
        key = (array.dtype.str, array.shape, str(array.tolist()))
        if key not in self.constants:
            self.constants[key] = self._name("constant"), array
        return self.constants[key][0]

    def all_of(self, parts: Iterable[str]) -> str:
        """Where all are true."""
        return reduce(lambda a, b: self.node("And", a, b), parts)

    def any_of(self, parts: Iterable[str]) -> str:
        """Where one is true; of nothing, nowhere."""
        return reduce(lambda a, b: self.node("Or", a, b), [*parts] or [self.constant(False)])

    def compared(self, x: str, op: str, number: float) -> str:
        """A comparison, which is false of NaN."""
        return self.node(OPERATORS[op], x, self.constant(float(number)))

    def first_true(self, conditions: Sequence[str]) -> str:
        """The number of the first condition that is true, or how many there are."""
        found = self.constant(len(conditions))
        for number, condition in reversed([*enumerate(conditions)]):
            found = self.node("Where", condition, self.constant(number), found)
        return found

    def below(self, chain: Chain) -> str:
        """The number of the leaf at the end of a chain of a tree."""
        found = self.constant(chain.last)
        for tests, end in reversed(chain.ways):
            there = self.below(end)
            found = self.node("Where", self.all_of(map(self.test, tests)), there, found)
        return found

    def end_of(self, chain: Chain) -> str:
        """The number of the end of a chain that has no others below."""
        return self.first_true([self.all_of(map(self.test, tests)) for tests, _ in chain.ways])

    def parts(self, chains: Iterable[Chain], by_class: bool) -> Iterator[str]:
        """The points of each chain."""
        for chain in chains:
            points = self.constant(chain.points if by_class else [number for (number,) in chain.points])
            yield self.node("Gather", points, self.end_of(chain))

    def total(self, parts: Iterable[str]) -> str:
        """The sum of points, in the order in which ``predict`` adds them."""
        return reduce(lambda a, b: self.node("Add", a, b), parts)

    def by_class(self, chains: Sequence[Chain], first: str) -> tuple[str, str]:
        """Of a sum of points for each class, the number of the first class with the largest, and the shares of all."""
        total, n = self.total([*self.parts(chains, by_class=True)]), len(chains[0].points[0])
        size = self.node("Concat", self.node("Shape", first), self.constant([n]), axis=0)
        total = self.node("Expand", total, size)  # (records, 1, classes)
        flat = self.node("Reshape", total, self.constant([-1, n]))
        own, other = (self.node("Unsqueeze", flat, self.constant([axis])) for axis in (2, 1))
        odds = self.node("Div", self.node("Sub", other, own), self.constant(float(DOUBLING)))
        within = self.node("Clip", odds, self.constant(float(-FARTHEST)), self.constant(float(FARTHEST)))
        powers = self.node("Pow", self.constant(2.0), within)
        whole = self.node("ReduceSum", powers, self.constant([2]), keepdims=0)
        shares = self.node("Div", self.constant(1.0), whole, called="probabilities")
        return self.node("ArgMax", total, axis=2, keepdims=0), shares

    def test(self, test: Test) -> str:
        """Where a test is true."""
        x = test.column
        if isinstance(test, NumberTest):
            within, compared = (
                [self.compared(x, op, end) for op, end in some] for some in (test.within, test.comparisons)
            )
            if test.missing:
                return self.node("Not", self.all_of(within)) if within else self.node("IsNaN", x)
            compared = [self.any_of(compared)] if test.either else compared
            return self.all_of([*compared, *within] or [self.node("Not", self.node("IsNaN", x))])
        if test.kind == "text":
            # One look into a table for all that are listed, and for what stands for a missing string
            found = {text: int(test.inside) for text in test.listed if is_unicode(text)}
            found[self.missing] = int(test.missing)
            keys, values, other = tuple(found), tuple(found.values()), int(not test.inside)
            table: dict[str, Any] = {"keys_strings": keys, "values_int64s": values, "default_int64": other}
            looked_up = self.node("LabelEncoder", x, domain="ai.onnx.ml", **table)
            return self.node("Cast", looked_up, to=BOOL)
        listed = self.any_of(self.node("Equal", x, self.constant(number)) for number in test.listed)
        if test.of_truths:  # 1 is true, 0 is false, and all else is missing
            return listed if test.inside else self.node("Not", listed)
        is_nan = self.node("IsNaN", x)
        if test.inside:
            return self.any_of([listed, is_nan]) if test.missing else listed
        outside = self.node("Not", listed)  # also true of NaN
        return outside if test.missing else self.all_of([outside, self.node("Not", is_nan)])
