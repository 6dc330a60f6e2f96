"""`train` and `evaluate` of a compiled Keras model, with checkpoints in the `model_dir` of a `RunConfig`."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.checkpoints import CheckpointSaver, checkpoint_version
from migrator.runtime.config import RunConfig
from migrator.runtime.execution import StepGrouper, can_group, steps_per_call
from migrator.runtime.inputs import ModeKeys, is_endless
from migrator.runtime.nan_loss import loss_metric
from migrator.runtime.prepare import RunState, prepare_dataset, prepare_model
from migrator.runtime.strategy import ClusterError
from migrator.runtime.summaries import StepLogger, model_summaries


def configure(
    model: tf.keras.Model, config: RunConfig | None = None, params: Any = None, model_dir: str | None = None
) -> tf.keras.Model:
    """Attaches what `train`, `evaluate` and `predict` need to a compiled model, as `model.run_config`.

    Args:
      model: A compiled model; its variables need not exist yet.
      config: None: `RunConfig()`.
      params: Handed to each `input_fn` that takes `params`. None: `model.params`, if there is one.
      model_dir: Folder of checkpoints and event files, if `config` names none.

    Returns:
      The model.

    Raises:
      ValueError: `model_dir` and `config.model_dir` differ.
      ClusterError: the model is replicated, which `train` does not support yet.
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
    model.run_config = config.replace(model_dir=directory)
    model.run_state = RunState(model, model.run_config, params)
    model.train_step, model.test_step = after_batch(model.train_step), after_batch(model.test_step)
    return model


def after_batch(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Lets a train or test step begin only when its batch is there.

    Otherwise one step too many is counted where data of unknown length end: Keras increases the `iterations` of the
    optimizer, or the number of batches in a mean, while the batch that does not come is still awaited.
    """

    def step_after_batch(data: Any) -> Any:
        tensors = [tensor for tensor in tf.nest.flatten(data, expand_composites=True) if tensor is not None]
        with tf.control_dependencies(tensors):
            return step(data)

    return step_after_batch


def train(
    model: tf.keras.Model,
    input_fn: Callable[..., Any],
    steps: int | None = None,
    max_steps: int | None = None,
    callbacks: Sequence[tf.keras.callbacks.Callback] = (),
    after_save: Callable[[int], None] = lambda step: None,
) -> tf.keras.Model:
    """Trains from the newest checkpoint of `model_dir` on, in one epoch of `Model.fit`.

    Args:
      model: A model that went through `configure`.
      input_fn: Returns a dataset of batches (features, labels); called once.
      steps: Number of further steps.
      max_steps: Number of steps in all, those of former runs included; nothing is done if they are reached already.
        With neither of the two, training goes on until the data end.
      callbacks: Keras callbacks. One that watches batches makes each step run on its own. The `loss` in their logs is
        the mean since the last step that was logged.
      after_save: Called with the step after each checkpoint but the one at the start.

    Returns:
      The model.

    Raises:
      ValueError: both `steps` and `max_steps` are given, or one is not positive.
      NanLossError: the loss is not a number.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    for name, value in (("steps", steps), ("max_steps", max_steps)):
        if value is not None and value <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {value}")
    config, state = model.run_config, model.run_state
    if max_steps is not None and steps_trained(model) >= max_steps:
        tf.get_logger().info("Skipping training since max_steps has already saved.")
        return model

    dataset = prepare_dataset(model, input_fn, ModeKeys.TRAIN)
    with model_summaries(model, state.writers, config.model_dir, config.save_summary_steps):
        prepare_model(model, dataset, ModeKeys.TRAIN)
        if max_steps is not None:
            steps = max(0, max_steps - int(model.optimizer.iterations))
        if steps is not None:
            dataset = dataset.take(steps)
        most = state.steps_per_execution if can_group(model, callbacks) else 1
        with steps_per_call(model, 1):
            model.fit(
                dataset,
                steps_per_epoch=-1 if is_endless(dataset) else None,
                callbacks=[*callbacks, *run_callbacks(model, most, after_save)],
                verbose=0,
            )
    return model


def steps_trained(model: tf.keras.Model) -> int:
    """Number of steps in the newest checkpoint, by its name; in the model where it holds that one, or there is none."""
    checkpoints = model.run_state.checkpoints
    latest = checkpoints.latest()
    if latest is None or checkpoint_version(latest) == checkpoints.held:
        return int(model.optimizer.iterations)
    number = re.search(r"-(\d+)$", latest)
    return int(number.group(1)) if number else 0


def run_callbacks(
    model: tf.keras.Model, most_steps_per_call: int, after_save: Callable[[int], None]
) -> list[tf.keras.callbacks.Callback]:
    """Logging, checkpoints and the grouping of steps, in the order in which they have to be called."""
    config, state = model.run_config, model.run_state
    logger = StepLogger(state.writers, config.model_dir, config.log_step_count_steps, config.save_summary_steps)
    saver = CheckpointSaver(state.checkpoints, config.save_checkpoints_steps, config.save_checkpoints_secs, after_save)
    ours: list[tf.keras.callbacks.Callback] = [logger, saver] if config.saves_checkpoints else [logger]
    if most_steps_per_call > 1:
        ours.append(StepGrouper(most_steps_per_call, [callback.steps_until_due for callback in ours]))
    return ours


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

    Raises:
      ValueError: `steps` is not positive, or None for endless data.
    """
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify steps > 0, given: {steps}")
    dataset = prepare_dataset(model, input_fn, ModeKeys.EVAL)
    if steps is not None:
        dataset = dataset.take(steps)
    elif is_endless(dataset):
        raise ValueError("Evaluation on endless data would never return: give steps, or do not repeat the dataset.")
    batch_loss = [BatchLoss()] if getattr(model, "loss", None) else []
    callbacks = [*callbacks, *batch_loss]
    batches_per_call = 1
    if can_group(model, callbacks) and int(dataset.cardinality()) > 0:
        batches_per_call = model.run_state.steps_per_execution
    with tf.summary.record_if(False):
        prepare_model(model, dataset, ModeKeys.EVAL, checkpoint_path)
        model.reset_metrics()
        with steps_per_call(model, batches_per_call):
            results = dict(model.evaluate(dataset, callbacks=callbacks, verbose=0, return_dict=True))
        model.reset_metrics()
    for callback in batch_loss:
        results["loss"] = callback.mean()
    step = int(model.optimizer.iterations)
    tf.get_logger().info(
        "Saving dict for global step %d: %s", step, ", ".join(f"{key} = {results[key]}" for key in sorted(results))
    )
    folder = os.path.join(model.run_config.model_dir, f"eval_{name}" if name else "eval")
    model.run_state.writers.write_scalars(folder, results, step)
    return {**results, "global_step": step}


class BatchLoss(tf.keras.callbacks.Callback):
    """Mean over batches of the loss given to `compile`, which Keras reports as a mean over examples."""

    def __init__(self) -> None:
        super().__init__()
        self.losses: list[float] = []

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        if loss_metric(self.model) is not None:
            loss_metric(self.model).reset_state()

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self.losses.append(float((logs or {})["loss"]))

    def mean(self) -> float:
        return float(np.mean(self.losses))
