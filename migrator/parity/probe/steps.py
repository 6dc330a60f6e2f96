"""Sees every training step of the new program: its true loss, in the graph, and the variables after it."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from .replay import Replay, Stream

_LOCAL = threading.local()


def record_losses(stream: Stream, model: Any) -> None:
    """Make `model.train_step` write its true loss into a buffer, in the graph; logs hold only running means."""
    import tensorflow as tf

    strategy = getattr(model, "distribute_strategy", None) or tf.distribute.get_strategy()
    in_sync = strategy.num_replicas_in_sync
    if stream.losses is None:
        stream.coordinated = is_coordinated(model)
        stream.replicas = 1 if in_sync == 1 else len(strategy.extended.worker_devices)  # of this process
        stream.losses = _apart(model, tf.zeros([stream.replicas, len(stream.steps) + 16], tf.float64))
        stream.counter = _apart(model, tf.zeros([stream.replicas], tf.int64))
        stream.reported = _apart(model, tf.constant(np.nan, tf.float64))
    if getattr(model.train_step, "_parity", None) is stream:
        return
    train_step, compute_loss = model.train_step, model.compute_loss

    def watched_compute_loss(*args: Any, **named: Any) -> Any:
        loss = compute_loss(*args, **named)
        if getattr(_LOCAL, "losses", None) is not None:
            _LOCAL.losses.append(loss)
        return loss

    def watched_train_step(*args: Any, **named: Any) -> Any:
        _LOCAL.losses, _LOCAL.targets = [], []
        batch = tf.nest.flatten((args, named), expand_composites=True) if stream.counted else []
        try:
            with tf.control_dependencies([part for part in batch if tf.is_tensor(part)]):
                logs = train_step(*args, **named)
            seen = _LOCAL.losses or _LOCAL.targets
        finally:
            _LOCAL.losses = _LOCAL.targets = None
        if not seen and isinstance(logs, dict) and "loss" in logs:
            seen = [logs["loss"]]
        loss = tf.reduce_sum(tf.cast(seen[0], tf.float64)) if seen else tf.constant(np.nan, tf.float64)
        loss *= in_sync  # by which Keras has divided, since it adds up
        with tf.device(stream.counter.device):
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group % stream.replicas
            index = tf.minimum(stream.counter[replica], len(stream.steps) + 15)
            stream.losses.scatter_nd_update([[tf.cast(replica, tf.int64), index]], [loss])
            if isinstance(logs, dict) and np.prod(getattr(logs.get("loss"), "shape", [0])) == 1 and in_sync == 1:
                first = tf.reshape(tf.cast(logs["loss"], tf.float64), [])
                stream.reported.assign(tf.where(index == 0, first, stream.reported))
            with tf.control_dependencies([loss]):  # not where the data were at their end
                stream.counter.scatter_nd_add([[replica]], tf.ones([1], tf.int64))
        return logs

    watched_train_step._parity = stream  # type: ignore[attr-defined]
    # Not through Keras' own __setattr__, which would track them.
    object.__setattr__(model, "train_step", watched_train_step)
    object.__setattr__(model, "compute_loss", watched_compute_loss)
    compute_losses: Any = getattr(model, "compute_losses", None)  # where optimizers have a loss each

    def watched_compute_losses(*args: Any, **named: Any) -> Any:
        losses = compute_losses(*args, **named)
        if getattr(_LOCAL, "losses", None) is not None:
            _LOCAL.losses.append(losses["loss"])
        return losses

    if compute_losses is not None:
        object.__setattr__(model, "compute_losses", watched_compute_losses)
    if getattr(model, "train_function", None) is not None:
        model.train_function = None


def _apart(model: Any, value: Any) -> Any:
    """A variable that is none of the model: one for all replicas, on a parameter server where there are some."""
    import tensorflow as tf

    if not is_coordinated(model):
        return tf.Variable(value, trainable=False)
    with model.distribute_strategy.scope():
        return tf.Variable(value, trainable=False).get()


def is_coordinated(model: Any) -> bool:
    """Whether workers train `model` at the orders of this process."""
    import tensorflow as tf

    return isinstance(getattr(model, "distribute_strategy", None), tf.distribute.ParameterServerStrategy)


def watch_gradients() -> None:
    """For models with a train_step of their own: the loss is what the first gradient is taken of."""
    import tensorflow as tf

    gradient = tf.GradientTape.gradient

    def watched(self: Any, target: Any, *args: Any, **named: Any) -> Any:
        if getattr(_LOCAL, "targets", None) is not None:
            _LOCAL.targets.extend(tf.nest.flatten(target)[:1])
        return gradient(self, target, *args, **named)

    tf.GradientTape.gradient = watched


def compile_single_steps(base: Any) -> None:
    """Have models of the class `base` compiled for one step per call from the start, as they are replayed.

    Else whoever traces a training before `fit` does it for a loop over steps, which takes twice as long and never runs.
    """
    compile_model = base.compile

    @functools.wraps(compile_model)
    def watched(self: Any, *args: Any, **named: Any) -> Any:
        if "steps_per_execution" in named:
            named["steps_per_execution"] = 1
        return compile_model(self, *args, **named)

    base.compile = watched


@contextlib.contextmanager
def one_step_per_call(model: Any) -> Iterator[None]:
    """Keras wants to know the size of data of which it takes several batches per call; replayed data have none."""
    before: Any = getattr(model, "steps_per_execution", None)
    before = int(before.numpy()) if hasattr(before, "numpy") else before
    if not isinstance(before, int) or before == 1:
        yield
        return
    model.steps_per_execution = 1
    try:
        yield
    finally:
        model.steps_per_execution = before


def callbacks(replay: Replay, stream: Stream, program_callbacks: Any) -> Any:
    """The program's callbacks between two of ours."""
    import tensorflow as tf

    begun = stream.taken

    class Begin(tf.keras.callbacks.Callback):  # type: ignore[misc]
        """Last in the list: by then all callbacks of the program have loaded what they load."""

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if stream.first_values is not None:
                stream.first_values.begin()

    class OneStepPerCall(Begin):
        """Last in the list: variables are to be seen after each step, also where the program groups steps."""

        def on_train_begin(self, logs: Any = None) -> None:
            if hasattr(type(self.model), "steps_per_execution") and self.model.steps_per_execution is not None:
                self.model.steps_per_execution = 1

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.on_train_begin()

    class ParityEpochs(tf.keras.callbacks.Callback):  # type: ignore[misc]
        """Records after each epoch: nobody knows of the steps of workers before."""

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            replay.after_step(stream)

    class ParityCallback(tf.keras.callbacks.Callback):  # type: ignore[misc]
        """Records after each batch; stops after ``--steps`` of this training, or one step after the recording."""

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            replay.after_step(stream)
            if stream.taken >= (begun + replay.limit if replay.limit else len(stream.steps) + 1):
                self.model.stop_training = True

    if program_callbacks is not None and not isinstance(program_callbacks, (list, tuple)):
        if hasattr(program_callbacks, "append"):  # a CallbackList
            program_callbacks.append(ParityCallback())
            program_callbacks.append(Begin())
            return program_callbacks
        program_callbacks = [program_callbacks]
    if stream.coordinated:
        return [ParityEpochs(), *(program_callbacks or ()), Begin()]
    return [ParityCallback(), *(program_callbacks or ()), OneStepPerCall()]


def listed(metrics: dict[str, Any]) -> Any:
    """What `evaluate` returns of these metrics where no dict is asked for."""
    values = list(metrics.values())
    return values if len(values) != 1 else values[0]
