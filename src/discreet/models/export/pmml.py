"""A model as PMML 4.4: a RuleSetModel whose first rule that is true decides; of a tree, a TreeModel; of points, a Scorecard.

In PMML a comparison with a missing value is unknown, and what is unknown does not fire: a missing value satisfies no test but "is
missing", there as here. What the schema says of values that it does not foresee stands in the predicates, and nothing is left to
PMML's own treatment of missing, invalid or extreme values.
"""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import count, pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from ... import __version__
from ..._utils.errors import RuleError
from ...schema import Label
from ...schema.columns.values import TextBins, TruthBins
from ..model import Model
from ..partition import TOTAL
from ..tree import Tree
from .chains import Chain, Chains, ListedTest, NumberTest, Test, chains_of, exact_numbers, kinds_of, label_type

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
OPERATORS = {"<": "lessThan", "<=": "lessOrEqual", ">": "greaterThan", ">=": "greaterOrEqual"}
OPPOSITE = {">=": "<", "<=": ">"}
BEYOND_INTEGER = 2**31  # PMML does not say how long an integer is; JPMML has 32 bits
TYPES = {"text": "string", "number": "double", "boolean": "boolean", "integer": "integer"}
LACKS = {TextBins: ("boolean",), TruthBins: ("text",)}
NUMBER = {"optype": "continuous", "dataType": "double"}


def to_pmml(model: Model, types: Mapping[str, str] | None = None, as_tree: bool = False) -> str:
    """See ``Model.to_pmml``."""
    made = chains_of(model)
    if made.by_class:
        raise RuleError(
            f"the {model.kind} has points for each of {len(model.classes)} classes, and a Scorecard of PMML adds up one total; "
            "write SQL, Python or ONNX"
        )
    root = _Writer(model, made, kinds_of(model, made, types, "PMML", LACKS)).document(as_tree)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


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


Way = tuple[Element, Chain | int]  # a predicate, and what follows where it is the first that is true


class _Writer:
    """The labels as PMML writes them; the fields for the label, and for the share of each class; and what gives them."""

    def __init__(self, model: Model, made: Chains, kinds: Mapping[str, str]) -> None:
        self.model, self.made, self.kinds = model, made, kinds
        self.type = label_type(model.classes, model.kind, "PMML")
        if self.type == "integer" and any(
            not -BEYOND_INTEGER <= int(label) < BEYOND_INTEGER for label in model.classes
        ):
            raise RuleError(
                f"a label of the {model.kind} is an integer of more than 32 bits, which evaluators of PMML do not have; "
                "use strings as labels"
            )
        self.texts = [_held(self._text(label), f"a label of the {model.kind}") for label in model.classes]
        named = "label" if model.schema is None or model.schema.target is None else model.schema.target
        taken = set(kinds)
        self.target = _free(_held(named, "the name of the target"), taken)
        label = {"optype": "categorical", "dataType": TYPES[self.type]}
        self.label = {"name": _free(f"predicted({self.target})", taken), **label}
        self.rule = _free("rule", taken)
        self.total = _free(TOTAL, taken)
        self.confidence = _free("confidence", taken)
        self.share_fields = [{"name": _free(f"probability({text})", taken), **NUMBER} for text in self.texts]
        self.target_field = {"name": self.target, **label}
        self.places = [model.classes.index(answer.label) for answer in model.answers]
        self.shares = model.answer_shares.tolist()

    def _text(self, label: Label) -> str:
        if self.type == "text":
            return str(label)
        if self.type == "boolean":
            return "true" if label else "false"
        return str(int(label)) if self.type == "integer" else repr(float(label))

    def document(self, as_tree: bool) -> Element:
        """All of it."""
        root = Element("PMML", xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
        SubElement(SubElement(root, "Header"), "Application", name="discreet", version=__version__)
        dictionary = SubElement(root, "DataDictionary", numberOfFields=str(len(self.kinds) + 1))
        for name, kind in self.kinds.items():
            # categories that are numbers are continuous, too: PMML4S compares the places of categorical numbers, not the numbers
            optype, held = "continuous" if kind == "number" else "categorical", _held(name, f"column {name!r}")
            SubElement(dictionary, "DataField", name=held, optype=optype, dataType=TYPES[kind])
        field = SubElement(dictionary, "DataField", self.target_field)
        for text in self.texts:
            SubElement(field, "Value", value=text)

        (first, *_), points = self.made.chains, self.made.points
        is_tree = as_tree or (isinstance(self.model, Tree) and self.model.depth > 0)
        tag = "Scorecard" if points else "TreeModel" if is_tree else "RuleSetModel"
        function = "regression" if points else "classification"
        said = SubElement(root, tag, functionName=function, algorithmName=f"discreet {self.model.kind}")
        if points:
            said.attrib.update(initialScore="0.0", useReasonCodes="false")
        mining = SubElement(said, "MiningSchema")
        if not points:  # what a Scorecard predicts is the total; the label follows from it
            SubElement(mining, "MiningField", name=self.target, usageType="target")
        for name in self.kinds:
            SubElement(mining, "MiningField", name=name, invalidValueTreatment="asIs")
        if points:
            self._add_outputs_of_totals(said)
            self._add_characteristics(said)
        elif is_tree:
            self._add_outputs(said, of_rules=False)
            node = SubElement(said, "Node", id="root")
            SubElement(node, "True")
            self._add_nodes(node, first, count(1))
        else:
            self._add_outputs(said, of_rules=True)
            self._add_rules(said, first)
        return root

    def _add_outputs(self, element: Element, of_rules: bool) -> None:
        """The label, the number of the rule or leaf, and the share of each class.

        Rules of PMML have no probabilities, only the confidence in their label. So the shares are looked up by the rule.
        """
        output = SubElement(element, "Output")
        SubElement(output, "OutputField", self.label, feature="predictedValue")
        SubElement(output, "OutputField", name=self.rule, optype="categorical", dataType="string", feature="entityId")
        if of_rules:
            SubElement(output, "OutputField", {"name": self.confidence} | NUMBER, feature="confidence")
        for place, (share, text) in enumerate(zip(self.share_fields, self.texts, strict=True)):
            if not of_rules:
                SubElement(output, "OutputField", share, feature="probability", value=text)
                continue
            field = SubElement(output, "OutputField", share, feature="transformedValue")
            table = SubElement(field, "MapValues", outputColumn="share", dataType="double")
            SubElement(table, "FieldColumnPair", field=self.rule, column="rule")
            rows = SubElement(table, "InlineTable")
            for i, of_classes in enumerate(self.shares, 1):
                row = SubElement(rows, "row")
                SubElement(row, "rule").text = str(i)
                SubElement(row, "share").text = repr(of_classes[place])

    def _add_outputs_of_totals(self, element: Element) -> None:
        """The total, and what it means: the label and the share of each class, looked up by the range that the total is in."""
        output = SubElement(element, "Output")
        SubElement(output, "OutputField", {"name": self.total} | NUMBER, feature="predictedValue")
        # PMML4S looks up strings only, and loses what XML escapes in a constant
        add = self._add_ranges if self.type == "text" else self._add_choice
        label = SubElement(output, "OutputField", self.label, feature="transformedValue")
        add(label, [self.texts[place] for place in self.places])
        for place, share in enumerate(self.share_fields):
            field = SubElement(output, "OutputField", share, feature="transformedValue")
            self._add_ranges(field, [repr(of_classes[place]) for of_classes in self.shares])

    def _add_choice(self, field: Element, labels: Sequence[str]) -> None:
        """Where the total is below a limit, a label, else what follows."""
        for limit, (label, following) in zip(self.made.limits, pairwise(labels), strict=True):
            if label != following:
                choice = SubElement(field, "Apply", function="if")
                below = SubElement(choice, "Apply", function="lessThan")
                SubElement(below, "FieldRef", field=self.total)
                SubElement(below, "Constant", dataType="double").text = repr(float(limit))
                SubElement(choice, "Constant", dataType=TYPES[self.type]).text = label
                field = choice
        SubElement(field, "Constant", dataType=TYPES[self.type]).text = labels[-1]

    def _add_ranges(self, field: Element, values: Sequence[str]) -> None:
        """A value for each range of totals; each begins where the one before ends."""
        looked_up = SubElement(field, "Discretize", field=self.total, dataType=field.attrib["dataType"])
        limits = [repr(float(limit)) for limit in self.made.limits]
        first = repr(-sys.float_info.max)  # an interval needs an end
        for value, low, high in zip(values, [first, *limits], [*limits, None], strict=True):
            found = SubElement(looked_up, "DiscretizeBin", binValue=value)
            interval = SubElement(found, "Interval", closure="closedOpen", leftMargin=low)
            if high is not None:
                interval.set("rightMargin", high)

    def _add_characteristics(self, element: Element) -> None:
        """The tables of a card, in order: the first attribute that is true gives its points. The start is one of them, too."""
        listed = SubElement(element, "Characteristics")
        for number, (chain, points) in enumerate(zip(self.made.chains, self.made.points, strict=True)):
            columns = {test.column for test in chain.tests()}
            name = columns.pop() if number and len(columns) == 1 else f"table {number}" if number else "start"
            table = SubElement(listed, "Characteristic", name=name)
            for (predicate, _), (score,) in zip(self._ways(chain), points, strict=True):
                SubElement(table, "Attribute", partialScore=repr(float(score))).append(predicate)

    def _add_rules(self, element: Element, chain: Chain) -> None:
        rules = SubElement(element, "RuleSet")
        SubElement(rules, "RuleSelectionMethod", criterion="firstHit")
        for i, (predicate, _) in enumerate(self._ways(chain)):
            place = self.places[i]
            rule = {"id": str(i + 1), "score": self.texts[place], "confidence": repr(self.shares[i][place])}
            said = SubElement(rules, "SimpleRule", rule)
            said.append(predicate)
            self._add_shares(said, i)

    def _add_nodes(self, node: Element, chain: Chain, splits: "count[int]") -> None:
        """The nodes below one: the first whose predicate is true is taken. Leaves are numbered as answers are."""
        for predicate, below in self._ways(chain):
            child = SubElement(node, "Node")
            child.append(predicate)
            if isinstance(below, int):
                child.attrib.update(id=str(below + 1), score=self.texts[self.places[below]])
                self._add_shares(child, below)
            else:
                child.set("id", f"split {next(splits)}")
                self._add_nodes(child, below, splits)

    def _add_shares(self, element: Element, i: int) -> None:
        """The share of each class in an answer, and the count that it comes from; without counts, the share again."""
        counts = self.model.answers[i].counts
        records = self.shares[i] if counts is None else [max(0.0, count) for count in counts]
        for text, share, number in zip(self.texts, self.shares[i], records, strict=True):
            SubElement(element, "ScoreDistribution", value=text, recordCount=repr(number), probability=repr(share))

    def _ways(self, chain: Chain) -> list[Way]:
        """The ways on: the last one's predicate is always true."""
        ways = [(_joined("and", [self._predicate(test) for test in tests]), end) for tests, end in chain.ways]
        return [*ways, (Element("True"), chain.last)]

    def _predicate(self, test: Test) -> Element:
        """A test. Where a value is missing it is false or unknown, unless it is true of missing values."""
        if isinstance(test, NumberTest):
            return _number_predicate(test)
        return _listed_predicate(test, self.kinds[test.column])


def _simple(column: str, operator: str, value: str | None = None) -> Element:
    predicate = Element("SimplePredicate", field=column, operator=operator)
    if value is not None:
        predicate.set("value", value)
    return predicate


def _joined(operator: str, parts: Sequence[Element]) -> Element:
    """All of them, or one of them. Of nothing, all is true and one is false."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Element("True" if operator == "and" else "False")
    joined = Element("CompoundPredicate", booleanOperator=operator)
    joined.extend(parts)
    return joined


def _number_predicate(test: NumberTest) -> Element:
    if test.missing:
        beyond = [_simple(test.column, OPERATORS[OPPOSITE[op]], repr(end)) for op, end in test.within]
        return _joined("or", [_simple(test.column, "isMissing"), *beyond])
    compared = [_simple(test.column, OPERATORS[op], repr(float(cut))) for op, cut in test.comparisons]
    if test.either:
        compared = [_joined("or", compared)]
    within = [_simple(test.column, OPERATORS[op], repr(end)) for op, end in test.within]
    return _joined("and", [*compared, *within] or [_simple(test.column, "isNotMissing")])


def _is_category(column: str, value: str | float, wanted: bool) -> Element:
    """Whether a value is the category. An infinite number is what is beyond all others: no word for it is read by everyone."""
    if isinstance(value, str) or math.isfinite(value):
        return _simple(column, "equal" if wanted else "notEqual", value if isinstance(value, str) else repr(value))
    beyond, within = ("greaterThan", "lessOrEqual") if value > 0 else ("lessThan", "greaterOrEqual")
    return _simple(column, beyond if wanted else within, repr(math.copysign(sys.float_info.max, value)))


def _listed_predicate(test: ListedTest, kind: str) -> Element:
    """Each category in a predicate of its own: what quotation marks mean in PMML's arrays, evaluators do not agree on."""
    listed: Sequence[str | float]
    if test.of_truths:
        words = {True: "true", False: "false"} if kind == "boolean" else {True: "1", False: "0"}
        listed = [words[value] for value in test.truths]
    elif kind == "number":
        listed = exact_numbers(test.column, test.numbers)
    else:
        listed = [_held(text, f"a category of column {test.column!r}") for text in (*test.listed, *test.words)]
    parts = [_is_category(test.column, value, test.inside) for value in listed]
    missing = _simple(test.column, "isMissing")
    if test.inside:
        return _joined("or", [missing, *parts] if test.missing else parts)
    if test.missing:
        return _joined("or", [missing, _joined("and", parts)])
    return _joined("and", parts or [_simple(test.column, "isNotMissing")])
