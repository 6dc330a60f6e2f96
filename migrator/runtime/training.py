"""`train` and `evaluate` of a compiled Keras model, with checkpoints in the `model_dir` of a `RunConfig`."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import types
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.checkpoints import Checkpoints
from migrator.runtime.config import RunConfig
from migrator.runtime.coordinator import evaluate_here, fit_on_cluster, is_coordinated
from migrator.runtime.execution import StepGrouper
from migrator.runtime.inputs import read_input
from migrator.runtime.metrics import BatchMean
from migrator.runtime.replicas import gathers_rows, mean_of_replicas, run_on_replicas, share_out, share_out_evaluation
from migrator.runtime.summaries import StepLogger


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
    config = config or RunConfig()
    if model_dir is not None and config.model_dir not in (None, os.fspath(model_dir)):
        raise ValueError(f"model_dir is set both in the RunConfig and as an argument: {config.model_dir}, {model_dir}")
    if config.model_dir is None and model_dir is None:
        model_dir = tempfile.mkdtemp()
        tf.get_logger().warning("Using temporary folder as model directory: %s", model_dir)
    model.run_config = config = config.replace(model_dir=config.model_dir or model_dir)
    tf.io.gfile.makedirs(config.model_dir)
    checkpoints = Checkpoints(model, config)
    model.run_state = types.SimpleNamespace(
        params=params,
        # Keras 3 compiles this number in, and could not stop at the steps that are due.
        steps_per_execution=1 if hasattr(tf.keras, "ops") else int(model.steps_per_execution.numpy()),
        checkpoints=checkpoints,
        logger=StepLogger(config if checkpoints.writes else config.replace(model_dir=checkpoints.manager.directory)),
        predict_step=tf.function(model.predict_step),
        callbacks=list(callbacks),
        evaluation_callbacks=list(evaluation_callbacks),
        training_metrics=training_metrics,
        loss_alone=False,
        watched={},
    )
    model.train_step, model.test_step = after_batch(model.train_step), after_batch(model.test_step)
    model.compute_metrics = unless_loss_alone(model)
    run_on_replicas(model)
    return model


def after_batch(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Lets a train or test step begin only when its batch is there; else Keras counts one too many where data end."""

    def step_after_batch(data: Any) -> Any:
        tensors = [tensor for tensor in tf.nest.flatten(data, expand_composites=True) if tensor is not None]
        with tf.name_scope(""), tf.control_dependencies(tensors):  # no summary is named after the loop over steps
            return step(data)

    return step_after_batch


def unless_loss_alone(model: tf.keras.Model) -> Callable[..., Any]:
    """`compute_metrics` that leaves the metrics to the evaluations, as an Estimator does, where a training may."""
    compute_metrics = model.compute_metrics

    def compute(*args: Any, **kwargs: Any) -> Any:
        if model.run_state.loss_alone:
            return {metric.name: mean_of_replicas(metric) for metric in model.metrics if metric.name == "loss"}
        return compute_metrics(*args, **kwargs)

    return compute


def create_variables(model: tf.keras.Model, spec: Any, training: bool) -> int:
    """Creates all variables by tracing what Keras will run on batches of this spec; no data are read.

    Returns how many steps one call may run.
    """
    model.steps_per_execution = model.run_state.steps_per_execution  # Keras makes a loop only if there are several
    with model.distribute_strategy.scope():
        function = model.make_train_function() if training else model.make_test_function()
    if not hasattr(function, "get_concrete_function"):  # Keras 3, or a model that runs eagerly
        features = spec[0] if isinstance(spec, tuple) else spec
        tf.function(lambda inputs: model(inputs, training=training)).get_concrete_function(features)
        model.optimizer.build(model.trainable_variables)
    elif gathers_rows(model, function.get_concrete_function(tf.data.IteratorSpec(spec))):
        return 1
    return int(model.run_state.steps_per_execution)


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
    config, logger, checkpoints = model.run_config, model.run_state.logger, model.run_state.checkpoints
    callbacks = [*callbacks, *model.run_state.callbacks]
    if max_steps is not None and checkpoints.steps_done() >= max_steps:
        tf.get_logger().info("Skipping training since max_steps has already saved.")
        return model
    starters = [callback for callback in callbacks if hasattr(callback, "on_restore")]  # these see no steps
    watchers = [callback for callback in callbacks if callback not in starters]
    loss_alone = not (watchers or model.run_state.training_metrics)
    if loss_alone != model.run_state.loss_alone:
        model.run_state.loss_alone, model.train_function = loss_alone, None  # to be traced anew
    dataset = read_input(model, input_fn, "train")
    # The logger chooses the steps in which the model writes its summaries; callbacks write theirs at any step.
    record = tf.summary.record_if(lambda: logger.recording if tf.inside_function() else True)
    with logger.writer(logger.config.model_dir).as_default(logger.step), record:
        most = create_variables(model, dataset.element_spec, training=True)
        checkpoints.restore(with_optimizer=True)
        for callback in starters:
            callback.on_restore(model)
        checkpoints.after_save = after_save
        if max_steps is not None:
            steps = max_steps - int(model.optimizer.iterations.numpy())
        steps = None if steps is None else math.ceil(steps)  # steps / periods may be a fraction
        repeats = dataset.cardinality() == tf.data.INFINITE_CARDINALITY
        endless = repeats and steps is None  # then a callback stops
        if is_coordinated(model):
            checkpoints.after_save = None
            fit_on_cluster(model, dataset, steps, callbacks)
            return model
        # Where data may end, workers ask each other before each step whether all have a batch.
        counted = repeats and steps is not None and model.distribute_strategy.num_replicas_in_sync > 1
        batches = share_out(model.distribute_strategy, dataset, None if counted else steps)
        saves = config.save_checkpoints_steps or config.save_checkpoints_secs
        all_callbacks = [logger, *([checkpoints] if saves else []), *callbacks]
        if not watchers:  # which may want to see each step
            intervals = [config.log_step_count_steps, config.save_summary_steps, config.save_checkpoints_steps]
            intervals.append(checkpoints.steps_between_questions)
            in_step = isinstance(model.distribute_strategy, tf.distribute.MultiWorkerMirroredStrategy)
            all_callbacks.append(StepGrouper(most, intervals, by_clock=not in_step))
        model.steps_per_execution = 1
        unknown = endless or not isinstance(batches, tf.data.Dataset)
        size = steps if counted else -1 if unknown else None
        model.fit(batches, steps_per_epoch=size, callbacks=all_callbacks, verbose=0)
        model.steps_per_execution = model.run_state.steps_per_execution
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
    callbacks = [*callbacks, *model.run_state.evaluation_callbacks]
    steps = None if steps is None else math.ceil(steps)
    with tf.summary.record_if(False), within_training(model):
        spec, batches = share_out_evaluation(model, dataset, steps)
        create_variables(model, spec, training=False)
        model.run_state.checkpoints.restore(checkpoint_path)
        known = isinstance(batches, tf.data.Dataset) and batches.cardinality() > 0
        if callbacks or not known:  # Keras cannot group batches of an unknown number
            model.steps_per_execution = 1
        steps = None if isinstance(batches, tf.data.Dataset) else -1  # all
        if is_coordinated(model):
            results = evaluate_here(model, batches)
        else:
            results = model.evaluate(batches, steps=steps, callbacks=callbacks, verbose=0, return_dict=True)
    step, folder = int(model.optimizer.iterations.numpy()), f"eval_{name}" if name else "eval"
    tf.get_logger().info("Saving dict for global step %d: %s", step, results)
    logger = model.run_state.logger
    logger.write(os.path.join(logger.config.model_dir, folder), results, step)
    return {**results, "global_step": step}


def report_batch_loss(model: tf.keras.Model) -> None:
    """Reports the loss given to `compile` as a mean over batches, as an Estimator does; Keras has one over examples."""
    model.batch_loss, compute_loss = BatchMean(name="loss"), model.compute_loss

    def compute_batch_loss(*args: Any, **kwargs: Any) -> Any:
        # Keras gives each replica its share; here `run_on_replicas` does, as with the losses of all other models.
        loss = compute_loss(*args, **kwargs) * model.distribute_strategy.num_replicas_in_sync
        model.batch_loss.update_state(loss)
        return loss

    model.compute_loss = compute_batch_loss
