"""The examples run, and the page that shows them has their code."""

import runpy
import warnings

import pytest
from tools.gallery import EXAMPLES, ROOT, page

LONG = {"epsilons"}  # many fits


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in EXAMPLES])
def test_an_example_runs_and_shows_something(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    with warnings.catch_warnings():  # one of them sets filters
        runpy.run_path(str(EXAMPLES[name]), run_name="__main__")
    assert capsys.readouterr().out.strip() or list(tmp_path.glob("*.svg"))


def test_the_gallery_shows_the_code_and_the_pictures_of_all_examples():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)
    pictures = {path.stem: path.name for path in (ROOT / "docs" / "gallery").iterdir()}
    assert (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8") == page(pictures)
