"""How the cost of learning where the table is grows: with records, columns, levels (and so candidates), literals and classes.

Around one table (2 million records in Parquet, 8 columns of 5 levels, 2 classes, single literals), one thing is changed at a
time. Each row has the seconds of the query and of what comes after it; node by node the two alternate, and the row has their sum.
The ratio is to DuckDB's bare GROUP BY of the raw columns and the label, in the same process.

    python benchmarks/growth.py             DuckDB; a few minutes
    python benchmarks/growth.py --spark     the same in Spark, on as many threads as there are cores, fewer rows
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from discreet import Categorical, DPGreedyRuleListClassifier, PrivateCounts, Schema, open_table

BASE = {"records": 2_000_000, "columns": 8, "levels": 5, "classes": 2, "literals": 1}
CHANGES = {
    "records": (1_000_000, 4_000_000, 16_000_000),
    "columns": (4, 6, 12, 24, 48),
    "levels": (2, 10, 40),
    "classes": (4, 16),
    "literals": (2, 3),
}


def write(path: Path, records: int, columns: int, levels: int, classes: int, **_: int) -> None:
    drawn = [f"(floor(random() * {levels}))::INTEGER AS a{i}" for i in range(columns)]
    label = f"(floor(random() * {classes}))::INTEGER AS y"
    duckdb.sql(f"COPY (SELECT {', '.join([*drawn, label])} FROM range({records})) TO '{path}'")


def schema_of(columns: int, levels: int, classes: int, **_: int) -> Schema:
    levels_of = tuple(range(levels))
    return Schema([Categorical(f"a{i}", categories=levels_of) for i in range(columns)], "y", tuple(range(classes)))


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def bare(path: Path, columns: int) -> None:
    names = ", ".join(f"a{i}" for i in range(columns))
    answer = duckdb.sql(f"SELECT {names}, y, count(*) FROM '{path}' GROUP BY ALL")
    for _ in answer.to_arrow_reader(1 << 18) if hasattr(answer, "to_arrow_reader") else answer.fetch_record_batch():
        pass


def row(path: Path, table: object, size: dict[str, int], peer: float | None) -> str:
    schema = schema_of(**size)
    clf = DPGreedyRuleListClassifier(epsilon=1.0, max_literals=size["literals"], schema=schema)
    plan = clf.plan_source(table)
    if "for each rule" in plan:
        whole = seconds(lambda: clf.fit_source(table))
        cost = f"{whole:.2f} s node by node ({plan.split(': ')[0].split('by ')[-1]})"
    else:
        private = PrivateCounts.from_source(table, schema)
        query = seconds(lambda: PrivateCounts.from_source(table, schema))
        learn = seconds(lambda: clf.fit_counts(PrivateCounts(schema, private.classes, private.patterns)))
        whole = query + learn
        cost = f"{query:.2f} s + {learn:.3f} s ({len(private.patterns):,} patterns)"
    against = "" if peer is None else f"; {whole / peer:.2f} times the bare GROUP BY"
    sizes = ", ".join(f"{n:,} {what}" for what, n in size.items())
    return f"  {sizes}: {cost}{against}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spark", action="store_true")
    args = parser.parse_args()
    changes = {"records": (1_000_000, 4_000_000), "columns": (4, 24)} if args.spark else CHANGES
    sizes = [BASE, *(BASE | {what: n} for what, several in changes.items() for n in several)]
    with tempfile.TemporaryDirectory() as folder:
        for i, size in enumerate(sizes):
            path = Path(folder, f"{i}.parquet")
            write(path, **size)
            if args.spark:
                print(row(path, spark_table(path), size, None), flush=True)
            else:
                peer = seconds(lambda p=path, n=size["columns"]: bare(p, n))
                print(row(path, open_table(path), size, peer), flush=True)
            path.unlink()


def spark_table(path: Path) -> object:
    import ibis
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    session = builder.config("spark.log.level", "ERROR").config("spark.driver.memory", "4g").getOrCreate()
    return ibis.pyspark.connect(session).read_parquet(path)


if __name__ == "__main__":
    main()
