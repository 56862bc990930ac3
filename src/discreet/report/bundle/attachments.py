"""What a release is made of: a model, what its holder says of it, and what lies beside it.

That may be an evaluation, and what the table's ledger says on the day of the release. Where nothing is proved about the model, or
about what lies beside it, a warning comes first.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..._utils.errors import ModelError
from ...accounting.ledger import Ledger
from ...accounting.statement import PrivacyStatement
from ...accounting.summary import LedgerSnapshot
from ...evaluation.evaluated import NoisyEvaluation
from ...evaluation.evaluation_file import SavedEvaluation
from ...models.display.summary import Summary, summarize
from ...models.saved import SavedModel
from ..html import Particulars

EVALUATION, EVALUATION_PAGE = "evaluation.json", "evaluation.html"
TITLE = "The model, measured with privacy"
NOTHING_PROVED = "NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL"
TREAT_AS = "Treat it like the records themselves: it may show something about single people in the table"
ROUNDED = 1e-6  # statements round what they prove up a little: a part in 10^9, with noise that is not exact
GROW = ("entries", "epsilon", "delta", "proved_epsilon", "proved_delta", "unproved", "rho")  # of a ledger, never less


@dataclass(frozen=True)
class Attached:
    """What goes with a model. ``evaluation_file`` is a file's content, byte by byte; None is what was not given."""

    evaluation_file: bytes | None = None
    saved: SavedEvaluation | None = None
    ledger: LedgerSnapshot | None = None

    @classmethod
    def of(
        cls, model_file: bytes, evaluation_file: bytes | None = None, ledger: LedgerSnapshot | None = None
    ) -> "Attached":
        """Read an evaluation, which must be of this very model."""
        saved = None if evaluation_file is None else SavedEvaluation.from_bytes(evaluation_file, model_file)
        return cls(evaluation_file, saved, ledger)

    @property
    def evaluation(self) -> NoisyEvaluation | None:
        """What was measured."""
        return None if self.saved is None else self.saved.evaluation

    def files(self) -> dict[str, bytes]:
        """The evaluation, and a page of it for people."""
        if self.evaluation_file is None or self.evaluation is None:
            return {}
        return {
            EVALUATION: self.evaluation_file,
            EVALUATION_PAGE: self.evaluation.to_html(TITLE).encode("utf-8"),
        }


@dataclass(frozen=True)
class Release:
    """What all papers are written from. ``sha256`` is the checksum of the model's file, ``left_out`` what code is not there."""

    model: SavedModel
    sha256: str
    given: Particulars
    attached: Attached
    code: tuple[str, ...]
    left_out: Mapping[str, str]

    @cached_property
    def summary(self) -> Summary:
        """The model in words."""
        return summarize(self.model)

    @property
    def evaluation(self) -> NoisyEvaluation | None:
        """What was measured."""
        return self.attached.evaluation

    @property
    def warning(self) -> str | None:
        """That nothing is proved, where that is so."""
        return warning_of(self.model, self.evaluation)


def warning_of(model: SavedModel, evaluation: NoisyEvaluation | None = None) -> str | None:
    """The warning about a model and what was measured of it, with the reasons; None if something is proved about both.

    >>> from discreet import RuleList, SavedModel
    >>> print(warning_of(SavedModel(RuleList.parse("if age <= 30 then yes else no"))))
    NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL: it was learned without privacy. Treat it like the records themselves: ...
    """
    found, privacy = [], model.privacy
    if privacy is None or privacy.proved is None:
        reasons = "it was learned without privacy" if privacy is None else "; ".join(privacy.because)
        found.append(f"{NOTHING_PROVED}: {reasons}. {TREAT_AS}.")
    if evaluation is not None and evaluation.privacy.proved is None:
        reasons = "; ".join(evaluation.privacy.because)
        found.append(f"NOTHING IS PROVED ABOUT THE PRIVACY OF THE EVALUATION: {reasons}.")
    return " ".join(found) or None


def ledger_now(model: SavedModel, ledger: Ledger) -> LedgerSnapshot:
    """What the model's own ledger says now. Another one is an error."""
    why = not_on(model, ledger)
    if why:
        raise ModelError(f"the ledger does not know this model: {why}; give the ledger that it was booked on, or none")
    return ledger.snapshot()


def not_on(model: SavedModel, ledger: Ledger) -> str:
    """Why a ledger does not know a model; nothing if it does."""
    own, entries = model.ledger, ledger.entries
    if own is None or own.number is None:
        return "the model names no entry of a ledger"
    if own.ledger != ledger.snapshot().ledger or own.number > len(entries):
        return "it is another ledger"
    if entries[own.number - 1].release != own.release:
        return f"its entry {own.number} is another release"
    return ""


def ledger_faults(model: SavedModel, attached: Attached) -> str:
    """What a model, an evaluation and their ledgers say against each other; nothing if they agree."""
    own, now, saved = model.ledger, attached.ledger, attached.saved
    if own is not None and own.number is not None and (why := _price_fault(model.privacy, own)):
        return f"the model and its ledger contradict each other: {why}"
    if saved is not None and saved.ledger is not None and (why := _price_fault(saved.evaluation.privacy, saved.ledger)):
        return f"the evaluation and its ledger contradict each other: {why}"
    if now is None:
        return ""
    if own is None or (own.ledger, own.epsilon, own.delta) != (now.ledger, now.epsilon, now.delta):
        return "the ledger on the day of the release is not the model's"
    before, after = own.totals, now.totals
    if any(getattr(after, name) < getattr(before, name) for name in GROW):
        return "the ledger says less on the day of the release than when the model was saved"
    return ""


def _price_fault(statement: PrivacyStatement | None, ledger: LedgerSnapshot) -> str:
    """Whether a ledger that has a release has its price: no less, and no more if it has nothing else."""
    totals, proved = ledger.totals, None if statement is None else statement.proved
    if totals.entries < 1:
        return "the ledger has no entries"
    if proved is None:
        return "" if totals.unproved else "nothing is proved, and the ledger says that something is about all releases"
    if totals.unproved == totals.entries:
        return "something is proved, and the ledger says that nothing is about any release"
    pairs = (totals.proved_epsilon, proved.epsilon), (totals.proved_delta, proved.delta or 0.0)
    for booked, said in pairs:
        close = math.isclose(float(booked), said, rel_tol=ROUNDED)
        if not close and (float(booked) < said or totals.entries == 1):
            return "the price is not the one that was booked"
    return ""


def snapshot_in(record: Any) -> LedgerSnapshot | None:
    """What the ledger said on the day of the release, from a record."""
    data = record["ledger_at_release"]
    if data is None:
        return None
    return LedgerSnapshot.from_dict({name: value for name, value in data.items() if name != "total"})
