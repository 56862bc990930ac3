"""Records of 60 columns with 10 cuts each, in memory: lists and trees now, against the default list of an earlier version."""

from pathlib import Path

from children import ask, megabytes
from jobs import LISTS, TREES

LIST, TREE, MEMORY = 8.0, 20.0, 1e9


def compare(folder: Path, records: int, columns: int, before: Path | None) -> bool:
    """Whether all are within the limits."""
    path, schema = folder / "wide.parquet", folder / "wide.toml"
    candidates = ask("write_table", path=path, schema=schema, records=records, columns=columns)["candidates"]
    print(f"{records:,} records, {columns} columns of 10 cuts, {candidates} candidates:", flush=True)
    table = {"how": "frame", "path": path, "schema": schema}
    now = ask("fit", **table, model=LISTS, parameters={})
    tree = ask("fit", **table, model=TREES, parameters={"stages": [2, 2]})
    several = {"list": now, "tree in stages (2, 2)": tree}
    within = True
    if before is not None:
        then = ask("fit", before, **table, model=LISTS, parameters={})
        print(f"  list before: {then['seconds']:.2f} s, {megabytes(then['bytes'])}")
    for (name, taken), limit in zip(several.items(), (LIST, TREE), strict=True):
        line = f"  {name}: {taken['seconds']:.2f} s, {megabytes(taken['bytes'])} (limit {megabytes(MEMORY)})"
        within &= taken["bytes"] <= MEMORY
        if before is not None:
            ratio = then["seconds"] / taken["seconds"]
            within &= ratio >= limit
            line += f": {ratio:.1f} times faster than the list before (limit {limit:g})"
        print(line, flush=True)
    return within
