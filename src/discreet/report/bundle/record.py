"""The disclosure record: what was released, for programs. ``disclosure.schema.json`` beside this says what it holds."""

import json
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from ... import __version__
from ..._utils.errors import ModelError
from ..._utils.parameters import read_json
from ...accounting.costs import rho_sum
from ...accounting.statement import Guarantee, PrivacyStatement, above
from ...accounting.summary import LedgerSnapshot
from ...models.saved import SavedModel
from ..html import Particulars
from .attachments import EVALUATION, Attached, Release
from .checksums import sha256_of

FORMAT, VERSION = "discreet disclosure record", 1
SCHEMA_FILE = "disclosure.schema.json"
# Where each of the particulars stands
PLACES = {
    "date": ("release", "date"),
    "organisation": ("release", "organisation"),
    "contact": ("release", "contact"),
    "purpose": ("release", "purpose"),
    "licence": ("release", "licence"),
    "table_name": ("table", "name"),
    "learned": ("table", "learned"),
    "schema_source": ("release", "schema_source"),
    "evaluation_table": ("release", "evaluation_table"),
}


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
        "ledger": None if model.ledger is None else _ledger(model.ledger),
        "ledger_at_release": None if attached.ledger is None else _ledger(attached.ledger),
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
    at_delta = statement.concentrated
    persons = model.parameters.get("records_per_person", 1)
    whole = isinstance(persons, int) and not isinstance(persons, bool) and persons > 0
    return {
        "proved": _pair(statement.proved),
        "rho": _rho(statement),
        "at_ledgers_delta": None if at_delta is None else _pair(Guarantee(at_delta.epsilon, at_delta.delta)),
        "published": _pair(statement.published),
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
    statement, ledger = attached.saved.evaluation.privacy, attached.saved.ledger
    return {
        "file": EVALUATION,
        "sha256": sha256_of(attached.evaluation_file),
        "model_sha256": attached.saved.model,
        "proved": _pair(statement.proved),
        "mechanism": statement.mechanism,
        "neighbours": statement.neighbours,
        "because": list(statement.because),
        "assumes": list(statement.assumes),
        "statement": str(statement),
        "ledger": None if ledger is None else _ledger(ledger),
    }


def _pair(pair: Guarantee | None) -> dict[str, float | None] | None:
    return None if pair is None else {"epsilon": pair.epsilon, "delta": pair.delta}


def _rho(statement: PrivacyStatement) -> float | None:
    """As the statement says; if it does not, what follows from the proved pair."""
    if statement.concentrated is not None:
        return statement.concentrated.rho
    return None if statement.proved is None else above(rho_sum(statement.price))


def _ledger(snapshot: LedgerSnapshot) -> dict[str, Any]:
    total = snapshot.total()
    pair = None if total is None else _pair(Guarantee(above(total.epsilon), above(total.delta)))
    return snapshot.to_dict() | {"total": pair}
