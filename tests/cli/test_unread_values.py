"""``discreet predict`` says how many values it could not read: scores that rest on them look like all others."""

from pathlib import Path

import pandas as pd
import pytest

from discreet import Boolean, Categorical, Date, Literal, Numeric, Rule, RuleList, Schema
from discreet.cli import main
from discreet.models.saved import SavedModel
from tests.support.streams_apart import runner

SCHEMA = Schema(
    (Numeric("priors", cuts=[2.5]), Boolean("smoker"), Categorical("ward", categories=["east", "west"])),
    target="ill",
    classes=["no", "yes"],
)
RULES = RuleList(
    (
        Rule((Literal("priors", ">", 2.5),), "yes"),
        Rule((Literal("smoker", "is true"),), "yes"),
        Rule((Literal("ward", "=", "east"),), "yes"),
    ),
    Rule((), "no"),
    SCHEMA.classes,
    SCHEMA,
)
N = 200


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SavedModel(RULES, target="ill").save(tmp_path / "model.json")
    return tmp_path


def table(name: str = "new.csv", **columns: object) -> str:
    good = {"priors": ["1.5", ""] * (N // 2), "smoker": ["yes", "0"] * (N // 2), "ward": ["east", "?"] * (N // 2)}
    frame = pd.DataFrame(good | columns)
    frame.to_csv(name, index=False) if name.endswith("csv") else frame.to_parquet(name)
    return name


def predict(*arguments: str):
    return runner().invoke(main, ["predict", "model.json", *arguments])


def test_a_table_that_can_be_read_gets_no_remark(model):
    done = predict(table(), "--strict")
    assert done.exit_code == 0
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == N + 1


@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_values_that_cannot_be_read_are_counted_by_column(model, name):
    odd = {"priors": ["n/k", "3"] * (N // 2), "smoker": ["ja"] * 30 + ["no"] * (N - 30), "ward": ["North"] * N}
    done = predict(table(name, **odd))
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        "priors: 100 of 200 values are not numbers and count as missing",
        "smoker: 30 of 200 values are neither true nor false and count as missing",
        "ward: 200 of 200 values are not in the model's schema and match no category",
    ]
    assert "North" not in done.stderr


def test_values_that_are_no_dates_are_counted(model):
    schema = Schema([Date("admitted", cuts=["2024-01-01"])], "ill", ["no", "yes"])
    rules = RuleList.parse("if admitted < 2024-01-01 then yes else no", schema=schema)
    SavedModel(rules, target="ill").save("model.json")
    said = predict(table(admitted=["31.12.2023", "1,5", "2023/12/31 10:00", ""] * (N // 4))).stderr
    assert said == "admitted: 100 of 200 values are not dates and count as missing\n"


def test_another_decimal_mark_is_named(model):
    table(priors=["1,5"] * 150 + ["4"] * 50)
    assert predict("new.csv").stderr == (
        "priors: 150 of 200 values are not numbers and count as missing; --decimal , if the decimal mark is a comma\n"
    )
    assert predict("new.csv", "--decimal", ",").stderr == ""
    table(priors=["1.5"] * 150 + ["4"] * 50)
    assert "leave --decimal out if the decimal mark is a point" in predict("new.csv", "--decimal", ",").stderr


def test_an_empty_string_is_no_value(model):
    nothing = dict.fromkeys(("priors", "smoker", "ward"), ["", " "] * (N // 2))
    done = predict(table("new.parquet", **nothing), "--strict")
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize("out", [(), ("--out", "scores.csv")])
def test_strict_writes_nothing_if_a_value_cannot_be_read(model, out):
    table(smoker=["yes"] * (N - 1) + ["nein"])
    done = predict("new.csv", "--strict", *out)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "smoker: 1 of 200 values are neither true nor false" in done.stderr
    assert "nein" not in done.stderr
    assert not Path("scores.csv").exists()


def test_values_that_the_schema_foresees_as_others_are_no_remark(model):
    others = Schema((Categorical("ward", categories=["east"], outside="other"),), target="ill", classes=["no", "yes"])
    rules = RuleList((Rule((Literal("ward", "=", "east"),), "yes"),), Rule((), "no"), others.classes, others)
    (model / "model.json").unlink()
    SavedModel(rules, target="ill").save(model / "model.json")
    assert predict(table(ward=["north"] * N), "--strict").exit_code == 0
