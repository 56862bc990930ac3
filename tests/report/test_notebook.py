"""The notebook runs from its first cell to its last."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "adult.ipynb"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Jupyter
def test_the_notebook_runs():
    nbformat = pytest.importorskip("nbformat", reason="needs the extra notebook")
    client = pytest.importorskip("nbclient", reason="needs the extra notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client.NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
    outputs = [str(o) for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    assert any("differentially private with epsilon = 1" in text for text in outputs)
    assert any("text/html" in text for text in outputs)
