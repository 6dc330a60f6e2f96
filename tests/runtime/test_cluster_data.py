"""Data of workers of parameter servers: what an input_fn returns does as well as a DatasetCreator around the input_fn."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from cluster_processes import FOLDER, environment

from migrator.parity.run.local_cluster import Shape, run_cluster

pytestmark = [
    pytest.mark.parity,
    pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train on clusters"),
]


def losses(folder: Path, root: Path, way: str) -> Any:
    command = [sys.executable, str(FOLDER / "cluster_data_program.py"), way]
    shape, env = Shape({"ps": 1, "worker": 1, "chief": 1}), environment(folder, root)
    done = run_cluster(shape, lambda job, index: command, folder / way, folder, env, 150)
    log = done.log("chief0").read_text()
    assert not done.problem and not any(done.codes.values()), log[-2000:]
    (line,) = [line for line in log.splitlines() if line.startswith("RESULT ")]
    return json.loads(line[len("RESULT ") :])


def test_a_dataset_trains_as_a_dataset_creator(tmp_path: Path, root: Path) -> None:
    assert losses(tmp_path, root, "dataset") == losses(tmp_path, root, "creator")
