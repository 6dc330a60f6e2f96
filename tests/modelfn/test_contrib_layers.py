"""`tf.contrib.layers` and slim: defaults of their own, written out."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn, run, units

X = "x = features['x']\nis_training = mode == tf.estimator.ModeKeys.TRAIN\n"
END = """
loss = tf.reduce_mean(tf.square(labels - predictions))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""


@pytest.mark.parametrize("place", ["tf.contrib.layers", "tf.contrib.slim"])
@pytest.mark.parametrize(
    ("call", "made", "used"),
    [
        ("batch_norm(x)", "ContribBatchNorm()", "(x, training=True)"),
        (
            "batch_norm(x, 0.9, is_training=is_training, scale=True, activation_fn=tf.nn.relu)",
            "ContribBatchNorm(momentum=0.9, scale=True, activation=tf.nn.relu)",
            "(x, training=training)",
        ),
        ("batch_norm(x, fused=False, epsilon=0.1)", "ContribBatchNorm(epsilon=0.1, fused=False)", "(x, training=True)"),
        ("batch_norm(x, fused=True, renorm=False)", "ContribBatchNorm()", "(x, training=True)"),
        ("batch_norm(x, data_format='NHWC')", "ContribBatchNorm()", "(x, training=True)"),
        ("layer_norm(x)", "ContribLayerNorm()", "(x)"),
        (
            "layer_norm(inputs=x, begin_norm_axis=-1, begin_params_axis=-1)",
            "tf.keras.layers.LayerNormalization(epsilon=1e-12)",
            "(x)",
        ),
        (
            "layer_norm(x, False, begin_norm_axis=-1, activation_fn=None)",
            "tf.keras.layers.LayerNormalization(epsilon=1e-12, center=False)",
            "(x)",
        ),
        (
            "layer_norm(x, begin_norm_axis=-1, activation_fn=tf.nn.relu)",
            "ContribLayerNorm(begin_norm_axis=-1, activation=tf.nn.relu)",
            "(x)",
        ),
        ("max_pool2d(x, 3)", "tf.keras.layers.MaxPooling2D(3, strides=2)", "(x)"),
        (
            "avg_pool2d(x, [2, 2], stride=1, padding='SAME')",
            "tf.keras.layers.AveragePooling2D([2, 2], strides=1, padding='SAME')",
            "(x)",
        ),
        ("linear(x, 3)", "tf.keras.layers.Dense(3)", "(x)"),
        ("relu(x, 3)", 'tf.keras.layers.Dense(3, activation="relu")', "(x)"),
        (
            "embed_sequence(x, 10, embed_dim=3)",
            'tf.keras.layers.Embedding(10, 3, embeddings_initializer="glorot_uniform")',
            "(x)",
        ),
        (
            "embed_sequence(x, 10, 3, initializer=tf.zeros_initializer())",
            "tf.keras.layers.Embedding(10, 3, embeddings_initializer=tf.zeros_initializer())",
            "(x)",
        ),
    ],
)
def test_layers(place: str, call: str, made: str, used: str) -> None:
    text = migrate(model_fn(f"{X}predictions = {place}.{call}", end=END))
    assert f"self.predictions = {made}\n" in method(text, "__init__")
    assert f"return self.predictions{used}\n" in method(text, "call")


def test_updates_in_place_need_no_collection() -> None:
    body = X + "predictions = tf.contrib.layers.batch_norm(x, is_training=is_training{})"
    assert "ContribBatchNorm(momentum=1.0)" in migrate(model_fn(body.format("")))
    assert "ContribBatchNorm()" in migrate(model_fn(body.format(", updates_collections=None")))


def test_variables_have_the_names_of_contrib() -> None:
    body = """
    with tf.variable_scope("net"):
        x = tf.contrib.layers.embed_sequence(features["x"], 5, 4)
        x = tf.contrib.layers.layer_norm(x, scope="norm")
        x = tf.contrib.layers.batch_norm(x, is_training=mode == tf.estimator.ModeKeys.TRAIN)
    predictions = x
    """
    (unit,) = units(run(model_fn(body, end=END)))
    assert dict(unit.variables) == {
        "net/EmbedSequence/embeddings": "embed_sequence.embeddings",
        "net/norm/beta": "norm.beta",
        "net/norm/gamma": "norm.gamma",
        "net/BatchNorm/beta": "batch_norm.beta",
        "net/BatchNorm/moving_mean": "batch_norm.moving_mean",
        "net/BatchNorm/moving_variance": "batch_norm.moving_variance",
    }


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("contrib.layers.batch_norm(x, renorm=True)", "`renorm`"),
        ("contrib.layers.batch_norm(x, data_format='NCHW')", "`data_format`"),
        ("contrib.layers.batch_norm(x, trainable=False)", "`trainable`"),
        ("contrib.layers.batch_norm(x, updates_collections='mine')", "collection of its own"),
        ("contrib.layers.batch_norm(x, param_initializers={})", "`param_initializers`"),
        ("contrib.layers.batch_norm(x, data_format='NCHW')", "`data_format`"),
        ("contrib.layers.layer_norm(x, begin_params_axis=1)", "more than the last axis"),
        ("contrib.layers.max_pool2d(x, 2, data_format='NCHW')", "`data_format`"),
        ("contrib.layers.embed_sequence(x, 3)", "without vocab_size and embed_dim"),
        ("contrib.layers.embed_sequence(x, 3, 4, unique=True)", "`unique`"),
        ("contrib.layers.linear(x, 3, activation_fn=tf.nn.relu)", "with an activation"),
        ("contrib.layers.fully_connected(x, 3, normalizer_fn=tf.contrib.layers.batch_norm)", "`normalizer_fn`"),
        ("layers.batch_normalization(x, trainable=False, training=True)", "`trainable`"),
    ],
)
def test_left_alone(call: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f"{X}predictions = tf.{call}", end=END))
