"""Averages of weights are those of an Estimator with `tf.train.ExponentialMovingAverage`, and so is what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from both_sides import assert_equal_weights, new_program, old_program

from migrator.runtime.checkpoints.weight_averages import AveragedWeights, WeightAverages, use_averages
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")

PROGRAM = """
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    step = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(MADE)
    net = tf.layers.dense(features["x"], 3, activation=tf.nn.tanh, name="hidden", kernel_initializer=tf.constant_initializer(0.2))
    logits = tf.layers.dense(net, 1, name="logits", kernel_initializer=tf.constant_initializer(0.3))[:, 0]
    scaffold = SCAFFOLD
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits}, scaffold=scaffold)
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        saver = tf.train.Saver(ema.variables_to_restore())
        return tf.estimator.EstimatorSpec(mode, loss=loss, scaffold=tf.train.Scaffold(saver=saver))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    with tf.control_dependencies([train_op]):
        train_op = ema.apply(APPLIED)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.random.RandomState(0).rand(40, 2).astype(np.float32)
Y = (X.sum(1) > 1).astype(np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(8)


def repeated_input_fn():
    return input_fn().repeat()


def make_estimator(model_dir):
    return tf.estimator.Estimator(model_fn, model_dir, params={})
"""


def program(made: str, applied: str, predicted: bool) -> str:
    text = PROGRAM.replace("MADE", made).replace("APPLIED", applied)
    if not predicted:
        return text.replace("    scaffold = SCAFFOLD\n", "").replace(", scaffold=scaffold", "")
    saver = "tf.train.Scaffold(saver=tf.train.Saver(var_list=ema.variables_to_restore()))"
    return text.replace("    scaffold = SCAFFOLD\n", "").replace("scaffold=scaffold", f"scaffold={saver}")


def trained(make: Any, train: Any, evaluate: Any, predict: Any) -> tuple[Any, list[Any]]:
    """Trains, evaluates and predicts, goes on, and does all of it again with another object."""
    said = []
    for _ in range(2):
        model = make()
        train(model, 4)
        said += [evaluate(model)["loss"], [p["logits"] for p in predict(model)]]
        train(model, 3)
        said.append(evaluate(model)["loss"])
    fresh = make()
    return model, [*said, evaluate(fresh)["loss"], [p["logits"] for p in predict(make())]]


@needs_estimators
@pytest.mark.parametrize(
    ("made", "applied", "predicted"),
    [("0.9", "tf.trainable_variables()", True), ("decay=0.99, num_updates=step", "", False)],
)
def test_an_estimator_says_the_same(tmp_path: Path, made: str, applied: str, predicted: bool) -> None:
    source = program(made, applied, predicted)
    old = old_program(source, tmp_path)
    estimator, expected = trained(
        lambda: old.make_estimator(str(tmp_path / "a")),
        lambda model, steps: model.train(old.repeated_input_fn, steps=steps),
        lambda model: model.evaluate(old.input_fn),
        lambda model: model.predict(old.input_fn),
    )
    new = new_program(source, tmp_path, exact=True)
    model, found = trained(
        lambda: new.make_estimator(str(tmp_path / "b")),
        lambda model, steps: train(model, new.repeated_input_fn, steps=steps),
        lambda model: evaluate(model, new.input_fn),
        lambda model: predict(model, new.input_fn),
    )
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    names = [v.name[:-2] for v in model.trainable_variables]
    names = ["/".join(name.split("/")[-2:]) for name in names]
    weights = dict(zip(names, model.trainable_variables))
    assert_equal_weights(estimator, weights, rtol=1e-5)
    averages = dict(zip([f"{name}/ExponentialMovingAverage" for name in names], model.ema.averages))
    assert_equal_weights(estimator, averages, rtol=1e-5)
    with pytest.raises(AssertionError):  # the averages are not the weights
        assert_equal_weights(estimator, dict(zip(averages, weights.values())))


def test_not_on_parameter_servers() -> None:
    model = mock.Mock()
    model.distribute_strategy = mock.Mock(spec=tf.distribute.experimental.ParameterServerStrategy)
    with pytest.raises(ValueError, match="on parameter servers cannot take the place of the weights"):
        use_averages(model, WeightAverages(0.9))


def test_nothing_takes_the_place_of_weights_before_the_first_step() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    model.build([None, 2])
    averages = WeightAverages(0.9)
    averages.build(model.trainable_variables)
    with AveragedWeights(model, averages):
        np.testing.assert_array_equal(model.trainable_variables[0], [[1.0], [1.0]])
    averages.begun.assign(True)
    with AveragedWeights(model, averages):
        np.testing.assert_array_equal(model.trainable_variables[0], [[0.0], [0.0]])
    np.testing.assert_array_equal(model.trainable_variables[0], [[1.0], [1.0]])


def test_a_checkpoint_that_is_read_before_the_first_step_holds_the_averages(tmp_path: Path) -> None:
    def made() -> tuple[Any, Any]:
        model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
        model(tf.ones([1, 3]))
        model.ema = WeightAverages(0.9)
        return model, tf.train.Checkpoint(model=model)

    model, checkpoint = made()
    model.ema.begin(model.trainable_variables)
    path = checkpoint.save(str(tmp_path / "model"))
    again, checkpoint = made()
    checkpoint.restore(path)
    tf.function(lambda: again.ema.begin(again.trainable_variables))()
    for mine, theirs in zip(model.ema.averages, again.ema.averages):
        np.testing.assert_array_equal(mine, theirs)
