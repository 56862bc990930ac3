"""Labels: people read them, and nothing else changes."""

import json
import pickle
from dataclasses import replace

import pandas as pd
import pytest

from discreet import (
    Boolean,
    Categorical,
    Ignored,
    Literal,
    Numeric,
    RuleList,
    SavedModel,
    Schema,
    Split,
    Tree,
    draft_from_dictionary,
)
from discreet._utils.errors import SchemaError
from discreet.cli.show import coloured, title_of
from discreet.models.display.notebook import short_html
from discreet.models.display.wording import in_labels
from discreet.report.html import to_html
from discreet.schema.columns.base import tidy_labels

TOML = """\
source = "the codebook of 2019"

[target]
name = "ill"
classes = [0, 1]
label = "Readmitted within a year"

[target.labels]
0 = "no"
1 = "yes"

[columns.age_y]
type = "numeric"
label = "Age in years"
cuts = [25, 45]

[columns.wrd]
type = "categorical"
label = "Ward"
categories = ["A", "B", "C"]

[columns.wrd.labels]
A = "surgery"
B = "children's ward"

[columns.sx]
type = "boolean"
label = "Sex"

[columns.sx.labels]
true = "female"
false = "male"

[columns.pid]
type = "ignore"
label = "Patient"
"""
LIST = "if age_y <= 25 and wrd = A then 1 else if sx then 0 else if not sx then 1 else 0"


@pytest.fixture
def labelled():
    return Schema.from_toml(TOML)


@pytest.fixture
def rules(labelled):
    return RuleList.parse(LIST, classes=(0, 1), schema=labelled)


def test_labels_are_read_from_toml_and_written_back(labelled):
    assert labelled.to_toml(header="") == TOML
    assert Schema.from_dict(json.loads(json.dumps(labelled.to_dict()))) == labelled
    assert labelled["age_y"].called == "Age in years"
    assert labelled["wrd"].value_label("A") == "surgery"
    assert labelled["wrd"].value_label("C") is None
    assert labelled.class_called(1) == "yes"
    assert pickle.loads(pickle.dumps(labelled)) == labelled


def test_without_labels_nothing_more_is_written():
    plain = Schema(
        [Numeric("a", cuts=[1]), Categorical("b", categories=["x"]), Boolean("c"), Ignored("d")], "y", [0, 1]
    )
    assert plain.to_dict() == {
        "target": {"name": "y", "classes": [0, 1]},
        "columns": {
            "a": {"type": "numeric", "cuts": [1]},
            "b": {"type": "categorical", "categories": ["x"]},
            "c": {"type": "boolean"},
            "d": {"type": "ignore"},
        },
    }


def test_labels_of_groups_and_of_what_they_leave_over():
    column = Categorical(
        "job",
        categories=["clerk", "boss", "farmer"],
        groups={"office": ["clerk", "boss"]},
        ungrouped="other",
        labels={"office": "in an office", "other": "elsewhere", "clerk": "a clerk"},
    )
    assert [column.value_label(v) for v in ("office", "other", "clerk", "boss")] == [
        "in an office",
        "elsewhere",
        "a clerk",
        None,
    ]


def test_a_column_that_is_excluded_keeps_its_label(labelled):
    assert labelled.exclude(["wrd"])["wrd"] == Ignored("wrd", label="Ward")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ('label = "Age in years"|label = 3', "must be a string"),
        ('label = "Age in years"|label = "  "', "something to read"),
        ('label = "Age in years"|label = "a\\nb"', "must be one line"),
        ('label = "Age in years"|label = "\\u001b[2J"', "must be one line"),
        ('label = "Age in years"|label = "a\\u2028b"', "must be one line"),
        (f'label = "Age in years"|label = "{"x" * 201}"', "at most 200"),
        ('label = "Age in years"|label = "Ward"', "would be called the same"),
        ('label = "Age in years"|label = "pid"|label = "Patient"|', "would be called the same"),
        ('A = "surgery"|Z = "surgery"', "'Z', which is not there"),
        ('A = "surgery"|A = "C"', "would be called the same"),
        ('A = "surgery"|A = 1', "must be a string"),
        ('0 = "no"|0 = "yes"', "would be called the same"),
        ('0 = "no"|0 = "1"|1 = "yes"|', "would be called the same"),
        ('0 = "no"|2 = "no"', "'2', which is not there"),
        ('true = "female"|maybe = "female"', "'maybe', which is not there"),
        (f'"the codebook of 2019"|"{"x" * 1001}"', "at most 1000"),
        ('"the codebook of 2019"|["a"]', "must be a string"),
    ],
)
def test_a_label_that_is_none_or_another_ones_name_is_refused(change, complaint):
    text = TOML
    parts = change.split("|")
    for old, new in zip(parts[::2], parts[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(SchemaError, match=complaint):
        Schema.from_toml(text)


@pytest.mark.parametrize("labels", [3, "ab", [1], [("A",)]])
def test_labels_must_be_a_table(labels):
    with pytest.raises(SchemaError, match="labels must be a table"):
        Categorical("wrd", categories=["A"], labels=labels)


def test_people_read_labels_and_everything_else_keeps_the_names(rules):
    tree = Tree(Split(Literal("wrd", "!=", "B"), Split(Literal("sx"), 1, 0), 0), (0, 1), rules.schema)
    for model in (rules, tree):
        saved = SavedModel(model, target="ill")
        seen = [to_html(saved), short_html(model), coloured(model).plain]
        for shown in seen:
            assert "Sex" in shown
            assert "female" in shown
            assert "Age in years" in shown or model is tree
            assert "surgery" in shown or "children" in shown
            assert "yes" in shown
        assert "Predicting" in seen[0]
        assert "Readmitted within a year" in seen[0]
        assert title_of(saved).plain == "Predicting Readmitted within a year"
        for written in (str(model), model.to_sql(), model.to_python()):
            for label in ("Age in years", "surgery", "Sex", "female", "Readmitted"):
                assert label not in written
        assert RuleList.parse(str(rules), (0, 1), rules.schema) == rules
        again = SavedModel.from_json(saved.to_json())
        assert again == saved


def test_a_literal_in_labels(labelled):
    shown = {
        Literal("age_y", "<=", 25): '"Age in years" <= 25',
        Literal("wrd", "!=", "B"): 'Ward != "children\'s ward"',
        Literal("wrd", "=", "C"): "Ward = C",
        Literal("sx"): "Sex = female",
        Literal("sx", "is false"): "Sex = male",
        Literal("wrd", "is missing"): "Ward is missing",
        Literal("total", "<", 3): "total < 3",
    }
    assert {literal: str(in_labels(literal, labelled)) for literal in shown} == shown
    assert str(in_labels(Literal("wrd", "=", "A"), None)) == "wrd = A"


def test_classes_that_would_look_the_same_keep_their_names(labelled):
    """A schema is about its own classes; a model read from a file may have others."""
    schema = replace(labelled, class_labels={"0": "2"})
    page = short_html(RuleList.parse("if age_y <= 25 then 0 else 2", (0, 2), schema))
    assert "predict" in page
    assert ">0<" in page


def test_a_data_dictionary_gives_labels():
    dictionary = pd.DataFrame(
        {
            "variable": ["age", "sx", "wrd", "smoker", "long", "ill", "n"],
            "type": ["integer", None, None, None, None, None, "integer"],
            "values": [
                None,
                "0 = male; 1 = female",
                "A = surgery; B = x; 9 = x",
                "0 = no; 1 = yes",
                "a, b",
                "0: no, 1: yes",
                None,
            ],
            "min": [0, None, None, None, None, None, 0],
            "max": [9, None, None, None, None, None, 9],
            "label": ["Age\nin years", None, None, None, None, None, "n"],
            "description": ["as said", "Sex", "Ward", "Ward", "d" * 61, "Readmitted", None],
        }
    )
    draft = draft_from_dictionary(dictionary, target="ill")
    schema = draft.schema
    assert {c.name: c.label for c in schema.columns} == {
        **{"age": "Age in years", "sx": "Sex", "long": "", "n": ""},
        **{"wrd": "", "smoker": ""},  # two columns of one label would look the same
    }
    assert schema["sx"].labels == (("false", "male"), ("true", "female"))
    assert schema["wrd"].labels == (("A", "surgery"),)
    assert schema["smoker"].labels == ()
    assert schema.target_label == "Readmitted"
    assert schema.class_labels == (("0", "no"), ("1", "yes"))
    assert schema.source == "drafted from a data dictionary"
    assert draft.comments["long"] == "d" * 61
    assert draft.comments["age"] == "as said"
    assert "sx" not in draft.comments
    assert Schema.from_toml(draft.to_toml()) == schema


def test_labels_of_a_spreadsheet_are_made_tidy():
    assert tidy_labels({"1": " a\x1b\n b ", "2": "x" * 300, "3": "1"}) == {"1": "a b", "2": "x" * 200}
    assert tidy_labels({"1": "x"}, known=["x"]) == {}
