"""What can be checked about a release by whoever has it: that nothing changed, and that its papers say what its model says."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from .. import __version__
from ..common.errors import ModelError
from ..models.saved import SavedModel
from ..privacy.ledger import UNREADABLE, Ledger
from ..releases.evaluated import NoisyEvaluation
from ..releases.evaluation_file import SavedEvaluation
from .attached import EVALUATION, Attached, not_on, snapshot_in
from .code_files import NOT_INSTALLED, Code, code_files
from .folder import MODEL, RECORD, release_files
from .loud import warning_of
from .record import FORMAT, particulars_in
from .sums import SUMS, Check, Found, check_sums, files_in, sha256_of

BY_A_LIBRARY = ".onnx"  # of which another version may write other bytes

HOLDER = (
    "that the model was learned from the table that is named, that its schema was written without a look at the records, and "
    "that no person has more records than it says"
)
LEDGER = "that the ledger is the right one, and the only one, and what was released since"
MAKER = (
    "who made this folder: anybody can make one that holds. Compare the fingerprint with one that the holder told you in "
    "another way"
)
SIGNED = "whether somebody signed the checklist"


@dataclass(frozen=True)
class Verification:
    """What holds of a release, and what nobody can tell from it. ``promise`` is what its model says about privacy."""

    checks: tuple[Check, ...]
    fingerprint: str
    promise: str
    cannot: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and the checksums are there."""
        return bool(self.checks) and all(check.holds is not False for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        checks = [{"what": c.what, "holds": c.holds, "why": c.why} for c in self.checks]
        said = {"ok": self.ok, "fingerprint": self.fingerprint, "promise": self.promise}
        return said | {"checks": checks, "cannot_be_checked": list(self.cannot)}


def verify_release(folder: str | PathLike[str], ledger: Ledger | None = None) -> Verification:
    """Check a folder that ``write_release`` made: every byte, and that the papers say what the model says. Reads no records.

    Parameters
    ----------
    folder : str or path
        The folder.
    ledger : Ledger, default=None
        The table's ledger, for those who have it: whether it knows this model.

    Returns
    -------
    Verification
        Its ``ok`` says whether everything holds that could be checked; ``checks`` one by one; ``cannot`` what could not.
    """
    place = Path(folder)
    if place.is_symlink() or not place.is_dir():
        raise ModelError("a release is a folder; this is none")
    found = files_in(place)
    checks = list(check_sums(found))
    promise, model = "", None
    try:
        model = SavedModel.from_json(_content(found, MODEL).decode("utf-8-sig"))
        promise = (
            warning_of(model, _measured(found)) or f"Private, with {model.privacy.proved if model.privacy else ''}"
        )
        checks.append(Check(f"{MODEL} is a model, unchanged since it was saved", True))
    except (ModelError, UnicodeDecodeError) as error:
        checks.append(Check(f"{MODEL} is a model, unchanged since it was saved", False, str(error)))
    checks += _papers(found, model)
    if ledger is not None:
        checks.append(_on_ledger(model, sha256_of(_content(found, MODEL)) if MODEL in found else "", ledger))
        checks += _since(found, model, ledger)
    sums = found.get(SUMS)
    return Verification(
        tuple(checks), "" if sums is None else sha256_of(sums), promise, (HOLDER, LEDGER, MAKER, SIGNED)
    )


def _measured(found: Found) -> NoisyEvaluation | None:
    """The evaluation, if there is one that can be read."""
    try:
        return SavedEvaluation.from_bytes(_content(found, EVALUATION)).evaluation
    except ModelError:
        return None


def _content(found: Found, name: str) -> bytes:
    data = found.get(name)
    if data is None:
        raise ModelError(f"{name} is not there")
    return data


def _papers(found: Found, model: SavedModel | None) -> Iterator[Check]:
    """The papers again, from the model, what lies beside it and what the holder said; they must be the same bytes."""
    what = f"{RECORD} is a {FORMAT}"
    try:
        record = json.loads(_content(found, RECORD).decode("utf-8"))
        given, ledger = particulars_in(record), snapshot_in(record)
    except (ModelError, *UNREADABLE, OverflowError) as error:
        yield Check(what, False, str(error) if isinstance(error, ModelError) else "it cannot be read")
        return
    yield Check(what, True)
    says = record["model"].get("sha256") if isinstance(record.get("model"), dict) else None
    same = MODEL in found and says == sha256_of(_content(found, MODEL))
    yield Check(f"{RECORD} is about this {MODEL}", same, "" if same else "it names another checksum")
    if model is None:
        return
    attached = Attached(ledger=ledger)
    if EVALUATION in found:
        what = f"{EVALUATION} was measured of this {MODEL}"
        try:
            attached = Attached.of(_content(found, MODEL), _content(found, EVALUATION), ledger)
            yield Check(what, True)
        except ModelError as error:
            yield Check(what, False, str(error))
            return
    made_by = record["software"].get("released_with") if isinstance(record.get("software"), dict) else None
    if made_by != __version__:
        yield Check(
            "the papers say what the model says", None, f"another discreet made them, and this is {__version__}"
        )
        return
    code, cannot_write = _code(found, record, model)
    expected = release_files(_content(found, MODEL), given, allow_unproved=True, given_code=code, attached=attached)
    for name, data in expected.items():
        if name in (MODEL, EVALUATION, SUMS):
            continue
        holds: bool | None = found.get(name) == data
        why = "" if holds else "this discreet writes something else for this model"
        if name in cannot_write or (not holds and name.endswith(BY_A_LIBRARY)):
            holds, why = None, "a package is not installed here, or has another version"
        yield Check(f"{name} says what the model says", holds, why)


def _code(found: Found, record: Any, model: SavedModel) -> tuple[Code, set[str]]:
    """The code that a release should have, and what of it cannot be written here, for want of a package."""
    own, impossible = code_files(model, sha256_of(_content(found, MODEL)))
    said = record["code"]["left_out"] if isinstance(record.get("code"), dict) else {}
    left_out = {name: NOT_INSTALLED for name in own if isinstance(said, dict) and said.get(name) == NOT_INSTALLED}
    code = {name: data for name, data in own.items() if name not in left_out}
    cannot_write = {name for name, why in impossible.items() if why == NOT_INSTALLED and found.get(name) is not None}
    code |= {name: found[name] or b"" for name in cannot_write}
    left_out |= {name: why for name, why in impossible.items() if name not in cannot_write}
    order = [*own, *impossible]
    return (
        {name: code[name] for name in sorted(code, key=order.index)},
        {name: left_out[name] for name in sorted(left_out, key=order.index)},
    ), cannot_write


def _on_ledger(model: SavedModel | None, sha256: str, ledger: Ledger) -> Check:
    """Whether the ledger has the model's entry, and the checksum of its file."""
    what = "the ledger knows this model"
    why = "there is no model" if model is None else not_on(model, ledger)
    if model is None or model.ledger is None or model.ledger.number is None or why:
        return Check(what, False, why)
    own, entry = model.ledger, ledger.entries[model.ledger.number - 1]
    if sha256 not in entry.models:
        return Check(what, False, f"its entry {own.number} has another checksum of the model's file, or none")
    return Check(what, True, f"entry {own.number}")


def _since(found: Found, model: SavedModel | None, ledger: Ledger) -> Iterator[Check]:
    """What came onto the ledger after the papers were written. That is no fault of theirs."""
    if model is None or model.ledger is None or not_on(model, ledger):
        return
    try:
        then = snapshot_in(json.loads(_content(found, RECORD).decode("utf-8"))) or model.ledger
    except (ModelError, *UNREADABLE, OverflowError):
        return
    now = ledger.snapshot()
    more = now.totals.entries - then.totals.entries
    spent = f"they came to epsilon {float(then.spent[0]):.6g}, and come to {float(now.spent[0]):.6g} now"
    said = "" if not more else f"the ledger has {more} more than the papers say; {spent}"
    yield Check("nothing was released from the table since", True if not more else None, said)
