"""A notebook is migrated, and both notebooks are trained as scripts of their code cells."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from notebook_tools import notebook

from migrator.parity.command import parity

PROGRAM = Path(__file__).parent / "programs" / "regression.py"


@pytest.mark.parity
def test_a_notebook_is_migrated_and_compared(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow_estimator")
    texts = ["# Regression", "!pip list\n%matplotlib inline", *PROGRAM.read_text().split("\n\n\n"), "%time x = 1"]
    cells = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text} for text in texts
    ]
    cells[0] = {"cell_type": "markdown", "metadata": {}, "source": texts[0]}
    book = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4}
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(book, indent=1))
    before = path.read_bytes()
    report = tmp_path / "out" / "report.json"
    arguments = [str(path), "-q", "--json", str(report), "--new-python", sys.executable]
    done = CliRunner().invoke(parity, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (case,) = json.loads(report.read_text())["cases"]
    assert (case["verdict"], len(case["losses"])) == ("equal", 10) and case["weights"]
    assert path.read_bytes() == before


@pytest.mark.parity
def test_cells_that_stay_run_on_neither_side(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow_estimator")
    trees = "trees = tf.estimator.BoostedTreesClassifier([], 1)\ntrees.train(None, steps=5)\nraise SystemExit(3)"
    path = tmp_path / "book.ipynb"
    path.write_bytes(notebook(*PROGRAM.read_text().split("\n\n\n"), "tf.log?", "a note to myself", trees))
    report = tmp_path / "report.json"
    done = CliRunner().invoke(parity, [str(path), "-q", "--json", str(report)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (case,) = json.loads(report.read_text())["cases"]
    assert case["verdict"] == "equal" and any("run on neither side (book.ipynb: " in note for note in case["notes"])
