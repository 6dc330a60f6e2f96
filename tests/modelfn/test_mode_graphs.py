"""Layers that each mode makes in a graph of its own are one layer where their names are the same."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import manual_reason, migrate, model_fn

NETWORK = """
def network(x, training):
    x = tf.layers.dense(x, 4, activation=tf.nn.relu)
    x = tf.layers.dropout(x, 0.5, training=training)
    return tf.layers.dense(x, 1)


"""
MODE = "tf.estimator.ModeKeys"
TWO = f"""
if mode == {MODE}.TRAIN:
    predictions = network(features["x"], True)
else:
    predictions = network(features["x"], False)
"""
FIRST = f"""
if mode == {MODE}.PREDICT:
    predictions = network(features["x"], False)
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
predictions = network(features["x"], mode == {MODE}.TRAIN)
"""
THREE = f"""
if mode == {MODE}.PREDICT:
    predictions = network(features["x"], False)
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
if mode == {MODE}.EVAL:
    predictions = network(features["x"], False)
    return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_mean(tf.square(labels - predictions)))
predictions = network(features["x"], True)
"""


@pytest.mark.parametrize("body", [TWO, FIRST, THREE])
def test_a_network_of_each_mode(body: str) -> None:
    text = migrate(model_fn(body, before=NETWORK))
    assert text.count(" = Network()") == 1
    assert "def network" not in text


@pytest.mark.parametrize("body", [TWO, FIRST, THREE])
def test_calls_that_say_the_same_are_one(body: str) -> None:
    text = migrate(model_fn(body, before=NETWORK))
    assert 'return self.network(features["x"], training=training)' in text


def arms(train: str, other: str, after: str = "") -> str:
    """A model_fn whose modes make layers in arms of their own."""
    lines = [textwrap.indent(textwrap.dedent(arm).strip(), "    ") for arm in (train, other)]
    return model_fn(f"if mode == {MODE}.TRAIN:\n{lines[0]}\nelse:\n{lines[1]}\n{after}")


NET = 'net = tf.layers.dense(features["x"], 4)\npredictions = tf.layers.dense(net, 1)'
NAMED = 'net = tf.layers.dense(features["x"], 4, name="one")\npredictions = tf.layers.dense(net, 1, name="two")'


@pytest.mark.parametrize("net", [NET, NAMED])
def test_layers_of_each_mode(net: str) -> None:
    text = migrate(arms(net.replace('["x"]', '["x"] * 2.0'), net))
    assert text.count(" = tf.keras.layers.Dense(") == 2


def test_layers_that_only_training_makes_behind_them() -> None:
    text = migrate(arms(NET + "\npredictions += tf.layers.dense(net, 1)", NET))
    assert text.count(" = tf.keras.layers.Dense(") == 3


@pytest.mark.parametrize(
    ("train", "other"),
    [
        (NET, NET.replace("(net, 1)", "(net, 2)")),
        (NET, NET + "\npredictions += tf.layers.dense(net, 1)"),
        ('extra = tf.layers.dense(features["x"], 1)\n' + NET.replace("(net, 1)", "(net + extra, 1)"), NET),
        (NAMED, NAMED.replace("two", "three")),
        (NAMED, NET),
        (f'with tf.variable_scope("a"):\n{textwrap.indent(NET, "    ")}', NET),
    ],
)
def test_layers_that_may_be_others(train: str, other: str) -> None:
    assert "of another mode" in manual_reason(arms(train, other))


def test_moving_statistics_move_in_training_alone() -> None:
    net = 'predictions = tf.layers.batch_normalization(features["x"], training={})'
    text = migrate(arms(net.format(True), net.format(False)))
    assert text.count("tf.keras.layers.BatchNormalization(") == 1


def test_constants_that_say_nothing_of_the_mode() -> None:
    arm = 'predictions = tf.layers.dropout(features["x"], 0.5, training=True)'
    assert "training=True" in migrate(arms(arm, arm, AFTER.replace("net", "predictions")))


AFTER = "predictions = tf.layers.dense(net, 1)"
