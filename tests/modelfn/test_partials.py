"""`functools.partial` of functions that make layers: its calls are written out, or the program is left to the bridge."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate, model_fn
from modelfn.symbolic import assert_same

IMPORTS = "import functools\nimport tensorflow as tf\n"
PARAMS = {"units": [3, 4], "u": 5, "s": 2.0, "rate": 0.5}

SAME = {
    "keywords": """
        dense = functools.partial(tf.layers.dense, activation=tf.nn.relu)
        predictions = dense(dense(features["x"], 3), 4)
    """,
    "a keyword that the call has too": """
        dense = functools.partial(tf.layers.dense, units=3, use_bias=False)
        predictions = dense(dense(features["x"]), units=2)
    """,
    "positional": """
        x = features["x"]
        dense = functools.partial(tf.layers.dense, x)
        predictions = dense(3) + dense(units=3)
    """,
    "names and initializers": """
        size = params["u"]
        dense = functools.partial(
            tf.layers.dense,
            units=size,  # as many as there are
            kernel_initializer=tf.zeros_initializer(),
        )
        x = dense(features["x"])
        predictions = dense(x, activation=tf.nn.tanh)
    """,
}
REFUSED = {
    "a name that gets another value": """
        size = 3
        dense = functools.partial(tf.layers.dense, units=size)
        size = 4
        predictions = dense(features["x"]) * size
    """,
    "two functions": """
        dense = functools.partial(tf.layers.dense, units=3)
        dense = functools.partial(tf.layers.dense, units=4)
        predictions = dense(features["x"])
    """,
    "unpacked": """
        dense = functools.partial(tf.layers.dense, **{"units": 3})
        predictions = dense(features["x"])
    """,
    "called with unpacked arguments": """
        dense = functools.partial(tf.layers.dense, units=3)
        predictions = dense(features["x"], **params["more"])
    """,
    "computed once": """
        dense = functools.partial(tf.layers.dense, units=next(params["units"]))
        predictions = dense(features["x"])
    """,
}


@pytest.mark.parametrize("name", sorted(SAME))
def test_written_out(name: str) -> None:
    text = assert_same(model_fn(SAME[name], before=IMPORTS), **PARAMS)
    assert "functools" not in text and "partial" not in text


def test_in_a_helper_and_around_one() -> None:
    helper = """import functools
import tensorflow as tf


def block(x, units, activation):
    dense = functools.partial(tf.layers.dense, activation=activation)
    return dense(dense(x, units), units)


double = functools.partial(block, activation=None)
"""
    text = assert_same(model_fn('predictions = double(features["x"], units=params["u"])', before=helper), **PARAMS)
    assert "class Block(tf.keras.layers.Layer):" in text


def test_other_uses_of_functools_stay() -> None:
    before = f"{IMPORTS}\n\n@functools.lru_cache(None)\ndef size():\n    return 3\n"
    body = "dense = functools.partial(tf.layers.dense, units=size())"
    reason = manual_reason(model_fn(f'{body}\npredictions = dense(features["x"])', before=before))
    assert reason
    body = "dense = functools.partial(tf.layers.dense, units=3)"
    text = assert_same(model_fn(f'{body}\npredictions = dense(features["x"]) * size()', before=before), **PARAMS)
    assert "import functools\n" in text


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name: str) -> None:
    assert manual_reason(model_fn(REFUSED[name], before=IMPORTS))


def test_an_import_beside_one_that_goes() -> None:
    """The import of absl stands where that of functools, which the method needed for a while, was deleted."""
    network = """import tensorflow as tf


class Network:
    def __init__(self, units):
        self.units = units

    def model_fn(self, features, labels, mode):
        logging = features["x"]
        predictions = tf.layers.dense(logging, self.units)
        loss = tf.losses.mean_squared_error(labels, predictions)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)


def main(_):
    network = Network(3)
    tf.estimator.Estimator(network.model_fn)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run(main)
"""
    text = migrate(network)
    assert "from absl import app\n" in text and "from absl import logging as absl_logging\n" in text


OF_A_FILE = """
conv = functools.partial(tf.layers.conv2d, padding="same", use_bias=False)


def network(x):
    return conv(conv(x, 4, 3), 3, 3)
"""


def test_of_a_file() -> None:
    text = migrate(model_fn("predictions = network(features['x'])", before=IMPORTS + OF_A_FILE))
    assert 'tf.keras.layers.Conv2D(3, 3, padding="same", use_bias=False)' in text and "partial" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n\ndef network", "\nconv = functools.partial(conv, strides=2)\n\n\ndef network"),
        ('padding="same"', "padding=load()"),
        ("def network(x):", "def network(x, conv=conv):"),
    ],
)
def test_of_a_file_that_may_be_another_one(old: str, new: str) -> None:
    source = model_fn("predictions = network(features['x'])", before=IMPORTS + OF_A_FILE.replace(old, new, 1))
    assert manual_reason(source)
