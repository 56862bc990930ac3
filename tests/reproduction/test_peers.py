"""Classifiers of other libraries in an environment of their own: here mostly a made-up child, which fits nothing."""

import ast
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from reproduction import peers, peers_child, peers_environment
from reproduction.__main__ import main
from reproduction.grids import FULL, QUICK
from reproduction.page import Table
from reproduction.peers import EPSILONS, OURS, PEERS, TREES
from reproduction.peers_environment import PeersError, environment, fit_in
from reproduction.reproduce import all_units
from reproduction.runner import Unit, rows_of, run

from ..support.made_up_fits import made_up_fits

THIS = Path(sys.executable)
UNITS = [Unit("peers", "A", "German Credit", seed, PEERS, EPSILONS) for seed in range(3)]
# Answers with numbers that come from the question, notes what it was asked, and says when it ends by itself.
MADE_UP = """
import atexit, json, os, sys, time
from pathlib import Path
here = Path(__file__).parent
atexit.register((here / f"ended-{os.getpid()}").touch)  # also where nobody is left to answer
for line in sys.stdin:
    question = json.loads(line)
    assert Path(question["records"]).exists()
    if (here / "break").exists():
        sys.exit("the made-up child broke")
    time.sleep(0.02)
    with open(here / "asked.txt", "a") as notes:
        notes.write(Path(question["records"]).stem + "\\n")
    row = {"train_accuracy": 0.75, "seconds": 0.1}
    rows = [row | {"method": m, "epsilon": e, "test_accuracy": s % 1000 / 1000} for m, e, s in question["fits"]]
    print(json.dumps(rows), flush=True)
"""


@pytest.fixture
def child(tmp_path):
    path = tmp_path / "child.py"
    path.write_text(MADE_UP)
    return path


def fitted(units, folder, child, progress=lambda fits: None):
    return pd.read_parquet(run(units, folder, 2, progress, partial(fit_in, THIS, script=child)))


def test_the_grid():
    for effort, splits in ((FULL, 20), (QUICK, 2)):
        units = list(peers.units(effort))
        assert {unit.seed for unit in units} == set(range(splits))
        assert {(unit.setup, unit.methods) for unit in units} == {("A", TREES), ("A", OURS), ("A", PEERS)}
        assert len(units) == 3 * 3 * splits
    assert not any(unit.experiment == "peers" for unit in all_units(quick=True))
    both = [unit.key for unit in all_units(quick=True, with_peers=True)]
    assert len(set(both)) == len(both) == len(all_units(quick=True)) + 18


def test_rows_are_those_of_other_fits_and_none_is_done_twice(tmp_path, child):
    seen, again = [], []
    fits = fitted(UNITS[:2], tmp_path, child, seen.append)
    assert len(fits) == sum(seen) == 2 * len(PEERS) * len(EPSILONS)
    assert set(fits.columns) <= rows_of(Unit("peers", "A", "German Credit", 0, ("mass",), (1.0,)))[0].keys()
    assert set(zip(fits.method, fits.epsilon, fits.seed, strict=True)) == {
        (m, e, s) for m in PEERS for e in EPSILONS for s in (0, 1)
    }
    assert fits.test_accuracy.nunique() > 20  # every fit has a seed of its own
    assert len(fitted(UNITS, tmp_path, child, again.append)) == 36
    assert again == [24, 12]
    asked = (tmp_path / "asked.txt").read_text().split()
    assert sorted(asked) == sorted(unit.key for unit in UNITS)


def test_a_child_that_breaks_is_quoted_and_what_was_done_is_kept(tmp_path, child):
    fitted(UNITS[:1], tmp_path, child)
    (tmp_path / "break").touch()
    with pytest.raises(PeersError, match=r"(?s)is kept.*the made-up child broke"):
        fitted(UNITS, tmp_path, child)
    (tmp_path / "break").unlink()
    assert len(fitted(UNITS, tmp_path, child)) == 36
    assert len((tmp_path / "asked.txt").read_text().split()) == 3


SCRIPT = """
import sys
from functools import partial
from pathlib import Path
from reproduction.peers_environment import fit_in
from reproduction.runner import run
from tests.reproduction.test_peers import MANY
if __name__ == "__main__":
    here = Path(sys.argv[1])
    run(MANY, here, 2, work=partial(fit_in, Path(sys.executable), script=here / "child.py"))
"""
MANY = [Unit("peers", "A", "German Credit", seed, PEERS, EPSILONS) for seed in range(300)]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path, child, how):
    (tmp_path / "script.py").write_text(SCRIPT)
    places = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    home = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    process = subprocess.Popen(
        [THIS, tmp_path / "script.py", tmp_path],
        env=home,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "parts").glob("*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(how)  # to the parent alone: children must not outlive it
    process.wait(timeout=30)
    if how == signal.SIGKILL:
        while len(list(tmp_path.glob("ended-*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(list(tmp_path.glob("ended-*"))) == 2
    done = {path.stem: path.read_bytes() for path in (tmp_path / "parts").glob("*.parquet")}
    assert 3 <= len(done) < len(MANY)
    units = [unit for unit in MANY if unit.key in done] + [unit for unit in MANY if unit.key not in done][:4]
    fits = fitted(units, tmp_path, child)
    assert len(fits) == len(units) * 12
    asked = (tmp_path / "asked.txt").read_text().split()
    assert all(asked.count(key) == 1 for key in done)
    assert all((tmp_path / "parts" / f"{key}.parquet").read_bytes() == content for key, content in done.items())


@pytest.fixture
def commands(monkeypatch):
    """Commands that were to be run; the last word of one that is to fail."""
    seen = []

    def fake(command, **_):
        seen.append(command)
        if "venv" in command:
            python = Path(command[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True, exist_ok=True)
            python.touch()
        failed = "pip" in command and seen[0] == "no network"
        return subprocess.CompletedProcess(command, int(failed), "", "ERROR: no such thing as diffprivlib")

    monkeypatch.setattr(peers_environment.subprocess, "run", fake)
    monkeypatch.setattr(peers_environment.os, "name", "posix")
    return seen


def test_the_environment_is_made_once(tmp_path, commands):
    folder = tmp_path / "environment"
    python = environment(folder)
    assert python.exists()
    assert [("venv" in c, "pip" in c) for c in commands] == [(True, False), (False, True)]
    assert environment(folder) == python
    assert len(commands) == 2
    (folder / "installed.txt").write_text("diffprivlib==0.1")  # of an older release
    environment(folder)
    assert len(commands) == 4


def test_an_installation_that_fails_is_quoted_and_tried_again(tmp_path, commands):
    commands.append("no network")
    for _ in range(2):
        with pytest.raises(PeersError, match=r"(?s)leave --peers out.*no such thing as diffprivlib"):
            environment(tmp_path / "environment")
    commands[0] = "a network"
    assert environment(tmp_path / "environment").exists()


def test_the_command_says_so_and_loses_nothing(tmp_path, commands, monkeypatch):
    commands.append("no network")
    result = CliRunner().invoke(main, ["reproduction", "--quick", "--peers", "-o", str(tmp_path)])
    assert result.exit_code == 1
    assert "leave --peers out" in result.output
    commands[0] = "a network"
    fits = made_up_fits(peers=True)
    asked = []
    monkeypatch.setattr("reproduction.reproduce.reproduce", lambda *given: asked.append(given[-1]) or fits)
    monkeypatch.setattr("reproduction.results_page.write_results_page", lambda fits, folder, facts: Path(facts.command))
    for option in ([], ["--peers"]):
        result = CliRunner().invoke(main, ["reproduction", "--quick", "-o", str(tmp_path), *option])
        assert result.exit_code == 0, result.output
        assert " ".join(["read python -m reproduction --quick", *option]) in " ".join(result.output.split())
    assert asked == [None, tmp_path / "peers-environment" / "bin" / "python"]


def test_the_child_imports_nothing_of_ours():
    """And nothing at all before it is asked, so that its names can be read here."""
    tree = ast.parse(Path(peers_child.__file__).read_text(encoding="utf-8"))
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {a.name for n in imports if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module.split(".")[0] for n in imports if isinstance(n, ast.ImportFrom)}
    assert all(n.level == 0 for n in imports if isinstance(n, ast.ImportFrom))
    assert names - sys.stdlib_module_names == {"numpy", "sklearn", "diffprivlib", "interpret"}
    assert set(peers_child.MAKERS) == set(PEERS)


def test_the_table_has_means_of_every_method():
    fits = made_up_fits(peers=True)
    section = peers.section(fits)
    tables = [part for part in section.body if isinstance(part, Table)]
    assert [table.caption for table in tables] == [f"{d}, 5 splits" for d in ("COMPAS", "Adult", "German Credit")]
    rows = {row[0]: row[1:] for row in tables[0].rows}
    assert list(rows) == [*TREES, *OURS, *PEERS]
    assert rows["optimal lists"] == ("–", "–", "–")  # there are none among these
    mine = fits.query("experiment == 'peers' and dataset == 'COMPAS' and method == 'DP-EBM' and epsilon == 1")
    shown = [float(number) for number in re.findall(r"[\d.]+", rows["DP-EBM"][1])]
    np.testing.assert_allclose(shown, [mine.test_accuracy.mean(), mine.test_accuracy.sem()], rtol=0.03)


@pytest.mark.slow
def test_the_libraries_themselves(tmp_path):
    """Installs them, which needs a package index; then one split."""
    try:
        python = environment(tmp_path / "environment")
    except PeersError as error:
        pytest.skip(f"the libraries cannot be installed here: {error}")
    assert environment(tmp_path / "environment") == python
    one, two = (pd.read_parquet(run(UNITS[:1], tmp_path / name, 2, work=partial(fit_in, python))) for name in "ab")
    assert len(one) == len(PEERS) * len(EPSILONS)
    assert one.drop(columns="seconds").equals(two.drop(columns="seconds"))
    assert one.test_accuracy.between(0.25, 0.9).all()
    assert one[one.epsilon == 10].test_accuracy.mean() > 0.6
    # a look at the records is an error: here, because what is public was not given
    code = "import runpy, numpy as np; runpy.run_path({!r})['strict']()\nfrom {} import {} as M\nM().fit(np.eye(4), [0, 1, 0, 1])"
    for where, name in (
        ("diffprivlib.models", "DecisionTreeClassifier"),
        ("diffprivlib.models", "LogisticRegression"),
        ("interpret.privacy", "DPExplainableBoostingClassifier"),
    ):
        command = [python, "-I", "-c", code.format(peers_child.__file__, where, name)]
        failed = subprocess.run(command, capture_output=True, text=True, check=False)
        assert failed.returncode == 1
        assert re.search("PrivacyLeakWarning|Possible privacy violation", failed.stderr), failed.stderr
