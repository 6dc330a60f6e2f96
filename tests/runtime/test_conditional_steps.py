"""Train ops that step in some steps only, or in turn, train as they do in an Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from both_sides import assert_equal_weights, bridged_program, new_program, old_program

from migrator.runtime.checkpoints.weight_names import named_weights
from migrator.runtime.training.training import train

needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
v1 = tf.compat.v1

PROGRAM = """
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    with tf.variable_scope("encoder"):
        table = tf.get_variable("table", [7, 3], initializer=tf.random_normal_initializer())
        hidden = tf.layers.dense(tf.nn.embedding_lookup(table, features["id"]), 4, tf.nn.tanh, name="hidden")
    out = tf.layers.dense(hidden, 1, name="out")
    tf.train.init_from_checkpoint(params["first"], {"encoder/": "encoder/", "out/": "out/"})
    loss = tf.reduce_mean(tf.square(labels - out))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    step = tf.train.get_global_step()
    rate = tf.train.exponential_decay(0.1, step, 3, 0.7)
    TRAIN
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


random = np.random.RandomState(0)
IDS, LABELS = random.randint(0, 7, 88).astype(np.int32), random.rand(88, 1).astype(np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"id": IDS}, LABELS)).batch(8)


def make_estimator(model_dir, first):
    return tf.estimator.Estimator(model_fn, model_dir, params={"first": first})
"""
SHAPES = {
    "encoder/table": [7, 3],
    "encoder/hidden/kernel": [3, 4],
    "encoder/hidden/bias": [4],
    "out/kernel": [4, 1],
    "out/bias": [1],
}
SUMMED = """
    optimizer = tf.train.AdamOptimizer(rate)
    pairs = optimizer.compute_gradients(loss)
    sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for _, v in pairs]
    added = [total.assign_add(gradient) for total, (gradient, _) in zip(sums, pairs)]

    def apply():
        clipped, _ = tf.clip_by_global_norm([total / 3 for total in sums], 0.2)
        done = optimizer.apply_gradients([(g, v) for g, (_, v) in zip(clipped, pairs)])
        with tf.control_dependencies([done]):
            return tf.group(*[tf.assign(total, tf.zeros_like(total)) for total in sums])

    with tf.control_dependencies(added):
        due = tf.equal(tf.mod(step + 1, 3), 0)
        update = tf.cond(due, apply, lambda: tf.no_op())
    with tf.control_dependencies([update]):
        train_op = tf.assign_add(step, 1)
"""
IN_TURN = """
    encoder_optimizer = tf.train.AdagradOptimizer(rate)
    out_optimizer = tf.train.MomentumOptimizer(rate, 0.9)
    encoder = tf.trainable_variables("encoder")
    train_op = tf.cond(
        step % 3 < 2,
        lambda: encoder_optimizer.minimize(loss, step, var_list=encoder),
        lambda: out_optimizer.minimize(loss, step, var_list=tf.trainable_variables("out")))
"""


def trained(ops: str, folder: Path) -> tuple[str, str, Any]:
    """The program, the checkpoint that it starts from, and its Estimator after the training."""
    random = np.random.RandomState(1)
    saved = str(folder / "saved" / "first.ckpt")
    with tf.Graph().as_default(), v1.Session() as session:
        for name, shape in SHAPES.items():
            v1.get_variable(name, initializer=random.randn(*shape).astype("float32") * 0.3)
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, saved)
    source = PROGRAM.replace("TRAIN", ops.strip())
    old = old_program(source, folder)
    return source, saved, old.make_estimator(str(folder / "old"), saved).train(old.input_fn)


@needs_estimators
@pytest.mark.parametrize("ops", [SUMMED, IN_TURN])
def test_weights_after_a_training(ops: str, tmp_path: Path) -> None:
    source, saved, estimator = trained(ops, tmp_path)
    new = new_program(source, tmp_path)
    model = new.make_estimator(str(tmp_path / "new"), saved)
    train(model, new.input_fn, max_steps=4)  # goes on from a checkpoint between two steps of the optimizer
    again = new.make_estimator(str(tmp_path / "new"), saved)
    train(again, lambda: new.input_fn().skip(4))
    weights = {name: value.numpy() for name, value in named_weights(again, [*again.tf1_names.items()])}
    assert set(weights) == set(SHAPES)
    assert_equal_weights(estimator, weights)


@needs_estimators
@pytest.mark.parametrize("second", ["MomentumOptimizer(rate, 0.9)", "AdamOptimizer(rate)"])
def test_optimizers_in_branches_of_a_graph(second: str, tmp_path: Path) -> None:
    others = "[v for v in tf.trainable_variables() if v not in encoder]"  # by identity, as in TensorFlow 1
    ops = IN_TURN.replace('tf.trainable_variables("out")', others)
    ops = ops.replace("AdagradOptimizer", "AdamOptimizer").replace("MomentumOptimizer(rate, 0.9)", second)
    source, saved, estimator = trained(ops, tmp_path)
    new = bridged_program(source, tmp_path)
    model = new.make_estimator(str(tmp_path / "new"), saved)
    train(model, new.input_fn)
    assert_equal_weights(estimator, {name: model.tf1_variables[name].numpy() for name in SHAPES})
