"""JSON of models: what all kinds write and read in the same way."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .._utils.errors import RuleError, SchemaError, shown
from .._utils.parameters import read_json
from ..rules.rules import Literal
from ..schema import Schema


def json_text(data: Mapping[str, Any], schema: Schema | None, indent: int | None) -> str:
    """The entries of a model, and then its schema."""
    facts = None if schema is None else _without_infinities(schema.to_dict())
    return json.dumps({**data, "schema": facts}, indent=indent, allow_nan=False)


def entries_of(text: str, form: str, version: int) -> dict[str, Any]:
    """The entries of a model of this format and version."""
    try:
        data = read_json(text)
    except ValueError:
        raise RuleError("the model is not valid JSON: the file is cut off, edited by hand, or something else") from None
    if not isinstance(data, dict) or data.get("format") != form:
        raise RuleError(f"the JSON is not a {form}")
    if data.get("version") != version:
        raise RuleError(
            f"the model has format version {shown(data.get('version'))}, this discreet reads {version}; update it"
        )
    return data


@contextmanager
def reading_entries() -> Iterator[None]:
    """While values are made of entries: say of one that is missing or wrong that it is."""
    try:
        yield
    except SchemaError as error:
        raise RuleError(f"the model's schema cannot be read: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise RuleError("the model's JSON lacks an entry or has one of the wrong type") from None


def schema_from(data: Mapping[str, Any]) -> Schema | None:
    """The schema among the entries of a model."""
    return None if data["schema"] is None else Schema.from_dict(data["schema"])


def weights_entry(weights: tuple[float, ...] | None) -> dict[str, Any]:
    """An entry for the weights of the classes, where there are some."""
    return {} if weights is None else {"class_weight": list(weights)}


def weights_from(data: Mapping[str, Any]) -> tuple[float, ...] | None:
    """The weights among the entries of a model; None if there are none."""
    return tuple(data["class_weight"]) if "class_weight" in data else None


def literal_to_dict(literal: Literal) -> dict[str, Any]:
    """A literal as JSON has it."""
    data: dict[str, Any] = {"column": literal.column, "op": literal.op}
    if literal.value is not None:
        data["value"] = list(literal.value) if isinstance(literal.value, tuple) else literal.value
    return data


def literal_from_dict(data: Mapping[str, Any]) -> Literal:
    """Read what ``literal_to_dict`` made."""
    return Literal(data["column"], data["op"], data.get("value"))


def _without_infinities(data: Any) -> Any:
    """JSON has no infinity: the open end of a range is null there."""
    if isinstance(data, dict):
        return {key: _without_infinities(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_without_infinities(value) for value in data]
    return None if isinstance(data, float) and math.isinf(data) else data
