"""What a child process does: one job, whose answer is a line of JSON. Fits are seeded, to be the same in each run.

The jobs that version 0.5 has to do as well use only what it has.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

LISTS, TREES = "DPOptimalRuleListClassifier", "DPOptimalTreeClassifier"
CARDS = "DPScoreCardClassifier"
TOGETHER = 20  # pairs of columns in one query


def write_table(path: str, schema: str, records: int, columns: int | None) -> dict[str, Any]:
    """A table in Parquet, and its schema."""
    import tables

    tables.write(Path(path), records, columns)
    return {"candidates": tables.save_schema(Path(schema), columns)}


def fit(how: str, path: str, schema: str, model: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A whole fit from a frame in memory, from a file, or through DuckDB."""
    import discreet

    clf = getattr(discreet, model)(
        epsilon=1.0, schema=discreet.Schema.load(schema), random_state=0, **_tupled(parameters)
    )
    if how == "frame":
        import pandas as pd

        frame = pd.read_parquet(path)
        target = clf.schema.target
        start = time.perf_counter()
        clf.fit(frame.drop(columns=target), frame[target])
    elif how == "file":
        start = time.perf_counter()
        clf.fit_file(path)
    else:
        table = discreet.open_table(path)
        start = time.perf_counter()
        clf.fit_source(table)
    return {"seconds": time.perf_counter() - start, "model": str(clf)}


def _tupled(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}


def group_by(path: str, schema: str) -> dict[str, Any]:
    """DuckDB: all bins together, as a person would write it, the answer fetched as Arrow."""
    import duckdb

    from discreet import Schema

    public = Schema.load(schema)
    bins = ", ".join(f'{_bin_in_sql(column)} AS "{column.name}"' for column in public.used)
    query = f"SELECT {bins}, \"{public.target}\", count(*) FROM read_parquet('{path}') GROUP BY ALL"
    connection = duckdb.connect()
    start = time.perf_counter()
    rows = sum(len(batch) for batch in _batches(connection.sql(query)))
    return {"seconds": time.perf_counter() - start, "rows": rows}


def group_by_column(path: str, schema: str) -> dict[str, Any]:
    """DuckDB: the bins of each column by class, one query for each, as a person would write it."""
    import duckdb

    from discreet import Schema

    public = Schema.load(schema)
    connection = duckdb.connect()
    start, rows = time.perf_counter(), 0
    for column in public.used:
        query = (
            f"SELECT {_bin_in_sql(column)} AS b, \"{public.target}\", count(*) FROM read_parquet('{path}') GROUP BY ALL"
        )
        rows += sum(len(batch) for batch in _batches(connection.sql(query)))
    return {"seconds": time.perf_counter() - start, "rows": rows}


def count_pairs(path: str, schema: str) -> dict[str, Any]:
    """DuckDB: the class counts of every two columns by itself, in the fastest way that was found (see pairs.py)."""
    import duckdb

    from discreet import Schema

    public = Schema.load(schema)
    columns = public.used
    bins = ", ".join(f"({_bin_in_sql(c)})::UTINYINT AS b{i}" for i, c in enumerate(columns))
    connection = duckdb.connect()
    start_of_all = time.perf_counter()
    connection.execute(
        f"CREATE TEMP TABLE bins AS SELECT {bins}, {public.target}::UTINYINT AS y FROM read_parquet('{path}')"
    )
    binned = time.perf_counter() - start_of_all
    pairs, total = list(combinations(range(len(columns)), 2)), 0
    for start in range(0, len(pairs), TOGETHER):
        queries = [
            f"SELECT {i}, {j}, b{i}, b{j}, y, count(*) FROM bins GROUP BY ALL" for i, j in pairs[start:][:TOGETHER]
        ]
        total += sum(len(batch) for batch in _batches(connection.sql(" UNION ALL ".join(queries))))
    return {"seconds": time.perf_counter() - start_of_all, "binned": binned, "rows": total}


def _batches(answer: Any) -> Any:
    reader = answer.to_arrow_reader if hasattr(answer, "to_arrow_reader") else answer.fetch_record_batch
    return reader(1 << 18)


def _bin_in_sql(column: Any) -> str:
    """The number of the bin of a value."""
    name, missing = f'"{column.name}"', column.n_bins - 1
    if column.kind == "numeric":
        cuts = " ".join(f"WHEN {name} <= {cut!r} THEN {i}" for i, cut in enumerate(column.all_cuts))
        return f"CASE WHEN {name} IS NULL THEN {missing} {cuts} ELSE {len(column.all_cuts)} END"
    if column.kind == "boolean":
        return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 ELSE {missing} END"
    listed = " ".join("WHEN '{}' THEN {}".format(str(c).replace("'", "''"), i) for i, c in enumerate(column.categories))
    return f"CASE {name} {listed} ELSE {missing} END"


def small() -> None:
    """Fits of the three datasets: for each line that comes in, the processor time of each case, as a line of JSON."""
    import discreet
    from discreet import Vault
    from discreet.datasets import load_adult, load_compas, load_german_credit

    fits: dict[str, Callable[[], object]] = {}
    for name, load in (("Adult", load_adult), ("COMPAS", load_compas), ("German Credit", load_german_credit)):
        data = load()
        vault = Vault.from_table(data.data, data.target, data.schema)
        for what, model, parameters in (
            ("list", LISTS, {}),
            ("list, joint=2", LISTS, {"joint": 2}),
            ("tree, depth 2", TREES, {"max_depth": 2}),
            ("tree, depth 3", TREES, {"max_depth": 3}),
            ("tree, stages (2, 2)", TREES, {"stages": (2, 2)}),
        ):
            clf = getattr(discreet, model)(epsilon=1.0, schema=data.schema, **parameters)
            fits[f"{name}: {what}, fit"] = lambda clf=clf, data=data: clf.fit(data.data, data.target)
            fits[f"{name}: {what}, fit_vault"] = lambda clf=clf, vault=vault: clf.fit_vault(vault)
    for work in fits.values():  # imports, and what is kept from fit to fit
        work()
    for _ in sys.stdin:
        taken = {}
        for name, work in fits.items():
            start = time.process_time()
            work()
            taken[name] = time.process_time() - start
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    from discreet import Schema  # noqa: F401  (imported before anything is timed)

    warnings.simplefilter("ignore")
    answer = globals()[sys.argv[1]](**json.loads(sys.argv[2]))
    if answer is not None:
        print(json.dumps(answer))
