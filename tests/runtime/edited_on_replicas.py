"""Train steps of a model's own on two replicas against the Estimator: edited gradients, a loss for each optimizer, averages."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from both_sides import old_program
from line_program import read_events
from replicating_programs import new_program

from migrator.runtime.cluster.tasks import ClusterError
from migrator.runtime.cluster.training import configure_distributed

keras_2 = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train on several replicas")
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
MIRRORED = tf.distribute.MirroredStrategy

PROGRAM = """import json
import sys

import numpy as np
import tensorflow as tf

random = np.random.RandomState(0)
X = random.rand(24, 3).astype("float32")
IDS = random.randint(0, 6, [24])  # some twice in a batch
Y = (X @ [[1.0], [-2.0], [3.0]] + 0.1 * IDS[:, None]).astype("float32")
TABLE, KERNEL, LAST = (np.linspace(-0.6, 0.9, n).astype("float32") for n in (12, 20, 4))


class Fading(tf.train.Optimizer):
    def __init__(self, learning_rate, name="Fading"):
        super().__init__(False, name)
        self._rate = learning_rate

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=0.9, name="power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _resource_apply_dense(self, grad, var):
        power = self._get_non_slot_variable("power", tf.get_default_graph())
        m = self.get_slot(var, "m")
        m_t = m.assign(0.5 * m + grad)
        return tf.group(m_t, var.assign_sub(self._rate * power * m_t))

    def _resource_apply_sparse(self, grad, var, indices):
        return tf.scatter_sub(var, indices, self._rate * grad)

    def _finish(self, update_ops, name_scope):
        with tf.control_dependencies(update_ops):
            power = self._get_non_slot_variable("power", tf.get_default_graph())
            faded = power.assign(power * 0.9)
        return tf.group(*update_ops, faded, name=name_scope)


def model_fn(features, labels, mode, params):
    with tf.variable_scope("first"):
        table = tf.get_variable("table", [6, 2], initializer=tf.constant_initializer(TABLE))
        rows = tf.nn.embedding_lookup(table, features["ids"])
        net = tf.concat([features["x"], rows], axis=1)
        net = tf.layers.dense(
            net, 4, activation=tf.nn.tanh, kernel_initializer=tf.constant_initializer(KERNEL), name="hidden"
        )
    outputs = tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer(LAST), name="outputs")
    loss = tf.losses.mean_squared_error(labels, outputs)
    step = tf.train.get_global_step()
    {train}
    return tf.estimator.EstimatorSpec(mode, predictions=outputs, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({{"x": X, "ids": IDS}}, Y)).repeat().batch(4)


def main(params):
    config = tf.estimator.RunConfig(
        model_dir=params["model_dir"],
        save_summary_steps=1,
        save_checkpoints_steps=100,
        train_distribute=tf.distribute.MirroredStrategy(),
        session_config=tf.ConfigProto(device_count={{"CPU": 2}}),
    )
    estimator = tf.estimator.Estimator(model_fn, config=config, params=params)
    estimator.train(input_fn, steps=8)
    return estimator, estimator.evaluate(input_fn, steps=3)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
"""
CLIPPED = """optimizer = tf.train.AdamOptimizer(0.05)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 0.1)
    train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=step)"""
EACH = """optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    pairs = optimizer.compute_gradients(loss)
    pairs = [(tf.clip_by_value(g, -0.05, 0.05), v) for g, v in pairs if g is not None]
    step_op = optimizer.apply_gradients(pairs, global_step=step)
    with tf.control_dependencies([step_op]):
        train_op = tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())"""
SEVERAL = """outer = tf.reduce_mean(tf.abs(outputs - 1.0))
    first = tf.train.AdagradOptimizer(0.1).minimize(outer, var_list=tf.trainable_variables("first"))
    second = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, global_step=step, var_list=tf.trainable_variables("outputs")
    )
    train_op = tf.group(first, second)"""

OWN = "train_op = Fading(0.1).minimize(loss, global_step=step)"


@functools.lru_cache(maxsize=1)
def mirrored() -> tf.distribute.Strategy:
    return MIRRORED()


@pytest.fixture(autouse=True)
def one_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs share one: a process remembers the shapes that collective ops had, and a second strategy counts them anew."""
    monkeypatch.setattr(tf.distribute, "MirroredStrategy", mirrored)


@keras_2
@needs_estimators
@pytest.mark.parametrize("train", [CLIPPED, EACH, SEVERAL, OWN])
def test_same_as_estimator(tmp_path: Path, train: str) -> None:
    source, folders = PROGRAM.format(train=train), [tmp_path / "old", tmp_path / "new"]
    estimator, evaluated = old_program(source, tmp_path).main({"model_dir": str(folders[0])})
    model, again = new_program(source, "auto", tmp_path).main({"model_dir": str(folders[1])})
    before, after = (read_events(folder).get("loss") for folder in folders)
    assert model.distribute_strategy.num_replicas_in_sync == 2 and len(before or ()) == 8
    if (
        after is not None
    ):  # helpers write that of each step; TensorBoard of Keras writes those of epochs, to another folder
        np.testing.assert_allclose([after[step] for step in before], list(before.values()), rtol=1e-5)
    weights = {tuple(weight.shape): weight for weight in model.trainable_variables}
    for name in estimator.get_variable_names():
        value = estimator.get_variable_value(name)
        if name.split("/")[-1] in ("table", "kernel", "bias"):
            np.testing.assert_allclose(weights.pop(value.shape).numpy(), value, rtol=1e-5, atol=1e-7, err_msg=name)
    assert not weights
    assert again["loss"] == pytest.approx(evaluated["loss"], rel=1e-5)


@keras_2
def test_a_step_in_some_turns_is_refused(tmp_path: Path) -> None:
    class Turning(tf.keras.Sequential):
        def train_step(self, data: Any) -> Any:
            return tf.cond(self.optimizer.iterations > 0, lambda: super().train_step(data), lambda: {})

    with mirrored().scope():
        model = Turning([tf.keras.layers.Dense(1)])
        model.compile("sgd")
        with pytest.raises(ClusterError, match="in some turns only"):
            configure_distributed(model, model_dir=str(tmp_path))
