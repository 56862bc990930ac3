"""The experiments: the paper's numbers in small, and a runner that can be stopped at any time."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from reproduction import comparisons, grids, runner
from reproduction.__main__ import main
from reproduction.grids import FULL, QUICK
from reproduction.measures import FALSE_POSITIVE_RATES, vulnerability_of_counts
from reproduction.methods import METHODS
from reproduction.page import Facts
from reproduction.reproduce import all_units
from reproduction.results_page import write_results_page
from reproduction.runner import Unit, rows_of, run
from reproduction.splits import split_of

UNIT = Unit("tables", "A", "COMPAS", 3, ("sm-laplace", "GreedyRL"), (0.1, 10.0))


def test_the_full_grid_is_the_papers():
    units = list(grids.accuracy(FULL))
    fits = {}
    for unit in units:
        for method in unit.methods:
            fits[method, unit.dataset] = fits.get((method, unit.dataset), 0) + (
                1 if method == "GreedyRL" else len(unit.epsilons)
            )
    assert {m for m, _ in fits} == {*grids.PUBLISHED, "mass", "GreedyRL", "optimal lists", "optimal trees"}
    assert all(
        n == {"GreedyRL": 100, "optimal lists": 400, "optimal trees": 400}.get(m, 20_000) for (m, _), n in fits.items()
    )
    assert {unit.setup for unit in units} == {"A"}


def test_units_have_files_of_their_own():
    for quick in (True, False):
        keys = [unit.key for unit in all_units(quick)]
        assert len(keys) == len(set(keys))
    experiments = {unit.experiment for unit in all_units(quick=True)}
    assert experiments - {"membership"} == {"tables", "importance", "noisy-counts", "hyper-parameters", "accuracy"}
    assert len(list(grids.hyper_parameters(QUICK))) > 0
    assert {unit.max_literals for unit in grids.noisy_counts(QUICK)} == {1, 2}


def test_what_is_measured_is_what_prediction_says():
    split = split_of("COMPAS", "B", 1)
    for method, epsilon in (("GreedyRL", np.nan), ("optimal trees", 1.0)):
        unit = Unit("tables", "B", "COMPAS", 1, (method,), (epsilon,))
        (row,) = rows_of(unit)
        model = METHODS[method](runner.Task(split, epsilon, 7, 0.05, 2, runner.seed_of(unit, method, epsilon)))
        assert row["test_accuracy"] == pytest.approx((model.model_.predict(split.X_test) == split.y_test).mean())
        assert row["train_accuracy"] == pytest.approx((model.model_.predict(split.X_train) == split.y_train).mean())
        assert row["n_rules"] == len(model.model_)


def test_mined_rules_have_their_support_on_the_training_records():
    split = split_of("COMPAS", "A", 0)
    kept = split.mined(2, 0.05)
    assert 0 < len(kept) < len(split.candidates(2))
    place = {name: i for i, name in enumerate(split.schema.names)}
    for rule in list(kept)[::7]:
        literals = [split.X_train[:, place[x.column]] == (x.op == "is true") for x in rule.antecedent]
        assert 0.05 <= np.logical_and.reduce(literals).mean() <= 0.95


def test_overlap_of_features_is_measured_where_it_is_asked_for():
    rows = rows_of(Unit("importance", "C", "COMPAS", 0, ("sm-laplace",), (50.0,), also="overlaps"))
    assert 0.0 <= rows[0]["overlap_top5"] <= 1.0
    assert rows[0]["overlap_positive"] <= rows[0]["overlap_top7"]
    assert "overlap_top5" not in rows_of(UNIT)[0]
    assert next(grids.importance(QUICK)).dataset == "Adult"


def test_attacks_are_left_out_without_their_toolbox(monkeypatch):
    monkeypatch.setattr(grids, "find_spec", lambda name: None)
    assert list(grids.membership(QUICK)) == []
    monkeypatch.setattr(grids, "find_spec", lambda name: object())
    assert {unit.also for unit in grids.membership(QUICK)} == {"attacks"}


@pytest.mark.skipif(find_spec("art") is None, reason="needs the Adversarial Robustness Toolbox")
def test_attacks_are_measured_where_they_are_asked_for():
    (row,) = rows_of(Unit("membership", "C", "German Credit", 0, ("GreedyRL",), (), also="attacks"))
    assert row["black_box_tpr"].shape == FALSE_POSITIVE_RATES.shape
    assert np.all(np.diff(row["black_box_tpr"]) >= 0)
    assert row["black_box_tpr"][-1] == 1.0
    assert 0.4 < row["label_only_accuracy"] < 0.6


def test_new_fields_of_a_unit_leave_its_file_where_it_was():
    assert "also" not in UNIT.text
    assert replace(UNIT, also="overlaps").key != UNIT.key != replace(UNIT, epsilons=(0.1,)).key


def test_vulnerability_by_hand():
    captured = np.array([[[8.0, 2.0], [5.0, 5.0]], [[6.0, 4.0], [5.0, 5.0]]])  # (training, others), class, part
    assert vulnerability_of_counts(*captured) == pytest.approx(0.5 + 0.5 * 0.5 * 0.2)
    assert vulnerability_of_counts(*captured, joint=True) == pytest.approx(0.5 + 0.5 * 0.5 * 0.1)
    assert vulnerability_of_counts(*captured[[0, 0]]) == 0.5


def test_fits_can_be_repeated():
    one, two = rows_of(UNIT), rows_of(UNIT)
    for a, b in zip(one, two, strict=True):
        assert a["test_accuracy"] == b["test_accuracy"]


@pytest.mark.slow
def test_a_small_part_of_the_papers_numbers():
    units = [unit for unit in grids.tables(QUICK._replace(seeds=12)) if unit.dataset == "COMPAS"]
    fits = pd.DataFrame([row for unit in units for row in rows_of(unit)])
    found = comparisons.compared(fits)
    assert {c.what[0] for c in found} == {"A", "B", "C"}
    for c in found:
        assert c.agrees, c
    assert not replace(found[0], measured=found[0].measured + 1.0).agrees


@pytest.mark.slow
def test_all_of_the_papers_numbers(tmp_path):
    units = list(grids.tables(FULL))
    fits = pd.read_parquet(run(units, tmp_path))
    for c in comparisons.compared(fits):
        assert c.agrees, c


SMALL = [Unit("tables", "A", "COMPAS", seed, ("sm-laplace", "GreedyRL"), (0.1, 10.0)) for seed in range(4)]


@pytest.mark.slow
def test_nothing_is_done_twice(tmp_path, monkeypatch):
    done = []
    path = run(SMALL[:2], tmp_path, jobs=2, progress=done.append)
    assert len(pd.read_parquet(path)) == 6
    written = {p: p.stat().st_mtime_ns for p in (tmp_path / "parts").iterdir()}
    seen = []
    fits = pd.read_parquet(run(SMALL, tmp_path, jobs=2, progress=seen.append))
    assert len(fits) == 12
    assert seen[0] == 6
    assert sum(seen) == 12
    assert all(p.stat().st_mtime_ns == t for p, t in written.items())
    monkeypatch.setattr(runner, "in_processes", lambda *_: pytest.fail("everything was done"))
    assert pd.read_parquet(run(SMALL, tmp_path)).equals(fits)


SCRIPT = """
import sys
from pathlib import Path
from reproduction.runner import Unit, run
if __name__ == "__main__":
    units = [Unit("tables", "A", "COMPAS", seed, ("sm-laplace",), (0.1, 10.0) * 40) for seed in range(40)]
    run(units, Path(sys.argv[1]), jobs=2)
"""


HERE = str(Path(__file__).parents[2])


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path, how):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, script, tmp_path],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (HERE, os.environ.get("PYTHONPATH", ""))))},
        start_new_session=True,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "parts").glob("*.parquet"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    if how == signal.SIGKILL:
        os.killpg(process.pid, how)
    else:
        process.send_signal(how)
    process.wait(timeout=30)
    parts = {p.name: p.read_bytes() for p in (tmp_path / "parts").glob("*.parquet")}
    assert 2 <= len(parts) < 40
    units = [Unit("tables", "A", "COMPAS", seed, ("sm-laplace",), (0.1, 10.0) * 40) for seed in range(6)]
    fits = pd.read_parquet(run(units, tmp_path, jobs=2))
    assert len(fits) == 6 * 80
    assert all((tmp_path / "parts" / name).read_bytes() == content for name, content in parts.items())


def test_the_command(tmp_path, monkeypatch):
    fits = pd.DataFrame([row for unit in SMALL for row in rows_of(unit)])
    monkeypatch.setattr("reproduction.reproduce.reproduce", lambda *_: fits)
    monkeypatch.setattr(
        "reproduction.results_page.write_results_page", lambda fits, folder, facts: folder / "index.html"
    )
    result = CliRunner().invoke(main, ["reproduction", "--quick", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "expected" in result.output
    assert "12 fits; read" in result.output


@pytest.mark.slow
def test_the_page_from_fits_to_verdicts(tmp_path):
    units = [unit for unit in all_units(quick=True) if unit.dataset != "Adult" or unit.experiment == "tables"]
    units = [unit for unit in units if unit.seed < 2 and unit.methods not in {("optimal lists",), ("optimal trees",)}]
    fits = pd.DataFrame([row for unit in units for row in rows_of(replace(unit, epsilons=unit.epsilons[::3]))])
    adult = fits[(fits.dataset == "COMPAS") & (fits.experiment != "tables")].assign(dataset="Adult")
    page = write_results_page(pd.concat([fits, adult]), tmp_path, Facts("python -m reproduction", "today", {}, 1.0))
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") >= 8
    for claim in ("at least as good", "larger epsilon", "noisy counts", "more vulnerable", "whatever the table"):
        assert claim in text
    assert (tmp_path / "accuracy-compas.png").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick" / "index.html").write_text("precious")
    result = CliRunner().invoke(main, ["reproduction", "--quick", "-o", str(tmp_path)])
    assert result.exit_code == 2
    assert "something other than results" in result.output
    assert (tmp_path / "quick" / "index.html").read_text() == "precious"
