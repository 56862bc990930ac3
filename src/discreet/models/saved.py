"""What a fitted model releases, as one versioned JSON file.

Everything in it may be published wherever the model may: the model itself, what it promises, public parameters, and what was
spent. No number of records, no seed, and no time of day: when fits began says how long they took.

A checksum over the content finds accidents: a file that was cut off, merged or edited by hand. It does not keep out forgers,
who can compute it, too; sign the file if that worries you.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .. import __version__
from .._utils.errors import ModelError, RuleError, shown
from .._utils.parameters import read_json
from .._utils.writing import write_whole
from ..accounting.entries import Booked
from ..accounting.ledger import UNREADABLE, Ledger, LedgerSnapshot
from ..accounting.statement import PrivacyStatement
from ..schema.columns.base import LARGEST_WHOLE
from .model import Model
from .rule_list import RuleList
from .score_card import ScoreCard
from .tree import Tree

FORMAT, VERSION = "discreet model", 1
# Not written down: what stands elsewhere in the file, what may hold records' values, what takes noise off, what is no fact
LEFT_OUT = ("schema", "ledger", "candidates", "random_state", "verbose")
# One more entry holds the model, under the name of its kind: "rule_list"
ENTRIES = {"format", "version", "discreet", "learner", "parameters", "target", "privacy", "ledger"}
TYPES = {"discreet": str, "learner": str, "parameters": dict, "target": str | None}
# Under which entry each kind of model stands. A new kind has a place here
KINDS: dict[str, type[Model]] = {kind.kind.replace(" ", "_"): kind for kind in (RuleList, Tree, ScoreCard)}
HOW_TO_MEND = "save the model again with SavedModel.of(clf).save(path), or get an unchanged copy"


@dataclass(frozen=True)
class SavedModel:
    """A fitted model without its learner: the model itself, what it promises, and how it was learned.

    Parameters
    ----------
    model : RuleList, Tree or ScoreCard
        The model, with its schema and its (noisy) class counts.
    privacy : PrivacyStatement or None
        What it promises; None if it was learned without privacy.
    learner : str
        The class that learned it.
    parameters : dict
        The learner's public parameters, as far as JSON can say them.
    target : str or None
        What the labels are called, if that is known.
    ledger : LedgerSnapshot or None
        What had been spent on the table when the model was saved, and which entry is the model's own.
    discreet : str
        The version of the package that made the file.

    Examples
    --------
    >>> from discreet import GreedyRuleListClassifier, SavedModel
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = GreedyRuleListClassifier(max_length=2, schema=data.schema).fit(data.data, data.target)
    >>> model = SavedModel.of(clf)
    >>> print(model)
    if priors_count > 2 then 1
    else 0
    >>> SavedModel.from_json(model.to_json()) == model
    True
    """

    model: Model
    privacy: PrivacyStatement | None = None
    learner: str = "unknown"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    ledger: LedgerSnapshot | None = None
    discreet: str = __version__
    _entry: ClassVar[tuple[Ledger, Booked] | None] = None  # of a model that was just made: where it is booked

    def __getstate__(self) -> dict[str, Any]:
        """For a pickle: a ledger does not go with it."""
        return {name: value for name, value in vars(self).items() if name != "_entry"}

    @classmethod
    def of(cls, clf: Any, target: str | None = None) -> "SavedModel":
        """What a fitted classifier releases. ``target`` names the labels where the schema does not."""
        model = getattr(clf, "model_", None)
        if not isinstance(model, Model):
            raise ModelError("only a fitted classifier of this package can be saved; call fit first")
        parameters: dict[str, Any] = {}
        for name, value in clf.get_params(deep=False).items():
            with suppress(_NotInJson):
                parameters |= {} if name in LEFT_OUT else {name: _plain(value)}
        ledger = getattr(clf, "ledger", None)
        named = None if model.schema is None else model.schema.target
        booked = getattr(clf, "booked_", None)
        found = cls(
            model,
            getattr(clf, "privacy_", None),
            type(clf).__name__,
            parameters,
            named if target is None else target,
            None if ledger is None else ledger.snapshot(booked),
        )
        if isinstance(ledger, Ledger) and booked is not None:
            object.__setattr__(found, "_entry", (ledger, booked))
        return found

    def __str__(self) -> str:
        return str(self.model.merged())

    @property
    def rule_list(self) -> RuleList:
        """The model, if it is a rule list."""
        if not isinstance(self.model, RuleList):
            raise AttributeError(f"this model is a {self.model.kind} and no rule list; see its model")
        return self.model

    def released(self) -> "SavedModel":
        """The model itself, as a report asks for it (``report.summary``)."""
        return self

    @property
    def counts_epsilon(self) -> float | None:
        """What each released class count cost, as the mechanism says; None if that is not known, or counts are exact."""
        from ..private.mechanisms.registry import find

        mechanism = None if self.privacy is None else find(self.privacy.mechanism)
        try:
            return None if mechanism is None else float(mechanism.counts_epsilon(self.parameters)) or None
        except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
            return None

    def count_intervals(self) -> tuple[tuple[tuple[int, int], ...], ...] | None:
        """For each rule or leaf, and each class, from where to where the exact count is, in 95 % of all cases.

        They cover the noise, exactly, and nothing else. None if there are no counts, they are exact, or their noise is not known.

        >>> from discreet import DPOptimalRuleListClassifier, SavedModel
        >>> from discreet.datasets import load_compas
        >>> data = load_compas(sensitive=False)
        >>> clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
        >>> intervals = SavedModel.of(clf).count_intervals()
        >>> len(intervals) == len(clf.rule_list_)
        True
        """
        return None if self.counts_epsilon is None else self.model.count_intervals(self.counts_epsilon)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels, in the order of ``predict_proba``."""
        return self.model.classes

    def predict(self, X: Any) -> np.ndarray:
        """The predicted class of each record. Values that the schema does not foresee are taken as it says."""
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The share of each class where a record is captured, from the released counts."""
        return self.model.predict_proba(X)

    def to_json(self, indent: int | None = 1) -> str:
        """The model as JSON that ``from_json`` reads back, here or in a later version."""
        entry = self.model.kind.replace(" ", "_")
        if entry not in KINDS:
            raise ModelError(f"a {self.model.kind} cannot be saved: KINDS of models/saved.py does not have it")
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "discreet": self.discreet,
            "learner": self.learner,
            "parameters": dict(self.parameters),
            "target": self.target,
            entry: read_json(self.model.to_json()),
            "privacy": None if self.privacy is None else read_json(self.privacy.to_json()),
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
        }
        return json.dumps(data | {"checksum": checksum(data)}, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "SavedModel":
        """Read what ``to_json`` wrote. A file that was changed since, or is something else, is refused."""
        data = _checked(text)
        try:
            if not all(isinstance(data[name], kind) for name, kind in TYPES.items()):
                raise TypeError
            ledger = None if data["ledger"] is None else LedgerSnapshot.from_dict(data["ledger"])
            privacy = None if data["privacy"] is None else PrivacyStatement.from_json(json.dumps(data["privacy"]))
            (entry,) = set(data) - ENTRIES
            if entry not in KINDS:
                raise ModelError(
                    f"the model is of a kind that this discreet {__version__} does not know ({shown(entry)}); update discreet"
                )
            model = KINDS[entry].from_json(json.dumps(data[entry]))
        except ModelError:
            raise
        except RuleError as error:
            raise ModelError(f"the model's {KINDS[entry].kind} cannot be read: {error}") from None
        except (*UNREADABLE, OverflowError):
            raise ModelError(f"the model lacks an entry or has one that does not belong there; {HOW_TO_MEND}") from None
        return cls(model, privacy, ledger=ledger, **{name: data[name] for name in TYPES})

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file. It is written beside and then renamed, so that there is never half a file.

        If the model was made in this process and is on a ledger, that learns the checksum of the file.
        """
        text = self.to_json() + "\n"
        write_whole(path, text)
        self.note_file(text)

    def note_file(self, text: str) -> None:
        """Tell the ledger, if there is one, that the model was written as this text."""
        if self._entry is not None:
            ledger, booked = self._entry
            ledger.note_model(booked, hashlib.sha256(text.encode("utf-8")).hexdigest())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "SavedModel":
        """Read a model from a file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError:
            raise ModelError(f"{path} is not text in UTF-8, so it is no model; {HOW_TO_MEND}") from None
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None


def checksum(data: Mapping[str, Any]) -> str:
    """Of everything in the file but the checksum. The order counts: that of columns is the table's."""
    content = {name: value for name, value in data.items() if name != "checksum"}
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _checked(text: str) -> dict[str, Any]:
    """The content of a file that is a model of this version, and as it was written."""
    try:
        data = read_json(text)
    except ValueError:
        raise ModelError(
            f"the model is not valid JSON: it is cut off, damaged, or something else; {HOW_TO_MEND}"
        ) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ModelError(f"the JSON is not a {FORMAT}; {HOW_TO_MEND}")
    version = data.get("version")
    if isinstance(version, bool) or version != VERSION:
        raise ModelError(
            f"the model was written by another discreet ({shown(data.get('discreet'))}): it has format version "
            f"{shown(version)}, this discreet {__version__} reads {VERSION}; update discreet, or {HOW_TO_MEND}"
        )
    try:
        unchanged = data.pop("checksum", None) == checksum(data)
    except (ValueError, RecursionError):
        unchanged = False
    if not unchanged:
        raise ModelError(
            "the model was changed after it was saved: its checksum does not fit, so neither the model nor what it says about "
            f"privacy can be relied on; {HOW_TO_MEND}"
        )
    return data


class _NotInJson(Exception):
    """A parameter has no plain form, or would not be the same when read again."""


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value
    if isinstance(value, bool | str | None) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, int) and abs(value) < LARGEST_WHOLE:
        return value
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(part) for key, part in value.items()}
    if isinstance(value, Iterable) and hasattr(value, "__len__"):
        return [_plain(part) for part in value]
    raise _NotInJson
