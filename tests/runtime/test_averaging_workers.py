"""SyncReplicasOptimizer against the mirrored workers that replace it, which are real processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from averaged_gradients import STEPS, sync_replicas
from cluster_processes import environment
from line_program import read_events
from replicating_programs import PATH, SYNC, migrated

from migrator.parity.run.local_cluster import Shape, run_cluster

pytestmark = [
    pytest.mark.parity,
    pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train on clusters"),
]


def test_each_worker_takes_examples_of_its_own(tmp_path: Path, root: Path) -> None:
    losses, weights = sync_replicas(tmp_path, 2, lambda dataset, workers, index: dataset, shared=True)
    for name, text in migrated(SYNC, "multi_worker").items():
        (tmp_path / name).write_text(text)
    model = tmp_path / "model"
    given = json.dumps({"model_dir": str(model), "batch": 4, "shared": True})
    command, shape = [sys.executable, PATH, given], Shape({"worker": 1, "chief": 1})
    env = environment(tmp_path, root)
    done = run_cluster(shape, lambda job, index: command, tmp_path / "logs", tmp_path, env, 150)
    assert not done.problem and not any(done.codes.values()), done.log("chief0").read_text()[-2000:]
    found = read_events(model)["loss"]
    np.testing.assert_allclose([found[step] for step in range(1, STEPS + 1)], losses, rtol=1e-5)
    reader = tf.train.load_checkpoint(str(model))
    for name, value in weights.items():
        key = f"model/{name.replace('.', '/')}/.ATTRIBUTES/VARIABLE_VALUE"
        np.testing.assert_allclose(reader.get_tensor(key), value, rtol=1e-5, atol=1e-7, err_msg=name)
