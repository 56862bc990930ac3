"""The one reader of JSON: what two programs could read in two ways is refused."""

import json
import math
from typing import Any

LONGEST = 1 << 28


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text (bytes: UTF-8). Whatever is wrong with it is a ``ValueError``.

    A name that an object has twice, NaN, an infinity, and a text that is nested too deeply or too long are refused.

    >>> read_json('{"epsilon": 1, "epsilon": 0.1}')
    Traceback (most recent call last):
    ValueError: an object of the JSON has a name twice
    """
    if len(text) > LONGEST:
        raise ValueError("the JSON is too long")
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        return json.loads(decoded, object_pairs_hook=_named_once, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object of the JSON has a name twice")
    return found


def _refuse(_: str) -> None:
    raise ValueError("NaN and infinities are no JSON")


def _finite(text: str) -> float:
    if not math.isfinite(found := float(text)):
        raise ValueError("a number of the JSON is too large")
    return found
