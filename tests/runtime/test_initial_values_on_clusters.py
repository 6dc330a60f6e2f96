"""Variables in parts on parameter servers start as they would as wholes, whatever their initializer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from cluster_processes import FOLDER, environment

pytestmark = [
    pytest.mark.parity,
    pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train with parameter servers"),
]
EXACT = ("orthogonal", "identity", "zeros", "constant", "rows")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Any:
    folder = tmp_path_factory.mktemp("values")
    command = [sys.executable, str(FOLDER / "cluster_initial_values.py")]
    done = subprocess.run(command, env=environment(folder, root), capture_output=True, text=True, timeout=100)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")] or pytest.fail(done.stderr)
    return json.loads(line[len("RESULT ") :])


@pytest.fixture(scope="module")
def values(result: Any) -> Any:
    return {name: tuple(np.array(value) for value in pair) for name, pair in result[0].items()}


def test_parts_are_those_of_a_whole(values: Any) -> None:
    assert len(values) == 21
    for name, (parts, whole) in values.items():
        assert parts.shape == whole.shape
        if name in EXACT:
            np.testing.assert_array_equal(parts, whole, err_msg=name)
        elif name != "own orthogonal":
            assert np.std(parts) == pytest.approx(np.std(whole), rel=0.08), name
            assert len(np.unique(parts)) > 2000, name  # of 2048: no part repeats another
        if np.abs(whole).max() < 2.5 * np.std(whole):  # a distribution with ends
            assert np.abs(parts).max() == pytest.approx(np.abs(whole).max(), rel=0.02), name


def test_a_function_of_the_program_draws_all_parts_at_once(values: Any) -> None:
    parts, _ = values["own orthogonal"]
    np.testing.assert_allclose(parts.T @ parts, np.eye(32), atol=1e-5)


def test_parts_have_as_many_rows_as_in_tensorflow_1(result: Any) -> None:
    assert result[1]["7"] == [[2, 2, 2, 1], [2, 2, 2, 1]]
    for rows, (new, old) in result[1].items():
        assert new == old and sum(new) == int(rows)
