"""A report shows the schema that its model rests on, and where it came from, as far as somebody said so."""

import re
from html import unescape

import pytest

from discreet import Boolean, Categorical, Ignored, Ledger, Numeric, RuleList, SavedModel, Schema
from discreet._utils.errors import ModelError, SchemaError
from discreet.report.html import Particulars, to_html
from discreet.report.sections import NO_SOURCE, asked_of, origin_of
from discreet.schema import SchemaRelease

COLUMNS = [
    Numeric("age", cuts=[25, 45], ranges=[[18, 20]], low=0, high=120, label="Age in years"),
    Numeric("cost", low=1, high=1000, n_cuts=2, spacing="log", missing=True),
    Categorical(
        "job", groups={"office": ["clerk", "boss"]}, outside="other", labels={"office": "in an office", "boss": "chief"}
    ),
    Boolean("sex", labels={"true": "female"}),
    Ignored("id"),
]


def words_of(page):
    return re.sub(r"\s+", " ", unescape(re.sub("<[^>]+>", " ", page)))


def report(schema, **given):
    model = SavedModel(RuleList.parse("if age <= 25 then 1 else 0", (0, 1), schema), target=schema.target)
    return words_of(to_html(model, **given))


def test_the_schema_is_shown_column_by_column():
    shown = report(Schema(COLUMNS, "y", [0, 1], source="the codebook of 2019", class_labels={"1": "yes"}))
    for text in (
        "Source, as the schema states it: the codebook of 2019",
        "Age in years age numeric cut at 25 , 45 ranges 18 to 20",
        "from 0 to 120; values beyond the bounds count as the bound",
        "2 of the cuts were spread by orders of magnitude between the bounds",
        "may be missing, which can be asked",
        "is one of in an office (office): clerk, chief , other",
        "is true or false true: female",
        "id ignore none: it is not used",
        "yes is 1",
    ):
        assert text in shown, text


def test_where_a_schema_came_from_is_said_or_said_to_be_unknown():
    plain = Schema(COLUMNS, "y", [0, 1])
    assert origin_of(plain) == (NO_SOURCE,)
    assert NO_SOURCE in report(plain)
    released = Schema(COLUMNS, "y", [0, 1], released=[SchemaRelease("schema-1f3a", 0.25, 1e-9)], source="a codebook")
    assert "schema-1f3a (epsilon = 0.25, delta = 1e-09)" in report(released)
    assert NO_SOURCE not in report(released)
    inferred = report(Schema(COLUMNS, "y", [0, 1], inferred=True))
    assert "It was made from the records themselves" in inferred
    assert NO_SOURCE not in inferred


def test_many_categories_are_left_to_the_file():
    column = Categorical("c", categories=[f"x{i}" for i in range(60)])
    assert [len(values) for values in asked_of(column).values()] == [60]
    shown = report(Schema([COLUMNS[0], column], "y", [0, 1]))
    assert "x39 and 20 more" in shown
    assert "x40" not in shown


def test_what_the_holder_says_is_shown_and_what_nobody_says_is_not_made_up():
    schema, ledger = Schema(COLUMNS, "y", [0, 1]), Ledger(1.0)
    shown = report(schema, particulars=Particulars("Admissions", "A hospital", date="2026-11-17"), sha256="ab" * 32)
    assert "Learned from the table Admissions , released by A hospital , on 2026-11-17." in shown
    assert "ab" * 32 in shown
    assert "Purpose not given" in shown
    assert "Ledger none was kept" in shown
    nothing = report(schema)
    assert "Table not given" in nothing
    assert "Learned from the table" not in nothing
    assert "Released on a day" not in nothing
    model = SavedModel(RuleList.parse("if age <= 25 then 1 else 0", (0, 1), schema), ledger=ledger.snapshot())
    assert "Ledger the model has no entry of its own" in words_of(to_html(model))


def test_particulars_are_lines_and_days():
    with pytest.raises(ModelError, match="learned must be a day"):
        Particulars(learned="yesterday")
    with pytest.raises(SchemaError, match="purpose must be one line"):
        Particulars(purpose="a\nb")
    with pytest.raises(SchemaError, match="at most 2000"):
        Particulars(contact="x" * 2001)
