"""How much a run tries: `make test` a slice of every product of cases, `make test-all` all of it.

A test says with one of these what its slice is. Cases of their own are marked slow (``slow_but``, ``pairs``); what a test goes
through by itself, examples of Hypothesis included, is as much as the run asks for (``some``, ``examples``).
"""

import os

import pytest
from hypothesis import HealthCheck, settings

SLICE_ONLY = "not slow"  # what pyproject.toml chooses where nothing else is said
_run = {"tries everything": False}


def pytest_configure(config):
    """Before tests are collected, so that decorators know. In CI examples are the same every time: a red run can be repeated."""
    _run["tries everything"] = config.option.markexpr != SLICE_ONLY
    settings.register_profile(
        "here", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.register_profile("ci", parent=settings.get_profile("here"), derandomize=True)
    settings.load_profile("ci" if os.environ.get("CI") else "here")


def tries_everything():
    return _run["tries everything"]


def examples(most):
    """So many examples where everything is tried, else a quarter."""
    return most if tries_everything() else max(1, most // 4)


def some(values, part=0, of=4):
    """All values; or else every ``of``-th from number ``part`` on, so that tests with other parts go through all together."""
    values = list(values)
    return values if tries_everything() else values[part % of :: of]


def slow_but(values, fast):
    """Parameters, all slow but those that ``fast`` holds, or chooses if it is a function."""
    is_fast = fast if callable(fast) else lambda value: value in fast
    return [value if is_fast(value) else _slow(value) for value in values]


def pairs(ones, others):
    """Every one with every other, all slow but as few as show each of them at least once."""
    ones, others = list(ones), list(others)
    fast = {(i % len(ones), i % len(others)) for i in range(max(len(ones), len(others)))}
    return [
        (one, other) if (i, j) in fast else _slow((one, other))
        for i, one in enumerate(ones)
        for j, other in enumerate(others)
    ]


def _slow(value):
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
