"""`InMemoryEvaluator` evaluates when `InMemoryEvaluatorHook` does, on the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from line_program import create_model, input_fn, model_fn, read_events

from migrator.runtime.training.training import evaluate, train
from migrator.runtime.training.training_evaluator import InMemoryEvaluator

needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


def eval_input_fn() -> tf.data.Dataset:
    return input_fn("eval")


@needs_estimators
@pytest.mark.parametrize("save_every", [None, 4])
def test_same_as_the_hook(tmp_path: Path, save_every: int | None) -> None:
    config = tf.estimator.RunConfig(save_checkpoints_steps=save_every, save_checkpoints_secs=None)
    old = tf.estimator.Estimator(model_fn, str(tmp_path / "old"), config)
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(old, eval_input_fn, name="inside", every_n_iter=3)
    old.train(lambda: input_fn("train"), steps=8, hooks=[hook])
    new = create_model(tmp_path / "new", save_checkpoints_steps=save_every, save_checkpoints_secs=None)
    train(new, input_fn, steps=8, callbacks=[InMemoryEvaluator(new, eval_input_fn, name="inside", every_n_iter=3)])
    before, after = (read_events(tmp_path / side / "eval_inside") for side in ("old", "new"))
    assert list(before["mae"]) == list(after["mae"]) == [0, 3, 6, 8]
    for name in ("mae", "loss"):
        assert after[name] == pytest.approx(before[name], rel=1e-6)
    inside = after["loss"]
    after_training: Any = evaluate(new, eval_input_fn)["loss"]
    assert float(after_training) == pytest.approx(inside[8], rel=1e-6)


@pytest.mark.parametrize("every", [0, None])
def test_it_needs_a_number_of_steps(tmp_path: Path, every: Any) -> None:
    with pytest.raises(ValueError, match="every_n_iter must be positive"):
        InMemoryEvaluator(create_model(tmp_path), input_fn, every_n_iter=every)
