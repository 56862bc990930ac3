"""A score card through DuckDB, against DuckDB counting by each column by itself: one GROUP BY for each."""

from pathlib import Path

from children import ask, megabytes
from jobs import CARDS

RATIO, MEMORY = 1.3, 1e9


def compare(folder: Path, several: list[int]) -> bool:
    """Whether all are within the limits."""
    within = True
    for records in several:
        path, schema = folder / "people.parquet", folder / "people.toml"
        ask("write_table", path=path, schema=schema, records=records, columns=None)
        bare = ask("group_by_column", path=path, schema=schema)
        print(f"{records:,} records, 12 columns, {path.stat().st_size / 1e6:.0f} MB of Parquet:")
        print(
            f"  DuckDB, one GROUP BY for each column: {bare['seconds']:.2f} s, {megabytes(bare['bytes'])}", flush=True
        )
        for said, parameters in (
            ("points alone", {"counts_share": 0.0}),
            ("points and risks", {}),
            ("five columns", {"max_columns": 5}),
        ):
            taken = ask("fit", how="source", path=path, schema=schema, model=CARDS, parameters=parameters)
            ratio = taken["seconds"] / bare["seconds"]
            print(
                f"  card, {said}: {taken['seconds']:.2f} s, {megabytes(taken['bytes'])}: {ratio:.2f} times (limit {RATIO:g})",
                flush=True,
            )
            within &= ratio <= RATIO and taken["bytes"] <= MEMORY
        path.unlink()
    return within
