"""Tags of summaries: those that TensorFlow 1 gave them, as the names of their operations in the graph."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn

NET = 'predictions = tf.layers.dense(features["x"], 3, name="fc")'


def tags(end: str, net: str = NET) -> list[str]:
    """The tags that the methods write, as source text."""
    text = migrate(model_fn(net, end=f"{end}\n{TRAIN_OP}\n{SPEC}"))
    return re.findall(r"tf\.summary\.\w+\((.*), \w+\)", text)


# What `tf.summary.scalar(…).name` is in TensorFlow 1.
@pytest.mark.parametrize(
    ("statements", "wanted"),
    [
        ('tf.summary.scalar("mse", loss)', ['"mse"']),
        ("tf.summary.scalar('mse', loss)", ["'mse'"]),
        ('with tf.name_scope("losses"):\n    tf.summary.scalar("mse", loss)', ['"losses/mse"']),
        (
            'with tf.variable_scope("a"):\n    with tf.name_scope("b"):\n        tf.summary.scalar("c", loss)',
            ['"a/b/c"'],
        ),
        ('with tf.name_scope(None, "d"):\n    tf.summary.scalar("c", loss)', ['"c"']),
        ('with tf.name_scope(name="d", values=[loss]):\n    tf.summary.scalar("c", loss)', ['"d/c"']),
        (
            'with tf.name_scope("n"):\n    twice = 2 * loss\nwith tf.name_scope("n"):\n    tf.summary.scalar("c", loss)',
            ['"n_1/c"'],
        ),
        ('tf.summary.scalar("a b:c", loss)', ['"a_b_c"']),
        ('tf.summary.scalar("c", loss)\ntf.summary.scalar("c", loss)', ['"c"', '"c_1"']),
        ('loss = tf.identity(loss, name="mse")\ntf.summary.scalar("mse", loss)', ['"mse_1"']),
        ('with tf.name_scope("loss"):\n    x = 2 * loss\ntf.summary.scalar("loss", x)', ['"loss_1"']),
        ('for i in range(2):\n    tf.summary.scalar("m%d" % i, loss)', ['"m%d" % i']),
        (
            'with tf.name_scope("n"):\n    for i in range(2):\n        tf.summary.scalar("m%d" % i, loss)',
            ['"n/m%d" % i'],
        ),
        ('with tf.name_scope("n"):\n    tf.summary.scalar(params["tag"], loss)', ['"n" + "/" + self.params["tag"]']),
    ],
)
def test_tags_of_the_loss(statements: str, wanted: list[str]) -> None:
    assert tags(f"{LOSS}\n{statements}") == wanted


def test_tags_in_call_have_no_prefix_of_keras() -> None:
    net = f'{NET}\ntf.summary.histogram("out", predictions)\n# the same\ntf.summary.histogram("fc", predictions)'
    text = method(migrate(model_fn(net)), "call")
    assert text.split("features):" if "features):" in text else "training=False):", 1)[1] == (
        """
    predictions = self.fc(features["x"])
    with tf.name_scope(""):  # so that Keras puts no prefix before the tag
        tf.summary.histogram("out", predictions)
        # the same
        tf.summary.histogram("fc_1", predictions)
    return predictions
"""
    )


def test_a_metric_takes_its_name() -> None:
    end = (
        f'{LOSS}\nmean = tf.metrics.mean(predictions)\nother = tf.metrics.mean(labels, name="m")\n'
        f'tf.summary.scalar("mean", mean[1])\ntf.summary.scalar("m", other[1])\n{TRAIN_OP}\n'
        + SPEC.replace(")", ', eval_metric_ops={"mean": mean, "other": other})')
    )
    text = method(migrate(model_fn(NET, end=end)), "compute_metrics")
    assert 'tf.summary.scalar("mean_1", self.mean.result())\n    tf.summary.scalar("m_1", self.other.result())' in text


@pytest.mark.parametrize(
    "statements",
    [
        's = tf.summary.scalar("mse", loss)',
        's = tf.summary.scalar("mse", loss)\nmerged = tf.summary.merge_all()',
        's = tf.summary.scalar("mse", loss)\nmerged = tf.summary.merge([s])',
        'merged = tf.summary.merge([tf.summary.scalar("mse", loss)])',
    ],
)
def test_summaries_with_a_name_are_written_too(statements: str) -> None:
    text = migrate(model_fn(NET, end=f"{LOSS}\n{statements}\n{TRAIN_OP}\n{SPEC}"))
    assert '\n    tf.summary.scalar("mse", loss)\n' in method(text, "compute_loss")
    assert "merge" not in text


def test_scopes_of_layers_of_the_program_stand_before_their_tags() -> None:
    helper = """
def net(x):
    with tf.variable_scope("net"):
        x = tf.layers.dense(x, 4, name="fc")
        tf.summary.histogram("fc", x)
    return x
"""
    text = migrate(model_fn('predictions = tf.layers.dense(net(features["x"]), 3)', before=helper))
    assert 'tf.summary.histogram("net/fc_1", x)' in text


def test_the_value_and_the_update_of_a_metric_may_have_names() -> None:
    end = (
        f'{LOSS}\nmean, update = tf.metrics.mean(predictions)\ntf.summary.scalar("m", update)\n{TRAIN_OP}\n'
        + SPEC.replace(")", ', eval_metric_ops={"mean": (mean, update)})')
    )
    assert 'tf.summary.scalar("m", self.mean.result())' in method(migrate(model_fn(NET, end=end)), "compute_metrics")


def test_a_metric_that_only_the_training_has_is_left() -> None:
    end = f'{LOSS}\nmean = tf.metrics.mean(predictions)  # HERE\ntf.summary.scalar("m", mean[1])\n{TRAIN_OP}\n'
    end += SPEC.replace(")", ', eval_metric_ops={"other": tf.metrics.mean(labels)})')
    assert "not among eval_metric_ops" in manual_reason(model_fn(NET, end=end))


def by_mode(trained: str, evaluated: str, logits: str = "") -> str:
    """A model_fn whose branches for training and evaluation make a metric each."""
    return f"""
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dropout(0.5)])
    if mode == tf.estimator.ModeKeys.PREDICT:
        logits = net(features["x"], training=False)
        return tf.estimator.EstimatorSpec(mode, predictions={{"y": tf.argmax(logits, 1)}})
    if mode == tf.estimator.ModeKeys.TRAIN:
        logits = net(features["x"], training=True)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        {logits or "pass"}
        accuracy = {trained}
        tf.summary.scalar("train_accuracy", accuracy[1])
        train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    logits = net(features["x"], training=False)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={{"accuracy": {evaluated}}})


estimator = tf.estimator.Estimator(model_fn)
"""


ACCURACY = "tf.metrics.accuracy(labels=labels, predictions=tf.argmax(logits, 1))"


@pytest.mark.parametrize(
    "trained", [ACCURACY, 'tf.metrics.accuracy(predictions=tf.argmax(logits, 1), labels=labels, name="acc_op")']
)
def test_a_metric_that_the_training_makes_like_the_evaluation(trained: str) -> None:
    text = migrate(by_mode(trained, ACCURACY))
    assert method(text, "compute_metrics").split("\n")[1:4] == [
        "    self.accuracy.update_state(y, tf.argmax(y_pred, 1))",
        '    tf.summary.scalar("train_accuracy", self.accuracy.result())',
        "    return self.get_metrics_result()",
    ]
    assert text.count("tf.keras.metrics.Accuracy") == 1


@pytest.mark.parametrize(
    ("trained", "change"),
    [
        ("tf.metrics.accuracy(labels=labels, predictions=tf.argmax(logits, 0))", ""),
        ("tf.metrics.mean(labels)", ""),
        ("tf.metrics.accuracy(labels=labels, predictions=tf.argmax(logits, 1), weights=labels)", ""),
        (ACCURACY, "logits = logits * tf.cast(labels, tf.float32)"),  # no longer what the model hands out
    ],
)
def test_another_metric_of_the_training_is_left(trained: str, change: str) -> None:
    assert "not among eval_metric_ops" in manual_reason(by_mode(trained, ACCURACY, change))


BLOCK = """

def block(x, units):
    h = tf.layers.dense(x, units)
    tf.summary.histogram('h', h)
    return h
"""


def test_a_helper_in_scopes_gets_their_names() -> None:
    net = """\
        with tf.variable_scope("tower"):
            h = block(features["x"], 8)
        for i in range(2):
            with tf.name_scope("layer_%d" % i):
                h = block(h, params["units"])
        predictions = tf.layers.dense(h, 1)
        """
    text = migrate(model_fn(net, before=BLOCK))
    assert "def __init__(self, units, name):\n        super().__init__(name=name)\n        self.dense" in text
    assert "tf.summary.histogram(self.name + '/h', h)" in text
    assert 'Block(8, name="tower")' in text
    assert 'Block(params["units"], name="layer_%d" % i) for i in range(2)' in text


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ('with tf.variable_scope("a"):\n    h = block(x, 8)\n    h = block(h, 8)', "again"),
        ('with tf.variable_scope("a"):\n    for i in range(2):\n        h = block(x, 8)', "again"),
        ('with tf.variable_scope(params["units"]):\n    h = block(x, 8)', "in a scope"),
        ('with tf.name_scope("a"):\n    y = 2 * x\nwith tf.name_scope("a"):\n    h = block(y, 8)', "in a scope"),
        (
            'with tf.variable_scope("a"):\n    h = block(x, 8)\nwith tf.variable_scope("a", reuse=True):\n    h = block(h, 8)',
            "in a scope",
        ),
        ("h = block(x, 8)\nh = block(h, 8)", "again"),
        ("h = x\nfor i in range(2):\n    h = block(h, 8)", "again"),
    ],
)
def test_tags_that_a_helper_does_not_know(calls: str, reason: str) -> None:
    source = model_fn(f'x = features["x"]\n{calls}\npredictions = tf.layers.dense(h, 1)', before=BLOCK)
    assert f"a summary in a helper that is called {reason}" in manual_reason(source)


def test_one_call_without_scopes() -> None:
    text = migrate(model_fn('predictions = block(features["x"], 8)', before=BLOCK))
    assert "tf.summary.histogram('h', h)" in text


def test_scopes_around_the_one_call_stand_before_the_tags() -> None:
    inner = 'def outer(x):\n    with tf.name_scope("inner"):\n        return block(x, 4)\n'
    net = 'with tf.variable_scope("a"):\n    with tf.name_scope("b"):\n        h = outer(features["x"])\n'
    net += "predictions = tf.layers.dense(h, 1)"
    text = migrate(model_fn(net, before=BLOCK + "\n\n" + inner))
    assert 'tf.summary.histogram("a/b/inner/h", h)' in text


def test_a_summary_among_what_waits_for_the_updates_of_layers() -> None:
    body = """
    predictions = tf.layers.batch_normalization(features["x"], training=mode == tf.estimator.ModeKeys.TRAIN)
    loss = tf.reduce_mean(tf.square(labels - predictions))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies({updates}):
        tf.summary.scalar("again", loss)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    """
    text = migrate(model_fn(body.format(updates="updates"), end=SPEC))
    assert '    tf.summary.scalar("again", loss)\n' in text and "control_dependencies(updates" not in text
    asked = "[tf.print(loss)]"
    assert "control dependenc" in manual_reason(model_fn(body.format(updates=asked), end=SPEC))
