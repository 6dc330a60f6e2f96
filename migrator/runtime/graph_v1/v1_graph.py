"""A Keras model around a `model_fn` of TensorFlow 1, which stays as it is."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple

import tensorflow as tf

from migrator.runtime.graph_v1.v1_behavior import graph_behavior, tensors_as_keys
from migrator.runtime.graph_v1.v1_hooks import (
    GraphHook,
    GraphHooks,
    GraphRun,
    GraphSession,
    begin,
    name_variables,
    summarize_loss,
)
from migrator.runtime.graph_v1.v1_initial_values import initial_value, outermost_graph, outside, unique_name
from migrator.runtime.graph_v1.v1_order import order_writes
from migrator.runtime.graph_v1.v1_references import read_after_writes
from migrator.runtime.graph_v1.v1_tables import kept_tables
from migrator.runtime.graph_v1.v1_tensors import flat_tensors, with_gaps
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.keras_versions import keras_2
from migrator.runtime.training.training import configure


class EstimatorSpec(NamedTuple):
    """What a `model_fn` returns: tensors and operations of the graph of one mode."""

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Mapping[str, tuple[Any, Any]] | None = None
    export_outputs: Mapping[str, Any] | None = None
    training_chief_hooks: Sequence[Any] | None = None
    training_hooks: Sequence[Any] | None = None
    scaffold: Any = None
    evaluation_hooks: Sequence[Any] | None = None
    prediction_hooks: Sequence[Any] | None = None

    def hooks(self) -> list[Any]:
        """Those of the mode."""
        if self.mode == "train":
            return [*(self.training_hooks or ()), *(self.training_chief_hooks or ())]
        return list(self.evaluation_hooks or ()) if self.mode == "eval" else []


def graph_model(
    model_fn: Callable[..., EstimatorSpec],
    model_dir: str | None = None,
    config: RunConfig | None = None,
    params: Any = None,
) -> GraphModel:
    """Compiles a `GraphModel` for `train`, `evaluate` and `predict`; checkpoints go to `model_dir`."""
    model = GraphModel(model_fn, {} if params is None else params)
    model.compile(steps_per_execution=100)
    configured: GraphModel = configure(model, config, params=params, model_dir=model_dir)
    configured.run_state.run = GraphRun(configured)
    return configured


class GraphModel(tf.keras.Model):
    """Runs a `model_fn` of TensorFlow 1: traces it as a graph, once for each mode and kind of batch.

    Graphs share variables by name, as they did through checkpoints; those names are the ones of TensorFlow 1. A train
    step runs the `train_op` and nothing else. Needs Keras 2.

    Args:
      model_fn: takes `features`, and those of `labels`, `mode`, `params` and `config` that it names.
      params: passed to the `model_fn`.

    Raises RuntimeError with Keras 3.
    """

    def __init__(self, model_fn: Callable[..., EstimatorSpec], params: Any = None) -> None:
        keras_2("Kept model_fns")
        super().__init__()
        self.loss_metric = BatchMean(name="loss")
        self.global_step = self.new_step()
        self.tf1_variables: dict[str, tf.Variable] = {}  # by their name in TensorFlow 1, with slots of optimizers
        self.tables: list[Any] = []  # of the predictions, which a SavedModel holds
        self.graphs = types.SimpleNamespace(  # which Keras does not look into
            model_fn=model_fn,
            params=params,
            traced=[],
            local={each: [] for each in ("train", "eval", "infer")},
            variables={"global_step": self.global_step},
        )

    def compile(self, **arguments: Any) -> None:
        """Without an optimizer: the `train_op` is the one of the `model_fn`."""
        counter = tf.keras.optimizers.SGD()
        counter.iterations = self.global_step  # Keras asks its optimizer for the step
        super().compile(optimizer=counter, **arguments)

    @property
    def trainable_weights(self) -> list[tf.Variable]:
        """The variables that TensorFlow 1 trains, in the order of their creation."""
        return [variable for variable in self.tf1_variables.values() if variable.trainable]

    @property
    def non_trainable_weights(self) -> list[tf.Variable]:
        """The others: moving averages and slots of optimizers."""
        return [variable for variable in self.tf1_variables.values() if not variable.trainable]

    def call(self, features: Any, training: bool = False) -> Any:
        """The `predictions` for a batch of features."""
        return self.graph("infer", features, None).run(flat_tensors(features))

    def train_step(self, data: Any) -> dict[str, Any]:
        """One run of the `train_op`."""
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(data)
        self.compute_loss(y_pred=self.graph("train", features, labels).run(flat_tensors(features, labels)))
        return {"loss": self.loss_metric.result()}

    def test_step(self, data: Any) -> dict[str, Any]:
        """Updates the metrics of `eval_metric_ops`; returns their values so far."""
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(data)
        graph = self.graph("eval", features, labels)
        self.compute_loss(y_pred=graph.run(flat_tensors(features, labels)))
        return {**graph.values(features, labels), "loss": self.loss_metric.result()}

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        """Takes note of a loss that the graph has computed."""
        self.loss_metric.update_state(y_pred)
        return y_pred

    def predict_step(self, data: Any) -> Any:
        """The `predictions` for a batch; features that are a tuple stand in another one."""
        return self.call(tf.keras.utils.unpack_x_y_sample_weight(data)[0])

    def serving_outputs(self, features: Any) -> dict[str, Any]:
        """Outputs of an exported model by signature: the `export_outputs`, or else the predictions."""
        graph: Graph = self.graph("infer", features, None)
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
            graph = outside(Graph, self, mode, (features, labels), given)  # no writer turns its summaries into events
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

    def new_step(self) -> tf.Variable:
        """The global step."""
        return tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")

    def new_variable(self, value: Any, arguments: Mapping[str, Any], **settings: Any) -> tf.Variable:
        """A variable for one that a graph makes with `arguments`."""
        variable = tf.Variable(value, **settings)
        variable.initialized_value = variable.read_value  # for variables that start from it
        return variable

    def start_session(self, mode: str) -> None:
        """Sets the local variables of `mode`, such as those of metrics, back, as each session began with new ones."""
        for variable, value in self.graphs.local[mode]:
            variable.assign(value)

    def seen_by(self, graph: Graph, key: str, variable: tf.Variable) -> tf.Variable:
        """The variable as the ops of a graph see it."""
        return variable

    def wrapped(self, graph: Graph, flat: list[Any]) -> tuple[Any, list[Any]]:
        """The function that a graph is traced in, and the tensors that stand for the parts of a batch."""
        function = tf.compat.v1.wrap_function(graph.trace, flat)
        return function, function.graph.inputs[: len(tf.nest.flatten(flat, expand_composites=True))]

    def specify(self, graph: Graph, flat: Sequence[Any]) -> EstimatorSpec:
        """What the `model_fn` returns for the parts of a batch."""
        return graph.call(flat)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def graph(self, mode: str, features: Any, labels: Any) -> Graph:
        """The graph of the `model_fn` in `mode` for batches like this one."""
        spec = tf.nest.map_structure(tf.type_spec_from_value, (features, labels))
        known: list[Graph] = self.graphs.traced
        if tf.executing_eagerly():  # a batch is more definite than what the graph was traced for
            for graph in known:
                if graph.mode == mode and graph.takes((features, labels)):
                    return graph
        if not any(graph.mode == mode and graph.spec == spec for graph in known):
            known.append(outside(Graph, self, mode, spec))  # not within the function that Keras is tracing here
        return next(graph for graph in known if graph.mode == mode and graph.spec == spec)


class Graph:
    """The graph of a `model_fn` in one mode. `spec` are the types of features and labels, `given` come first of the hooks."""

    result: Any  # of the model_fn

    def __init__(self, model: GraphModel, mode: str, spec: Any, given: Sequence[GraphHook] = ()) -> None:
        self.mode, self.spec, self.model, self.given = mode, spec, model, given
        self.hooks: GraphHooks | None = None
        self.tables: list[Any] = []
        flat = [part for part in tf.nest.flatten(spec) if part is not None]
        with graph_behavior():
            wrapped, inputs = model.wrapped(self, flat)
        with tensors_as_keys():
            self.prepare(GraphSession(wrapped, inputs), inputs)
        result: Any = self.result
        if mode == "infer":
            self.function = wrapped.prune(inputs, result.predictions)
            self.served = wrapped.prune(inputs, flat_tensors(result.export_outputs))
            model.tables = [*model.tables, *self.tables]
            return
        self.function = wrapped.prune(inputs, [result.loss, self.update])
        if mode == "eval":
            metrics = dict(result.eval_metric_ops or {})
            self.metrics = wrapped.prune(inputs, {name: value for name, (value, _) in metrics.items()})
        elif self.summaries is not None:
            self.recorded = wrapped.prune(inputs, [result.loss, self.update, self.summaries])

    def takes(self, batch: Any) -> bool:
        """Whether the graph was traced for batches like this one."""
        flat, own = tf.nest.flatten(batch), tf.nest.flatten(self.spec)
        pairs = [(spec, part) for spec, part in zip(own, flat) if spec is not None]
        return len(own) == len(flat) and all(spec.is_compatible_with(part) for spec, part in pairs)

    def prepare(self, session: GraphSession, inputs: list[Any]) -> None:
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
        """Calls the `model_fn` for the parts of one batch."""
        parts = iter(flat)
        features, labels = tf.nest.map_structure(lambda part: None if part is None else next(parts), self.spec)
        graphs, mode = self.model.graphs, self.mode
        given = graphs.params
        params = given(mode) if isinstance(given, dict) and callable(given) else given
        offered = {"labels": labels, "mode": mode, "params": params, "config": self.model.run_config}
        named = {*inspect.signature(graphs.model_fn).parameters} - {*getattr(graphs.model_fn, "keywords", ())}
        with kept_tables(self.tables):  # what a functools.partial fills in stays
            spec: EstimatorSpec = graphs.model_fn(
                features, **{name: offered[name] for name in offered if name in named}
            )
        return spec

    def trace(self, *flat: Any) -> Any:
        """Runs the `model_fn` in the graph that is the default one now."""
        seed, mode = self.model.run_config.tf_random_seed, self.mode
        if seed is not None:
            tf.compat.v1.set_random_seed(seed)
        with tf.variable_creator_scope(self.create):
            step = tf.compat.v1.train.create_global_step()
            # Hooks read the step through this collection; TensorFlow would build the read for variables of a graph only.
            with tf.name_scope("global_step/"):  # leaves the names of the program's ops alone
                read = step.read_value() + 0
                tf.compat.v1.add_to_collection("global_step_read_op_cache", read)
            self.result = spec = self.model.specify(self, flat)
            # As an operation: what a step only fetches as a value, TensorFlow leaves out where nobody reads the value.
            metrics = (spec.eval_metric_ops or {}).values()
            updates = [update for _, update in metrics] if mode == "eval" else [spec.train_op]
            self.update = None if mode == "infer" else tf.group(*updates)
            self.summaries = tf.compat.v1.summary.merge_all() if mode == "train" else None
            self.fresh = mode == "train" and bool(tf.compat.v1.get_collection("new_variables"))
            if self.all_hooks():
                name_variables(tf.compat.v1.get_default_graph())
                if mode == "train":
                    summarize_loss(tf.compat.v1.get_default_graph(), spec.loss)
            for hook in self.all_hooks():
                begin(hook)
        if mode == "train":
            fetches = flat_tensors(spec.loss, self.update, self.summaries, read)
            if not getattr(self.model.graphs.model_fn, "resources", False):
                read_after_writes(fetches)
            order_writes(fetches, flat_tensors(flat))
        return []

    def create(self, next_creator: Callable[..., Any], **arguments: Any) -> tf.Variable:
        """Makes a variable outside of the graph, or takes the one that another graph has made by that name."""
        here, keys = tf.compat.v1.get_default_graph(), tf.compat.v1.GraphKeys
        graph, model, name = outermost_graph(here), self.model, arguments.get("name") or "Variable"
        name = name[:-1] if name.endswith("/") else unique_name(here, name)  # slots come with a whole scope
        collections = set(arguments.get("collections") or [keys.GLOBAL_VARIABLES])
        local = keys.LOCAL_VARIABLES in collections
        key = f"{self.mode}/{name}" if local else name
        variable = model.graphs.variables.get(key)
        if variable is None:
            value = initial_value(here, arguments["initial_value"])
            given = {name: arguments.get(name) for name in ("dtype", "constraint", "shape")}
            trainable = arguments.get("trainable", True) is not False and not local
            variable = outside(model.new_variable, value, arguments, trainable=trainable, name=name, **given)
            model.graphs.variables[key] = variable
            graph.add_to_collection("new_variables", variable)
            if local:
                model.graphs.local[self.mode].append((variable, outside(variable.numpy)))
            else:
                model.tf1_variables[name] = variable
        variable = model.seen_by(self, key, variable)
        graph.add_to_collections(collections | ({keys.TRAINABLE_VARIABLES} if variable.trainable else set()), variable)
        return variable

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

    def values(self, features: Any, labels: Any) -> dict[str, Any]:
        """The metrics so far, by name."""
        values: dict[str, Any] = self.metrics(*flat_tensors(features, labels))
        return values
