"""`model`, which a nested model_fn reads of the function around it, and which the Keras model is called as well."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, migrate

PROGRAM = """
import tensorflow as tf


class Ranker:
    def __init__(self, rate):
        self.rate = rate

    def __call__(self, features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": logits})
        loss = tf.losses.mean_squared_error(labels, logits)
        train_op = tf.train.AdamOptimizer(self.rate).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors(({"x": [[1.0, 2.0]]}, [[1.0]])).repeat(8)


def main(rate):
    model = Ranker(rate)

    def model_fn(features, labels, mode):
        return model(features, labels, mode)

    estimator = tf.estimator.Estimator(model_fn, "folder")
    estimator.train(data, max_steps=4)


main(0.1)
"""


def test_the_object_gets_another_name() -> None:
    text = migrate(PROGRAM)
    assert "    network = Ranker(rate)\n" in text
    assert "tf.keras.optimizers.Adam(network.rate, epsilon=1e-8)" in joined(text)
    assert "model = create_model()" in text or "estimator = create_model()" in text


def test_a_name_that_is_taken_is_another() -> None:
    text = migrate(PROGRAM.replace("def main(rate):", "def main(rate):\n    network = 2.0 * rate\n    print(network)"))
    assert "    network_ = Ranker(rate)\n" in text and "network_.rate" in text and "    print(network)\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("main(0.1)", 'model = "of the module"\nmain(0.1)\nprint(model)'),
        ("def data():", "def data(model=None):"),
        ("    estimator = ", "    print([model for model in range(3)])\n    estimator = "),
    ],
)
def test_other_names_stay(old: str, new: str) -> None:
    source = PROGRAM.replace(old, new)
    assert source != PROGRAM
    text = migrate(source)
    assert "    network = Ranker(rate)\n" in text and new.splitlines()[0] in text


def test_a_model_of_any_other_name_stays() -> None:
    text = migrate(PROGRAM.replace("model = Ranker", "ranker = Ranker").replace("return model(", "return ranker("))
    assert "    ranker = Ranker(rate)\n" in text and "ranker.rate" in text and "network" not in text


PARAMETER = """
import tensorflow as tf


def main(model):
    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        loss = tf.losses.mean_squared_error(labels, logits)
        train_op = tf.train.AdamOptimizer(model["rate"]).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return tf.estimator.Estimator(model_fn, "folder")


main({"rate": 0.1})
"""


def test_parameters_stay() -> None:
    assert "`model` is a name that the generated function needs" in manual_reason(PARAMETER)


def test_what_texts_quote_stays() -> None:
    source = PROGRAM.replace("    model = Ranker(rate)\n", "    model = Ranker(rate)\n    print(f'{model.rate}')\n")
    assert "`model` is a name that the generated function needs" in manual_reason(source)
