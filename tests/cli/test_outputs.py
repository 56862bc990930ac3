"""What the commands write: nothing is written over, lost or left behind, and what was paid for is never gone."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from discreet import Boolean, Categorical, Ledger, Numeric, SavedModel, Schema
from discreet._utils.writing import PendingFile
from discreet.cli import main
from discreet.private.queries.lists import ListQueries

from ..support.streams_apart import runner
from .test_practitioner import FIT, SCHEMA, desk, hospital, run

__all__ = ["desk"]  # a fixture
NO_SPACE = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
WRITERS = {
    "schema": ["schema", "sample.csv", "-t", "died", "--out"],
    "plan": ["plan", "list", "-s", "schema.toml", "-n", "1000", "--out"],
    "fit": ["fit", "list", "hospital.csv", "-s", "schema.toml", "-e", "5", "--out"],
    "report": ["fit", "list", "hospital.csv", "-s", "schema.toml", "-e", "5", "--out", "new.json", "--report"],
    "show": ["show", "model.json", "--out"],
    "show sql": ["show", "model.json", "--format", "sql", "--out"],
    "predict": ["predict", "model.json", "hospital.csv", "--out"],
    "predict json": ["predict", "model.json", "hospital.csv", "--json", "--out"],
}


@pytest.fixture
def full_desk(desk, monkeypatch):
    """Also a model, a sample, and a ledger. Output waits in a buffer, as it does for users."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    hospital(seed=1).to_csv("sample.csv", index=False)
    run(*FIT)
    run("ledger", "create", "l.json", "-e", "99")
    return desk


def test_nothing_that_is_there_is_written_over_without_a_word(full_desk):
    for call in WRITERS.values():
        Path("old").write_text("precious")
        assert "--force" in run(*call, "old", code=2)
        assert Path("old").read_text() == "precious"
        assert not Path("new.json").exists()
        run(*call, "old", "--force")
        assert Path("old").read_text() != "precious"
        Path("new.json").unlink(missing_ok=True)


def test_a_ledger_and_a_table_that_was_learned_from_are_not_written_over_even_by_force(full_desk):
    run(*FIT[:7], "--out", "on_ledger.json", "--ledger", "l.json")
    Path("link.json").symlink_to("l.json")
    run("ledger", "create", "other.json", "-e", "9")
    for kept in ("l.json", "other.json", "link.json", "hospital.csv"):
        before = Path(kept).read_bytes()
        for call in WRITERS.values():
            ledger = ["--ledger", "l.json"] if call[0] == "fit" else []
            assert "choose another name" in run(*call, kept, "--force", *ledger, code=2)
            assert Path(kept).read_bytes() == before


def test_a_model_with_a_ledger_in_it_is_no_ledger(full_desk):
    run(*FIT[:7], "--out", "m.json", "--ledger", "l.json")
    run(*FIT[:7], "--out", "m.json", "--ledger", "l.json", "--force")


def test_a_file_that_is_needed_is_known_by_another_name(full_desk):
    os.link("schema.toml", "hard.toml")
    os.symlink("schema.toml", "soft.toml")
    for name in ("hard.toml", "soft.toml", "./schema.toml"):
        assert "needed" in run(*WRITERS["fit"], name, "--force", code=2)


def test_a_link_that_leads_nowhere_or_in_a_circle_is_not_followed(full_desk):
    os.symlink("elsewhere", "planted")
    os.symlink("circle", "circle")
    for name in ("planted", "circle"):
        for call in (*WRITERS.values(), ["ledger", "create", "-e", "1"]):
            assert "leads nowhere" in run(*call, name, code=2)
    assert not Path("elsewhere").exists()
    assert "no ledger" in run(*WRITERS["fit"], "new.json", "--ledger", "circle", code=2)


def test_old_scores_stay_when_the_new_table_is_bad(full_desk):
    Path("old.csv").write_text("precious")
    Path("bad.csv").write_text(Path("hospital.csv").read_text() + "1,2\n")
    run("predict", "model.json", "bad.csv", "--out", "old.csv", "--force", code=1)
    assert Path("old.csv").read_text() == "precious"
    run("predict", "model.json", "bad.csv", "--out", "new.csv", code=1)
    assert not list(Path().glob("*new.csv*"))
    assert not list(Path().glob(".*.new"))


def test_old_scores_stay_on_ctrl_c(full_desk, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    Path("old.csv").write_text("precious")
    monkeypatch.setattr("discreet.models.rule_list.RuleList.captures", stopped)
    run("predict", "model.json", "hospital.csv", "--out", "old.csv", "--force", code=130)
    assert Path("old.csv").read_text() == "precious"
    assert not list(Path().glob(".*.new"))


def test_a_file_that_appeared_during_the_fit_stays_and_the_model_is_printed(full_desk, monkeypatch):
    commit = PendingFile.commit

    def late(self):
        self.path.write_text("somebody else's")
        commit(self)

    monkeypatch.setattr(PendingFile, "commit", late)
    result = runner().invoke(main, [*WRITERS["fit"], "m.json"])
    assert result.exit_code == 4
    assert Path("m.json").read_text() == "somebody else's"
    assert SavedModel.from_json(result.stdout)


# --- full disks


def limited(size, *arguments):
    """A command on a disk that has so many bytes left."""
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "from discreet.cli import main; main()"
    )
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_a_full_disk_is_noticed_before_anything_is_spent(full_desk):
    result = limited(20_000, *WRITERS["fit"], "m.json", "--ledger", "l.json")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "Nothing was spent" in result.stderr
    assert Ledger.open("l.json").entries == ()
    assert not list(Path().glob("*m.json*"))
    assert not list(Path().glob(".*.new"))


@pytest.mark.parametrize("name", ["schema", "plan", "predict"])
def test_a_full_disk_leaves_nothing_but_a_line(full_desk, name):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        result = runner().invoke(main, [*WRITERS[name], "new.out"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result.exit_code == 1
    assert "Error: File too large" in result.stderr
    assert not list(Path().glob("*new.out*"))
    assert not list(Path().glob(".*.new"))


@pytest.mark.parametrize("error", [NO_SPACE, KeyboardInterrupt(), RuntimeError("\x1b")])
def test_what_was_paid_for_is_printed_if_it_cannot_be_written(full_desk, monkeypatch, error):
    commit = PendingFile.commit

    def fails(self):
        if self.path.name != "m.json":  # what is remembered of tables is written, too
            return commit(self)
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(PendingFile, "commit", fails)
        result = runner().invoke(main, [*WRITERS["fit"], "m.json", "--ledger", "l.json"])
    assert result.exit_code == 4
    assert "IS SPENT" in result.stderr
    assert SavedModel.from_json(result.stdout)
    assert len(Ledger.open("l.json").entries) == 1
    assert not list(Path().glob(".*.new"))


def test_a_report_that_cannot_be_written_does_not_take_the_model_with_it(full_desk, monkeypatch):
    def fails(*_):
        raise NO_SPACE

    monkeypatch.setattr("discreet.report.html.to_html", fails)
    said = run(*WRITERS["fit"], "m.json", "--report", "r.html", code=1)
    assert "show m.json --format html" in said
    assert SavedModel.load("m.json")
    assert not Path("r.html").exists()


def test_a_noisy_evaluation_that_cannot_be_printed_is_not_lost(full_desk):
    call = ["evaluate", "model.json", "hospital.csv", "--epsilon", "1", "--ledger", "l.json"]
    code = "from discreet.cli import main; main()"
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-c", code, *call], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 4
    assert "accuracy" in result.stderr
    assert "IS SPENT" in result.stderr


def test_what_was_paid_for_is_printed_elsewhere_if_the_output_is_on_the_same_full_disk(full_desk):
    keep = "from discreet._utils.writing import PendingFile as P; P.commit = lambda _: open('/dev/full', 'w', 1).write('\\n'); "
    call = [sys.executable, "-c", f"{keep}from discreet.cli import main; main()", *WRITERS["fit"], "m.json"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert ended.returncode == 4
    model, _, message = ended.stderr.partition("\n}\n")
    assert SavedModel.from_json(model[model.index("{") :] + "}")
    assert "IS SPENT" in message
    assert "standard error" in message


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_a_ledger_that_is_moved_during_a_fit_does_not_take_the_model_with_it(full_desk, monkeypatch):
    def moved(*given, **options):
        os.rename("l.json", "moved.json")
        return sample_list(*given, **options)

    sample_list = ListQueries.sample_list
    monkeypatch.setattr(ListQueries, "sample_list", moved)
    said = run(*WRITERS["fit"], "m.json", "--ledger", "l.json")
    assert "is gone. It stays booked in full" in said
    assert SavedModel.load("m.json").ledger.number == 1

    def moved_and_failed(*_, **__):
        os.rename("moved.json", "l.json")
        raise MemoryError

    monkeypatch.setattr(ListQueries, "sample_list", moved_and_failed)
    said = run(*WRITERS["fit"], "m2.json", "--ledger", "moved.json", code=1)
    assert "Epsilon 5 is booked" in said
    assert "memory" in said


def test_what_fails_after_the_booking_says_that_it_is_booked(full_desk, monkeypatch):
    def fails(*_):
        raise MemoryError("shape (314, 997616)")

    monkeypatch.setattr("discreet.private.queries.lists.ListQueries.sample_list", fails)
    said = run(*WRITERS["fit"], "m.json", "--ledger", "l.json", code=1)
    assert "Epsilon 5 is booked" in said
    assert "997616" not in said


ODD = "'\"&<\\" * 30
LONG_NAMES = Schema(
    (
        Categorical(f"c{ODD}", categories=[f"{i}{ODD}" for i in range(20)], missing=True),
        *(Numeric(f"{i}{ODD}", cuts=range(10)) for i in range(5)),
    ),
    target=f"t{ODD}",
    classes=[f"no{ODD}", f"yes{ODD}", "é" * 100],
)


@pytest.mark.parametrize("schema", [SCHEMA, LONG_NAMES, Schema((Numeric("x", cuts=[1]),), classes=[0, 1])])
@pytest.mark.parametrize("max_length", [1, 30])
def test_the_space_that_is_reserved_is_enough(tmp_path, schema, max_length):
    """A list as long and wide as it may be, of the longest rules there are."""
    from discreet import Ledger, PrivacyStatement, RuleList
    from discreet.accounting.statement import Guarantee
    from discreet.cli.ending import reserved
    from discreet.rules.rules import Literal, Rule

    ledger = Ledger.open(tmp_path / "l.json", 99)
    column = max((c for c in schema.used if not isinstance(c, Boolean)), key=lambda c: len(c.name))
    values = column.cuts if isinstance(column, Numeric) else column.categories
    literals = [Literal(column.name, "<=" if isinstance(column, Numeric) else "=", value) for value in values[:3]]
    label = max(schema.classes, key=lambda c: len(str(c)))
    counts = tuple(-123456789.12345678 for _ in schema.classes)
    rules = [Rule(tuple(literals), label, counts) for _ in range(max_length - 1)]
    model = SavedModel(
        RuleList(tuple(rules), Rule((), label, counts), schema.classes, schema),
        PrivacyStatement("mass", None, Guarantee(1.0, 0.0), assumes=("x" * 500,) * 4),
        "DPOptimalRuleListClassifier",
        {"exclude": [c.name for c in schema.columns]},
        schema.target,
        ledger.snapshot(),
    )
    with click.Context(click.Command("fit")):
        place = reserved(tmp_path / "m.json", False, schema)
        assert len(model.to_json().encode()) < os.fstat(place.stream.fileno()).st_size


# --- Ctrl-C, pipes, and what nobody foresaw


def test_ctrl_c_ends_every_command_with_130(full_desk, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    for place in (
        "discreet.audit.audit", "discreet.models.saved.SavedModel.load", "discreet.accounting.ledger.Ledger.open",
        "discreet.schema.Schema.load", "discreet.datasets.load_compas",
        "discreet.sources.files.read_table", "discreet.sources.files.column_names",
        "discreet.report.bundle.folder.write_release", "discreet.report.bundle.verifying.verify_release",
    ):  # fmt: skip
        monkeypatch.setattr(place, stopped)
    calls = {call[0]: call for call in WRITERS.values()} | {
        "ledger": ["ledger", "show", "l.json"],
        "check": ["check", "hospital.csv", "-s", "schema.toml"],
        "evaluate": ["evaluate", "model.json", "hospital.csv", "--public"],
        "release": ["release", "model.json", "-o", "folder"],
        "verify": ["verify", "."],
        "demo": ["demo"],
        "audit": ["audit", "--quick"],
    }
    assert calls.keys() == main.commands.keys()
    for call in calls.values():
        said = run(*call, *(["new.file"] if call[-1] in ("--out", "--report") else []), code=130)
        assert "Stopped" in said


def test_ctrl_c_in_a_real_process(full_desk):
    process = subprocess.Popen(
        [sys.executable, "-c", "from discreet.cli import main; main()", "demo"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a run in the background takes no notice of it
    )  # fmt: skip
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said


def test_a_fit_that_is_told_to_end_leaves_nothing_behind_and_says_what_was_booked(full_desk):
    program = """
import os, signal
from discreet.cli import main
from discreet.private.queries import lists
lists.ListSums = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
main()
"""
    run("ledger", "create", "l2.json", "-e", "9")
    before = {path.name for path in full_desk.iterdir()}
    command = [sys.executable, "-c", program, *WRITERS["fit"], "m.json", "--ledger", "l2.json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 130
    assert "Nothing was booked" in result.stderr
    assert {path.name for path in full_desk.iterdir()} - {"home"} == before - {
        "home"
    }  # where it notes which ledger a table is on


@pytest.mark.parametrize(("pressed", "made", "code"), [
    (True, "SystemError", 130), (True, "ImportError", 130), (False, "SystemError", 70), (False, "ImportError", 1),
])  # fmt: skip
def test_ctrl_c_of_which_a_library_made_another_error(pressed, made, code):
    program = f"""
import os, signal
from discreet.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
def broken(**options):
    try:
        if {pressed}:
            os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        pass
    raise {made}("while it was imported")
main.commands["demo"].callback = broken
main(["demo"])
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == code
    assert ("Stopped." in result.stderr) == pressed
    assert "Traceback" not in result.stderr


def test_a_reader_who_goes_away_is_no_error(full_desk):
    command = f"{sys.executable} -c 'from discreet.cli import main; main()' predict model.json hospital.csv"
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"], capture_output=True, text=True, check=False
    )
    assert result.returncode in (0, 141)  # 400 short lines may all be in the pipe before its end is closed
    assert result.stderr == ""
    result = subprocess.run(["bash", "-c", f"{command} > /dev/full"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1


def test_what_nobody_foresaw_is_one_line_without_what_it_says(full_desk, monkeypatch):
    def fails(*_, **__):
        raise ValueError("could not convert 'Xyzzy'")

    def calls_float(*_, **__):
        float("Xyzzy")

    class Panic(BaseException):
        """As Rust libraries raise."""

    def panics(*_, **__):
        raise Panic("Xyzzy")

    for broken in (fails, calls_float, panics):
        monkeypatch.setattr("discreet.models.rule_list.RuleList.captures", broken)
        said = run("predict", "model.json", "hospital.csv", "--out", "s.csv", code=70)
        assert said.count("\n") == 1
        assert "Xyzzy" not in said
        assert "DISCREET_TRACEBACK=1" in said
    monkeypatch.setenv("DISCREET_TRACEBACK", "1")
    assert "Xyzzy" in run("predict", "model.json", "hospital.csv", code=70)


# --- files that are none


@pytest.fixture
def odd_places(full_desk):
    os.mkfifo("fifo.csv")
    os.mkfifo("fifo")
    os.symlink("/dev/zero", "zero.csv")
    os.symlink("/dev/zero", "zero")
    Path("folder.csv").mkdir()
    Path("folder").mkdir()


@pytest.mark.parametrize("kind", ["zero", "fifo", "folder"])
def test_devices_pipes_and_folders_are_refused_at_once(odd_places, kind):
    table = f"{kind}.csv"
    for call in (
        ["fit", "list", table, "-s", "schema.toml", "-e", "1", "-o", "x"],
        ["fit", "list", "hospital.csv", "-s", kind, "-e", "1", "-o", "x"],
        ["fit", "list", "hospital.csv", "-s", "schema.toml", "-e", "1", "-o", "x", "--ledger", kind],
        ["evaluate", "model.json", "hospital.csv", "-e", "1", "--ledger", kind],
        ["evaluate", kind, "hospital.csv", "--public"],
        ["predict", kind, "hospital.csv"],
        ["predict", "model.json", table],
        ["show", kind],
        ["ledger", "show", kind],
        ["ledger", "create", kind, "-e", "1"],
        ["check", table, "-s", "schema.toml"],
        ["schema", table, "-t", "died"],
        ["plan", "list", table, "-s", "schema.toml"],
        ["show", "model.json", "--out", kind, "--force"],
    ):
        run(*call, code=1 if call[0] in ("fit", "predict") and call[1:].count("folder.csv") else 2)  # no Parquet in it


@pytest.mark.parametrize("length", [131_073, 20_000_000])
def test_a_header_with_an_endless_name_is_refused_in_a_line(full_desk, length):
    Path("long.csv").write_text("a," + "x" * length + "\n1,2\n")
    said = run("fit", "list", "long.csv", "-s", "schema.toml", "-e", "1", "-o", "x", code=1)
    assert said.count("\n") == 1
    assert "first line" in said


def test_a_header_of_many_names_is_read(full_desk):
    lines = Path("hospital.csv").read_text().splitlines()[:60]
    more = [",".join(f"another column {i:07d}" for i in range(10_000)), *[",".join("1" * 10_000)] * 59]
    Path("wide.csv").write_text("".join(f"{line},{rest}\n" for line, rest in zip(lines, more, strict=True)))
    run("fit", "list", "wide.csv", "-s", "schema.toml", "-e", "1", "-o", "x")


@pytest.mark.slow
def test_a_small_file_of_many_rows_is_learned_from_under_a_memory_limit(full_desk):
    import pyarrow as pa
    import pyarrow.parquet as pq

    block = pa.table(
        {"age": pa.array([50.0] * 10**6), "ward": ["A"] * 10**6, "smoker": ["yes"] * 10**6}
        | {"cost": [1.0] * 10**6, "died": ["no"] * 10**6}
    )
    with pq.ParquetWriter("many.parquet", block.schema) as writer:
        for _ in range(50):
            writer.write_table(block)
    assert Path("many.parquet").stat().st_size < 2 * 10**6
    limit = 3 * 10**9  # of addresses, of which the libraries alone take about 2 GB
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
        "from discreet.cli import main; main()"
    )
    call = ["fit", "list", "many.parquet", "-s", "schema.toml", "-e", "1", "-o", "x.json"]
    result = subprocess.run([sys.executable, "-c", code, *call], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert Path("x.json").exists()


def test_a_library_that_cannot_be_loaded_costs_nothing(full_desk):
    """As where there is not enough memory for it."""
    (full_desk / "opendp.py").write_text("raise Exception('Unable to load', 4711)")
    home = {**os.environ, "PYTHONPATH": os.pathsep.join([str(full_desk), os.environ.get("PYTHONPATH", "")])}
    call = [
        sys.executable,
        "-c",
        "from discreet.cli import main; main()",
        *FIT[:7],
        "-o",
        "x.json",
        "--ledger",
        "l.json",
    ]
    result = subprocess.run(call, capture_output=True, text=True, check=False, env=home)
    assert result.returncode == 1, result.stderr
    assert "OpenDP, the library that draws the noise, cannot be loaded" in " ".join(result.stderr.split())
    assert "4711" not in result.stderr + result.stdout
    assert not Ledger.open("l.json").entries
    assert not Path("x.json").exists()
    assert not list(Path().glob(".*.new"))
