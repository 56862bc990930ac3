"""``discreet verify``: does a release hold?"""

from pathlib import Path

import click

from .common import LEDGER, as_json_option, errors_as_messages, say_json
from .terminal import on_one_line, say

WORDS = {True: "holds ", False: "FAILS ", None: "  --  "}
CODES = {True: 0, False: 1, None: 5}
ENDS = {
    True: "Everything that can be checked holds.",
    False: "THIS RELEASE DOES NOT HOLD: see FAILS above.",
    None: "NOT EVERYTHING COULD BE CHECKED: see -- above. What could be checked holds.",
}


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--ledger", "ledger_file", type=LEDGER, help="The table's ledger, if you have it: does it know this model?"
)
@click.option("--verbose", "-v", is_flag=True, help="List everything that was checked, and not only what fails.")
@as_json_option
def verify(folder: Path, ledger_file: Path | str | None, verbose: bool, as_json: bool) -> int:
    """Check FOLDER, which `discreet release` made: it is made again from its model, and compared.

    Exit code 0 if everything holds, 1 if something does not, 5 if something could not be checked here (for want of a package, or
    because another version made it). It also says what nobody can tell from the folder.
    """
    from ..accounting.ledger import Ledger
    from ..report.bundle.verifying import verify_release

    with errors_as_messages():
        found = verify_release(folder, None if ledger_file is None else Ledger.open(ledger_file))
    if as_json:
        say_json(found.to_dict())
        return CODES[found.holds]
    for check in found.checks:
        if verbose or not check.holds or check.why:
            why = f": {check.why}" if check.why else ""
            say(f"{WORDS[check.holds]} {on_one_line(check.what)}{on_one_line(why)}")
    say(f"{sum(check.holds is True for check in found.checks)} of {len(found.checks)} checks hold.")
    say("\nNot checked, because nobody can tell from the folder:")
    for cannot in found.cannot:
        say(f"  - {cannot}")
    say(f"\nWhat the model promises: {on_one_line(found.promise or 'unknown')}")
    say(f"Fingerprint: {found.fingerprint or 'none'}")
    say(ENDS[found.holds])
    return CODES[found.holds]
