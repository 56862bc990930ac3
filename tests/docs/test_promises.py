"""The table of promises names tests that there are, each of which runs in `make test`."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
PAGE = (ROOT / "docs/privacy-promise.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Which test protects which promise")[2]


def fast_tests(path):
    """Tests of a file that are not slow as a whole."""
    functions = [x for x in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(x, ast.FunctionDef)]
    return {f.name for f in functions if "pytest.mark.slow" not in map(ast.unparse, f.decorator_list)}


def test_every_promise_names_a_fast_test_and_the_twins_that_it_names_are_there():
    rows = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if NAMED.search(line)]
    assert len(rows) > 15
    assert all(NAMED.search(row[1]) for row in rows)
    missing = [f"{file}::{test}" for file, test in NAMED.findall(TABLE) if test not in fast_tests(ROOT / file)]
    assert not missing


def test_a_test_that_is_slow_or_gone_is_noticed(tmp_path):
    path = tmp_path / "test_some.py"
    path.write_text("import pytest\n\n@pytest.mark.slow\ndef test_slow(): pass\n\ndef test_fast(): pass\n")
    assert fast_tests(path) == {"test_fast"}
