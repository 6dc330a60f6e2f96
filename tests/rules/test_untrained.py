"""An Estimator that no given file trains goes to others, whose owner is told."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def build(model_dir):
    return tf.estimator.Estimator(model_fn, model_dir)
"""


def told(**files: str) -> bool:
    outcomes = run({f"{name}.py": text for name, text in files.items()}, style="auto")
    return any("no given file trains" in d.message for outcome in outcomes.values() for d in outcome.remaining)


def test_of_callers_that_are_not_given() -> None:
    assert told(model=MODEL)


@pytest.mark.parametrize("use", ["train(input_fn)", "evaluate(input_fn)", "predict(input_fn)"])
def test_nothing_is_said_where_it_is_used(use: str) -> None:
    assert not told(model=MODEL, task=f"from model import build\n\nbuild('m').{use}\n")


def test_nothing_is_said_of_train_and_evaluate() -> None:
    task = """import tensorflow as tf
from model import build

tf.estimator.train_and_evaluate(build("m"), tf.estimator.TrainSpec(f, max_steps=9), tf.estimator.EvalSpec(f))
"""
    assert not told(model=MODEL, task=task)
