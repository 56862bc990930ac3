"""The release bundle: the model, its report, card, record and checklist, and code, with a checksum of each.

It is a function of the model's file, of the evaluation and the ledger that the holder gives, of what the holder says, and of
nothing else: no records, and nothing of the machine.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import date as calendar_day
from os import PathLike
from pathlib import Path
from typing import Any

from ..._utils.errors import ModelError
from ..._utils.writing import write_folder
from ...accounting.ledger import Ledger
from ...models.display.summary import summarize
from ...models.saved import SavedModel
from ..html import Particulars, to_html
from .markdown import EVALUATION_PAGE, checklist, model_card
from .record import (
    EVALUATION,
    SCHEMA_FILE,
    SUMS,
    Attached,
    Code,
    Release,
    code_files,
    disclosure_record,
    schema_of_records,
    sha256_of,
    sums_of,
    warning_of,
)

MODEL, RECORD, REPORT, WARNING = "model.json", "disclosure.json", "report.html", "WARNING.txt"
TITLE = "The model, measured with privacy"
NOTHING = Attached()


def write_release(
    model: Any,
    folder: str | PathLike[str],
    *,
    table_name: str = "",
    organisation: str = "",
    contact: str = "",
    purpose: str = "",
    licence: str = "",
    learned: str = "",
    date: str = "",
    schema_source: str = "",
    evaluation: str | PathLike[str] | None = None,
    evaluation_table: str = "",
    ledger: Ledger | None = None,
    allow_unproved: bool = False,
    force: bool = False,
) -> str:
    """Write a release bundle: a model and its documents, in a new folder. No record is read, and no privacy spent.

    The folder has the model, the report, a model card (README.md), the disclosure record with its JSON schema, code, a
    checklist to sign, and SHA256SUMS. Whatever stands in it was in the model or is given here.

    Parameters
    ----------
    model : path of a model's file, SavedModel or fitted classifier
        The model. A file goes into the folder as it is, so that its checksum is the one on the ledger.
    folder : str or path
        Where the folder goes. It is written whole or not at all.
    table_name, organisation, contact, purpose, licence : str, default=""
        What the holder says. What is left out is said to be not given.
    learned, date : str, default=""
        The days on which the model was learned and is released (2026-11-17). It is released today unless another day is given.
    schema_source : str, default=""
        Who drafted the schema, and from which sample or codebook, as the holder says.
    evaluation : path of an evaluation's file, default=None
        How good this very file of a model is: ``NoisyEvaluation.save``, ``discreet evaluate --out``.
    evaluation_table : str, default=""
        Which records it was measured on, as the holder says.
    ledger : Ledger, default=None
        The ledger of the model: what all releases from the table come to today goes into the record.
    allow_unproved : bool, default=False
        Whether to write a model about which nothing is proved. The folder then says so everywhere.
    force : bool, default=False
        Whether to write over an earlier release that ``verify_release`` finds to hold. Anything else at that place stays, and is
        an error.

    Returns
    -------
    str
        The fingerprint of the folder: send it to the receiver through another channel. ``verify_release`` has the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from discreet import DPOptimalRuleListClassifier, verify_release, write_release
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    >>> with TemporaryDirectory() as home:
    ...     fingerprint = write_release(clf, Path(home) / "release", table_name="COMPAS, two years")
    ...     found = verify_release(Path(home) / "release")
    >>> found.ok, found.fingerprint == fingerprint
    (True, True)
    """
    given = Particulars(
        *(table_name, organisation, contact, purpose, licence, learned, date), schema_source, evaluation_table
    )
    if evaluation_table and evaluation is None:
        raise ModelError("evaluation_table is about an evaluation: give its file, too, as evaluation (--evaluation)")
    if not given.date:
        given = replace(given, date=calendar_day.today().isoformat())
    saved = None
    if isinstance(model, str | PathLike):
        text = Path(model).read_bytes()
    else:
        saved = model if isinstance(model, SavedModel) else SavedModel.of(model)
        text = (saved.to_json() + "\n").encode("utf-8")
    if ledger is not None and (why := not_on(saved or read_model(text), ledger)):
        raise ModelError(f"the ledger does not know this model: {why}; give the ledger that it was booked on, or none")
    now = None if ledger is None else ledger.snapshot()
    measured = None if evaluation is None else Path(evaluation).read_bytes()
    content = release_files(text, given, allow_unproved, attached=Attached.of(text, measured, now))
    check_place(folder, force)
    write_folder(folder, content, over=force)
    if saved is not None:
        saved.note_file(text.decode("utf-8"))
    return sha256_of(content[SUMS])


def release_files(
    model_file: bytes,
    particulars: Particulars,
    allow_unproved: bool = False,
    given_code: Code | None = None,
    attached: Attached = NOTHING,
) -> dict[str, bytes]:
    """The files of a release, by their names. Code is written, unless it is given."""
    model = read_model(model_file)
    warning = warning_of(model, attached.evaluation)
    if warning is not None and not allow_unproved:
        what = "model" if warning_of(model) is not None else "evaluation"
        raise ModelError(
            f"nothing is proved about this {what}, so it may not leave as if something were; say --allow-unproved "
            "(allow_unproved=True) to release it anyway; every document in the folder then says so"
        )
    sha256 = sha256_of(model_file)
    code, left_out = code_files(model, sha256) if given_code is None else given_code
    release = Release(model, sha256, particulars, attached, tuple(code), left_out, summarize(model), warning)
    record = disclosure_record(release)
    texts = {
        "README.md": model_card(release),
        REPORT: to_html(model, particulars, sha256),
        "checklist.md": checklist(release, sha256_of(record)),
    }
    content = {MODEL: model_file, RECORD: record, SCHEMA_FILE: schema_of_records(), **code}
    if attached.evaluation_file is not None and attached.evaluation is not None:
        content[EVALUATION] = attached.evaluation_file
        content[EVALUATION_PAGE] = attached.evaluation.to_html(TITLE).encode("utf-8")
    content |= {name: text.encode("utf-8") for name, text in texts.items()}
    if warning is not None:
        content[WARNING] = f"{ascii(warning)[1:-1]}\n".encode()  # for whatever opens a text file
    return content | {SUMS: sums_of({name: sha256_of(data) for name, data in content.items()})}


def check_place(folder: str | PathLike[str], force: bool) -> None:
    """Complain about a place where a release cannot go. What cannot be made again is not written over, not even by force."""
    place = Path(folder)
    if place.is_symlink():
        raise ModelError(f"{place} is a link: choose another name")
    if not place.exists():
        return
    if not force:
        raise FileExistsError(f"{place} exists; say --force (force=True) to write over an earlier release")
    from .verifying import verify_release

    with suppress(ModelError):
        if verify_release(place).ok:
            return
    raise ModelError(
        f"{place} is not a release folder, or one that was changed, so it is not overwritten: choose another name"
    )


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


def read_model(model_file: bytes) -> SavedModel:
    """The model in a file."""
    try:
        return SavedModel.from_json(model_file.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ModelError("this is not a model: it is not text in UTF-8") from None
