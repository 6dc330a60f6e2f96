"""Kept model_fns whose train op counts the global step with some batches only: a training has more batches than steps."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, run, units

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, w * features["x"][:, 0])
    step = tf.train.get_or_create_global_step()
    count = tf.get_variable("count", [], tf.int32, tf.zeros_initializer(), trainable=False)
    optimizer = tf.train.FtrlOptimizer(0.1)
    with tf.control_dependencies([count.assign_add(1)]):
        train_op = TRAIN
    return tf.estimator.EstimatorSpec(mode, {"p": w}, loss, train_op)


estimator = tf.estimator.Estimator(model_fn)
"""
DUE = "tf.equal(count % 4, 0)"
TRAIN = f"tf.cond({DUE}, lambda: optimizer.minimize(loss, step), tf.no_op)"
LIMITED = "estimator.train(input_fn, steps=3)\n"


def migrated(train: str = TRAIN, use: str = LIMITED) -> str:
    outcomes = run(PROGRAM.replace("TRAIN", train) + use, style="bridge")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    return outcomes[PATH].after.decode()


@pytest.mark.parametrize(
    "train",
    [
        TRAIN,
        TRAIN.replace("loss, step", "loss, global_step=step"),
        f"tf.cond({DUE}, lambda: tf.group(optimizer.minimize(loss), step.assign_add(1)), lambda: tf.no_op())",
        f"tf.cond({DUE}, lambda: tf.group(optimizer.minimize(loss), tf.assign_add(step, 1)), tf.no_op)",
        f"tf.group(optimizer.minimize(loss), step.assign(tf.cond({DUE}, lambda: step + 1, lambda: step)))",
        f"tf.cond(false_fn=lambda: optimizer.minimize(loss, step), true_fn=tf.no_op, pred={DUE})",
    ],
)
def test_it_trains_until_its_steps_are_done(train: str) -> None:
    text = migrated(train)
    assert "estimator = skipping_graph_model(model_fn)\n" in text and "train(estimator, input_fn, steps=3)\n" in text


@pytest.mark.parametrize(
    "use",
    [
        "estimator.train(input_fn, max_steps=3)\n",
        "estimator.train(input_fn, None, 3)\n",
        "estimator.train(input_fn, **{'steps': 3})\n",
        "tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(f, 3), tf.estimator.EvalSpec(f))\n",
    ],
)
def test_ways_to_say_how_many_steps_there_are(use: str) -> None:
    assert "skipping_graph_model(" in migrated(use=use)


def test_a_function_that_a_branch_calls() -> None:
    program = PROGRAM.replace("TRAIN", f"tf.cond({DUE}, lambda: move(optimizer, loss), tf.no_op)")
    move = "def move(optimizer, loss):\n    return optimizer.minimize(loss, tf.train.get_global_step())\n\n\n"
    text = run(program.replace("def model_fn", move + "def model_fn") + LIMITED, style="bridge")[PATH].after.decode()
    assert "skipping_graph_model(" in text


@pytest.mark.parametrize(
    "train",
    [
        "optimizer.minimize(loss, step)",
        f"tf.cond({DUE}, lambda: optimizer.minimize(loss, step), lambda: optimizer.minimize(2.0 * loss, step))",
        f"tf.group(tf.cond({DUE}, lambda: optimizer.minimize(loss), tf.no_op), step.assign_add(1))",
        f"tf.group(optimizer.minimize(loss, step), tf.cond({DUE}, lambda: count.assign_add(1), lambda: count))",
        f"tf.group(optimizer.minimize(loss, step), tf.cond({DUE}, lambda: count + 1, lambda: count))",
    ],
)
def test_a_step_with_each_batch_is_one_of_a_graph(train: str) -> None:
    assert "skipping_graph_model" not in migrated(train)


@pytest.mark.parametrize("use", ["estimator.train(input_fn)\n", "estimator.train(input_fn, steps=None)\n"])
def test_a_training_that_ends_with_its_data_is_one_of_a_graph(use: str) -> None:
    assert "skipping_graph_model" not in migrated(use=use)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("warm_start_from='other'", "in a training from a checkpoint"),
        ("config=tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())", "on several devices"),
    ],
)
def test_refused(given: str, reason: str) -> None:
    program = PROGRAM.replace("TRAIN", TRAIN).replace("Estimator(model_fn)", f"Estimator(model_fn, {given})") + LIMITED
    found = units(run(program, style="bridge"))
    assert [unit.tier for unit in found] == ["manual"] and reason in found[0].reason
