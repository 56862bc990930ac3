"""Whatever a file holds, it is read or refused: no other error, no hang, no change of the file, and no code that runs."""

import ast
import os
import pickle
import secrets
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import discreet
from discreet import RuleList, Schema
from discreet._utils.errors import RuleError, SchemaError

from .support import fuzzing
from .support.slices import examples

COUNT = examples(2_000)
NAMES = [
    *("schema", "schema file", "rules", "model", "tree text", "tree", "model file", "evaluation", "statement"),
    "ledger",
]
SEED = 0 if os.environ.get("CI") else secrets.randbelow(10**9)


def reader(name, folder):
    (found,) = (r for r in fuzzing.readers(folder) if r.name == name)
    return found


def test_all_readers_are_here(tmp_path):
    assert [r.name for r in fuzzing.readers(tmp_path)] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_valid_documents_are_read(name, tmp_path):
    for seed in reader(name, tmp_path).seeds:
        one = reader(name, tmp_path)
        assert fuzzing.try_input(one, one.given(seed), tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_changed_documents_are_read_or_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    tally = fuzzing.fuzz(reader(name, tmp_path), SEED, range(COUNT), tmp_path)
    assert tally.read + tally.refused == COUNT
    assert min(tally.read, tally.refused) > COUNT / 20, "the inputs are all alike"


def test_inputs_can_be_made_again(tmp_path):
    for one, other in zip(fuzzing.readers(tmp_path), fuzzing.readers(tmp_path), strict=True):
        first = [one.make(5, n) for n in range(200)]
        assert [other.make(5, n) for n in range(200)] == first
        assert [other.make(6, n) for n in range(200)] != first


def never_ends(text):
    start = time.process_time()
    while time.process_time() < start + 0.2:
        pass
    raise RuleError("after a long time")


@pytest.mark.parametrize(
    ("twin", "found"),
    [
        ({"read": lambda text: eval(text)}, "Error"),
        ({"read": lambda text: {}[text]}, "KeyError"),
        ({"read": never_ends}, "it took"),
        ({"error": ValueError}, "another error"),
        ({"check": lambda rules: fuzzing.same_rules(rules.rules[0])}, "Error"),
    ],
)
def test_a_broken_twin_is_found(twin, found, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzzing, "MOST_SECONDS", 0.1)
    with pytest.raises(AssertionError, match=found):
        fuzzing.fuzz(replace(reader("model", tmp_path), **twin), 1, range(200), tmp_path)


def test_a_long_message_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet._utils.errors.LONGEST_MESSAGE", 10**9)
    with pytest.raises(AssertionError, match="a long message"):
        fuzzing.fuzz(reader("rules", tmp_path), 1, range(100), tmp_path)


def test_a_reader_that_changes_its_file_is_found(tmp_path):
    def read(path):
        path.write_text("")
        return Schema.of_booleans(["a"])

    with pytest.raises(AssertionError, match="the file was changed"):
        fuzzing.fuzz(replace(reader("schema file", tmp_path), read=read), 1, range(100, 110), tmp_path)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("if a <= " + "1" * 100_000 + "x then 1 else 0", "expected a number"),  # took hours
        ("if " + " and ".join(f"c = v{i}" for i in range(10_000)) + " then 1 else 0", None),  # took 48 seconds
        ("if " + " and ".join(f"c in [{i}, {i + 1}]" for i in range(10_000)) + " then 1 else 0", None),  # 21 seconds
    ],
)
def test_long_rules_are_read_in_no_time(text, error):
    start = time.process_time()
    if error is None:
        assert len(RuleList.parse(text)) == 2
    else:
        with pytest.raises(RuleError, match=error):
            RuleList.parse(text)
    assert time.process_time() - start < 5


def test_many_categories_are_encoded_in_no_time():
    rules = RuleList.parse("if " + " and ".join(f"c != {i}" for i in range(5_000)) + " then 1 else 0")
    start = time.process_time()
    assert rules.predict({"c": [*range(5_000), -1]}).sum() == 1
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("inferred = 'yes'\n[columns.a]\ntype = 'boolean'", "true or false"),  # was read as not inferred
        ("a = " + "9" * 5_000, "not valid TOML"),
        ("[columns.a]\ntype = 'categorical'\ncategories = [0x" + "f" * 5_000 + "]", "300 digits"),
        ("[target]\nclasses = [nan, 1]\n[columns.a]\ntype = 'boolean'", "finite"),
        ("[columns.a]\ntype = 'boolean'\noutside = 0x" + "f" * 5_000, "a very long int"),
        ("a." * 20_000 + "b = 1", "64 parts"),
    ],
)
def test_schemas_that_were_read_wrongly_once(text, error):
    with pytest.raises(SchemaError, match=error):
        Schema.from_toml(text)


WATCHED = """
import os, sys
from pathlib import Path
from tests.support import fuzzing

folder, twin = Path(sys.argv[1]), sys.argv[2]
readers = fuzzing.readers(folder)
heard, listening = set(), False

def hook(event, arguments):
    if not listening:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        return heard.add("open to write" if writes else "open to read")
    heard.add(event)

sys.addaudithook(hook)
for reader in readers:
    read = eval if twin == "eval" else __import__("pickle").loads if twin == "pickle" else reader.read
    for number in range(-20, 500):
        given = reader.given(reader.seeds[0]) if number < 0 else reader.make("watched", number)
        if reader.as_file:
            (folder / "file").write_bytes(given)
        if twin == "pickle":
            given = b"cos\\nsystem\\n."
        listening = number >= 0  # what is imported at the first use is imported by then
        try:
            read(folder / "file" if reader.as_file and not twin else given)
        except (ValueError, SyntaxError, NameError, TypeError, OverflowError, RecursionError, MemoryError):
            pass
        finally:
            listening = False
    if twin:
        break
print("\\n".join(sorted(heard)))
"""
EXPECTED = {
    "open to read",
    "sqlite3.connect",
    "sqlite3.connect/handle",
}  # which opens a ledger's file itself; see the test below
ALLOWED = EXPECTED | {"sys._getframe", "sys._getframemodulename"}  # Python's typing asks who is calling


def events(folder, twin=""):
    """What Python says happened while the readers were at work (audit events)."""
    home = Path(__file__).parents[1]
    path = os.pathsep.join([str(home), str(Path(discreet.__file__).parents[1])])
    command = [sys.executable, "-W", "ignore", "-c", WATCHED, str(folder), twin]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True, timeout=300
    )
    return set(done.stdout.split("\n")) - {""}


def test_reading_runs_no_code_and_writes_nothing(tmp_path):
    assert EXPECTED <= events(tmp_path) <= ALLOWED


@pytest.mark.parametrize(("twin", "event"), [("eval", "compile"), ("pickle", "pickle.find_class")])
def test_a_reader_that_runs_code_is_found(tmp_path, twin, event):
    assert event in events(tmp_path, twin) - ALLOWED


MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "yaml",
    "dill",
    "cloudpickle",
    "joblib",
    "runpy",
    "code",
    "ctypes",
    "subprocess",
}
CALLS = {"eval", "exec", "compile", "__import__", "execfile", "loadtxt", "fromregex", "system", "popen", "read_pickle"}


def ways_to_run_code(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] + ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
            yield from (name for name in names if name.split(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            function = node.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            of = getattr(
                function, "value", None
            )  # re.compile(...), and an engine's connection.compile(...), which writes SQL
            is_harmless = getattr(of, "id", getattr(of, "attr", "")) in ("re", "connection")
            if name in CALLS and not is_harmless:
                yield name
            yield from (k.arg for k in node.keywords if k.arg == "allow_pickle" and getattr(k.value, "value", True))


def test_nothing_in_the_package_reads_code():
    for path in Path(discreet.__file__).parent.rglob("*.py"):
        found = list(ways_to_run_code(ast.parse(path.read_text(encoding="utf-8"))))
        if path.name == "peers_environment.py":  # starts pip and a script of ours, and reads no file that others write
            found = [name for name in found if name != "subprocess"]
        assert not found, path
    twins = (
        "import pickle",
        "from yaml import load",
        "eval('1')",
        "numpy.load('x', allow_pickle=True)",
        "os.system('')",
    )
    for twin in twins:
        assert list(ways_to_run_code(ast.parse(twin))), twin


def test_a_pickle_is_no_model():
    rules = RuleList.parse("if a then 1 else 0")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(RuleError, match="not valid JSON"):
            RuleList.from_json(pickle.dumps(rules, protocol))
