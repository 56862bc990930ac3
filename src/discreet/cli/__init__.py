"""The command line, one module for each command. Heavy imports happen inside them, so that ``--help`` answers at once."""

import click

from .. import __version__
from .audit import audit
from .check import check
from .cuts import cuts
from .demo import demo
from .evaluate import evaluate
from .fit import fit
from .ledger import ledger
from .plan import plan
from .predict import predict
from .reproduce import reproduce
from .schema import schema
from .show import show


class _InOrder(click.Group):
    """Commands in the order in which one needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "--version", message="discreet %(version)s")
def main() -> None:
    """Rule lists you can read, learned from records you may not show.

    From a table to a model one may publish: schema, plan, ledger create, fit, show, predict.

    Exit codes: 0 done, 1 a file cannot be used, 2 called in a wrong way, 3 no budget left.
    """


for command in (schema, plan, ledger, check, cuts, fit, show, predict, evaluate, demo, audit, reproduce):
    main.add_command(command)
