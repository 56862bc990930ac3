"""A model as PMML 4.4: a RuleSetModel whose first rule that is true decides; of a tree, a TreeModel; of points, a Scorecard.

In PMML a comparison with a missing value is unknown, and what is unknown does not fire: a missing value satisfies no test but "is
missing", there as here. What the schema says of values that it does not foresee stands in the predicates, and nothing is left to
PMML's own treatment of missing, invalid or extreme values.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ... import __version__
from ..._utils.errors import RuleError
from ...schema.columns import NEGATION
from ...schema.columns.dates import DayBins
from ...schema.columns.values import TextBins, TruthBins
from ..model import Model
from ..partition import TOTAL
from ..tree import Tree
from .chains import Chain, NumberTest, Test, chains_of, kinds_of, type_of

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
OPERATORS = {"<": "lessThan", "<=": "lessOrEqual", ">": "greaterThan", ">=": "greaterOrEqual"}
BEYOND_INTEGER = 2**31  # PMML does not say how long an integer is; JPMML has 32 bits
# What types are called, and how labels of each are written
TYPES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "text": ("string", str),
    "number": ("double", lambda label: repr(float(label))),
    "boolean": ("boolean", lambda label: "true" if label else "false"),
    "integer": ("integer", lambda label: str(int(label))),
}
LACKS = {TextBins: ("boolean",), TruthBins: ("text",), DayBins: ("date",)}
IS_NUMBER = {"optype": "continuous", "dataType": "double"}


def to_pmml(model: Model, types: Mapping[str, str] | None, as_tree: bool) -> str:
    """See ``Model.to_pmml``."""
    if model.has_points_by_class:
        raise RuleError(
            f"the {model.kind} has points for each of {len(model.classes)} classes, and a Scorecard of PMML adds up one total; "
            "write SQL, Python or ONNX"
        )
    root = _Writer(model, types).document(as_tree)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _of(tag: str, /, *parts: Element, text: str | None = None, **attributes: str) -> Element:
    """An element with these parts."""
    element = Element(tag, attributes)
    element.text = text
    element.extend(parts)
    return element


def _output(name: str, kind: Mapping[str, str], feature: str, *parts: Element, **more: str) -> Element:
    return _of("OutputField", *parts, name=name, **kind, feature=feature, **more)


def _held(text: str, what: str) -> str:
    """A text that XML can hold. There is no way to write most control characters."""
    if NOT_IN_XML.search(text):
        raise RuleError(f"{what} has characters that XML cannot hold, and PMML is XML; rename it")
    return text


def _free(name: str, taken: set[str]) -> str:
    """A name that no field has yet."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


class _Writer:
    """The labels as PMML writes them; the fields for the label, and for the share of each class; and what gives them."""

    def __init__(self, model: Model, types: Mapping[str, str] | None) -> None:
        self.model, self.kinds = model, kinds_of(model, types, "PMML", LACKS)
        self.chains = chains_of(model, self.kinds)
        kind = type_of(model.classes, model.kind, "PMML")
        if kind == "integer" and any(not -BEYOND_INTEGER <= int(label) < BEYOND_INTEGER for label in model.classes):
            raise RuleError(
                f"a label of the {model.kind} is an integer of more than 32 bits, which evaluators of PMML do not have; "
                "use strings as labels"
            )
        data_type, write = TYPES[kind]
        self.texts = [_held(write(label), f"a label of the {model.kind}") for label in model.classes]
        taken = set(self.kinds)
        named = "label" if model.schema is None or model.schema.target is None else model.schema.target
        self.target = _free(_held(named, "the name of the target"), taken)
        self.predicted = _free(f"predicted({self.target})", taken)
        names = "rule", TOTAL, "confidence", *map("probability({})".format, self.texts)
        self.rule, self.total, self.confidence, *self.share_names = (_free(name, taken) for name in names)
        self.is_label = {"optype": "categorical", "dataType": data_type}
        self.places = [model.classes.index(answer.label) for answer in model.answers]
        self.shares = model.answer_shares.tolist()

    def document(self, as_tree: bool) -> Element:
        fields = []
        for name, kind in self.kinds.items():
            # categories that are numbers are continuous, too: PMML4S compares the places of categorical numbers, not the numbers
            optype, held = "continuous" if kind == "number" else "categorical", _held(name, f"column {name!r}")
            fields.append(_of("DataField", name=held, optype=optype, dataType=TYPES[kind][0]))
        values = (_of("Value", value=text) for text in self.texts)
        fields.append(_of("DataField", *values, name=self.target, **self.is_label))

        is_tree = as_tree or (isinstance(self.model, Tree) and self.model.depth > 0)
        tag = "Scorecard" if self.model.has_points else "TreeModel" if is_tree else "RuleSetModel"
        used = {"functionName": "classification", "algorithmName": f"discreet {self.model.kind}"}
        mined = [_of("MiningField", name=name, invalidValueTreatment="asIs") for name in self.kinds]
        if tag == "Scorecard":  # what it predicts is the total; the label follows from it
            used |= {"functionName": "regression", "initialScore": "0.0", "useReasonCodes": "false"}
            inside = self._characteristics()
        else:
            mined.insert(0, _of("MiningField", name=self.target, usageType="target"))
            inside = self._tree(self.chains[0]) if is_tree else self._rules(self.chains[0])
        return _of(
            "PMML",
            _of("Header", _of("Application", name="discreet", version=__version__)),
            _of("DataDictionary", *fields, numberOfFields=str(len(fields))),
            _of(tag, _of("MiningSchema", *mined), self._outputs(tag), inside, **used),
            xmlns="http://www.dmg.org/PMML-4_4",
            version="4.4",
        )

    def _outputs(self, tag: str) -> Element:
        """The label, the number of the rule or leaf or else the total, and the share of each class.

        Rules of PMML have no probabilities, only the confidence in their label, and of a total the label follows, too. So the
        shares are looked up by the rule, or by the range that the total is in.
        """
        if tag == "Scorecard":
            # PMML4S looks up strings only, and loses what XML escapes in a constant
            of, looked_up = self.is_label["dataType"], self._by_range
            label = (looked_up if of == "string" else self._choice)([self.texts[place] for place in self.places], of)
            fields = [_output(self.total, IS_NUMBER, "predictedValue")]
            fields.append(_output(self.predicted, self.is_label, "transformedValue", label))
        else:
            looked_up, is_text = self._by_rule, {"optype": "categorical", "dataType": "string"}
            fields = [_output(self.predicted, self.is_label, "predictedValue"), _output(self.rule, is_text, "entityId")]
        if tag == "RuleSetModel":
            fields.append(_output(self.confidence, IS_NUMBER, "confidence"))
        for name, text, shares in zip(self.share_names, self.texts, zip(*self.shares, strict=True), strict=True):
            if tag == "TreeModel":
                fields.append(_output(name, IS_NUMBER, "probability", value=text))
            else:
                fields.append(_output(name, IS_NUMBER, "transformedValue", looked_up([*map(repr, shares)], "double")))
        return _of("Output", *fields)

    def _by_rule(self, values: Sequence[str], of: str) -> Element:
        """A value for each rule."""
        rows = (_of("row", _of("rule", text=str(i)), _of("share", text=value)) for i, value in enumerate(values, 1))
        pair = _of("FieldColumnPair", field=self.rule, column="rule")
        return _of("MapValues", pair, _of("InlineTable", *rows), outputColumn="share", dataType=of)

    def _choice(self, labels: Sequence[str], of: str) -> Element:
        """Where the total is below a limit, a label, else what follows."""
        chosen = _of("Constant", text=labels[-1], dataType=of)
        for limit, (label, following) in reversed([*zip(self.model.limits, pairwise(labels), strict=True)]):
            if label != following:
                number = _of("Constant", text=repr(float(limit)), dataType="double")
                below = _of("Apply", _of("FieldRef", field=self.total), number, function="lessThan")
                chosen = _of("Apply", below, _of("Constant", text=label, dataType=of), chosen, function="if")
        return chosen

    def _by_range(self, values: Sequence[str], of: str) -> Element:
        """A value for each range of totals; each begins where the one before ends."""
        limits = [repr(float(limit)) for limit in self.model.limits]
        ends = [{"leftMargin": repr(-sys.float_info.max)}]  # an interval needs an end
        for limit in limits:
            ends[-1]["rightMargin"] = limit
            ends.append({"leftMargin": limit})
        intervals = (_of("Interval", closure="closedOpen", **own) for own in ends)
        bins = (_of("DiscretizeBin", own, binValue=value) for value, own in zip(values, intervals, strict=True))
        return _of("Discretize", *bins, field=self.total, dataType=of)

    def _characteristics(self) -> Element:
        """The tables of a card, in order: the first attribute that is true gives its points. The start is one of them, too."""
        tables = []
        for number, chain in enumerate(self.chains):
            columns = list({test.column for tests, _ in chain.ways for test in tests})
            name = columns[0] if number and len(columns) == 1 else f"table {number}" if number else "start"
            ways = zip(self._ways(chain), chain.points, strict=True)
            rows = (_of("Attribute", predicate, partialScore=repr(float(score))) for (predicate, _), (score,) in ways)
            tables.append(_of("Characteristic", *rows, name=name))
        return _of("Characteristics", *tables)

    def _rules(self, chain: Chain) -> Element:
        rules = [_of("RuleSelectionMethod", criterion="firstHit")]
        for i, (predicate, _) in enumerate(self._ways(chain)):
            score, confidence = self.texts[self.places[i]], repr(self.shares[i][self.places[i]])
            said = (predicate, *self._distribution(i))
            rules.append(_of("SimpleRule", *said, id=str(i + 1), score=score, confidence=confidence))
        return _of("RuleSet", *rules)

    def _tree(self, chain: Chain) -> Element:
        """Below a node, the first whose predicate is true is taken. Leaves are numbered as answers are."""
        splits = count(1)

        def nodes(chain: Chain) -> Iterator[Element]:
            for predicate, end in self._ways(chain):
                if end.ways:
                    split = f"split {next(splits)}"
                    yield _of("Node", predicate, *nodes(end), id=split)
                else:
                    score, leaf = self.texts[self.places[end.last]], str(end.last + 1)
                    yield _of("Node", predicate, *self._distribution(end.last), id=leaf, score=score)

        return _of("Node", Element("True"), *nodes(chain), id="root")

    def _distribution(self, i: int) -> Iterator[Element]:
        """The share of each class in an answer, and the count that it comes from; without counts, the share again."""
        counts = self.model.answers[i].counts
        records = self.shares[i] if counts is None else self.model.answers[i].positive
        for text, share, number in zip(self.texts, self.shares[i], records, strict=True):
            yield _of("ScoreDistribution", value=text, recordCount=repr(number), probability=repr(share))

    def _ways(self, chain: Chain) -> list[tuple[Element, Chain]]:
        """Predicates, and what follows where each is the first that is true. The last one is always true."""
        ways = [(_joined("and", [*map(_predicate, tests)]), end) for tests, end in chain.ways]
        return [*ways, (Element("True"), Chain((), chain.last))]


def _simple(column: str, operator: str, **value: str) -> Element:
    return _of("SimplePredicate", field=column, operator=operator, **value)


def _joined(operator: str, parts: Sequence[Element]) -> Element:
    """All of them, or one of them. Of nothing, all is true and one is false."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Element("True" if operator == "and" else "False")
    return _of("CompoundPredicate", *parts, booleanOperator=operator)


def _predicate(test: Test) -> Element:
    """A test. Where a value is missing it is false or unknown, unless it is true of missing values."""
    missing, known = _simple(test.column, "isMissing"), _simple(test.column, "isNotMissing")
    if isinstance(test, NumberTest):
        if test.missing:
            beyond = [_simple(test.column, OPERATORS[NEGATION[op]], value=repr(end)) for op, end in test.within]
            return _joined("or", [missing, *beyond])
        compared = [_simple(test.column, OPERATORS[op], value=repr(float(cut))) for op, cut in test.comparisons]
        if test.either:
            compared = [_joined("or", compared)]
        within = [_simple(test.column, OPERATORS[op], value=repr(end)) for op, end in test.within]
        return _joined("and", [*compared, *within] or [known])
    # Each category in a predicate of its own: what quotation marks mean in PMML's arrays, evaluators do not agree on
    listed: Sequence[str | float] = test.listed
    if test.of_truths:
        listed = [str(bool(value)).lower() if test.kind == "boolean" else str(int(value)) for value in test.listed]
    elif test.kind == "text":
        listed = [_held(text, f"a category of column {test.column!r}") for text in test.listed]
    parts = [_is_category(test.column, value, test.inside) for value in listed]
    if test.inside:
        return _joined("or", [missing, *parts] if test.missing else parts)
    return _joined("or", [missing, _joined("and", parts)]) if test.missing else _joined("and", parts or [known])


def _is_category(column: str, value: str | float, wanted: bool) -> Element:
    """Whether a value is the category. An infinite number is what is beyond all others: no word for it is read by everyone."""
    if isinstance(value, str):
        return _simple(column, "equal" if wanted else "notEqual", value=value)
    if math.isfinite(value):
        return _is_category(column, repr(value), wanted)
    beyond, within = ("greaterThan", "lessOrEqual") if value > 0 else ("lessThan", "greaterOrEqual")
    return _simple(column, beyond if wanted else within, value=repr(math.copysign(sys.float_info.max, value)))
