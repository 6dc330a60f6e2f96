"""Train ops that edit gradients, in programs that train on several replicas: the bridge runs them there, layers do not."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn, run, units

BODY = 'predictions = tf.layers.dense(features["x"], 1)'
CLIPPED = """
loss = tf.reduce_mean(tf.square(labels - predictions))
optimizer = tf.train.GradientDescentOptimizer(0.1)
gradients, variables = zip(*optimizer.compute_gradients(loss))
gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
train_op = optimizer.apply_gradients(zip(gradients, variables), tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
USE = """
config = tf.estimator.RunConfig(train_distribute={})
estimator = tf.estimator.Estimator(model_fn, config=config, params={{}})
"""
REPLICATING = [
    "tf.distribute.MirroredStrategy()",
    "tf.contrib.distribute.MirroredStrategy(num_gpus=2)",
    "tf.distribute.experimental.MultiWorkerMirroredStrategy()",
    "tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=0)",
]


@pytest.mark.parametrize("strategy", REPLICATING)
def test_edited_gradients_stay_a_graph(strategy: str) -> None:
    source = model_fn(BODY, end=CLIPPED, after=USE.format(strategy))
    (unit,) = units(run(source, "auto"))
    assert unit.tier == "bridge" and "the train op does more than to minimize the loss" in unit.reason


def test_the_strategy_of_another_file() -> None:
    source = model_fn(BODY, end=CLIPPED, before="from task import config", after=USE.split("\n", 2)[2].format())
    task = "import tensorflow as tf\n\nconfig = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
    (unit,) = units(run({"program.py": source, "task.py": task}, "auto"))
    assert unit.tier == "bridge"


@pytest.mark.parametrize("strategy", REPLICATING)
def test_a_plain_step_becomes_layers(strategy: str) -> None:
    assert "class Model(tf.keras.Model)" in migrate(model_fn(BODY, after=USE.format(strategy)))


@pytest.mark.parametrize("strategy", ["None", 'tf.distribute.OneDeviceStrategy("/cpu:0")'])
def test_edited_gradients_on_one_replica_become_layers(strategy: str) -> None:
    assert "def train_step(self, data):" in migrate(model_fn(BODY, end=CLIPPED, after=USE.format(strategy)))
