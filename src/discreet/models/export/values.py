"""What columns and labels are outside Python: a column of a table elsewhere has one type, and so have predictions."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..._utils.errors import RuleError
from ...rules.partition import Model
from ...schema import Label
from ...schema.columns.values import ValueBins

KINDS = ("text", "number", "boolean")
EXACT = 2**53  # below it, every integer has a floating-point number of its own


def kinds_of(
    model: Model,
    used: Iterable[str],
    types: Mapping[str, str] | None,
    possible: Callable[[ValueBins], Sequence[str]],
    where: str,
) -> dict[str, str]:
    """The type that each used column has elsewhere: as said by ``types``, or the first of those that are ``possible``."""
    types = {} if types is None else types
    if not isinstance(types, Mapping) or not all(kind in KINDS for kind in types.values()):
        raise RuleError(f"types must say for columns whether each is one of {', '.join(KINDS)}")
    for name in types:
        if model.schema is None or name not in model.schema.names:
            raise RuleError(f"types names column {name!r}, which the {model.kind} does not know")
    kinds = {}
    for name in used:
        assert model.schema is not None
        expected, *others = possible(model.schema[name].value_bins)
        kinds[name] = types.get(name, expected)
        if kinds[name] not in (expected, *others):
            raise RuleError(f"column {name!r} must be a {' or '.join((expected, *others))} in {where}")
    return kinds


def type_of_labels(labels: Sequence[Label], kind: str, where: str) -> str:
    """The one type that all these labels of a kind of model have: "text", "boolean", "integer" or "number"."""
    if all(isinstance(x, str) for x in labels):
        return "text"
    numbers = [x for x in labels if not isinstance(x, str)]
    if len(numbers) < len(labels):
        raise RuleError(f"a column of {where} has one type, but some labels are strings and some are numbers")
    if all(isinstance(x, bool) for x in numbers):
        return "boolean"
    if all(isinstance(x, int) for x in numbers):
        if any(abs(x) >= 2**63 for x in numbers):
            raise RuleError(f"a label of the {kind} is an integer of more than 64 bits, which {where} does not have")
        return "integer"
    if any(isinstance(x, int) and abs(x) > EXACT for x in numbers):
        raise RuleError("some labels are integers of more than 53 bits and some are not whole: no type has both")
    return "number"


def exact_numbers(column: str, numbers: Iterable[float]) -> list[float]:
    """The numbers that categories are in a column of numbers, if each has a floating-point number of its own."""
    found = list(numbers)
    if any(EXACT <= abs(number) < math.inf for number in found):
        raise RuleError(f"column {column!r} has categories that are numbers of more than 53 bits; store it as a string")
    return found


def is_unicode(text: str) -> bool:
    """Whether a text can leave Python at all. Half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
