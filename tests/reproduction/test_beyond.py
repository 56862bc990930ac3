"""`python -m reproduction --beyond`: its grid, its figures, its verdicts, and what is written for the documentation."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from reproduction import beyond, conclusion
from reproduction.__main__ import main
from reproduction.beyond_page import accuracy, table, write_beyond_page
from reproduction.methods import METHODS, WITHOUT_PRIVACY
from reproduction.page import Facts
from reproduction.runner import Unit, rows_of
from reproduction.setups import DATASETS
from reproduction.splits import split_of
from tools import beyond_docs

from discreet import OptimalTreeClassifier

SHOWN = (*beyond.LISTS, *beyond.TREES, *beyond.FORESTS, *beyond.RANDOM_FORESTS, *beyond.NOT_PRIVATE)


def made_up(splits=4, better=None):
    """A row for each fit of the grid, with a made-up accuracy: a little noise, and more for one method."""
    rng = np.random.default_rng(0)
    rows = []
    for unit in beyond.units(quick=False):
        if unit.seed >= splits:
            break
        for method in unit.methods:
            for epsilon in (np.nan,) if method in WITHOUT_PRIVACY else unit.epsilons:
                value = 0.7 + 0.001 * rng.standard_normal() + (0.1 if method == better else 0.0)
                names = ("experiment", "setup", "dataset", "method", "epsilon", "seed", "test_accuracy", "seconds")
                known = ("beyond", unit.setup, unit.dataset, method, epsilon, unit.seed, value, 0.1)
                rows.append(dict(zip(names, known, strict=True)))
    return pd.DataFrame(rows)


FITS = made_up()
FACTS = Facts("python -m reproduction --beyond", "2026-11-17", {"discreet": "0"}, 61.0)


def test_the_grid_has_every_method_on_every_dataset_and_both_kinds_of_columns():
    units = list(beyond.units(quick=False))
    assert len({unit.key for unit in units}) == len(units)
    for method in SHOWN:
        assert method in METHODS
        mine = {(u.dataset, u.setup, u.seed) for u in units if method in u.methods}
        assert len(mine) == len(DATASETS) * 2 * 100
    assert {unit.seed for unit in beyond.units(quick=True)} == {0, 1}


def test_units_on_all_columns_are_measured_as_prediction_says():
    split = split_of("German Credit", "D", 0)
    unit = Unit("beyond", "D", "German Credit", 0, ("GreedyRL", "best tree"), (), max_literals=1, max_depth=2)
    rows = rows_of(unit)
    assert rows[1]["train_accuracy"] >= rows[0]["train_accuracy"] - 0.05
    best = OptimalTreeClassifier(max_depth=2, schema=split.schema).fit(split.X_train, split.y_train)
    assert rows[1]["train_accuracy"] == pytest.approx(best.score(split.X_train, split.y_train))
    assert rows[1]["test_accuracy"] == pytest.approx(best.score(split.X_test, split.y_test))


def test_a_method_that_is_better_everywhere_is_said_to_be():
    tally = conclusion.compare(made_up(better="inverse"), "inverse", "mass")
    assert tally[:3] == (18, 0, 18)
    assert tally.word == "**Yes**"
    assert tally.points == pytest.approx(10.0, abs=0.2)
    other = conclusion.compare(made_up(better="inverse"), "mass", "inverse")
    assert other[:3] == (0, 18, 18)
    assert other.word == "**No**"


@pytest.mark.slow
def test_verdicts_are_computed_and_quote_the_paper():
    said = {s.quoted: s.verdict for s in conclusion.sentences(made_up(better="forest, shares"))}
    assert said["random forests"].startswith(
        "**Yes**. The best of our private forests (`forest, shares`) is ahead in 18"
    )
    assert conclusion.sentences(FITS)[5].quoted == "random forests"
    assert not conclusion.sentences(FITS)[5].verdict.startswith("**Yes**")
    assert len(said) == 11


def test_every_method_is_named_in_the_figure_and_in_the_table():
    figure = accuracy(FITS, "Adult", "D")
    written = {text.get_text().removesuffix(" (not private)") for axis in figure.axes for text in axis.texts}
    assert set(SHOWN) <= written
    rows = table(FITS, "D").rows
    assert [row[0] for row in rows] == list(SHOWN)
    assert all(len(row) == 1 + 3 * len(DATASETS) and "–" not in row for row in rows)


@pytest.mark.slow
def test_the_page_and_the_markdown_are_written(tmp_path):
    page = write_beyond_page(FITS, tmp_path, FACTS).read_text(encoding="utf-8")
    text = (tmp_path / "beyond.md").read_text(encoding="utf-8")
    assert "Fletcher and Islam" in page
    assert "**" not in page
    assert text.count(".svg)") == len(list(tmp_path.glob("*.svg"))) == 6
    assert "1 min 1 s" in text
    assert all(line.count("|") == 11 for line in text.splitlines() if line.startswith("| sm-laplace"))


@pytest.mark.slow
def test_what_was_written_is_put_between_the_marks_of_the_documentation(tmp_path):
    docs, folder = tmp_path / "docs", tmp_path / "beyond-full"
    docs.mkdir()
    write_beyond_page(FITS, folder, FACTS)
    page = docs / "reproduction.md"
    page.write_text(f"before\n{beyond_docs.BEGIN}{beyond_docs.END}after\n", encoding="utf-8")
    for _ in range(2):
        beyond_docs.put(folder, docs)
        text = page.read_text(encoding="utf-8")
        assert text.startswith("before\n")
        assert text.endswith("after\n")
        assert text.count("random forest, proved") == 2
    assert (docs / "beyond-adult-d.svg").read_bytes() == (folder / "beyond-adult-d.svg").read_bytes()
    real = Path(__file__).parents[2] / "docs" / "reproduction.md"
    assert real.read_text(encoding="utf-8").count(beyond_docs.BEGIN) == 1


def test_peers_are_not_for_what_goes_beyond(tmp_path):
    result = CliRunner().invoke(main, ["reproduction", "--beyond", "--peers", "-o", str(tmp_path)])
    assert result.exit_code == 2
    assert "--beyond" in result.output


@pytest.mark.slow
def test_the_command_runs_what_is_asked_for_and_draws_it(tmp_path, monkeypatch):
    units = [Unit("beyond", "A", "COMPAS", 0, ("mass",), (1.0,))]
    monkeypatch.setattr(beyond, "units", lambda quick: iter(units))
    drawn = []
    monkeypatch.setattr(
        "reproduction.beyond_page.write_beyond_page",
        lambda fits, folder, facts: drawn.append((len(fits), facts.command)) or folder / "index.html",
    )
    result = CliRunner().invoke(main, ["reproduction", "--beyond", "--quick", "-o", str(tmp_path), "-j", "1"])
    assert result.exit_code == 0, result.output
    assert drawn == [(1, "python -m reproduction --beyond --quick")]
    assert (tmp_path / "beyond-quick" / "results.parquet").exists()
