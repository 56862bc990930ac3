"""What a holder lays beside a model: an evaluation of it, and what the table's ledger says on the day of the release."""

from dataclasses import dataclass
from typing import Any

from ..common.errors import ModelError
from ..models.saved import SavedModel
from ..privacy.entries import LedgerSnapshot
from ..privacy.ledger import Ledger
from ..releases.evaluated import NoisyEvaluation
from ..releases.evaluation_file import SavedEvaluation

EVALUATION, EVALUATION_PAGE = "evaluation.json", "evaluation.html"
TITLE = "The model, measured with privacy"


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
        saved = None if evaluation_file is None else SavedEvaluation.from_bytes(evaluation_file)
        if saved is not None:
            saved.check_model(model_file)
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


def snapshot_in(record: Any) -> LedgerSnapshot | None:
    """What the ledger said on the day of the release, from a record."""
    data = record["ledger_at_release"]
    if data is None:
        return None
    return LedgerSnapshot.from_dict({name: value for name, value in data.items() if name != "total"})
