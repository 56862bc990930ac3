"""One line at the end of a run of the fast tests: how many slow ones it left out. Counted as they are left out, which is free."""

import pytest

COUNTED = pytest.StashKey[int]()


def pytest_deselected(items):
    config = items[0].config
    slow = sum(item.get_closest_marker("slow") is not None for item in items)
    config.stash[COUNTED] = config.stash.get(COUNTED, 0) + slow
    if hasattr(config, "workeroutput"):  # in a worker of xdist, which tells the process that started it
        config.workeroutput["left out"] = config.stash[COUNTED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Each worker has collected the same tests."""
    node.config.stash[COUNTED] = getattr(node, "workeroutput", {}).get("left out", 0)


def pytest_terminal_summary(terminalreporter, config):
    if left_out := config.stash.get(COUNTED, 0):
        line = f"Slow tests left to `make test-all`: {left_out}. It also runs the fast ones on the oldest supported versions."
        terminalreporter.write_line(line)
