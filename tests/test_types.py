"""What a user's type checker says: lists are accepted where the documentation has lists."""

import ast
import doctest
import os
import subprocess
import sys
from dataclasses import fields
from importlib.util import find_spec
from inspect import getsource
from pathlib import Path

import pytest

import discreet
from discreet import Literal, Rule, RuleList, Split, Tree
from discreet.models.partition import Answer

ROOT = Path(__file__).parent.parent
LISTS = """
from collections.abc import Sequence
from discreet import Boolean, Categorical, GreedyRuleListClassifier, Literal, Numeric, Rule, RuleList, Schema, Split, Tree
from discreet.models.partition import Answer

age = Numeric("age", cuts=[25, 45.5], ranges=[[18, 30], (None, 3)])
job = Categorical("job", groups={"office": ["clerk", "boss"]}, categories=["farmer", 7])
schema = Schema([age, job, Boolean("employed")], target="income", classes=["low", "high"])
first = Rule([Literal("age", "<=", 25), Literal("age", "in", [18, 30])], "low", counts=[1, 2.5])
rules = RuleList([first, Rule(Literal("employed"), "high")], default="low", classes=["low", "high"], schema=schema)
tree = Tree(Split(Literal("employed"), "high", Answer("low", counts=[3, 1.5])), classes=["low", "high"], schema=schema)
ways: list[tuple[Literal, bool]] = [step for leaf in tree.leaves for step in leaf.way]
cuts: Sequence[float] = age.cuts
columns: tuple[str, ...] = tuple(column.name for column in schema.columns)
label: str | int | float | bool | None = rules.rules[0].label
learner = GreedyRuleListClassifier(schema=schema, candidates=[first, "age <= 45.5"], exclude=["job"])
"""
WRONG = """
from discreet import Numeric, Schema

Schema([Numeric("age", cuts=["young"])])
Schema(["age"])
"""


def _errors(program: str, folder: Path) -> list[str]:
    """What ``mypy --strict`` says of a program that uses the package as installed, not of the package."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "program.py"]
    there = os.environ | {"MYPYPATH": str(Path(discreet.__file__).parents[1]), "MYPY_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=there, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy")
def test_programs_of_users_pass_a_strict_type_checker(tmp_path):
    readme = doctest.DocTestParser().get_examples((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(readme) >= 5
    assert _errors("".join(example.source for example in readme), tmp_path) == []
    assert _errors(LISTS, tmp_path) == []
    exec(compile(LISTS, "lists", "exec"), {})  # and they run
    assert len(_errors(WRONG, tmp_path)) == 2


@pytest.mark.parametrize("cls", [Answer, Literal, Rule, RuleList, Split, Tree])
def test_what_a_type_checker_is_told_has_the_parameters_that_there_are(cls):
    (tree,) = ast.parse(getsource(cls)).body
    (told,) = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    names, by_keyword = ([argument.arg for argument in some] for some in (told.args.args[1:], told.args.kwonlyargs))
    assert names == [field.name for field in fields(cls) if field.init and not field.kw_only]
    assert by_keyword == [field.name for field in fields(cls) if field.init and field.kw_only]
    last = names[len(names) - len(told.args.defaults) :] + by_keyword
    given = [*told.args.defaults, *told.args.kw_defaults]
    defaults = dict(zip(last, map(ast.literal_eval, given), strict=True))
    made = {f.name: f.default for f in fields(cls) if f.name in defaults}
    assert made == defaults
