"""`RunConfig().replace(…)`, as one call."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate

HEAD = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


"""
USE = """
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=100)
"""


def test_comments_stay() -> None:
    made = "config = tf.estimator.RunConfig().replace(  # often\n    model_dir='m',\n    save_checkpoints_steps=50)\n"
    text = migrate(HEAD + made + USE)
    assert ".replace(" not in text and "# often" in text


@pytest.mark.parametrize(
    "made",
    [
        "config = make().replace(  # often\n    model_dir='m')\n",
        "config = tf.estimator.RunConfig(model_dir='m').replace(  # often\n    save_checkpoints_steps=50)\n",
    ],
)
def test_others_keep_the_helpers(made: str) -> None:
    assert "replace(" in migrate(HEAD + made + USE)
