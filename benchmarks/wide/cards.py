"""A score card through DuckDB, against DuckDB counting by each column by itself: one GROUP BY for each.

Both read the same file, on all processors, each in a process of its own. DuckDB's queries are the fastest that were found for the
same bins: of numbers by halving, of texts by their place in a list. (CASE with one text or cut after the other, as a person would
write it, took a quarter more of a processor at a million records.)

Queries and cards take turns, and of each the fastest round counts. Seconds of a processor are said as well: these tell something
on a busy machine, too.
"""

from pathlib import Path
from typing import Any

from children import ask, megabytes
from jobs import CARDS

RATIO, MEMORY, ROUNDS = 1.3, 1e9, 3
BARE = "DuckDB, one GROUP BY for each column"
AT_ONCE = {"sequential": False}
FITS = {
    "points alone": {"counts_share": 0.0} | AT_ONCE,
    "points and risks": AT_ONCE,
    "five columns": {"max_columns": 5} | AT_ONCE,
    "one column after the other": {"sequential": True},
}


def compare(folder: Path, several: list[int]) -> bool:
    """Whether all are within the limits."""
    within = True
    for records in several:
        path, schema = folder / "people.parquet", folder / "people.toml"
        ask("write_table", path=path, schema=schema, records=records, columns=None)
        print(f"{records:,} records, 12 columns, {path.stat().st_size / 1e6:.0f} MB of Parquet:", flush=True)
        rounds = [_round({"path": path, "schema": schema}) for _ in range(ROUNDS)]
        path.unlink()
        seconds, processor, memory = (
            {name: pick(taken[name][what] for taken in rounds) for name in rounds[0]}
            for what, pick in (("seconds", min), ("processor", min), ("bytes", max))
        )
        for name in rounds[0]:
            ratio, of_processor = seconds[name] / seconds[BARE], processor[name] / processor[BARE]
            said = f": {ratio:.2f} times ({of_processor:.2f} of processors; limit {RATIO:g})"
            taken = f"{seconds[name]:.2f} s, {megabytes(memory[name])}; {processor[name]:.2f} s of a processor"
            print(f"  {name}: {taken}{'' if name == BARE else said}", flush=True)
            within &= memory[name] <= MEMORY and (name == BARE or ratio <= RATIO)
    return within


def _round(table: dict[str, Path]) -> dict[str, dict[str, Any]]:
    """What each took."""
    cards = {name: ask("fit", how="source", model=CARDS, parameters=given, **table) for name, given in FITS.items()}
    return {BARE: ask("group_by_column", **table)} | {f"card, {name}": taken for name, taken in cards.items()}
