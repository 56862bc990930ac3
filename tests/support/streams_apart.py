"""A runner of commands that keeps standard output and errors apart, as click does from 8.2 on by itself."""

from inspect import signature

from click.testing import CliRunner


def runner():
    older = "mix_stderr" in signature(CliRunner).parameters
    return CliRunner(mix_stderr=False) if older else CliRunner()
