"""What `discreet plan` says of public tables: the nearest ones, each once, and medians of how far models got."""

import pytest

from discreet.evaluation import similar_tables
from discreet.evaluation.similar_tables import LEAST_GAIN, Measured, expected_shares, measured_tables, similar


def table(title, records, columns=10, classes=2, epsilon=1.0, **accuracy):
    return Measured(title, records, columns, classes, majority=0.5, boosting=0.9, epsilon=epsilon, accuracy=accuracy)


@pytest.fixture
def made_up(monkeypatch):
    tables = (
        table("small", 90, list=0.5, tree=0.6),
        table("small", 90, epsilon=10.0, list=0.6, tree=0.7),
        table("middle", 1_000, list=0.7, tree=0.8),
        table("wide", 1_000, columns=100, list=0.6, tree=0.7),
        table("of many classes", 1_000, classes=7, list=0.5, tree=0.5),
        table("large", 100_000, list=0.9, tree=0.9),
    )
    monkeypatch.setattr(similar_tables, "measured_tables", lambda: tables)


def test_the_nearest_in_records_times_epsilon_columns_and_classes(made_up):
    assert [t.title for t in similar(1_100, 11, 2, 1.0)] == ["middle", "small", "wide", "of many classes"]
    assert similar(1_100, 11, 2, 1.0)[1].epsilon == 10.0  # 90 records at epsilon 10 are like 900 at 1
    assert [t.title for t in similar(1_000, 100, 2, 1.0, how_many=1)] == ["wide"]
    assert [t.title for t in similar(1_000, 10, 5, 1.0, how_many=1)] == ["of many classes"]
    assert [t.title for t in similar(1_000, 10, 2, 100.0)] == ["large"]


def test_nothing_is_said_where_no_table_is_alike(made_up):
    assert similar(1_000, 10, 2, 1e-4) == []
    assert similar(10_000_000, 10, 2, 10.0) == []
    assert expected_shares([]) == {}


def test_medians_of_the_way_from_the_majority_to_boosting(made_up):
    shares = expected_shares([table("a", 1, list=0.5), table("b", 1, list=0.7, card=0.8), table("c", 1, list=0.9)])
    assert shares == pytest.approx({"list": 0.5, "card": 0.75})


def test_what_is_shipped_was_measured_on_twenty_tables_at_three_epsilons():
    shipped = measured_tables()
    assert {t.epsilon for t in shipped} == {0.1, 1.0, 10.0}
    assert len({t.title for t in shipped}) >= 20
    for t in shipped:
        assert {"list", "tree", "card"} >= t.accuracy.keys() >= {"list", "tree"}
        assert t.boosting - t.majority >= LEAST_GAIN
        assert all(0.0 < a <= 1.0 for a in t.accuracy.values())


def test_a_table_is_like_itself():
    for t in measured_tables():
        found = similar(t.records, t.columns, t.classes, t.epsilon)
        assert t.title in [other.title for other in found]
