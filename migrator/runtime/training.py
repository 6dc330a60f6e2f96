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
    config, state = model.run_config, model.run_state
    if max_steps is not None and state.checkpoints.newest_step() >= max_steps:
        tf.get_logger().info("Skipping training since max_steps has already saved.")
        return model
    dataset = read_input(model, input_fn, ModeKeys.TRAIN)
    logger, checkpoints = state.logger, state.checkpoints
    writer = logger.writer(config.model_dir)
    with writer.as_default(logger.step), tf.summary.record_if(logger.records):
        create_variables(model, dataset.element_spec, training=True)
        checkpoints.restore(with_optimizer=True)
        if max_steps is not None:
            steps = max_steps - int(model.optimizer.iterations)
        if steps is not None:
            dataset = dataset.take(steps)
        checkpoints.after_save = after_save
        callbacks = [logger, *callbacks, *([checkpoints] if config.saves_checkpoints else [])]
        ...
    return model
