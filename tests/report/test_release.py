"""A release: the model with its papers, from the model's file and what the holder says, whole or not at all."""

import json
import os
import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet import (
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    GreedyRuleListClassifier,
    Ledger,
    PrivacyStatement,
    RuleList,
    SavedModel,
    Schema,
    __version__,
    verify_release,
    write_release,
)
from discreet._utils.errors import ModelError
from discreet.accounting.statement import Guarantee
from discreet.cli import main
from discreet.datasets import load_compas
from discreet.report.bundle.folder import release_files, sha256_of
from discreet.report.bundle.record import NOTHING_PROVED, SCHEMA_FILE, schema_of_records
from discreet.report.html import Particulars

jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")

SAID = Particulars(
    "Admissions 2025",
    "A hospital",
    "privacy@example.org",
    "To call people after discharge.",
    "CC-BY-4.0",
    "2026-10-01",
    "2026-11-17",
)
NAMES = {
    *(
        "README.md",
        "SHA256SUMS",
        "checklist.md",
        "disclosure.json",
        "disclosure.schema.json",
        "model.json",
        "report.html",
    ),
    *("code/model.duckdb.sql", "code/model.postgresql.sql", "code/model.spark.sql", "code/model.py"),
}
SCHEMA = Schema.from_toml("""
source = "the codebook of 2019"
[target]
name = "ill"
classes = [0, 1]
label = "Readmitted"
labels = { 0 = "no", 1 = "yes" }
[columns.age_y]
type = "numeric"
label = "Age in years"
cuts = [25, 45]
[columns.wrd]
type = "categorical"
categories = ["A", "B"]
""")
STATEMENT = PrivacyStatement("mass", None, Guarantee(0.5, 0.0), assumes=("the schema is public",))


def saved(statement=STATEMENT, **changes):
    rules = RuleList.parse("if age_y <= 25 and wrd = A then 1 else 0", (0, 1), SCHEMA)
    model = SavedModel(rules, statement, "DPGreedyRuleListClassifier", {"epsilon": 0.5}, "ill")
    return replace(model, **changes) if changes else model


def file_of(model):
    return (model.to_json() + "\n").encode()


@pytest.fixture(scope="module")
def learned():
    """Private models with a ledger, of both kinds."""
    data, ledger = load_compas(sensitive=False), Ledger(epsilon=3.0, delta=1e-6, rho="auto")
    made = [
        DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema, ledger=ledger),
        DPOptimalTreeClassifier(epsilon=0.5, max_depth=2, schema=data.schema),
    ]
    return [SavedModel.of(clf.fit(data.data, data.target)) for clf in made]


def texts(files):
    return {name: data.decode() for name, data in files.items() if not name.endswith(".onnx")}


# -- What is in it ---------------------------------------------------------------------------------------------------------------


def test_a_release_has_the_model_and_all_its_papers(tmp_path):
    source = tmp_path / "model.json"
    saved().save(source)
    fingerprint = write_release(source, tmp_path / "release", table_name="Admissions 2025")
    names = {p.relative_to(tmp_path / "release").as_posix() for p in (tmp_path / "release").rglob("*") if p.is_file()}
    assert names >= NAMES
    assert (tmp_path / "release" / "model.json").read_bytes() == source.read_bytes()
    assert fingerprint == sha256_of((tmp_path / "release" / "SHA256SUMS").read_bytes())
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "release", capture_output=True
    )
    assert checked.returncode == 0, checked.stderr


def test_the_papers_say_what_the_holder_said():
    files = texts(release_files(file_of(saved()), SAID))
    for name in ("README.md", "report.html", "checklist.md", "disclosure.json"):
        for said in (
            "Admissions 2025",
            "A hospital",
            "privacy@example.org",
            "To call people after discharge.",
            "2026-11-17",
        ):
            assert said in files[name], (name, said)
        assert "2026-10-01" in files[name]


def test_what_was_not_said_is_said_to_be_missing():
    files = texts(release_files(file_of(saved()), Particulars()))
    assert "Table: *not given*" in files["README.md"]
    assert "Table: not given" in files["checklist.md"]
    assert "not given" in files["report.html"]
    assert json.loads(files["disclosure.json"])["table"] == {"name": None, "learned": None}


def test_nothing_of_this_machine_is_in_it(tmp_path, monkeypatch):
    mark = "MrsSmith"
    for name in ("USER", "LOGNAME", "USERNAME", "HOSTNAME", "COMPUTERNAME", "HOME"):
        monkeypatch.setenv(name, mark)
    for name in ("socket.gethostname", "platform.node", "getpass.getuser", "os.getlogin"):
        monkeypatch.setattr(name, lambda: mark)
    source = tmp_path / mark / f"{mark}.json"
    source.parent.mkdir()
    saved().save(source)
    monkeypatch.chdir(source.parent)
    write_release(source.name, tmp_path / "release")
    data = b"\n".join(p.read_bytes() for p in (tmp_path / "release").rglob("*") if p.is_file())
    assert mark.encode() not in data
    assert str(tmp_path).encode() not in data
    assert date.today().isoformat().encode() in data  # the day of release, unless another is given


def test_two_releases_of_a_model_are_the_same_bytes():
    assert release_files(file_of(saved()), SAID) == release_files(file_of(saved()), SAID)


def test_the_record_fits_its_published_schema(learned):
    schema = json.loads(schema_of_records())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    unproved = [saved(None), saved(replace(STATEMENT, proved=None, because=("a reason",)))]
    odd = [saved(replace(STATEMENT, published=Guarantee(1.0, None))), saved(ledger=Ledger(1.0).snapshot())]
    for model in [*learned, saved(), *unproved, *odd]:
        for said in (SAID, Particulars()):
            record = json.loads(release_files(file_of(model), said, allow_unproved=True)["disclosure.json"])
            validator.validate(record)
            assert (record["warning"] is None) == (record["privacy"]["proved"] is not None)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(record | {"user": "somebody"})


def test_the_published_schema_is_the_one_in_the_docs():
    docs = Path(__file__).parents[2] / "docs" / SCHEMA_FILE
    assert docs.read_bytes() == schema_of_records()


def test_the_record_has_all_that_a_disclosure_needs(learned):
    model = learned[0]
    record = json.loads(release_files(file_of(model), SAID)["disclosure.json"])
    assert record["model"]["sha256"] == sha256_of(file_of(model))
    assert record["privacy"]["proved"] == {"epsilon": 1.0, "delta": 0.0}
    assert 0 < record["privacy"]["rho"] < 0.5
    assert record["privacy"]["at_ledgers_delta"]["delta"] == 1e-6
    assert record["privacy"]["unit"]["records_per_person"] == 1
    assert record["privacy"]["assumes"] == list(model.privacy.assumes)
    assert record["ledger"]["number"] == 1
    assert record["ledger"]["total"]["epsilon"] <= 1.0
    assert set(record["schema"]["definition"]["columns"]) == set(model.model.schema.names)
    assert record["software"] == {"name": "discreet", "learned_with": __version__, "released_with": __version__}


def test_rho_is_never_less_than_what_is_proved():
    assert json.loads(release_files(file_of(saved()), SAID)["disclosure.json"])["privacy"]["rho"] == pytest.approx(
        0.1224593
    )


def test_the_card_begins_with_yaml_that_programs_read():
    card = release_files(file_of(saved(replace(STATEMENT, proved=Guarantee(1e-05, 1e-06)))), SAID)["README.md"].decode()
    _, front, body = card.split("---\n", 2)
    read = yaml.safe_load(front)
    assert read["library_name"] == "discreet"
    assert read["pipeline_tag"] == "tabular-classification"
    assert read["license"] == "CC-BY-4.0"
    assert read["privacy"] == {"epsilon": 1e-05, "delta": 1e-06}
    assert "differential-privacy" in read["tags"]
    for heading in ("## Model description", "## Training procedure", "### Hyperparameters", "## Evaluation results"):
        assert heading in body


def test_people_read_labels_and_code_keeps_names():
    files = texts(release_files(file_of(saved()), SAID))
    assert 'if "Age in years" <= 25 and wrd = A then yes' in files["README.md"]
    assert "Age in years" in files["report.html"]
    for name in NAMES:
        if name.startswith("code/"):
            code = "\n".join(line for line in files[name].splitlines() if not line.startswith(("--", "#")))
            assert "Age in years" not in code
            assert "age_y" in code
            assert "is Age in years" in files[name]


def test_the_code_predicts_what_the_model_does():
    files, model = texts(release_files(file_of(saved()), SAID)), saved()
    made = {}
    exec(files["code/model.py"], made)
    records = {"age_y": [20, 30, 20], "wrd": ["A", "A", "B"]}
    rows = [dict(zip(records, row, strict=True)) for row in zip(*records.values(), strict=True)]
    assert [made["predict"](row) for row in rows] == model.predict(records).tolist()
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("create table t (age_y integer, wrd varchar)")
        connection.executemany("insert into t values (?, ?)", [tuple(row.values()) for row in rows])
        sql = files["code/model.duckdb.sql"]
        assert connection.execute(f"select (\n{sql}\n) from t").fetchall() == [(x,) for x in model.predict(records)]


def test_a_format_that_cannot_hold_the_model_is_left_out_with_the_reason():
    rules = RuleList.parse('if "' + "x" * 64 + '" then 1 else 0')
    files = release_files(file_of(SavedModel(rules, STATEMENT)), SAID)
    assert "code/model.postgresql.sql" not in files
    assert "at most 63 bytes" in json.loads(files["disclosure.json"])["code"]["left_out"]["code/model.postgresql.sql"]
    assert "not there: `code/model.postgresql.sql`" in files["README.md"].decode()


def test_a_ledger_learns_the_checksum_of_a_model_that_is_released_at_once(tmp_path):
    data, ledger = load_compas(sensitive=False), Ledger.open(tmp_path / "ledger.json", epsilon=1.0)
    clf = DPOptimalRuleListClassifier(epsilon=0.5, max_length=2, schema=data.schema, ledger=ledger).fit(
        data.data, data.target
    )
    write_release(clf, tmp_path / "release")
    assert ledger.entries[0].models == (sha256_of((tmp_path / "release" / "model.json").read_bytes()),)
    assert verify_release(tmp_path / "release", ledger).ok


# -- Nothing proved --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", [None, replace(STATEMENT, proved=None, because=("the noise was seeded",))])
def test_nothing_proved_is_released_only_if_asked_and_said_everywhere(tmp_path, statement):
    source = tmp_path / "model.json"
    saved(statement).save(source)
    with pytest.raises(ModelError, match="nothing is proved"):
        write_release(source, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    write_release(source, tmp_path / "release", allow_unproved=True)
    for name in NAMES - {"model.json", "SHA256SUMS", "disclosure.schema.json", "report.html"} | {"WARNING.txt"}:
        text = (tmp_path / "release" / name).read_text().replace(" is ", " IS ")
        assert NOTHING_PROVED in text, name
    report = (tmp_path / "release" / "report.html").read_text()
    assert "Learned without privacy" in report or "No privacy is proved" in report
    found = verify_release(tmp_path / "release")
    assert found.ok
    assert NOTHING_PROVED in found.promise
    shown = CliRunner().invoke(main, ["verify", str(tmp_path / "release")], standalone_mode=False)
    assert NOTHING_PROVED in shown.output


def test_a_private_release_has_no_warning():
    files = release_files(file_of(saved()), SAID)
    assert "WARNING.txt" not in files
    assert not any(NOTHING_PROVED.encode() in data for data in files.values())


# -- Whole or not at all ---------------------------------------------------------------------------------------------------------


def listing(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))


@pytest.fixture
def place(tmp_path):
    saved().save(tmp_path / "model.json")
    return tmp_path


def test_what_is_there_stays_without_force(place):
    (place / "release").mkdir()
    (place / "release" / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="--force"):
        write_release(place / "model.json", place / "release")
    assert listing(place) == ["model.json", "release", "release/mine.txt"]


@pytest.mark.parametrize("what", ["file", "folder", "changed", "added", "link", "dangling"])
def test_what_is_no_unchanged_release_stays_even_by_force(place, what):
    if what == "file":
        (place / "release").write_text("mine")
    elif what == "folder":
        (place / "release").mkdir()
    elif what == "dangling":
        (place / "release").symlink_to(place / "nowhere")
    else:
        write_release(place / "model.json", place / ("real" if what == "link" else "release"))
        if what == "changed":
            (place / "release" / "checklist.md").write_text("signed: me")
        elif what == "added":
            (place / "release" / "signature.asc").write_text("mine")
        else:
            (place / "release").symlink_to(place / "real")
    before = listing(place)
    with pytest.raises(ModelError, match="choose another name"):
        write_release(place / "model.json", place / "release", force=True)
    assert listing(place) == before


def test_an_unchanged_release_is_replaced_by_force(place):
    first = write_release(place / "model.json", place / "release", date="2026-01-01")
    second = write_release(place / "model.json", place / "release", date="2026-01-02", force=True)
    assert first != second
    assert verify_release(place / "release").fingerprint == second
    assert [name for name in os.listdir(place) if name.startswith(".")] == []


@pytest.mark.parametrize("force", [False, True])
def test_a_release_that_fails_leaves_everything_as_it_was(place, force, monkeypatch):
    if force:
        write_release(place / "model.json", place / "release", date="2026-01-01")
    before = {name: (place / name).read_bytes() for name in listing(place) if (place / name).is_file()}
    rename, calls = os.rename, []

    def fails(source, target):
        calls.append(source)
        if str(source).endswith(".new"):
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr("discreet._utils.writing.os.rename", fails)
    with pytest.raises(OSError, match="No space"):
        write_release(place / "model.json", place / "release", force=force)
    assert calls
    assert {name: (place / name).read_bytes() for name in listing(place) if (place / name).is_file()} == before
    assert [name for name in os.listdir(place) if name.startswith(".")] == []


def test_a_folder_that_cannot_be_is_a_message(place):
    found = CliRunner().invoke(main, ["release", str(place / "model.json"), "-o", str(place / "no" / "release")])
    assert found.exit_code == 1
    assert "No such file" in found.output


@pytest.mark.parametrize("day", ["today", "2026-13-01", "2026-1-1", "２０２６-11-17", "2026-11-17T12:00"])
def test_a_day_is_a_day(place, day):
    with pytest.raises(ModelError, match="must be a day"):
        write_release(place / "model.json", place / "release", date=day)


# -- On the command line ---------------------------------------------------------------------------------------------------------


def test_release_and_verify_on_the_command_line(place):
    given = ["--table-name", "Admissions", "--date", "2026-11-17"]
    made = CliRunner().invoke(
        main, ["release", str(place / "model.json"), "-o", str(place / "release"), *given, "--json"]
    )
    assert made.exit_code == 0, made.output
    said = json.loads(made.output)
    assert set(said["files"]) >= NAMES
    assert not said["unproved"]
    again = CliRunner().invoke(main, ["release", str(place / "model.json"), "-o", str(place / "release")])
    assert again.exit_code == 2
    assert "--force" in again.output
    shown = CliRunner().invoke(main, ["verify", str(place / "release"), "--json"])
    assert shown.exit_code == 0
    assert json.loads(shown.output)["fingerprint"] == said["fingerprint"]
    (place / "release" / "README.md").write_text("other")
    shown = CliRunner().invoke(main, ["verify", str(place / "release")])
    assert shown.exit_code == 1
    assert "FAILS  README.md is unchanged" in shown.output
    assert "DOES NOT HOLD" in shown.output
    assert "whether somebody signed" in shown.output


def test_a_model_without_privacy_is_refused_on_the_command_line(tmp_path):
    data = load_compas(sensitive=False)
    clf = GreedyRuleListClassifier(max_length=2, schema=data.schema).fit(data.data, data.target)
    SavedModel.of(clf).save(tmp_path / "model.json")
    command = ["release", str(tmp_path / "model.json"), "-o", str(tmp_path / "release")]
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 1
    assert "--allow-unproved" in refused.output
    made = CliRunner().invoke(main, [*command, "--allow-unproved"])
    assert made.exit_code == 0
    assert NOTHING_PROVED in made.output
