"""Losses that `compile` takes, and those that need a method of the model."""

from __future__ import annotations

import pytest
from modelfn.programs import SPEC, TRAIN_OP, method, migrate, model_fn

LOGITS = 'logits = tf.layers.dense(features["x"], 3)'
KERAS = "tf.keras.losses."


def migrated(loss: str, before: str = LOGITS, after: str = "", train: str = TRAIN_OP) -> str:
    body = f'{before}\npredictions = {{"p": logits}}'
    return migrate(model_fn(body, end=f"loss = {loss}\n{after}\n{train}\n{SPEC}"))


@pytest.mark.parametrize(
    ("loss", "compiled"),
    [
        (
            "tf.losses.sparse_softmax_cross_entropy(labels, logits)",
            f"{KERAS}SparseCategoricalCrossentropy(from_logits=True)",
        ),
        (
            "tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels), name='loss')",
            f"{KERAS}SparseCategoricalCrossentropy(from_logits=True)",
        ),
        (
            "tf.losses.softmax_cross_entropy(labels, logits, label_smoothing=0.1)",
            f"{KERAS}CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)",
        ),
        (
            "tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits)",
            f"{KERAS}SparseCategoricalCrossentropy(from_logits=True)",
        ),
        (
            "tf.losses.softmax_cross_entropy(tf.one_hot(tf.cast(labels, tf.int32), 3), logits, label_smoothing=0)",
            f"{KERAS}SparseCategoricalCrossentropy(from_logits=True)",
        ),
        (
            "tf.losses.sigmoid_cross_entropy(labels, logits, label_smoothing=params['smoothing'])",
            f"{KERAS}BinaryCrossentropy(from_logits=True, label_smoothing=params['smoothing'])",
        ),
        (
            "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.to_float(labels), logits=logits))",
            f"{KERAS}BinaryCrossentropy(from_logits=True)",
        ),
        (
            "tf.losses.sigmoid_cross_entropy(tf.expand_dims(tf.cast(labels, tf.float32), -1), logits)",
            f"{KERAS}BinaryCrossentropy(from_logits=True)",
        ),
        ("tf.losses.mean_squared_error(labels, logits)", '"mse"'),
        ("tf.losses.mean_squared_error(labels=tf.reshape(labels, [-1, 1]), predictions=logits)", '"mse"'),
        ("tf.losses.absolute_difference(labels, logits, weights=1.0)", '"mae"'),
        ("tf.losses.huber_loss(labels, logits)", f"{KERAS}Huber()"),
        ("tf.losses.huber_loss(labels, logits, delta=0.5)", f"{KERAS}Huber(delta=0.5)"),
    ],
)
def test_compile_takes_the_loss(loss: str, compiled: str) -> None:
    text = migrated(loss)
    assert f"loss={compiled}," in text
    assert "compute_loss" not in text and "BatchMean" not in text


@pytest.mark.parametrize(
    "loss",
    [
        "tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=features['w'])",
        "tf.losses.mean_squared_error(labels, logits, weights=0.5)",
        "tf.losses.log_loss(labels, tf.sigmoid(logits))",
        "tf.losses.mean_squared_error(labels + 1.0, logits)",
        "tf.losses.mean_squared_error(labels, 2.0 * logits)",
        "tf.losses.mean_squared_error(labels, tf.sigmoid(logits))",
        "tf.losses.mean_squared_error(labels['y'], logits)",
        "tf.losses.sigmoid_cross_entropy(tf.cast(labels, tf.int32), logits)",
        "tf.losses.sigmoid_cross_entropy(tf.expand_dims(labels, 0), logits)",
        "tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3, 0.9, 0.1), logits)",
        "tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3, axis=0), logits)",
        "tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits, label_smoothing=0.1)",
        "tf.losses.softmax_cross_entropy(labels, logits, label_smoothing=0.1 if mode == 'train' else 0.0)",
        "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=0))",
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), axis=0)",
        "tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))",
        # Keras would not broadcast labels [n] with outputs [n, 1] to [n, n].
        "tf.reduce_mean(tf.square(labels - logits))",
        "0.5 * tf.losses.mean_squared_error(labels, logits)",
        "tf.losses.mean_squared_error(labels, logits) + 0.1 * tf.reduce_sum(tf.square(logits))",
    ],
)
def test_what_keras_computes_otherwise_stays_a_method(loss: str) -> None:
    text = migrated(loss)
    assert "loss=" not in text.split("model.compile(")[1].split("\n")[0]
    assert "def compute_loss" in text


@pytest.mark.parametrize(
    "before",
    [
        'logits = tf.layers.dense(features["x"], 3, activation=tf.nn.softmax)',
        'logits = tf.nn.softmax(tf.layers.dense(features["x"], 3))',
        'net = tf.layers.dense(features["x"], 3, kernel_regularizer=tf.keras.regularizers.l2(0.1))\n'
        "logits = tf.layers.dense(net, 3)",
        'net = tf.keras.layers.Embedding(9, 3, mask_zero=True)(features["x"])\nlogits = tf.reduce_sum(net, 1)',
    ],
)
def test_what_keras_would_look_into(before: str) -> None:
    text = migrated("tf.losses.sparse_softmax_cross_entropy(labels, logits)", before)
    assert "def compute_loss" in text


@pytest.mark.parametrize(
    "after",
    [
        'tf.summary.scalar("my_loss", loss)',
        "tf.identity(loss, name='cross_entropy')\ntf.logging.info('loss %s', loss)",
        "if mode == tf.estimator.ModeKeys.TRAIN:\n    loss += 0.1 * tf.reduce_sum(tf.square(logits))",
    ],
)
def test_what_more_the_loss_is_for(after: str) -> None:
    text = migrated("tf.losses.sparse_softmax_cross_entropy(labels, logits)", after=after)
    assert "def compute_loss" in text


def test_regularizers_are_added_by_keras() -> None:
    before = 'logits = tf.layers.dense(features["x"], 3, kernel_regularizer=tf.keras.regularizers.l2(0.1))'
    loss = "tf.losses.sparse_softmax_cross_entropy(labels, logits)"
    text = migrated(f"{loss} + tf.losses.get_regularization_loss()", before)
    assert "SparseCategoricalCrossentropy(from_logits=True)" in text and "compute_loss" not in text
    text = migrated(f"{loss} + 0.5 * tf.losses.get_regularization_loss()", before)
    assert "def compute_loss" in text


def test_a_step_of_its_own_keeps_the_method() -> None:
    pairs = "optimizer.compute_gradients(loss)"
    train = f"""optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = [(0.5 * g, v) for g, v in {pairs}]
train_op = optimizer.apply_gradients(pairs, global_step=tf.train.get_global_step())"""
    text = migrated("tf.losses.sparse_softmax_cross_entropy(labels, logits)", train=train)
    assert "def train_step" in text and "def compute_loss" in text


def clipped(how: str) -> str:
    """Compiled or not, the loss of a train op that clips."""
    train = f"""optimizer = tf.train.GradientDescentOptimizer(0.1)
variables = tf.trainable_variables()
gradients = tf.gradients(loss, variables)
{how}
train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=tf.train.get_global_step())"""
    return migrated("tf.losses.sparse_softmax_cross_entropy(labels, logits)", train=train)


def test_what_the_optimizer_clips_by_itself_changes_nothing() -> None:
    text = clipped("gradients, _ = tf.clip_by_global_norm(gradients, 0.5)")
    assert "global_clipnorm=0.5" in text and "loss=tf.keras.losses.SparseCategoricalCrossentropy(" in text
    assert "def compute_loss" not in text and "loss_metric" not in text and "def train_step" not in text


def test_gradients_that_a_step_changes_keep_the_method() -> None:
    for how in (
        "gradients, norm = tf.clip_by_global_norm(gradients, 0.5)\ntf.summary.scalar('norm', norm)",
        "gradients = [tf.sign(g) for g in gradients]",
    ):
        text = clipped(how)
        assert "def train_step" in text and "def compute_loss" in text


def test_comments_stand_where_the_loss_does() -> None:
    body = f"{LOGITS}\npredictions = {{'p': logits}}"
    loss = "# Of all ratings.\nloss = tf.losses.mean_squared_error(labels, logits)"
    text = migrate(model_fn(body, end=f"{loss}\n{TRAIN_OP}\n{SPEC}"))
    assert "        # Of all ratings.\n        model.compile(" in text


def test_metrics_cast_labels_for_themselves() -> None:
    body = f"""
        {LOGITS}
        predictions = {{"p": logits}}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions)
        labels = tf.cast(labels, tf.float32)
    """
    end = f"""
        loss = tf.losses.sigmoid_cross_entropy(labels, logits)
        metrics = {{"mean": tf.metrics.mean(labels)}}
        {TRAIN_OP}
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
    """
    text = migrate(model_fn(body, end=end))
    assert "BinaryCrossentropy(from_logits=True)" in text
    assert "labels = tf.cast(y, tf.float32)" in method(text, "compute_metrics")


@pytest.mark.parametrize(
    ("weights", "written"),
    [
        ("0.5", "tf.reduce_mean("),
        ("weights=2", "tf.reduce_mean("),
        ("0.0", "mean_by_nonzero_weights("),
        ("features['w']", "mean_by_nonzero_weights("),
    ],
)
def test_one_weight_of_all_elements_is_a_factor(weights: str, written: str) -> None:
    assert f"loss = {written}" in migrated(f"tf.losses.mean_squared_error(labels, logits, {weights})")
