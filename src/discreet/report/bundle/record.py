"""What a release is made of, and the record of it for programs: ``disclosure.schema.json`` beside this says what that holds.

A release has a model, what its holder says of it, and what lies beside it: an evaluation, perhaps, and what the table's ledger
says on the day of the release. Where nothing is proved about the model, or about what lies beside it, a warning comes first. The
model is there as code, too, in every format there is.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from ... import __version__
from ..._utils.errors import ModelError, RuleError
from ..._utils.escaping import in_comment, on_a_line
from ..._utils.parameters import read_json
from ...accounting.costs import rho_sum
from ...accounting.statement import PrivacyStatement, above
from ...accounting.summary import LedgerSnapshot
from ...evaluation.evaluated import NoisyEvaluation
from ...evaluation.evaluation_file import SavedEvaluation
from ...models.display.summary import Summary
from ...models.display.wording import classes_called, target_called
from ...models.export import FORMATS
from ...models.saved import SavedModel
from ..html import Particulars

SUMS = "SHA256SUMS"
FORMAT, VERSION = "discreet disclosure record", 2
SCHEMA_FILE, EVALUATION = "disclosure.schema.json", "evaluation.json"
NOTHING_PROVED = "NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL"
TREAT_AS = "Treat it like the records themselves: it may show something about single people in the table"
# Where each of the particulars stands
OF_RELEASE = ("date", "organisation", "contact", "purpose", "licence", "schema_source", "evaluation_table")
OF_TABLE = {"table_name": ("table", "name"), "learned": ("table", "learned")}
PLACES = {name: ("release", name) for name in OF_RELEASE} | OF_TABLE


def sha256_of(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sums_of(checksums: Mapping[str, str]) -> bytes:
    """As ``sha256sum --check`` reads them."""
    return "".join(f"{checksums[name]}  {name}\n" for name in sorted(checksums)).encode("utf-8")


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
    """What a release is written from. ``sha256`` is the checksum of the model's file, ``left_out`` says which code is missing."""

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
    if record["format"] != FORMAT or isinstance(record["version"], bool) or record["version"] != VERSION:
        raise ModelError(f"this is not a {FORMAT} of version {VERSION}")
    return Particulars(**{name: record[part][entry] or "" for name, (part, entry) in PLACES.items()})


def _said_by(statement: PrivacyStatement) -> dict[str, Any]:
    """What any statement says: of a model, or of an evaluation."""
    return {
        "proved": statement.proved and asdict(statement.proved),
        "mechanism": statement.mechanism,
        "because": list(statement.because),
        "assumes": list(statement.assumes),
        "statement": str(statement),
    }


def _privacy(model: SavedModel) -> dict[str, Any]:
    statement = model.privacy
    if statement is None:
        nothing = dict.fromkeys(("proved", "rho", "at_ledgers_delta", "published", "mechanism"))
        return nothing | {
            "schema_epsilon": 0.0,
            "schema_delta": 0.0,
            "unit": {"records_per_person": None, "neighbours": None},
            "because": ["it was learned without privacy"],
            "assumes": [],
            "statement": "Learned without privacy: it promises nothing about the records.",
        }
    before, at_delta = statement.for_schema, statement.concentrated
    rho = None if statement.proved is None else above(rho_sum(statement.price))  # it follows from the proved pair
    persons = model.parameters.get("records_per_person", 1)
    whole = isinstance(persons, int) and not isinstance(persons, bool) and persons > 0
    return _said_by(statement) | {
        "rho": rho if at_delta is None else at_delta.rho,
        "at_ledgers_delta": at_delta and {"epsilon": at_delta.epsilon, "delta": at_delta.delta},
        "published": statement.published and asdict(statement.published),
        "schema_epsilon": 0.0 if before is None else before.epsilon,
        "schema_delta": 0.0 if before is None else before.delta,
        "unit": {"records_per_person": persons if whole else None, "neighbours": statement.neighbours},
    }


def _evaluation(attached: Attached) -> dict[str, Any] | None:
    if attached.saved is None or attached.evaluation_file is None:
        return None
    statement = attached.saved.evaluation.privacy
    return _said_by(statement) | {
        "file": EVALUATION,
        "sha256": sha256_of(attached.evaluation_file),
        "model_sha256": attached.saved.model,
        "neighbours": statement.neighbours,
        "ledger": _ledger(attached.saved.ledger),
    }


def _ledger(snapshot: LedgerSnapshot | None) -> dict[str, Any] | None:
    if snapshot is None:
        return None
    total = snapshot.total()
    return snapshot.to_dict() | {"total": total and {"epsilon": above(total.epsilon), "delta": above(total.delta)}}


FOLDER = "code/"
NOT_INSTALLED = "a package that writes it was not installed"
WITHOUT_A_PACKAGE = (".sql", ".py", ".pmml")  # nobody lacks what writes these
COMMENT = {".sql": "-- ", ".py": "# "}  # other formats have no place for people's words

Code = tuple[dict[str, bytes], dict[str, str]]


def code_files(model: SavedModel, sha256: str) -> Code:
    """The files by their names, and the formats that were left out, with the reason."""
    made: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for name, write in FORMATS.items():
        try:
            code = write(model.model)
        except RuleError as error:
            left_out[FOLDER + name] = on_a_line(error)
        except ImportError:
            left_out[FOLDER + name] = NOT_INSTALLED
        else:
            text = code if isinstance(code, bytes) else code.encode("utf-8")
            if mark := COMMENT.get(PurePath(name).suffix):
                text = _header(model, sha256, mark).encode("utf-8") + text.removesuffix(b"\n") + b"\n"
            made[FOLDER + name] = text
    return made, left_out


def _header(model: SavedModel, sha256: str, mark: str) -> str:
    """What people should know, as comments. The first two lines are ours: Python looks for the name of an encoding there."""
    privacy, schema = None if model.privacy is None else model.privacy.proved, model.model.schema
    lines = [
        f"Written by discreet {__version__} from model.json, whose SHA-256 is",
        sha256,
        f"Proved to be private with {privacy}." if privacy is not None else f"{NOTHING_PROVED}. {TREAT_AS}.",
    ]
    if (target := target_called(model.model, model.target)) is not None:
        lines.append(f"It predicts {target}")
    called = dict(zip(map(str, model.classes), classes_called(model.model), strict=True))
    lines += [f"{name} is {label}" for name, label in called.items() if label != name]
    if schema is not None:
        used = model.model.used_columns
        lines += [f"{name} is {schema[name].label}" for name in used if schema[name].label]
    return "".join(f"{mark}{in_comment(line)}\n" for line in lines)


def same_graph(one: bytes, other: bytes) -> bool:
    """Whether two files of ONNX are the same graph, which another version of ``onnx`` may write in other bytes.

    An ``ImportError`` without the package ``onnx``.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    def read(data: bytes) -> Any:
        model = onnx.ModelProto.FromString(data)
        model.ClearField("producer_version")
        constants = {tensor.name: tensor for tensor in model.graph.initializer}
        elsewhere = any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in constants.values())
        if elsewhere or len(constants) < len(model.graph.initializer):
            raise ValueError  # values in another file, which nobody opens here
        arrays = {name: onnx.numpy_helper.to_array(tensor) for name, tensor in constants.items()}
        model.graph.ClearField("initializer")
        values = {name: (array.dtype.str, array.shape, array.tolist()) for name, array in arrays.items()}
        return model.SerializeToString(deterministic=True), values

    try:
        return bool(read(one) == read(other))
    except (DecodeError, ValueError, TypeError, KeyError, UnicodeError, AttributeError):
        return False
