"""Lambdas that make weights and layers, and have a name in a model_fn or in its file."""

from __future__ import annotations

from modelfn.programs import joined, method, migrate, model_fn

WEIGHT = "weight = lambda name, shape: tf.get_variable(name, shape, initializer=tf.zeros_initializer())"
FC = "fc = lambda x, n, act=None: tf.layers.dense(x, n, activation=act)"
BODY = """
h = tf.tanh(tf.matmul(features["x"], weight("w1", [4, 8])))
predictions = tf.matmul(h, weight("w2", [8, 1]))
"""


def test_weights_of_a_lambda_in_the_model_fn() -> None:
    text = migrate(model_fn(f"{WEIGHT}\n{BODY}"))
    assert 'self.w2 = self.add_weight(name="w2", shape=[8, 1]' in joined(method(text, "__init__", "Model"))
    assert "lambda" not in text


def test_weights_of_a_lambda_of_the_file() -> None:
    text = migrate(model_fn(BODY, before=WEIGHT))
    assert "get_variable" not in text and "lambda" not in text


def test_layers_of_a_lambda_of_the_file() -> None:
    text = migrate(model_fn('predictions = fc(fc(features["x"], 8, tf.nn.relu), 1)', before=FC))
    assert "class Fc(tf.keras.layers.Layer)" in text and "lambda" not in text


def test_a_lambda_that_makes_none_stays() -> None:
    body = 'half = lambda x: x / 2.0\npredictions = half(tf.layers.dense(features["x"], 1))'
    assert "half = lambda x: x / 2.0" in migrate(model_fn(body))
