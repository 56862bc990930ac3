"""Whatever columns, classes, categories and files are called: the terminal shows it and does not obey it."""

import ast
import json
import os
import pty
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet.cli
from discreet import Categorical, DPGreedyRuleListClassifier, Numeric, SavedModel, Schema
from discreet.cli import main
from discreet.cli.terminal import escaped

NAUGHTY = "\x1b[31m\x1b]0;title\x07\x9b2J\x7f\u202etxt\u2066\u2028\x85\r\b"
PRICE, WEIGHT, YES, WARD = f"price [/kg]{NAUGHTY}", "weight [kg]", f"yes [/] [link=x]{NAUGHTY}", f"[bold]A{NAUGHTY}"
TARGET = f"[red]died{NAUGHTY}"
TABLE, MODEL = f"t{NAUGHTY}[bold].parquet", f"m{NAUGHTY}[bold].json"
TREE, A_TREE = f"tree{NAUGHTY}[bold].json", ("--max-depth", "2", "--split", "0.9", "--verbose")
SCHEMA = Schema(
    (Numeric(PRICE, cuts=[3, 5], low=0, high=9), Numeric(WEIGHT, cuts=[3]), Categorical("c", categories=[WARD, "B"])),
    target=TARGET,
    classes=["no", YES],
)


def stands_still(output):
    """Nothing but characters that can be seen, and line breaks."""
    return escaped(output) == output


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with a hostile table, schema and model."""
    folder = tmp_path_factory.mktemp("desk")
    rng = np.random.default_rng(0)
    price = rng.integers(0, 10, 300)
    frame = pd.DataFrame({PRICE: price, WEIGHT: price % 4, "c": rng.choice([WARD, "B"], 300)})
    frame[TARGET] = np.where(price > 5, YES, "no")
    frame.to_parquet(folder / TABLE)
    SCHEMA.save(folder / "schema.toml")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DISCREET_HOME", str(folder / "home"))
        yield folder


def said(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments], color=True)  # as to a terminal, which takes colours
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


COMMANDS = {
    "schema": [["schema", TABLE, "-t", TARGET, "-o", f"drawn{NAUGHTY}.toml", "--public-table"]],
    "plan": [["plan", "list", "-s", "schema.toml", "-n", "1000", "-o", f"curve{NAUGHTY}.svg"]],
    "ledger": [["ledger", "create", "l\x1b.json", "-e", "99"], ["ledger", "show", "l\x1b.json"]],
    "check": [["check", TABLE, "-s", "schema.toml"]],
    "fit": [
        ["fit", "list", TABLE, "-s", "schema.toml", "-e", "9", "-o", MODEL, "--ledger", "l\x1b.json", "--public-table"],
        [
            "fit",
            "list",
            TABLE,
            "-s",
            "schema.toml",
            "-e",
            "9",
            "-o",
            "m2.json",
            "--ledger",
            "l\x1b.json",
            "--public-table",
        ],
        [
            *(
                "fit",
                "tree",
                TABLE,
                "-s",
                "schema.toml",
                "-e",
                "9",
                "-o",
                TREE,
                "--ledger",
                "l\x1b.json",
                "--public-table",
            ),
            *A_TREE,
        ],
    ],
    "show": [["show", MODEL], ["show", TREE], ["show", MODEL, "--format", "sql", "--out", f"x{NAUGHTY}.sql"]],
    "predict": [["predict", MODEL, TABLE, "--out", f"scores{NAUGHTY}.csv"]],
    "evaluate": [["evaluate", MODEL, TABLE, "--public"]],
    "release": [
        ["release", MODEL, "-o", f"out{NAUGHTY}", "--table-name", "[red]x[/]"],
        ["release", TREE, "-o", "out tree"],
    ],
    "verify": [["verify", f"out{NAUGHTY}"], ["verify", "out tree", "--ledger", "l\x1b.json"]],
    "demo": [],  # takes no names
    "audit": [],
}


def test_every_command_shows_hostile_names_and_obeys_none(desk):
    assert list(COMMANDS) == list(main.commands)
    outputs = {}
    for name, calls in COMMANDS.items():
        outputs[name] = "".join(said(*call) for call in calls)
        assert stands_still(outputs[name]), name
    for name in ("check", "fit", "show", "ledger"):
        assert "\\x1b" in outputs[name] or name == "ledger", name
    assert "[kg]" in outputs["check"]
    assert "[/kg]" in outputs["check"]
    assert "[link=x]" in outputs["evaluate"]
    assert "[red]died" in outputs["show"]


def test_json_stays_json_with_the_real_names(desk):
    if not Path(MODEL).exists():
        said(*COMMANDS["fit"][0][:-3], "--public-table")
    for call in (["show", MODEL, "--json"], ["check", TABLE, "-s", "schema.toml", "--json"]):
        output = said(*call)
        assert stands_still(output)
        assert json.dumps(PRICE) in output
        json.loads(output)
    assert YES in json.loads(said("evaluate", MODEL, TABLE, "--public", "--json"))["classes"]


@pytest.mark.parametrize(
    "call",
    [
        ["fit", "list", "none\x1b[2J.csv", "-e", "1", "-o", "x.json"],
        ["fit", "list", TABLE, "-e", "1", "-o", "x.json", "--\x1b[2J"],
        ["fit", "list", TABLE, "-s", "schema.toml", "-e", "1", "-o", "x.json", "--exclude", "\x1b[2J\u202e"],
        ["fit", "list", TABLE, "-s", "schema.toml", "-e", "1", "-o", "x.json", "--target", "\x1b[2J\u202e"],
        ["fit", "list", TABLE, "-s", "schema.toml", "-e", "1", "-o", "nowhere\x1b/x.json"],
        ["show", "schema.toml\x1b"],
        ["show", "odd\x1b.json"],
        ["ledger", "show", "odd\x1b.json"],
        ["check", TABLE, "-s", "odd\x1b.json"],
        ["check", "odd\x1b.csv", "-s", "schema.toml"],
        ["none\x1b[2J"],
    ],
)
def test_errors_show_hostile_names_and_obey_none(desk, call):
    Path("odd\x1b.json").write_text("{}")
    Path("odd\x1b.csv").write_text("a\x1b[2J,b\nx,y\n")
    result = CliRunner().invoke(main, call, color=True)
    assert result.exit_code in (1, 2)
    assert "Error" in result.output
    assert stands_still(result.output)


SPOOF = "x\nError: all is well"


@pytest.mark.parametrize(
    "call",
    [
        ["show", "spoof.json", "--share-of", "none"],
        ["fit", "list", TABLE, "-s", "spoof.toml", "-e", "1", "-o", "x.json", "--class-weight", "none=2"],
        ["show", "spoof.json", "--out", SPOOF],
        ["show", "spoof.json", f"--out=./{SPOOF}"],
        ["show", SPOOF],
        ["ledger", "show", SPOOF],
        ["fit", "list", TABLE, "-s", SPOOF, "-e", "1", "-o", "x.json"],
        ["fit", "list", TABLE, "-s", "schema.toml", "-e", "1", "-o", f"{SPOOF}/x.json"],
        ["fit", "list", TABLE, "-s", "schema.toml", "-e", "1", "-o", "x.json", "--ledger", f"no{SPOOF}"],
    ],
)
def test_no_name_looks_like_a_line_of_ours(desk, call):
    Path(SPOOF).write_text("{}")
    spoofed = replace(SCHEMA, classes=("no", SPOOF))
    spoofed.save("spoof.toml")
    clf = DPGreedyRuleListClassifier(schema=spoofed).fit(
        pd.read_parquet(TABLE).drop(columns=TARGET), ["no", SPOOF] * 150
    )
    SavedModel.of(clf).save("spoof.json")
    output = CliRunner().invoke(main, call).output
    assert [line[:6] for line in output.splitlines()].count("Error:") == 1


def test_warnings_are_one_line_that_obeys_nothing(desk, monkeypatch):
    def warns(*_):
        warnings.warn("look\x1b[2J", stacklevel=1)
        return SavedModel.from_json(json.dumps({}))

    monkeypatch.setattr(SavedModel, "load", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        output = said("show", "schema.toml", code=1)
    assert "Warning: look\\x1b[2J\n" in output
    assert stands_still(output)


def on_a_terminal(*arguments):
    """What a terminal gets, byte by byte."""
    reader, writer = pty.openpty()
    code = "import sys; from discreet.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.DEVNULL, stdout=writer, stderr=writer,
        env=os.environ | {"TERM": "dumb", "NO_COLOR": "1"},
    )  # fmt: skip
    os.close(writer)
    output = b""
    while True:
        try:
            part = os.read(reader, 1 << 16)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        output += part
    os.close(reader)
    assert process.wait() == 0, output
    return output.decode().replace("\r\n", "\n")


def test_what_is_for_programs_keeps_its_names_in_a_pipe_and_shows_them_on_a_terminal(desk):
    if not Path(MODEL).exists():
        said(*COMMANDS["fit"][0][:-3], "--public-table")
    call = ["show", MODEL, "--format", "sql"]
    assert YES in said(*call)
    output = on_a_terminal(*call)
    assert stands_still(output)
    assert "\\x1b[31m" in output
    assert "--out" in output
    scores = said("predict", MODEL, TABLE)
    assert YES in scores
    assert scores.count("\n") >= 301


def test_nothing_is_printed_past_the_terminal_module():
    """Neither click nor rich prints names as they are; so only one module uses their ways to print."""
    for path in Path(discreet.cli.__file__).parent.glob("*.py"):
        if path.name == "terminal.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        used |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        assert not used & {"echo", "secho", "print_exception", "Console", "print_json"}, path.name
        called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert "print" not in called, path.name


def test_escaped_leaves_what_can_be_seen():
    assert escaped("é ± [bold] 漢字 ä\n") == "é ± [bold] 漢字 ä\n"
    assert escaped("\ud800") == "\\ud800"
    assert escaped("a\n\tb", keep="") == "a\\n\\tb"
