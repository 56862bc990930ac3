"""The command line, one module for each command. Heavy imports happen inside them, so that ``--help`` answers at once."""

import click

from .. import __version__
from .audit import audit
from .demo import demo
from .reproduce import reproduce


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="discreet %(version)s")
def main() -> None:
    """Learn rule lists that people can read."""


for command in (demo, audit, reproduce):
    main.add_command(command)
