"""The key of the global step is written out where something is looked up by it."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def input_fn():
    return tf.data.Dataset.range(3)


estimator = tf.estimator.Estimator(model_fn, "folder")
estimator.train(input_fn)
result = estimator.evaluate(input_fn)
"""
KEY = "tf.GraphKeys.GLOBAL_STEP"


def test_the_step_of_an_evaluation_is_that_of_the_optimizer() -> None:
    assert "print(model.optimizer.iterations.numpy())" in migrate(MODEL + f"print(result[{KEY}])\n")


@pytest.mark.parametrize("read", [f"result.get({KEY})", f"{KEY} in result"])
def test_a_key_that_is_looked_for(read: str) -> None:
    text = migrate(MODEL + f"print({read})\n")
    assert '"global_step"' in text and "evaluate(estimator, input_fn)" in text


def test_other_uses_stay() -> None:
    assert "GraphKeys.GLOBAL_STEP)" in migrate(MODEL + f"print({KEY})\n")


def test_the_step_is_read_as_a_variable() -> None:
    text = migrate(MODEL + f"print(result['loss'], estimator.get_variable_value({KEY}))\n")
    assert "print(result['loss'], model.optimizer.iterations.numpy())" in text


SCORES = f"""
def scores():
    return {{"loss": result["loss"], {KEY}: 3}}


found = scores()
print(found["global_step"])
"""


def test_an_entry_of_a_dict_of_the_program_is_another() -> None:
    text = migrate(MODEL + SCORES)
    assert '"global_step": 3' in text and 'found["global_step"]' in text and "model.fit(" in text
    other = SCORES.replace('return {"loss": result["loss"], ' + KEY + ": 3}", "return result")
    assert 'found["global_step"]' in other and "evaluate(estimator, input_fn)" in migrate(MODEL + other)
