"""Notebooks run from top to bottom, and are kept without outputs.

Their cells run here as plain Python in one namespace, which needs no kernel; building the
documentation runs them as notebooks.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def cells(notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_runs(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "notebook"}
    try:
        for number, cell in enumerate(cells(notebook), start=1):
            exec(
                compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"),
                namespace,
            )
    finally:
        plt.close("all")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(notebook):
    for cell in cells(notebook):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_proves_something(notebook):
    assert any(line.startswith("assert ") for cell in cells(notebook) for line in cell["source"])
