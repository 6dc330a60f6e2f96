"""Input functions that return a dataset which an object of the program keeps."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, migrate, run

PROGRAM = """import tensorflow as tf


class Pipeline:
    def __init__(self, n, repeat):
        dataset = tf.data.Dataset.from_tensor_slices([[1.0]] * n)
        if repeat:
            dataset = dataset.repeat()
        self.dataset = dataset.map(self._parse).batch(2)

    def _parse(self, x):
        return {"x": x}, x


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train_input_fn():
    return Pipeline(8, True).dataset


def eval_input_fn():
    pipeline = Pipeline(4, repeat=False)
    return pipeline.dataset


estimator = tf.estimator.Estimator(model_fn)
estimator.train(train_input_fn, steps=5)
print(estimator.evaluate(eval_input_fn))
"""


def test_the_dataset_of_an_object() -> None:
    text = migrate(PROGRAM)
    assert "model.fit(train_input_fn().take(5))" in text and "model.evaluate(eval_input_fn(), return_dict=True)" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        self.dataset = dataset", "        self.dataset = make(dataset)\n        dataset = dataset"),
        ("    def _parse(self, x):", "    def drop(self):\n        self.dataset = None\n\n    def _parse(self, x):"),
        ("class Pipeline:", "class Pipeline(Base):"),
        ("        self.dataset = dataset", "        for _ in range(n):\n            self.dataset = dataset"),
        ("    return pipeline.dataset", "    pipeline.dataset = other(pipeline)\n    return pipeline.dataset"),
    ],
)
def test_attributes_that_may_be_something_else_are_not_seen(old: str, new: str) -> None:
    assert ".fit(" not in run(PROGRAM.replace(old, new))[PATH].after.decode()


PROPERTY = PROGRAM.replace(
    """    def _parse""",
    """    @property
    def half(self):
        return self.whole().take(2)

    def whole(self):
        return self.dataset

    def _parse""",
).replace("    return pipeline.dataset", "    return pipeline.half")
"""A property, which is read as what its function returns, with a method in it."""
LAMBDA = PROPERTY.replace("estimator.evaluate(eval_input_fn)", "estimator.evaluate(lambda: pipeline.half)").replace(
    "estimator = ", "pipeline = Pipeline(4, repeat=False)\nestimator = "
)


@pytest.mark.parametrize("program", [PROPERTY, LAMBDA])
def test_a_property(program: str) -> None:
    program = program.replace(
        "return self.dataset", "return tf.data.Dataset.from_tensor_slices(({'x': X}, X)).batch(2)"
    )
    assert ".evaluate(" in migrate(program) and ".fit(" in migrate(program)


@pytest.mark.parametrize("decorator", ["@functools.cached_property", "@remembered", "@property\n    @remembered"])
def test_other_decorators_are_not_followed(decorator: str) -> None:
    assert ".fit(" not in run(LAMBDA.replace("@property", decorator))[PATH].after.decode()
