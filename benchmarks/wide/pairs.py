"""Learners that need the joint counts of every two columns, through DuckDB, from the file and from a frame in memory.

The peer is DuckDB counting these by itself, in the fastest way found: the bins are written into a temporary table, of one byte
each, and twenty pairs of columns are a query, the ``UNION ALL`` of their ``SELECT bi, bj, y, count(*) ... GROUP BY ALL``. (In
processor time for 16 columns: one pair a query took twice as long, GROUPING SETS 6 times, an array of places that is unnested 12
times, histogram() 15 times, and every two groups of two columns 3 times.) A learner counts twice, the second time in the parts
that the first draw leaves, so that the limit is for each pass.
"""

from pathlib import Path

from children import ask, megabytes
from jobs import LISTS, TREES

RATIO, MEMORY, PASSES = 1.5, 2e9, 2
MODELS = {
    "tree in stages (2, 2)": (TREES, {"stages": [2, 2]}),
    "list with rules_per_draw=2": (LISTS, {"rules_per_draw": 2}),
}
HOWS = {"source": "through DuckDB", "file": "from the file", "frame": "from a frame in memory"}


def compare(folder: Path, records: int, columns: int) -> bool:
    """Whether what goes through DuckDB is within the limits."""
    path, schema = folder / "wide.parquet", folder / "wide.toml"
    candidates = ask("write_table", path=path, schema=schema, records=records, columns=columns)["candidates"]
    print(f"{records:,} records, {columns} columns of 10 cuts, {candidates} candidates:", flush=True)
    bare = ask("count_pairs", path=path, schema=schema)
    print(
        f"  DuckDB, all {columns * (columns - 1) // 2} pairs by itself: {bare['seconds']:.2f} s "
        f"({bare['binned']:.2f} s of it for the bins), {megabytes(bare['bytes'])}",
        flush=True,
    )
    within = True
    for name, (model, parameters) in MODELS.items():
        for how, where in HOWS.items():
            taken = ask("fit", how=how, path=path, schema=schema, model=model, parameters=parameters)
            ratio = taken["seconds"] / bare["seconds"] / PASSES
            print(
                f"  {name}, {where}: {taken['seconds']:.2f} s, {megabytes(taken['bytes'])}: {ratio:.2f} times for each of "
                f"{PASSES} passes" + (f" (limit {RATIO:g}; memory {megabytes(MEMORY)})" if how == "source" else ""),
                flush=True,
            )
            within &= how != "source" or (ratio <= RATIO and taken["bytes"] <= MEMORY)
    path.unlink()
    return within
