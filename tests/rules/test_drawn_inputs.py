"""Input functions that return other tensors at each step are refused: in TensorFlow 2 these would be made once."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate, run, units

MODEL = f"""import functools
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features, 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def input_fn(size=2):
    BODY


estimator = tf.estimator.Estimator(model_fn)
"""
TRAIN = "estimator.train(input_fn, steps=2)\n"


def program(body: str, train: str = TRAIN) -> str:
    return MODEL.replace("BODY", body) + train


@pytest.mark.parametrize("style", ["native", "auto"])
@pytest.mark.parametrize(
    "body",
    [
        "return tf.random_normal([2, 3]), tf.ones([2, 1])",
        "return tf.random.uniform([size, 3]), tf.ones([2, 1])",
        "return tf.py_func(read, [], tf.float32), tf.ones([2, 1])",
        "x = tf.random_shuffle(X)\n    return x, tf.reduce_sum(x, 1)",
    ],
)
def test_refused(body: str, style: str) -> None:
    (unit,) = units(run(program(body), style))
    assert unit.tier == "manual" and "made anew at each step" in unit.reason and "(program.py:13)" in unit.reason


@pytest.mark.parametrize(
    "train",
    [
        "estimator.train(input_fn=input_fn, steps=2)\n",
        "estimator.evaluate(lambda: input_fn(3), steps=1)\n",
        "estimator.train(functools.partial(input_fn, 3), steps=1)\n",
        "spec = tf.estimator.TrainSpec(input_fn, max_steps=2)\n",
    ],
)
def test_wherever_it_is_given(train: str) -> None:
    (unit,) = units(run(program("return tf.random_normal([2, 3]), tf.ones([2, 1])", train)))
    assert "tf.random_normal" in unit.reason or "tf.random.normal" in unit.reason


@pytest.mark.parametrize(
    "body",
    [
        "return tf.ones([2, 3]), tf.ones([2, 1])",
        "tf.set_random_seed(3)\n    return tf.ones([2, 3]), tf.ones([2, 1])",
        "return tf.data.Dataset.range(9).map(lambda i: (tf.random_normal([2, 3]), tf.ones([2, 1])))",
        "noise = tf.random_normal([3])\n    return tf.data.Dataset.range(9).map(lambda i: (noise, tf.ones([1]))).batch(2)",
    ],
)
def test_migrated(body: str) -> None:
    text = migrate(program(body))
    batches = "input_fn()" if "Dataset" in body else "tf.data.Dataset.from_tensors(input_fn()).repeat()"
    assert f"model.fit({batches}.take(2))" in text


def test_a_function_that_is_no_input_fn_may_draw() -> None:
    assert migrate(
        program("return tf.ones([2, 3]), tf.ones([2, 1])\n\n\ndef noise():\n    return tf.random_normal([3])")
    )
