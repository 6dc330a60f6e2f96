"""Programs that go through all checkpoints are told that there is none of the first weights."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run

PROGRAM = f"""import glob
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def input_fn():
    return tf.data.Dataset.range(3)


estimator = tf.estimator.Estimator(model_fn, "folder")
estimator.train(input_fn)
"""


def _is_said(program: str) -> bool:
    outcomes = run(program).values()
    return any("before the first step" in d.message for o in outcomes for d in (*o.remaining, *o.applied))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('print(glob.glob("folder/model.ckpt-*.index"))', True),
        ('print(tf.gfile.Glob("folder/*.index"))', True),
        ('print(tf.train.get_checkpoint_state("folder").all_model_checkpoint_paths)', True),
        ('print(tf.train.get_checkpoint_state("folder").model_checkpoint_path)', False),
        ('print(glob.glob("data/*.csv"))', False),
        ('print(tf.train.latest_checkpoint("folder"))', False),
    ],
)
def test_what_goes_through_checkpoints(line: str, said: bool) -> None:
    assert _is_said(f"{PROGRAM}{line}\n") is said


def test_without_a_folder() -> None:
    line = 'print(glob.glob("other/model.ckpt-*.index"))\n'
    assert not _is_said(PROGRAM.replace(', "folder")', ")") + line)
