"""`tf.layers`, variables and Keras layers: what is made, under which name, with which defaults."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn, run, units
from modelfn.symbolic import assert_same

TRAINING = "training=mode == tf.estimator.ModeKeys.TRAIN"


def made(call: str, before: str = "") -> tuple[str, str]:
    """`__init__` and `call` of a network whose last layer is `call`."""
    text = migrate(model_fn(f"x = features['x']\n{before}\npredictions = {call}"))
    return method(text, "__init__"), method(text, "call")


@pytest.mark.parametrize(
    ("call", "constructor"),
    [
        ("tf.layers.dense(x, 3)", "Dense(3)"),
        ("tf.layers.dense(inputs=x, units=3)", "Dense(3)"),
        ("tf.layers.dense(x, 3, tf.nn.relu)", "Dense(3, activation=tf.nn.relu)"),
        ("tf.layers.dense(x, 3, None, False)", "Dense(3, use_bias=False)"),
        ("tf.layers.dense(x, 3, name='predictions')", "Dense(3, name='predictions')"),
        ("tf.layers.dense(x, 3, trainable=False)", "Dense(3, trainable=False)"),
        (
            "tf.layers.dense(x, 3, kernel_initializer=tf.zeros_initializer(), bias_initializer=None)",
            "Dense(3, kernel_initializer=tf.zeros_initializer())",
        ),
        ("tf.layers.conv2d(x, 8, 3, 2, 'same')", "Conv2D(8, 3, strides=2, padding='same')"),
        ("tf.layers.conv2d(x, filters=8, kernel_size=[3, 3])", "Conv2D(8, [3, 3])"),
        ("tf.layers.conv2d(x, kernel_size=5, filters=8)", "Conv2D(8, 5)"),
        ("tf.layers.conv1d(x, 4, 2)", "Conv1D(4, 2)"),
        ("tf.layers.max_pooling2d(x, 2, 3)", "MaxPooling2D(2, strides=3)"),
        ("tf.layers.max_pooling2d(x, pool_size=[2, 2], strides=2)", "MaxPooling2D([2, 2], strides=2)"),
        ("tf.layers.average_pooling2d(x, 2, 2)", "AveragePooling2D(2, strides=2)"),
        ("tf.layers.flatten(x)", "Flatten()"),
        ("tf.layers.dropout(x, 0.4)", "Dropout(0.4)"),
        ("tf.layers.dropout(x, rate=0.4, seed=3)", "Dropout(0.4, seed=3)"),
        (
            "tf.contrib.layers.dropout(x, 0.75, noise_shape=[4, 1], seed=3)",
            "Dropout(0.25, noise_shape=[4, 1], seed=3)",
        ),
    ],
)
def test_constructors(call: str, constructor: str) -> None:
    init, body = made(call)
    assert f"self.predictions = tf.keras.layers.{constructor}\n" in init
    assert "return self.predictions(x" in body


def test_batch_normalization_without_update_ops_does_not_move() -> None:
    init, body = made(f"tf.layers.batch_normalization(x, {TRAINING})")
    assert "BatchNormalization(momentum=1.0)" in init
    assert "self.predictions(x, training=training)" in body


def test_batch_normalization_in_inference_mode_by_default() -> None:
    _, body = made("tf.layers.batch_normalization(x)")
    assert "self.predictions(x, training=False)" in body


def test_batch_normalization_with_update_ops() -> None:
    end = """
    loss = tf.reduce_mean(tf.square(labels - predictions))
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
    """
    body = f"predictions = tf.layers.batch_normalization(features['x'], momentum=0.9, {TRAINING})"
    text = migrate(model_fn(body, end=end))
    assert "BatchNormalization(momentum=0.9)" in text
    assert "update_ops" not in text and "control_dependencies" not in text
    assert "BatchNormalization()" in migrate(model_fn(body.replace("momentum=0.9, ", ""), end=end))


def test_attributes_are_named_after_layers_variables_or_kinds() -> None:
    body = """
    hidden_state = tf.layers.dense(features["x"], 8)
    x = tf.layers.dense(hidden_state, 4)
    x = tf.layers.dense(x, 4)
    predictions = tf.layers.dense(x, 1, name="head/out")
    """
    init = method(assert_same(model_fn(body)), "__init__")
    for attribute in ("hidden_state", "dense_1", "dense_2", "head_out"):
        assert f"self.{attribute} = tf.keras.layers.Dense(" in init


@pytest.mark.parametrize("name", ["weights", "losses", "metrics", "layers", "trainable", "call", "fit", "optimizer"])
def test_attributes_that_keras_reserves(name: str) -> None:
    text = assert_same(model_fn(f"predictions = tf.layers.dense(features['x'], 3, name='{name}')"))
    assert f"self.{name} = " not in text
    text = assert_same(model_fn(f"{name} = tf.layers.dense(features['x'], 3)\npredictions = tf.nn.relu({name})"))
    assert f"self.{name} = " not in text


def test_variables_are_reported_by_their_tf1_names() -> None:
    body = """
    with tf.variable_scope("net"):
        x = tf.layers.dense(features["x"], 8)
        with tf.variable_scope("inner"):
            x = tf.layers.dense(x, 4, name="second")
        x = tf.layers.dense(x, 4)
    predictions = tf.layers.dense(x, 1)
    """
    (unit,) = units(run(model_fn(body)))
    names = dict(unit.variables)
    assert names["net/dense/kernel"] == "dense_1.kernel"
    assert names["net/inner/second/bias"] == "second.bias"
    assert names["net/dense_1/kernel"] == "dense_2.kernel"
    assert names["dense/kernel"] == "predictions.kernel"


def test_scopes_leave_no_trace_in_the_forward_pass() -> None:
    body = """
    with tf.variable_scope("net"), tf.name_scope("ops"):
        # inside
        x = tf.layers.dense(features["x"], 8)
        x = tf.nn.relu(x)
    predictions = tf.layers.dense(x, 1)
    """
    text = assert_same(model_fn(body))
    assert "variable_scope" not in text
    assert "        # inside\n        x = self.dense(" in text


def test_get_variable() -> None:
    body = """
    with tf.variable_scope("linear"):
        w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable(name="b", shape=[1], dtype=tf.float32, trainable=False)
    predictions = tf.matmul(features["x"], w) + b
    """
    text = migrate(model_fn(body))
    init = method(text, "__init__")
    assert re.search(
        r'self.linear_w = self.add_weight\(name="linear.w", shape=\[4, 1\], initializer=tf.zeros_initializer', init
    )
    assert re.search(
        r'self.linear_b = self.add_weight\(name="linear.b", shape=\[1\], dtype=tf.float32, trainable=False', init
    )
    assert 'tf.matmul(features["x"], self.linear_w) + self.linear_b' in method(text, "call")


def test_layer_objects_are_made_once_and_shared() -> None:
    body = """
    layer = tf.layers.Dense(3, activation=tf.nn.relu, name="shared")
    predictions = layer(features["x"]) + layer(features["w"])
    """
    text = assert_same(model_fn(body))
    assert text.count("tf.keras.layers.Dense(") == 1


def test_keras_layers() -> None:
    body = """
    hidden = tf.keras.layers.Dense(3, activation="relu")
    predictions = tf.keras.layers.Dense(1)(hidden(features["x"]))
    """
    text = assert_same(model_fn(body))
    assert text.count("tf.keras.layers.Dense(") == 2
    assert "tf.keras" not in method(text, "call")


def test_sequential() -> None:
    body = """
    tower = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
    predictions = tower(features["x"])
    """
    text = migrate(model_fn(body))
    assert "self.tower = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])" in text
    assert 'return self.tower(features["x"])' in text


def test_layers_are_made_in_the_order_of_their_use() -> None:
    body = """
    a = tf.layers.dense(tf.layers.dense(features["x"], 2), 3)
    b = tf.layers.dense(features["w"], 4)
    predictions = a + tf.layers.dense(b, 5)
    """
    init = method(assert_same(model_fn(body)), "__init__")
    assert [line.rsplit("(", 1)[1] for line in init.splitlines() if "Dense(" in line] == ["2)", "3)", "4)", "5)"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("predictions = tf.get_variable('w', [1], custom_getter=g) * features['x']  # HERE", "custom_getter"),
        ("predictions = tf.get_variable('w', [1], collections=['a']) * features['x']  # HERE", "collections"),
        ("predictions = tf.layers.batch_normalization(features['x'], renorm=True)  # HERE", "renorm"),
        ("predictions = tf.layers.dense(units=3)  # HERE", "without inputs"),
        ("predictions = tf.layers.dense(features['x'], 3, unknown=4)  # HERE", "no argument `unknown`"),
    ],
)
def test_left_alone(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body))


def test_a_layer_without_a_name_of_its_own_gets_one_in_lower_case() -> None:
    text = migrate(model_fn("x = tf.contrib.layers.dropout(features['x'], 0.9)\npredictions = tf.layers.dense(x, 1)"))
    assert "self.dropout = tf.keras.layers.Dropout(0.1)\n" in method(text, "__init__")


@pytest.mark.parametrize("call", ["dropout(x, outputs_collections='a')", "flatten(x, outputs_collections='a')"])
def test_contrib_layers_that_fill_a_collection_are_refused(call: str) -> None:
    reason = manual_reason(model_fn(f"x = features['x']\npredictions = tf.contrib.layers.{call}"))
    assert "`outputs_collections`" in reason


@pytest.mark.parametrize(
    ("call", "initializers"),
    [
        ("tf.layers.dense(x, 3)", ["kernel_initializer"]),
        ("tf.layers.dense(x, 3, kernel_initializer=tf.ones_initializer())", []),
        ("tf.layers.separable_conv2d(x, 3, 3)", ["depthwise_initializer", "pointwise_initializer"]),
        ("tf.contrib.layers.fully_connected(x, 3)", []),
        ("tf.keras.layers.Dense(3)(x)", []),
    ],
)
def test_the_initializer_of_a_scope_is_for_layers_without_one(call: str, initializers: list[str]) -> None:
    body = f"""
    with tf.variable_scope("s", initializer=tf.zeros_initializer()):
        predictions = {call}
    """
    text = migrate(model_fn("x = features['x']" + body.replace("\n    ", "\n")))
    assert re.findall(r"(\w+)=tf.zeros_initializer", method(text, "__init__")) == initializers


def test_an_embedding_under_the_initializer_of_a_scope_is_refused() -> None:
    body = """
    with tf.variable_scope("s", initializer=tf.zeros_initializer()):  # HERE
        predictions = tf.contrib.layers.embed_sequence(features["x"], 3, 4)
    """
    assert "initializer" in manual_reason(model_fn(body))


def test_renorm_that_is_off_says_nothing() -> None:
    init, _ = made("tf.layers.batch_normalization(x, renorm=False, momentum=0.5)")
    assert "BatchNormalization(momentum=1.0)" in init


@pytest.mark.parametrize(
    "scopes",
    [
        'tf.device("/cpu:0"), tf.variable_scope("s")',
        'tf.variable_scope("s"), tf.device("/cpu:0")',
        'tf.variable_scope("s"), tf.device("/cpu:0"), tf.name_scope("n")',
        'tf.name_scope("a"), tf.variable_scope("s") as scope, tf.device("/cpu:0")',
    ],
)
def test_scopes_leave_the_with_statement_that_they_share(scopes: str) -> None:
    after = migrate(model_fn(f"with {scopes}:\n    predictions = tf.layers.dense(features['x'], 1)"))
    assert 'with tf.device("/cpu:0"):' in method(after, "call")


@pytest.mark.parametrize(
    ("flag", "written"),
    [
        ("tf.convert_to_tensor(training)", "training"),
        ("tf.constant(training)", "training"),
        ("tf.convert_to_tensor(training, tf.bool)", "tf.convert_to_tensor(training, tf.bool)"),
        ("tf.logical_not(tf.constant(not training))", "tf.logical_not(tf.constant(not training))"),
    ],
)
def test_what_says_that_a_layer_trains_need_be_no_tensor(flag: str, written: str) -> None:
    body = "training = mode == tf.estimator.ModeKeys.TRAIN\n"
    body += f"x = tf.layers.dropout(features['x'], training={flag})\npredictions = tf.layers.dense(x, 1)"
    assert f"training={written})" in method(migrate(model_fn(body)), "call")
