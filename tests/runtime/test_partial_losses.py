"""Optimizers with a loss each, as of a GAN, train as they do in an Estimator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from both_sides import assert_equal_weights, new_program, old_program

from migrator.runtime.checkpoints.weight_names import named_weights
from migrator.runtime.training.training import evaluate, train

needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
v1 = tf.compat.v1

PROGRAM = """
import numpy as np
import tensorflow as tf


def generator(noise):
    with tf.variable_scope("generator"):
        net = tf.layers.dense(noise, 6, activation=tf.nn.tanh, name="hidden")
        return tf.layers.dense(net, 3, name="out")


def discriminator(images):
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        net = tf.layers.dense(images, 5, activation=tf.nn.tanh, name="hidden")
        return tf.layers.dense(net, 1, name="out")


def model_fn(features, labels, mode, params):
    fake = generator(features["noise"])
    real_logits, fake_logits = discriminator(features["image"]), discriminator(fake)
    tf.train.init_from_checkpoint(params["first"], {"/": "/"})
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"image": fake})
    d_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(real_logits), real_logits, label_smoothing=0.1)
    d_loss += tf.losses.sigmoid_cross_entropy(tf.zeros_like(fake_logits), fake_logits)
    g_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(fake_logits), fake_logits)
    loss = TOTAL
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"g_loss": tf.metrics.mean(g_loss)})
    d_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="discriminator")
    g_vars = [v for v in tf.trainable_variables() if v.name.startswith("generator")]
    step = tf.train.get_global_step()
    TRAIN
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


random = np.random.RandomState(0)
IMAGES, NOISE = random.rand(24, 3).astype(np.float32), random.randn(24, 2).astype(np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices({"image": IMAGES, "noise": NOISE}).batch(8).repeat(2)


def make_estimator(model_dir, first):
    return tf.estimator.Estimator(model_fn, model_dir, params={"first": first})
"""
SHAPES = {
    "generator/hidden/kernel": [2, 6],
    "generator/hidden/bias": [6],
    "generator/out/kernel": [6, 3],
    "generator/out/bias": [3],
    "discriminator/hidden/kernel": [3, 5],
    "discriminator/hidden/bias": [5],
    "discriminator/out/kernel": [5, 1],
    "discriminator/out/bias": [1],
}
MINIMIZED = """
    d_op = tf.train.AdamOptimizer(0.05, beta1=0.5).minimize(d_loss, var_list=d_vars)
    g_op = tf.train.AdamOptimizer(0.05, beta1=0.5).minimize(g_loss, var_list=g_vars, global_step=step)
    train_op = tf.group(d_op, g_op)
"""
EDITED = """
    d_optimizer = tf.train.RMSPropOptimizer(0.02)
    g_optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    d_gradients = tf.gradients(d_loss, d_vars)
    d_gradients, _ = tf.clip_by_global_norm(d_gradients, 0.3)
    g_gradients = g_optimizer.compute_gradients(g_loss, var_list=g_vars)
    g_gradients = [(tf.clip_by_value(gradient, -0.05, 0.05), variable) for gradient, variable in g_gradients]
    d_op = d_optimizer.apply_gradients(zip(d_gradients, d_vars))
    g_op = g_optimizer.apply_gradients(g_gradients)
    with tf.control_dependencies([d_op, g_op]):
        train_op = tf.assign_add(step, 1)
"""
TOGETHER = """
    total = g_loss + 0.1 * d_loss
    train_op = tf.train.AdagradOptimizer(0.3).minimize(total, step)
"""


def checkpoint(folder: Path) -> str:
    """First values of all variables."""
    random = np.random.RandomState(1)
    with tf.Graph().as_default(), v1.Session() as session:
        for name, shape in SHAPES.items():
            v1.get_variable(name, initializer=random.randn(*shape).astype("float32"))
        v1.get_variable("global_step", initializer=np.int64(0))
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver().save(session, str(folder / "first")))


@needs_estimators
@pytest.mark.parametrize(("total", "steps"), [("d_loss + g_loss", MINIMIZED), ("d_loss", EDITED), ("g_loss", TOGETHER)])
def test_weights_are_those_of_an_estimator(tmp_path: Path, total: str, steps: str) -> None:
    source = PROGRAM.replace("TOTAL", total).replace("    TRAIN\n", steps.lstrip("\n"))
    first = checkpoint(tmp_path)
    old = old_program(source, tmp_path)
    estimator = old.make_estimator(str(tmp_path / "a"), first)
    expected = estimator.train(old.input_fn).evaluate(old.input_fn)

    new = new_program(source, tmp_path, exact=True)
    model = new.make_estimator(str(tmp_path / "b"), first)
    train(model, new.input_fn)
    assert evaluate(model, new.input_fn) == pytest.approx(expected, rel=1e-5)
    weights = {name: variable.numpy() for name, variable in named_weights(model, [*model.tf1_names.items()])}
    assert set(weights) == set(SHAPES)
    assert_equal_weights(estimator, weights, rtol=2e-6)


@needs_estimators
def test_a_loss_of_the_other_network_is_noticed(tmp_path: Path) -> None:
    first = checkpoint(tmp_path)
    source = PROGRAM.replace("TOTAL", "d_loss + g_loss").replace("    TRAIN\n", MINIMIZED.lstrip("\n"))
    old = old_program(source, tmp_path)
    estimator = old.make_estimator(str(tmp_path / "a"), first).train(old.input_fn)
    new = new_program(source.replace("minimize(g_loss", "minimize(d_loss"), tmp_path, exact=True)
    model = new.make_estimator(str(tmp_path / "b"), first)
    train(model, new.input_fn)
    weights = {name: variable.numpy() for name, variable in named_weights(model, [*model.tf1_names.items()])}
    with pytest.raises(AssertionError):
        assert_equal_weights(estimator, weights, rtol=1e-3)
