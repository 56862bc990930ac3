"""A table in Parquet, learned from where it is: a whole fit against the engine's bare GROUP BY, and the cost of a fit after that.

The table has 8 attributes of 5 levels, as whole numbers, and two classes that follow them, so that patterns collapse to at most
390,625. The schema takes four of them as categories and four as numbers with cuts. In the same run, with the same threads:

    columns   DuckDB: SELECT a0, ..., a7, y, count(*) ... GROUP BY ALL, of the raw columns: no bins at all
    bins      DuckDB: the same of the bins, as a person would write them: CASE a0 WHEN ... END for each
    fit       discreet: DPGreedyRuleListClassifier(max_literals=1).fit_source(open_table(...)), all of it

    python benchmarks/engines.py                     10 million records; exit status 1 if a limit is passed
    python benchmarks/engines.py --records 100000000 (made in chunks, on disk: 0.5 GB)
    python benchmarks/engines.py --pairs             max_literals=2
    python benchmarks/engines.py --after             the cost of a fit after the patterns, for 10^5 and 10^7 records
    python benchmarks/engines.py --wide              24 attributes: as many patterns as records; counted once, and node by node

Each measurement is the median of several in turn; a child process reports the peak of its memory.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from discreet import Categorical, DPGreedyRuleListClassifier, Numeric, PrivateCounts, Schema, open_table

ATTRIBUTES, WIDE, LEVELS, CHUNK = 8, 24, 5, 1_000_000
COLUMNS = tuple(
    Numeric(f"a{i}", cuts=(0, 1, 2, 3)) if i % 2 else Categorical(f"a{i}", categories=tuple(range(LEVELS)))
    for i in range(WIDE)
)
SCHEMA, WIDE_SCHEMA = (Schema(COLUMNS[:n], "y", (0, 1)) for n in (ATTRIBUTES, WIDE))
RATIO, MEMORY = 1.3, 2 * 2**30


def write(path: Path, records: int, patterns: int | None = None, attributes: int = ATTRIBUTES) -> None:
    """Records in chunks; if ``patterns`` is given, only the first so many of all there are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, records, CHUNK):
        n = min(CHUNK, records - start)
        if patterns is None:
            levels = rng.integers(LEVELS, size=(n, attributes), dtype=np.int32)
        else:
            number = (
                rng.integers(patterns, size=n) if start else np.arange(n) % patterns
            )  # all of them, however few records
            levels = (number[:, None] // LEVELS ** np.arange(attributes) % LEVELS).astype(np.int32)
        chance = 0.2 + 0.15 * (levels[:, 0] == 3) + 0.1 * (levels[:, 1] > 2) + 0.2 * (levels[:, 4] < 1)
        labels = (rng.random(n) < chance).astype(np.int32)
        table = pa.table({f"a{i}": levels[:, i] for i in range(attributes)} | {"y": labels})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def bare(connection, path: Path, binned: bool, attributes: int = ATTRIBUTES) -> None:
    """The engine's own GROUP BY, its answer fetched as Arrow."""
    levels = " ".join(f"WHEN {i} THEN {i}" for i in range(LEVELS))
    cuts = " ".join(f"WHEN a <= {i} THEN {i}" for i in range(LEVELS - 1))
    names = [f"a{i}" for i in range(attributes)]
    columns = names
    if binned:
        columns = [
            f"CASE {cuts.replace('a <=', f'{n} <=')} ELSE {LEVELS - 1} END AS b{n}"
            if i % 2
            else f"CASE {n} {levels} ELSE {LEVELS} END AS b{n}"
            for i, n in enumerate(names)
        ]
    answer = connection.sql(f"SELECT {', '.join(columns)}, y, count(*) FROM read_parquet('{path}') GROUP BY ALL")
    reader = answer.to_arrow_reader if hasattr(answer, "to_arrow_reader") else answer.fetch_record_batch
    for _ in reader(1 << 18):
        pass


def classifier(pairs: bool, schema: Schema = SCHEMA) -> DPGreedyRuleListClassifier:
    return DPGreedyRuleListClassifier(epsilon=1.0, max_literals=2 if pairs else 1, schema=schema)


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def compare(path: Path, repeats: int, pairs: bool) -> dict[str, float]:
    import duckdb

    connection = duckdb.connect()
    works = {
        "columns": lambda: bare(connection, path, binned=False),
        "bins": lambda: bare(connection, path, binned=True),
        "fit": lambda: classifier(pairs).fit_source(open_table(path)),
    }
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):  # the first one warms up
        for name, work in works.items():
            t = seconds(work)
            if turn:
                taken[name].append(t)
    return {name: statistics.median(times) for name, times in taken.items()}


def fit_alone(path: Path, pairs: bool) -> dict[str, float]:
    start = time.perf_counter()
    private = PrivateCounts.from_source(open_table(path), SCHEMA)
    filled = time.perf_counter()
    classifier(pairs).fit_counts(private)
    done = time.perf_counter()
    again = statistics.median(seconds(lambda: classifier(pairs).fit_counts(private)) for _ in range(5))
    found = {
        "patterns": len(private.patterns),
        "fill": filled - start,
        "learn": done - filled,
        "again": again,
        "bytes": peak(),
    }
    return found


def fit_wide(path: Path, how: str, pairs: bool) -> dict[str, float | str]:
    """A whole fit, or the bare GROUP BY of all bins, alone in this process."""
    if how == "bare":
        import duckdb

        return {"seconds": seconds(lambda: bare(duckdb.connect(), path, True, WIDE)), "bytes": peak(), "plan": ""}
    table, clf = open_table(path), classifier(pairs, WIDE_SCHEMA)
    taken = seconds(lambda: clf.fit_source(table, counting=how))
    return {"seconds": taken, "bytes": peak(), "plan": clf.plan_source(table, counting=how)}


def child(*arguments: str) -> dict[str, float]:
    command = [sys.executable, __file__, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--after", action="store_true")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--how", help="(a child, with --alone) bare, patterns or nodes")
    parser.add_argument("--alone", type=Path, help="(a child) fit once, as JSON")
    parser.add_argument("--compare", type=Path, help="(a child) compare, as JSON")
    args = parser.parse_args()
    more = ["--pairs"] * args.pairs
    if args.how:
        print(json.dumps(fit_wide(args.alone, args.how, args.pairs)))
        return 0
    if args.alone or args.compare:
        found = fit_alone(args.alone, args.pairs) if args.alone else compare(args.compare, args.repeats, args.pairs)
        print(json.dumps(found))
        return 0
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        if args.after:
            for records in (10**5, 10**7) if args.records == 10_000_000 else (10**5, args.records):
                path = Path(folder, f"{records}.parquet")
                write(path, records, patterns=50_000)
                found = child("--alone", str(path), *more)
                print(
                    f"{records:,} records, same patterns: {found['patterns']:,} patterns in {found['fill']:.2f} s, then a fit in "
                    f"{found['learn'] * 1000:.0f} ms, another in {found['again'] * 1000:.0f} ms; "
                    f"peak memory {found['bytes'] / 2**20:.0f} MiB"
                )
            return 0
        path = Path(folder, "table.parquet")
        if args.wide:
            write(path, args.records, attributes=WIDE)
            print(f"{args.records:,} records of {WIDE} attributes, rules of up to {1 + args.pairs} literals:")
            for how in ("bare", "patterns", "nodes"):
                found = child("--alone", str(path), "--how", how, *more)
                print(
                    f"  {how}: {found['seconds']:.1f} s, peak memory {found['bytes'] / 2**20:.0f} MiB. {found['plan']}"
                )
            return 0
        write(path, args.records)
        size = path.stat().st_size
        alone = child("--alone", str(path), *more)
        t = child("--compare", str(path), "--repeats", str(args.repeats), *more)
        print(
            f"{args.records:,} records, {size / 1e6:.0f} MB of Parquet, {alone['patterns']:,} patterns, rules of up to "
            f"{1 + args.pairs} literals:\n"
            f"  bare GROUP BY of raw columns {t['columns']:.2f} s, of bins {t['bins']:.2f} s; whole fit {t['fit']:.2f} s: "
            f"{t['fit'] / t['bins']:.2f} times bins' (limit {RATIO}), {t['fit'] / t['columns']:.2f} times columns'\n"
            f"  of which patterns {alone['fill']:.2f} s and fit {alone['learn'] * 1000:.0f} ms (first fit in a new process)\n"
            f"  peak memory {alone['bytes'] / 2**20:.0f} MiB (limit {MEMORY / 2**20:.0f})"
        )
        return int(t["fit"] > RATIO * t["bins"] or alone["bytes"] > MEMORY)


if __name__ == "__main__":
    sys.exit(main())
