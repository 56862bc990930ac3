"""A run of the fast tests ends with one line about the others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_fast(): pass

@pytest.mark.slow
@pytest.mark.parametrize("i", range(3))
def test_slow(i): pass
"""


def run(folder, *options):
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.left_out", "-p", "no:cacheprovider", *options]
    there = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=folder, env=there, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.parametrize("how", [["-n", "2"], ["-p", "no:xdist"]], ids=["two processes", "one process"])
def test_slow_tests_that_are_left_out_are_counted_in_one_line(tmp_path, how):
    said = run(tmp_path, "-q", "-m", "not slow", *how)
    assert [line for line in said.splitlines() if "slow" in line.lower()] == [
        "Slow tests left to `make test-all`: 3. It also runs the fast ones on the oldest supported versions."
    ]


def test_nothing_is_said_where_nothing_is_left_out(tmp_path):
    said = run(tmp_path, "-n", "2")
    assert "4 passed" in said
    assert "left" not in said
