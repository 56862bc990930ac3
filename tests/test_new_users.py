"""What stumbles people with tables of their own: decimal commas, row names, labels spelled in another way."""

import json

import numpy as np
import pandas as pd
import pytest

from discreet import Categorical, Numeric, Schema, draft_schema, open_table
from discreet.errors import TableError
from discreet.sources.files import as_read, labels

from .test_practitioner import run


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
    assert as_read(["0,50", "1,0", "1,5", "0.5"], codes, ",").tolist() == ["0.5", "1", "1,5", "0.5"]
    assert labels(["1,0", "0", "1.0"], (0, 1), ",").tolist()[:2] == [1, 0]
    assert labels(["1.0"], (0, 1), ",").tolist() != [1]


def test_a_german_csv_file_is_drafted_checked_learned_from_and_scored(desk):
    write_german("sample.csv", german(seed=1))
    write_german("table.csv", german())
    run("schema", "sample.csv", "--target", "geheilt", "--decimal", ",", "--out", "schema.toml")
    assert isinstance(Schema.load("schema.toml")["dosis"], Numeric)
    comma = ("--schema", "schema.toml", "--decimal", ",")
    assert json.loads(run("check", "table.csv", *comma, "--json"))["columns"]["dosis"]["not foreseen"] == 0
    run("fit", "table.csv", *comma, "--epsilon", "9", "--out", "m.json")
    said = json.loads(run("evaluate", "m.json", "table.csv", "--public", "--decimal", ",", "--json"))
    assert said["accuracy"] > 0.8
    run("predict", "m.json", "table.csv", "--decimal", ",", "--out", "scores.csv")
    assert (pd.read_csv("scores.csv").prediction == german().geheilt).mean() == said["accuracy"]
    run("cuts", "table.csv", *comma, "--column", "dosis=2", "--epsilon", "1", "--out", "cut.toml", "--another-ledger")
    run("plan", "sample.csv", *comma, "--repeats", "2")


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


def test_records_that_an_engine_hands_over_have_decimal_commas_too(desk):
    pytest.importorskip("ibis")
    from discreet.sources.engine import records

    write_german("table.csv", german())
    column = Numeric("dosis", cuts=[1, 2, 3])
    values = next(records(open_table("table.csv", decimal=","), [("dosis", column)]))[0]
    assert column.encode(values).tolist() == column.encode(german().dosis.to_numpy()).tolist()
    with pytest.raises(TableError, match="a point or a comma"):
        open_table("table.csv", decimal=";")


@pytest.mark.parametrize("texts", [["1.234,5", "12,0", "7"], ["1,234.5", "12.0", "1,234,567"], ["-1,5", "+2,25"]])
def test_numbers_with_separators_are_neither_guessed_nor_taken_for_categories(texts):
    draft = draft_schema(pd.DataFrame({"x": texts * 20, "b": [0, 1] * (10 * len(texts))}))
    assert draft.schema["x"].kind == "ignore"
    assert "thousands" in draft.notes[0]


def test_texts_with_commas_that_are_no_numbers_are_categories():
    lists = pd.DataFrame({"x": ["1,2,3", "2,3,1", "Smith, J."] * 20, "b": [0, 1] * 30})
    assert draft_schema(lists).schema["x"].kind == "categorical"
