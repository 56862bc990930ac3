"""What a draft asks a person to look at: each question is asked of a made-up column, and not of one that only looks near it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from discreet import Schema, draft_schema
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.schema.columns.numeric import NOT_ROUND
from discreet.schema.inference import CODES, COUNTS, DECIDES, WEIGHTS

from ..support.marked_values import TEXT, shows_a_mark

RNG = np.random.default_rng(0)
N = 1000
INCOME = np.round(RNG.lognormal(10, 1, N), 2)
RICH = np.where(INCOME > 30_000, "high", "low")
SOLD = pd.cut(INCOME, [0, 5_000, 30_000, 60_000, np.inf], labels=[f"{TEXT}a", "b", "c", "d"]).astype(str)


def doubted(values, target=None, name="x", kind=None):
    """What is asked of a column."""
    frame = pd.DataFrame({name: values, "other": RNG.integers(0, 40, len(values))})
    if target is not None:
        frame["target"] = target
    draft = draft_schema(frame, None if target is None else "target")
    assert Schema.from_toml(draft.to_toml()) == draft.schema
    assert not any(shows_a_mark(note) for note in draft.notes)
    notes = [note.partition(": ")[2] for note in draft.notes if f"'{name}'" in note]
    assert all(note in draft.comments[name] for note in notes)
    return notes


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (INCOME, RICH),  # from which the target was made
        (INCOME.astype(str), RICH),
        (SOLD, RICH),  # more classes than the target has
        (np.where(RICH == "high", 1, 0), RICH),
        (np.where(RICH == "high", RNG.choice(["2019", "2020"], N), None), RICH),  # known only once it happened
        (np.where(RNG.random(N) < 0.01, "unknown", RICH), RICH),  # nearly
        (-INCOME, pd.qcut(INCOME, 4, labels=False)),
        (INCOME, np.where((INCOME > 10_000) & (INCOME < 30_000), 1, 0)),  # in the middle
        (INCOME, np.where(INCOME < 1_000, None, RICH)),  # of some records the class is missing
    ],
    ids=range(9),
)
def test_a_column_that_decides_the_target_alone(values, target):
    assert DECIDES in doubted(values, target)


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (INCOME, np.where(INCOME * RNG.lognormal(0, 0.3, N) > 30_000, 1, 0)),
        (np.where(RNG.random(N) < 0.1, "low", RICH), np.where(RNG.random(N) < 0.1, "high", RICH)),  # right in 84 %
        (RNG.integers(0, 500, N), np.arange(N) < 20),  # nobody knows, and 98 % have the same class
        (["a"] * 10 + ["b"] * 10, ["no"] * 10 + ["yes"] * 9 + ["no"]),  # may be chance
        (["a", "b"], ["no", "yes"]),
        ([f"x{i}" for i in range(100)] * 2, RNG.integers(0, 2, 200)),
    ],
    ids=range(6),
)
def test_a_good_predictor_does_not_decide_it(values, target):
    assert DECIDES not in doubted(values, target)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_neither_do_measures_of_flowers_and_tumours(load):
    assert draft_schema(load(as_frame=True).frame, "target").notes == ()


def test_two_years_of_recidivism_nearly_are_recidivism():
    frame = load_compas().frame
    frame["two_year_recid"] = np.where(RNG.random(len(frame)) < 0.03, 0, frame["is_recid"])
    assert any(DECIDES in note and "'two_year_recid'" in note for note in draft_schema(frame, "is_recid").notes)


LARGE = RNG.lognormal(12, 0.7, N).round()
NORMALISED = (w := RNG.lognormal(0, 0.7, N)) / w.mean()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, LARGE) for name in ("fnlwgt", "weight", "PERWT", "finalWeight", "survey_weight")),
        *((name, NORMALISED) for name in ("weight", "wt", "pweight", "sampling_weights")),
    ],
)
def test_survey_weights(name, values):
    assert doubted(values, name=name) == [WEIGHTS]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("weight", RNG.normal(75, 12, N)),  # of people
        ("birth_weight", RNG.normal(3300, 500, N).round()),  # grams
        ("wt", RNG.uniform(1.5, 5.4, N)),  # of cars
        ("cost", LARGE),
        ("amount", NORMALISED),
        ("weight_class", ["light", "heavy"] * 500),
    ],
)
def test_weights_of_bodies_and_amounts_are_none(name, values):
    assert WEIGHTS not in doubted(values, name=name)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip", RNG.choice([10115, 20095, 28195, 50667, 80331, 90402, 60311, 70173, 99084], N)),
        ("postcode", RNG.integers(10_000, 99_999, N)),
        ("deptCode", RNG.integers(1, 60, N)),
        ("icd9", RNG.integers(1, 999, N).astype(str)),
        ("where", RNG.choice(RNG.integers(10_000, 99_999, 60), N)),  # by the look alone
    ],
)
def test_integers_that_are_codes(name, values):
    assert doubted(values, name=name) == [CODES]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", RNG.integers(17, 91, N)),
        ("year", RNG.integers(1950, 2020, N)),
        ("income", RNG.choice(np.arange(10_000, 99_000, 1_000), N)),
        ("price", RNG.integers(10_000, 99_999, N)),
        ("score", RNG.choice(RNG.integers(300, 850, 40), N)),
        ("printed", RNG.choice(RNG.integers(1500, 1900, 40), N)),
        ("visits", RNG.poisson(6, N)),
        ("zip_distance", RNG.normal(5, 1, N)),
    ],
)
def test_amounts_are_no_codes(name, values):
    assert CODES not in doubted(values, name=name)


@pytest.mark.parametrize("counts", [RNG.poisson(0.7, N), RNG.poisson(4, N), np.append(RNG.geometric(0.4, N), [22, 28])])
def test_a_count_is_no_class(counts):
    frame = pd.DataFrame({"age": RNG.integers(18, 90, len(counts)), "visits": counts})
    (note,) = draft_schema(frame, "visits").notes
    assert note == f"'visits' (target): {COUNTS}"


@pytest.mark.parametrize(
    "classes",
    [
        RNG.integers(0, 10, N),  # digits
        RNG.integers(0, 2, N),
        RNG.choice([1, 2, 3, 4, 5, 6, 7], N, p=[0.36, 0.49, 0.06, 0.01, 0.02, 0.03, 0.03]),  # kinds of forest
        RNG.choice([0, 1, 2], N, p=[0.9, 0.08, 0.02]),
        np.repeat(range(1, 6), [300, 250, 200, 150, 100]),  # grades, none of them rare
        RNG.choice(list("abcde"), N, p=[0.5, 0.3, 0.1, 0.06, 0.04]),
    ],
    ids=range(6),
)
def test_classes_with_numbers_are_no_count(classes):
    assert draft_schema({"age": RNG.integers(18, 90, N), "kind": classes}, "kind").notes == ()


def test_few_values_are_cut_at_round_points_between_them():
    draft = draft_schema({"x": [0.33421, 0.5, 0.771812, 2.5] * 30})
    assert draft.schema["x"].cuts == (0.4, 0.5, 2.0)
    assert (draft.schema["x"].low, draft.schema["x"].high) == (0.2, 2.6)
    assert draft.notes == ()


def test_cuts_that_cannot_be_round_are_noted():
    draft = draft_schema({"x": [0.33421, 0.33424, 0.5] * 30})
    assert draft.schema["x"].cuts[0] == 0.33422
    assert draft.notes == (f"'x' (numeric): {NOT_ROUND}",)


@pytest.mark.parametrize(("load", "asked"), [(load_adult, ["'fnlwgt'"]), (load_compas, []), (load_german_credit, [])])
def test_of_our_own_tables_the_census_weight_alone_is_doubted(load, asked):
    data = load()
    notes = draft_schema(data.frame, data.target.name).notes
    new = [note for note in notes if note.endswith((DECIDES, WEIGHTS, CODES, COUNTS, NOT_ROUND))]
    assert [note.split()[0] for note in new] == asked
