"""`train` and `evaluate` of a compiled Keras model, with checkpoints in the `model_dir` of a `RunConfig`."""

from __future__ import annotations

import os
import tempfile
import types
from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.checkpoints import Checkpoints
from migrator.runtime.config import RunConfig
from migrator.runtime.execution import StepGrouper, can_group
from migrator.runtime.inputs import ModeKeys
from migrator.runtime.metrics import BatchMean
from migrator.runtime.prepare import create_variables, read_input
from migrator.runtime.strategy import ClusterError
from migrator.runtime.summaries import StepLogger


def configure(
    model: tf.keras.Model, config: RunConfig | None = None, params: Any = None, model_dir: str | None = None
) -> tf.keras.Model:
    """Attaches what `train`, `evaluate` and `predict` need to a compiled model, and returns it.

    Args:
      model: A compiled model; its variables need not exist yet.
      config: None: `RunConfig()`.
      params: Handed to each `input_fn` that takes `params`. None: `model.params`, if there is one.
      model_dir: Folder of checkpoints and event files, if `config` names none.
    """
    if model.distribute_strategy.num_replicas_in_sync > 1:
        raise ClusterError("The model was created for several replicas; this program trains one. Use one device.")
    config = config or RunConfig()
    if model_dir is not None and config.model_dir not in (None, os.fspath(model_dir)):
        raise ValueError(f"model_dir is set both in the RunConfig and as an argument: {config.model_dir}, {model_dir}")
    directory = config.model_dir or model_dir
    if directory is None:
        directory = tempfile.mkdtemp()
        tf.get_logger().warning("Using temporary folder as model directory: %s", directory)
    tf.io.gfile.makedirs(directory)
    model.run_config = config = config.replace(model_dir=directory)
    model.run_state = types.SimpleNamespace(
        params=params,
        steps_per_execution=int(model.steps_per_execution),
        checkpoints=Checkpoints(model, config),
        logger=StepLogger(config),
        predict_step=tf.function(model.predict_step),
    )
    model.train_step, model.test_step = after_batch(model.train_step), after_batch(model.test_step)
    if getattr(model, "loss", None):
        report_batch_loss(model)
    return model


def after_batch(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Lets a train or test step begin only when its batch is there, and outside of Keras' loop over steps.

    Otherwise one step too many is counted where data of unknown length end, and summaries get the name of the loop.
    """

    def step_after_batch(data: Any) -> Any:
        tensors = [tensor for tensor in tf.nest.flatten(data, expand_composites=True) if tensor is not None]
        with tf.name_scope(""), tf.control_dependencies(tensors):
            return step(data)

    return step_after_batch


def report_batch_loss(model: tf.keras.Model) -> None:
    """Reports the loss given to `compile` as a mean over batches; that of Keras is one over examples."""
    model.batch_loss, compute_loss = BatchMean(name="loss"), model.compute_loss

    def compute_batch_loss(*args: Any, **kwargs: Any) -> Any:
        loss = compute_loss(*args, **kwargs)
        model.batch_loss.update_state(loss)
        return loss

    model.compute_loss = compute_batch_loss


def train(
    model: tf.keras.Model,
    input_fn: Callable[..., Any],
    steps: int | None = None,
    max_steps: int | None = None,
    callbacks: Sequence[tf.keras.callbacks.Callback] = (),
    after_save: Callable[[int], None] | None = None,
) -> tf.keras.Model:
    """Trains from the newest checkpoint of `model_dir` on, in one epoch of `Model.fit`, and returns the model.

    Args:
      model: A model that went through `configure`.
      input_fn: Returns a dataset of batches (features, labels); called once.
      steps: Number of further steps.
      max_steps: Number of steps in all, those of former runs included. Without both: until the data end.
      callbacks: Keras callbacks. One that watches batches makes each step run on its own.
      after_save: Called with the step after each checkpoint but the one at the start.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    for limit in (steps, max_steps):
        if limit is not None and limit <= 0:
            raise ValueError(f"steps and max_steps must be > 0, given: {limit}")
    config, logger, checkpoints = model.run_config, model.run_state.logger, model.run_state.checkpoints
    if max_steps is not None and checkpoints.newest_step() >= max_steps:
        tf.get_logger().info("Skipping training since max_steps has already saved.")
        return model

    dataset = read_input(model, input_fn, ModeKeys.TRAIN)
    # Summaries in the model are written in the steps that the logger chooses, those in callbacks always.
    record = tf.summary.record_if(lambda: logger.recording if tf.inside_function() else True)
    with logger.writer(config.model_dir).as_default(logger.step), record:
        create_variables(model, dataset.element_spec, training=True)
        checkpoints.restore(with_optimizer=True)
        checkpoints.after_save = after_save
        if max_steps is not None:
            steps = max_steps - int(model.optimizer.iterations)
        all_callbacks = [logger, *callbacks, *([checkpoints] if config.saves_checkpoints else [])]
        if can_group(model, callbacks):
            all_callbacks.append(StepGrouper(model.run_state.steps_per_execution, [logger, checkpoints]))
        model.steps_per_execution = 1
        model.fit(
            dataset if steps is None else dataset.take(steps),
            steps_per_epoch=-1 if steps is None and is_endless(dataset) else None,
            callbacks=all_callbacks,
            verbose=0,
        )
        model.steps_per_execution = model.run_state.steps_per_execution
    return model


def evaluate(
    model: tf.keras.Model,
    input_fn: Callable[..., Any],
    steps: int | None = None,
    name: str | None = None,
    checkpoint_path: str | None = None,
    callbacks: Sequence[tf.keras.callbacks.Callback] = (),
) -> dict[str, Any]:
    """Evaluates the newest checkpoint, and writes the results to `<model_dir>/eval[_<name>]` for TensorBoard.

    Args:
      model: A model that went through `configure`.
      input_fn: Returns a dataset of batches (features, labels); called once.
      steps: Number of batches at most. None: until the data end.
      name: Distinguishes the folders of several evaluations.
      checkpoint_path: Evaluate this checkpoint instead of the newest.
      callbacks: Keras callbacks.

    Returns:
      Metrics by name, with `loss` (mean over batches) and `global_step` (steps trained).
    """
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify steps > 0, given: {steps}")
    dataset = read_input(model, input_fn, ModeKeys.EVAL)
    if steps is not None:
        dataset = dataset.take(steps)
    if is_endless(dataset):
        raise ValueError("Evaluation on endless data would never return: give steps, or do not repeat the dataset.")
    steps_per_execution = int(model.steps_per_execution)  # a training may be under way
    with tf.summary.record_if(False):
        create_variables(model, dataset.element_spec, training=False)
        model.run_state.checkpoints.restore(checkpoint_path)
        if not can_group(model, callbacks) or dataset.cardinality() < 1:
            model.steps_per_execution = 1
        results = model.evaluate(dataset, callbacks=list(callbacks), verbose=0, return_dict=True)
    model.reset_metrics()
    model.steps_per_execution = steps_per_execution
    step = int(model.optimizer.iterations)
    text = ", ".join(f"{key} = {value}" for key, value in sorted(results.items()))
    tf.get_logger().info("Saving dict for global step %d: %s", step, text)
    folder = os.path.join(model.run_config.model_dir, f"eval_{name}" if name else "eval")
    model.run_state.logger.write(folder, results, step)
    return {**results, "global_step": step}


def is_endless(dataset: tf.data.Dataset) -> bool:
    return bool(dataset.cardinality() == tf.data.INFINITE_CARDINALITY)
