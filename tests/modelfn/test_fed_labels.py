"""Layers that are applied to labels: the model is called with them, and predicts without."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

CODE = 'code = tf.layers.dense(features["x"], 3, name="code")\n'
PREDICT = """
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions={"code": code})
"""
FED = """
seen = tf.layers.dense(tf.concat([code, labels], 1), 3, name="seen")
loss = tf.reduce_mean(tf.square(seen - labels))
"""
SPEC = "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)"
END = f"{FED}{TRAIN_OP}\n{SPEC}"


def test_the_model_is_called_with_labels_and_predicts_without() -> None:
    text = assert_same(model_fn(CODE + PREDICT, end=END))
    assert method(text, "call") == (
        """\
def call(self, features, labels=None):
    code = self.code(features["x"])
    if labels is None:
        return {"code": code}

    seen = self.seen(tf.concat([code, labels], 1))
    return {"seen": seen, "code": code}
"""
    )
    assert "y_pred = self(x, labels=y, training=True)" in method(text, "train_step")
    assert "self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))" in text
    assert "y_pred = self(x, labels=y, training=False)" in method(text, "test_step")
    assert "def predict_step" not in text  # there is nothing else that it could give


def test_one_layer_for_features_and_labels() -> None:
    body = """
with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
    real = tf.layers.dense(labels, 1, name="logit")
with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
    fake = tf.layers.dense(code, 1, name="logit")
loss = tf.reduce_mean(fake) - tf.reduce_mean(real)
"""
    text = assert_same(model_fn(CODE + PREDICT, end=f"{body}{TRAIN_OP}\n{SPEC}"))
    assert text.count("Dense(1") == 1


def test_what_loss_and_metrics_share_is_computed_once() -> None:
    metrics = 'metrics = {"error": tf.metrics.mean(error), "seen": tf.metrics.mean(seen)}\n'
    end = f"{FED.replace('loss = tf.reduce_mean(tf.square(seen - labels))', 'error = tf.square(seen - labels)')}"
    end += f"loss = tf.reduce_mean(error)\n{metrics}{TRAIN_OP}\n{SPEC[:-1]}, eval_metric_ops=metrics)"
    text = assert_same(model_fn(CODE + PREDICT, end=end))
    assert "error = tf.square(seen - labels)" in method(text, "call") and text.count("tf.square(") == 1
    assert 'self.error.update_state(y_pred["error"])' in method(text, "compute_metrics")


def test_without_predictions_labels_are_always_there() -> None:
    end = f'{FED}{TRAIN_OP}\nif mode == tf.estimator.ModeKeys.PREDICT:\n    raise ValueError("no labels")\n{SPEC}'
    text = migrate(model_fn(CODE, end=end))
    assert "is None" not in method(text, "call") and "labels=None" in method(text, "call")


def test_what_only_predictions_compute_stands_where_they_return() -> None:
    predict = PREDICT.replace("    return", "    code = tf.round(code)\n    code = code * 2.0\n    return")
    text = assert_same(model_fn(CODE + predict, end=END))
    assert """
    if labels is None:
        predicted_code = tf.round(code)
        predicted_code = predicted_code * 2.0
        return {"code": predicted_code}
""" in method(text, "call")


def test_own_gradients_know_the_labels() -> None:
    train = """
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = [(tf.sign(g), v) for g, v in optimizer.compute_gradients(loss)]
train_op = optimizer.apply_gradients(pairs, tf.train.get_global_step())
"""
    step = method(migrate(model_fn(CODE + PREDICT, end=f"{FED}{train}{SPEC}")), "train_step")
    assert "labels=y, training=True" in step and "tf.sign(g)" in step


def test_weights_that_labels_look_up_stay_in_the_loss() -> None:
    body = 'table = tf.get_variable("table", [10, 3])\n' + CODE + PREDICT
    loss = "loss = tf.reduce_mean(code * tf.nn.embedding_lookup(table, labels))\n"
    text = migrate(model_fn(body, end=f"{loss}{TRAIN_OP}\n{SPEC}"))
    assert "labels" not in method(text, "call") and "def test_step" not in text


@pytest.mark.parametrize(
    "end",
    [
        # predictions are read from what knows the labels
        f"seen = tf.layers.dense(labels, 3)  # HERE\n{LOSS.replace('predictions', 'seen')}\n{TRAIN_OP}\n"
        'return tf.estimator.EstimatorSpec(mode, predictions={"code": code}, loss=loss, train_op=train_op)',
        # in the middle of what predictions need
        "if mode != tf.estimator.ModeKeys.PREDICT:\n    seen = tf.layers.dense(labels, 3)  # HERE\n"
        f"    loss = tf.reduce_mean(seen)\ncode = tf.layers.dense(code, 2)\n{PREDICT}{TRAIN_OP}\n{SPEC}",
    ],
)
def test_predictions_that_do_not_end_before_are_refused(end: str) -> None:
    assert "a layer is applied to the labels" in manual_reason(model_fn(CODE, end=end))
