"""Runs a hook of a TF1 session in a Keras training."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.callbacks.callbacks import watched_value


class NamedTensors(tf.Graph):
    """Has a tensor of any name that a hook looks for, to be fetched; its value comes from the model."""

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        name, _, output = obj.partition(":") if isinstance(obj, str) else ("", "", "")
        known = {"global_step", *(operation.name for operation in self.get_operations())}
        if output == "0" and name not in known:
            with self.as_default(), tf.name_scope(""):
                tf.compat.v1.placeholder(tf.float32, name=name)
        return super().as_graph_element(obj, allow_tensor, allow_operation)


class HookCallback(tf.keras.callbacks.Callback):
    """Calls a `tf.compat.v1.train.SessionRunHook` where a training or evaluation by an Estimator called it.

    There is no session: `session` and `coord` are None. What `before_run` asks for may be names of tensors that the
    model gives to `watch`, and the global step, which a training gives as it is after the step (`steps_behind=1`: before).
    """

    def __init__(self, hook: Any, steps_behind: int = 0) -> None:
        super().__init__()
        self.hook, self.steps_behind = hook, steps_behind

    def on_train_begin(self, logs: Any = None) -> None:
        self.start(self.steps_behind)

    def on_test_begin(self, logs: Any = None) -> None:
        self.start(0)

    def start(self, steps_behind: int) -> None:
        self.behind = steps_behind
        self.graph = NamedTensors()  # where the hook finds its global step, and what it looks for by name
        with self.graph.as_default():
            self.step = tf.compat.v1.train.create_global_step()
            self.hook.begin()
            self.hook.after_create_session(None, None)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.context = tf.compat.v1.train.SessionRunContext(None, None)
        with self.graph.as_default():
            self.asked = self.hook.before_run(self.context)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        fetches = None if self.asked is None else self.asked.fetches
        results = None if fetches is None else tf.nest.map_structure(self.value, fetches)
        with self.graph.as_default():
            self.hook.after_run(self.context, tf.compat.v1.train.SessionRunValues(results, None, None))
        if self.context.stop_requested:
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        with self.graph.as_default():
            self.hook.end(None)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.on_train_batch_begin(batch)

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self.on_train_batch_end(batch)

    def on_test_end(self, logs: Any = None) -> None:
        self.on_train_end()

    def value(self, fetched: Any) -> Any:
        """What a session gave for one tensor."""
        if fetched is self.step:
            return self.model.optimizer.iterations.numpy() - self.behind
        return watched_value(self.model, fetched if isinstance(fetched, str) else fetched.name)
