"""An evaluation as one file, bound to the file of the model that was measured: by its checksum, and by what it says of it.

It has what was released and nothing else: no number of records, no seed, no time. It may be somebody else's. So of its numbers
only the noisy counts are read: all others are computed again, from these and the model, and have to be those of the file.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from .._utils.errors import ModelError
from .._utils.parameters import read_json
from ..accounting.ledger import UNREADABLE, Ledger
from ..accounting.statement import PrivacyStatement, neighbours_of
from ..accounting.summary import LedgerSnapshot
from ..models.saved import SavedModel, checksum
from .evaluated import EvaluationCounts, NoisyEvaluation
from .rates import Named, evaluation_of, in_tuples

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
            sha256, version = data["model"], data["discreet"]
            facts = [read_json(privacy.to_json(indent=None)), None if ledger is None else ledger.to_dict()]
            if facts != [data["privacy"], data["ledger"]] or not _are_texts(sha256, version):
                raise ValueError  # more than there should be
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


def _counts(data: Mapping[str, Any], n_classes: int) -> EvaluationCounts:
    """What was drawn. What has other types than it should is noticed when all numbers are compared."""
    if not isinstance(data["by_answer"], bool) or isinstance(data["epsilon"], bool) or not 0 < data["epsilon"] <= 1e9:
        raise ValueError
    drawn = [(one["column"], np.array(one["records"], np.int64)) for one in data["tables"]]
    if not drawn or not all(table.ndim == 3 and table.shape[2] == n_classes and table.size for _, table in drawn):
        raise ValueError
    return EvaluationCounts(
        data["epsilon"], data["by_answer"], tuple((column, in_tuples(table)) for column, table in drawn)
    )


def _named(groups: Any, counts: EvaluationCounts) -> list[Named]:
    """The columns that divide the records, as the groups name them. What the counts do not have, they may not have either."""
    named, columns = [], [column for column, _ in counts.tables]
    if len(set(columns)) < len(columns) or (None in columns and len(columns) > 1):
        raise ValueError
    for column, table in counts.tables:
        own = [group for group in groups if group["column"] == column]
        if (column is None) != (not own) or len(table) - len(own) not in ((1,) if column is None else (0, 1)):
            raise ValueError
        if column is not None:
            names = tuple(group["group"] for group in own)
            called = tuple(group.get("group_label", group["group"]) for group in own)
            named.append(Named(column, own[0].get("column_label", column), names, called))
            if not _are_texts(column, named[-1].column_called, *names, *called):
                raise ValueError
    return named


def _is_paid(found: NoisyEvaluation) -> bool:
    """Whether the noise of all tables together is that of the price: so many times for each record of a person."""
    spent = found.counts.epsilon * len(found.counts.tables)
    if found.privacy.proved is None:
        return True
    epsilon, delta = found.privacy.alone
    if delta:
        return False
    persons = epsilon / spent
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


def _are_texts(*data: Any) -> bool:
    return all(isinstance(one, str) for one in data)
