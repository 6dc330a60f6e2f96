"""Runs the hooks and the Scaffold of an `EstimatorSpec` of TensorFlow 1 around the steps of its graph."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import tensorflow as tf


class StepCounterHook(tf.compat.v1.train.StepCounterHook):
    """Writes steps per second as `global_step/sec`."""

    def begin(self) -> None:
        """Goes without the name of an operation, which the step of a Keras model does not have."""
        with contextlib.suppress(AttributeError):
            super().begin()
        self._summary_tag = "global_step/sec"


class GraphSession:
    """What hooks and `init_fn` know as the session: runs tensors and operations of a traced graph by themselves.

    Variables are those of the model: each call sees, and may change, their values. `wrapped` is the traced function.
    """

    def __init__(self, wrapped: Any) -> None:
        self.graph, self.wrapped = wrapped.graph, wrapped
        self.pruned: dict[Any, Any] = {}

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """NumPy values in the structure of `fetches`: tensors, operations (None), variables, or names of these."""
        flat = [self.element(part) for part in tf.nest.flatten(fetches)]
        fed = {self.element(key): value for key, value in (feed_dict or {}).items()} if feed_dict else {}
        values = self.call([*fed], flat, [tf.convert_to_tensor(v, t.dtype) for t, v in fed.items()])
        return tf.nest.pack_sequence_as(fetches, values)

    def element(self, part: Any) -> Any:
        """A tensor, an operation or a variable, where it may be given by name."""
        return self.graph.as_graph_element(part) if isinstance(part, str) else part

    def call(self, inputs: list[Any], fetches: list[Any], values: list[Any]) -> list[Any]:
        """Values of `fetches` in one run, with `values` for `inputs`."""
        inside = [part for part in fetches if not isinstance(part, tf.Variable)]
        key = tuple(id(part) for part in (*inputs, None, *inside))
        if inside and key not in self.pruned:
            self.pruned[key] = self.wrapped.prune(inputs, inside), inputs, inside  # which keeps their ids alive
        results = iter(self.pruned[key][0](*values) if inside else ())
        found = [part if isinstance(part, tf.Variable) else next(results) for part in fetches]
        return [None if part is None else part.numpy() for part in found]


class GraphHooks:
    """The hooks of one graph: what they fetch is computed in the run of the step itself.

    Args:
      hooks: `tf.compat.v1.train.SessionRunHook` and classes derived from it, whose `begin` has run in the graph.
      session: of that graph.
      inputs: the tensors of the batch.
      step: what a step computes: the loss first.
    """

    def __init__(self, hooks: list[Any], session: GraphSession, inputs: list[Any], step: list[Any]) -> None:
        self.hooks, self.session, self.inputs, self.step = hooks, session, inputs, step
        self.running = False

    def start(self) -> None:
        """Once before the first step."""
        self.running = True
        for hook in self.hooks:
            hook.after_create_session(self.session, tf.train.Coordinator())

    def run(self, batch: list[Any]) -> tuple[list[Any], bool]:
        """One step on the tensors of a batch; its values, and whether a hook asks to stop."""
        if not self.running:
            self.start()
        train = tf.compat.v1.train
        context = train.SessionRunContext(train.SessionRunArgs(self.step), self.session)
        asked = [hook.before_run(context) for hook in self.hooks]
        if any(args is not None and args.feed_dict for args in asked):
            raise NotImplementedError("A hook that feeds values into a step is not supported.")
        wanted = [None if args is None else args.fetches for args in asked]
        fetches = [self.session.element(part) for part in tf.nest.flatten([self.step, *wanted]) if part is not None]
        values = iter(self.session.call(self.inputs, fetches, batch))
        structures = [self.step, *wanted]
        own, *others = tf.nest.map_structure(lambda part: None if part is None else next(values), structures)
        for hook, value in zip(self.hooks, others):
            hook.after_run(context, train.SessionRunValues(value, None, None))
        return own, context.stop_requested

    def end(self) -> None:
        """Once after the last step."""
        if self.running:
            self.running = False
            for hook in self.hooks:
                hook.end(self.session)
