"""`train` and `evaluate` of a compiled Keras model, with checkpoints in the `model_dir` of a `RunConfig`."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import types
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.checkpoints.checkpoints import Checkpoints
from migrator.runtime.layers.keras_3_layers import compute_as_keras_2
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.inputs import read_input
from migrator.runtime.training.local_run import LocalRun
from migrator.runtime.training.messages import log_info
from migrator.runtime.training.summaries import StepLogger


def configure(
    model: tf.keras.Model,
    config: RunConfig | None = None,
    params: Any = None,
    model_dir: str | None = None,
    callbacks: Sequence[tf.keras.callbacks.Callback] = (),
    evaluation_callbacks: Sequence[tf.keras.callbacks.Callback] = (),
    training_metrics: bool = False,
) -> tf.keras.Model:
    """Attaches what `train`, `evaluate` and `predict` need to a compiled model, and returns it.

    `params` go to each `input_fn` that takes them (None: `model.params`); `config` may name the `model_dir` instead.
    The callbacks are those of every training and of every evaluation, besides the ones that a call is given.
    `training_metrics`: `train` computes the metrics even if no callback may read them, as summaries show them.
    """
    if hasattr(tf.keras, "ops"):
        tf.get_logger().warning("With Keras 3 losses may differ: install tf_keras, and set TF_USE_LEGACY_KERAS=1.")
        compute_as_keras_2(model)
    if getattr(model, "loss", None) and not hasattr(model, "batch_loss"):
        report_batch_loss(model)
    config = config or RunConfig()
    if model_dir is not None and config.model_dir not in (None, os.fspath(model_dir)):
        raise ValueError(f"model_dir is set both in the RunConfig and as an argument: {config.model_dir}, {model_dir}")
    if config.model_dir is None and model_dir is None:
        model_dir = tempfile.mkdtemp()
        tf.get_logger().warning("Using temporary folder as model directory: %s", model_dir)
    model.run_config = config = config.replace(model_dir=config.model_dir or model_dir)
    tf.io.gfile.makedirs(config.model_dir)
    model.run_state = types.SimpleNamespace(
        params=params,
        # Keras 3 compiles this number in, and could not stop at the steps that are due.
        steps_per_execution=1 if hasattr(tf.keras, "ops") else int(model.steps_per_execution.numpy()),
        checkpoints=Checkpoints(model, config),
        logger=StepLogger(config),
        predict_step=tf.function(model.predict_step),
        callbacks=list(callbacks),
        evaluation_callbacks=list(evaluation_callbacks),
        training_metrics=training_metrics,
        loss_alone=False,
        watched={},
    )
    model.run_state.run = LocalRun(model)
    model.train_step, model.test_step = after_batch(model.train_step), after_batch(model.test_step)
    leave_metrics_to_evaluations(model)
    return model


def after_batch(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Lets a train or test step begin only when its batch is there; else Keras counts one too many where data end."""

    def step_after_batch(data: Any) -> Any:
        tensors = [tensor for tensor in tf.nest.flatten(data, expand_composites=True) if tensor is not None]
        with tf.name_scope(""), tf.control_dependencies(tensors):  # no summary is named after the loop over steps
            return step(data)

    return step_after_batch


def leave_metrics_to_evaluations(model: tf.keras.Model) -> None:
    """Computes no metric but the loss where a training may leave that out, as an Estimator does."""
    compute_metrics, get_metrics_result = model.compute_metrics, model.get_metrics_result

    def of_loss(result: Callable[[Any], Any]) -> dict[str, Any]:
        return {metric.name: result(metric) for metric in model.metrics if metric.name == "loss"}

    def compute(*args: Any, **kwargs: Any) -> Any:
        if model.run_state.loss_alone:
            return of_loss(model.run_state.run.mean_loss)
        return compute_metrics(*args, **kwargs)

    def get_result() -> Any:  # those that are not computed are not built, and Keras 3 refuses to tell them
        if model.run_state.loss_alone:
            return of_loss(lambda metric: metric.result())
        return get_metrics_result()

    model.compute_metrics, model.get_metrics_result = compute, get_result


def train(
    model: tf.keras.Model,
    input_fn: Callable[..., Any],
    steps: int | None = None,
    max_steps: int | None = None,
    callbacks: Sequence[tf.keras.callbacks.Callback] = (),
    after_save: Callable[[int], None] | None = None,
) -> tf.keras.Model:
    """Trains from the newest checkpoint on, `steps` further or to `max_steps` in all, else until the data end.

    With `callbacks`, steps are not grouped, and each computes the metrics; one that has `on_restore` is called before the
    first step instead. `after_save` gets the step of each checkpoint but the one at the start.
    """
    limits = [limit for limit in (steps, max_steps) if limit is not None]
    if len(limits) > 1 or min(limits, default=1) <= 0:
        raise ValueError(f"Give either steps or max_steps, and more than 0; given: {steps}, {max_steps}")
    state = model.run_state
    run, logger, checkpoints = state.run, state.logger, state.checkpoints
    callbacks = [*callbacks, *state.callbacks]
    if max_steps is not None and checkpoints.steps_done() >= max_steps:
        log_info("Skipping training since max_steps has already saved.")
        return model
    starters = [callback for callback in callbacks if hasattr(callback, "on_restore")]  # these see no steps
    watchers = [callback for callback in callbacks if callback not in starters]
    loss_alone = not (watchers or state.training_metrics)
    if loss_alone != state.loss_alone:
        state.loss_alone, model.train_function = loss_alone, None  # to be traced anew
    dataset = read_input(model, input_fn, "train")
    # The logger chooses the steps in which the model writes its summaries; callbacks write theirs at any step.
    record = tf.summary.record_if(lambda: logger.recording if tf.inside_function() else True)
    with logger.writer(logger.config.model_dir).as_default(logger.step), record:
        run.create_variables(dataset.element_spec, training=True)
        checkpoints.restore(with_optimizer=True)
        for callback in starters:
            callback.on_restore(model)
        checkpoints.after_save = after_save
        if max_steps is not None:
            steps = max_steps - int(model.optimizer.iterations.numpy())
        steps = None if steps is None else math.ceil(steps)  # steps / periods may be a fraction
        run.fit(dataset, steps, callbacks, grouped=not watchers)  # watchers may want to see each step
    return model


@contextlib.contextmanager
def within_training(model: tf.keras.Model) -> Iterator[None]:
    """Leaves a training that is under way as it is, with all that its callbacks go on to read of their step."""
    state = model.run_state
    steps_per_execution, loss_alone = int(tf.identity(model.steps_per_execution)), state.loss_alone
    held = [*state.watched.values(), *(variable for metric in model.metrics for variable in metric.variables)]
    values = [tf.identity(variable) for variable in held]
    state.loss_alone = False
    try:
        yield
    finally:
        model.reset_metrics()
        for variable, value in zip(held, values):
            variable.assign(value)
        model.steps_per_execution, state.loss_alone = steps_per_execution, loss_alone


def evaluate(
    model: tf.keras.Model,
    input_fn: Callable[..., Any],
    steps: int | None = None,
    name: str | None = None,
    checkpoint_path: str | None = None,
    callbacks: Sequence[tf.keras.callbacks.Callback] = (),
) -> dict[str, Any]:
    """Evaluates the newest checkpoint (or another one) on `steps` batches, or until the data end.

    Returns metrics by name, with `loss` (mean over batches) and `global_step`; writes them to `eval[_<name>]`.
    """
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify steps > 0, given: {steps}")
    dataset = read_input(model, input_fn, "eval")
    if steps is None and dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ValueError("Evaluation on endless data would never return: give steps, or do not repeat the dataset.")
    run, callbacks = model.run_state.run, [*callbacks, *model.run_state.evaluation_callbacks]
    steps = None if steps is None else math.ceil(steps)
    with tf.summary.record_if(False), within_training(model):
        spec, batches = run.evaluation_batches(dataset, steps)
        run.create_variables(spec, training=False)
        model.run_state.checkpoints.restore(checkpoint_path)
        results = run.evaluate(batches, callbacks) or without_batch(model)
    step, folder = int(model.optimizer.iterations.numpy()), f"eval_{name}" if name else "eval"
    log_info("Saving dict for global step %d: %s", step, results)
    logger = model.run_state.logger
    logger.write(os.path.join(logger.config.model_dir, folder), results, step)
    return {**results, "global_step": step}


def without_batch(model: tf.keras.Model) -> dict[str, Any]:
    """What an Estimator reports where the data end at once: each metric, the loss among them, as it begins."""
    model.reset_metrics()
    found = model.without_batch() if hasattr(model, "without_batch") else model.get_metrics_result()
    results = {name: np.asarray(value) for name, value in found.items()}
    return {name: value if value.ndim else value.item() for name, value in results.items()}


def report_batch_loss(model: tf.keras.Model) -> None:
    """Reports the loss given to `compile` as a mean over batches, as an Estimator does; Keras has one over examples."""
    model.batch_loss, compute_loss = BatchMean(name="loss"), model.compute_loss

    def compute_batch_loss(*args: Any, **kwargs: Any) -> Any:
        loss = (
            compute_loss(*args, **kwargs) * model.distribute_strategy.num_replicas_in_sync
        )  # of which Keras takes one's
        model.batch_loss.update_state(loss)
        return loss

    model.compute_loss = compute_batch_loss
