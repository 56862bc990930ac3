"""The tables of parameters: as the estimators have them, and each parameter described once."""

import inspect
import re
import subprocess
import sys

import pytest

import discreet
from discreet.estimators.base import Classifier

ESTIMATORS = [
    one
    for one in (getattr(discreet, name) for name in discreet.__all__)
    if inspect.isclass(one) and issubclass(one, Classifier)
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_table_has_what_is_checked_or_offered_of_its_estimator_with_its_defaults(estimator):
    table = estimator._parameters
    given = inspect.signature(estimator).parameters
    defaults = {p.name: p.default for p in given.values()}
    assert {p.name: p.default for p in table.parameters}.items() <= defaults.items()
    unchecked = "schema infer_schema candidates negations ledger random_state prior".split()
    assert defaults.keys() - {p.name for p in table.parameters} <= set(unchecked)
    assert all(p.check or p.help for p in table.parameters)
    assert {p.kind for p in given.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert table.check(estimator()) is None


def described():
    """For each estimator, the parameters that its docstring describes, and those for which it refers to another one."""
    for estimator in ESTIMATORS:
        section = re.split(r"\n(?:Parameters|Attributes|Examples)\n-+\n", inspect.getdoc(estimator))[1]
        entries = re.findall(r"^(\w[\w, ]*?)(?: :.*)?\n    (.*)", section, re.MULTILINE)
        for names, first in entries:
            for name in names.split(", "):
                yield estimator, name, first.startswith("As in ")


def test_docstrings_name_all_parameters():
    for estimator in ESTIMATORS:
        named = [name for one, name, _ in described() if one is estimator]
        assert sorted(named) == sorted(inspect.signature(estimator).parameters)


def test_no_parameter_is_described_twice():
    told = [name for _, name, refers in described() if not refers]
    meanings = {
        "counts_share": 3,
        "prior": 2,
        "monotonic_cst": 2,
        "min_support": 2,
    }  # other kinds of models, other meanings
    assert {name: told.count(name) for name in told} == dict.fromkeys(told, 1) | meanings


def test_tables_are_read_without_numpy():
    code = "import sys, discreet.estimators.parameters; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
