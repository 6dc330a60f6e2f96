"""A Keras model around a `model_fn` of TensorFlow 1 whose steps hooks watch: `fit`, `evaluate` and `predict` call them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.graph_v1.v1_behavior import tensors_as_keys
from migrator.runtime.graph_v1.v1_graph import Graph, GraphModel
from migrator.runtime.graph_v1.v1_hooks import (
    GraphHook,
    GraphHooks,
    GraphSession,
    begin,
    name_variables,
    summarize_loss,
)
from migrator.runtime.graph_v1.v1_initial_values import outside
from migrator.runtime.graph_v1.v1_tensors import flat_tensors


class HookedGraphModel(GraphModel):
    """A `GraphModel` that calls the hooks of its EstimatorSpecs, and does what their Scaffolds say.

    Other hooks are brought by `callbacks=graph_hooks([…])`.
    """

    def reset_metrics(self) -> None:
        """Leaves local variables to sessions: an evaluation may stand amid a training."""
        tf.keras.Model.reset_metrics(self)

    def new_graph(self, mode: str, spec: Any, given: Sequence[GraphHook] = ()) -> HookedGraph:
        return HookedGraph(self, mode, spec, given)

    def make_train_function(self, force: bool = False) -> Any:
        """The function of Keras, or one that calls the hooks of the graphs around each step."""
        return self.with_hooks("train", super().make_train_function(force))

    def make_test_function(self, force: bool = False) -> Any:
        """The function of Keras, or one that calls the hooks of the graphs around each step."""
        return self.with_hooks("eval", super().make_test_function(force))

    def step_of(self, mode: str) -> Callable[[Any], dict[str, Any]]:
        """What runs on each batch."""
        return self.train_step if mode == "train" else self.test_step

    def with_hooks(self, mode: str, function: Any) -> Any:
        """`function`, which makes steps on the batches of an iterator, with hooks where graphs of `mode` have some."""
        if not self.has_hooks(mode):
            return function

        def run_steps(iterator: Any) -> dict[str, Any]:
            step, logs = self.step_of(mode), {}
            for graph in self.graphs.traced:
                if graph.mode == mode and graph.hooks:
                    graph.hooks.start(lambda: self.one_more(iterator))
            for _ in range(int(tf.identity(self.steps_per_execution))):
                logs = step(next(iterator))
                if mode == "train" and self.stop_training:
                    break
            return logs

        return run_steps

    def has_hooks(self, mode: str, callbacks: Iterable[Any] = ()) -> bool:
        """Whether hooks are called in `mode`: of an `EstimatorSpec`, or those that callbacks bring."""
        given = any(isinstance(callback, GraphHook) for callback in callbacks)
        return given or any(graph.mode == mode and graph.hooks for graph in self.graphs.traced)

    def one_more(self, iterator: Any) -> list[Any]:
        """The tensors of the next batch, for a hook that runs one by itself."""
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(iterator.get_next())
        return flat_tensors(features, labels)

    def batch_spec(self, batches: Any) -> Any:
        """The types of one batch."""
        return batches.element_spec

    @contextlib.contextmanager
    def session(self, mode: str, batches: Any, callbacks: Iterable[Any] | None) -> Iterator[None]:
        """Around steps on `batches`: their graph is there before Keras asks for it, with the hooks that callbacks bring."""
        self.start_session(mode)
        given = [callback for callback in callbacks or () if isinstance(callback, GraphHook)]
        if given or not any(graph.mode == mode for graph in self.graphs.traced):
            features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(self.batch_spec(batches))
            others = [graph for graph in self.graphs.traced if graph.mode != mode]
            self.graphs.traced = [*others, outside(self.new_graph, mode, (features, labels), given)]
        yield
        self.end_hooks(mode)

    def fit(self, x: Any, *args: Any, **named: Any) -> Any:
        """Trains on a dataset, and ends the hooks."""
        with self.session("train", x, named.get("callbacks")):
            return super().fit(x, *args, **named)

    def evaluate(self, x: Any, *args: Any, **named: Any) -> Any:
        """Evaluates a dataset, and ends the hooks."""
        with self.session("eval", x, named.get("callbacks")):
            return super().evaluate(x, *args, **named)

    def end_hooks(self, mode: str) -> None:
        """Calls `end` of the hooks. The next training or evaluation traces its graph anew, with new hooks."""
        hooked = [graph for graph in self.graphs.traced if graph.mode == mode and graph.hooks]
        for graph in hooked:
            graph.hooks.end()
            self.graphs.traced.remove(graph)
        if hooked:
            setattr(self, "train_function" if mode == "train" else "test_function", None)


class HookedPredictions(HookedGraphModel):
    """A `HookedGraphModel` that calls hooks around predictions, too."""

    predicting: HookedGraph | None = None

    def make_predict_function(self, force: bool = False) -> Any:
        """The function of Keras, or one that calls the hooks around each batch."""
        hooks = None if self.predicting is None else self.predicting.hooks
        if hooks is None:
            return super().make_predict_function(force)

        def predict_batch(iterator: Any) -> Any:
            features, _, _ = tf.keras.utils.unpack_x_y_sample_weight(next(iterator))
            values, stop = hooks.run(flat_tensors(features))
            if stop:
                raise NotImplementedError("A hook cannot end predictions early.")
            return tf.nest.map_structure(tf.convert_to_tensor, values)

        return predict_batch

    def predict(self, x: Any, *args: Any, callbacks: Iterable[Any] | None = None, **named: Any) -> Any:
        """The predictions for a dataset; ends the hooks."""
        features, _, _ = tf.keras.utils.unpack_x_y_sample_weight(self.batch_spec(x))
        given = [callback for callback in callbacks or () if isinstance(callback, GraphHook)]
        self.predicting = graph = outside(self.new_graph, "infer", (features, None), given)
        self.predict_function = None
        predictions = super().predict(x, *args, callbacks=callbacks, **named)
        self.predicting = self.predict_function = None
        if graph.hooks is not None:
            graph.hooks.end()
        return predictions


class HookedGraph(Graph):
    """The graph of a `model_fn` in one mode. `spec` are the types of features and labels, `given` come first of the hooks."""

    def __init__(self, model: GraphModel, mode: str, spec: Any, given: Sequence[GraphHook] = ()) -> None:
        self.given = given
        self.hooks: GraphHooks | None = None
        super().__init__(model, mode, spec)

    def prepare(self, wrapped: Any, inputs: list[Any]) -> None:
        """Begins the session."""
        with tensors_as_keys():
            self.bind(GraphSession(wrapped, inputs), inputs)

    def bind(self, session: GraphSession, inputs: list[Any]) -> None:
        """Does what the Scaffold says for new variables, and binds the hooks."""
        spec, scaffold = self.result, self.result.scaffold
        if scaffold is not None:
            if self.fresh and scaffold.init_fn is not None:
                with session.graph.as_default():  # where it may ask for the global step
                    scaffold.init_fn(session)
            if isinstance(scaffold.local_init_op, tf.Operation):
                session.run(scaffold.local_init_op)
        if self.all_hooks():
            step = spec.predictions if self.mode == "infer" else [spec.loss, self.update]
            early = [callback.hook for callback in self.given if callback.steps_behind]
            self.hooks = GraphHooks(self.all_hooks(), session, inputs, step, early)

    def all_hooks(self) -> list[Any]:
        """Those that a method was given, then those of the EstimatorSpec."""
        own = self.result.prediction_hooks or () if self.mode == "infer" else self.result.hooks()
        return [*(callback.hook for callback in self.given), *own]

    def finish(self) -> Any:
        """Lets hooks add to the graph what they need."""
        graph, mode = tf.compat.v1.get_default_graph(), self.mode
        self.fresh = mode == "train" and bool(tf.compat.v1.get_collection("new_variables"))
        if self.all_hooks():
            name_variables(graph)
            if mode == "train":
                summarize_loss(graph, self.result.loss)
        for hook in self.all_hooks():
            begin(hook)
        return None

    def run(self, tensors: list[Any]) -> Any:
        """Predictions for a batch, or the loss of a step on it, around which the hooks are called."""
        if self.mode == "infer" or self.hooks is None or not tf.executing_eagerly():
            return super().run(tensors)
        (loss, _), stop = self.hooks.run(tensors)
        self.stopped(stop)
        return tf.convert_to_tensor(loss)

    def stopped(self, stop: bool) -> None:
        """Ends the training if a hook asks for that."""
        if stop and self.mode == "eval":
            raise NotImplementedError("A hook cannot end an evaluation early.")
        self.model.stop_training = self.model.stop_training or stop
