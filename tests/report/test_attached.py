"""What lies beside a model in a release: an evaluation of this very model, and the ledger as it was on that day."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet import Ledger, Literal, Rule, RuleList, SavedModel, noisy_evaluation, verify_release, write_release
from discreet._utils.errors import ModelError
from discreet.cli import main
from discreet.evaluation.evaluation_file import SavedEvaluation
from discreet.report.bundle.folder import release_files, sha256_of
from discreet.report.bundle.record import NOTHING_PROVED, schema_of_records, sums_of
from discreet.report.html import Particulars

from .test_release import SAID, SCHEMA, STATEMENT, file_of, saved

jsonschema = pytest.importorskip("jsonschema")

RULE = Rule((Literal("age_y", "<=", 25), Literal("wrd", "=", "A")), 1, (20, 80))
MODEL = SavedModel(
    RuleList((RULE,), Rule((), 0, (90, 10)), (0, 1), SCHEMA),
    STATEMENT,
    "DPGreedyRuleListClassifier",
    {"epsilon": 0.5},
    "ill",
)


def table(n=400):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age_y": rng.choice([20, 40, 60], n), "wrd": rng.choice(["A", "B"], n)})
    return X, rng.integers(0, 2, n)


def measured(model=MODEL, **given):
    return noisy_evaluation(model, *table(), 0.25, **({"by": "wrd"} | given))


def read(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def sum_up(folder):
    """Checksums that fit, whatever is in the folder."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS"]
    sums = {path.relative_to(folder).as_posix(): sha256_of(path.read_bytes()) for path in files}
    (folder / "SHA256SUMS").write_bytes(sums_of(sums))


@pytest.fixture
def place(tmp_path):
    """A folder with a model and an evaluation of it."""
    MODEL.save(tmp_path / "model.json")
    measured().save(tmp_path / "evaluation.json", tmp_path / "model.json")
    return tmp_path


def released(place, **given):
    given = {"evaluation": place / "evaluation.json"} | given
    write_release(place / "model.json", place / "release", date="2026-11-17", **given)
    return place / "release"


# -- The evaluation --------------------------------------------------------------------------------------------------------------


def test_an_evaluation_is_read_back_as_it_was(place):
    content = (place / "model.json").read_bytes()
    kept = SavedEvaluation.from_bytes((place / "evaluation.json").read_bytes(), content)
    assert SavedEvaluation.from_bytes(kept.to_json().encode(), content) == kept
    assert kept.model == sha256_of(content)
    for by in ((), ["age_y", "wrd"]):
        for reliability in (True, False):
            one = SavedEvaluation.of(measured(by=by, reliability=reliability), file_of(MODEL), Ledger(2.0))
            again = SavedEvaluation.from_bytes(one.to_json().encode(), file_of(MODEL))
            assert again == replace(one, evaluation=replace(one.evaluation, privacy=again.evaluation.privacy))
            assert again.evaluation.to_html() == one.evaluation.to_html()
            assert again.evaluation.to_text() == one.evaluation.to_text()


def test_a_release_with_an_evaluation_says_how_good_the_model_is(place):
    folder = released(place, evaluation_table="Admissions 2026")
    assert (folder / "evaluation.json").read_bytes() == (place / "evaluation.json").read_bytes()
    content = (place / "model.json").read_bytes()
    found = SavedEvaluation.from_bytes((place / "evaluation.json").read_bytes(), content).evaluation
    card, page, checklist = (read(folder, name) for name in ("README.md", "evaluation.html", "checklist.md"))
    assert f"accuracy {found.accuracy}" in card
    assert "by wrd" in card
    assert "No evaluation is included" not in card + checklist
    for text in (card, checklist):
        assert "Admissions 2026" in text
        assert "epsilon = 0.25" in text
    assert f"{found.accuracy.value:.3f}" in page
    record = json.loads(read(folder, "disclosure.json"))
    jsonschema.validate(record, json.loads(schema_of_records()))
    assert record["evaluation"]["proved"] == {"epsilon": 0.25, "delta": 0.0}
    assert record["evaluation"]["sha256"] == sha256_of((folder / "evaluation.json").read_bytes())
    assert record["evaluation"]["model_sha256"] == record["model"]["sha256"]
    assert record["release"]["evaluation_table"] == "Admissions 2026"
    checked = verify_release(folder)
    assert checked.ok
    assert "evaluation.json was measured of this model.json" in [c.what for c in checked.checks if c.holds]


def test_without_one_the_papers_say_so_and_ask_for_it():
    files = release_files(file_of(saved()), SAID)
    assert "evaluation.json" not in files
    card, checklist = files["README.md"].decode(), files["checklist.md"].decode()
    assert "No evaluation is included" in card
    assert "- [ ] **No evaluation is included.**" in checklist
    assert "Evaluation: none is included" in checklist
    assert json.loads(files["disclosure.json"])["evaluation"] is None


def test_an_evaluation_of_another_model_is_refused(place):
    other = replace(MODEL, parameters={"epsilon": 0.5, "max_length": 2})
    other.save(place / "other.json")
    with pytest.raises(ModelError, match="another checksum"):
        write_release(place / "other.json", place / "release", evaluation=place / "evaluation.json")
    assert not (place / "release").exists()
    # An evaluation that names the file, but has other rules, classes or shares in it
    rules = RuleList((replace(RULE, counts=(30, 70)),), Rule((), 0, (90, 10)), (0, 1), SCHEMA)
    with pytest.raises(ModelError, match="do not follow from its own counts and this model"):
        measured(replace(MODEL, model=rules)).save(place / "e.json", place / "model.json")


def test_verify_finds_an_evaluation_of_another_model_even_if_all_checksums_fit(place):
    folder = released(place)
    other = replace(MODEL, parameters={"epsilon": 0.5, "max_length": 2})
    other.save(place / "other.json")
    measured(other).save(folder / "evaluation.json", place / "other.json")
    sum_up(folder)
    checked = verify_release(folder)
    assert not checked.ok
    (found,) = (c for c in checked.checks if c.what == "evaluation.json was measured of this model.json")
    assert found.holds is False
    assert "another checksum" in found.why


@pytest.mark.parametrize("name", ["evaluation.json", "evaluation.html"])
def test_verify_finds_an_evaluation_that_was_taken_away_or_changed(place, name):
    folder = released(place)
    text = (folder / name).read_bytes()
    (folder / name).write_bytes(text.replace(b"0.", b"0.9"))
    sum_up(folder)
    assert not verify_release(folder).ok
    (folder / name).unlink()
    sum_up(folder)
    assert not verify_release(folder).ok


def test_verify_finds_an_evaluation_that_was_laid_beside_later(place):
    folder = released(place, evaluation=None)
    assert verify_release(folder).ok
    (folder / "evaluation.json").write_bytes((place / "evaluation.json").read_bytes())
    sum_up(folder)
    assert not verify_release(folder).ok


@pytest.mark.filterwarnings("ignore")
def test_an_evaluation_about_which_nothing_is_proved_does_not_leave_in_silence(place):
    measured(random_state=1).save(place / "evaluation.json", place / "model.json")
    with pytest.raises(ModelError, match="nothing is proved about this evaluation"):
        released(place)
    folder = released(place, allow_unproved=True)
    loud = "NOTHING IS PROVED ABOUT THE PRIVACY OF THE EVALUATION"
    for name in ("README.md", "checklist.md", "disclosure.json", "WARNING.txt"):
        assert loud in read(folder, name), name
        assert NOTHING_PROVED not in read(folder, name)
    checked = verify_release(folder)
    assert checked.ok
    assert loud in checked.promise


def test_what_is_no_evaluation_is_refused(place):
    good = json.loads(read(place, "evaluation.json"))
    for bad in ("", "{}", "[]", "null", "x", json.dumps(good | {"version": 2}), json.dumps(good | {"model": "0" * 64})):
        (place / "evaluation.json").write_text(bad, encoding="utf-8")
        with pytest.raises(ModelError):
            released(place)
    (place / "evaluation.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="UTF-8"):
        released(place)
    with pytest.raises(ModelError, match="evaluation_table is about an evaluation"):
        write_release(place / "model.json", place / "release", evaluation_table="Admissions")


# -- The ledger, and the schema's origin -----------------------------------------------------------------------------------------


def on_ledger(place):
    """A model that is on a ledger, which then has one more entry."""
    ledger = Ledger(epsilon=3.0)
    reservation = ledger.reserve(Fraction(1, 2), Fraction(0), "a model", release="model-1")
    reservation.close()
    model = replace(MODEL, ledger=ledger.snapshot(reservation.booked))
    model.save(place / "model.json")
    ledger.note_model(reservation.booked, sha256_of((place / "model.json").read_bytes()))
    ledger.reserve(Fraction(1, 4), Fraction(0), "another").close()
    return ledger


def test_the_record_has_the_ledger_of_the_day_and_the_checklist_asks_for_what_came_since(place):
    ledger = on_ledger(place)
    folder = released(place, evaluation=None, ledger=ledger)
    record = json.loads(read(folder, "disclosure.json"))
    jsonschema.validate(record, json.loads(schema_of_records()))
    assert record["release"]["date"] == "2026-11-17"
    assert (record["ledger"]["entries"], record["ledger_at_release"]["entries"]) == (1, 2)
    assert record["ledger_at_release"]["spent"] == ["3/4", "0"]
    checklist = read(folder, "checklist.md")
    assert (
        "On 2026-11-17 the ledger had 2 releases, which came to epsilon 0.75 of 3. What was released since then:"
        in checklist
    )
    assert "We know what the data holder released from the table since 2026-11-17: ____" in checklist
    card = read(folder, "README.md")
    assert (
        "the ledger had 2 releases with a total epsilon of 0.75. Proved about all of them together: epsilon 0.75."
        in card
    )
    checked = verify_release(folder, ledger)
    assert checked.ok
    assert [c.holds for c in checked.checks if c.what == "the ledger has all releases that the documents count"] == [
        True
    ]
    ledger.reserve(Fraction(1, 4), Fraction(0), "a third").close()
    checked = verify_release(folder, ledger)
    (since,) = (c for c in checked.checks if c.what == "the ledger has all releases that the documents count")
    assert checked.ok
    assert since.holds
    assert "1 more" in since.why


def test_without_a_ledger_of_the_day_the_checklist_says_that_the_documents_do_not_say(place):
    on_ledger(place)
    folder = released(place, evaluation=None)
    assert json.loads(read(folder, "disclosure.json"))["ledger_at_release"] is None
    assert "What was released from the table after this model was saved (these documents do not say): ___" in read(
        folder, "checklist.md"
    )
    assert verify_release(folder).ok


def test_another_ledger_is_refused(place):
    on_ledger(place)
    with pytest.raises(ModelError, match="does not know this model: it is another ledger"):
        released(place, evaluation=None, ledger=Ledger(epsilon=3.0))
    MODEL.save(place / "model.json")
    with pytest.raises(ModelError, match="names no entry"):
        released(place, evaluation=None, ledger=Ledger(epsilon=3.0))


def test_a_changed_ledger_of_the_day_is_found(place):
    folder = released(place, evaluation=None, ledger=on_ledger(place))
    record = read(folder, "disclosure.json")
    for bad in (record.replace('"3/4"', '"1/4"'), record.replace('"entries": 2', '"entries": "x"')):
        assert bad != record
        (folder / "disclosure.json").write_text(bad, encoding="utf-8")
        sum_up(folder)
        assert not verify_release(folder).ok


def test_who_drafted_the_schema_is_in_the_papers_or_asked_for():
    said = "Dr. Ito, from a sample of 100 made-up records"
    files = release_files(file_of(saved()), replace(SAID, schema_source=said))
    for name in ("README.md", "report.html", "checklist.md", "disclosure.json"):
        assert said in files[name].decode(), name
    assert json.loads(files["disclosure.json"])["release"]["schema_source"] == said
    files = release_files(file_of(saved()), Particulars())
    assert (
        "- [ ] Who drafted the schema, and from which sample or codebook: (not given) ___"
        in files["checklist.md"].decode()
    )
    assert "Who drafted the schema, and from what: *not given*" in files["README.md"].decode()


# -- On the command line ---------------------------------------------------------------------------------------------------------


def run(*words, code=0):
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code == code, found.output
    return found.output


def test_from_a_table_to_a_release_with_an_evaluation(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    X, y = table()
    X.assign(ill=y).to_csv("t.csv", index=False)
    (tmp_path / "s.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")
    run("ledger", "create", "l.json", "-e", "3")
    run("fit", "list", "t.csv", "-s", "s.toml", "-e", "1", "--ledger", "l.json", "-o", "m.json")
    run("evaluate", "m.json", "t.csv", "-e", "0.5", "--by", "wrd", "--ledger", "l.json", "-o", "e.json")
    found = SavedEvaluation.from_bytes(Path("e.json").read_bytes(), Path("m.json").read_bytes())
    assert found.ledger.totals.entries == 2
    given = ("--evaluation", "e.json", "--evaluation-table", "Same", "--schema-source", "us", "--ledger", "l.json")
    said = run("release", "m.json", "--out", "release", *given)
    assert "evaluation.json" in said
    assert "--evaluation" not in said
    assert "--schema-source" not in said
    verified = run("verify", "release", "-v", "--ledger", "l.json")
    assert "holds  evaluation.json was measured of this model.json" in verified
    assert "nothing was released since" in verified
    record = json.loads(read(tmp_path / "release", "disclosure.json"))
    assert record["evaluation"]["proved"]["epsilon"] == 0.5
    assert record["ledger_at_release"]["spent"] == ["3/2", "0"]
    missing = run("release", "m.json", "--out", "bare")
    assert "--schema-source, --evaluation" in missing
    run("evaluate", "m.json", "t.csv", "-e", "0.5", "--ledger", "l.json", "-o", "e.json", code=2)  # the file is there
    assert len(Ledger.open("l.json").entries) == 2
    run("evaluate", "m.json", "t.csv", "--public", "-o", "f.json", code=2)
