"""Callbacks for what Estimator hooks did."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.training.messages import log_info
from migrator.runtime.training.summaries import metric_state, resume_metrics


class StopAtStep(tf.keras.callbacks.Callback):
    """Stops after `num_steps` more steps, or when `last_step` is reached."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        if (num_steps is None) == (last_step is None):
            raise ValueError("Exactly one of num_steps and last_step must be given.")
        self.num_steps, self.last_step = num_steps, last_step or 0

    def on_train_begin(self, logs: Any = None) -> None:
        if self.num_steps is not None:
            self.last_step, self.num_steps = int(self.model.optimizer.iterations) + self.num_steps, None

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if int(self.model.optimizer.iterations) >= self.last_step:
            self.model.stop_training = True


class Timer:
    """Says when something is due: at the first step, then `every_steps` later or `every_secs` later."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        self.every_secs, self.every_steps = every_secs, every_steps
        self.step: int | None = None
        self.time = 0.0

    def is_due(self, step: int) -> bool:
        if self.step is None:
            return True
        if self.step == step:
            return False
        by_time = self.every_secs is not None and time.time() >= self.time + self.every_secs
        return by_time or (self.every_steps is not None and step >= self.step + self.every_steps)

    def reset(self, step: int) -> float | None:
        """Notes that it was done at `step`; seconds since the time before."""
        now = time.time()
        passed = None if self.step is None else now - self.time
        self.step, self.time = step, now
        return passed


def watch(model: tf.keras.Model, name: str, tensor: Any) -> Any:
    """Keeps the newest value of a tensor in `model.run_state.watched[name]`, for callbacks; returns the tensor.

    Not while the model is exported: a SavedModel must hold nothing of it.
    """
    if getattr(model.run_state, "exporting", False):
        return tensor
    watched = model.run_state.watched
    if name not in watched:
        with tf.init_scope():
            start = tf.zeros([1] * (tensor.shape.rank or 0), tensor.dtype)
            watched[name] = tf.Variable(start, trainable=False, shape=tf.TensorShape(None))
    watched[name].assign(tensor)
    return tensor


def watched_value(model: tf.keras.Model, name: str) -> Any:
    """The newest value of what the model gives to `watch` under the last part of a name. Raises ValueError if nothing is."""
    watched = model.run_state.watched
    *above, last = name.partition(":")[0].split("/")
    short = above[-1] if above and last == "value" else last  # which losses call their result
    if short not in watched:
        raise ValueError(f"The model gives no {short!r} to `watch`, but: {', '.join(sorted(watched))}")
    return watched[short].numpy()


class TensorLogger(tf.keras.callbacks.Callback):
    """Logs tensors that the model gives to `watch`, as of the first of every `every_n_iter` steps, or by time.

    `tensors` are names, or names by tag; `formatter` makes the line out of values by tag. With `metrics`, those of the model are
    over the steps in which they are read, as in a session; if they are `summarized`, these include the steps of summaries.
    """

    def __init__(
        self,
        tensors: Mapping[str, str] | Sequence[str],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        formatter: Callable[[dict[str, Any]], str] | None = None,
        metrics: bool = False,
        summarized: bool = False,
    ) -> None:
        super().__init__()
        if (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("Exactly one of every_n_iter and every_n_secs must be given.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"every_n_iter must be positive, given: {every_n_iter}")
        self.tensors = dict(tensors) if isinstance(tensors, Mapping) else {name: name for name in tensors}
        self.every_n_iter, self.every_n_secs, self.formatter = every_n_iter, every_n_secs, formatter
        self.metrics, self.summarized = metrics, summarized

    def on_train_begin(self, logs: Any = None) -> None:
        self.timer, self.count = Timer(self.every_n_secs, self.every_n_iter), 0
        self.state: list[Any] = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if self.metrics and self.timer.is_due(self.count):
            resume_metrics(self.model, self.model.run_state.logger.recorded if self.summarized else self.state)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.timer.is_due(self.count):
            self.log()
            if self.metrics:
                self.state = metric_state(self.model)
                if self.summarized:
                    self.model.run_state.logger.recorded = self.state
        self.count += 1

    def on_test_begin(self, logs: Any = None) -> None:
        self.on_train_begin()

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.timer.is_due(self.count):
            self.log()
        self.count += 1

    def log(self) -> None:
        values = {tag: watched_value(self.model, name) for tag, name in self.tensors.items()}
        passed = self.timer.reset(self.count)
        if self.formatter is not None:
            text = self.formatter(values)
        else:
            with np.printoptions(suppress=True):
                text = ", ".join(f"{tag} = {value}" for tag, value in values.items())
            text += "" if passed is None else f" ({passed:.3f} sec)"
        log_info("%s", text)
