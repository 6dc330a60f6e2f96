"""A model_fn and its input for programs that are written in several ways, and what becomes of them."""

from __future__ import annotations

import textwrap

from modelfn.programs import HELPERS, LOSS, SPEC, TRAIN_OP, joined, migrate, run

INPUT = """def make_input_fn(count, epochs):
    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * count}, [[1.0]] * count)).repeat(epochs).batch(2)

    return input_fn


"""
BODY = f"""predictions = tf.layers.dense(features["x"], 1)
{LOSS}
{TRAIN_OP}
"""
MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode, params):
{textwrap.indent(BODY + SPEC, "    ")}


{INPUT}"""
ESTIMATOR = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1})\n'
TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"


def plain(program: str) -> str:
    """What becomes of a program without any helpers."""
    assert HELPERS not in run(program)
    return joined(migrate(program))


def below(program: str) -> str:
    """What becomes of the code behind the functions of a program, without any helpers."""
    return plain(program).partition("return input_fn\n")[2].strip("\n")
