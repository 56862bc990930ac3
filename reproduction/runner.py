"""Runs thousands of fits on all cores, can be stopped at any time, and goes on where it was.

Work comes in *units*: some fits on one split of one dataset. A unit that is done is a small file of its own, and a file
that is there is whole. Units whose files are there are not done again.
"""

import os
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from discreet._utils.errors import SeededWarning
from discreet._utils.parallel import results_from_processes
from discreet._utils.writing import write_whole

from .measures import attacked, measured, overlaps
from .methods import METHODS, WITHOUT_PRIVACY, Task
from .setups import MAX_LITERALS, MIN_SUPPORT, SETUPS
from .splits import split_of

Work = Callable[["list[Unit]", Path, int, Callable[[int], None]], None]


@dataclass(frozen=True)
class Unit:
    """Fits of some methods at some epsilons on one split."""

    experiment: str
    setup: str
    dataset: str
    seed: int
    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    max_length: int | None = None  # instead of the set-up's
    max_literals: int | None = None  # instead of the published ones
    min_support: float | None = None
    max_depth: int | None = None  # of trees, instead of 4
    also: str = ""  # what to measure besides accuracies: "overlaps" of features, or membership "attacks"

    @property
    def fits(self) -> int:
        """How many."""
        return sum(1 if method in WITHOUT_PRIVACY else len(self.epsilons) for method in self.methods)

    @property
    def key(self) -> str:
        """The name of its file: another one if anything about it changes."""
        what = zlib.crc32(self.text.encode())
        return f"{self.experiment}-{self.setup}-{self.dataset}-{self.seed:03d}-{what:08x}".replace(" ", "_")

    @property
    def text(self) -> str:
        """All that was chosen. Defaults are left out, so that units with a new field keep their files and their noise."""
        return repr([(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default])


def seed_of(unit: Unit, method: str, epsilon: float) -> int:
    """The seed of a fit's noise: its own, and the same in every run."""
    text = repr((unit.text, method, epsilon))
    for name in ("lists", "trees"):  # as these methods were called when docs/reproduction.md was measured
        text = text.replace(f"optimal {name}", f"whole {name}")
    return zlib.crc32(text.encode())


def rows_of(unit: Unit) -> list[dict[str, Any]]:
    """Do a unit: a row for each fit."""
    setup, split = SETUPS[unit.setup], split_of(unit.dataset, unit.setup, unit.seed)
    common: dict[str, Any] = {
        "max_length": unit.max_length or setup.max_length,
        "min_support": MIN_SUPPORT[unit.dataset] if unit.min_support is None else unit.min_support,
        "max_literals": unit.max_literals or MAX_LITERALS[unit.dataset],
    }
    rows = []
    for method in unit.methods:
        for epsilon in (np.nan,) if method in WITHOUT_PRIVACY else unit.epsilons:
            seed = seed_of(unit, method, epsilon)
            start = time.perf_counter()
            model = METHODS[method](Task(split, epsilon, seed=seed, max_depth=unit.max_depth or 4, **common))
            seconds = time.perf_counter() - start
            more: dict[str, Any] = {}
            if unit.also == "overlaps":
                more = overlaps(model, split, **common)
            elif unit.also == "attacks":
                more = attacked(model, split, seed)
            rows.append(
                {"experiment": unit.experiment, "setup": unit.setup, "dataset": unit.dataset, "method": method}
                | {"epsilon": epsilon, "seed": unit.seed, **common}
                | measured(model, split)
                | more
                | {"seconds": seconds}
            )
    return rows


def run(
    units: Sequence[Unit],
    folder: Path,
    jobs: int | None = None,
    progress: Callable[[int], None] = lambda fits: None,
    work: Work | None = None,
) -> Path:
    """Do all units that are not done yet; then put all their rows into one file, ``results.parquet``.

    ``progress(fits)`` is called with the number of fits that came in, those of earlier runs included. ``work`` does the units and
    writes a part for each; without it, ``in_processes``.
    """
    parts = folder / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    there = {path.stem for path in parts.glob("*.parquet")}
    todo = [unit for unit in units if unit.key not in there]
    progress(sum(unit.fits for unit in units) - sum(unit.fits for unit in todo))
    if todo:
        (work or in_processes)(todo, parts, jobs or os.cpu_count() or 1, progress)
    return collect(units, folder)


def in_processes(todo: Sequence[Unit], parts: Path, jobs: int, progress: Callable[[int], None]) -> None:
    """Do units in so many processes of ours."""
    with results_from_processes([(_do, unit, parts) for unit in todo], jobs) as results:
        for number, _ in results:
            progress(todo[number].fits)


def _do(unit: Unit, parts: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededWarning)  # the records are public, and fits are to be repeatable
        write_part(unit, rows_of(unit), parts)


def write_part(unit: Unit, rows: list[dict[str, Any]], parts: Path) -> None:
    """The file of a unit that is done: whole, or not there."""
    import pandas as pd

    write_whole(parts / f"{unit.key}.parquet", pd.DataFrame(rows).to_parquet(index=False))


def collect(units: Sequence[Unit], folder: Path) -> Path:
    """All rows of these units in one file."""
    import pandas as pd

    path = folder / "results.parquet"
    parts = [pd.read_parquet(folder / "parts" / f"{unit.key}.parquet") for unit in units]
    write_whole(path, pd.concat(parts, ignore_index=True).to_parquet(index=False))
    return path
