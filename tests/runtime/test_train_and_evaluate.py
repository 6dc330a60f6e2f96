"""When `train_and_evaluate` evaluates, against Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from line_program import create_model, input_fn, model_fn, read_events

from migrator.runtime.training.train_and_evaluate import EvalSpec, TrainSpec, train_and_evaluate
from migrator.runtime.training.training import train

# Steps evaluated in 18 steps with a checkpoint every 5, as Estimator does it.
EVALUATED = {0: [5, 10, 15, 18], 600: [5, 18]}


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
@pytest.mark.parametrize("throttle_secs", EVALUATED)
def test_recorded_values_are_those_of_estimator(tmp_path: Path, throttle_secs: int) -> None:
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path), tf.estimator.RunConfig(save_checkpoints_steps=5))
    train_spec = tf.estimator.TrainSpec(input_fn, max_steps=18)
    eval_spec = tf.estimator.EvalSpec(input_fn, throttle_secs=throttle_secs)
    metrics, exports = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    assert sorted(read_events(tmp_path / "eval")["mae"]) == EVALUATED[throttle_secs]
    assert (metrics["global_step"], exports) == (18, [])
    assert tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec) == (None, None)


@pytest.mark.parametrize("throttle_secs", EVALUATED)
def test_evaluates_at_the_same_checkpoints(tmp_path: Path, throttle_secs: int) -> None:
    model = create_model(tmp_path, steps_per_execution=100, save_checkpoints_steps=5)
    train_spec = TrainSpec(input_fn, max_steps=18)
    eval_spec = EvalSpec(input_fn, throttle_secs=throttle_secs)
    metrics, exports = train_and_evaluate(model, train_spec, eval_spec)
    assert sorted(read_events(tmp_path / "eval")["mae"]) == EVALUATED[throttle_secs]
    assert metrics is not None and metrics["mae"] == pytest.approx(read_events(tmp_path / "eval")["mae"][18])
    assert (metrics["global_step"], exports) == (18, [])
    assert train_and_evaluate(model, train_spec, eval_spec) == (None, None)


def test_evaluations_do_not_change_the_training(tmp_path: Path) -> None:
    train_spec, eval_spec = TrainSpec(input_fn, max_steps=18), EvalSpec(input_fn, throttle_secs=0, name="often")
    train_and_evaluate(create_model(tmp_path / "a", save_checkpoints_steps=5), train_spec, eval_spec)
    train(create_model(tmp_path / "b", save_checkpoints_steps=5), input_fn, max_steps=18)
    evaluated, plain = read_events(tmp_path / "a"), read_events(tmp_path / "b")
    assert sorted(read_events(tmp_path / "a" / "eval_often")["loss"]) == EVALUATED[0]
    assert evaluated == plain


def test_needs_checkpoints(tmp_path: Path) -> None:
    model = create_model(tmp_path, save_checkpoints_steps=None)
    with pytest.raises(ValueError, match="save_checkpoints"):
        train_and_evaluate(model, TrainSpec(input_fn, max_steps=1), EvalSpec(input_fn))


@pytest.mark.parametrize(
    ("spec", "arguments", "error"),
    [
        (TrainSpec, {"max_steps": 0}, ValueError),
        (TrainSpec, {"input_fn": None}, TypeError),
        (EvalSpec, {"steps": 0}, ValueError),
        (EvalSpec, {"name": 3}, TypeError),
        (EvalSpec, {"throttle_secs": -1}, ValueError),
        (EvalSpec, {"start_delay_secs": -1}, ValueError),
    ],
)
def test_wrong_specs(spec: Any, arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        spec(**{"input_fn": input_fn, **arguments})
    if hasattr(tf, "estimator"):
        with pytest.raises(error):
            getattr(tf.estimator, spec.__name__)(**{"input_fn": input_fn, **arguments})


def test_spec_defaults() -> None:
    assert (EvalSpec(input_fn).steps, EvalSpec(input_fn).throttle_secs) == (100, 600)
    assert EvalSpec(input_fn, steps=None).steps is None
    assert TrainSpec(input_fn).max_steps is None
