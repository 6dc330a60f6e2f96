"""Train ops that edit gradients, in programs that train on several replicas: layers do most."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate, model_fn, run, units

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


TURNS = """
loss = tf.reduce_mean(tf.square(labels - predictions))
optimizer = tf.train.GradientDescentOptimizer(0.1)
step = tf.train.get_global_step()
train_op = tf.cond(step > 3, lambda: optimizer.minimize(loss, step), lambda: tf.group(tf.assign_add(step, 1)))
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
RAW = """
loss = tf.reduce_mean(tf.square(labels - predictions))
variables = tf.trainable_variables()
gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
optimizer = tf.train.GradientDescentOptimizer(0.1)
train_op = optimizer.apply_gradients(zip(gradients, variables), tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
LOSS_READ = CLIPPED.replace(
    "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)", "gradients = [g * loss for g in gradients]"
)
SUMMED = CLIPPED.replace(
    "tf.reduce_mean(tf.square(labels - predictions))",
    "tf.losses.mean_squared_error(labels, predictions, reduction=tf.losses.Reduction.SUM)",
)
PLAIN_SUM = SUMMED[: SUMMED.index("gradients")] + (
    "train_op = optimizer.minimize(loss, tf.train.get_global_step())\n" + SUMMED[SUMMED.index("return") :]
)


@pytest.mark.parametrize("strategy", REPLICATING)
def test_edited_gradients_become_layers(strategy: str) -> None:
    """Each replica edits its own, and an optimizer of Keras adds them up where that of TensorFlow 1 did."""
    text = migrate(model_fn(BODY, end=CLIPPED, after=USE.format(strategy)))
    assert "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)" in method(text, "train_step")


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (TURNS, "in some turns only"),
        (RAW, "what tf.gradients gives"),
        (LOSS_READ, "reads the loss"),
        (SUMMED, "losses that are sums"),
        (PLAIN_SUM, "losses that are sums"),
    ],
)
def test_what_replicas_do_otherwise_stays_a_graph(end: str, reason: str) -> None:
    source = model_fn(BODY, end=end, after=USE.format(REPLICATING[0]))
    (unit,) = units(run(source, "auto"))
    assert unit.tier == "bridge" and reason in unit.reason
    assert "class Model(tf.keras.Model)" in migrate(model_fn(BODY, end=end, after=USE.format("None")))


def test_the_strategy_of_another_file() -> None:
    source = model_fn(BODY, end=RAW, before="from task import config", after=USE.split("\n", 2)[2].format())
    task = "import tensorflow as tf\n\nconfig = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
    (unit,) = units(run({"program.py": source, "task.py": task}, "auto"))
    assert unit.tier == "bridge"


@pytest.mark.parametrize("strategy", REPLICATING)
def test_a_plain_step_becomes_layers(strategy: str) -> None:
    assert "class Model(tf.keras.Model)" in migrate(model_fn(BODY, after=USE.format(strategy)))


@pytest.mark.parametrize("strategy", ["None", 'tf.distribute.OneDeviceStrategy("/cpu:0")'])
def test_edited_gradients_on_one_replica_become_layers(strategy: str) -> None:
    text = migrate(model_fn(BODY, end=CLIPPED, after=USE.format(strategy)))
    assert "def train_step" not in text and "tf.keras.optimizers.SGD(0.1, global_clipnorm=1.0)" in text
