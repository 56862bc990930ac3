"""The command line, one module for each command. Heavy imports happen inside them, so that ``--help`` answers at once."""

import click

from .. import __version__
from .audit import audit
from .demo import demo
from .ending import Commands
from .evaluate import evaluate
from .fit import fit
from .ledger import ledger
from .plan import plan
from .predict import predict
from .release import release, verify
from .schema import check, schema
from .show import show


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "--version", message="discreet %(version)s")
def main() -> None:
    """Rule lists you can read, learned from records you may not show.

    From a table to a model that may be published: schema, plan, ledger create, fit, show, predict, release.

    Exit codes: 0 done, 1 a file cannot be used, 2 wrong usage, 3 no budget left, 4 a model was learned and paid for
    but could not be written (it is printed), 5 a release could not be checked completely, 70 an unexpected error,
    130 interrupted (Ctrl-C, or told to end), 141 nobody reads the output (as in `discreet show MODEL | head -1`).
    """


for command in (schema, plan, ledger, check, fit, show, predict, evaluate, release, verify, demo, audit):
    main.add_command(command)
