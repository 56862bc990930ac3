"""All experiments in one run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import accuracy, comparisons, hyper_parameters, importance, membership, noisy_counts
from .effort import FULL, QUICK
from .runner import Unit, run

EXPERIMENTS = (comparisons, importance, noisy_counts, hyper_parameters, membership, accuracy)


def all_units(quick: bool) -> list[Unit]:
    """What is to be done, the short experiments first."""
    return [unit for experiment in EXPERIMENTS for unit in experiment.units(QUICK if quick else FULL)]


def reproduce(
    folder: Path, quick: bool = False, jobs: int | None = None, progress: Callable[[int], None] = lambda fits: None
) -> Any:
    """Run what is not done yet, and return all fits as a data frame (also in ``folder/results.parquet``)."""
    import pandas as pd

    return pd.read_parquet(run(all_units(quick), folder, jobs, progress))
