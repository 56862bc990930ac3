"""What it takes to find a private schema in a Parquet file, beside one pass of DuckDB over the same columns and bins.

    python benchmarks/private_schema_speed.py [--records 10000000] [--folder FOLDER]

Each runs in a process of its own, with libraries loaded, and as many threads as there are processors. A draft
looks twice, since what is looked at closer depends on the first look.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing import Process
from pathlib import Path

STEP = 1_000_000


def write(path: Path, records: int) -> None:
    """Ten columns of all kinds and a target, a million records at a time."""
    import numpy as np
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    rng, writer = np.random.default_rng(1), None
    for start in range(0, records, STEP):
        n = min(STEP, records - start)
        columns = {
            "age": rng.integers(18, 95, n).astype(np.int16),
            "hours": np.clip(rng.normal(40, 12, n), 1, 99).astype(np.int16),
            "income": np.round(rng.lognormal(10, 0.8, n), 2),
            "score": rng.normal(0, 1, n),
            "prior": rng.poisson(0.8, n).astype(np.int16),
            "admitted": np.datetime64("2019-01-01") + rng.integers(0, 1500, n).astype("timedelta64[D]"),
            "sex": np.array(["F", "M"])[rng.integers(0, 2, n)],
            "ward": np.array([f"ward {k}" for k in range(20)])[rng.integers(0, 20, n)],
            "code": np.array([f"C{k:04d}" for k in range(1000)])[np.minimum(rng.geometric(0.01, n), 999)],
            "insured": rng.random(n) < 0.9,
        }
        ill = columns["age"] / 50 + columns["prior"] + rng.normal(0, 1, n) > 2.6
        table = pa.table(columns | {"outcome": np.array(["home", "readmitted"])[ill.astype(int)]})
        writer = writer or ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def duckdb_pass(path: Path) -> None:
    """How many records are in each bin that a draft looks at first, of all columns at once."""
    import duckdb

    from discreet.schema.columns.unknown import EDGES

    names = duckdb.sql(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
    edges = f"{list(map(float, EDGES))}::DOUBLE[]"
    ways = {"VARCHAR": "histogram({})", "BOOLEAN": "histogram({})", "DATE": "histogram(year({}))"}
    looks = [ways.get(kind, f"histogram({{}}::DOUBLE, {edges})").format(name) for name, kind, *_ in names]
    duckdb.sql(f"SELECT {', '.join(looks)} FROM '{path}'").fetchall()


def from_file(path: Path) -> None:
    """Read by this process, a part at a time."""
    from discreet import private_schema

    private_schema(path, target="outcome", epsilon=0.2)


def from_engine(path: Path) -> None:
    """Counted by DuckDB."""
    from discreet import open_table, private_schema

    private_schema(open_table(path), target="outcome", epsilon=0.2)


WAYS = {"DuckDB, one pass, the same bins": duckdb_pass, "file": from_file, "DuckDB engine": from_engine}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        with suppress(ValueError):  # nothing is found among few records, but libraries are loaded then
            WAYS[given.way](given.folder / "small.parquet")
        start = time.perf_counter()
        WAYS[given.way](given.folder / "table.parquet")
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps([time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for name, records in {"small": 1_000, "table": given.records}.items():
            # a child's peak memory begins at that of whoever started it
            made = Process(target=write, args=(Path(folder, f"{name}.parquet"), records))
            made.start()
            made.join()
        print(f"{given.records:,} records, 11 columns, {os.cpu_count()} processors")
        first = None
        for name in WAYS:
            call = [sys.executable, __file__, "--way", name, "--folder", folder]
            seconds, processor, memory = json.loads(subprocess.run(call, check=True, capture_output=True).stdout)
            first = first or seconds
            print(
                f"{name:32} {seconds:6.2f} s  {seconds / first:5.2f} times  {processor:6.2f} s of processors  {memory:6.0f} MiB"
            )


if __name__ == "__main__":
    main()
