"""What stumbles people with tables of their own: decimal commas, row names, labels spelled in another way."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import (
    Boolean,
    Categorical,
    Literal,
    Numeric,
    PrivateCounts,
    Rule,
    RuleList,
    SavedModel,
    Schema,
    check_table,
    draft_schema,
)
from discreet._utils.errors import SchemaError, TableError
from discreet.sources.files import as_read
from discreet.sources.memory import class_numbers

from .test_practitioner import flat, run


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder of one's own, in which commands are run."""
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def german(n=300, seed=0):
    """A table as a German spreadsheet writes it."""
    rng = np.random.default_rng(seed)
    dose = np.round(rng.uniform(0, 5, n), 1)
    return pd.DataFrame(
        {"dosis": dose, "stufe": rng.choice([0.5, 1.0], n), "geheilt": np.where(dose > 2, "ja", "nein")}
    )


def write_german(path, frame):
    frame.to_csv(path, sep=";", decimal=",", index=False)


# -- decimal commas ----------------------------------------------------------------------------------------------------------


def test_a_decimal_comma_is_one_where_it_is_said_and_a_point_is_then_none():
    number, codes = Numeric("x", cuts=[1, 2]), Categorical("c", categories=["0.5", "1", "1,5"])
    texts = ["1,7", "1.7", " 2 ", "1.000,5", "3e0"]
    assert number.encode(as_read(texts, number, ",")).tolist() == [1, 3, 1, 3, 2]
    assert codes.encode(as_read(["0,50", "1,0", "1,5", "0.5"], codes, ",")).tolist() == [0, 1, 2, 0]
    assert class_numbers(as_read(["1,0", "0", "1.0"], None, ","), (0, 1), 3).tolist() == [1, 0, -1]


def test_a_german_csv_file_is_drafted_checked_learned_from_and_scored(desk):
    write_german("sample.csv", german(seed=1))
    write_german("table.csv", german())
    run("schema", "sample.csv", "--target", "geheilt", "--decimal", ",", "--out", "schema.toml")
    assert isinstance(Schema.load("schema.toml")["dosis"], Numeric)
    comma = ("--schema", "schema.toml", "--decimal", ",")
    assert json.loads(run("check", "table.csv", *comma, "--json"))["columns"]["dosis"]["not foreseen"] == 0
    run("fit", "list", "table.csv", *comma, "--epsilon", "9", "--out", "m.json")
    said = json.loads(run("evaluate", "m.json", "table.csv", "--public", "--decimal", ",", "--json"))
    assert said["accuracy"] > 0.8
    run("predict", "m.json", "table.csv", "--decimal", ",", "--out", "scores.csv")
    assert (pd.read_csv("scores.csv").prediction == german().geheilt).mean() == said["accuracy"]
    run("plan", "list", "sample.csv", *comma, "--repeats", "2")


def test_a_draft_notices_decimal_commas(desk):
    sample = german(seed=1)
    write_german("sample.csv", sample)
    said = run("schema", "sample.csv", "--target", "geheilt", "--out", "schema.toml")
    assert "--decimal ," in said
    assert "'dosis'" in said
    assert Schema.load("schema.toml")["dosis"].kind == "ignore"
    assert "--decimal ," in run("schema", "sample.csv", "--target", "stufe", code=1)
    texts = sample.dosis.astype(str).str.replace(".", ",")
    assert any('decimal=","' in note for note in draft_schema(pd.DataFrame({"x": texts, "b": [0, 1] * 150})).notes)


@pytest.mark.parametrize("texts", [["1.234,5", "12,0", "7"], ["1,234.5", "12.0", "1,234,567"], ["-1,5", "+2,25"]])
def test_numbers_with_separators_are_neither_guessed_nor_taken_for_categories(texts):
    draft = draft_schema(pd.DataFrame({"x": texts * 20, "b": [0, 1] * (10 * len(texts))}))
    assert draft.schema["x"].kind == "ignore"
    assert "thousands" in draft.notes[0]


def test_a_point_in_a_file_of_decimal_commas_is_not_drafted_as_a_decimal_sign(desk):
    rows = "".join(f"{i % 7}.{100 + i};{i % 5},5;{i % 2}\n" for i in range(80))
    Path("t.csv").write_text(f"thousands;half;y\n{rows}")
    said = run("schema", "t.csv", "--target", "y", "--decimal", ",", "--out", "s.toml")
    assert "'thousands' (ignore)" in said
    assert "'half'" not in said
    assert Schema.load("s.toml")["half"].kind == "numeric"


def test_a_draft_notices_spellings_that_differ_by_case_or_spaces_only():
    sample = pd.DataFrame(
        {"city": ["Bonn", "bonn", "Berlin", "Berlin "] * 20, "y": ["Yes", "no", "yes", "no", "no"] * 16}
    )
    notes = draft_schema(sample, "y").notes
    assert [note.partition(":")[0] for note in notes] == ["'y' (target)", "'city' (categorical)"]
    assert all("case or spaces" in note for note in notes)
    assert draft_schema(sample.replace({"bonn": "Bonn", "Berlin ": "Berlin", "Yes": "yes"}), "y").notes == ()


def test_texts_with_commas_that_are_no_numbers_are_categories():
    lists = pd.DataFrame({"x": ["1,2,3", "2,3,1", "Smith, J."] * 20, "b": [0, 1] * 30})
    assert draft_schema(lists).schema["x"].kind == "categorical"


# -- does the table fit its schema? ------------------------------------------------------------------------------------------

BOUNDED = Schema(
    (
        Numeric("clipped", cuts=[1, 2], low=0, high=3),
        Numeric("gone", cuts=[1, 2], low=0, high=3, outside="missing"),
        Categorical("other", categories=["a", "b"], outside="other"),
        Categorical("unsaid", categories=["a", "b"]),
        Categorical("grouped", groups={"first": ["a"]}, categories=["a", "b"], outside="missing"),
        Boolean("truth"),
    ),
    "y",
    ("no", "yes"),
)
VALUES = ["2", "5", "-inf", "x", "", "1,5", None, "a", "A ", "b", "yes", " Yes", "0", "1"]


def as_the_learner_takes_it(column, value):
    """Which of its tests are true of a value, by rules that are predicted with, not by bins."""
    tests = [(op, v) for op, v in column.tests() if op != "is missing"]
    schema = Schema((column,), classes=(0, 1))
    true = []
    for test in tests:
        rules = RuleList((Rule((Literal(column.name, *test),), 1),), Rule((), 0), (0, 1), schema)
        true.append(bool(rules.predict({column.name: np.array([value], dtype=object)})[0]))
    return tests, true


@pytest.mark.parametrize("column", BOUNDED.columns, ids=lambda c: c.name)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_check_says_what_the_learner_does(column, value):
    X = {column.name: np.array([value], dtype=object)}
    found = check_table(X, ["no"], Schema((column,), classes=("no", "yes"))).columns[column.name]
    tests, true = as_the_learner_takes_it(column, value)
    if value is None:
        assert (found.missing, found.taken_as) == (1, {})
    elif "missing" in found.taken_as or "none" in found.taken_as:
        assert not any(true)
    elif "clip" in found.taken_as:
        bound = column.high if float(value) > 0 else column.low
        assert true == [bound <= cut for _, cut in tests]
    elif "other" in found.taken_as:
        assert [test for test, is_true in zip(tests, true, strict=True) if is_true] == [("=", "other")]
    elif isinstance(column, Numeric):
        assert true == [float(value) <= cut for _, cut in tests]
    elif isinstance(column, Boolean):
        assert true == [value.strip().lower() in ("yes", "1")]
    else:
        assert value in ("a", "b")


def test_labels_that_differ_by_case_or_spaces_only_are_named(desk):
    frame = pd.DataFrame({"x": [0, 1] * 5, "y": ["no", "NO", "Yes", "yes ", " ye s", "maybe", None, "no", "yes", "no"]})
    schema = Schema((Boolean("x"),), "y", ("no", "yes"))
    found = check_table(frame[["x"]], frame.y, schema)
    assert (found.labels_missing, found.labels_not_foreseen) == (1, 5)
    assert found.labels_misspelled == {"no": 1, "yes": 3}
    assert "4 differ from the schema's only by case or spaces: no (1), yes (3)" in str(found)
    frame.to_csv("t.csv", index=False)
    schema.save("s.toml")
    said = json.loads(run("check", "t.csv", "-s", "s.toml", "--json"))["labels"]
    # of a CSV file, spaces at both ends are no part of a text
    assert said == {"missing": 1, "not foreseen": 4, "but for case or spaces": {"no": 1, "yes": 2}}
    assert "data holder only" in run("check", "t.csv", "-s", "s.toml")


def test_check_names_the_decimal_sign_and_categories_in_another_spelling():
    X = pd.DataFrame({"clipped": ["1,5", "2,5", "2", None], "other": ["A", " b", "c", "a"]})
    schema = Schema((BOUNDED["clipped"], BOUNDED["other"]), classes=("no", "yes"))
    found = check_table(X, ["no"] * 4, schema)
    assert found.columns["clipped"].taken_as == {"missing": 2}
    assert found.columns["clipped"].other_decimal_sign == 2
    assert "--decimal ," in str(found)
    assert "missing = true" in str(found)
    assert found.columns["other"].misspelled == {"a": 1, "b": 1}


def test_check_agrees_on_all_kinds_of_frames():
    X = pd.DataFrame(
        {"gone": [0.5, 7.0, np.nan, 1.0], "other": ["a", "z", None, "b"], "truth": [True, False, True, True]}
    )
    schema = Schema(tuple(BOUNDED[name] for name in X.columns), classes=("no", "yes"))
    y = ["no", "yes", "no", "x"]
    expected = check_table(X, y, schema)
    assert (expected.columns["gone"].missing, expected.columns["gone"].taken_as) == (1, {"missing": 1})
    for other in (pl.from_pandas(X), pa.Table.from_pandas(X), X.to_dict("list"), X.to_numpy(dtype=object)):
        assert check_table(other, y, schema) == expected
    with pytest.raises(SchemaError, match="must be a Schema"):
        check_table(X, y, "schema.toml")


# -- row names ---------------------------------------------------------------------------------------------------------------

TELLS_OF_ROW_NAMES = ("index=False", "row.names = FALSE")


def commands_on(path):
    yield "schema", path, "--target", "y"
    yield "check", path, "--schema", "s.toml"
    yield "fit", "list", path, "--schema", "s.toml", "--epsilon", "1", "--out", "new.json"
    yield "predict", "m.json", path
    yield "evaluate", "m.json", path, "--public"


def written_by_pandas(frame):
    frame.to_csv("t.csv")  # header: ,x,y


def written_by_r(frame):
    """As ``write.csv`` does by itself: row names that are texts, in a column whose name is a quoted nothing."""
    lines = [f'"{i}",{x},"{y}"' for i, (x, y) in enumerate(zip(frame.x, frame.y, strict=True), 1)]
    Path("t.csv").write_text("\n".join(['"","x","y"', *lines, ""]))


def written_by_r_without_a_corner(frame):
    """As ``write.table(sep = ",")`` does: the header has a field fewer than the lines."""
    written_by_r(frame)
    lines = Path("t.csv").read_text().split("\n")
    Path("t.csv").write_text("\n".join(['"x","y"', *lines[1:]]))


@pytest.mark.parametrize("write", [written_by_pandas, written_by_r, written_by_r_without_a_corner])
def test_row_names_are_recognised_and_the_fix_is_named(desk, write):
    frame = pd.DataFrame({"x": [0, 1] * 40, "y": ["no", "yes"] * 40})
    schema = Schema((Boolean("x"),), "y", ("no", "yes"))
    schema.save("s.toml")
    SavedModel(RuleList((), Rule((), "no"), ("no", "yes"), schema), target="y").save("m.json")
    write(frame)
    for command in commands_on("t.csv"):
        said = flat(run(*command, code=1))
        assert all(fix in said for fix in TELLS_OF_ROW_NAMES), said
        if write is not written_by_r_without_a_corner:
            assert "first column has no name" in said
    with pytest.raises(TableError, match=r"row\.names = FALSE"):
        PrivateCounts.from_file("t.csv", schema)


def test_another_column_without_a_name_is_no_column_of_row_names(desk):
    Path("t.csv").write_text("x,,y\n1,2,no\n")
    assert "first column" not in run("schema", "t.csv", "--target", "y", code=1)


def test_row_numbers_that_pandas_named_are_no_column_for_rules():
    sample = pd.DataFrame({"Unnamed: 0": range(12), "x": [0, 1] * 6})
    assert draft_schema(sample).schema["Unnamed: 0"].kind == "ignore"


# -- drafts ------------------------------------------------------------------------------------------------------------------


def test_the_same_note_on_many_columns_is_one_note():
    codes = {f"q{i}": [1, 2, 3, 4] * 25 for i in range(12)}
    draft = draft_schema(pd.DataFrame({**codes, "empty": [None] * 100, "b": [0, 1] * 50}))
    about_codes = [note for note in draft.notes if "codes" in note]
    assert len(about_codes) == 1
    assert about_codes[0].startswith("'q0', 'q1', ")
    assert "and 4 more (numeric)" in about_codes[0]
    assert sum("'empty'" in note for note in draft.notes) == 1
    assert all("codes" in draft.comments[name] for name in codes)  # the file has it above each of them


# -- how good is a model? ----------------------------------------------------------------------------------------------------


def test_the_interval_of_a_noisy_evaluation_says_what_it_covers(desk):
    frame = pd.DataFrame({"x": [0, 1] * 40, "y": ["no", "yes"] * 40})
    schema = Schema((Boolean("x"),), "y", ("no", "yes"))
    SavedModel(RuleList((), Rule((), "no"), ("no", "yes"), schema), target="y").save("m.json")
    frame.to_csv("t.csv", index=False)
    said = run("evaluate", "m.json", "t.csv", "--epsilon", "1")
    assert (
        "at 95 %: of rates, what covers the noise and the sampling of the records; of counts, the noise alone" in said
    )
    found = json.loads(run("evaluate", "m.json", "t.csv", "--epsilon", "1", "--json"))
    assert found["interval"] == {"level": 0.95, "covers": "the noise and the sampling of the records"}
    assert found["interval_of_counts"]["covers"] == "the noise alone, not the choice of the records"
    exact = json.loads(run("evaluate", "m.json", "t.csv", "--public", "--json"))
    assert [row["recall"] for row in exact["classes"].values()] == [1.0, 0.0]
    assert "recall" in run("evaluate", "m.json", "t.csv", "--public")
