"""Programs that train on several devices without a strategy stay as they are, with what to do."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import manual_reason, migrate

PROGRAM = """import tensorflow as tf
IMPORT


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    optimizer = OPTIMIZER(tf.train.AdamOptimizer())
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
"""


@pytest.mark.parametrize(
    ("statement", "optimizer", "expected"),
    [
        ("from horovod.tensorflow import DistributedOptimizer", "DistributedOptimizer", "not imported as.*--strategy"),
        ("", "tf.train.SyncReplicasOptimizer", "MultiWorkerMirroredStrategy"),
        ("", "tf.contrib.estimator.TowerOptimizer", "mirrored has a MirroredStrategy"),
    ],
)
def test_refused_by_every_tier(statement: str, optimizer: str, expected: str) -> None:
    reason = manual_reason(PROGRAM.replace("IMPORT", statement).replace("OPTIMIZER", optimizer))
    assert re.search(expected, reason), reason


def test_an_import_of_horovod_without_use_is_none() -> None:
    text = PROGRAM.replace("IMPORT", "import horovod.tensorflow as hvd").replace("OPTIMIZER", "")
    assert "optimizer=" in migrate(text)
