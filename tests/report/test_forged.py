"""Releases that lie: each is forged in one place, with every checksum computed again as a forger would, and none holds."""

import json
import os
import shutil
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from click.testing import CliRunner

from discreet import (
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    DPScoreCardClassifier,
    Ledger,
    SavedModel,
    noisy_evaluation,
    verify_release,
    write_release,
)
from discreet._utils.errors import ModelError
from discreet.cli import main
from discreet.datasets import load_compas
from discreet.models.saved import checksum
from discreet.report.bundle.record import sha256_of, sums_of

from ..support.paid_schemas import paid
from ..support.slices import pairs

LEARNERS = {
    "list": lambda **given: DPOptimalRuleListClassifier(epsilon=1.0, **given),
    "tree": lambda **given: DPOptimalTreeClassifier(epsilon=1.0, max_depth=2, **given),
    "card": lambda **given: DPScoreCardClassifier(epsilon=1.0, **given),
    "greedy": lambda **given: DPGreedyRuleListClassifier(epsilon=1.0, max_length=2, **given),
}


@cache
def good(kind):
    """A release of a fitted model with an evaluation, on a ledger that has the model alone when it is saved."""
    home, data = Path(mkdtemp()), load_compas(sensitive=False)
    X, y, ledger = data.data[:1500], data.target[:1500], Ledger(epsilon=3.0)
    clf = LEARNERS[kind](schema=data.schema, ledger=ledger).fit(X, y)
    SavedModel.of(clf).save(home / "model.json")
    column = data.schema.columns[0].name
    found = noisy_evaluation(clf, X, y, 1.0, by=column, ledger=ledger)
    found.save(home / "evaluation.json", home / "model.json", ledger)
    given = {"evaluation": home / "evaluation.json", "ledger": ledger}
    write_release(home / "model.json", home / "release", table_name="COMPAS", date="2026-11-17", **given)
    return home / "release", ledger


COST = Fraction(1, 10), Fraction(1, 10**9)  # of a schema


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("mechanism", "schema_cost"),
    pairs(
        ["mass", "purity", "inverse", "sm-cauchy", "gl-laplace", "noisy-counts", None],
        [None, "booked here", "not booked"],
    ),
)
def test_an_honest_release_holds_whatever_was_booked(mechanism, schema_cost, tmp_path):
    data, ledger = load_compas(sensitive=False), Ledger(epsilon=20.0, delta=0.1, allow_unproved=True)
    X, y, schema, given = data.data[:800], data.target[:800], data.schema, {"ledger": ledger, "records_per_person": 3}
    if schema_cost:
        schema = paid(schema, *COST, records=3)
    if schema_cost == "booked here":
        ledger.reserve(*COST, "a schema", release="schema-1f3a", pays_for={"schema-1f3a": COST}, records=3).close()
    greedy = mechanism is not None
    learner = DPGreedyRuleListClassifier if greedy else DPOptimalRuleListClassifier
    clf = learner(epsilon=1.1, schema=schema, max_length=2, **({"mechanism": mechanism} if greedy else {}), **given)
    SavedModel.of(clf.fit(X, y)).save(tmp_path / "model.json")
    by = [column.name for column in schema.columns][:2]
    found = noisy_evaluation(clf, X, y, 1.1, by=by, **given)
    found.save(tmp_path / "evaluation.json", tmp_path / "model.json", ledger)
    beside = {"evaluation": tmp_path / "evaluation.json", "ledger": ledger, "allow_unproved": True}
    write_release(tmp_path / "model.json", tmp_path / "release", **beside)
    checked = verify_release(tmp_path / "release", ledger)
    assert checked.ok, [check for check in checked.checks if not check.holds]


@pytest.fixture(params=[*LEARNERS])
def release(request, tmp_path):
    folder, ledger = good(request.param)
    shutil.copytree(folder, tmp_path / "release")
    assert verify_release(tmp_path / "release", ledger).ok
    return tmp_path / "release"


def read(folder, name):
    return json.loads((folder / name).read_text())


def write(folder, name, data, sign=True):
    if sign and "checksum" in data:
        data["checksum"] = checksum(data)
    (folder / name).write_text(json.dumps(data, indent=1) + "\n")


def sum_again(folder):
    (folder / "SHA256SUMS").unlink(missing_ok=True)
    files = [path for path in folder.rglob("*") if path.is_file()]
    sums = sums_of({path.relative_to(folder).as_posix(): sha256_of(path.read_bytes()) for path in files})
    (folder / "SHA256SUMS").write_bytes(sums)


def papers_again(folder):
    """What a thorough forger does with a changed model or evaluation: all papers written again by discreet itself."""
    evaluation = read(folder, "evaluation.json")
    evaluation["model"] = sha256_of((folder / "model.json").read_bytes())
    write(folder, "evaluation.json", evaluation)
    from discreet.evaluation import evaluation_file
    from discreet.report.bundle import folder as writing
    from discreet.report.bundle.record import Attached, particulars_in
    from discreet.report.bundle.verifying import snapshot_in

    record = read(folder, "disclosure.json")
    content = [(folder / name).read_bytes() for name in ("evaluation.json", "model.json")]
    with pytest.MonkeyPatch.context() as here:  # where no number is compared, and no price
        here.setattr(evaluation_file, "_alike", lambda *_: True)
        here.setattr(evaluation_file, "_is_paid", lambda _: True)
        saved = evaluation_file.SavedEvaluation.from_bytes(*content)
    beside = Attached(content[0], saved, snapshot_in(record))
    made = writing.release_files((folder / "model.json").read_bytes(), particulars_in(record), True, attached=beside)
    for name, data in made.items():
        (folder / name).write_bytes(data)


def in_json(name, *path, value, again=False):
    """A forger that sets one entry of a file; ``again``: and writes all papers for it."""

    def forge(folder):
        data = place = read(folder, name)
        for step in path[:-1]:
            place = place[step]
        before = place[path[-1]]
        place[path[-1]] = value(before) if callable(value) else value
        assert place[path[-1]] != before
        write(folder, name, data)
        if again:
            papers_again(folder)

    return forge


def in_text(name, before, after):
    def forge(folder):
        text = (folder / name).read_text()
        assert before in text, name
        (folder / name).write_text(text.replace(before, after))

    return forge


def of_bytes(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def kind_entry(folder):
    return next(name for name in read(folder, "model.json") if name in ("rule_list", "tree", "score_card"))


def first(data, wanted):
    """The first place in JSON that is called so."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name == wanted and value is not None:
                return data
            if (found := first(value, wanted)) is not None:
                return found
    if isinstance(data, list):
        return next((found for part in data if (found := first(part, wanted)) is not None), None)
    return None


def in_rules(wanted, change):
    """A forger that changes the first count, label or threshold of the model."""

    def forge(folder):
        data = read(folder, "model.json")
        place = first({k: v for k, v in data[kind_entry(folder)].items() if k != "schema"}, wanted)
        if place is None:
            pytest.skip(f"this model has no {wanted}")
        before = place[wanted]
        place[wanted] = change(before)
        if place[wanted] == before:
            pytest.skip("there is nothing to change")
        write(folder, "model.json", data)

    return forge


def twice(name, entry):
    def forge(folder):
        text = (folder / name).read_text()
        assert f'"{entry}":' in text
        (folder / name).write_text(text.replace(f'"{entry}":', f'"{entry}": 0.001, "{entry}":', 1))

    return forge


def moved(name, other):
    return lambda folder: os.rename(folder / name, folder / other)


def linked(name):
    def forge(folder):
        os.rename(folder / name, folder.parent / "elsewhere")
        (folder / name).symlink_to(folder.parent / "elsewhere")

    return forge


def also(*forgers):
    def forge(folder):
        for one in forgers:
            one(folder)

    return forge


def one_more(count):
    return [count[0] + 1, *count[1:]] if isinstance(count, list) else count + 1


MODEL, EVALUATION, RECORD = "model.json", "evaluation.json", "disclosure.json"
OTHER_VERSION = in_json(RECORD, "software", "released_with", value="0.0.1")
FORGED = {
    # the version, and papers beside it
    "another version": OTHER_VERSION,
    "another version and a better card": also(OTHER_VERSION, in_text("README.md", "epsilon", "no epsilon")),
    "another version and a better report": also(OTHER_VERSION, of_bytes("report.html", b"<p>all is well</p>")),
    "a version that is a sentence": in_json(RECORD, "software", "released_with", value="1 which is fully anonymous"),
    # the model
    "a smaller epsilon in the model": in_json(MODEL, "privacy", "proved", "epsilon", value=0.001),
    "a smaller epsilon in the model and all papers": in_json(
        MODEL, "privacy", "proved", "epsilon", value=0.001, again=True
    ),
    "a larger epsilon in the model and all papers": in_json(
        MODEL, "privacy", "proved", "epsilon", value=2.0, again=True
    ),
    "a delta in the model and all papers": in_json(MODEL, "privacy", "proved", "delta", value=0.1, again=True),
    "another epsilon for the learner and all papers": in_json(MODEL, "parameters", "epsilon", value=0.1, again=True),
    "a ledger that spent less and all papers": in_json(MODEL, "ledger", "proved", value=["1/1000", "0"], again=True),
    "a ledger where nothing is proved and all papers": in_json(MODEL, "ledger", "unproved", value=1, again=True),
    "another ledger and all papers": in_json(MODEL, "ledger", "ledger", value="another", again=True),
    "another entry": in_json(MODEL, "ledger", "release", value="another"),
    "nothing proved, but no warning": in_json(MODEL, "privacy", "proved", value=None),
    "no promise": in_json(MODEL, "privacy", value=None),
    "another learner": in_json(MODEL, "learner", value="DPOptimalForestClassifier"),
    "another target": in_json(MODEL, "target", value="other"),
    "another mechanism": in_json(MODEL, "privacy", "mechanism", value="magic"),
    "an assumption less": in_json(MODEL, "privacy", "assumes", value=lambda a: a[1:]),
    "another count": in_rules("counts", lambda counts: [counts[0] + 5, *counts[1:]]),
    "another label": in_rules("label", lambda label: 1 - label),
    "another threshold": in_rules("value", lambda value: value + 1 if isinstance(value, int | float) else value),
    "a model whose checksum does not fit": lambda folder: write(
        folder, MODEL, read(folder, MODEL) | {"learner": "x"}, sign=False
    ),
    "a name twice in the model": twice(MODEL, "epsilon"),
    "an empty model": of_bytes(MODEL, b""),
    # the evaluation
    "a better accuracy": in_json(EVALUATION, "evaluation", "rates", "accuracy", "value", value=0.999),
    "a better accuracy and all papers": also(
        in_json(EVALUATION, "evaluation", "accuracy", value=0.999),
        in_json(EVALUATION, "evaluation", "rates", "accuracy", "value", value=0.999),
        papers_again,
    ),
    "a tighter interval and all papers": also(
        in_json(EVALUATION, "evaluation", "low", value=lambda low: low + 0.001),
        in_json(EVALUATION, "evaluation", "rates", "accuracy", "low", value=lambda low: low + 0.001),
        papers_again,
    ),
    "a better recall and all papers": in_json(
        EVALUATION, "evaluation", "rates", "classes", 1, "recall", "value", value=0.999, again=True
    ),
    "a better balanced accuracy and all papers": in_json(
        EVALUATION, "evaluation", "balanced_accuracy", "value", value=0.999, again=True
    ),
    "another cell of the matrix and all papers": in_json(
        EVALUATION, "evaluation", "confusion", 0, 0, "value", value=lambda n: n + 9, again=True
    ),
    "more records and all papers": in_json(
        EVALUATION, "evaluation", "records", "value", value=lambda n: n + 9, again=True
    ),
    "a better group and all papers": in_json(
        EVALUATION, "evaluation", "groups", 0, "rates", "accuracy", "value", value=0.999, again=True
    ),
    "a smaller difference and all papers": in_json(
        EVALUATION, "evaluation", "groups", 0, "difference", "accuracy", "value", value=0.0001, again=True
    ),
    "another noisy count and all papers": in_json(
        EVALUATION, "evaluation", "counts", "tables", 0, "records", 0, 0, 0, value=lambda n: n + 9, again=True
    ),
    "less noise than was paid for and all papers": in_json(
        EVALUATION, "evaluation", "counts", "epsilon", value=9.0, again=True
    ),
    "a smaller price of the evaluation and all papers": in_json(
        EVALUATION, "privacy", "proved", "epsilon", value=0.001, again=True
    ),
    "an evaluation's ledger that spent less and all papers": in_json(
        EVALUATION, "ledger", "proved", value=["1/1000", "0"], again=True
    ),
    "an evaluation of another file": in_json(EVALUATION, "model", value="0" * 64),
    "a name twice in the evaluation": twice(EVALUATION, "accuracy"),
    "no evaluation": lambda folder: (folder / EVALUATION).unlink(),
    "no page of the evaluation": lambda folder: (folder / "evaluation.html").unlink(),
    "another page of the evaluation": in_text("evaluation.html", "0.", "0.9"),
    # the record
    "a smaller epsilon in the record": in_json(RECORD, "privacy", "proved", "epsilon", value=0.001),
    "a smaller rho in the record": in_json(RECORD, "privacy", "rho", value=0.0001),
    "another unit in the record": in_json(RECORD, "privacy", "unit", "records_per_person", value=99),
    "a statement in other words": in_json(RECORD, "privacy", "statement", value="Anonymous."),
    "fewer releases on the day": in_json(RECORD, "ledger_at_release", "spent", value=["1/10", "0"]),
    "another ledger on the day": in_json(RECORD, "ledger_at_release", "ledger", value="another"),
    "fewer releases on the day and all papers": also(
        in_json(RECORD, "ledger_at_release", "proved", value=["1/10", "0"]), papers_again
    ),
    "code that nobody could write": also(
        in_json(RECORD, "code", "left_out", value={"code/model.py": "a package that writes it was not installed"}),
        lambda folder: (folder / "code" / "model.py").unlink(),
    ),
    "another model's checksum in the record": in_json(RECORD, "model", "sha256", value="0" * 64),
    "a name twice in the record": twice(RECORD, "epsilon"),
    "more in the record": in_json(RECORD, "table", value=lambda table: table | {"records": 7214}),
    "a record with a space more": lambda folder: (folder / RECORD).write_bytes(b" " + (folder / RECORD).read_bytes()),
    # the other papers
    "a better card": in_text("README.md", "## Privacy", "## Privacy: anonymous"),
    "a better checklist": in_text("checklist.md", "- [ ] ", "- [x] "),
    "a better report": in_text("report.html", "epsilon", "no epsilon"),
    "another schema of records": in_text("disclosure.schema.json", "epsilon", "Epsilon"),
    # code
    "other Python": in_text("code/model.py", "return", "import os; return"),
    "other SQL": in_text("code/model.duckdb.sql", "CASE", "case"),
    "other SQL of another dialect": in_text("code/model.spark.sql", "CASE", "case"),
    "other PMML": in_text("code/model.pmml", "<", "< "),
    "garbage as ONNX": of_bytes("code/model.onnx", b"garbage"),
    "an empty ONNX": of_bytes("code/model.onnx", b""),
    "no Python": lambda folder: (folder / "code" / "model.py").unlink(),
    # names
    "one file more": of_bytes("thesis.txt", b"mine"),
    "one file more in code": of_bytes("code/run.sh", b"rm -rf ~"),
    "a warning that is none": of_bytes("WARNING.txt", b"all is well"),
    "an empty folder": lambda folder: (folder / "data").mkdir(),
    "a folder with a file": lambda folder: ((folder / "data").mkdir(), (folder / "data" / "t.csv").write_text("1")),
    "another case of a name": moved("README.md", "readme.md"),
    "a link for a file": linked("report.html"),
    "a link for a folder": linked("code"),
    "an empty card": of_bytes("README.md", b""),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("lie", "release"), pairs(FORGED, LEARNERS), indirect=["release"])
def test_a_forged_release_does_not_hold(release, lie):
    FORGED[lie](release)
    sum_again(release)
    found = verify_release(release)
    assert not found.ok
    if "another version" not in lie:
        assert found.state == "does not hold", [check for check in found.checks if not check.holds]
    assert CliRunner().invoke(main, ["verify", str(release)]).exit_code in (1, 5)


@cache
def with_a_paid_schema(at):
    """A release of a model that rests on a schema, which its ledger has with the model or before it."""
    home, data = Path(mkdtemp()), load_compas(sensitive=False)
    X, y, ledger = data.data[:1500], data.target[:1500], Ledger(epsilon=3.0, delta=1e-6)
    if at == "before":
        ledger.reserve(*COST, "a schema", release="schema-1f3a", pays_for={"schema-1f3a": COST}).close()
    clf = LEARNERS["list"](schema=paid(data.schema, *COST), ledger=ledger).fit(X, y)
    SavedModel.of(clf).save(home / "model.json")
    found = noisy_evaluation(clf.rule_list_, X, y, 1.0, model_is_public=True)
    found.save(home / "evaluation.json", home / "model.json")
    write_release(home / "model.json", home / "release", evaluation=home / "evaluation.json", ledger=ledger)
    return home / "release", ledger


def without_schema(name, *parts):
    """A forger that leaves what the schema cost out of a statement, or half of an amount."""

    def forge(folder):
        data = read(folder, name)
        before, proved = data["privacy"]["for_schema"], data["privacy"]["proved"]
        for part in parts:
            left_out = before[part] if len(parts) == 2 else before[part] / 2
            proved[part], before[part] = round(proved[part] - left_out, 12), before[part] - left_out
        if len(parts) == 2:
            del data["privacy"]["for_schema"]
        write(folder, name, data)
        papers_again(folder)

    return forge


LEFT_OUT = {
    "all of it": without_schema(MODEL, "epsilon", "delta"),
    "its epsilon": without_schema(MODEL, "epsilon"),
    "its delta": without_schema(MODEL, "delta"),
    "from what is proved": in_json(MODEL, "privacy", "proved", value={"epsilon": 1.0, "delta": 0.0}),
    "a delta of the evaluation that nobody spent": in_json(
        EVALUATION, "privacy", "proved", "delta", value=2e-9, again=True
    ),
    "from the schema": also(
        in_json(MODEL, "rule_list", "schema", "released", "schema-1f3a", "epsilon", value=0.01), papers_again
    ),
    "its delta from the schema": also(
        in_json(MODEL, "rule_list", "schema", "released", "schema-1f3a", "delta", value=1e-10), papers_again
    ),
    "from the record": in_json(RECORD, "privacy", "schema_epsilon", value=0.0),
    "its delta from the record": in_json(RECORD, "privacy", "schema_delta", value=0.0),
    "the record's release": in_json(RECORD, "schema", "released", value={}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("at", ["with the model", "before"])
@pytest.mark.parametrize("lie", [None, *LEFT_OUT])
def test_what_a_schema_cost_cannot_be_left_out(lie, at, tmp_path):
    folder, ledger = with_a_paid_schema(at)
    shutil.copytree(folder, tmp_path / "release")
    assert verify_release(tmp_path / "release", ledger).ok
    if lie is not None:
        LEFT_OUT[lie](tmp_path / "release")
        sum_again(tmp_path / "release")
        assert verify_release(tmp_path / "release").state == "does not hold"


@pytest.mark.parametrize("at", ["with the model", "before"])
@pytest.mark.parametrize("part", ["epsilon", "delta"])
def test_a_ledger_with_another_price_than_model_and_schema_is_told(part, at):
    from discreet.report.bundle.verifying import _on_ledger

    folder, ledger = with_a_paid_schema(at)
    model = SavedModel.load(folder / MODEL)
    checksum = ledger.entries[model.ledger.number - 1].models[0]
    assert _on_ledger(model, checksum, ledger).holds
    more = replace(model.privacy.proved, **{part: getattr(model.privacy.proved, part) * 1.01 + 1e-12})
    assert (
        "another price" in _on_ledger(replace(model, privacy=replace(model.privacy, proved=more)), checksum, ledger).why
    )


@pytest.mark.parametrize(
    ("line", "forge"),
    [
        ("is listed", lambda sums: sums.replace(b"README.md", b"ReadMe.md")),
        ("is sorted", lambda sums: b"\n".join(sums.split(b"\n")[::-1])),
        ("is once", lambda sums: sums + sums.split(b"\n")[0] + b"\n"),
        ("is right", lambda sums: b"0" * 64 + sums[64:]),
        ("is there", lambda sums: b""),
    ],
)
def test_a_forged_list_of_checksums_does_not_hold(release, line, forge):
    path = release / "SHA256SUMS"
    path.write_bytes(forge(path.read_bytes()))
    assert verify_release(release).state == "does not hold", line


def test_a_model_that_the_ledger_has_at_another_price_is_told(release, request):
    kind = request.node.callspec.params["release"]
    in_json(MODEL, "privacy", "proved", "epsilon", value=0.5)(release)
    ledger = good(kind)[1]
    from discreet.report.bundle.verifying import _on_ledger

    model = SavedModel.load(release / MODEL)
    assert "another price" in _on_ledger(model, ledger.entries[0].models[0], ledger).why


@pytest.mark.parametrize("release", ["list"], indirect=True)
def test_a_folder_with_a_foreign_file_is_never_replaced(release):
    (release / "thesis.txt").write_text("three years")
    sum_again(release)
    with pytest.raises(ModelError, match="choose another name"):
        write_release(release / MODEL, release, force=True)
    assert (release / "thesis.txt").read_text() == "three years"


@pytest.mark.parametrize("release", ["list"], indirect=True)
def test_a_name_that_is_not_utf8_is_one_line(release):
    with open(os.fsencode(release) + b"/\xff\xfe.txt", "wb"):
        pass
    found = CliRunner().invoke(main, ["verify", str(release)])
    assert found.exit_code == 1
    assert found.output.count("\n") == 1
    assert "not UTF-8" in found.output


@pytest.mark.parametrize("release", ["list"], indirect=True)
def test_the_same_graph_in_other_bytes_holds_and_another_one_does_not(release):
    onnx = pytest.importorskip("onnx")
    path = release / "code" / "model.onnx"
    model = onnx.load(path)
    model.producer_version = "another"
    tensor = next(t for t in model.graph.initializer if t.data_type == onnx.TensorProto.DOUBLE and t.raw_data)
    values = onnx.numpy_helper.to_array(tensor)
    other = onnx.helper.make_tensor(tensor.name, tensor.data_type, tensor.dims, values.ravel().tolist())
    tensor.CopyFrom(other)
    path.write_bytes(model.SerializeToString())
    sum_again(release)
    assert verify_release(release).ok
    tensor.double_data[0] += 1e-9
    path.write_bytes(model.SerializeToString())
    sum_again(release)
    assert verify_release(release).state == "does not hold"


@pytest.mark.parametrize("release", ["list"], indirect=True)
def test_without_the_package_onnx_a_release_could_not_be_checked(release, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    found = CliRunner().invoke(main, ["verify", str(release)])
    assert found.exit_code == 5
    assert "code/model.onnx" in found.output
    assert "Everything" not in found.output


@pytest.mark.parametrize("release", ["list"], indirect=True)
def test_what_holds_is_one_line_and_v_lists_all(release):
    short, long = (CliRunner().invoke(main, ["verify", str(release), *given]).output for given in ([], ["-v"]))
    assert "holds  README.md" in long
    assert "holds  README.md" not in short
    assert "checks hold" in short.split("\n")[0]
