"""A score card on paper: whoever fills it in by hand gets what ``predict_proba`` says, to the last digit."""

import re

import numpy as np
import pandas as pd
import pytest

from discreet import (
    Boolean,
    Categorical,
    DPScoreCardClassifier,
    Literal,
    Numeric,
    SavedModel,
    Schema,
    ScoreCardClassifier,
)
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.models.display.summary import summarize
from discreet.models.partition import Answer
from discreet.models.score_card import Card, PointsTable, ScoreCard
from discreet.report.html import to_html

from ..support.card_by_hand import PrintedCard
from ..support.slices import slow_but
from .test_report import Page


def check_by_hand(model, records):
    """All records, added up by what the page says."""
    schema = model.schema
    printed = PrintedCard(to_html(SavedModel(model)))
    columns = {column.called: column.name for column in schema.columns}
    shares = model.predict_proba({name: np.array([r[name] for r in records], object) for name in schema.names})
    labels = dict(zip([schema.class_called(c) for c in model.classes], model.classes, strict=True))
    for record, expected in zip(records, shares, strict=True):
        percents, label = printed.answer(record, columns)
        assert [round(p / 100, 3) for p in percents] == [expected[1]]
        assert labels[label] == model.classes[expected.argmax()]


def rows_of(table):
    names = list(table.columns)
    return [dict(zip(names, row, strict=True)) for row in table.astype(object).itertuples(index=False, name=None)]


@pytest.mark.parametrize(
    "parameters",
    slow_but(
        [{}, {"max_columns": 4}, {"points": "decimals"}, {"tree_depth": 2}, {"monotonic_cst": {"priors_count": 1}}],
        [{}, {"tree_depth": 2}],
    ),
)
def test_compas_by_hand(parameters):
    data = load_compas()
    clf = DPScoreCardClassifier(schema=data.schema, **parameters).fit(data.data, data.target)
    check_by_hand(clf.card_, rows_of(data.data))


def test_adult_and_german_credit_by_hand():
    for data in (load_adult(), load_german_credit()):
        clf = ScoreCardClassifier(schema=data.schema).fit(data.data, data.target)
        check_by_hand(clf.card_, rows_of(data.data)[:2000])


ODD = Schema(
    [
        Numeric("age", True, cuts=[25, 40], ranges=[(30, 35)], low=0, high=99, outside="missing", label="Age in years"),
        Numeric("income", cuts=[0.5, 1e6]),
        Categorical(
            "job",
            groups={"office": ["clerk", "boss"], "field": ["farmer"]},
            missing=True,
            outside="missing",
            labels={"boss": "manager"},
        ),
        Categorical("ward", categories=["A", "B", "C"], outside="other", labels={"A": "surgery"}),
        Boolean("member", missing=True, labels={"true": "yes", "false": "no"}),
    ],
    target="ill",
    classes=["no", "yes"],
    class_labels={"yes": "falls ill"},
)
ODD_VALUES = {
    "age": [None, -1.0, 0.0, 25.0, 25.5, 30.0, 33.0, 35.0, 35.5, 40.0, 41.0, 99.0, 100.0],
    "income": [-1e9, 0.5, 0.75, 1e6, 2e6, None],
    "job": ["clerk", "boss", "farmer", "pilot", None],
    "ward": ["A", "B", "Z", None],
    "member": [True, False, None],
}


def odd_records(n, rng):
    return [{name: values[rng.integers(len(values))] for name, values in ODD_VALUES.items()} for _ in range(n)]


def in_labels(record):
    """As whoever fills in the card would say it."""
    words = {"job": {"boss": "manager"}, "ward": {"A": "surgery"}, "member": {True: "yes", False: "no"}}
    return {name: words.get(name, {}).get(value, value) for name, value in record.items()}


def test_missing_values_odd_values_and_labels_by_hand():
    rng = np.random.default_rng(3)
    records = odd_records(1500, rng)
    y = np.where(rng.random(1500) < [0.2 + 0.5 * (r["member"] is True) for r in records], "yes", "no")
    X = {name: np.array([r[name] for r in records], object) for name in ODD_VALUES}
    clf = DPScoreCardClassifier(epsilon=5.0, schema=ODD).fit(pd.DataFrame(X), y)
    printed, columns = PrintedCard(to_html(clf)), {column.called: column.name for column in ODD.columns}
    shares = clf.card_.predict_proba(X)
    for record, expected in zip(records, shares, strict=True):
        percents, label = printed.answer(in_labels(record), columns)
        assert [round(p / 100, 3) for p in percents] == [expected[1]]
        assert label == ("falls ill" if expected[1] > 0.5 else "no")


def test_a_wrong_number_on_the_page_would_be_found(monkeypatch):
    data = load_compas()
    model = ScoreCardClassifier(schema=data.schema).fit(data.data, data.target).card_
    right = to_html(SavedModel(model))
    wrong = re.sub(r'(<td class="n">)\+(\d+)', lambda found: f"{found[1]}+{int(found[2]) + 5}", right, count=1)
    assert wrong != right
    monkeypatch.setattr("tests.report.test_card_report.to_html", lambda model: wrong)
    with pytest.raises(AssertionError):
        check_by_hand(model, rows_of(data.data))


def test_lines_are_as_people_say_them():
    rows = ((Literal("age", "<=", 25),), 3), ((Literal("age", "is missing"),), 1), ((), 0)
    jobs = ((Literal("job", "=", "office"),), 4), ((), -1)
    card = Card(-5, (PointsTable("age", rows), PointsTable("job", jobs)))
    model = ScoreCard(
        (card,), (0,), (Answer("no", shares=(0.8, 0.2)), Answer("yes", shares=(0.4, 0.6))), ("no", "yes"), ODD
    )
    words = Page(to_html(SavedModel(model, target="ill"))).text.replace("\N{MINUS SIGN}", "-")
    for said in (
        "A score card: points for 2 columns, 2 classes. A person can fill it in by hand.",
        "Age in years below 0 or above 99 counts as missing answer points up to 25 +3 above 25 0 missing +1 write down",
        "job anything else counts as missing answer points office clerk, manager +4 field or missing farmer -1",
        "Start -5",
        "Total: the start and all points",
        "how likely falls ill is",
        "below 0 20.0 %",
        "0 or more 60.0 %",
        "Columns that tables use 2 of 5",
        "no class counts, so how many records each range of totals takes is unknown",
        "A pattern in them need not be a cause",
    ):
        assert said in words, said
    short = Page(model._repr_html_()).text.replace("\N{MINUS SIGN}", "-")
    for said in (
        "Age in years up to 25 : +3",
        "missing : +1",
        "how likely falls ill is",
        "0 or more 60.0 % predict falls ill",
    ):
        assert said in short, said


def test_titles_are_those_of_a_card():
    data = load_compas()
    clf = DPScoreCardClassifier(schema=data.schema).fit(data.data, data.target)
    page = to_html(clf)
    for title in ("The card", "What the total means", "How the card divides the records", "What is promised"):
        assert title in page
    words = Page(page).text
    assert not re.search(r"\bthe rules?\b|\bdefault\b|first rule|\bthe list\b|The tree", words)
    summary = summarize(clf)
    assert len(summary.ranges) == len(summary.steps) == len(clf.card_.answers)
    assert summary.cards == clf.card_.cards


def test_a_card_without_tables_and_one_without_shares_have_pages():
    bare = ScoreCard((Card(0, ()),), (), (Answer("yes"),), ("no", "yes"))
    words = Page(to_html(SavedModel(bare))).text
    assert "one answer for everybody" in words
    assert "any total" in words
    ages = PointsTable("age", (((Literal("age", "<=", 25),), 12), ((), 0)))
    labels_only = ScoreCard((Card(-5, (ages,)),), (0,), (Answer("no"), Answer("yes")))
    assert "Which class is predicted" in Page(to_html(SavedModel(labels_only))).text
    assert str(labels_only).splitlines()[-2:] == ["total below 0     no", "total 0 or more   yes"]
