"""Predictions as a dict, a tensor, a variable: what `predict` yields, and what the loss reads of it."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

END = f"{{}}\n{TRAIN_OP}\n{SPEC}"
ON_LOGITS = END.format("loss = tf.reduce_mean(tf.square(labels - logits))")

BODIES = {
    "tensor": ("predictions = tf.layers.dense(features['x'], 1)", f"{LOSS}\n{TRAIN_OP}\n{SPEC}"),
    "dict of the logits": (
        """
        logits = tf.layers.dense(features["x"], 3)
        predictions = {"logits": logits, "p": tf.nn.softmax(logits)}
        """,
        ON_LOGITS,
    ),
    "logits not among the predictions": (
        """
        logits = tf.layers.dense(features["x"], 3)
        predictions = {"classes": tf.argmax(logits, 1), "p": tf.nn.softmax(logits)}
        """,
        ON_LOGITS,
    ),
    "one prediction, not the logits": (
        """
        logits = tf.layers.dense(features["x"], 3)
        predictions = {"classes": tf.argmax(logits, 1)}
        """,
        ON_LOGITS,
    ),
    "a key that is called logits, of something else": (
        """
        logits = tf.layers.dense(features["x"], 3)
        predictions = {"logits": tf.nn.softmax(logits)}
        """,
        ON_LOGITS,
    ),
    "another tensor than the logits": (
        """
        logits = tf.layers.dense(features["x"], 3)
        predictions = tf.nn.softmax(logits)
        """,
        ON_LOGITS,
    ),
    "dict(...)": (
        """
        logits = tf.layers.dense(features["x"], 3)
        predictions = dict(raw=logits, p=tf.nn.softmax(logits))
        """,
        ON_LOGITS,
    ),
    "loss on an entry of the dict": (
        """
        predictions = {"y": tf.layers.dense(features["x"], 1)}
        """,
        END.format("loss = tf.reduce_mean(tf.square(labels - predictions['y']))"),
    ),
    "dict that is filled later": (
        """
        predictions = {}
        predictions["y"] = tf.layers.dense(features["x"], 1)
        predictions["z"] = tf.nn.relu(predictions["y"])
        """,
        END.format("loss = tf.reduce_mean(tf.square(labels - predictions['y']))"),
    ),
    "two outputs in the loss": (
        """
        a = tf.layers.dense(features["x"], 1)
        b = tf.layers.dense(features["w"], 1)
        predictions = {"sum": a + b}
        """,
        END.format("loss = tf.reduce_mean(tf.square(labels - a)) + tf.reduce_mean(tf.abs(labels - b))"),
    ),
    "features in the loss": (
        "predictions = tf.layers.dense(features['x'], 1)",
        END.format("loss = tf.reduce_mean(tf.square(labels * features['w'] - predictions))"),
    ),
    "a name for a feature": (
        """
        weight = features["w"]
        predictions = tf.layers.dense(features["x"], 1)
        """,
        END.format("loss = tf.reduce_mean(tf.square(labels * weight - predictions))"),
    ),
    "name rebound before the loss": (
        """
        net = tf.layers.dense(features["x"], 4)
        net = tf.nn.relu(net)
        net = tf.layers.dense(net, 1)
        predictions = {"y": net}
        """,
        END.format("loss = tf.reduce_mean(tf.square(labels - net))"),
    ),
    "labels cast": (
        """
        logits = tf.layers.dense(features["x"], 1)
        predictions = {"p": tf.nn.sigmoid(logits)}
        labels = tf.cast(labels, tf.float32)
        labels = tf.reshape(labels, [-1, 1])
        """,
        ON_LOGITS,
    ),
    "labels dict": (
        """
        logits = tf.layers.dense(features["x"], 1)
        predictions = {"p": tf.nn.sigmoid(logits)}
        """,
        END.format("loss = tf.reduce_mean(tf.square(labels['a'] - logits)) + labels['b']"),
    ),
    "features rebound": (
        """
        features = features["x"]
        predictions = tf.layers.dense(features, 1)
        """,
        END.format("loss = tf.reduce_mean(tf.square(labels - predictions)) * features"),
    ),
    "tuple assignment": (
        """
        a, b = features["x"], features["w"]
        predictions = tf.layers.dense(a, 1) * b
        """,
        f"{LOSS}\n{TRAIN_OP}\n{SPEC}",
    ),
}


@pytest.mark.parametrize("name", sorted(set(BODIES) - {"labels cast"}))
def test_same_predictions_and_loss(name: str) -> None:
    body, end = BODIES[name]
    assert_same(model_fn(body, end=end))


def test_labels_are_changed_in_the_loss_only() -> None:
    body = """
    logits = tf.layers.dense(features["x"], 1)
    predictions = {"p": tf.nn.sigmoid(logits)}
    """
    end = f"""
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    labels = tf.cast(labels, tf.float32)
    labels = tf.reshape(labels, [-1, 1])
    loss = tf.reduce_mean(tf.square(labels - logits))
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    """
    text = assert_same(model_fn(body, end=end))
    assert "labels" not in method(text, "call")
    assert "labels = tf.reshape(labels, [-1, 1])" in method(text, "compute_loss")


def test_call_returns_the_logits_alone() -> None:
    body, end = BODIES["logits not among the predictions"]
    text = migrate(model_fn(body, end=end))
    assert method(text, "call").count("    return self.") == 1
    assert "tf.square(y - y_pred)" in method(text, "compute_loss")
    assert method(text, "predict_step").split("\n")[1:3] == [
        "    logits = super().predict_step(data)",
        '    return {"classes": tf.argmax(logits, 1), "p": tf.nn.softmax(logits)}',
    ]


def test_a_dict_of_what_several_tensors_give() -> None:
    body, end = BODIES["two outputs in the loss"]
    text = migrate(model_fn(body, end=end))
    assert 'return {"a": a, "b": b, "sum": a + b}' in method(text, "call")
    assert '{"sum": super().predict_step(data)["sum"]}' in method(text, "predict_step")


@pytest.mark.parametrize(
    "step",
    [
        "net = tf.nn.dropout(net, rate=0.5)",
        "net = net + tf.random.normal(tf.shape(net))",
        "net = tf.layers.dense(net, 3)",
        "net = tf.layers.batch_normalization(net)",
    ],
)
def test_layers_and_what_is_drawn_stay_in_the_forward_pass(step: str) -> None:
    body = f"""
        net = tf.layers.dense(features["x"], 3)
        {step}
        predictions = {{"p": tf.nn.softmax(net)}}
    """
    text = assert_same(model_fn(body, end=END.format("loss = tf.reduce_mean(tf.square(labels - net))")))
    assert method(text, "call").count("net = ") == 1 and "return {" not in method(text, "call")
    assert "net = super().predict_step(data)" in method(text, "predict_step")


def test_an_entry_that_the_metrics_read_is_computed_without_the_others() -> None:
    body = """
        logits = tf.layers.dense(features["x"], 3)
        predictions = {"classes": tf.argmax(logits, 1), "p": tf.nn.softmax(logits)}
    """
    end = f"""
        loss = tf.reduce_mean(tf.square(labels - logits))
        metrics = {{"mean": tf.metrics.mean(predictions["classes"])}}
        {TRAIN_OP}
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics
        )
    """
    text = migrate(model_fn(body, end=end))
    assert "predictions" not in method(text, "compute_metrics") and "softmax" not in method(text, "compute_metrics")
    assert "self.mean.update_state(tf.argmax(y_pred, 1))" in method(text, "compute_metrics")


RECORDED = """
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3)
    predictions = {"p": tf.nn.softmax(logits), "q": tf.nn.sigmoid(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(labels - logits))
    tf.summary.scalar("m", SUMMARY)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors(({"x": [[1.0, 2.0]]}, [[1.0, 2.0, 3.0]])).repeat(8)


estimator = tf.estimator.Estimator(model_fn, "folder")
estimator.train(data, max_steps=8)
"""


READ = [
    'tf.reduce_mean(predictions["p"])',
    'tf.reduce_mean(predictions["p"]) - tf.reduce_sum(predictions["q"])',
    "tf.add_n(list(predictions.values()))[0, 0]",
]


@pytest.mark.parametrize("read", READ)
def test_the_forward_pass_makes_the_dict_of_which_it_reads_something(read: str) -> None:
    call = method(migrate(RECORDED.replace("SUMMARY", read)), "call")
    assert read in call and call.index("predictions = {") < call.index("tf.summary.scalar")
    assert '"p": tf.nn.softmax(logits)' in call[call.index("return") :]


@pytest.mark.parametrize("read", READ[:2])
def test_a_dict_of_which_the_loss_reads_entries_is_not_made_for_it(read: str) -> None:
    summary = f"if mode == tf.estimator.ModeKeys.TRAIN:\n        tf.summary.scalar('m', {read} + loss)"
    text = migrate(RECORDED.replace('tf.summary.scalar("m", SUMMARY)', summary))
    loss = method(text, "compute_loss")
    assert "predictions" not in text and "tf.nn.softmax(y_pred)" in loss
    assert ("tf.nn.sigmoid(y_pred)" in loss) == ('["q"]' in read)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("predictions = {'y': tf.layers.dense(features['x'], 1), **labels}", ""),
        ("predictions = tf.layers.dense(tf.concat([features['x'], labels], 1), 1)  # HERE", "depend on the labels"),
        (
            """
            labels = tf.one_hot(labels, 3)
            predictions = tf.layers.dense(features["x"], 1) + labels
            """,
            "depend on the labels",
        ),
    ],
)
def test_labels_do_not_leak(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body))


def test_a_program_that_only_trains_computes_what_the_labels_are_compared_with() -> None:
    body = 'w = tf.get_variable("w", [3, 1])\nout = tf.matmul(features, w)'
    spec = "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)"
    end = f"loss = tf.losses.mean_squared_error(labels, out)\n{TRAIN_OP}\n{spec}"
    text = migrate(model_fn(body, end=end))
    assert "return tf.matmul(features, self.w)" in text and 'loss="mse"' in text


SIZES = """
x = {x}
size = tf.shape(x)[0]
state = tf.zeros([size, 3])
logits = tf.layers.dense(tf.concat([x, state], 1), 3)
predictions = tf.reshape(logits, [size, 3, 1])
"""


@pytest.mark.parametrize(("x", "again"), [("features['x']", True), ("tf.layers.dense(features['x'], 4)", False)])
def test_sizes_of_features_are_asked_for_again(x: str, again: bool) -> None:
    """Predictions may need the size of a batch, as the forward pass does; that of a layer's output is not known outside of it."""
    spec = "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)"
    end = f"loss = tf.losses.mean_squared_error(labels, logits)\n{TRAIN_OP}\n{spec}"
    text = migrate(model_fn(SIZES.format(x=x), end=end))
    assert ("return self.logits(" in method(text, "call", of="Model")) is again
    assert ("tf.shape(" in text.partition("def predict_step")[2]) is again
