"""An evaluation as one file, bound to the file of the model that was measured: by its checksum, and by what it says of it.

It has what was released and nothing else: no number of records, no seed, no time. It may be somebody else's, so what is read must
be, entry by entry, what would be written again.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from .. import __version__
from .._utils.errors import ModelError
from .._utils.parameters import read_json
from .._utils.writing import write_whole
from ..accounting.entries import LedgerSnapshot
from ..accounting.ledger import UNREADABLE, Ledger
from ..accounting.statement import PrivacyStatement, neighbours_of
from ..models.saved import SavedModel, checksum
from ..schema import Label
from .evaluated import Count, Group, NoisyCounts, NoisyEvaluation, Part, Rate, Rates
from .evaluation import Named, evaluation_of

FORMAT, VERSION = "discreet evaluation", 1
ENTRIES = {"format", "version", "discreet", "model", "evaluation", "privacy", "ledger", "checksum"}
HOW_TO_MEND = "write it again with discreet evaluate --out, or get an unchanged copy"
OTHER_MODEL = "it was measured of another model: release the file that was measured, as it was then"


@dataclass(frozen=True)
class SavedEvaluation:
    """What was measured of a model, and of which file of a model.

    Parameters
    ----------
    evaluation : NoisyEvaluation
        The numbers, and what they promise.
    model : str
        The checksum (SHA-256) of the model's file.
    ledger : LedgerSnapshot or None
        What had been spent on the table of the evaluation when it was made.
    discreet : str
        The version of the package that made the file.
    """

    evaluation: NoisyEvaluation
    model: str
    ledger: LedgerSnapshot | None = None
    discreet: str = __version__

    @classmethod
    def of(cls, evaluation: NoisyEvaluation, model_file: bytes, ledger: Ledger | None = None) -> "SavedEvaluation":
        """Of an evaluation and the content of the model's file."""
        found = cls(evaluation, hashlib.sha256(model_file).hexdigest(), None if ledger is None else ledger.snapshot())
        found.check_model(model_file)
        return found

    def check_model(self, model_file: bytes) -> None:
        """Complain about a file that is not the one that was measured, and about numbers that do not follow from the counts."""
        if hashlib.sha256(model_file).hexdigest() != self.model:
            raise ModelError(f"the evaluation names another checksum than that of the model's file: {OTHER_MODEL}")
        model = SavedModel.from_json(model_file.decode("utf-8-sig", "replace")).model
        found = self.evaluation
        try:
            again = evaluation_of(model, found.counts, _named(found), found.privacy)
        except (ValueError, IndexError, OverflowError):
            again = None
        if again is None or not _alike(again.to_dict(), found.to_dict()):
            raise ModelError(
                "the evaluation's numbers do not follow from its own counts and this model: it was changed, or "
                f"{OTHER_MODEL}"
            )
        if not _is_paid(found):
            raise ModelError(f"the evaluation's noise is not that of the price it names; {HOW_TO_MEND}")

    def to_json(self) -> str:
        """As JSON in ASCII that ``from_json`` reads back."""
        data = self._entries()
        return json.dumps(data | {"checksum": checksum(data)}, indent=1, allow_nan=False)

    def _entries(self) -> dict[str, Any]:
        """All but the checksum."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "discreet": self.discreet,
            "model": self.model,
            "evaluation": self.evaluation.to_dict(),
            "privacy": read_json(self.evaluation.privacy.to_json(indent=None)),
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
        }

    @classmethod
    def from_json(cls, text: str) -> "SavedEvaluation":
        """Read what ``to_json`` wrote. A file that was changed since, or is something else, is refused."""
        try:
            data = read_json(text)
            if not isinstance(data, dict) or data.get("format") != FORMAT:
                raise ModelError(f"this is not a {FORMAT}; {HOW_TO_MEND}")
            if isinstance(data.get("version"), bool) or data.get("version") != VERSION:
                raise ModelError(f"the evaluation has another version than {VERSION}: another discreet wrote it")
            if set(data) != ENTRIES or data["checksum"] != checksum(data):
                raise ModelError(f"the evaluation was changed after it was written; {HOW_TO_MEND}")
            privacy = PrivacyStatement.from_json(json.dumps(data["privacy"]))
            ledger = None if data["ledger"] is None else LedgerSnapshot.from_dict(data["ledger"])
            sha256, version = _text(data["model"]), _text(data["discreet"])
            if len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
                raise ValueError
            found = cls(_evaluation(data["evaluation"], privacy), sha256, ledger, version)
            own = read_json(json.dumps(found._entries(), allow_nan=False))
            if (
                own | {"checksum": data["checksum"]} != data
            ):  # numbers that contradict each other, or more than there should be
                raise ValueError
        except ModelError:
            raise
        except (*UNREADABLE, OverflowError):
            raise ModelError(
                f"the evaluation cannot be read: it is cut off, damaged, or something else; {HOW_TO_MEND}"
            ) from None
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file, whole or not at all."""
        write_whole(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "SavedEvaluation":
        """Read it from a file."""
        return cls.from_bytes(Path(path).read_bytes())

    @classmethod
    def from_bytes(cls, content: bytes) -> "SavedEvaluation":
        """Read the content of a file."""
        try:
            return cls.from_json(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ModelError(f"this is not text in UTF-8, so it is no {FORMAT}; {HOW_TO_MEND}") from None


def _evaluation(data: Mapping[str, Any], privacy: PrivacyStatement) -> NoisyEvaluation:
    classes = tuple(_label(c) for c in data["classes"])
    n = len(classes)
    if n < 2:
        raise ValueError
    confusion = tuple(tuple(map(_count, _n(row, n))) for row in _n(data["confusion"], n))
    called = tuple(map(_text, _n(data.get("class_labels", [str(c) for c in classes]), n)))
    return NoisyEvaluation(
        classes,
        _count(data["records"]),
        confusion,
        _rates(data["rates"], n),
        _rate(data["balanced_accuracy"]),
        tuple(_group(group, n) for group in _list(data["groups"])),
        tuple(_part(part, n) for part in _list(data["reliability"])),
        privacy,
        called,
        _counts(data["counts"], n),
    )


def _counts(data: Mapping[str, Any], n: int) -> NoisyCounts:
    if not isinstance(data["by_answer"], bool) or not 0 < _finite(data["epsilon"]) <= 1e9 or not data["tables"]:
        raise ValueError
    tables = [
        (
            None if one["column"] is None else _text(one["column"]),
            tuple(tuple(tuple(map(_whole, _n(row, n))) for row in _list(group)) for group in _list(one["records"])),
        )
        for one in _list(data["tables"])
    ]
    if not all(table and all(len(group) == len(table[0]) > 0 for group in table) for _, table in tables):
        raise ValueError
    return NoisyCounts(data["epsilon"], data["by_answer"], tuple(tables))


def _named(found: NoisyEvaluation) -> list[Named]:
    """The columns that divide the records, as the groups name them. What the counts do not have, they may not have either."""
    named, columns = [], [column for column, _ in found.counts.tables]
    if len(set(columns)) < len(columns) or (None in columns and len(columns) > 1):
        raise ValueError
    for column, table in found.counts.tables:
        groups = [group for group in found.groups if group.column == column]
        if (column is None) != (not groups) or len(table) - len(groups) not in ((1,) if column is None else (0, 1)):
            raise ValueError
        if groups:
            names, called = (tuple(getattr(group, part) for group in groups) for part in ("name", "called"))
            named.append(Named(groups[0].column, groups[0].column_called, names, called))
    return named


def _is_paid(found: NoisyEvaluation) -> bool:
    """Whether the noise of all tables together is that of the price: so many times for each record of a person."""
    proved, spent = found.privacy.proved, found.counts.epsilon * len(found.counts.tables)
    if proved is None:
        return True
    persons = (proved.epsilon - found.privacy.cut_points) / spent
    whole = max(1, round(persons))
    return math.isclose(persons, whole, rel_tol=1e-9) and found.privacy.neighbours == neighbours_of(whole)


def _alike(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same, but for the last digits of fractions."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return type(one) is type(other) and bool(one == other)


def _group(data: Mapping[str, Any], n: int) -> Group:
    difference = None if data["difference"] is None else _rates(data["difference"], n)
    called = _text(data.get("column_label", "")), _text(data.get("group_label", ""))
    names = _text(data["column"]), _text(data["group"])
    return Group(*names, _count(data["records"]), _rates(data["rates"], n), difference, *called)


def _part(data: Mapping[str, Any], n: int) -> Part:
    return Part(
        _whole(data["part"]),
        _text(data["condition"]),
        _label(data["label"]),
        _count(data["records"]),
        tuple(map(_number, _n(data["predicted"], n))),
        tuple(map(_rate, _n(data["observed"], n))),
        _text(data.get("condition_in_labels", "")),
    )


def _rates(data: Mapping[str, Any], n: int) -> Rates:
    by_class = _n(data["classes"], n)
    return Rates(
        _rate(data["accuracy"]),
        tuple(_rate(one["predicted"]) for one in by_class),
        tuple(_rate(one["recall"]) for one in by_class),
        tuple(None if one["precision"] is None else _rate(one["precision"]) for one in by_class),
    )


def _rate(data: Mapping[str, Any]) -> Rate:
    if not isinstance(data["too_small"], bool):
        raise TypeError
    value, low, high = (_number(data[name]) for name in ("value", "low", "high"))
    if not low <= high:
        raise ValueError
    return Rate(value, low, high, data["too_small"])


def _count(data: Mapping[str, Any]) -> Count:
    value, low, high = (_whole(data[name]) for name in ("value", "low", "high"))
    if not 0 <= low <= high:
        raise ValueError
    return Count(value, low, high)


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise TypeError
    return data


def _n(data: Any, n: int) -> list[Any]:
    if len(_list(data)) != n:
        raise ValueError
    return _list(data)


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError
    return data


def _label(data: Any) -> Label:
    if isinstance(data, float) and not math.isfinite(data):
        raise ValueError
    if not isinstance(data, str | int | float):
        raise TypeError
    return data


def _number(data: Any) -> float:
    if abs(_finite(data)) > 2:
        raise ValueError
    return float(data)


def _finite(data: Any) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
        raise ValueError
    return data


def _whole(data: Any) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or abs(data) >= 1 << 63:
        raise ValueError
    return data
