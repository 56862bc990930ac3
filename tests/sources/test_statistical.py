"""Files of SPSS, Stata and SAS: what they say is what a table in memory says, and their labels go into a schema."""

import datetime
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from discreet import (
    Boolean,
    Categorical,
    DPOptimalRuleListClassifier,
    Numeric,
    Schema,
    check_table,
    draft_from_dictionary,
    draft_schema,
    file_dictionary,
)
from discreet._utils.errors import SchemaError, TableError
from discreet.cli import main
from discreet.sources import files
from discreet.sources.files import column_names, read_parts, read_table

from ..support.marked_values import TEXT, shows_a_mark
from ..support.sas_files import write_sas7bdat

pyreadstat = pytest.importorskip("pyreadstat")

COLUMNS = (
    Numeric("age", cuts=[0, 30, 60.5], low=-1e6, high=1e6),
    Categorical("code", categories=[1, 2, "10", -3], outside="other"),
    Categorical("ward", categories=["A", "1", "2.5", "yes", "NA", "Ü b"], outside="none"),
    Boolean("smokes"),
)
SCHEMA = Schema(COLUMNS, target="ill", classes=[0, 1])
numbers = st.none() | st.integers(-12, 12).map(float) | st.floats(-1e300, 1e300, allow_subnormal=False)
texts = st.sampled_from(["A", "1", "1.0", "2.5", "yes", "true", "NA", "", "Ü b", "a\tb", "other", "?", "nan"])
WRITERS = {".sav": pyreadstat.write_sav, ".zsav": None, ".dta": pyreadstat.write_dta}


def write(frame, path, **labels):
    frame = frame.astype({name: "float64" for name in frame if name not in ("ward", "seen", "name")})
    if path.suffix == ".zsav":
        pyreadstat.write_sav(frame, path, compress=True, **labels)
    else:
        WRITERS[path.suffix](frame, path, **labels)
    return path


def table(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    return pd.DataFrame(
        {
            "patient": np.arange(1000.0, 1000 + n),
            "age": age,
            "code": rng.choice([1.0, 2.0, -3.0, 7.0, np.nan], n),
            "ward": rng.choice(np.array(["A", "yes", "B", None], dtype=object), n),
            "smokes": rng.choice([0.0, 1.0, np.nan], n),
            "ill": np.where(rng.random(n) < np.where(age > 60, 0.9, 0.1), 1.0, 0.0),
        }
    )


def all_parts(path, names):
    parts = list(read_parts(path, [(name, None) for name in names]))
    return [np.concatenate(values) for values in zip(*parts, strict=True)]


@pytest.mark.parametrize("suffix", WRITERS)
@given(rows=st.lists(st.tuples(numbers, numbers, texts, numbers), max_size=30), size=st.integers(1, 12))
def test_values_are_in_the_bins_in_which_they_are_in_memory(tmp_path_factory, suffix, rows, size):
    names = [column.name for column in COLUMNS]
    frame = pd.DataFrame({name: pd.Series([row[i] for row in rows], dtype=object) for i, name in enumerate(names)})
    path = write(frame, tmp_path_factory.getbasetemp() / f"any{suffix}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "ROWS_AT_A_TIME", size)
        read = all_parts(path, names)
    for column, values in zip(COLUMNS, read, strict=True):
        expected = column.encode(frame[column.name].to_numpy())
        assert column.encode(values).tolist() == expected.tolist(), column.name
        assert column.encode(read_table(path)[column.name].to_numpy()).tolist() == expected.tolist()


@pytest.mark.parametrize("suffix", WRITERS)
def test_types_follow_no_record(tmp_path, suffix):
    frame = table(20)
    frame["seen"] = datetime.date(2024, 2, 29)
    kinds = []
    without = frame.assign(age=np.nan, code=np.nan, ward="", seen=frame.seen.where(frame.index == 7, None))
    for extra in (frame, without):
        path = write(extra, tmp_path / f"t{suffix}")
        parts = read_parts(path, [(name, None) for name in column_names(path)])
        kinds += ["".join(values.dtype.kind for values in part) for part in parts]
    assert kinds == ["fffOffM"] * 4


def test_what_a_file_declares_missing_is_missing(tmp_path):
    frame = table(6)
    frame["age"] = [30.0, 900, 950, 999, 5, np.nan]
    frame["code"] = [1.0, 2, 9, 1, 9, 2]
    frame["ward"] = ["A", "zz", "A", "", "A", "zz"]
    missing = {"age": [{"lo": 900, "hi": 998}, 999], "code": [9], "ward": ["zz"]}
    path = write(frame, tmp_path / "t.sav", missing_ranges=missing)
    age, code, ward = all_parts(path, ["age", "code", "ward"])
    assert np.isnan(age).tolist() == [False, True, True, True, False, True]
    assert np.isnan(code).tolist() == [False, False, True, False, True, False]
    assert ward.tolist() == ["A", None, "A", None, "A", None]


def test_letters_for_missing_values_of_stata_are_missing(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, "a", "b"], "y": [1.0, 2.0, 3.0, 4.0]})
    labels = {"x": {1: "one", 2: "two", "a": "refused"}}
    path = tmp_path / "t.dta"
    pyreadstat.write_dta(frame, path, variable_value_labels=labels, missing_user_values={"x": ["a", "b"]})
    assert np.isnan(all_parts(path, ["x"])[0]).tolist() == [False, False, True, True]
    x = draft_from_dictionary(file_dictionary(path)).schema["x"]
    assert x == Categorical("x", True, categories=("1", "2"), labels={"1": "one", "2": "two"})


DAYS = [
    datetime.date(1583, 1, 1),
    datetime.date(1969, 12, 31),
    None,
    datetime.date(2024, 2, 29),
    datetime.date(9999, 1, 1),
]


@pytest.mark.parametrize("suffix", WRITERS)
def test_dates_are_dates_whatever_their_year(tmp_path, suffix):
    times = [None if day is None else datetime.datetime(day.year, day.month, day.day, 23, 59) for day in DAYS]
    frame = pd.DataFrame({"seen": pd.Series(DAYS, dtype=object), "name": pd.Series(times, dtype=object)})
    seen, at = all_parts(write(frame, tmp_path / f"t{suffix}"), ["seen", "name"])
    assert seen.tolist() == [None if d is None else datetime.datetime(d.year, d.month, d.day) for d in DAYS]
    assert at.tolist() == times
    assert draft_schema({"seen": seen, "b": [0, 1, 0, 1, 0]}).schema["seen"].kind == "ignore"


def test_a_date_that_nobody_can_write_stops_nothing(tmp_path):
    columns = {"seen": ("DATE9.", "Seen"), "at": ("DATETIME20.", ""), "ward": ("$8.", "Ward"), "age": ("BEST12.", "")}
    rows = [[0.0, 0.5, "A", 30.0], [1e300, -1e18, "Bb", -0.5], [None, math.inf, "", None], [21915.0, 86400.0, "A", 1e9]]
    write_sas7bdat(path := tmp_path / "t.sas7bdat", columns, rows)
    seen, at, ward, age = all_parts(path, columns)
    assert seen.astype("M8[D]").astype(str).tolist() == ["1960-01-01", "NaT", "NaT", "2020-01-01"]
    assert np.isnat(at).tolist() == [False, True, True, False]
    assert ward.tolist() == ["A", "Bb", None, "A"]
    assert age.tolist()[:2] + age.tolist()[3:] == [30.0, -0.5, 1e9]
    assert np.isnan(age[2])
    schema = draft_from_dictionary(file_dictionary(path)).schema
    assert next((c.name, c.kind, c.label) for c in schema.columns) == ("seen", "ignore", "Seen")


LABELS = {
    "variable_value_labels": {
        "code": {1: "one; or so", 2: "two (2)", -3: "one = three", 9: "refused"},
        "smokes": {0: "no", 1: "yes"},
        "ward": {"A": "Surgery", "yes": "Children"},
        "age": {18: "eighteen", 99: "older"},
        "ill": {0: "healthy", 1: "ill"},
    },
    "column_labels": {"code": "The code", "age": "Age in years", "ill": "Is ill"},
    "missing_ranges": {"code": [9], "age": [999]},
    "variable_measure": {"age": "scale", "code": "nominal"},
}


def test_labels_are_those_of_the_schema_and_no_record_is_read(tmp_path):
    path = write(table(), tmp_path / "private.sav", **LABELS)
    draft = draft_from_dictionary(file_dictionary(path), "ill")
    code = Categorical(
        "code",
        True,
        categories=("-3", "1", "2"),
        label="The code",
        labels={"1": "one; or so", "2": "two (2)", "-3": "one = three"},
    )
    found = draft.schema["code"]
    assert (found.label, found.labels, found.missing) == (code.label, code.labels, True)
    assert set(found.categories) == set(code.categories)
    assert draft.schema["smokes"] == Boolean("smokes")
    assert dict(draft.schema["ward"].labels) == {"A": "Surgery", "yes": "Children"}
    assert draft.schema["age"].kind == "ignore"  # a scale of which two points have names
    assert draft.schema["age"].label == "Age in years"
    assert (draft.schema.classes, draft.schema.target_label) == ((0, 1), "Is ill")
    assert dict(draft.schema.class_labels) == {"0": "healthy", "1": "ill"}
    assert Schema.from_toml(draft.to_toml()) == draft.schema
    empty = path.read_bytes()
    for n in (1, 100, 4000):  # the records are last; without them there is the same dictionary, and no table
        (cut := tmp_path / "cut.sav").write_bytes(empty[:-n])
        assert file_dictionary(cut) == file_dictionary(path)
        with pytest.raises(SchemaError, match="cut off"):
            read_table(cut)


def test_a_public_sample_gets_the_labels_of_its_file(tmp_path):
    frame = table()
    frame.loc[:20, "code"] = 9
    frame["code"] = frame.code.replace(7, 1)
    path = write(frame, tmp_path / "public.sav", **LABELS)
    schema = draft_schema(read_table(path), "ill", dictionary=file_dictionary(path)).schema
    assert set(schema["code"].categories) == {"-3", "1", "2"}
    assert schema["code"].missing
    assert schema["age"].cuts[:2] == (20, 25)
    assert schema["age"].label == "Age in years"
    assert set(schema["ward"].categories) == {"A", "B", "yes"}  # not all of them have labels
    assert schema.target_label == "Is ill"


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_dictionary_of_a_private_file_has_to_be_asked_for(desk):
    path = write(table(), desk / "private.sav", **LABELS)
    run("ledger", "create", "ledger.json", "--epsilon", "2")
    SCHEMA.save("schema.toml")
    run("fit", "list", path, "-s", "schema.toml", "-e", "1", "--ledger", "ledger.json", "-o", "m.json")
    assert "it is a private table" in run("schema", path, "-t", "ill", "-o", "s.toml", code=1)
    said = run("schema", path, "-t", "ill", "--dictionary", "-o", "s.toml")
    assert "labels in this draft must be public" in said
    assert Schema.load("s.toml") == draft_from_dictionary(file_dictionary(path), "ill").schema
    assert "the names and labels in private.sav, without its records" in Path("s.toml").read_text()
    run(
        "fit", "list", path, "-s", "s.toml", "-e", "0.5", "--ledger", "ledger.json", "-o", "m2.json"
    )  # it was no sample


@pytest.mark.parametrize("suffix", WRITERS)
def test_commands_say_of_a_file_what_they_say_of_others(desk, suffix):
    frame = table()
    SCHEMA.save("schema.toml")
    path = write(frame, desk / f"t{suffix}")
    frame.to_parquet("t.parquet")
    run("fit", "greedy", path, "-s", "schema.toml", "-e", "1", "-o", "m.json")
    for arguments in (
        ["check", "TABLE", "-s", "schema.toml", "--json"],
        ["evaluate", "m.json", "TABLE", "--public"],
        ["predict", "m.json", "TABLE", "--json"],
    ):
        said = [
            run(*[str(name) if a == "TABLE" else a for a in arguments]).replace(name, "TABLE")
            for name in (path.name, "t.parquet")
        ]
        assert said[0] == said[1], arguments
    run("predict", "m.json", path, "--id", "patient", "-o", "scores.csv", "--force")
    assert Path("scores.csv").read_text().split("\n")[1].startswith("1000,")
    said = run("fit", "list", path, "-s", "schema.toml", "-e", "1", "--engine", "duckdb", "-o", "n.json", code=2)
    assert "leave it out for other files" in said


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_fit_is_that_of_the_table_in_memory(tmp_path, suffix):
    frame = table()
    path = write(frame, tmp_path / f"t{suffix}")
    fitted = DPOptimalRuleListClassifier(epsilon=1.0, schema=SCHEMA, random_state=1)
    in_memory = fitted.fit(frame.drop(columns="ill"), frame.ill).rule_list_
    assert fitted.fit_file(path).rule_list_ == in_memory
    checked = check_table(read_table(path), frame.ill, SCHEMA)
    assert json.dumps(checked.to_dict()) == json.dumps(check_table(frame, frame.ill, SCHEMA).to_dict())


@pytest.mark.parametrize("suffix", [*WRITERS, ".sas7bdat"])
def test_no_value_of_a_damaged_file_is_shown(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    if suffix == ".sas7bdat":
        write_sas7bdat(path, {"ward": ("$8.", "")}, [[TEXT[:8]]] * 2000)
    else:
        write(pd.DataFrame({"ward": [TEXT] * 2000, "age": range(2000)}), path)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:100], b"", f"{TEXT}\n".encode() * 100):
        path.write_bytes(damaged)
        with pytest.raises(SchemaError, match="cut off, damaged") as error:
            read_table(path)
        assert not shows_a_mark(str(error.value))


def test_an_encoding_may_be_said_of_a_file_that_does_not_know_its_own(tmp_path):
    path = write(pd.DataFrame({"ward": ["Küche", "Flur"]}), tmp_path / "t.sav")
    path.write_bytes(
        path.read_bytes().replace("Küche".encode(), "K\xfcche ".encode("latin-1")).replace(b"UTF-8", b"ASCII")
    )
    with pytest.raises(SchemaError, match="cut off, damaged"):
        read_table(path)
    assert read_table(path, encoding="latin-1").ward.tolist() == ["Küche", "Flur"]


def test_without_its_package_it_says_what_to_install(tmp_path, monkeypatch):
    (path := tmp_path / "t.sav").write_bytes(b"")
    monkeypatch.setattr("discreet.sources.statistical.find_spec", lambda name: None)
    for read in (read_table, file_dictionary):
        with pytest.raises(TableError, match=r"pip install 'discreet\[statistics\]'"):
            read(path)
    with pytest.raises(TableError, match=r"only files whose names end in \.sav"):
        file_dictionary(tmp_path / "t.csv")
