"""What the commands remember of tables: which ledger a table is on, and which tables were samples for a schema.

So a second ledger for a table is noticed, and a schema that was drafted from the private table itself. Nothing of a table is
read or kept but its place on this machine. A copy elsewhere is not noticed. Only the user can read the notes.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import click

from ..common.locking import NotARegularFileError, open_locked, open_regular, unlock
from ..common.writing import PendingFile
from ..sources.addresses import files_in, local_place
from ..sources.engines import engine_at
from .terminal import say

# Of notes: by table, its ledger's place, that ledger's name, and who was a sample; and by file or folder (a digest),
# the ledger of a table at a URL that is in it
KINDS = ("ledgers", "names", "samples", "places")
UNREADABLE = (ValueError, AttributeError, TypeError, RecursionError, NotARegularFileError)
ANOTHER = click.option(
    "--another-ledger", is_flag=True, help="Allow a second ledger, or none, for a table that is on one already."
)
PUBLIC = click.option("--public-table", is_flag=True, help="The table may be shown, whatever it was used for before.")


def _file() -> Path:
    return Path(os.environ.get("DISCREET_HOME") or click.get_app_dir("discreet")) / "tables.json"


def _key(table: Path | str) -> str:
    """The table's path. Of a URL, which may name people and hosts, a digest."""
    if isinstance(table, Path):
        return os.path.realpath(table)
    if urlsplit(table).scheme == "file" and (place := local_place(table)) and os.path.isfile(place):
        return place
    return _digest(_usual(table))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _usual(url: str) -> str:
    """The same string for some ways to write the same URL. A view, or another name of a host, is not noticed."""
    parts = urlsplit(url)
    table = dict(parse_qsl(parts.query)).get("table", "")
    engine, place = engine_at(parts.scheme), local_place(url)
    usual = None if engine is None else engine.usual_address(parts, place, table)
    return usual or place or url


def is_file_of(path: Path, table: str) -> bool:
    """Whether a file is (a part of) the table at a URL, in a folder, or by a pattern of names."""
    place = local_place(table)
    return place is not None and path.exists() and any(_are_same(path, file) for file in files_in(place))


def _are_same(one: Path, other: str) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # deleted meanwhile, or a link that leads nowhere
        return False


def _name(table: Path | str) -> str:
    return "the table" if isinstance(table, str) else table.name


def _read() -> dict[str, dict[str, str]]:
    """What was noted."""
    try:
        return _parsed(_file())
    except UNREADABLE:
        with _alone():
            return _parsed_or_put_aside(_file())
    except OSError as error:
        say(f"({_file()} cannot be read, so nobody knows what this table was used for: {error.strerror})", err=True)
        return _nothing()


def _nothing() -> dict[str, dict[str, str]]:
    return {kind: {} for kind in KINDS}


def _parsed(file: Path) -> dict[str, dict[str, str]]:
    try:
        with open_regular(file) as opened:
            data = json.loads(opened.readall().decode("utf-8"))
    except FileNotFoundError:
        return _nothing()
    found = {kind: data.get(kind, {}) for kind in KINDS}
    if not all(isinstance(text, str) for notes in found.values() for note in notes.items() for text in note):
        raise TypeError
    return found


def _parsed_or_put_aside(file: Path) -> dict[str, dict[str, str]]:
    """What cannot be read is kept, and said aloud: it may have said which tables are private."""
    try:
        return _parsed(file)  # of several that saw the damage, only the first has to do something
    except UNREADABLE:
        names = (file.with_name(f"{file.name}.damaged{number or ''}") for number in count())
        aside = next(name for name in names if not os.path.lexists(name))
        try:
            file.rename(aside)
            kept = f"It is kept as {aside}"
        except OSError as error:
            kept = f"It cannot be put aside: {error.strerror}"
        said = "is damaged: which ledgers tables are on, and which were samples, is forgotten"
        say(f"({file} {said}. {kept})", err=True)
        return _nothing()


@contextmanager
def _alone() -> Iterator[None]:
    """While nobody else changes the notes, where the folder can be written."""
    try:
        lock = open_locked(_file().with_name("tables.lock"), create=True)
    except OSError:
        yield
        return
    with lock:
        try:
            yield
        finally:
            unlock(lock)


def _note(table: Path | str, **notes: str) -> None:
    file = _file()
    try:
        is_new = not file.parent.is_dir()
        file.parent.mkdir(parents=True, exist_ok=True)
        if is_new or not os.environ.get("DISCREET_HOME"):  # else it is somebody's own folder
            file.parent.chmod(0o700)
        with _alone():
            data = _parsed_or_put_aside(file)
            for kind, noted in notes.items():
                data[kind][_key(table)] = noted
            if "ledgers" in notes and isinstance(table, str) and (place := local_place(table)):
                for part in [place] if os.path.exists(place) else files_in(place):
                    data["places"][_digest(os.path.realpath(part))] = notes["ledgers"]
            with PendingFile(file) as new:
                if hasattr(os, "fchmod"):
                    os.fchmod(new.stream.fileno(), 0o600)  # the places of private tables are nobody else's business
                new.stream.write(json.dumps(data, indent=1).encode())
                new.commit()
    except OSError:
        say(f"(could not note in {file} what this table was used for)", err=True)


def check_ledger(table: Path | str, ledger: Path | None, another: bool) -> None:
    """Complain if the table was learned from with another ledger, or is now to be without the one it has."""
    noted, key = _read(), _key(table)
    before = noted["ledgers"].get(key)
    if before is None or another or _is_same(ledger, Path(before), noted["names"].get(key)):
        return
    now = "without a ledger" if ledger is None else f"with the ledger {ledger}"
    if not os.path.exists(before):
        raise click.ClickException(
            f"{_name(table)} was on the ledger {before}, which is no longer at its place, so nobody knows what was learned from "
            f"it before. If that ledger was moved, give it with --ledger. To go on {now}, say --another-ledger: what was learned "
            "before then adds up with what comes now, and nobody counts it."
        )
    if not _is_used(Path(before)):
        return
    raise click.ClickException(
        f"{_name(table)} was learned from before, and that is on the ledger {before}. Learning from it {now} would promise each "
        "time as if it were the only time, while what all models reveal adds up. Use\n\n"
        f"    --ledger {before}\n\nor say --another-ledger if these are other records, or you add up yourself."
    )


def _is_same(ledger: Path | None, before: Path, name: str | None) -> bool:
    """Whether this is the ledger that was noted: at its place, or by another link to it, or moved away from there."""
    if ledger is None or not os.path.exists(ledger):
        return False
    if os.path.exists(before):
        return ledger.samefile(before)  # a copy has the same name, and would be a second budget
    return name is not None and _name_of(ledger) == name


def _name_of(ledger: Path) -> str | None:
    """The name that a ledger was given when it was made."""
    from ..privacy.ledger import Ledger, LedgerError

    try:
        return Ledger.open(ledger).snapshot().ledger
    except (LedgerError, OSError):
        return None


def _is_used(ledger: Path) -> bool:
    """Whether there is an entry on it. It was noted before anything was learned, and then perhaps nothing was."""
    from ..privacy.ledger import Ledger, LedgerError

    try:
        return bool(Ledger.open(ledger).n_entries)
    except (LedgerError, OSError):
        return True


def note_ledger(table: Path | str, ledger: Path | None) -> None:
    """Note which ledger the table is on, before anything is learned from it."""
    if ledger is not None:
        _note(table, ledgers=os.path.realpath(ledger), names=_name_of(ledger) or "")


def check_not_a_sample(table: Path | str, public: bool) -> None:
    """Complain if the table was the sample for a schema."""
    if not public and _key(table) in _read()["samples"]:
        raise click.ClickException(
            f"a schema was drafted from {_name(table)} itself. A schema counts as public and nothing protects it, so it must not "
            "come from the private table. Draft it from a public sample or a data dictionary; or say --public-table if these "
            "records may be shown anyway."
        )


def check_not_private(table: Path, public: bool) -> None:
    """Complain if a table that should be public is on a ledger."""
    noted = _read()
    path = Path(os.path.realpath(table))
    around = [
        path,
        *(path.parents if path.suffix.lower() == ".parquet" else ()),
    ]  # a folder's other files are no part of it
    places = (noted["places"].get(_digest(str(place))) for place in around)
    ledger = noted["ledgers"].get(_key(table)) or next(filter(None, places), None)
    if ledger is not None and not public:
        raise click.ClickException(
            f"{table.name} is on the ledger {ledger}, so it is a private table; this command needs one that may be shown. If it "
            "may be, say --public-table."
        )


def note_sample(table: Path) -> None:
    """Note that a schema was drafted from the table."""
    _note(table, samples="schema")
