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
from ...schema.columns.values import TextBins, TruthBins, ValueBins
from ..model import Model
from ..partition import TOTAL, Answer
from .branches import (
    Branch,
    Branches,
    BranchSplit,
    BranchTest,
    NumberTest,
    TextTest,
    TruthTest,
    branches,
    exact_numbers,
    kinds_of,
    type_of_labels,
)

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
OPERATORS = {"<": "lessThan", "<=": "lessOrEqual", ">": "greaterThan", ">=": "greaterOrEqual"}
BEYOND_INTEGER = 2**31  # PMML does not say how long an integer is; JPMML has 32 bits
TYPES = {"text": "string", "number": "double", "boolean": "boolean", "integer": "integer"}


def to_pmml(model: Model, types: Mapping[str, str] | None = None, as_tree: bool = False) -> str:
    """See ``Model.to_pmml``."""
    made = branches(model)
    if made.by_class:
        raise RuleError(
            f"the {model.kind} has points for each of {len(model.classes)} classes, and a Scorecard of PMML adds up one total; "
            "write SQL, Python or ONNX"
        )
    used = list(dict.fromkeys(test.column for test in made.tests))
    kinds = kinds_of(model, used, types, _possible, "PMML")
    labels = _Labels(model, used)
    root = Element("PMML", {"xmlns": "http://www.dmg.org/PMML-4_4", "version": "4.4"})
    SubElement(SubElement(root, "Header"), "Application", {"name": "discreet", "version": __version__})
    dictionary = SubElement(root, "DataDictionary", {"numberOfFields": str(len(used) + 1)})
    for name, kind in kinds.items():
        # categories that are numbers are continuous, too: PMML4S compares the places of categorical numbers, not the numbers
        optype = "continuous" if kind == "number" else "categorical"
        field = {"name": _held(name, f"column {name!r}"), "optype": optype, "dataType": TYPES[kind]}
        SubElement(dictionary, "DataField", field)
    labels.add_field(dictionary)
    is_tree = (as_tree or made.root is not None) and not made.has_points
    of_kind = {"functionName": "classification", "algorithmName": f"discreet {model.kind}"}
    if made.has_points:
        of_kind |= {"functionName": "regression", "initialScore": "0.0", "useReasonCodes": "false"}
    said = SubElement(root, "Scorecard" if made.has_points else "TreeModel" if is_tree else "RuleSetModel", of_kind)
    mining = SubElement(said, "MiningSchema")
    if not made.has_points:  # what a Scorecard predicts is the total; the label follows from it
        SubElement(mining, "MiningField", {"name": labels.target, "usageType": "target"})
    for name in used:
        SubElement(mining, "MiningField", {"name": name, "invalidValueTreatment": "asIs"})
    if made.has_points:
        labels.add_outputs_of_totals(said)
        _add_characteristics(said, made, kinds)
    elif is_tree:
        labels.add_outputs(said, of_rules=False)
        ways = _in_order(made.partitions[0], kinds) if made.root is None else _below(made.root, kinds)
        node = SubElement(said, "Node", {"id": "root"})
        SubElement(node, "True")
        _add_nodes(node, ways, kinds, labels, count(1))
    else:
        labels.add_outputs(said, of_rules=True)
        _add_rules(said, _in_order(made.partitions[0], kinds), labels)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _possible(bins: ValueBins) -> list[str]:
    """What a column may be in PMML, the expected type first."""
    without = "boolean" if isinstance(bins, TextBins) else "text" if isinstance(bins, TruthBins) else ""
    return [kind for kind in bins.types if kind != without]


def _held(text: str, what: str) -> str:
    """A text that XML can hold. There is no way to write most control characters."""
    if NOT_IN_XML.search(text):
        raise RuleError(f"{what} has characters that XML cannot hold, and PMML is XML; rename it")
    return text


class _Labels:
    """What comes out: the labels as PMML writes them, and the fields for the label and for the share of each class."""

    def __init__(self, model: Model, used: Sequence[str]) -> None:
        self.model = model
        self.type = type_of_labels(model.classes, model.kind, "PMML")
        if self.type == "integer" and any(
            not -BEYOND_INTEGER <= int(label) < BEYOND_INTEGER for label in model.classes
        ):
            raise RuleError(
                f"a label of the {model.kind} is an integer of more than 32 bits, which evaluators of PMML do not have; "
                "use strings as labels"
            )
        self.texts = [_held(self._text(label), f"a label of the {model.kind}") for label in model.classes]
        named = "label" if model.schema is None or model.schema.target is None else model.schema.target
        taken = set(used)
        self.target = _free(_held(named, "the name of the target"), taken)
        self.predicted = _free(f"predicted({self.target})", taken)
        self.rule = _free("rule", taken)
        self.total = _free(TOTAL, taken)
        self.confidence = _free("confidence", taken)
        self.shares = [_free(f"probability({text})", taken) for text in self.texts]

    def _text(self, label: Label) -> str:
        if self.type == "text":
            return str(label)
        if self.type == "boolean":
            return "true" if label else "false"
        return str(int(label)) if self.type == "integer" else repr(float(label))

    def add_field(self, dictionary: Element) -> None:
        """The target and its values."""
        target = {"name": self.target, "optype": "categorical", "dataType": TYPES[self.type]}
        field = SubElement(dictionary, "DataField", target)
        for text in self.texts:
            SubElement(field, "Value", {"value": text})

    def add_shares(self, element: Element, answer: Answer) -> None:
        """The share of each class, and the count that it comes from; without counts, the share again."""
        shares = self.model.shares_of(answer).tolist()
        counts = shares if answer.counts is None else [max(0.0, count) for count in answer.counts]
        for text, share, number in zip(self.texts, shares, counts, strict=True):
            told = {"value": text, "recordCount": repr(number), "probability": repr(share)}
            SubElement(element, "ScoreDistribution", told)

    def add_outputs(self, element: Element, of_rules: bool) -> None:
        """The label, the number of the rule or leaf, and the share of each class.

        Rules of PMML have no probabilities, only the confidence in their label. So the shares are looked up by the rule.
        """
        output = SubElement(element, "Output")
        label = {"name": self.predicted, "optype": "categorical", "dataType": TYPES[self.type]}
        SubElement(output, "OutputField", label | {"feature": "predictedValue"})
        rule = {"name": self.rule, "optype": "categorical", "dataType": "string", "feature": "entityId"}
        SubElement(output, "OutputField", rule)
        number = {"optype": "continuous", "dataType": "double"}
        if of_rules:
            SubElement(output, "OutputField", {"name": self.confidence} | number | {"feature": "confidence"})
        shares = [self.model.shares_of(answer).tolist() for answer in self.model.answers]
        for place, (name, text) in enumerate(zip(self.shares, self.texts, strict=True)):
            if not of_rules:
                share = {"name": name} | number | {"feature": "probability", "value": text}
                SubElement(output, "OutputField", share)
                continue
            field = SubElement(output, "OutputField", {"name": name} | number | {"feature": "transformedValue"})
            table = SubElement(field, "MapValues", {"outputColumn": "share", "dataType": "double"})
            SubElement(table, "FieldColumnPair", {"field": self.rule, "column": "rule"})
            rows = SubElement(table, "InlineTable")
            for i, of_classes in enumerate(shares, 1):
                row = SubElement(rows, "row")
                SubElement(row, "rule").text = str(i)
                SubElement(row, "share").text = repr(of_classes[place])

    def add_outputs_of_totals(self, element: Element) -> None:
        """The total, and what it means: the label and the share of each class, looked up by the range that the total is in."""
        output = SubElement(element, "Output")
        number = {"optype": "continuous", "dataType": "double"}
        SubElement(output, "OutputField", {"name": self.total} | number | {"feature": "predictedValue"})
        places = [self.model.classes.index(answer.label) for answer in self.model.answers]
        label = {"name": self.predicted, "optype": "categorical", "dataType": TYPES[self.type]}
        # PMML4S looks up strings only, and loses what XML escapes in a constant
        add = self._add_ranges if self.type == "text" else self._add_choice
        add(SubElement(output, "OutputField", label | LOOKED_UP), [self.texts[i] for i in places])
        shares = [self.model.shares_of(answer).tolist() for answer in self.model.answers]
        for place, name in enumerate(self.shares):
            field = SubElement(output, "OutputField", {"name": name} | number | LOOKED_UP)
            self._add_ranges(field, [repr(of_classes[place]) for of_classes in shares])

    def _add_choice(self, field: Element, labels: Sequence[str]) -> None:
        """Where the total is below a limit, a label, else what follows."""
        changes = [i for i, (label, following) in enumerate(pairwise(labels)) if label != following]
        for i in changes:
            choice = SubElement(field, "Apply", {"function": "if"})
            below = SubElement(choice, "Apply", {"function": "lessThan"})
            SubElement(below, "FieldRef", {"field": self.total})
            SubElement(below, "Constant", {"dataType": "double"}).text = repr(float(self.model.limits[i]))
            SubElement(choice, "Constant", {"dataType": TYPES[self.type]}).text = labels[i]
            field = choice
        SubElement(field, "Constant", {"dataType": TYPES[self.type]}).text = labels[-1]

    def _add_ranges(self, field: Element, values: Sequence[str]) -> None:
        """A value for each range of totals; each begins where the one before ends."""
        looked_up = SubElement(field, "Discretize", {"field": self.total, "dataType": field.attrib["dataType"]})
        limits = [repr(float(limit)) for limit in self.model.limits]
        first = repr(-sys.float_info.max)  # an interval needs an end
        for value, low, high in zip(values, [first, *limits], [*limits, None], strict=True):
            found = SubElement(looked_up, "DiscretizeBin", {"binValue": value})
            ends = {"leftMargin": low} | ({} if high is None else {"rightMargin": high})
            SubElement(found, "Interval", {"closure": "closedOpen"} | ends)


LOOKED_UP = {"feature": "transformedValue"}


def _free(name: str, taken: set[str]) -> str:
    """A name that no field has yet."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


Way = tuple[Element, "BranchSplit | int"]  # a predicate, and what follows where it is the first that is true


def _in_order(partition: Sequence[Branch], kinds: Mapping[str, str]) -> list[Way]:
    """The parts of a partition, each with the number of its answer."""
    joined = (_joined("and", [_predicate(test, kinds[test.column]) for test in branch.tests]) for branch in partition)
    return [(predicate, number) for number, predicate in enumerate(joined)]


def _below(split: BranchSplit, kinds: Mapping[str, str]) -> list[Way]:
    """The ways on from a split of a tree: the last one's predicate is always true."""
    tests, last = split.chain()
    return [*((_predicate(test, kinds[test.column]), true) for test, true in tests), (Element("True"), last)]


def _add_characteristics(element: Element, made: Branches, kinds: Mapping[str, str]) -> None:
    """The tables of a card, in order: the first attribute that is true gives its points. The start is one of them, too."""
    listed = SubElement(element, "Characteristics")
    for number, partition in enumerate(made.partitions):
        columns = {test.column for branch in partition for test in branch.tests}
        name = columns.pop() if number and len(columns) == 1 else f"table {number}" if number else "start"
        table = SubElement(listed, "Characteristic", {"name": name})
        for (predicate, _), branch in zip(_in_order(partition, kinds), partition, strict=True):
            row = SubElement(table, "Attribute", {"partialScore": repr(float(branch.outcome))})
            row.append(predicate)


def _add_rules(element: Element, ways: Sequence[Way], labels: _Labels) -> None:
    rules = SubElement(element, "RuleSet")
    SubElement(rules, "RuleSelectionMethod", {"criterion": "firstHit"})
    for (predicate, _), (number, answer) in zip(ways, enumerate(labels.model.answers, 1), strict=True):
        place = labels.model.classes.index(answer.label)
        share = float(labels.model.shares_of(answer)[place])
        rule = {"id": str(number), "score": labels.texts[place], "confidence": repr(share)}
        said = SubElement(rules, "SimpleRule", rule)
        said.append(predicate)
        labels.add_shares(said, answer)


def _add_nodes(
    node: Element, ways: Sequence[Way], kinds: Mapping[str, str], labels: _Labels, splits: "count[int]"
) -> None:
    """The nodes below one: the first whose predicate is true is taken. Leaves are numbered as answers are."""
    for predicate, below in ways:
        child = SubElement(node, "Node")
        child.append(predicate)
        if isinstance(below, int):
            answer = labels.model.answers[below]
            child.attrib.update(id=str(below + 1), score=labels.texts[labels.model.classes.index(answer.label)])
            labels.add_shares(child, answer)
        else:
            child.set("id", f"split {next(splits)}")
            _add_nodes(child, _below(below, kinds), kinds, labels, splits)


def _predicate(test: BranchTest, kind: str) -> Element:
    """A test. Where a value is missing it is false or unknown, unless it is true of missing values."""
    match test:
        case NumberTest():
            return _number_predicate(test)
        case TruthTest():
            return _truth_predicate(test, kind)
        case TextTest():
            return _text_predicate(test, kind)


def _simple(column: str, operator: str, value: str | None = None) -> Element:
    return Element(
        "SimplePredicate",
        {"field": column, "operator": operator} | ({} if value is None else {"value": value}),
    )


def _joined(operator: str, parts: Sequence[Element]) -> Element:
    """All of them, or one of them. Of nothing, all is true and one is false."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Element("True" if operator == "and" else "False")
    joined = Element("CompoundPredicate", {"booleanOperator": operator})
    joined.extend(parts)
    return joined


def _number_predicate(test: NumberTest) -> Element:
    low, high = test.limits
    if test.missing:
        beyond = [
            _simple(test.column, op, repr(end))
            for op, end in (("lessThan", low), ("greaterThan", high))
            if end is not None
        ]
        return _joined("or", [_simple(test.column, "isMissing"), *beyond])
    compared = [_simple(test.column, OPERATORS[op], repr(float(cut))) for op, cut in test.comparisons]
    if test.either:
        compared = [_joined("or", compared)]
    ends = (("greaterOrEqual", low), ("lessOrEqual", high))
    within = [_simple(test.column, op, repr(end)) for op, end in ends if end is not None]
    return _joined("and", [*compared, *within] or [_simple(test.column, "isNotMissing")])


def _truth_predicate(test: TruthTest, kind: str) -> Element:
    words = {True: "true", False: "false"} if kind == "boolean" else {True: "1", False: "0"}
    if None in test.wanted:  # also of what is neither
        others = [_simple(test.column, "notEqual", words[value]) for value in words if value not in test.wanted]
        return _joined("or", [_simple(test.column, "isMissing"), _joined("and", others)])
    return _joined("or", [_simple(test.column, "equal", words[value]) for value in words if value in test.wanted])


def _is_category(column: str, value: str | float, wanted: bool) -> Element:
    """Whether a value is the category. An infinite number is what is beyond all others: no word for it is read by everyone."""
    if isinstance(value, str) or math.isfinite(value):
        return _simple(column, "equal" if wanted else "notEqual", value if isinstance(value, str) else repr(value))
    beyond, within = ("greaterThan", "lessOrEqual") if value > 0 else ("lessThan", "greaterOrEqual")
    return _simple(column, beyond if wanted else within, repr(math.copysign(sys.float_info.max, value)))


def _text_predicate(test: TextTest, kind: str) -> Element:
    """Each category in a predicate of its own: what quotation marks mean in PMML's arrays, evaluators do not agree on."""
    listed: list[str | float] = []
    if kind == "number":
        listed += exact_numbers(test.column, test.numbers)
    else:
        listed += [_held(text, f"a category of column {test.column!r}") for text in (*test.listed, *test.words)]
    if test.inside:
        found = [_is_category(test.column, value, True) for value in listed]
        return _joined("or", [_simple(test.column, "isMissing"), *found] if test.missing else found)
    outside = [_is_category(test.column, value, False) for value in listed]
    if test.missing:
        return _joined("or", [_simple(test.column, "isMissing"), _joined("and", outside)])
    return _joined("and", outside or [_simple(test.column, "isNotMissing")])
