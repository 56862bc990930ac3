"""An evaluation as one file, bound to the file of the model that was measured: by its checksum, and by what it says of it.

It has what was released and nothing else: no number of records, no seed, no time. It may be somebody else's. So of its numbers
only the noisy counts are read: all others are computed again, from these and the model, and have to be those of the file.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from .. import __version__
from .._utils.errors import ModelError
from .._utils.parameters import read_json
from .._utils.writing import write_whole
from ..accounting.entries import LedgerSnapshot
from ..accounting.ledger import UNREADABLE, Ledger
from ..accounting.statement import PrivacyStatement, neighbours_of
from ..models.saved import SavedModel, checksum
from .evaluated import NoisyCounts, NoisyEvaluation
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
        _computed_again(evaluation.to_dict(), evaluation.privacy, model_file)
        sha256 = hashlib.sha256(model_file).hexdigest()
        return cls(evaluation, sha256, None if ledger is None else ledger.snapshot())

    def to_json(self) -> str:
        """As JSON in ASCII that ``from_bytes`` reads back."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "discreet": self.discreet,
            "model": self.model,
            "evaluation": self.evaluation.to_dict(),
            "privacy": read_json(self.evaluation.privacy.to_json(indent=None)),
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
        }
        return json.dumps(data | {"checksum": checksum(data)}, indent=1, allow_nan=False)

    @classmethod
    def from_bytes(cls, content: bytes, model_file: bytes) -> "SavedEvaluation":
        """Read the content of a file, which must be of this very file of a model, and as ``to_json`` wrote it."""
        try:
            data = read_json(content.decode("utf-8-sig"))
            if not isinstance(data, dict) or data.get("format") != FORMAT:
                raise ModelError(f"this is not a {FORMAT}; {HOW_TO_MEND}")
            if isinstance(data.get("version"), bool) or data.get("version") != VERSION:
                raise ModelError(f"the evaluation has another version than {VERSION}: another discreet wrote it")
            if set(data) != ENTRIES or data["checksum"] != checksum(data):
                raise ModelError(f"the evaluation was changed after it was written; {HOW_TO_MEND}")
            privacy = PrivacyStatement.from_json(json.dumps(data["privacy"]))
            ledger = None if data["ledger"] is None else LedgerSnapshot.from_dict(data["ledger"])
            sha256, version = _text(data["model"]), _text(data["discreet"])
            facts = [read_json(privacy.to_json(indent=None)), None if ledger is None else ledger.to_dict()]
            if facts != [data["privacy"], data["ledger"]]:  # more than there should be
                raise ValueError
        except ModelError:
            raise
        except UnicodeDecodeError:
            raise ModelError(f"this is not text in UTF-8, so it is no {FORMAT}; {HOW_TO_MEND}") from None
        except (*UNREADABLE, OverflowError):
            raise ModelError(
                f"the evaluation cannot be read: it is cut off, damaged, or something else; {HOW_TO_MEND}"
            ) from None
        if hashlib.sha256(model_file).hexdigest() != sha256:
            raise ModelError(f"the evaluation names another checksum than that of the model's file: {OTHER_MODEL}")
        return cls(_computed_again(data["evaluation"], privacy, model_file), sha256, ledger, version)

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file, whole or not at all."""
        write_whole(path, self.to_json() + "\n")


def _computed_again(data: Any, privacy: PrivacyStatement, model_file: bytes) -> NoisyEvaluation:
    """What follows from the counts of an evaluation and the model, if it is what the evaluation says, and what was paid for."""
    model = SavedModel.from_json(model_file.decode("utf-8-sig", "replace")).model
    try:
        counts = _counts(data["counts"], len(model.classes))
        found = evaluation_of(model, counts, _named(data["groups"], counts), privacy)
        follows, is_paid = _alike(found.to_dict(), data), _is_paid(found)
    except (*UNREADABLE, IndexError, OverflowError):
        follows = False
    if not follows:
        raise ModelError(
            f"the evaluation's numbers do not follow from its own counts and this model: it was changed, or {OTHER_MODEL}"
        )
    if not is_paid:
        raise ModelError(f"the evaluation's noise is not that of the price it names; {HOW_TO_MEND}")
    return found


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


def _named(groups: Any, counts: NoisyCounts) -> list[Named]:
    """The columns that divide the records, as the groups name them. What the counts do not have, they may not have either."""
    named, columns = [], [column for column, _ in counts.tables]
    if len(set(columns)) < len(columns) or (None in columns and len(columns) > 1):
        raise ValueError
    for column, table in counts.tables:
        own = [group for group in _list(groups) if group["column"] == column]
        if (column is None) != (not own) or len(table) - len(own) not in ((1,) if column is None else (0, 1)):
            raise ValueError
        if column is not None:
            names = tuple(_text(group["group"]) for group in own)
            called = tuple(_text(group.get("group_label", group["group"])) for group in own)
            named.append(Named(column, _text(own[0].get("column_label", column)), names, called))
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


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list | tuple):
        raise TypeError
    return list(data)


def _n(data: Any, n: int) -> list[Any]:
    if len(_list(data)) != n:
        raise ValueError
    return _list(data)


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError
    return data


def _finite(data: Any) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
        raise ValueError
    return data


def _whole(data: Any) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or abs(data) >= 1 << 63:
        raise ValueError
    return data
