"""Training and evaluation by the chief of a cluster with parameter servers."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from migrator.runtime.checkpoints.checkpoints import Checkpoints
from migrator.runtime.cluster.orders import largest_divisor, order_of
from migrator.runtime.cluster.tasks import ClusterError, cluster_task
from migrator.runtime.training.local_run import LocalRun
from migrator.runtime.training.messages import log_info
from migrator.runtime.training.summaries import StepLogger


class CoordinatorRun(LocalRun):
    """Training by workers, at the orders of this process, and evaluation in this process."""

    def create_variables(self, spec: Any, training: bool) -> Any:
        with self.model.distribute_strategy.scope():
            return super().create_variables(spec, training)

    def fit(self, dataset: tf.data.Dataset, steps: int | None, callbacks: Sequence[Any], grouped: bool) -> None:
        self.state.checkpoints.after_save = None  # evaluation is the evaluator's
        fit_on_cluster(self.model, dataset, steps, callbacks)

    def evaluate(self, batches: Any, callbacks: Sequence[Any]) -> dict[str, Any]:
        """Workers would share the batches out in no certain way."""
        model = self.model
        model.reset_metrics()
        with model.distribute_strategy.scope():
            test_step, results = tf.function(model.test_step), {}
            for batch in batches:
                results = test_step(batch)
        return {name: float(value) for name, value in results.items()}


class ClusterProgress(tf.keras.callbacks.Callback):
    """Saves and logs where all workers have come to the end of an epoch; between them nobody counts steps."""

    def __init__(self, logger: StepLogger, checkpoints: Checkpoints, interval: int) -> None:
        super().__init__()
        self.logger, self.checkpoints, self.interval = logger, checkpoints, interval

    def on_train_begin(self, logs: Any = None) -> None:
        self.logged_time = time.time()
        self.checkpoints.on_train_begin()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        config, done = self.logger.config, (epoch + 1) * self.interval
        step, scalars = int(self.model.optimizer.iterations.numpy()), {"loss": self.logger.check(logs)}
        if config.log_step_count_steps and done % config.log_step_count_steps == 0:
            now = time.time()
            scalars["global_step/sec"] = config.log_step_count_steps / (now - self.logged_time)
            self.logged_time = now
            log_info("loss = %s, step = %d (%s)", logs["loss"], step, scalars["global_step/sec"])
        if config.save_summary_steps and done % config.save_summary_steps == 0:
            self.logger.write(config.model_dir, scalars, step)
        self.checkpoints.on_train_batch_end(done - 1)

    def on_train_end(self, logs: Any = None) -> None:
        self.checkpoints.on_train_end()


def steps_per_call(interval: int, workers: int, most: int) -> int:
    """How many steps a worker runs at one order: a divisor of `interval`, at the end of which all wait for each other.

    All get as many orders; where that cannot be, two or more each, so that none has to wait for long.
    """
    if interval % workers == 0:
        return largest_divisor(interval // workers, most)
    return largest_divisor(interval, min(most, interval // (2 * workers)))


def fit_on_cluster(
    model: tf.keras.Model, dataset: tf.data.Dataset, steps: int | None, callbacks: Sequence[tf.keras.callbacks.Callback]
) -> None:
    """Trains for `steps` of all workers together. Each worker goes through all of `dataset` by itself.

    Raises ClusterError where the data may end first, as TensorFlow 2 has no orderly end for that.
    """
    size, config = int(dataset.cardinality()), model.run_config
    if steps is None or (size != tf.data.INFINITE_CARDINALITY and size < steps):
        raise ClusterError("With parameter servers, let the dataset repeat() and give the number of steps.")
    wanted = [config.save_checkpoints_steps, config.log_step_count_steps, config.save_summary_steps]
    interval = math.gcd(steps, *[every for every in wanted if every])
    progress = ClusterProgress(model.run_state.logger, model.run_state.checkpoints, interval)
    workers = len(cluster_task().cluster["worker"])
    model.steps_per_execution = at_once = steps_per_call(interval, workers, model.run_state.steps_per_execution)
    model.train_function = model.train_tf_function = None  # so far for this process, not for workers
    if model.run_state.loss_alone:
        order = order_of(model, at_once)
        model.train_function = lambda iterator: model._cluster_coordinator.schedule(order, args=(iterator,))
    model.fit(dataset, epochs=steps // interval, steps_per_epoch=interval, callbacks=[*callbacks, progress], verbose=0)
