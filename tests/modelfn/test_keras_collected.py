"""What Keras objects of a model_fn collect: lists of their variables, their losses, and updates; and metrics of Keras."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn

NET = """
net = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.BatchNormalization()])
predictions = net(features["x"], training=mode == tf.estimator.ModeKeys.TRAIN)
"""
PLAIN = """
net = tf.keras.Sequential([tf.keras.layers.Dense(3)])
predictions = net(features["x"])
"""
STEP = "tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step(){})"


def stepping(train: str, body: str = PLAIN) -> str:
    """A program whose train op `train` makes."""
    return model_fn(body, end=f"{LOSS}\n{textwrap.dedent(train).strip()}\n{SPEC}")


# -- variables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trainable_variables", "trainable_weights"])
def test_the_variables_of_the_only_object_are_all(name: str) -> None:
    minimized = STEP.format(f", var_list=net.{name}")
    for train in (f"train_op = {minimized}", f"v = net.{name}\ntrain_op = {STEP.format(', var_list=v')}"):
        text = migrate(stepping(train))
        assert "def train_step" not in text and "trainable" not in text


@pytest.mark.parametrize(
    "more",
    [
        "predictions += tf.layers.dense(features['w'], 3)",
        "predictions += tf.keras.layers.Dense(3)(features['w'])",
        "predictions *= tf.get_variable('scale', [3])",
        "predictions = helper(predictions)",
    ],
)
def test_beside_others_they_are_a_list(more: str) -> None:
    source = stepping(f"train_op = {STEP.format(', var_list=net.trainable_variables')}", PLAIN + more)
    helper = "\n\ndef helper(x):\n    return tf.layers.dense(x, 3)\n"
    text = migrate(source.replace("\n\ndef model_fn", f"{helper}\n\ndef model_fn"))
    assert "variables = self.sequential.trainable_variables" in method(text, "train_step")


def test_layers_without_variables_are_no_others() -> None:
    body = f"{PLAIN}predictions = tf.layers.dropout(predictions, 0.1)"
    assert "def train_step" not in migrate(
        stepping(f"train_op = {STEP.format(', var_list=net.trainable_weights')}", body)
    )


def test_other_lists_of_an_object_are_left() -> None:
    assert "`variables` of a Keras object" in manual_reason(
        stepping(f"train_op = {STEP.format(', var_list=net.variables[:1]')}")
    )


# -- updates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "updates",
    [
        "net.updates",
        'net.get_updates_for(features["x"])',
        'net.get_updates_for(None) + net.get_updates_for(features["x"])',
        'net.get_updates_for(features["x"]) + tf.get_collection(tf.GraphKeys.UPDATE_OPS)',
    ],
)
def test_updates_run_by_themselves(updates: str) -> None:
    for train in (
        f"updates = {updates}\nwith tf.control_dependencies(updates):\n    train_op = {STEP.format('')}",
        f"step = {STEP.format('')}\ntrain_op = tf.group(step, {updates})",
        f"step = {STEP.format('')}\ntrain_op = tf.group(step, *({updates}))",
    ):
        text = migrate(stepping(train, NET))
        assert "updates" not in text.replace("updates its", "") and "momentum=1.0" not in text
        assert "def train_step" not in text


def test_updates_of_no_inputs_are_none() -> None:
    train = f"with tf.control_dependencies(net.get_updates_for(None)):\n    train_op = {STEP.format('')}"
    body = NET.replace("tf.keras.Sequential([tf.keras.layers.Dense(3), ", "(").replace("()])", "())")
    assert "momentum=1.0" in migrate(stepping(train, body))  # nothing moves the statistics


def test_updates_that_are_read_before_the_call_are_left() -> None:
    body = NET.replace("predictions", "updates = net.updates\npredictions", 1)
    train = f"with tf.control_dependencies(updates):\n    train_op = {STEP.format('')}"
    assert "read before it is called" in manual_reason(stepping(train, body))


def test_updates_of_something_else_are_left() -> None:
    train = f"with tf.control_dependencies(other.updates):\n    train_op = {STEP.format('')}"
    assert "more than UPDATE_OPS" in manual_reason(
        stepping(train, NET).replace("import tensorflow", "import other\nimport tensorflow", 1)
    )


# -- losses -----------------------------------------------------------------------------------------------------------


def adding(losses: str) -> str:
    """A program that adds losses to its own."""
    loss = f"{LOSS}\nlosses = {losses}\nif losses:\n    loss += tf.add_n(losses)"
    return model_fn(PLAIN, end=f"{loss}\n{TRAIN_OP}\n{SPEC}")


@pytest.mark.parametrize(
    "losses",
    [
        "net.losses",
        'net.get_losses_for(None) + net.get_losses_for(features["x"])',
        'net.get_losses_for(inputs=features["x"]) + net.get_losses_for(None)',
    ],
)
def test_losses_are_those_of_the_object(losses: str) -> None:
    text = method(migrate(adding(losses)), "compute_loss")
    assert "losses = self.sequential.losses\n    if losses:\n        loss += tf.add_n(losses)" in text


@pytest.mark.parametrize(
    "losses",
    [
        "net.get_losses_for(None)",
        'net.get_losses_for(features["x"])',
        'net.get_losses_for(None) + net.get_losses_for(features["w"])',
        "net.get_losses_for(None) + net.get_losses_for(None)",
        'net.get_losses_for(None) - net.get_losses_for(features["x"])',
    ],
)
def test_a_part_of_the_losses_is_left(losses: str) -> None:
    assert "`get_losses_for` of a Keras object" in manual_reason(adding(losses))


# -- metrics ----------------------------------------------------------------------------------------------------------

MEASURED = "return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, eval_metric_ops={})"


def measuring(statements: str, metrics: str = '{"good": m}') -> str:
    """A program whose metrics are `metrics`."""
    end = f"{LOSS}\n{TRAIN_OP}\n{textwrap.dedent(statements).strip()}\n{MEASURED.format(metrics)}"
    return model_fn('predictions = tf.layers.dense(features["x"], 3)', end=end)


@pytest.mark.parametrize(
    ("made", "fed", "kept", "update"),
    [
        ("Accuracy()", "labels, tf.argmax(predictions, 1)", 'Accuracy(name="good")', "y, tf.argmax(y_pred, 1)"),
        ("Mean(name='mine')", "values=predictions", 'Mean(name="good")', "values=y_pred"),
        (
            "AUC(curve='PR', name='mine')",
            "labels, predictions, sample_weight=features['w']",
            "AUC(curve='PR', name=\"good\")",
            "y, y_pred, sample_weight=x['w']",
        ),
    ],
)
def test_metrics_of_keras_stay(made: str, fed: str, kept: str, update: str) -> None:
    text = migrate(measuring(f"m = tf.keras.metrics.{made}\nm.update_state({fed})"))
    assert f"self.good = tf.keras.metrics.{kept}\n" in method(text, "__init__")
    assert f"self.good.update_state({update})\n" in method(text, "compute_metrics")


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("m = tf.keras.metrics.Mean()", "fed once"),
        ("m = tf.keras.metrics.Mean()\nm.update_state(labels)\nm.update_state(predictions)", "fed once"),
        ("m = tf.keras.metrics.Mean()\nif params['x']:\n    m.update_state(labels)", "fed once"),
        ("m = tf.keras.metrics.Mean('mine')\nm.update_state(labels)", "by their names"),
        ("m = tf.keras.metrics.Mean(**params)\nm.update_state(labels)", "by their names"),
        (
            "m = tf.keras.metrics.Mean()\nm.update_state(labels)\ntf.summary.scalar('m', m.result())",
            "read outside of the evaluation",
        ),
        ("m = tf.keras.metrics.Metric()\nm.update_state(labels)", "effect"),
    ],
)
def test_other_metrics_of_keras_are_left(statements: str, reason: str) -> None:
    assert reason in manual_reason(measuring(statements))


def test_a_metric_that_no_evaluation_has_is_left() -> None:
    statements = "m = tf.keras.metrics.Mean()\nm.update_state(labels)"
    assert "effect" in manual_reason(measuring(statements, '{"other": tf.metrics.mean(labels)}'))
