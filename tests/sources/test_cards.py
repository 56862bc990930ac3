"""The same seed gives the same score card, wherever the records are and however they are counted."""

from dataclasses import replace

import pyarrow as pa
import pytest

from discreet import DPScoreCardClassifier, PrivateCounts, SavedModel
from discreet.datasets import load_adult, load_compas
from discreet.sources import plan as plan_module
from discreet.sources.engines.duckdb import DuckDB

pytest.importorskip("ibis")
from .ibis_tables import stored

pytestmark = pytest.mark.filterwarnings("ignore::discreet._utils.errors.PrivacyWarning")

CARDS = {
    "all columns": {},
    "few columns": {"max_columns": 2, "points": "decimals"},
    "a limit, no counts": {"monotonic_cst": {"priors_count": 1}, "counts_share": 0},
    "after a tree": {"tree_depth": 1, "max_columns": 3},
    "after a deeper tree": {"tree_depth": 2},
    "all at once": {"sequential": False},
    "one after the other, after a tree": {"sequential": True, "tree_depth": 1},
    "several records a person": {"records_per_person": 3, "exclude": ["c_charge_degree"]},
}


@pytest.fixture(scope="module")
def compas():
    return load_compas(sensitive=False)


def learner(data, name, seed=3):
    return DPScoreCardClassifier(epsilon=0.8, schema=data.schema, random_state=seed, **CARDS[name])


def released(clf):
    """All that leaves. Of a table that is counted twice, the statement assumes that it did not change in between."""
    changes = "the table did not change while it was"
    assumed = tuple(text for text in clf.privacy_.assumes if not text.startswith(changes))
    return replace(SavedModel.of(clf), privacy=replace(clf.privacy_, assumes=assumed))


@pytest.mark.parametrize("name", CARDS)
def test_a_table_in_memory_in_files_and_in_counts(compas, name, tmp_path, monkeypatch):
    compas.frame.to_parquet(tmp_path / "table.parquet")
    compas.frame.to_csv(tmp_path / "table.csv", index=False)
    here = released(learner(compas, name).fit(compas.data, compas.target))
    assert here != released(learner(compas, name, seed=4).fit(compas.data, compas.target)), "the seed decides nothing"
    for file in ("table.parquet", "table.csv"):
        assert released(learner(compas, name).fit_file(tmp_path / file)) == here
    private = PrivateCounts.from_table(compas.data, compas.target, compas.schema)
    assert released(learner(compas, name).fit_counts(private)) == here
    monkeypatch.setattr(plan_module, "FEW_PATTERNS", 0)  # by columns, not by patterns
    assert released(learner(compas, name).fit(compas.data, compas.target)) == here
    assert released(learner(compas, name).fit_file(tmp_path / "table.parquet")) == here


@pytest.mark.parametrize("name", CARDS)
def test_a_table_in_an_engine(compas, engine, name):
    table = stored(engine, pa.Table.from_pandas(compas.frame, preserve_index=False))
    here = released(learner(compas, name).fit(compas.data, compas.target))
    for counting in ("patterns", "marginals"):
        assert released(learner(compas, name).fit_source(table, counting=counting)) == here, counting


@pytest.mark.parametrize("name", ["all columns", "after a tree", "one after the other, after a tree"])
def test_a_table_in_duckdb_as_if_it_ran_elsewhere(compas, duckdb_engine, name, monkeypatch):
    """Then the engine counts, and only counts come here."""
    monkeypatch.setattr(DuckDB, "runs_here", False)
    table = stored(duckdb_engine, pa.Table.from_pandas(compas.frame, preserve_index=False))
    here = released(learner(compas, name).fit(compas.data, compas.target))
    assert released(learner(compas, name).fit_source(table, counting="marginals")) == here


def test_a_larger_table(duckdb_engine):
    data = load_adult()
    table = stored(duckdb_engine, pa.Table.from_pandas(data.frame, preserve_index=False))

    def clf():
        return DPScoreCardClassifier(epsilon=0.3, max_columns=4, tree_depth=1, schema=data.schema, random_state=1)

    here = released(clf().fit(data.data, data.target))
    assert released(clf().fit_source(table)) == here
    private = PrivateCounts.from_source(table, data.schema)
    assert released(clf().fit_counts(private)) == here


def test_a_table_that_is_counted_twice_is_assumed_not_to_change(compas, duckdb_engine):
    table = stored(duckdb_engine, pa.Table.from_pandas(compas.frame, preserve_index=False))
    for parameters, counting, twice in (
        ({}, "marginals", True),  # by column, then by total
        ({"tree_depth": 1, "counts_share": 0}, "marginals", True),  # for the tree, then in its leaves
        ({"counts_share": 0}, "marginals", True),  # column after column
        ({"counts_share": 0, "sequential": False}, "marginals", False),
        ({"tree_depth": 1}, "patterns", False),
    ):
        clf = DPScoreCardClassifier(schema=compas.schema, **parameters).fit_source(table, counting=counting)
        assert ("did not change" in str(clf.privacy_)) == twice, parameters
