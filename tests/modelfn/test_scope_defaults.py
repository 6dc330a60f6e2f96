"""`variable_scope(initializer=…, regularizer=…)`: what a scope says of the variables in it."""

from __future__ import annotations

import re
import textwrap

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

REGULARIZER = "tf.contrib.layers.l2_regularizer(0.1)"


def scoped(call: str, arguments: str = f"regularizer={REGULARIZER}", before: str = "") -> str:
    """A model_fn that makes a layer in a scope with `arguments`."""
    body = f"""
    x = features["x"]
    {before}
    with tf.variable_scope("s", {arguments}):  # HERE
        predictions = {call}
    """
    loss = "loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.losses.get_regularization_loss()"
    train = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
    spec = "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)"
    return model_fn(textwrap.dedent(body), end=f"{loss}\n{train}\n{spec}")


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("tf.layers.dense(x, 3)", ["kernel_regularizer", "bias_regularizer"]),
        ("tf.layers.dense(x, 3, use_bias=False)", ["kernel_regularizer"]),
        ("tf.contrib.layers.fully_connected(x, 3)", ["kernel_regularizer", "bias_regularizer"]),
        (
            "tf.layers.separable_conv2d(x, 3, 3)",
            ["depthwise_regularizer", "pointwise_regularizer", "bias_regularizer"],
        ),
        ('tf.matmul(x, tf.get_variable("w", [3, 4]))', ["regularizer"]),
        ('tf.matmul(x, tf.get_variable("w", [3, 4], regularizer=PARAMS["r"]))', []),
        ('tf.contrib.layers.embed_sequence(x, 3, 4, scope="e")', ["embeddings_regularizer"]),
        ("x * tf.Variable(1.0)", []),
        ("tf.keras.layers.Dense(3)(x)", []),
        ("tf.layers.flatten(x)", []),
    ],
)
def test_every_variable_of_a_scope_is_regularized(call: str, arguments: list[str]) -> None:
    source = scoped(call).replace("tf.losses.get_regularization_loss()", "0.0") if not arguments else scoped(call)
    init = method(migrate(source), "__init__")
    assert re.findall(r"(\w+)=tf.keras.regularizers.L2\(0.1 / 2\)", init) == arguments


def test_the_innermost_scope_counts() -> None:
    inner = f'tf.layers.dense(x, 3)\n    with tf.variable_scope("t", regularizer={REGULARIZER.replace("0.1", "0.7")}):'
    source = scoped(f"{inner}\n        predictions = tf.layers.dense(predictions, 4, use_bias=False)")
    found = re.findall(
        r"Dense\((\d).*?kernel_regularizer=tf.keras.regularizers.L2\((0.\d)",
        joined(method(migrate(source), "__init__")),
    )
    assert found == [("3", "0.1"), ("4", "0.7")]


@pytest.mark.parametrize("arguments", ["regularizer=None", "reuse=False, regularizer=None"])
def test_none_says_nothing(arguments: str) -> None:
    source = scoped("tf.layers.dense(x, 3)", arguments).replace("tf.losses.get_regularization_loss()", "0.0")
    assert "regularizer" not in migrate(source)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("tf.layers.batch_normalization(x)", "regularizes `gamma` as well"),
        (f"tf.layers.dense(x, 3, kernel_regularizer={REGULARIZER})", "both regularize a variable"),
        ('x * tf.get_variable("w", initializer=PARAMS["w"])', "regularizes `variable` as well"),
        ("layer(x)", "a layer object is called under variable_scope(regularizer=…)"),
    ],
)
def test_refused(call: str, reason: str) -> None:
    assert reason in manual_reason(scoped(call, before="layer = tf.layers.Dense(3)" if call == "layer(x)" else ""))


@pytest.mark.parametrize("keyword", ["initializer", "regularizer"])
def test_a_scope_that_is_entered_again_by_name_is_refused(keyword: str) -> None:
    source = scoped("tf.layers.dense(x, 3)", f"{keyword}={REGULARIZER}").replace("):  # HERE", ") as scope:")
    again = "\n    with tf.variable_scope(scope):\n        predictions = tf.layers.dense(predictions, 3, name='b')\n    loss ="
    assert "has a name" in manual_reason(source.replace("\n    loss =", again, 1))


def test_a_helper_is_refused() -> None:
    helper = "def net(x):\n    return tf.layers.dense(x, 3)\n\n\ndef model_fn("
    source = scoped("net(x)").replace("def model_fn(", helper)
    assert "a helper makes layers under variable_scope(regularizer=…)" in manual_reason(source)
