"""Model_fns inside of methods, which read nothing of these but their object."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, run

CLASS = '''import tensorflow as tf


class Trainer:
    def __init__(self, units):
        self.units = units

    def estimator(self):
        """Makes one."""

        def net(features):
            return tf.layers.dense(features["x"], self.units)

        def model_fn(features, labels, mode, params):
            # as wide as told
            predictions = net(features)
            loss = tf.reduce_mean(tf.square(labels - predictions))
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        return tf.estimator.Estimator(model_fn, params={})


def inputs():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]]}, [[2.0]])).batch(1)


estimator = Trainer(1).estimator()
estimator.train(inputs)
'''


def test_the_object_says_how_the_model_is_made() -> None:
    text = migrate(CLASS)
    assert "(tf.keras.Model):" in text and "compat.v1" not in text and "def net(" not in text


def test_the_comments_come_along() -> None:
    assert "# as wide as told" in migrate(CLASS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    def estimator(self):", "    def estimator(self, units=3):\n        self_units = units\n"),
        ("        def model_fn", "        @traced\n        def model_fn"),
        ("    def __init__", "    model_fn = None\n\n    def __init__"),
        ("features, labels, mode, params)", "features, labels, mode, params, rate=make())"),
    ],
)
def test_what_is_no_method_stays_a_function(old: str, new: str) -> None:
    source = CLASS.replace(old, new)
    if "self_units" in new:
        source = source.replace(
            "self.units)\n\n        def model_fn", "self.units + self_units)\n\n        def model_fn"
        )
    assert source != CLASS
    outcome = run(source)["program.py"]
    assert not [d for d in outcome.remaining if d.code.startswith("E0")]
