"""``discreet verify``: does a release hold?"""

from pathlib import Path

import click

from .common import FILE, as_json_option, errors_as_messages, say_json
from .terminal import on_one_line, say

WORDS = {True: "holds ", False: "FAILS ", None: "  --  "}


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option("--ledger", "ledger_file", type=FILE, help="The table's ledger, if you have it: does it know this model?")
@as_json_option
def verify(folder: Path, ledger_file: Path | None, as_json: bool) -> int:
    """Check FOLDER, which `discreet release` made: every byte of it, and that its papers say what its model says.

    Exit code 0 if everything holds that could be checked, 1 if not. It also says what nobody can tell from the folder.
    """
    from ..papers.verifying import verify_release
    from ..privacy.ledger import Ledger

    with errors_as_messages():
        found = verify_release(folder, None if ledger_file is None else Ledger.open(ledger_file))
    if as_json:
        say_json(found.to_dict())
        return 0 if found.ok else 1
    for check in found.checks:
        why = f": {check.why}" if check.why else ""
        say(f"{WORDS[check.holds]} {on_one_line(check.what)}{on_one_line(why)}")
    say("\nNot checked, because nobody can tell from the folder:")
    for cannot in found.cannot:
        say(f"  - {cannot}")
    say(f"\nWhat the model promises: {on_one_line(found.promise or 'unknown')}")
    say(f"Fingerprint: {found.fingerprint or 'none'}")
    say("Everything that could be checked holds." if found.ok else "THIS RELEASE DOES NOT HOLD: see FAILS above.")
    return 0 if found.ok else 1
