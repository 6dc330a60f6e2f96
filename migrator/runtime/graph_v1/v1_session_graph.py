"""A Keras model around a `model_fn` of TensorFlow 1 as `train`, `evaluate` and `predict` run it: with hooks and summaries."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.graph_v1.v1_behavior import tensors_as_keys
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec, Graph, GraphModel
from migrator.runtime.graph_v1.v1_hooks import (
    GraphHook,
    GraphHooks,
    GraphRun,
    GraphSession,
    begin,
    name_variables,
    summarize_loss,
)
from migrator.runtime.graph_v1.v1_initial_values import outside
from migrator.runtime.graph_v1.v1_tables import kept_tables
from migrator.runtime.graph_v1.v1_tensors import flat_tensors, with_gaps
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import configure


def graph_model(
    model_fn: Callable[..., EstimatorSpec],
    model_dir: str | None = None,
    config: RunConfig | None = None,
    params: Any = None,
) -> SessionGraphModel:
    """Compiles a `SessionGraphModel` for `train`, `evaluate` and `predict`; checkpoints go to `model_dir`."""
    model = SessionGraphModel(model_fn, {} if params is None else params)
    model.compile(steps_per_execution=100)
    configured: SessionGraphModel = configure(model, config, params=params, model_dir=model_dir)
    configured.run_state.run = GraphRun(configured)
    return configured


class SessionGraphModel(GraphModel):
    """A `GraphModel` with the configuration and the hooks of an Estimator.

    Args:
      model_fn: takes `features`, and those of `labels`, `mode`, `params` and `config` that it names.
      params: passed to the `model_fn`.

    Raises RuntimeError with Keras 3.
    """

    def __init__(self, model_fn: Callable[..., EstimatorSpec], params: Any = None) -> None:
        super().__init__(model_fn, params)
        self.tables: list[Any] = []  # of the predictions, which a SavedModel holds

    def new_loss(self) -> Any:
        return BatchMean(name="loss")

    def reset_metrics(self) -> None:
        """Leaves local variables to sessions: an evaluation may stand amid a training."""
        tf.keras.Model.reset_metrics(self)

    def offered(self, mode: str) -> dict[str, Any]:
        given = self.graphs.params
        params = given(mode) if isinstance(given, dict) and callable(given) else given
        return {"mode": mode, "params": copy.deepcopy(params), "config": self.run_config}

    def new_graph(self, mode: str, spec: Any) -> SessionGraph:
        return SessionGraph(self, mode, spec)

    def serving_outputs(self, features: Any) -> dict[str, Any]:
        """Outputs of an exported model by signature: the `export_outputs`, or else the predictions."""
        graph: SessionGraph = self.graph("infer", features, None)
        return graph.exports(features)

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

    def bring_hooks(self, mode: str, batches: Any, callbacks: Iterable[Any]) -> None:
        """Traces the graph of `mode` anew, with the hooks that callbacks bring."""
        given = [callback for callback in callbacks if isinstance(callback, GraphHook)]
        if given:
            features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(self.batch_spec(batches))
            others = [graph for graph in self.graphs.traced if graph.mode != mode]
            graph = outside(
                SessionGraph, self, mode, (features, labels), given
            )  # no writer turns its summaries into events
            self.graphs.traced = [*others, graph]

    def batch_spec(self, batches: Any) -> Any:
        """The types of one batch."""
        return batches.element_spec

    def fit(self, *args: Any, **named: Any) -> Any:
        """Trains, and ends the hooks."""
        self.start_session("train")
        self.bring_hooks("train", args[0], named.get("callbacks") or ())
        history = super().fit(*args, **named)
        self.end_hooks("train")
        return history

    def evaluate(self, *args: Any, **named: Any) -> Any:
        """Evaluates, and ends the hooks."""
        self.start_session("eval")
        self.bring_hooks("eval", args[0], named.get("callbacks") or ())
        results = super().evaluate(*args, **named)
        self.end_hooks("eval")
        return results

    def end_hooks(self, mode: str) -> None:
        """Calls `end` of the hooks. The next training or evaluation traces its graph anew, with new hooks."""
        hooked = [graph for graph in self.graphs.traced if graph.mode == mode and graph.hooks]
        for graph in hooked:
            graph.hooks.end()
            self.graphs.traced.remove(graph)
        if hooked:
            setattr(self, "train_function" if mode == "train" else "test_function", None)


class SessionGraph(Graph):
    """The graph of a `model_fn` in one mode. `spec` are the types of features and labels, `given` come first of the hooks."""

    model: SessionGraphModel

    def __init__(self, model: SessionGraphModel, mode: str, spec: Any, given: Sequence[GraphHook] = ()) -> None:
        self.given = given
        self.hooks: GraphHooks | None = None
        self.tables: list[Any] = []
        super().__init__(model, mode, spec)

    def prepare(self, wrapped: Any, inputs: list[Any]) -> None:
        """Begins the session; what it may export or record is computed apart."""
        spec = self.result
        with tensors_as_keys():
            self.bind(GraphSession(wrapped, inputs), inputs)
        if self.mode == "infer":
            self.served = wrapped.prune(inputs, flat_tensors(spec.export_outputs))
            self.model.tables = [*self.model.tables, *self.tables]
        elif self.summaries is not None:
            self.recorded = wrapped.prune(inputs, [spec.loss, self.update, self.summaries])

    def bind(self, session: GraphSession, inputs: list[Any]) -> None:
        """Does what the Scaffold says for new variables, and binds the hooks."""
        spec, scaffold = self.result, self.result.scaffold
        if scaffold is not None:
            if self.fresh and scaffold.init_fn is not None:
                scaffold.init_fn(session)
            if isinstance(scaffold.local_init_op, tf.Operation):
                session.run(scaffold.local_init_op)
        if self.given or spec.hooks():
            early = [callback.hook for callback in self.given if callback.steps_behind]
            self.hooks = GraphHooks(self.all_hooks(), session, inputs, [spec.loss, self.update], early)

    def all_hooks(self) -> list[Any]:
        """Those that a training or evaluation was given, then those of the EstimatorSpec."""
        return [*(callback.hook for callback in self.given), *self.result.hooks()]

    def call(self, flat: Sequence[Any]) -> EstimatorSpec:
        with kept_tables(self.tables):
            return super().call(flat)

    def trace(self, *flat: Any) -> Any:
        seed = self.model.run_config.tf_random_seed
        if seed is not None:
            tf.compat.v1.set_random_seed(seed)
        return super().trace(*flat)

    def finish(self) -> Any:
        """Adds the summaries, and lets hooks add what they need."""
        graph, mode = tf.compat.v1.get_default_graph(), self.mode
        self.summaries = tf.compat.v1.summary.merge_all() if mode == "train" else None
        self.fresh = mode == "train" and bool(tf.compat.v1.get_collection("new_variables"))
        if self.all_hooks():
            name_variables(graph)
            if mode == "train":
                summarize_loss(graph, self.result.loss)
        for hook in self.all_hooks():
            begin(hook)
        return self.summaries

    def run(self, tensors: list[Any]) -> Any:
        """Predictions for a batch, or the loss of a step on it (of each replica), which writes its summaries when due."""
        if self.mode == "infer":
            return self.function(*tensors)
        if self.hooks is not None and tf.executing_eagerly():
            due = self.summaries is not None and self.model.run_state.logger.recording
            (loss, _, *summaries), stop = self.hooks.run(tensors, [self.summaries] if due else [])
            if stop and self.mode == "eval":
                raise NotImplementedError("A hook cannot end an evaluation early.")
            self.model.stop_training = self.model.stop_training or stop
            if summaries:
                tf.summary.experimental.write_raw_pb(summaries[0])
            return tf.convert_to_tensor(loss)
        if self.summaries is None:
            return self.function(*tensors)[0]

        def record() -> Any:
            loss, _, summaries = self.recorded(*tensors)
            tf.summary.experimental.write_raw_pb(summaries)
            return loss

        return tf.cond(self.model.run_state.logger.recording, record, lambda: self.function(*tensors)[0])

    def exports(self, features: Any) -> dict[str, Any]:
        """The outputs of an exported model by signature."""
        outputs = self.result.export_outputs
        if not outputs:
            return {"serving_default": self.run(flat_tensors(features))}
        tensors = with_gaps(outputs, self.served(*flat_tensors(features)))
        return dict(tf.nest.pack_sequence_as(outputs, tensors, expand_composites=True))
