"""What can be checked about a release by whoever has it: it is made again from its model, and compared.

Names in a folder, and in its list of checksums, are somebody else's: no file is opened but those that are found, and no link
followed.
"""

import math
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ... import __version__
from ..._utils.errors import ModelError
from ..._utils.escaping import is_unicode
from ..._utils.parameters import read_json
from ...accounting.ledger import UNREADABLE, Ledger
from ...accounting.statement import PrivacyStatement, neighbours_of, spent_on
from ...accounting.summary import LedgerSnapshot
from ...models.saved import SavedModel
from ..html import Particulars
from .folder import MODEL, RECORD, REPORT, not_on, read_model, release_files
from .record import (
    EVALUATION,
    FORMAT,
    NOT_INSTALLED,
    SUMS,
    WITHOUT_A_PACKAGE,
    Attached,
    Code,
    code_files,
    particulars_in,
    same_graph,
    sha256_of,
    sums_of,
    warning_of,
)

# Where documents name the version that made them. The report names the one that learned the model
BEFORE_VERSIONS = ("Made by discreet ", "Written by discreet ", '"released_with": "', 'name="discreet" version="')
BY_A_LIBRARY = ".onnx"  # of which another version may write other bytes
ROUNDED = 1e-6  # statements round what they prove up a little: a part in 10^9, with noise that is not exact
GROW = ("entries", "epsilon", "delta", "proved_epsilon", "proved_delta", "unproved", "rho")  # of a ledger, never less
NOT_INSTALLED_HERE = "a package that writes it is not installed here"

MOST_FILES = 1_000
LARGEST_FILE = 1 << 28
STATES = {True: "holds", False: "does not hold", None: "could not be checked"}

T = TypeVar("T")
Found = dict[str, bytes | None]  # by name, what is in a folder; None for what is not a file or cannot be read
NOT_CHECKABLE = (
    "whether the model was learned from the named table, its schema was written without looking at the records (apart from "
    "what was found with noise, and is counted), and no person has more records than stated",
    "whether the ledger is the right one and the only one, and what was released since",
    "who made this folder: anyone can make one that passes. Compare the fingerprint with the one that the data holder sent "
    "you through another channel",
    "whether somebody signed the checklist",
)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. ``holds`` is None if it could not be checked."""

    what: str
    holds: bool | None
    why: str = ""

    @property
    def state(self) -> str:
        """In words."""
        return STATES[self.holds]


@dataclass(frozen=True)
class Verification:
    """What was checked in a release, and what cannot be checked. ``promise`` is what its model says about privacy."""

    checks: tuple[Check, ...]
    fingerprint: str
    promise: str
    cannot: ClassVar = NOT_CHECKABLE

    @property
    def holds(self) -> bool | None:
        """False if something does not hold; None if that is not so and something could not be checked."""
        found = {check.holds for check in self.checks} or {False}
        return False if False in found else None if None in found else True

    @property
    def state(self) -> str:
        """``holds``, ``does not hold`` or ``could not be checked``."""
        return STATES[self.holds]

    @property
    def ok(self) -> bool:
        """Whether everything was checked and holds."""
        return self.holds is True

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        checks = [{"what": c.what, "state": c.state, "why": c.why} for c in self.checks]
        said = {"ok": self.ok, "state": self.state, "fingerprint": self.fingerprint, "promise": self.promise}
        return said | {"checks": checks, "nobody_can_tell": list(self.cannot)}


def verify_release(folder: str | PathLike[str], ledger: Ledger | None = None) -> Verification:
    """Check a folder that ``write_release`` made. It is made again from the model and compared. Reads no records.

    Parameters
    ----------
    folder : str or path
        The folder.
    ledger : Ledger, default=None
        The table's ledger, for those who have it: whether it knows this model, and has its price.

    Returns
    -------
    Verification
        Its ``state`` is "holds", "does not hold" or "could not be checked", as that of each of its ``checks`` is; ``ok`` says
        whether it is the first; ``cannot`` is what nobody can tell from a folder.
    """
    place = Path(folder)
    if place.is_symlink() or not place.is_dir():
        raise ModelError("not a release folder")
    found = files_in(place)
    checks, promise, sums = list(check_sums(found)), "", found.get(SUMS)
    what = f"{MODEL} is a model, unchanged since it was saved"
    model = _read(checks, what, lambda: read_model(_content(found, MODEL)))
    if model is not None:
        attached = _check_documents(checks, found, model)
        promise = warning_of(model, attached.evaluation) or f"Private, with {model.privacy.proved}"  # type: ignore[union-attr]
        if ledger is not None:
            checks.append(_on_ledger(model, sha256_of(_content(found, MODEL)), ledger))
            checks += _since(model, attached.ledger, ledger)
    return Verification(tuple(checks), "" if sums is None else sha256_of(sums), promise)


def files_in(folder: Path, prefix: str = "", deeper: int = 3) -> Found:
    """What is in a folder."""
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    if len(listed) > MOST_FILES:
        raise ModelError("there are too many files in the folder for a release")
    found: Found = {} if listed or not prefix else {prefix: None}  # an empty folder is no part of a release
    for entry in listed:
        name = prefix + entry.name
        if not is_unicode(name):
            raise ModelError("not a release folder: a file name in it is not UTF-8")
        if entry.is_dir(follow_symlinks=False) and deeper:
            found |= files_in(folder / entry.name, f"{name}/", deeper - 1)
        else:
            found[name] = _bytes_in(folder / entry.name)
    return found


def _bytes_in(path: Path) -> bytes | None:
    """A regular file of a sensible size. It is looked at once it is open, so that it cannot be swapped for a pipe or a link."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            return file.read() if stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST_FILE else None
    except OSError:
        return None


def check_sums(found: Found) -> Iterator[Check]:
    """Every file against SHA256SUMS. That itself must be, byte by byte, what the files come to."""
    sums = found.get(SUMS)
    if sums is None:
        yield Check(f"{SUMS} is there", False, "without it nothing can be said about the others")
        return
    lines = [line.partition(b"  ") for line in sums.split(b"\n") if line]
    listed = {name.decode("utf-8", "replace"): digest.decode("ascii", "replace") for digest, _, name in lines}
    actual = {name: None if data is None else sha256_of(data) for name, data in found.items() if name != SUMS}
    for name in sorted({*listed, *actual}):
        why = ""
        if name not in actual:
            why = "it is not there"
        elif name not in listed:
            why = f"{SUMS} does not list it: it was added"
        elif actual[name] is None:
            why = "it is not a file, or it is too large"
        elif actual[name] != listed[name]:
            why = f"its checksum is not the one in {SUMS}"
        yield Check(f"{name} is unchanged", not why, why)
    same = sums_of({name: digest or "" for name, digest in actual.items()}) == sums
    yield Check(f"{SUMS} matches the files", same, "" if same else "something above was changed, or this file")


def _content(found: Found, name: str) -> bytes:
    data = found.get(name)
    if data is None:
        raise ModelError(f"{name} is not there")
    return data


def _read(checks: list[Check], what: str, read: Callable[[], T]) -> T | None:
    """What is read, and a check that it can be; None if it cannot."""
    try:
        value = read()
    except (ModelError, *UNREADABLE, OverflowError) as error:
        checks.append(Check(what, False, str(error) if isinstance(error, ModelError) else "it cannot be read"))
        return None
    checks.append(Check(what, True))
    return value


def snapshot_in(record: Any) -> LedgerSnapshot | None:
    """What the ledger said on the day of the release, from a record."""
    said = record["ledger_at_release"]
    return None if said is None else LedgerSnapshot.from_dict({n: value for n, value in said.items() if n != "total"})


def _record_in(content: bytes) -> tuple[Particulars, LedgerSnapshot | None, str, dict[str, Any]]:
    """What the data holder stated, what the ledger said, which version wrote the record, and which code was left out."""
    record = read_json(content)
    given, ledger, made_by = particulars_in(record), snapshot_in(record), record["software"]["released_with"]
    if not isinstance(made_by, str) or not re.fullmatch(r"[0-9][0-9A-Za-z.+]{0,30}", made_by):
        raise ValueError
    return given, ledger, made_by, dict(record["code"]["left_out"])


def _check_documents(checks: list[Check], found: Found, model: SavedModel) -> Attached:
    """Make the folder again from the model, what lies beside it and what was stated, and compare. Returns what lies beside it."""
    record = _read(checks, f"{RECORD} is a {FORMAT}", lambda: _record_in(_content(found, RECORD)))
    if record is None:
        return Attached()
    given, ledger, made_by, said = record
    file, attached = _content(found, MODEL), Attached(ledger=ledger)
    if EVALUATION in found:
        what = f"{EVALUATION} was measured of this {MODEL}"
        measured = _read(checks, what, lambda: Attached.of(file, _content(found, EVALUATION), ledger))
        if measured is None:
            return attached
        attached = measured
    why = "; ".join(contradictions(model, attached))
    checks.append(Check("the model, its parameters, its schema and the ledgers agree about prices", not why, why))
    code, unknown = _code(found, model, said)
    expected = release_files(file, given, True, code, attached)
    why = "a release of this model has no such file"
    checks += [Check(f"{name} belongs to a release", False, why) for name in sorted({*found} - {*expected})]
    # documents have the checksum of the record, which names the version that made it
    theirs_for = {sha256_of(expected[RECORD]): sha256_of(_content(found, RECORD))}
    theirs_for |= {before + __version__: before + made_by for before in BEFORE_VERSIONS}
    for name, mine in expected.items():
        if name in (MODEL, EVALUATION, SUMS):
            continue
        theirs, what = found.get(name), f"{name} agrees with the model"
        if name in unknown:
            checks.append(Check(what, None, NOT_INSTALLED_HERE))
        elif theirs is not None and _same(name, mine, theirs, theirs_for):
            checks.append(Check(what, True))
        elif made_by == __version__ or theirs is None:
            checks.append(Check(what, False, "it differs from what discreet writes for this model"))
        else:
            checks.append(Check(what, None, f"discreet {made_by} made it, and this is {__version__}"))
    return attached


def _same(name: str, mine: bytes, theirs: bytes, theirs_for: Mapping[str, str]) -> bool:
    """Whether a document is what would be written here, apart from what another version writes in its place."""
    if name.endswith(BY_A_LIBRARY):
        return same_graph(mine, theirs)
    for own, other in theirs_for.items() if name != REPORT else ():
        mine = mine.replace(own.encode(), other.encode())
    return mine == theirs


def _code(found: Found, model: SavedModel, said: dict[str, Any]) -> tuple[Code, set[str]]:
    """The code that a release should have, and what of it cannot be written here, for want of a package.

    Whoever made it may have lacked a package, too; what was left out for another reason is left out here.
    """
    own, impossible = code_files(model, sha256_of(_content(found, MODEL)))
    order = [*own, *impossible]
    lacking = {name for name in order if said.get(name) == NOT_INSTALLED and not name.endswith(WITHOUT_A_PACKAGE)}
    unknown = {name for name, why in impossible.items() if why == NOT_INSTALLED} - lacking
    made = {name: own.get(name) or found.get(name) or b"" for name in order if name in {*own, *unknown} - lacking}
    return (made, {n: NOT_INSTALLED if n in lacking else impossible[n] for n in order if n not in made}), unknown


def contradictions(model: SavedModel, attached: Attached) -> Iterator[str]:
    """What a model, its parameters, its schema, an evaluation and their ledgers say against each other about prices."""
    own, now, saved, statement = model.ledger, attached.ledger, attached.saved, model.privacy
    booked = {"model": (statement, own if own is not None and own.number is not None else None)}
    if saved is not None:
        booked["evaluation"] = saved.evaluation.privacy, saved.ledger
    for what, (promised, ledger) in booked.items():
        if ledger is not None and (why := _price_fault(promised, ledger)):
            yield f"the {what} and its ledger contradict each other: {why}"
    if now is not None:
        if own is None or (own.ledger, own.epsilon, own.delta) != (now.ledger, now.epsilon, now.delta):
            yield "the ledger on the day of the release is not the model's"
        elif any(getattr(now.totals, name) < getattr(own.totals, name) for name in GROW):
            yield "the ledger has less on the day of the release than when the model was saved"
    pair = None if statement is None else statement.published or statement.proved
    if statement is None or pair is None:
        return
    people, given = model.parameters.get("records_per_person", 1), model.parameters.get("epsilon")
    if statement.neighbours != neighbours_of(people if isinstance(people, int) else 1):
        yield "the statement and the parameters of the learner disagree about neighbours"
    # what is proved, or what the mechanism's authors count, is the epsilon that the learner was given
    learning = pair.epsilon if statement.published is not None else statement.alone[0]
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not (is_number and math.isclose(learning, float(given or 0), rel_tol=ROUNDED)):
        yield "the statement and the parameters of the learner disagree about epsilon"
    schema = model.model.schema
    counted = spent_on(schema.released) if schema is not None and schema.released else None
    if statement.proved is not None and counted != statement.for_schema:
        yield "the statement and the schema disagree about what the schema cost"


def _price_fault(statement: PrivacyStatement | None, ledger: LedgerSnapshot) -> str:
    """Whether a ledger that has a release has its price: no less, and no more if it has nothing else."""
    totals, proved = ledger.totals, None if statement is None else statement.proved
    if totals.entries < 1:
        return "the ledger has no entries"
    if proved is None:
        return "" if totals.unproved else "nothing is proved, but the ledger claims a proof for all releases"
    if totals.unproved == totals.entries:
        return "something is proved, but the ledger claims no proof for any release"
    for booked, said in (totals.proved_epsilon, proved.epsilon), (totals.proved_delta, proved.delta or 0.0):
        close = math.isclose(float(booked), said, rel_tol=ROUNDED)
        if not close and (float(booked) < said or totals.entries == 1):
            return "the price is not the one that was booked"
    return ""


def _on_ledger(model: SavedModel, sha256: str, ledger: Ledger) -> Check:
    """Whether the ledger has the model's entry, its price, and the checksum of its file."""
    what, why = "the ledger knows this model", not_on(model, ledger)
    if why or model.ledger is None or model.ledger.number is None:
        return Check(what, False, why)
    number, privacy = model.ledger.number, model.privacy
    entry = ledger.entries[number - 1]
    if sha256 not in entry.models:
        return Check(what, False, f"its entry {number} has another checksum of the model's file, or none")
    if entry.proved_epsilon is None or privacy is None or privacy.proved is None:
        agree = entry.proved_epsilon is None and (privacy is None or privacy.proved is None)
    else:  # what a schema cost before may be on an entry of its own
        paid = (float(sum(amounts)) for amounts in zip((0, 0), *(pair for _, pair in entry.schemas), strict=True))
        said = [alone + more for alone, more in zip(privacy.alone, paid, strict=True)]
        booked, whole = (entry.proved_epsilon, entry.proved_delta or 0), (privacy.proved.epsilon, privacy.proved.delta)
        amounts = zip(booked, said, whole, strict=True)
        agree = all(math.isclose(b, s, rel_tol=ROUNDED, abs_tol=ROUNDED * (w or 0.0)) for b, s, w in amounts)
    return Check(what, agree, f"entry {number}" if agree else f"its entry {number} has another price")


def _since(model: SavedModel, then: LedgerSnapshot | None, ledger: Ledger) -> list[Check]:
    """What was booked after the documents were written, which is not a fault."""
    then = then or model.ledger
    if then is None or not_on(model, ledger):
        return []
    now = ledger.snapshot()
    more = now.totals.entries - then.totals.entries
    spent = f"the total was epsilon {float(then.spent[0]):.6g}, and is {float(now.spent[0]):.6g} now"
    said = "it has fewer" if more < 0 else f"{more} more since; {spent}" if more else "nothing was released since"
    return [Check("the ledger has all releases that the documents count", more >= 0, said)]
