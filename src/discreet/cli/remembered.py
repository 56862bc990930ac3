"""Which ledger a table is on: remembered by the table's place on this machine, so that a second ledger is noticed.

Nothing of the table is read or kept but its path. A copy elsewhere is not noticed.
"""

import json
import os
from pathlib import Path

import click


def _file() -> Path:
    return Path(os.environ.get("DISCREET_HOME") or click.get_app_dir("discreet")) / "ledgers.json"


def _read() -> dict[str, str]:
    try:
        data = json.loads(_file().read_text(encoding="utf-8"))
        return {str(k): str(v) for k, v in data.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def check_ledger(table: Path, ledger: Path | None, another: bool) -> None:
    """Complain if the table was learned from with another ledger, or is now to be without the one it has."""
    before = _read().get(str(table.resolve()))
    if (
        before is None
        or another
        or (ledger is not None and str(ledger.resolve()) == before)
        or not Path(before).exists()
    ):
        return
    now = "without a ledger" if ledger is None else f"with the ledger {ledger}"
    raise click.ClickException(
        f"{table.name} was learned from before, and that is on the ledger {before}. Learning from it {now} would promise each "
        "time as if it were the only time, while what all models reveal adds up. Use\n\n"
        f"    --ledger {before}\n\nor say --another-ledger if these are other records, or you add up yourself."
    )


def remember(table: Path, ledger: Path) -> None:
    """Note which ledger the table is on. Where that cannot be written, nothing is noted."""
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_name(f"{file.name}.{os.getpid()}.new")
        scratch.write_text(
            json.dumps(_read() | {str(table.resolve()): str(ledger.resolve())}, indent=1), encoding="utf-8"
        )
        os.replace(scratch, file)
    except OSError:
        pass
