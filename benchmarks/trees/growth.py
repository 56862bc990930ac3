"""How the time of a draw grows: with tests, depth, records and classes. Draws docs/growth-trees.svg, with matplotlib.

Made-up tables (problems.py) in which, with 40 tests and more, hardly two records agree: there are as many patterns as records.
"""

import time
from itertools import count
from pathlib import Path
from typing import Any

from problems import made_up, problem_of
from reproduction.drawing import house_style, logarithmic, new_figure
from reproduction.styles import BLUE, GREEN, ORANGE, VERMILION

from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.trees.drawing import WeighedTrees
from discreet.private.sampling.trees.log_weights import ACCURACY, GINI

BASE = {"records": 30_000, "tests": 40, "classes": 2, "depth": 4, "score": ACCURACY}
# panel: what varies, its values, and for each curve a name and what else is not as in BASE
PANELS: dict[str, tuple[str, dict[str, tuple[tuple[int, ...], dict[str, Any]]]]] = {
    "tests": (
        "tests",
        {
            "depth 5": ((10, 15, 20, 30, 40, 50), {"depth": 5}),
            "depth 4": ((10, 20, 40, 80, 120, 160), {}),
            "depth 3": ((10, 20, 40, 80, 160, 320, 640), {"depth": 3}),
            "depth 2": ((10, 20, 40, 80, 160, 320, 640), {"depth": 2}),
        },
    ),
    "depth": (
        "depth",
        {
            "80 tests": ((1, 2, 3, 4), {"tests": 80}),
            "40 tests": ((1, 2, 3, 4, 5), {}),
            "20 tests": ((1, 2, 3, 4, 5, 6), {"tests": 20}),
            "10 tests": ((1, 2, 3, 4, 5, 6, 7), {"tests": 10}),
        },
    ),
    "records": (
        "records",
        {
            "80 tests, depth 4": ((1_000, 10_000, 100_000), {"tests": 80}),
            "40 tests, depth 4": ((1_000, 10_000, 100_000, 1_000_000), {}),
            "40 tests, depth 3": ((1_000, 10_000, 100_000, 1_000_000), {"depth": 3}),
        },
    ),
    "classes": (
        "classes",
        {
            "accuracy, depth 4": ((2, 3, 5, 10), {}),
            "mass, depth 4": ((2, 3, 5, 10), {"score": GINI}),
            "accuracy, depth 3": ((2, 3, 5, 10), {"depth": 3}),
            "mass, depth 3": ((2, 3, 5, 10), {"score": GINI, "depth": 3}),
        },
    ),
}


def seconds(records: int, tests: int, classes: int, depth: int, score: str) -> float:
    """Processor time of a draw: the best of some."""
    problem = problem_of(*made_up(records, tests, classes), 1.0, score)
    taken: list[float] = []
    while sum(taken) < 0.3 and len(taken) < 5:
        start = time.process_time()
        WeighedTrees(problem, depth).draw(SeededEntropy(len(taken)))
        taken.append(time.process_time() - start)
    return min(taken)


def measure(path: Path) -> None:
    """Print and draw all curves."""
    found = {
        (panel, name): (xs, [seconds(**BASE | {what: x} | other) for x in xs])
        for panel, (what, curves) in PANELS.items()
        for name, (xs, other) in curves.items()
        if not print(f"{panel}: {name}", flush=True)
    }
    for (panel, name), (xs, ts) in found.items():
        print(f"{panel:8} {name:18} " + ", ".join(f"{x:,}: {t:.3g} s" for x, t in zip(xs, ts, strict=True)))
    draw(found, path)


def draw(found: dict[tuple[str, str], tuple[tuple[int, ...], list[float]]], path: Path) -> None:
    """Four panels with one axis of seconds."""
    with house_style():
        figure = new_figure(10, 4.3)
        figure.set_layout_engine("constrained", wspace=0.03)
        axes = figure.subplots(1, len(PANELS), sharey=True)
        times = [t for _, ts in found.values() for t in ts]
        for axis, panel in zip(axes, PANELS, strict=True):
            mine = {name: curve for (where, name), curve in found.items() if where == panel}
            for i, (name, (xs, ts)), colour in zip(
                count(), mine.items(), (VERMILION, BLUE, GREEN, ORANGE), strict=False
            ):
                axis.plot(xs, ts, marker="os^D"[i], color=colour, label=name, linewidth=1.4, markersize=5)
            if panel == "depth":
                axis.set_xticks(range(1, 8))
            else:
                low, high = min(min(xs) for xs, _ in mine.values()), max(max(xs) for xs, _ in mine.values())
                logarithmic(axis, "x", low * 0.8, high * 1.25)
            if panel == "classes":
                axis.set_xticks([2, 3, 5, 10], ["2", "3", "5", "10"])
            logarithmic(axis, "y", min(times) * 0.7, max(times) * 1.5)
            if panel == "records":
                axis.set_xticks([10**n for n in (3, 4, 5, 6)], ["1k", "10k", "100k", "1M"])
            scale = "" if panel == "depth" else " (log scale)"
            axis.set_xlabel(f"{panel}{scale}")
            axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=8.5, handlelength=2.0)
        axes[0].set_ylabel("seconds for one draw, one core (log scale)")
        figure.savefig(path, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
