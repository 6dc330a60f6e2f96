"""Models that are layers one behind another: `Sequential` takes the place of a class."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, migrate, units
from modelfn.programs import run as run_all

from migrator.emit.chain import chain_of

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    {body}
    loss = tf.losses.mean_squared_error(labels, net)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(([[1.0]], [[1.0]])).repeat()


estimator = tf.estimator.Estimator(model_fn, params={{"units": 8}})
estimator.train(input_fn, steps=5)
"""
CLASS = """\
class Model(tf.keras.Model):
    def __init__(self, params):
        super().__init__()
        {made}

    def call(self, features, training=False):
        {applied}
"""
MADE = "self.a = tf.keras.layers.Dense(params['units'])\n        self.b = tf.keras.layers.Dropout(0.5)"


def migrated(body: str) -> str:
    return joined(migrate(PROGRAM.format(body=body.replace("\n", "\n    "))))


def test_layers_one_behind_another() -> None:
    text = migrated(
        'net = tf.layers.dense(features, params["units"], activation=tf.nn.relu)\n'
        "net = tf.layers.dropout(net, 0.5, training=mode == tf.estimator.ModeKeys.TRAIN)\n"
        "net = tf.layers.dense(net, 1)"
    )
    layers = 'tf.keras.layers.Dense(params["units"], activation=tf.nn.relu), tf.keras.layers.Dropout(0.5), '
    assert f"model = tf.keras.Sequential([{layers}tf.keras.layers.Dense(1)])" in text.replace(",])", "])")
    assert "class " not in text and '"""Builds and compiles the model."""' in text


def test_weights_are_found_by_their_layers() -> None:
    body = "net = tf.layers.dense(tf.layers.dense(features, 2, name='a'), 1, name='b')"
    (unit,) = units(run_all(PROGRAM.format(body=body)))
    assert ("b/kernel", "layers.1.kernel") in unit.variables


@pytest.mark.parametrize(
    "body",
    [
        'net = tf.layers.dense(features["x"], 1)',
        "net = tf.nn.relu(tf.layers.dense(features, 1))",
        "net = tf.layers.dense(features, 1)\nnet = net + tf.layers.dense(features, 1)",
        'net = tf.layers.dense(features, 1) * tf.get_variable("scale", [])',
        "# Wide.\nnet = tf.layers.dense(features, 1)",
    ],
)
def test_whatever_does_more_stays_a_class(body: str) -> None:
    text = migrated(body)
    assert "(tf.keras.Model):" in text and "Sequential" not in text


def test_weights_that_are_read_by_attributes_stay_in_a_class() -> None:
    read = 'print(estimator.get_variable_value("dense/kernel"))\n'
    text = migrate(PROGRAM.format(body="net = tf.layers.dense(features, 1)") + read)
    assert "Sequential" not in text and "print(model.dense.kernel.numpy())" in text


@pytest.mark.parametrize(
    ("made", "applied", "order"),
    [
        (MADE, "return self.b(self.a(features), training=training)", ("a", "b")),
        (MADE, "net = self.b(features, training=training)\n        return self.a(net)", ("b", "a")),
        (MADE, "return self.a(features)", None),
        (MADE, "return self.b(self.a(features), training=True)", None),
        (MADE, "net = self.a(features)\n        return self.b(features)", None),
        (MADE, "return self.a(self.b(self.a(features)))", None),
        (MADE + "\n        self.a.trainable = False", "return self.b(self.a(features))", None),
        (MADE.replace("Dropout(0.5)", "Dropout(self.a.units)"), "return self.b(self.a(features))", None),
        (MADE, "print(features)\n        return self.b(self.a(features))", None),
    ],
)
def test_what_is_a_chain(made: str, applied: str, order: tuple[str, ...] | None) -> None:
    chain = chain_of(CLASS.format(made=made, applied=applied))
    assert (chain.attributes if chain is not None else None) == order


def test_a_method_more() -> None:
    text = CLASS.format(made=MADE, applied="return self.b(self.a(features))")
    assert chain_of(text) is not None
    assert chain_of(text + "\n    def predict_step(self, data):\n        return {}\n") is None
