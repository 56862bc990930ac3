"""What the commands remember of tables: which ledger a table is on, and which tables were samples for a schema.

So a second ledger for a table is noticed, and a schema that was drafted from the private table itself. Nothing of a table is
read or kept but its place on this machine. A copy elsewhere is not noticed.
"""

import hashlib
import json
import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import click

from .terminal import say

ANOTHER = click.option(
    "--another-ledger", is_flag=True, help="Allow a second ledger, or none, for a table that is on one already."
)
PUBLIC = click.option("--public-table", is_flag=True, help="The table may be shown, whatever it was used for before.")


def _file() -> Path:
    return Path(os.environ.get("DISCREET_HOME") or click.get_app_dir("discreet")) / "tables.json"


def _key(table: Path | str) -> str:
    """The table's path. Of a URL, which may name people and hosts, a digest."""
    if isinstance(table, Path):
        return str(table.resolve())
    return hashlib.sha256(_usual(table).encode()).hexdigest()


def _usual(url: str) -> str:
    """The same text for some ways to write the same URL. A view, or another name of a host, is not noticed."""
    parts = urlsplit(url)
    table = dict(parse_qsl(parts.query)).get("table", "")
    if parts.scheme == "duckdb":  # it takes no notice of case
        return f"duckdb {Path(unquote(parts.path).removeprefix('/')).resolve()} {table.lower().removeprefix('main.')}"
    if parts.scheme in ("postgresql", "postgres"):
        host = "localhost" if parts.hostname in (None, "127.0.0.1", "::1") else parts.hostname
        return f"postgresql {host} {parts.port or 5432} {parts.path} {table.removeprefix('public.')}"
    return url


def _name(table: Path | str) -> str:
    return "the table" if isinstance(table, str) else table.name


def _read(what: str) -> dict[str, str]:
    try:
        data = json.loads(_file().read_text(encoding="utf-8"))[what]
        return {str(k): str(v) for k, v in data.items()}
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return {}


def _note(what: str, table: Path | str, value: str) -> None:
    file = _file()
    data = {kind: _read(kind) for kind in ("ledgers", "samples")}
    data[what][_key(table)] = value
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_name(f"{file.name}.{os.getpid()}.new")
        scratch.write_text(json.dumps(data, indent=1), encoding="utf-8")
        os.replace(scratch, file)
    except OSError:
        say(f"(could not note in {file} what this table was used for)", err=True)


def check_ledger(table: Path | str, ledger: Path | None, another: bool) -> None:
    """Complain if the table was learned from with another ledger, or is now to be without the one it has."""
    before = _read("ledgers").get(_key(table))
    same = ledger is not None and str(ledger.resolve()) == before
    if before is None or another or same or not _is_used(Path(before)):
        return
    now = "without a ledger" if ledger is None else f"with the ledger {ledger}"
    raise click.ClickException(
        f"{_name(table)} was learned from before, and that is on the ledger {before}. Learning from it {now} would promise each "
        "time as if it were the only time, while what all models reveal adds up. Use\n\n"
        f"    --ledger {before}\n\nor say --another-ledger if these are other records, or you add up yourself."
    )


def _is_used(ledger: Path) -> bool:
    """Whether there is an entry on it. It was noted before anything was learned, and then perhaps nothing was."""
    from ..privacy.ledger import Ledger, LedgerError

    if not ledger.exists():
        return False
    try:
        return bool(Ledger.open(ledger).entries)
    except (LedgerError, OSError):
        return True


def note_ledger(table: Path | str, ledger: Path | None) -> None:
    """Note which ledger the table is on, before anything is learned from it."""
    if ledger is not None:
        _note("ledgers", table, str(ledger.resolve()))


def check_not_a_sample(table: Path | str, public: bool) -> None:
    """Complain if the table was the sample for a schema."""
    if not public and _key(table) in _read("samples"):
        raise click.ClickException(
            f"a schema was drafted from {_name(table)} itself. A schema counts as public and nothing protects it, so it must not "
            "come from the private table. Draft it from a public sample or a data dictionary; or say --public-table if these "
            "records may be shown anyway."
        )


def check_not_private(table: Path, public: bool) -> None:
    """Complain if a table that should be public is on a ledger."""
    ledger = _read("ledgers").get(_key(table))
    if ledger is not None and not public:
        raise click.ClickException(
            f"{table.name} is on the ledger {ledger}, so it is a private table; this command needs one that may be shown. If it "
            "may be, say --public-table."
        )


def note_sample(table: Path) -> None:
    """Note that a schema was drafted from the table."""
    _note("samples", table, "schema")
