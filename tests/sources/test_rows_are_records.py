"""What would let other records decide what a record is taken for, or whether there is an error. Found by a red team."""

import math

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    Ledger,
    Numeric,
    PrivateCounts,
    Schema,
    noisy_evaluation,
    open_table,
)
from discreet._utils.errors import TableError
from discreet.private.counts.division import OUTSIDE, Division
from discreet.private.counts.patterns import PatternsInProgress
from discreet.sources.engine import EngineTable

SCHEMA = Schema([Numeric("x", cuts=[5])], "y", [0, 1])


def counted(table, schema=SCHEMA):
    """Records in each bin."""
    patterns = PrivateCounts.from_source(table, schema).patterns
    found = np.zeros(patterns.columns[0].n_bins, int)
    np.add.at(found, patterns.bins(0), patterns.counts.sum(1).astype(int))
    return found.tolist()


def parquet(path, **columns):
    pq.write_table(pa.table({name: pa.array(v, from_pandas=False) for name, v in columns.items()}), path)
    return path


@pytest.mark.parametrize("more", [[], [6.0]])
def test_what_users_compute_from_parquet_files_looks_at_nan(tmp_path, more):
    """DuckDB would conclude from the file's largest number what a comparison says of NaN."""
    values = [1.0, math.nan, math.nan, *more]
    table = open_table(parquet(tmp_path / "x.parquet", x=values, y=[0] * len(values)))
    assert counted(table.filter(table.x > 5)) == [0, len(more), 2]  # NaN is above 5 in DuckDB
    schema = Schema([Boolean("b")], "y", [0, 1])
    assert counted(table.mutate(b=table.x > 5), schema) == [1, 2 + len(more), 0]
    backend = table.get_backend()
    backend.raw_sql(f"CREATE VIEW v AS SELECT x > 5 AS b, y FROM '{tmp_path / 'x.parquet'}'")
    assert counted(backend.table("v"), schema) == [1, 2 + len(more), 0]
    settings = backend.raw_sql("SELECT current_setting('disabled_optimizers')").fetchall()
    assert settings == [("",)]


@pytest.mark.parametrize(
    ("how", "named"),
    [
        (lambda t: t.limit(2), "Limit"),
        (lambda t: t.sample(0.5), "Sample"),
        (lambda t: t.distinct(), "Distinct"),
        (lambda t: t.union(t), "Union"),
        (lambda t: t.join(t.view(), "y").select("x", "y"), "Join"),
        (lambda t: t.mutate(x=t.x / t.x.max()), "WindowFunction|Max"),
        (lambda t: t.mutate(x=ibis.random()), "Random"),
        (lambda t: t.mutate(x=t.rowid()), "RowID"),
        (lambda t: t.filter(t.x > t.x.mean()), "Aggregate|Subquery|Mean"),
        (lambda t: t.group_by("y").agg(x=t.x.sum()), "Aggregate"),
        (lambda t: t.mutate(x=ibis.array([t.x, t.x]).unnest()), "Unnest"),
    ],
)
def test_rows_that_depend_on_other_records_are_refused(how, named):
    table = ibis.duckdb.connect().create_table("t", pa.table({"x": [1.0, 9.0], "y": [0, 1]}))
    with pytest.raises(TableError, match=f"one record.*({named})"):
        PrivateCounts.from_source(how(table), SCHEMA)
    ledger = Ledger(epsilon=3.0)
    with pytest.raises(TableError):
        DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger).fit_source(how(table))
    assert ledger.entries == ()
    assert counted(table.filter(table.x > 5).mutate(z=table.x + 1).order_by("z").drop("z")) == [0, 1, 0]


def test_files_that_differ_in_types_are_refused(tmp_path):
    """All would be cast to the types of the first, which are others as soon as one of its values is missing."""
    parquet(tmp_path / "1.parquet", x=[1, 2], y=[0, 1])
    parquet(tmp_path / "2.parquet", x=[5.4, 2.0], y=[0, 1])
    with pytest.raises(TableError, match="differ in the names or types"):
        open_table(tmp_path / "*.parquet")
    parquet(tmp_path / "1.parquet", x=[1.0, 2.0], y=[0, 1])
    assert counted(open_table(tmp_path / "*.parquet")) == [3, 1, 0]
    parquet(tmp_path / "3.parquet", x=[1.0], other=[0])
    with pytest.raises(TableError, match="differ in the names or types"):
        open_table(tmp_path / "*.parquet")


def test_names_of_folders_do_not_come_before_what_a_file_says(tmp_path):
    (tmp_path / "x=9").mkdir()
    parquet(tmp_path / "x=9" / "f.parquet", x=[1.0], y=[0])
    for name in ("x=9/f.parquet", "*/*.parquet"):
        assert counted(open_table(tmp_path / name)) == [1, 0, 0]


def test_a_file_whose_name_looks_like_a_pattern(tmp_path):
    parquet(tmp_path / "z1.parquet", x=[9.0], y=[0])
    parquet(tmp_path / "z[1].parquet", x=[1.0], y=[0])
    assert counted(open_table(tmp_path / "z[1].parquet")) == [1, 0, 0]


def test_somebody_else_uses_the_connection_meanwhile(monkeypatch):
    """A stream of DuckDB 1 would end there, without an error."""
    n = 600_000
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"CREATE VIEW v AS SELECT range % 1000 AS a, range // 1000 AS b, 0 AS y FROM range({n})")
    table = connection.table("v")
    schema = Schema([Numeric(c, cuts=range(999)) for c in "ab"], "y", [0, 1])
    add, calls = PatternsInProgress.add_counted, []

    def meanwhile(self, *counts):
        calls.append(connection.con.execute("SELECT 1").fetchall())
        add(self, *counts)

    monkeypatch.setattr(PatternsInProgress, "add_counted", meanwhile)
    assert PrivateCounts.from_source(table, schema).patterns.counts.sum() == n
    assert len(calls) > 1


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint16(), pa.uint32()])
def test_numbers_without_a_sign_and_negative_cuts(duckdb_engine, kind):
    from .ibis_tables import stored

    column = Numeric("x", cuts=[-1, 5], low=0, high=7, outside="missing")
    table = pa.table({"x": pa.array([0, 5, 6, 8, None], kind), "y": [0, 1, 0, 1, 0]})
    schema = Schema([column, Categorical("x2", categories=[-1, 5, 6])], "y", [0, 1])
    table = table.append_column("x2", table["x"])
    there, here = (
        PrivateCounts.from_source(stored(duckdb_engine, table), schema),
        PrivateCounts.from_table(table, table["y"], schema),
    )
    assert there.patterns._words.tolist() == here.patterns._words.tolist()
    assert there.patterns.counts.tolist() == here.patterns.counts.tolist()


def test_lists_of_hundreds_of_rules():
    names = [f"b{i}" for i in range(400)]
    schema = Schema([Boolean(name) for name in names], "y", [0, 1])
    values = {name: [i == k for k in range(3)] for i, name in enumerate(names)}
    table = ibis.duckdb.connect().create_table("t", pa.table(values | {"y": [0, 1, 1]}))
    source = EngineTable(table, schema, (0, 1))
    true = np.array([False, True, False])
    left = list(source.count_sets([(399,)], Division([({i: true}, OUTSIDE) for i in range(2, 399)])))
    assert sum(int(times.sum()) for _, _, _, times in left) == 2


@pytest.mark.parametrize("seed", ["x", -1, 1.5, [1]])
@pytest.mark.parametrize("learner", [DPGreedyRuleListClassifier, DPOptimalRuleListClassifier])
def test_a_seed_that_is_none_books_nothing(learner, seed):
    table = ibis.duckdb.connect().create_table("t", pa.table({"x": [1.0, 9.0], "y": [0, 1]}))
    ledger = Ledger(epsilon=3.0)
    clf = learner(max_length=2, schema=SCHEMA, ledger=ledger, random_state=seed)
    for fit in (lambda: clf.fit_source(table), lambda: clf.fit({"x": [1.0, 9.0]}, [0, 1])):
        with pytest.raises((ValueError, TypeError)):
            fit()
    assert ledger.entries == ()


def test_labels_beside_an_engine_table_are_refused():
    table = ibis.duckdb.connect().create_table("t", pa.table({"x": [1.0, 9.0], "y": [0, 1]}))
    clf = DPGreedyRuleListClassifier(max_length=2, schema=SCHEMA).fit_source(table)
    with pytest.raises(ValueError, match="y must be None"):
        noisy_evaluation(clf, table, [0, 1], epsilon=1.0)
