"""The practitioner's path on the command line: from a CSV file to a model, and what is said to the usual mistakes."""

import csv
import io
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet import Boolean, Categorical, Ignored, Ledger, Numeric, RuleList, SavedModel, Schema
from discreet.cli import main
from tests.support.paid_schemas import paid

SECRET = "Zyxw"  # stands in the records only
SCHEMA = Schema(
    (
        Ignored("patient"),
        Numeric("age", cuts=[30, 40, 50, 60, 70]),
        Categorical("ward", categories=["A", "B", "NA", "1"], outside="other", missing=True),
        Boolean("smoker", missing=True),
        Numeric("cost", cuts=[100, 1000, 10000], missing=True),
    ),
    target="died",
    classes=["no", "yes"],
)


def hospital(n=400, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 95, n)
    died = np.where(rng.random(n) < np.where(age > 60, 0.9, 0.1), "yes", "no")
    return pd.DataFrame(
        {
            "patient": [f"{SECRET}{i}" for i in range(n)],
            "age": age,
            "ward": rng.choice(["A", "B", "NA", "1.0", SECRET, ""], n),
            "smoker": rng.choice(["yes", "no", ""], n),
            "cost": np.where(rng.random(n) < 0.1, "", np.round(rng.lognormal(7, 2, n), 2).astype(str)),
            "died": died,
        }
    )


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with a table and its schema, in which commands are run."""
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    hospital().to_csv("hospital.csv", index=False)
    SCHEMA.save("schema.toml")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert SECRET not in result.output
    return result.output


def read_by(engine, command):
    """The same call, of a file that the engine reads."""
    if engine == "duckdb":
        table = hospital().replace({"": None, "1.0": "1"})
        table.assign(cost=pd.to_numeric(table.cost)).to_parquet("hospital.parquet")
        command = ["hospital.parquet" if word == "hospital.csv" else word for word in command]
    return *command, "--engine", engine


def flat(text):
    """Without the lines and frames of the terminal."""
    return " ".join(text.replace("│", " ").split())


FIT = ("fit", "list", "hospital.csv", "--schema", "schema.toml", "--epsilon", "5", "--out", "model.json", "--force")
GREEDY = ("fit", "greedy", *FIT[2:])


def test_from_a_csv_to_a_model_a_report_and_scores(desk):
    said = run("ledger", "create", "ledger.json", "--epsilon", "6")
    assert "6" in said
    said = run(*FIT, "--ledger", "ledger.json", "--report", "report.html")
    assert "age" in said
    assert "epsilon = 5" in said
    assert "1 of 6 left" in said
    assert SECRET not in (desk / "model.json").read_text() + (desk / "report.html").read_text()
    assert "<html" in (desk / "report.html").read_text()
    assert "if " in run("show", "model.json")
    model = SavedModel.load("model.json")
    assert (model.target, model.classes) == ("died", ("no", "yes"))
    run("predict", "model.json", "hospital.csv", "--out", "scores.csv", "--id", "age")
    scores = pd.read_csv("scores.csv")
    assert scores.columns.tolist() == ["age", "prediction", "share of no", "share of yes"]
    table = hospital()
    assert (scores.age == table.age).all()
    assert (scores.prediction == table.died).mean() > 0.8
    assert scores["share of yes"].between(0, 1).all()
    assert "epsilon 1 of 6 left" in run("ledger", "show", "ledger.json")


@pytest.mark.parametrize("ending", ["parquet", "feather", "tsv"])
def test_other_files_give_the_same_scores(desk, ending):
    run(*FIT)
    table = hospital()
    if ending == "tsv":
        table.to_csv("other.tsv", sep="\t", index=False)
    else:
        table = table.replace({"": None, "1.0": "1"}).assign(cost=pd.to_numeric(table.cost, errors="coerce"))
        table.to_parquet("other.parquet") if ending == "parquet" else table.to_feather("other.feather")
    assert run("predict", "model.json", f"other.{ending}") == run("predict", "model.json", "hospital.csv")
    run("fit", "list", f"other.{ending}", *FIT[3:])


def test_everything_as_json(desk):
    made = json.loads(run(*FIT, "--json"))
    assert made["format"] == "discreet model"
    assert json.loads(run("show", "model.json", "--json")) == json.loads((desk / "model.json").read_text())
    assert len(json.loads(run("predict", "model.json", "hospital.csv", "--json"))) == 400
    assert 0.5 < json.loads(run("evaluate", "model.json", "hospital.csv", "--public", "--json"))["accuracy"] <= 1
    noisy = json.loads(run("evaluate", "model.json", "hospital.csv", "--epsilon", "1", "--json"))
    assert noisy["low"] <= noisy["accuracy"] <= noisy["high"]
    planned = json.loads(run("plan", "list", "--schema", "schema.toml", "--records", "1000", "--json"))
    assert [e["epsilon"] for e in planned["expected"]] == sorted(e["epsilon"] for e in planned["expected"])
    assert json.loads(run("check", "hospital.csv", "--schema", "schema.toml", "--json"))["records"] == 400
    run("ledger", "create", "l.json", "--epsilon", "1")
    assert json.loads(run("ledger", "show", "l.json", "--json"))["remaining"] == ["1", "0"]


def test_all_learners(desk):
    promise = ("show", "model.json", "--promise")
    run(*GREEDY)
    assert "mechanism mass" in flat(run(*promise))
    run(*GREEDY, "--mechanism", "sm-laplace", "--delta", "1e-6", "--min-support", "20")
    assert "accounting gives epsilon = 5, delta = 1e-06" in flat(run(*promise))
    assert "for people with up to 3 records" in flat(run(*FIT, "--records-per-person", "3"))
    assert "up to 3 of them" in flat(run(*promise))
    assert "age " not in run(*FIT, "--exclude", "age", "--max-length", "2")


def test_a_fit_prints_the_model_a_line_of_promise_and_one_of_the_ledger(desk):
    run("ledger", "create", "ledger.json", "--epsilon", "60")
    after = run(*FIT, "--ledger", "ledger.json").partition("╰")[2].splitlines()[1:]
    assert after == [
        "epsilon = 5, proved; assumptions: discreet show model.json --promise",
        "ledger.json: epsilon 55 of 60 left",
    ]
    weak = flat(run(*FIT, "--epsilon", "20", "--weak", "--ledger", "ledger.json"))
    assert "epsilon = 20, proved, which offers almost no protection; assumptions: " in weak
    said = flat(run(*FIT, "--another-ledger"))
    assert "No ledger: what several models from one table reveal adds up" in said
    inferred = ("fit", "list", "hospital.csv", "--infer-schema", "-t", "died", "-x", "patient", "-x", "ward", *FIT[5:])
    said = flat(run(*inferred, "--another-ledger"))
    assert "NO PRIVACY IS PROVED: the schema was made from records" in said
    assert json.loads(run("show", "model.json", "--promise", "--json"))["proved"] is None
    assert "leave out --out" in run("show", "model.json", "--promise", "--out", "x.txt", code=2)


def test_types_of_columns_are_passed_to_exports(desk):
    model = RuleList.parse("if smoker then yes else no", ("no", "yes"), SCHEMA)
    SavedModel(model).save("model.json")
    asked = ("show", "model.json", "--format", "sql", "--types")
    assert run(*asked, "smoker=number") == f"{model.to_sql(types={'smoker': 'number'})}\n"
    assert model.to_sql() != model.to_sql(types={"smoker": "number"})
    assert "text, number or boolean" in run(*asked, "smoker", code=2)


def test_scores_as_code(desk):
    import duckdb

    run(*FIT)
    run("predict", "model.json", "hospital.csv", "--out", "scores.csv")
    labels = pd.read_csv("scores.csv").prediction.tolist()
    made = {}
    exec(run("show", "model.json", "--format", "python"), made)
    model = SavedModel.load("model.json")
    from discreet.sources.files import read_table

    records = read_table(desk / "hospital.csv", schema=model.rule_list.schema)
    assert [made["predict"](r) for r in records.to_dict("records")] == labels
    records = records.assign(age=pd.to_numeric(records.age), cost=pd.to_numeric(records.cost))
    sql = run("show", "model.json", "--format", "sql", "--dialect", "duckdb")
    patients = records.assign(smoker=records.smoker.map({"yes": True, "no": False}).astype("boolean"))  # noqa: F841
    assert [x for (x,) in duckdb.sql(f"SELECT {sql} FROM patients").fetchall()] == labels
    assert "CASE" in run("show", "model.json", "--format", "sql", "--dialect", "spark")
    assert "share" in run("show", "model.json", "--format", "python", "--share-of", "yes")
    assert "must be one of no, yes" in run("show", "model.json", "--format", "sql", "--share-of", "maybe", code=2)


# ---- mistakes ----------------------------------------------------------------------------------------------------------------


def test_no_schema(desk):
    said = run("fit", "list", "hospital.csv", "-t", "died", "-e", "1", "-o", "m.json", code=2)
    assert "discreet schema" in said
    assert "PUBLIC" in said
    assert not (desk / "m.json").exists()


def test_an_inferred_schema_promises_nothing(desk):
    said = run(
        "fit",
        "list",
        "hospital.csv",
        "-t",
        "died",
        "-e",
        "1",
        "-o",
        "m.json",
        "--infer-schema",
        "-x",
        "patient",
        "-x",
        "ward",
    )
    assert "NO PRIVACY IS PROVED" in flat(said)
    assert SavedModel.load("m.json").privacy.proved is None


def test_a_column_typo(desk):
    SCHEMA_TEXT = (desk / "schema.toml").read_text()
    (desk / "typo.toml").write_text(SCHEMA_TEXT.replace("[columns.age]", "[columns.agee]"))
    run("ledger", "create", "l.json", "-e", "9")
    said = run(
        "fit", "list", "hospital.csv", "-s", "typo.toml", "-e", "1", "-o", "m.json", "--ledger", "l.json", code=1
    )
    assert "no column 'agee'" in said
    assert "did you mean 'age'?" in said
    assert "schema's target is 'died'" in run(*FIT, "--target", "dead", code=2)
    assert "'agee'" in run(*FIT, "--exclude", "agee", code=1)
    assert Ledger.open("l.json").entries == ()


def test_three_classes_for_two(desk):
    three = Schema(SCHEMA.columns, target="died", classes=["no", "yes", "unknown"])
    three.save("three.toml")
    said = run(
        "fit",
        "greedy",
        "hospital.csv",
        "-s",
        "three.toml",
        "-e",
        "1",
        "-o",
        "m.json",
        "--mechanism",
        "gl-laplace",
        code=1,
    )
    assert "use mechanism mass" in said
    run("fit", "list", "hospital.csv", "-s", "three.toml", "-e", "1", "-o", "m.json")
    assert "--delta" in run(*GREEDY, "--mechanism", "sm-laplace", code=2)
    run("ledger", "create", "l.json", "-e", "9")
    said = run(
        *GREEDY, "--mechanism", "sm-laplace", "--delta", "1e-6", "--min-support", "20", "--ledger", "l.json", code=3
    )
    assert "ledger with a delta" in said


@pytest.mark.parametrize("epsilon", ["50", "0", "-1", "nan", "inf"])
def test_a_bad_epsilon(desk, epsilon):
    said = run("fit", "list", "hospital.csv", "-s", "schema.toml", f"--epsilon={epsilon}", "-o", "m.json", code=2)
    assert "--epsilon" in said
    assert not (desk / "m.json").exists()


def test_a_large_epsilon_needs_a_word(desk):
    assert "almost no protection" in run(*FIT[:5], "--epsilon", "50", "--out", "m.json", "--force", code=2)
    run(*FIT[:5], "--epsilon", "50", "--out", "m.json", "--force", "--weak")


def test_a_second_fit_over_the_ledger(desk):
    run("ledger", "create", "l.json", "-e", "6")
    run(*FIT, "--ledger", "l.json")
    before = (desk / "model.json").read_text()
    said = run(*FIT, "--ledger", "l.json", code=3)
    assert "has epsilon 1" in said
    assert "nothing spent" in said
    assert (desk / "model.json").read_text() == before
    assert "no ledger" in run(*FIT, "--ledger", "none.json", code=2)
    assert "exists already" in run("ledger", "create", "l.json", "-e", "6", code=2)


def test_a_ledger_shows_what_each_entry_knows(desk, monkeypatch):
    run("ledger", "create", "l.json", "-e", "20")
    run(*FIT, "--ledger", "l.json", "--records-per-person", "3")
    ledger = Ledger.open("l.json")
    with pytest.raises(KeyboardInterrupt), ledger.reserve(Fraction(1), Fraction(0), "[/red] \x1b[31m stopped"):
        raise KeyboardInterrupt
    ledger.reserve(Fraction(1), Fraction(0), "killed")
    first, second, third = json.loads(run("ledger", "show", "l.json", "--json"))["entries"]
    own = json.loads((desk / "model.json").read_text())["ledger"]
    assert (own["number"], own["release"], own["entries"]) == (1, first["release"], 1)
    assert [e["ended"] for e in (first, second, third)] == ["finished", "stopped", None]
    assert [e["records_per_person"] for e in (first, second, third)] == [3, 1, 1]
    assert len(first["when"]) == len("2024-05-06")
    monkeypatch.setenv("COLUMNS", "250")
    said = run("ledger", "show", "l.json")
    for words in (first["release"], "records per person", "finished", "stopped", "not closed", "[/red]"):
        assert words in said
    assert "\x1b" not in said


def test_what_is_not_proved_needs_a_ledger_that_takes_it(desk):
    run("ledger", "create", "l.json", "-e", "20")
    inferred = ("--infer-schema", "-x", "patient", "-x", "ward")  # a draw may name what an inferred schema holds
    seedless = ("fit", "list", "hospital.csv", *inferred, "--target", "died", "-e", "5", "-o", "m.json", "--ledger")
    said = run(*seedless, "l.json", code=3)
    assert "--allow-unproved" in flat(said)
    assert "Nothing was learned and nothing spent" in flat(said)
    run("ledger", "create", "all.json", "-e", "20", "--allow-unproved")
    run(*seedless, "all.json", "--another-ledger")
    assert "Nothing is proved about 1 of the releases" in flat(run("ledger", "show", "all.json"))


def test_the_same_table_on_two_ledgers(desk):
    for name in ("one.json", "two.json"):
        run("ledger", "create", name, "-e", "20")
    run(*FIT, "--ledger", "one.json")
    said = run(*FIT, "--ledger", "two.json", code=1)
    assert "one.json" in said
    assert "adds up" in said
    assert "without a ledger" in run(*FIT, code=1)
    assert Ledger.open("two.json").entries == ()
    run(*FIT, "--ledger", "two.json", "--another-ledger")
    (desk / "other").mkdir()
    (desk / "other" / "hospital.csv").write_bytes((desk / "hospital.csv").read_bytes())
    run("fit", "list", "other/hospital.csv", *FIT[3:])  # a copy is not noticed, as the docs say


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_is_found_by_the_header(desk, delimiter):
    hospital().to_csv("other.csv", sep=delimiter, index=False)
    run("fit", "list", "other.csv", *FIT[3:])
    assert run("predict", "model.json", "other.csv") == run("predict", "model.json", "hospital.csv")


def test_a_wrong_delimiter(desk):
    hospital().to_csv("other.csv", sep="#", index=False)
    said = run("fit", "list", "other.csv", *FIT[3:], code=1)
    assert "first line a header" in said
    run("fit", "list", "other.csv", *FIT[3:], "--delimiter", "#")
    assert "single character" in run("fit", "list", "other.csv", *FIT[3:], "--delimiter", "##", code=1)


def test_another_encoding(desk):
    table = hospital()
    table.loc[0, "ward"] = f"{SECRET}é"
    table.to_csv("latin.csv", index=False, encoding="latin-1")
    said = run("fit", "list", "latin.csv", *FIT[3:], code=1)
    assert "--encoding cp1252" in said
    run("fit", "list", "latin.csv", *FIT[3:], "--encoding", "latin-1")
    table.to_csv("wide.csv", index=False, encoding="utf-16")
    assert "--encoding utf-16" in run("fit", "list", "wide.csv", *FIT[3:], code=1)
    run("fit", "list", "wide.csv", *FIT[3:], "--encoding", "utf-16")
    assert "no encoding 'klingon'" in run("fit", "list", "latin.csv", *FIT[3:], "--encoding", "klingon", code=1)
    table.to_csv("marked.csv", index=False, encoding="utf-8-sig")
    run("fit", "list", "marked.csv", *FIT[3:])


def test_an_empty_file(desk):
    for content in ("", "\n\n"):
        (desk / "empty.csv").write_text(content)
        assert "empty" in run("fit", "list", "empty.csv", *FIT[3:], code=1)
    (desk / "header.csv").write_text("patient,age,ward,smoker,cost,died\n")
    run(
        "fit", "list", "header.csv", *FIT[3:]
    )  # a table without records is a table: an error would say that it is empty


@pytest.mark.parametrize("at", [0.5, 0.9])
def test_a_file_cut_off(desk, at):
    text = (desk / "hospital.csv").read_text()
    cut = text[: text.index(",", int(len(text) * at))]
    (desk / "cut.csv").write_text(cut)
    assert "cut off" in run("fit", "list", "cut.csv", *FIT[3:], code=1)
    (desk / "quote.csv").write_text(text + '"')
    assert "never ends" in run("fit", "list", "quote.csv", *FIT[3:], code=1)
    hospital().to_parquet("whole.parquet")
    content = (desk / "whole.parquet").read_bytes()
    (desk / "cut.parquet").write_bytes(content[: int(len(content) * at)])
    assert "cut off, damaged" in run("fit", "list", "cut.parquet", *FIT[3:], code=1)


def test_lines_of_several_lengths(desk):
    text = (desk / "hospital.csv").read_text().splitlines()
    text[7] += f",{SECRET}"
    (desk / "ragged.csv").write_text("\n".join(text))
    assert "more or fewer fields" in run("fit", "list", "ragged.csv", *FIT[3:], code=1)


def test_files_that_are_no_tables(desk):
    (desk / "a.xlsx").write_bytes(b"PK")
    assert "must end in one of" in run("fit", "list", "a.xlsx", *FIT[3:], code=1)
    (desk / "b.csv").write_bytes(bytes(range(256)))
    run("fit", "list", "b.csv", *FIT[3:], code=1)
    (desk / "twice.csv").write_text("age,age\n1,2\n")
    assert "none twice" in run("fit", "list", "twice.csv", *FIT[3:], code=1)
    assert "does not exist" in run("fit", "list", "none.csv", *FIT[3:], code=2)


def test_a_model_that_was_edited_or_is_newer(desk):
    run(*FIT)
    text = (desk / "model.json").read_text()
    (desk / "edited.json").write_text(text.replace('"yes"', '"no"', 1))
    assert "changed after it was saved" in run("show", "edited.json", code=1)
    data = json.loads(text)
    (desk / "newer.json").write_text(json.dumps(data | {"version": 2}))
    assert "newer" in run("predict", "newer.json", "hospital.csv", code=1)
    (desk / "cut.json").write_text(text[: len(text) // 2])
    assert "cut off" in run("evaluate", "cut.json", "hospital.csv", "--public", code=1)
    (desk / "other.json").write_text("{}")
    run("show", "other.json", code=1)


def test_places_that_cannot_be_written_spend_nothing(desk):
    run("ledger", "create", "l.json", "-e", "9")
    said = run(*FIT[:7], "--out", "nowhere/model.json", "--ledger", "l.json", code=1)
    assert "cannot be written" in said
    assert Ledger.open("l.json").entries == ()


def test_evaluation_asks_whether_the_records_are_private(desk):
    run(*FIT)
    said = run("evaluate", "model.json", "hospital.csv", code=2)
    assert "--epsilon 0.1" in said
    assert "--public" in said
    assert "does not cover" in run("evaluate", "model.json", "hospital.csv", "--public")
    run("ledger", "create", "l.json", "-e", "0.5")
    run("evaluate", "model.json", "hospital.csv", "--epsilon", "0.4", "--ledger", "l.json")
    run("evaluate", "model.json", "hospital.csv", "--epsilon", "0.4", "--ledger", "l.json", code=3)
    run("ledger", "create", "l2.json", "-e", "0.5")
    for other in ((), ("--ledger", "l2.json")):
        assert "adds up" in run("evaluate", "model.json", "hospital.csv", "--epsilon", "0.05", *other, code=1)
    assert "--weak" in run("evaluate", "model.json", "hospital.csv", "--epsilon", "50", code=2)
    assert "choose one" in run("evaluate", "model.json", "hospital.csv", "--epsilon", "1", "--public", code=2)
    hospital()[["age", "ward", "smoker", "died"]].to_csv("few.csv", index=False)
    run(*FIT, "--exclude", "cost", "--another-ledger")
    run("evaluate", "model.json", "few.csv", "--public")


def test_check_counts_what_a_fit_may_not_tell(desk):
    found = json.loads(run("check", "hospital.csv", "--schema", "schema.toml", "--json"))
    table = hospital()
    ward, age = found["columns"]["ward"], found["columns"]["age"]
    assert (ward["missing"], ward["not foreseen"]) == ((table.ward == "").sum(), (table.ward == SECRET).sum())
    assert ward["taken as"] == {"other": ward["not foreseen"]}
    assert (age["missing"], age["not foreseen"]) == (0, 0)
    assert found["columns"]["cost"]["missing"] == int((table.cost == "").sum())
    assert "data holder only" in run("check", "hospital.csv", "--schema", "schema.toml")


def test_plan_says_what_to_expect(desk):
    said = run("plan", "list", "--schema", "schema.toml", "--records", "10000", "--out", "plan.svg")
    assert "73.2\u00a0%" in said
    assert (desk / "plan.svg").read_text().startswith("<svg")
    measured = json.loads(run("plan", "list", "hospital.csv", "--schema", "schema.toml", "--repeats", "2", "--json"))
    assert measured["without privacy"] > 0.8
    strict = [Categorical("ward", categories=["A"]) if c.name == "ward" else c for c in SCHEMA.columns]
    Schema(tuple(strict), target="died", classes=["no", "yes"]).save("strict.toml")
    run("plan", "list", "hospital.csv", "--schema", "strict.toml", "--repeats", "2")
    assert measured["expected"][-1]["accuracy"] > 0.8
    assert "--records" in run("plan", "list", "--schema", "schema.toml", code=2)


def test_texts_that_are_categories_are_not_missing():
    from discreet.sources.files import as_read

    column = Categorical("c", categories=["NA", "1", "x"])
    read = as_read(["NA", "1.0", " x ", "", "null", "y"], column)
    assert read.tolist() == ["NA", "1.0", "x", None, None, "y"]
    assert column.encode(read)[:3].tolist() == column.encode(np.array(["NA", "1", "x"], dtype=object)).tolist()
    assert as_read(["NA", "?", "7"], None).tolist() == [None, None, "7"]


def test_labels_that_are_numbers_are_found_as_texts():
    from discreet.sources.memory import class_numbers

    assert class_numbers(["1", "0.0", "true", "x", None], (0, 1), 5).tolist() == [1, 0, 1, -1, -1]
    assert class_numbers(["1", "0.0", "true"], ("0", "1"), 3).tolist() == [1, 0, 1]
    assert class_numbers(["1", "0"], ("0.0", "1.0"), 2).tolist() == [1, 0]
    assert class_numbers([1.0, 0, True, np.nan], (0, 1), 4).tolist() == [1, 0, 1, -1]


def test_scores_are_valid_csv_whatever_the_labels_are(desk):
    odd = ['a,"b"', "c\nd"]
    schema = Schema((Boolean("x"),), target="y", classes=odd)
    schema.save("odd.toml")
    pd.DataFrame({"x": [True, False] * 50, "y": odd * 50}).to_csv("odd.csv", index=False)
    run("fit", "list", "odd.csv", "-s", "odd.toml", "-e", "5", "-o", "m.json")
    rows = list(csv.reader(io.StringIO(run("predict", "m.json", "odd.csv"))))
    assert {row[0] for row in rows[1:]} <= set(odd)
    assert len(rows) == 101


def test_a_schema_is_drafted_from_a_public_sample(desk):
    hospital(200, seed=1).replace({SECRET: "C"}, regex=True).to_csv("sample.csv", index=False)
    said = run("schema", "sample.csv", "--target", "died", "--out", "draft.toml")
    assert "must be public" in said
    draft = Schema.load("draft.toml")
    assert draft.classes == ("no", "yes")
    assert not draft.inferred
    assert isinstance(draft["patient"], Ignored)
    assert "sample.csv" in (desk / "draft.toml").read_text()
    said = run("fit", "list", "hospital.csv", "--schema", "draft.toml", "--epsilon", "5", "--out", "model.json")
    assert "epsilon = 5" in flat(said)
    assert "exists; use --force" in run("schema", "sample.csv", "--target", "died", "--out", "draft.toml", code=2)
    assert "did you mean 'died'" in run("schema", "sample.csv", "--target", "dead", "--out", "d.toml", code=1)
    assert json.loads(run("schema", "sample.csv", "--target", "died", "--json"))["schema"]["target"]["name"] == "died"
    assert "[target]" in run("schema", "sample.csv", "--target", "died")


def test_a_schema_is_drafted_from_a_dictionary(desk):
    (desk / "dictionary.csv").write_text(
        "variable,type,values,min,max\nage,number,,0,110\nward,category,A;B;C,,\ndied,category,no;yes,,\n"
    )
    run("schema", "dictionary.csv", "--dictionary", "--target", "died", "--out", "draft.toml")
    draft = Schema.load("draft.toml")
    assert (draft.target, draft.classes) == ("died", ("no", "yes"))
    assert isinstance(draft["age"], Numeric)


def test_what_a_schema_cost_is_booked_and_counted_and_shown(desk):
    paid(SCHEMA, 0.5, 1e-9).save("found.toml")
    run("ledger", "create", "l.json", "-e", "3", "--delta", "1e-6")
    said = run("fit", "list", "hospital.csv", "-s", "found.toml", "-e", "1.5", "--ledger", "l.json", "-o", "m.json")
    assert "epsilon = 2, delta = 1e-09" in flat(said)
    assert "(of which epsilon = 0.5, delta = 1e-09 for the schema)" in flat(run("show", "m.json"))
    (entry,) = json.loads(run("ledger", "show", "l.json", "--json"))["entries"]
    assert entry["schemas"] == {"schema-1f3a": ["1/2", "1/1000000000"]}
    assert entry["proved"] == ["2", "1/1000000000"]
    run("ledger", "create", "none.json", "-e", "3")
    call = ("fit", "list", "hospital.csv", "-s", "found.toml", "-e", "1", "-o", "m2.json", "--another-ledger")
    refused = flat(run(*call, "--ledger", "none.json", code=3))
    assert "the schema 'schema-1f3a' needs a delta of 1e-09" in refused
    assert "a schema whose categories and classes are declared, which needs none" in refused
    assert "This mechanism" not in refused
    assert "smaller --epsilon" not in refused
    assert len(Ledger.open("none.json").entries) == 0
    assert not Path("m2.json").exists()


def test_nothing_that_is_needed_is_written_over(desk):
    run("ledger", "create", "l.json", "-e", "9")
    before = {name: (desk / name).read_bytes() for name in ("hospital.csv", "schema.toml", "l.json")}
    for name in before:
        said = run(*FIT[:7], "--ledger", "l.json", "--out", name, "--force", code=2)
        assert "choose another name" in said
        run(*FIT[:7], "--ledger", "l.json", "--out", "m.json", "--report", name, "--force", code=2)
    run(*FIT[:7], "--out", "m.json", "--report", "m.json", code=2)
    run(*FIT[:7], "--out", "m.json")
    model = (desk / "m.json").read_bytes()
    assert "--force" in run(*FIT[:7], "--out", "m.json", code=2)
    run("predict", "m.json", "hospital.csv", "--out", "hospital.csv", code=2)
    run("predict", "m.json", "hospital.csv", "--out", "m.json", code=2)
    run("show", "m.json", "--format", "html", "--out", "m.json", code=2)
    run("schema", "hospital.csv", "-t", "died", "--out", "hospital.csv", "--force", code=2)
    assert "not a regular file" in run(*FIT[:7], "--out", "/dev/null", "--force", code=2)
    assert {name: (desk / name).read_bytes() for name in before} == before
    assert (desk / "m.json").read_bytes() == model


def test_a_file_without_a_header_shows_no_record(desk):
    hospital().replace("", "x").to_csv("headless.csv", index=False, header=False)
    for command in (("fit", "list", "headless.csv", *FIT[3:]), ("check", "headless.csv", "-s", "schema.toml")):
        assert "header" in run(*command, code=1)
    run(*FIT)
    run("predict", "model.json", "headless.csv", code=1)
    near = (
        hospital().replace("", "x").assign(ward="died")
    )  # a record whose value is nearly, or quite, the name of a column
    near.to_csv("near.csv", index=False, header=False)
    said = run("fit", "list", "near.csv", "-t", "dieed", "-e", "1", "-o", "m.json", "--infer-schema", code=1)
    assert "did you mean" not in said


@pytest.mark.parametrize(("drafted", "there"), [("{}", "{}.0"), ("{}.0", "{}"), ("{}", "{}")])
def test_labels_that_are_numbers_are_the_same_however_they_are_written(desk, drafted, there):
    table = hospital(seed=2).drop(columns=["patient", "ward"])
    numbers = table.died.map({"no": "0", "yes": "1"})
    table.assign(died=numbers.map(drafted.format)).to_csv("sample.csv", index=False)
    table.assign(died=numbers.map(there.format)).to_csv("private.csv", index=False)
    run("schema", "sample.csv", "-t", "died", "-o", "numbers.toml")
    run("fit", "list", "private.csv", "-s", "numbers.toml", "-e", "5", "-o", "m.json")
    assert json.loads(run("evaluate", "m.json", "private.csv", "--public", "--json"))["accuracy"] > 0.8
    assert json.loads(run("check", "private.csv", "-s", "numbers.toml", "--json"))["labels"]["not foreseen"] == 0


def test_an_inferred_schema_knows_numbers(desk):
    hospital().drop(columns=["patient", "ward"]).to_csv("plain.csv", index=False)
    run("fit", "list", "plain.csv", "-t", "died", "-e", "5", "-o", "m.json", "--infer-schema")
    assert isinstance(SavedModel.load("m.json").rule_list.schema["age"], Numeric)


def test_a_schema_drafted_from_the_private_table_is_noticed(desk):
    run("schema", "hospital.csv", "-t", "died", "-o", "own.toml")
    assert SECRET in (desk / "own.toml").read_text()  # which is why
    said = run("fit", "list", "hospital.csv", "-s", "own.toml", "-e", "1", "-o", "m.json", code=1)
    assert "drafted from hospital.csv itself" in said
    run("fit", "list", "hospital.csv", "-s", "own.toml", "-e", "1", "-o", "m.json", "--public-table", "-x", "ward")
    run("ledger", "create", "l.json", "-e", "9")
    run(*FIT, "--ledger", "l.json", "--public-table")
    assert "private table" in run("schema", "hospital.csv", "-t", "died", "-o", "again.toml", code=1)
    assert "private table" in run("plan", "list", "hospital.csv", "-s", "schema.toml", code=1)


def test_a_stopped_fit_says_what_was_booked(desk, monkeypatch):
    run("ledger", "create", "l.json", "-e", "12")

    def stopped(*_):
        raise KeyboardInterrupt

    from discreet.private.queries import lists

    with monkeypatch.context() as patched:  # while all lists are added up
        patched.setattr(lists, "ListSums", stopped)
        assert "Nothing was booked" in run(*FIT, "--ledger", "l.json", code=130)
    monkeypatch.setattr(lists.ListQueries, "sample_list", stopped)
    assert "Epsilon 5 is booked" in run(*FIT, "--ledger", "l.json", code=130)
    assert not (desk / "model.json").exists()
    assert len(Ledger.open("l.json").entries) == 1
    monkeypatch.setattr(sys.modules["discreet.sources.memory"], "read_parts", stopped)
    assert "Nothing was booked" in run(*FIT, "--ledger", "l.json", code=130)


def test_a_table_that_stays_in_its_engine(desk, monkeypatch):
    import duckdb

    numbers = hospital().replace({"": None}).assign(cost=pd.to_numeric(hospital().cost, errors="coerce"))
    connection = duckdb.connect("hospital.db")
    connection.execute("CREATE TABLE patients AS SELECT * FROM numbers")
    connection.close()
    run("ledger", "create", "l.json", "-e", "12")
    url = "duckdb:///hospital.db?table=patients"
    said = run("fit", "list", url, *FIT[3:], "--ledger", "l.json")
    assert "epsilon = 5" in flat(said)
    scores = pd.read_csv(io.StringIO(run("predict", "model.json", "hospital.csv")))
    assert (scores.prediction == hospital().died).mean() > 0.8
    run("ledger", "create", "l2.json", "-e", "12")
    assert "adds up" in run("fit", "list", url, *FIT[3:], "--ledger", "l2.json", code=1)
    noted = b"".join(note.read_bytes() for note in (desk / "home" / "tables").iterdir())
    assert b"l.json" in noted
    assert b"patients" not in noted
    run("fit", "list", "duckdb:///hospital.db?table=nobody", *FIT[3:], "--ledger", "l2.json", code=1)
    said = run("fit", "list", "postgresql://me:pass@nowhere/db?table=t", *FIT[3:], "--ledger", "l2.json", code=2)
    assert "password" in said
    assert "nowhere" not in said
    assert Ledger.open("l2.json").entries == ()
    numbers.to_parquet("hospital.parquet")
    monkeypatch.setattr(
        sys.modules["discreet.sources.memory"], "read_parts", lambda *_: pytest.fail("it was read here")
    )
    run("fit", "list", "hospital.parquet", *FIT[3:], "--engine", "duckdb")


def test_the_parameters_of_whole_lists(desk):
    run(
        *FIT,
        "--rules-per-draw",
        "1",
        "--counts-share",
        "0.2",
        "--class-weight",
        "yes=5",
        "--class-weight",
        "no=0.5",
        "-k",
        "3",
    )
    parameters = SavedModel.load("model.json").parameters
    assert {k: parameters[k] for k in ("rules_per_draw", "counts_share")} == {"rules_per_draw": 1, "counts_share": 0.2}
    assert parameters["class_weight"] == {"yes": 5.0, "no": 0.5}
    run(*FIT, "--time-limit", "600")
    assert SavedModel.load("model.json").parameters["time_limit"] == 600.0
    run(*GREEDY, "--counts-share", "0.3")
    assert SavedModel.load("model.json").parameters["counts_share"] == 0.3


def test_weights_change_the_model(desk):
    run(*FIT, "-k", "1", "--class-weight", "yes=1000")
    assert SavedModel.load("model.json").rule_list.default.label == "yes"
    run(*FIT, "-k", "1", "--class-weight", "no=1000")
    assert SavedModel.load("model.json").rule_list.default.label == "no"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class-weight", "balanced"], "private records"),
        (["--class-weight", "yes=many"], "above 0"),
        (["--class-weight", "yes=-1"], "above 0"),
        (["--class-weight", "yes=nan"], "above 0"),
        (["--class-weight", "yes=inf"], "above 0"),
        (["--class-weight", "yes=1", "--class-weight", "yes=2"], "twice"),
        (["--rules-per-draw", "0"], "rules-per-draw"),
    ],
)
def test_values_that_nothing_can_be_learned_with(desk, options, message):
    run("ledger", "create", "l.json", "-e", "9")
    assert message in flat(run(*FIT, *options, "--ledger", "l.json", code=2))
    assert Ledger.open("l.json").entries == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mechanism", "sm-cauchy", "--min-support", "9", "--counts-share", "0.5"], "not sm-cauchy"),
        (["--max-depth", "2"], "--max-depth is for a tree: say --tree, or leave it out"),
        (["--tree", "--max-length", "2"], "--max-length is for a list: leave it out, or --tree"),
        (["--mechanism", "best"], "'best' is not one of 'mass', "),
    ],
)
def test_what_a_greedy_learner_cannot_use(desk, options, message):
    run("ledger", "create", "l.json", "-e", "9")
    assert message in flat(run(*GREEDY, *options, "--ledger", "l.json", code=2))
    assert Ledger.open("l.json").entries == ()


KINDS = ("list", "tree", "card", "greedy")


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_a_kind_of_model_is_asked_for(desk, command):
    needed = [[], ["hospital.csv", "-s", "schema.toml"]] if command == "fit" else []  # plan compares them
    for given in (*needed, ["forest"], ["postgresql://me:word@host/db?table=t"]):
        said = run(command, *given, code=2)
        assert "list, tree, card or greedy" in said
        assert not given or given[0] not in said
    shown = run(command, "--help")
    assert all(f"  {kind}  " in shown for kind in KINDS)


@pytest.mark.parametrize("command", ["fit", "plan"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_help_page_fits_on_a_screen_and_has_the_options_of_its_kind(command, kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    shown = CliRunner().invoke(main, [command, kind, "--help"], terminal_width=100).output
    assert shown.count("\n") <= 45
    own = {
        *("--max-length" for one in ("list", "greedy") if one == kind),
        *("--rules-per-draw" for one in ("list",) if (one, command) == (kind, "fit")),
        *("--stages" for one in ("tree",) if one == kind),
        *("--max-columns" for one in ("card",) if one == kind),
        *("--mechanism" for one in ("greedy",) if one == kind),
    }
    every = {"--max-length", "--rules-per-draw", "--stages", "--max-columns", "--mechanism"}
    assert {name for name in every if name in shown.split()} - {"--stages"} == own - {"--stages"}
    assert ("--stages DEPTHS" in shown) == (kind == "tree")


def test_plan_for_a_greedy_learner_has_no_bound_but_room(desk):
    run("ledger", "create", "l.json", "-e", "6")
    how = ("plan", "greedy", "-s", "schema.toml", "-n", "1000", "--ledger", "l.json")
    said = flat(run(*how))
    assert "lost at most" not in said
    assert "more greedy lists" in said
    found = json.loads(run(*how, "--tree", "--max-depth", "2", "--json"))
    assert (found["model"], found["ledger has room for"]["1.0"]) == ("greedy tree", 6)
    assert "give a public stand-in table" in flat(run(*how, "--out", "plan.svg", code=2))


@pytest.mark.parametrize("option", ["--counts-share", "--time-limit"])
def test_parameters_out_of_range(desk, option):
    assert option[2:].replace("-", "_") in run(*FIT, option, "-1", code=1)
    assert not (desk / "model.json").exists()


def test_a_time_limit_that_strikes_says_what_is_booked(desk, monkeypatch):
    run("ledger", "create", "l.json", "-e", "9")
    said = run(*FIT, "--time-limit", "1e-9", "--ledger", "l.json", code=1)
    assert "nothing was booked" in said  # all lists are added up before one is drawn
    assert "time_limit" in said
    assert Ledger.open("l.json").entries == ()
    said = run(*FIT, "--max-literals", "2", "--time-limit", "1e-9", "--ledger", "l.json", code=1)
    assert "Epsilon 5 is booked" in said
    assert "its budget stays spent" in said


def test_scores_as_json_are_json_whatever_is_copied_into_them(desk):
    run(*FIT)
    table = hospital().assign(score=float("inf"), prediction="mine")
    table.to_parquet("odd.parquet")

    def refused(constant):
        raise ValueError(constant)

    done = CliRunner().invoke(main, ["predict", "model.json", "odd.parquet", "--id", "score", "--json"])
    scores = json.loads(done.stdout, parse_constant=refused)  # what cannot be read is said elsewhere
    assert scores[0]["score"] == "inf"
    for name in ("prediction", "score"):
        twice = ["--id", "score", "--id", name]
        assert "twice" in run("predict", "model.json", "odd.parquet", *twice, "--json", code=2)


@pytest.mark.parametrize("name", ["max-length", "records-per-person", "rules-per-draw"])
def test_a_number_of_hundreds_of_digits_is_refused_in_a_line(desk, name):
    assert "must be at most" in run(*FIT, f"--{name}", "1" + "0" * 400, code=1)
