"""Callbacks against the hooks whose place they take."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import LineModel, create_model, input_fn, model_fn

from migrator.runtime.callbacks.callbacks import StopAtStep, TensorLogger, watch
from migrator.runtime.callbacks.early_stopping import StopWhen, stop_if_no_improvement, stop_if_threshold_crossed
from migrator.runtime.training.step_rates import current_rate
from migrator.runtime.training.train_and_evaluate import EvalSpec, TrainSpec, train_and_evaluate
from migrator.runtime.training.training import configure, evaluate, train

v1 = tf.compat.v1


def train_input() -> tf.data.Dataset:
    return input_fn("train")


def eval_input() -> tf.data.Dataset:
    return input_fn("eval")


@pytest.mark.parametrize("given", [{"num_steps": 3}, {"last_step": 7}, {"last_step": 2}])
def test_stop_at_step(tmp_path: Path, given: Any) -> None:
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "old"))
    estimator.train(train_input, steps=5)
    estimator.train(train_input, hooks=[v1.train.StopAtStepHook(**given)], max_steps=20)
    model = create_model(tmp_path / "new", steps_per_execution=10)
    train(model, train_input, steps=5)
    train(model, train_input, max_steps=20, callbacks=[StopAtStep(**given)])
    assert int(model.optimizer.iterations) == estimator.get_variable_value("global_step")


class WatchedModel(LineModel):
    def call(self, features: Any, training: bool = False) -> Any:
        outputs = super().call(features)
        return {**outputs, "output": watch(self, "outputs", outputs["output"])}

    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        return watch(self, "loss", super().compute_loss(*args, **kwargs))


class Messages(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "the loss" in record.getMessage():
            self.texts.append(record.getMessage())


@pytest.mark.parametrize("given", [{"every_n_iter": 3}, {"every_n_iter": 1}, {"every_n_secs": 1000}])
def test_logged_tensors(tmp_path: Path, given: Any) -> None:
    def formatter(values: dict[str, Any]) -> str:
        return f"the loss is {values['the loss']:.5f}, {np.shape(values['y'])}"

    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = model_fn(features, labels, mode)
        tensors = {"the loss": spec.loss, "y": "add:0"}
        return spec._replace(training_hooks=[v1.train.LoggingTensorHook(tensors, formatter=formatter, **given)])

    found: list[list[str]] = []
    logger = logging.getLogger("tensorflow")
    for side in ("old", "new"):
        handler = Messages()
        logger.addHandler(handler)
        level = logger.level
        logger.setLevel(logging.INFO)
        try:
            if side == "old":
                estimator = tf.estimator.Estimator(old_model_fn, str(tmp_path / side))
                estimator.train(train_input, steps=5)
                estimator.train(train_input, steps=5)
            else:
                model = create_model(tmp_path / side, model=WatchedModel())
                callback = TensorLogger({"the loss": "loss", "y": "scope/outputs:0"}, formatter=formatter, **given)
                train(model, train_input, steps=5, callbacks=[callback])
                train(model, train_input, steps=5, callbacks=[callback])
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
        found.append(handler.texts)
    assert found[0] == found[1] and found[0]


class RateModel(LineModel):
    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        watch(self, "rate", current_rate(self.optimizer))
        watch(self, "step", self.optimizer.iterations)
        return watch(self, "loss", super().compute_loss(*args, **kwargs))


def test_callbacks_of_the_model(tmp_path: Path) -> None:
    """What an EstimatorSpec says of hooks: in trainings and evaluations, with the rate and the number of the step."""

    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = model_fn(features, labels, mode)
        log = v1.train.LoggingTensorHook
        if mode == "eval":
            tensors = {"loss": spec.loss}
            return spec._replace(evaluation_hooks=[log(tensors, 2, formatter=lambda v: f"the loss is {v['loss']:.5f}")])
        step = v1.train.get_global_step()
        rate = v1.train.exponential_decay(0.1, step, 2, 0.5)
        train_op = v1.train.GradientDescentOptimizer(rate).minimize(spec.loss, step)
        tensors = {"loss": spec.loss, "rate": rate, "step": step}
        return spec._replace(train_op=train_op, training_hooks=[log(tensors, 3, formatter=line)])

    def line(values: dict[str, Any]) -> str:
        return f"the loss is {values['loss']:.5f} in step {values['step']}, rate {values['rate']:.5f}"

    found: list[list[str]] = []
    logger = logging.getLogger("tensorflow")
    for side in ("old", "new"):
        handler = Messages()
        logger.addHandler(handler)
        level = logger.level
        logger.setLevel(logging.INFO)
        try:
            if side == "old":
                estimator = tf.estimator.Estimator(old_model_fn, str(tmp_path / side))
                estimator.train(train_input, steps=5)
                estimator.evaluate(eval_input)
            else:
                decay = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
                model = RateModel()
                model.compile(optimizer=tf.keras.optimizers.SGD(decay), steps_per_execution=10)
                configure(
                    model,
                    model_dir=str(tmp_path / side),
                    callbacks=[TensorLogger(["loss", "rate", "step"], 3, formatter=line)],
                    evaluation_callbacks=[
                        TensorLogger(["loss"], 2, formatter=lambda v: f"the loss is {v['loss']:.5f}")
                    ],
                )
                train(model, train_input, steps=5)
                evaluate(model, eval_input)
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
        found.append(handler.texts)
    assert found[0] == found[1] and len(found[0]) > 2


def test_logger_arguments() -> None:
    for given in ({}, {"every_n_iter": 0}, {"every_n_iter": 1, "every_n_secs": 1}):
        with pytest.raises(ValueError, match="every_n_iter"):
            TensorLogger(["loss"], **given)  # type: ignore[arg-type]


CASES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], Any, dict[str, Any]]] = {
    "higher": (
        "stop_if_higher_hook", ("loss", -1.0), {"run_every_steps": 1}, stop_if_threshold_crossed,
        {"higher_is_better": True},
    ),
    "lower": ("stop_if_lower_hook", ("mae", 0.3), {"run_every_steps": 1}, stop_if_threshold_crossed, {}),
    "late": ("stop_if_lower_hook", ("mae", 9.0), {"run_every_steps": 1, "min_steps": 8}, stop_if_threshold_crossed, {}),
    "no increase": (
        "stop_if_no_increase_hook", ("loss", 8), {"run_every_steps": 1}, stop_if_no_improvement, {"higher_is_better": True},
    ),
    "no decrease": ("stop_if_no_decrease_hook", ("loss", 4), {"run_every_steps": 3}, stop_if_no_improvement, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_early_stopping(tmp_path: Path, case: str) -> None:
    hook, arguments, named, function, direction = CASES[case]
    config = tf.estimator.RunConfig(save_checkpoints_steps=4, model_dir=str(tmp_path / "old"))
    estimator = tf.estimator.Estimator(model_fn, config=config)
    old = getattr(tf.estimator.experimental, hook)(estimator, *arguments, run_every_secs=None, **named)
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(train_input, max_steps=24, hooks=[old]),
        tf.estimator.EvalSpec(eval_input, start_delay_secs=0, throttle_secs=0),
    )
    model = create_model(tmp_path / "new")
    callback = function(model, *arguments, run_every_secs=None, **named, **direction)
    train_and_evaluate(
        model,
        TrainSpec(train_input, max_steps=24, callbacks=[callback]),
        EvalSpec(eval_input, start_delay_secs=0, throttle_secs=0),
    )
    assert int(model.optimizer.iterations) == estimator.get_variable_value("global_step")


def test_stop_when_needs_one_interval() -> None:
    with pytest.raises(ValueError, match="Exactly one"):
        StopWhen(None, lambda: True, run_every_secs=60, run_every_steps=1)
