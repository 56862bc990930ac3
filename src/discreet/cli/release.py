"""``discreet release`` and ``verify``: a model as a release bundle, and whether that holds."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from .common import FILE, as_json_option, flag, ledger_option, open_ledger, say_json
from .terminal import on_one_line, say

ENDS = {  # by whether it holds: the word before a check, the exit code, and the last line
    True: ("holds ", 0, "Everything that can be checked holds."),
    False: ("FAILS ", 1, "THIS RELEASE DOES NOT HOLD: see FAILS above."),
    None: ("  --  ", 5, "NOT EVERYTHING COULD BE CHECKED: see -- above. What could be checked holds."),
}
told = partial(click.option, default="")


@click.command()
@click.argument("model", type=FILE)
@click.option("--out", "-o", type=click.Path(path_type=Path), required=True, help="The folder to write.")
@told("--table-name", help="What the table is called, for people: Admissions 2025.")
@told("--organisation", help="Who releases it.")
@told("--contact", help="Whom to ask about it.")
@told("--purpose", help="What it is for.")
@told("--licence", help="Under which licence others may use it.")
@told("--learned", metavar="DAY", help="When the model was learned: 2026-11-17.")
@told("--date", metavar="DAY", help="When it is released; today by default.")
@told("--schema-source", help="Who drafted the schema, and from which sample: Dr. Ito, from the codebook of 2019.")
@click.option(
    "--evaluation", type=FILE, help="How good MODEL is: what `discreet evaluate --epsilon --out` wrote of it."
)
@told("--evaluation-table", help="What it was measured on: Admissions 2026.")
@ledger_option(help="The model's ledger: its present total goes into the record.")
@flag("--allow-unproved", help="Also release a model about which nothing is proved. EVERY DOCUMENT SAYS SO.")
@flag("--force", help="Write over an earlier release that `discreet verify` finds to hold.")
@as_json_option
def release(model: Path, out: Path, ledger_file: Path | str | None, as_json: bool, **given: Any) -> None:
    """Write a release folder: MODEL with a report, a model card, a record for programs, code, and a checklist to sign.

    No record is read and nothing is spent. The folder has only what is in the model, the evaluation and the ledger, or is
    given here; nothing is taken from this machine. `discreet verify` checks such a folder.
    """
    from ..report.bundle.folder import write_release

    try:
        fingerprint = write_release(model, out, ledger=open_ledger(ledger_file), **given)
    except FileExistsError as error:
        raise click.UsageError(str(error)) from None
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    unproved = "WARNING.txt" in files
    if as_json:
        say_json({"release": str(out), "fingerprint": fingerprint, "files": files, "unproved": unproved})
        return
    if unproved:
        say("NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL. Every document says so.", err=True)
    say(f"{on_one_line(out)}: {', '.join(map(on_one_line, files))}")
    say(f"Fingerprint: {fingerprint}")
    asked = ["table_name", "organisation", "contact", "purpose", "schema_source", "evaluation"]
    asked += ["evaluation_table"] if given["evaluation"] else []
    missing = [f"--{name.replace('_', '-')}" for name in asked if not given[name]]
    if missing:
        say(f"Not given: {', '.join(missing)}. The documents say so.")
    say(
        "Next: fill in a copy of checklist.md, and send the fingerprint through another channel. The receiver runs: "
        f"discreet verify {on_one_line(out)}"
    )


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@ledger_option(help="Also check that this ledger, the table's, has the model.")
@flag("--verbose", "-v", help="List everything that was checked, not only what failed.")
@as_json_option
def verify(folder: Path, ledger_file: Path | str | None, verbose: bool, as_json: bool) -> int:
    """Check a release FOLDER: it is made again from its model, and compared.

    Exit code 0 if everything holds, 1 if something does not, 5 if something could not be checked here (a package is
    missing, or another version made it). It also says what no program can check.
    """
    from ..report.bundle.verifying import verify_release

    found = verify_release(folder, open_ledger(ledger_file))
    _, code, last = ENDS[found.holds]
    if as_json:
        say_json(found.to_dict())
        return code
    for check in found.checks:
        if verbose or not check.holds or check.why:
            why = f": {check.why}" if check.why else ""
            say(f"{ENDS[check.holds][0]} {on_one_line(check.what)}{on_one_line(why)}")
    say(f"{sum(check.holds is True for check in found.checks)} of {len(found.checks)} checks hold.")
    say("\nNot checked, because the folder cannot show it:")
    for cannot in found.cannot:
        say(f"  - {cannot}")
    say(f"\nWhat the model promises: {on_one_line(found.promise or 'unknown')}")
    say(f"Fingerprint: {found.fingerprint if found.holds is not False else 'none that is valid'}")
    say(last)
    return code
