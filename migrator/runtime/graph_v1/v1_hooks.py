"""Runs the hooks and the Scaffold of an `EstimatorSpec` of TensorFlow 1 around the steps of its graph."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.callbacks.callbacks import StopAtStep
from migrator.runtime.graph_v1.v1_behavior import tensors_as_keys
from migrator.runtime.graph_v1.v1_references import reach, sources
from migrator.runtime.training.local_run import LocalRun


class GraphHook(tf.keras.callbacks.Callback):
    """Brings a hook to a `GraphModel`, whose graph calls it around its steps.

    Variables that it fetches beside a step have their values after the step (`steps_behind=1`: before).
    """

    def __init__(self, hook: Any, steps_behind: int = 0) -> None:
        super().__init__()
        self.hook, self.steps_behind = hook, steps_behind


def graph_hooks(hooks: Iterable[Any] | None, steps_behind: int = 0) -> list[tf.keras.callbacks.Callback]:
    """Hooks as callbacks; callbacks among them stay."""
    made = [h if isinstance(h, tf.keras.callbacks.Callback) else GraphHook(h, steps_behind) for h in hooks or ()]
    return made


class StepCounterHook(tf.compat.v1.train.StepCounterHook):
    """Writes steps per second as `global_step/sec`."""

    def begin(self) -> None:
        """Goes without the name of an operation, which the step of a Keras model does not have."""
        with contextlib.suppress(AttributeError):
            super().begin()
        self._summary_tag = "global_step/sec"


def begin(hook: Any) -> None:
    """Calls `begin` of a hook in its graph. Variables that it logs are outside of that, and are read in it."""
    if isinstance(hook, tf.compat.v1.train.LoggingTensorHook) and isinstance(hook._tensors, dict):
        hook._tensors = {
            tag: tf.identity(each) if isinstance(each, tf.Variable) else each for tag, each in hook._tensors.items()
        }
    hook.begin()


def variables_by_name(graph: tf.Graph) -> dict[str, tf.Variable]:
    """The variables of a graph by the names that their tensors had in TensorFlow 1."""
    keys = tf.compat.v1.GraphKeys
    variables = [*graph.get_collection(keys.LOCAL_VARIABLES), *graph.get_collection(keys.GLOBAL_VARIABLES)]
    return {variable.name: variable for variable in variables}


def name_variables(graph: tf.Graph) -> None:
    """Gives a graph tensors with the names of its variables, which are outside of it, for hooks that look for them."""
    for name, variable in variables_by_name(graph).items():
        tf.identity(variable.read_value(), name.split(":")[0] + "/")  # a slash keeps the name


def summarize_loss(graph: tf.Graph, loss: tf.Tensor) -> None:
    """Adds the summary of the loss that each Estimator adds, for hooks that merge all; the model writes it by itself."""
    if all(summary.op.name != "loss" for summary in graph.get_collection(tf.compat.v1.GraphKeys.SUMMARIES)):
        tf.compat.v1.summary.scalar("loss", loss)


class GraphSession:
    """What hooks and `init_fn` know as the session: runs tensors and operations of a traced graph by themselves.

    Variables are those of the model: each call sees, and may change, their values. What depends on the batch takes the
    next one, as it did from the iterator of an input_fn. `wrapped` is the traced function, `inputs` are the tensors of a
    batch.
    """

    def __init__(self, wrapped: Any, inputs: Sequence[Any] = ()) -> None:
        self.graph, self.wrapped, self.inputs = wrapped.graph, wrapped, list(inputs)
        self.next_batch: Callable[[], list[Any]] | None = None
        self.pruned: dict[Any, Any] = {}
        self.assigned: dict[int, tuple[tf.Tensor, Any]] = {}

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """NumPy values in the structure of `fetches`: tensors, operations (None), variables, or names of these."""
        flat = [self.element(part) for part in tf.nest.flatten(fetches)]
        fed = {self.element(key): value for key, value in (feed_dict or {}).items()} if feed_dict else {}
        with tf.init_scope():
            inputs, values = [*fed], [tf.convert_to_tensor(v, t.dtype) for t, v in fed.items()]
        if self.next_batch is not None and reads(flat, self.inputs, inputs):
            with tf.init_scope():
                batch = self.next_batch()
            rest = [pair for pair in zip(self.inputs, batch) if not any(pair[0] is tensor for tensor in fed)]
            inputs, values = [*inputs, *(tensor for tensor, _ in rest)], [*values, *(value for _, value in rest)]
        return tf.nest.pack_sequence_as(fetches, self.call(inputs, flat, values))

    def element(self, part: Any) -> Any:
        """A tensor, an operation or a variable, where it may be given by name; for an assignment what it assigns."""
        if hasattr(part, "_parent_op"):  # has the name of its variable, too
            if id(part) not in self.assigned:
                with self.graph.as_default():
                    self.assigned[id(part)] = part.read_value(), part  # which keeps the id alive
            return self.assigned[id(part)][0]
        variable = variables_by_name(self.graph).get(part if isinstance(part, str) else getattr(part, "name", ""))
        if variable is not None:
            return variable
        return self.graph.as_graph_element(part) if isinstance(part, str) else part

    def call(self, inputs: list[Any], fetches: list[Any], values: list[Any]) -> list[Any]:
        """Values of `fetches` in one run, with `values` for `inputs`."""
        inside = [part for part in fetches if not isinstance(part, (tf.Variable, np.generic, np.ndarray))]
        key = tuple(id(part) for part in (*inputs, None, *inside))
        with tf.init_scope():  # hooks may be called in the graph
            if inside and key not in self.pruned:
                self.pruned[key] = self.wrapped.prune(inputs, inside), inputs, inside  # which keeps their ids alive
            results = iter(self.pruned[key][0](*values) if inside else ())
            found = [next(results) if any(part is tensor for tensor in inside) else part for part in fetches]
            return [part.numpy() if hasattr(part, "numpy") else part for part in found]


def reads(fetches: Iterable[Any], inputs: Iterable[tf.Tensor], fed: Iterable[tf.Tensor]) -> bool:
    """Whether what is fetched depends on `inputs` other than by what is `fed`."""
    given = {tensor.op for tensor in fed}
    wanted = {getattr(part, "op", part) for part in fetches if isinstance(part, (tf.Tensor, tf.Operation))}
    needed = reach([*(wanted - given)], lambda op: {*sources(op), *op.control_inputs} - given)
    return any(tensor.op in needed for tensor in inputs)


class GraphHooks:
    """The hooks of one graph: what they fetch is computed in the run of the step itself.

    Args:
      hooks: `tf.compat.v1.train.SessionRunHook` and classes derived from it, whose `begin` has run in the graph.
      session: of that graph.
      inputs: the tensors of the batch.
      step: what a step computes: the loss first.
      early: those of the hooks to whom variables have their values before the step.
    """

    def __init__(
        self, hooks: list[Any], session: GraphSession, inputs: list[Any], step: list[Any], early: Sequence[Any] = ()
    ) -> None:
        self.hooks, self.session, self.inputs, self.step, self.early = hooks, session, inputs, step, early
        self.running = False

    def start(self, next_batch: Callable[[], list[Any]] | None = None) -> None:
        """Before the first step, once; `next_batch` gives the tensors of one more batch."""
        self.session.next_batch = next_batch or self.session.next_batch
        if not self.running:
            self.running = True
            with self.session.graph.as_default(), tensors_as_keys():
                for hook in self.hooks:
                    hook.after_create_session(self.session, tf.train.Coordinator())

    def run(self, batch: list[Any], more: Sequence[Any] = ()) -> tuple[list[Any], bool]:
        """One step on the tensors of a batch; its values, those of `more`, and whether a hook asks to stop."""
        self.start()
        step = [*self.step, *more] if more else self.step  # which may be a dict of predictions
        train = tf.compat.v1.train
        context = train.SessionRunContext(train.SessionRunArgs(step), self.session)
        with self.session.graph.as_default(), tensors_as_keys():
            asked = [hook.before_run(context) for hook in self.hooks]
        if any(args is not None and args.feed_dict for args in asked):
            raise NotImplementedError("A hook that feeds values into a step is not supported.")
        wanted = [None if args is None else self.fetched(hook, args.fetches) for hook, args in zip(self.hooks, asked)]
        fetches = [self.session.element(part) for part in tf.nest.flatten([step, *wanted]) if part is not None]
        values = iter(self.session.call(self.inputs, fetches, batch))
        own, *others = tf.nest.map_structure(lambda part: None if part is None else next(values), [step, *wanted])
        with self.session.graph.as_default(), tensors_as_keys():
            for hook, value in zip(self.hooks, others):
                hook.after_run(context, train.SessionRunValues(value, None, None))
        return own, context.stop_requested

    def fetched(self, hook: Any, fetches: Any) -> Any:
        """What a hook asks for, with values for the variables that it wants to see as they are now."""

        def now(part: Any) -> Any:
            element = self.session.element(part)
            return element.numpy() if isinstance(element, tf.Variable) else element

        return tf.nest.map_structure(now, fetches) if any(hook is other for other in self.early) else fetches

    def end(self) -> None:
        """Once after the last step."""
        if self.running:
            self.running = False
            with self.session.graph.as_default(), tensors_as_keys():
                for hook in self.hooks:
                    hook.end(self.session)


class GraphRun(LocalRun):
    """Counts the steps of a `GraphModel` with hooks, which may take batches of their own beside those of the steps."""

    def fit(self, dataset: tf.data.Dataset, steps: int | None, callbacks: Sequence[Any], grouped: bool) -> None:
        self.hooked = self.model.has_hooks("train", callbacks)
        super().fit(dataset, steps, callbacks, grouped)

    def batches(self, dataset: tf.data.Dataset, steps: int | None) -> tuple[Any, int | None]:
        return (dataset, steps) if self.hooked and steps is not None else super().batches(dataset, steps)

    def evaluation_batches(self, dataset: tf.data.Dataset, steps: int | None) -> tuple[Any, Any]:
        self.evaluated = dataset, steps
        return super().evaluation_batches(dataset, steps)

    def evaluate(self, batches: Any, callbacks: Sequence[Any]) -> dict[str, Any]:
        dataset, steps = self.evaluated
        if steps is None or not self.model.has_hooks("eval", callbacks):
            return super().evaluate(batches, callbacks)
        model, self.model.steps_per_execution = self.model, 1
        results: dict[str, Any] = model.evaluate(dataset, steps=steps, callbacks=callbacks, verbose=0, return_dict=True)
        return results


class SkippingRun(GraphRun):
    """Trains until the steps are done, each of which may take several batches."""

    def fit(self, dataset: tf.data.Dataset, steps: int | None, callbacks: Sequence[Any], grouped: bool) -> None:
        stops = [] if steps is None else [StopAtStep(num_steps=steps)]
        super().fit(dataset, None, [*callbacks, *stops], grouped=False)
