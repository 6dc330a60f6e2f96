"""Shapes and types of datasets, which were attributes."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, method, migrate, run

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
{body}


e = tf.estimator.Estimator(model_fn)
e.train(input_fn)
"""


def program(*lines: str) -> str:
    return PROGRAM.format(body="\n".join(f"    {line}" for line in lines))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            ["ds = tf.data.TextLineDataset('x').map(parse)", "return ds.padded_batch(8, ds.output_shapes)"],
            "return ds.padded_batch(8, tf.nest.map_structure(lambda spec: spec.shape, ds.element_spec))",
        ),
        (
            ["ds = make()", "ds = ds.repeat()", "return ds.padded_batch(8, padded_shapes=(ds.output_shapes))"],
            "return ds.padded_batch(8, padded_shapes=(tf.nest.map_structure(lambda spec: spec.shape, ds.element_spec)))",
        ),
        (
            ["ds = tf.data.Dataset.range(9)", "print(ds.batch(3).output_types)", "return ds"],
            "print(tf.nest.map_structure(lambda spec: spec.dtype, ds.batch(3).element_spec))",
        ),
        (
            ["ds = tf.data.Dataset.range(9)", "print(ds.output_classes)", "return ds"],
            "print(tf.nest.map_structure(lambda spec: spec.value_type, ds.element_spec))",
        ),
    ],
)
def test_what_is_a_dataset(old: list[str], new: str) -> None:
    assert f"    {new}\n" in method(migrate(program(*old)), "input_fn")


@pytest.mark.parametrize(
    "lines",
    [
        ["return read(x.output_shapes)"],
        ["it = tf.data.Dataset.range(9)", "it = other()", "return make(it.output_shapes)"],
        ["return make().output_types"],
    ],
)
def test_what_is_not_seen_to_be_one(lines: list[str]) -> None:
    assert "is read is a dataset" in manual_reason(program(*lines))


OWN = """


class Reader:
    def __init__(self):
        self.output_shapes = 1

    def get(self):
        return self.output_shapes
"""


def test_attributes_of_the_program_stay() -> None:
    assert "return self.output_shapes\n" in migrate(program("return tf.data.Dataset.range(9)") + OWN)


def test_a_program_that_was_migrated_stays() -> None:
    text = migrate(program("ds = tf.data.Dataset.range(9)", "return ds.padded_batch(8, ds.output_shapes)"))
    assert run(text)[PATH].after.decode() == text
