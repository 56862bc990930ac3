"""What `discreet plan` says of public tables: the nearest ones, and how far models got on them."""

import math

import pytest

from discreet.evaluation import planning
from discreet.evaluation.planning import LEAST_GAIN, Measured, measured_tables, on_similar, similar
from discreet.evaluation.recommendation import recommended

KINDS = {"list", "tree", "tree in stages 2, 2", "card"}


def table(title, records, columns=10, classes=2, **shares):
    """Measured at epsilon 0.1, 1 and 10; shares of the way at these."""
    accuracy = {e: {kind: 0.5 + 0.4 * way[i] for kind, way in shares.items()} for i, e in enumerate((0.1, 1.0, 10.0))}
    area = {e: {kind: 0.5 + 0.5 * way[i] for kind, way in shares.items()} for i, e in enumerate((0.1, 1.0, 10.0))}
    return Measured(title, records, columns, classes, 0.5, 0.9, 0.95, accuracy, area)


MIDDLE = table("middle", 1_000, list=(0.0, 0.5, 1.0), tree=(0.2, 0.6, 0.8))


@pytest.fixture
def made_up(monkeypatch):
    tables = (
        table("small", 100, list=(0.0, 0.2, 0.4)),
        MIDDLE,
        table("wide", 1_000, columns=100, list=(0.0, 0.1, 0.2)),
        table("of many classes", 1_000, classes=7, list=(0.3, 0.3, 0.3)),
        table("large", 1_000_000, list=(1.0, 1.0, 1.0)),
    )
    monkeypatch.setattr(planning, "measured_tables", lambda: tables)


def test_the_nearest_in_columns_classes_and_records(made_up):
    assert [t.title for t in similar(1_100, 11, 2, 1.0)] == ["middle", "small", "wide", "of many classes"]
    assert [t.title for t in similar(1_000, 100, 2, 1.0, how_many=1)] == ["wide"]
    assert [t.title for t in similar(1_000, 10, 5, 1.0, how_many=1)] == ["of many classes"]
    assert [t.title for t in similar(100_000, 10, 2, 10.0)] == ["large"]


def test_as_many_records_times_epsilon_as_in_yours():
    def reached(kind, records, epsilon):
        return MIDDLE.at(MIDDLE.accuracy, kind, records, epsilon)

    at = [reached("list", records, epsilon) for records, epsilon in ((1_000, 1.0), (10_000, 0.1), (10_000, 1.0))]
    assert at == pytest.approx([0.7, 0.7, 0.9])
    between = 1_000 * 10**0.5
    assert reached("list", round(between), 1.0) == pytest.approx(0.8, abs=1e-4)  # half of the way, in factors
    assert MIDDLE.at(MIDDLE.area, "tree", 10_000, 0.1) == pytest.approx(0.8)
    assert math.isnan(reached("card", 1_000, 1.0))


def test_how_far_beyond_what_was_measured():
    beyond = [MIDDLE.beyond(records, epsilon) for records, epsilon in ((1_000, 1.0), (10_000, 10.0), (1_000, 0.01))]
    assert beyond == pytest.approx([0.0, 1.0, 1.0])


def test_nothing_is_said_where_no_table_is_alike(made_up):
    assert on_similar(1_000, 10, 2, 1e-4) is None
    assert on_similar(100_000_000, 10, 2, 10.0) is None


def test_means_quartiles_and_what_is_behind(made_up):
    found = on_similar(1_000, 10, 2, 1.0)  # small has 0.4 there
    assert found.nearest == ("middle", "small", "wide", "of many classes")
    assert found.accuracy["list"] == pytest.approx((0.6, 0.63, 0.67))
    assert found.accuracy["tree"] == pytest.approx((0.74, 0.74, 0.74))  # measured on one table only
    assert found.behind == pytest.approx({"list": 0.04, "tree": 0.0})  # on the one that has both
    assert found.areas["list"] == pytest.approx(0.6625)
    assert (found.majority, found.boosting, found.boosted_area) == pytest.approx((0.5, 0.9, 0.95))


def test_the_tables_are_the_same_at_each_epsilon_but_for_those_measured_at_larger_ones_only(made_up):
    at = {epsilon: on_similar(1_000, 10, 2, epsilon) for epsilon in (0.01, 0.1, 1.0, 10.0, 1e6)}
    assert at[0.01] is None, "one of four is not enough"
    assert all(at[e].nearest == at[1.0].nearest for e in (0.1, 10.0))
    assert at[1e6].accuracy == at[10.0].accuracy, "more than was measured is taken for the largest that was"


def test_the_smallest_epsilon_and_the_most_readable_model_that_are_close_are_recommended():
    behind = {0.1: {"list": 0.05, "tree": 0.03}, 0.3: {"list": 0.02, "tree": 0.01}, 1.0: {"list": 0.009, "tree": 0.0}}
    assert recommended(behind) == (0.3, "tree", ())
    assert recommended({1.0: behind[1.0]}) == (1.0, "list", ("tree",))
    assert recommended({0.1: behind[0.1]}) == (0.1, "tree", ()), "the best there is"
    assert recommended({0.1: {}}) is None


def test_what_is_shipped_was_measured_on_twenty_tables_at_three_epsilons():
    shipped = measured_tables()
    assert len({t.title for t in shipped}) >= 20
    for t in shipped:
        assert t.boosting - t.majority >= LEAST_GAIN
        for curve in (t.accuracy, t.area):
            assert curve.keys() == {0.1, 1.0, 10.0}
            for by_kind in curve.values():
                assert KINDS >= by_kind.keys() >= {"list", "tree", "card"}
                assert all(0.0 < value <= 1.0 for value in by_kind.values())


def test_a_table_is_like_itself():
    for t in measured_tables():
        assert t.title in [other.title for other in similar(t.records, t.columns, t.classes, 1.0)]
