"""What the commands remember of tables: which ledger a table is on, and which tables were samples for a schema.

So a second ledger for a table is noticed, and a schema that was drafted from the private table itself. Nothing of a table is
read or kept but its place on this machine. A copy elsewhere is not noticed. Only the user can read the notes.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import click

from .._utils.writing import write_whole
from ..sources.engines import engine_at
from ..sources.urls import files_in, local_place
from .terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..accounting.ledger import Ledger

# Kinds of notes: about a table, its ledger's place ("ledgers"), that ledger's name ("names"), and that it was a sample
# ("samples"); about a file or folder, the ledger of a table at a URL that is in it ("places")
ANOTHER = click.option(
    "--another-ledger", is_flag=True, help="Allow a second ledger, or none, for a table that already has one."
)
PUBLIC = click.option("--public-table", is_flag=True, help="The table is public, whatever it was used for before.")


def _file(kind: str, about: str) -> Path:
    """A note is a file of its own, so that those made at the same time are all kept. Its name does not say what it is about."""
    home = Path(os.environ.get("DISCREET_HOME") or click.get_app_dir("discreet"))
    return home / "tables" / hashlib.sha256(f"{kind} {about}".encode("utf-8", "surrogatepass")).hexdigest()


def _key(table: Path | str) -> str:
    """The table's path, or address: the same string for some ways to write the same URL."""
    if isinstance(table, Path):
        return os.path.realpath(table)
    parts, place = urlsplit(table), local_place(table)
    if parts.scheme == "file" and place and os.path.isfile(place):
        return place
    # a view, or another name of a host, is not noticed
    engine, asked = engine_at(parts.scheme), dict(parse_qsl(parts.query)).get("table", "")
    return (engine and engine.usual_address(parts, place, asked)) or place or table


def is_file_of(path: Path, table: str) -> bool:
    """Whether a file is (a part of) the table at a URL, in a folder, or by a pattern of names."""
    place = local_place(table)
    for file in files_in(place) if place is not None and path.exists() else ():
        with suppress(OSError):  # deleted meanwhile, or a link that leads nowhere
            if path.samefile(file):
                return True
    return False


def _name(table: Path | str) -> str:
    return "the table" if isinstance(table, str) else table.name


def _noted(kind: str, *about: str) -> str | None:
    """What was noted about the first of these about which something was."""
    for file in (_file(kind, one) for one in about):
        try:
            return os.fsdecode(file.read_bytes())
        except FileNotFoundError:
            continue
        except OSError as error:
            say(f"({file} cannot be read, so nobody knows what this table was used for: {error.strerror})", err=True)
    return None


def _note(*notes: tuple[str, str, str]) -> None:
    """(kind, about what, what) to be noted."""
    for kind, about, said in notes:
        file = _file(kind, about)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.parent.chmod(0o700)  # the places of private tables are nobody else's business
            write_whole(file, os.fsencode(said))
        except OSError as error:
            return say(f"(could not note in {file} what this table was used for: {error.strerror})", err=True)


def check_ledger(table: Path | str, ledger: Path | str | None, another: bool) -> None:
    """Complain if the table was learned from with another ledger, or is now to be without the one it has."""
    key = _key(table)
    before = _noted("ledgers", key)
    if before is None or another or _is_same(ledger, before, _noted("names", key)):
        return
    now = "without a ledger" if ledger is None else f"with the ledger {ledger}"
    if "://" not in before and not os.path.exists(before):
        raise click.ClickException(
            f"{_name(table)} was on the ledger {before}, which is no longer at its place, so nobody knows what was learned from "
            f"it before. If that ledger was moved, give it with --ledger. To go on {now}, say --another-ledger: what was learned "
            "before then adds up with what comes now, and nobody counts it."
        )
    if not _ask(before, lambda opened: opened.n_entries, True):  # it was noted before anything was learned
        return
    raise click.ClickException(
        f"{_name(table)} has been learned from before; its ledger is {before}. What all models reveal adds up, and learning "
        f"from it {now} would ignore what was spent before. Use\n\n"
        f"    --ledger {before}\n\nor say --another-ledger if these are other records, or you keep the total yourself."
    )


def _is_same(ledger: Path | str | None, before: str, name: str | None) -> bool:
    """Whether this is the ledger that was noted: at its place, or moved away from there."""
    if ledger is None:
        return False
    if os.path.exists(ledger) and os.path.exists(before):
        return os.path.samefile(ledger, before)  # a copy has the same name, and would be a second budget
    if os.path.exists(before):
        return False
    return str(ledger) == before or (bool(name) and _name_of(ledger) == name)


def _ask(ledger: Path | str, what: "Callable[[Ledger], Any]", otherwise: Any) -> Any:
    """What the ledger says; or, if it cannot be opened, something else."""
    from ..accounting.ledger import Ledger, LedgerError

    try:
        return what(Ledger.open(ledger))
    except (LedgerError, OSError, ImportError):
        return otherwise


def _name_of(ledger: Path | str) -> str | None:
    """The name that a ledger was given when it was made."""
    name: str | None = _ask(ledger, lambda opened: opened.snapshot().ledger, None)
    return name


def note_ledger(table: Path | str, ledger: Path | str | None) -> None:
    """Note which ledger the table is on, before anything is learned from it."""
    if ledger is None:
        return
    key, at = _key(table), ledger if isinstance(ledger, str) else os.path.realpath(ledger)
    notes = [("ledgers", key, at), ("names", key, _name_of(ledger) or "")]
    if isinstance(table, str) and (place := local_place(table)):
        parts = [place] if os.path.exists(place) else files_in(place)
        notes += [("places", os.path.realpath(part), at) for part in parts]
    _note(*notes)


def check_not_a_sample(table: Path | str, public: bool) -> None:
    """Complain if the table was the sample for a schema."""
    if not public and _noted("samples", _key(table)) is not None:
        raise click.ClickException(
            f"a schema was drafted from {_name(table)} itself. A schema counts as public and nothing protects it, so it must not "
            "come from the private table. Draft it from a public sample or a data dictionary; or say --public-table if these "
            "records may be shown anyway."
        )


def ledger_of(table: Path) -> str | None:
    """The ledger of the table in a file, or of one at a URL that is in this file, or in a folder of which the file is a part."""
    path = Path(os.path.realpath(table))
    around = [path, *(path.parents if path.suffix.lower() == ".parquet" else ())]  # other files are no part of a folder
    return _noted("ledgers", _key(table)) or _noted("places", *map(str, around))


def check_not_private(table: Path, public: bool) -> None:
    """Complain if a table that should be public is on a ledger."""
    if (ledger := ledger_of(table)) is not None and not public:
        raise click.ClickException(
            f"{table.name} is on the ledger {ledger}, so it is a private table; this command needs one that may be shown. If it "
            "may be, say --public-table."
        )


def note_sample(table: Path) -> None:
    """Note that a schema was drafted from the table."""
    _note(("samples", _key(table), "schema"))
