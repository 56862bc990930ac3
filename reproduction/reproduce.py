"""All experiments in one run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import beyond, peers
from .grids import FULL, GRIDS, QUICK
from .peers_environment import fit_in
from .runner import Unit, Work, in_processes, run


def all_units(quick: bool, with_peers: bool = False) -> list[Unit]:
    """What is to be done, the short experiments first."""
    grids = (*GRIDS, peers.units) if with_peers else GRIDS
    return [unit for grid in grids for unit in grid(QUICK if quick else FULL)]


def reproduce(
    folder: Path,
    quick: bool = False,
    jobs: int | None = None,
    progress: Callable[[int], None] = lambda fits: None,
    peers_python: Path | None = None,
) -> Any:
    """Run what is not done yet, and return all fits as a data frame (also in ``folder/results.parquet``).

    ``peers_python``, of ``peers_environment.environment``, adds classifiers of other libraries.
    """
    import pandas as pd

    units = all_units(quick, with_peers=peers_python is not None)
    return pd.read_parquet(run(units, folder, jobs, progress, _with_peers(peers_python) if peers_python else None))


def reproduce_beyond(
    folder: Path, quick: bool = False, jobs: int | None = None, progress: Callable[[int], None] = lambda fits: None
) -> Any:
    """The same for what goes beyond the paper (``beyond.units``)."""
    import pandas as pd

    return pd.read_parquet(run(list(beyond.units(quick)), folder, jobs, progress))


def _with_peers(python: Path) -> Work:
    """Our units in our processes, theirs in theirs."""

    def work(todo: list[Unit], parts: Path, jobs: int, progress: Callable[[int], None]) -> None:
        theirs = [unit for unit in todo if unit.methods == peers.PEERS]
        in_processes([unit for unit in todo if unit.methods != peers.PEERS], parts, jobs, progress)
        fit_in(python, theirs, parts, jobs, progress)

    return work
