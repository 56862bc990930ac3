"""What a release is made of, and the record of it for programs: ``disclosure.schema.json`` beside this says what that holds.

A release has a model, what its holder says of it, and what lies beside it: an evaluation, perhaps, and what the table's ledger
says on the day of the release. Where nothing is proved about the model, or about what lies beside it, a warning comes first.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from ... import __version__
from ..._utils.errors import ModelError
from ..._utils.parameters import read_json
from ...accounting.costs import rho_sum
from ...accounting.statement import above
from ...accounting.summary import LedgerSnapshot
from ...evaluation.evaluated import NoisyEvaluation
from ...evaluation.evaluation_file import SavedEvaluation
from ...models.display.summary import Summary
from ...models.saved import SavedModel
from ..html import Particulars
from .checksums import sha256_of

FORMAT, VERSION = "discreet disclosure record", 1
SCHEMA_FILE, EVALUATION = "disclosure.schema.json", "evaluation.json"
NOTHING_PROVED = "NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL"
TREAT_AS = "Treat it like the records themselves: it may show something about single people in the table"
# Where each of the particulars stands
OF_RELEASE = ("date", "organisation", "contact", "purpose", "licence", "schema_source", "evaluation_table")
OF_TABLE = {"table_name": ("table", "name"), "learned": ("table", "learned")}
PLACES = {name: ("release", name) for name in OF_RELEASE} | OF_TABLE


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


@dataclass(frozen=True)
class Release:
    """What all papers are written from. ``sha256`` is the checksum of the model's file, ``left_out`` what code is not there."""

    model: SavedModel
    sha256: str
    given: Particulars
    attached: Attached
    code: tuple[str, ...]
    left_out: Mapping[str, str]
    summary: Summary  # the model in words
    warning: str | None  # that nothing is proved, where that is so


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


def schema_of_records() -> bytes:
    """The JSON schema of records."""
    return files(__package__).joinpath(SCHEMA_FILE).read_bytes()


def disclosure_record(release: Release) -> bytes:
    """What is released: from the model's file, what lies beside it, and from what the holder says.

    It is JSON in ASCII: whatever a name holds, nothing that shows the file obeys it.
    """
    model, attached = release.model, release.attached
    schema, given = model.model.schema, asdict(release.given)
    said: dict[str, dict[str, Any]] = {"release": {}, "table": {}}
    for name, (part, entry) in PLACES.items():
        said[part][entry] = given[name] or None
    record = {
        "$schema": SCHEMA_FILE,
        "format": FORMAT,
        "version": VERSION,
        "warning": release.warning,
        **said,
        "model": {
            "file": "model.json",
            "sha256": release.sha256,
            "kind": model.model.kind,
            "target": model.target,
            "classes": list(model.classes),
            "learner": model.learner,
            "parameters": dict(model.parameters),
            "columns_used": model.model.used_columns,
            "has_counts": all(answer.counts is not None for answer in model.model.answers),
        },
        "privacy": _privacy(model),
        "ledger": _ledger(model.ledger),
        "ledger_at_release": _ledger(attached.ledger),
        "evaluation": _evaluation(attached),
        "schema": {
            "source": None if schema is None else schema.source or None,
            "inferred": schema is not None and schema.inferred,
            "released": {} if schema is None else schema.to_dict().get("released", {}),
            "definition": read_json(model.model.to_json())["schema"],
        },
        "code": {"files": list(release.code), "left_out": dict(release.left_out)},
        "software": {"name": "discreet", "learned_with": model.discreet, "released_with": __version__},
    }
    return f"{json.dumps(record, indent=1, allow_nan=False)}\n".encode("ascii")


def particulars_in(record: Any) -> Particulars:
    """What the holder said, from a record."""
    try:
        if record["format"] != FORMAT or isinstance(record["version"], bool) or record["version"] != VERSION:
            raise TypeError
        return Particulars(**{name: record[part][entry] or "" for name, (part, entry) in PLACES.items()})
    except (KeyError, TypeError, ValueError):
        raise ModelError(f"this is not a {FORMAT} of version {VERSION}") from None


def _privacy(model: SavedModel) -> dict[str, Any]:
    statement = model.privacy
    if statement is None:
        nothing = dict.fromkeys(("proved", "rho", "at_ledgers_delta", "published"))
        return nothing | {
            "cut_points_epsilon": 0.0,
            "mechanism": None,
            "unit": {"records_per_person": None, "neighbours": None},
            "because": ["it was learned without privacy"],
            "assumes": [],
            "statement": "Learned without privacy: it promises nothing about the records.",
        }
    proved, at_delta = statement.proved, statement.concentrated
    rho = None if proved is None else above(rho_sum(statement.price))  # it follows from the proved pair
    persons = model.parameters.get("records_per_person", 1)
    whole = isinstance(persons, int) and not isinstance(persons, bool) and persons > 0
    return {
        "proved": proved and asdict(proved),
        "rho": rho if at_delta is None else at_delta.rho,
        "at_ledgers_delta": at_delta and {"epsilon": at_delta.epsilon, "delta": at_delta.delta},
        "published": statement.published and asdict(statement.published),
        "cut_points_epsilon": statement.cut_points,
        "mechanism": statement.mechanism,
        "unit": {"records_per_person": persons if whole else None, "neighbours": statement.neighbours},
        "because": list(statement.because),
        "assumes": list(statement.assumes),
        "statement": str(statement),
    }


def _evaluation(attached: Attached) -> dict[str, Any] | None:
    if attached.saved is None or attached.evaluation_file is None:
        return None
    statement = attached.saved.evaluation.privacy
    return {
        "file": EVALUATION,
        "sha256": sha256_of(attached.evaluation_file),
        "model_sha256": attached.saved.model,
        "proved": statement.proved and asdict(statement.proved),
        "mechanism": statement.mechanism,
        "neighbours": statement.neighbours,
        "because": list(statement.because),
        "assumes": list(statement.assumes),
        "statement": str(statement),
        "ledger": _ledger(attached.saved.ledger),
    }


def _ledger(snapshot: LedgerSnapshot | None) -> dict[str, Any] | None:
    if snapshot is None:
        return None
    total = snapshot.total()
    return snapshot.to_dict() | {"total": total and {"epsilon": above(total.epsilon), "delta": above(total.delta)}}
