"""Class counts by range of totals: only the columns that a total depends on are looked at, and every way of counting agrees."""

from itertools import product

import numpy as np
import pytest

from discreet import Boolean, Numeric, Schema
from discreet.private.counts.totals import ByTotal, TotalsInProgress

COLUMNS = (Boolean("a"), Numeric("b", cuts=(1, 2)), Boolean("c"))
BINS = np.array(list(product(range(3), range(4), range(3), range(2)))).repeat(3, 0)
LIMITS = (-0.5, 0.25, 1.0)
CARDS = {
    "one card": ByTotal((), 0, 4, [(-0.5, {1: np.array([0.25, 0.5, 0.0, 1.5])})], LIMITS),
    "a card of no columns": ByTotal((), 0, 4, [(0.25, {})], LIMITS),
    "two leaves": ByTotal(
        [({2: np.array([True, False, False])}, 0), ({2: np.array([False, True, True])}, 1)],
        0,
        4,
        [(0.0, {1: np.array([0.0, 0.25, 1.0, 2.0])}), (-1.0, {})],
        LIMITS,
    ),
    # 0.1 + 0.2 + 4.7 is below 5 in one order, and 5 in another; some totals are limits, and some beyond all of them
    "whole limits": ByTotal(
        *((), 0, 6),
        [
            (
                0.1,
                {0: np.array([0.2, -10.1, 40.0]), 1: np.array([4.7, -0.1, -40.25, 9.9]), 2: np.array([0.0, -0.3, 2.5])},
            )
        ],
        (-10.0, 0.0, 5.0, 12.5, 15.0),
    ),
}
USED = {"one card": "b", "a card of no columns": "", "two leaves": "bc", "whole limits": "abc"}


def one_by_one(division):
    """As a person would count."""
    counts = np.zeros((2, division.n_parts), int)
    for a, b, c, label in BINS:
        card = next((n for box, n in division.boxes if all(true[(a, b, c)[i]] for i, true in box.items())), 0)
        start, points = division.cards[card]
        total = sum((by_bin[(a, b, c)[i]] for i, by_bin in points.items()), start)  # in this order: they are rounded
        counts[label, sum(total >= limit for limit in division.limits)] += 1
    return counts.tolist()


@pytest.mark.parametrize("name", CARDS)
def test_only_columns_on_the_card_are_counted(name):
    filling = TotalsInProgress(COLUMNS, 2, CARDS[name])
    assert "".join(column.name for column in filling.columns) == USED[name]
    where = [COLUMNS.index(column) for column in filling.columns]
    filling.add([BINS[:, i] for i in where], BINS[:, -1])
    assert filling.finish().tolist() == one_by_one(CARDS[name])


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("name", CARDS)
def test_an_engine_counts_the_same(name, elsewhere, monkeypatch):
    """In this process, or as a server would."""
    pytest.importorskip("ibis")
    import ibis
    import pyarrow as pa

    from discreet.sources.engine import EngineTable
    from discreet.sources.engines.duckdb import DuckDB

    monkeypatch.setattr(DuckDB, "runs_here", not elsewhere)
    truth, numbers = np.array([False, True, None]), np.array([0.0, 1.5, 9.0, None])
    values = {"a": truth[BINS[:, 0]], "b": numbers[BINS[:, 1]], "c": truth[BINS[:, 2]], "y": BINS[:, 3]}
    columns = {
        n: pa.array(v, None if n == "y" else pa.float64() if n == "b" else pa.bool_()) for n, v in values.items()
    }
    columns["y"] = pa.array([*values["y"][:-6], *[7] * 6])  # some labels are none
    table = ibis.duckdb.connect().create_table("t", pa.table(columns))
    schema = Schema(COLUMNS, "y", (0, 1))
    filling = TotalsInProgress(schema.used, 2, CARDS[name])
    EngineTable(table, schema, (0, 1)).add_to(filling)
    here = TotalsInProgress(COLUMNS, 2, CARDS[name])
    here.add([BINS[:-6, COLUMNS.index(column)] for column in here.columns], BINS[:-6, -1])
    assert filling.finish().tolist() == here.finish().tolist()
