"""An ordinary table of twelve columns with a drafted schema: `discreet fit list`, as it is typed."""

from pathlib import Path

from children import ask, megabytes, run

RATIO, MEMORY = 15.0, 1.5e9
RUN = "from discreet.cli import main; main()"  # what the command `discreet` does


def compare(folder: Path, several: list[int]) -> bool:
    """Whether all are within the limits."""
    within = True
    for records in several:
        path, schema, model = folder / "people.parquet", folder / "people.toml", folder / "model.json"
        candidates = ask("write_table", path=path, schema=schema, records=records, columns=None)["candidates"]
        print(
            f"{records:,} records, 12 columns, {candidates} candidates, {path.stat().st_size / 1e6:.0f} MB of Parquet:"
        )
        bare = ask("group_by", path=path, schema=schema)
        print(
            f"  DuckDB, GROUP BY of the bins: {bare['seconds']:.2f} s, {megabytes(bare['bytes'])}, {bare['rows']:,} rows",
            flush=True,
        )
        for engine in ([], ["--engine", "duckdb"]):
            command = ["-c", RUN, "fit", "list", path, "--schema", schema, "--epsilon", "1", "--out", model, "--force"]
            taken, _ = run(*command, *engine, "--json")
            ratio = taken.seconds / bare["seconds"]
            print(
                f"  discreet fit list people.parquet{' --engine duckdb' if engine else ''}: {taken.seconds:.2f} s, "
                f"{megabytes(taken.bytes)}: {ratio:.2f} times (limit {RATIO:g}; memory {megabytes(MEMORY)})",
                flush=True,
            )
            within &= ratio <= RATIO and taken.bytes <= MEMORY
        path.unlink()
    return within
