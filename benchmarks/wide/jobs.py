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
        start = _now()
        clf.fit(frame.drop(columns=target), frame[target])
    elif how == "file":
        start = _now()
        clf.fit_file(path)
    else:
        table = discreet.open_table(path)
        start = _now()
        clf.fit_source(table)
    return _since(start) | {"model": str(clf)}


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: tuple[float, float]) -> dict[str, Any]:
    """Seconds that have passed, and those of all processors together."""
    return {"seconds": time.perf_counter() - start[0], "processor": time.process_time() - start[1]}


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
    """DuckDB: the bins of each column by class, one query for each, in the fastest way that was found (see cards.py)."""
    import duckdb

    from discreet import Schema

    public = Schema.load(schema)
    connection = duckdb.connect()
    start, rows = _now(), 0
    for column in public.used:
        query = f"SELECT {_fast_bin_in_sql(column)} AS b, \"{public.target}\", count(*) FROM read_parquet('{path}') GROUP BY ALL"
        rows += sum(len(batch) for batch in _batches(connection.sql(query)))
    return _since(start) | {"rows": rows}


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


def _fast_bin_in_sql(column: Any) -> str:
    """The same number: of numbers by halving, of texts by their place in a list, which DuckDB looks up once for each text."""
    name, missing = f'"{column.name}"', column.n_bins - 1
    if column.kind == "numeric":
        return f"CASE WHEN {name} IS NULL THEN {missing} ELSE {_halved(name, list(column.all_cuts), 0)} END"
    if column.kind == "boolean":
        return _bin_in_sql(column)
    listed = ", ".join("'{}'".format(str(c).replace("'", "''")) for c in column.categories)
    return f"coalesce(list_position([{listed}], {name}) - 1, {missing})"


def _halved(name: str, cuts: list[float], first: int) -> str:
    if not cuts:
        return str(first)
    middle = len(cuts) // 2
    low, high = _halved(name, cuts[:middle], first), _halved(name, cuts[middle + 1 :], first + middle + 1)
    return f"CASE WHEN {name} <= {cuts[middle]!r} THEN {low} ELSE {high} END"


def small() -> None:
    """Fits of the three datasets: for each line that comes in, the processor time of each case, as a line of JSON."""
    import discreet
    from discreet import PrivateCounts
    from discreet.datasets import load_adult, load_compas, load_german_credit

    fits: dict[str, Callable[[], object]] = {}
    for name, load in (("Adult", load_adult), ("COMPAS", load_compas), ("German Credit", load_german_credit)):
        data = load()
        private = PrivateCounts.from_table(data.data, data.target, data.schema)
        for what, model, parameters in (
            ("list", LISTS, {}),
            ("list, rules_per_draw=2", LISTS, {"rules_per_draw": 2}),
            ("tree, depth 2", TREES, {"max_depth": 2}),
            ("tree, depth 3", TREES, {"max_depth": 3}),
            ("tree, stages (2, 2)", TREES, {"stages": (2, 2)}),
        ):
            clf = getattr(discreet, model)(epsilon=1.0, schema=data.schema, **parameters)
            fits[f"{name}: {what}, fit"] = lambda clf=clf, data=data: clf.fit(data.data, data.target)
            fits[f"{name}: {what}, fit_counts"] = lambda clf=clf, private=private: clf.fit_counts(private)
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
