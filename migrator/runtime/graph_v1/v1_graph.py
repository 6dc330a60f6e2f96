"""A Keras model around a `model_fn` of TensorFlow 1, which stays as it is."""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple

import tensorflow as tf

from migrator.runtime.graph_v1.v1_behavior import graph_behavior
from migrator.runtime.graph_v1.v1_initial_values import initial_value, outermost_graph, outside, unique_name
from migrator.runtime.graph_v1.v1_order import order_writes
from migrator.runtime.graph_v1.v1_references import read_after_writes
from migrator.runtime.graph_v1.v1_tables import kept_tables
from migrator.runtime.graph_v1.v1_tensors import flat_tensors
from migrator.runtime.training.keras_versions import keras_2


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


class GraphModel(tf.keras.Model):
    """Runs a `model_fn` of TensorFlow 1: traces it as a graph, once for each mode and kind of batch.

    Graphs share variables by name, as they did through checkpoints; those names are the ones of TensorFlow 1. A train
    step runs the `train_op` and nothing else. Needs Keras 2.

    Args:
      model_fn: takes `features`, and those of `labels`, `mode` and `params` that it names.
      params: passed to the `model_fn`.

    Raises RuntimeError with Keras 3.
    """

    def __init__(self, model_fn: Callable[..., EstimatorSpec], params: Any = None) -> None:
        keras_2("Kept model_fns")
        super().__init__()
        self.loss_metric = self.new_loss()
        self.global_step = self.new_step()
        self.tf1_variables: dict[str, tf.Variable] = {}  # by their name in TensorFlow 1, with slots of optimizers
        self.graphs = types.SimpleNamespace(  # which Keras does not look into
            model_fn=model_fn,
            params={} if params is None else params,
            traced=[],
            local={each: [] for each in ("train", "eval", "infer")},
            values=dict,  # of the metrics, where no batch has come
            variables={"global_step": self.global_step},
        )

    def compile(self, **arguments: Any) -> None:
        """Without an optimizer: the `train_op` is the one of the `model_fn`."""
        counter = tf.keras.optimizers.SGD()
        counter.iterations = self.global_step  # Keras asks its optimizer for the step
        super().compile(optimizer=counter, **arguments)

    def new_loss(self) -> Any:
        """The mean of the losses of batches."""
        return tf.keras.metrics.Mean(name="loss")

    def reset_metrics(self) -> None:
        """Sets the local variables of the graphs, such as those of metrics, back as well."""
        super().reset_metrics()
        for mode in self.graphs.local:
            self.start_session(mode)

    def without_batch(self) -> dict[str, Any]:
        """The metrics of an evaluation of which the data end at once: each as it begins."""
        self.start_session("eval")
        return {**self.get_metrics_result(), **self.graphs.values()}

    def offered(self, mode: str) -> dict[str, Any]:
        """What a `model_fn` may name as its arguments, beside the features and labels."""
        return {"mode": mode, "params": copy.deepcopy(self.graphs.params)}  # which the model_fn may change

    def new_graph(self, mode: str, spec: Any) -> Graph:
        """The graph of the `model_fn` in `mode`."""
        return Graph(self, mode, spec)

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
            known.append(outside(self.new_graph, mode, spec))  # not within the function that Keras is tracing here
        return next(graph for graph in known if graph.mode == mode and graph.spec == spec)


class Graph:
    """The graph of a `model_fn` in one mode. `spec` are the types of features and labels."""

    result: Any  # of the model_fn

    def __init__(self, model: GraphModel, mode: str, spec: Any) -> None:
        self.mode, self.spec, self.model = mode, spec, model
        self.tables: list[Any] = []  # that the model_fn makes
        flat = [part for part in tf.nest.flatten(spec) if part is not None]
        with graph_behavior():
            wrapped, inputs = model.wrapped(self, flat)
        self.prepare(wrapped, inputs)
        result: Any = self.result
        if mode == "infer":
            self.function = wrapped.prune(inputs, result.predictions)
            return
        self.function = wrapped.prune(inputs, [result.loss, self.update])
        if mode == "eval":
            metrics = {name: value for name, (value, _) in (result.eval_metric_ops or {}).items()}
            self.metrics = wrapped.prune(inputs, metrics)
            model.graphs.values = lambda: wrapped.prune([], metrics)()

    def takes(self, batch: Any) -> bool:
        """Whether the graph was traced for batches like this one."""
        flat, own = tf.nest.flatten(batch), tf.nest.flatten(self.spec)
        pairs = [(spec, part) for spec, part in zip(own, flat) if spec is not None]
        return len(own) == len(flat) and all(spec.is_compatible_with(part) for spec, part in pairs)

    def prepare(self, wrapped: Any, inputs: list[Any]) -> None:
        """What is to be done before the first step."""

    def call(self, flat: Sequence[Any]) -> EstimatorSpec:
        """Calls the `model_fn` for the parts of one batch."""
        parts = iter(flat)
        features, labels = tf.nest.map_structure(lambda part: None if part is None else next(parts), self.spec)
        graphs, mode = self.model.graphs, self.mode
        offered = {"labels": labels, **self.model.offered(mode)}
        named = {*inspect.signature(graphs.model_fn).parameters} - {*getattr(graphs.model_fn, "keywords", ())}
        given = {name: offered[name] for name in offered if name in named}  # what a functools.partial fills in stays
        with kept_tables(self.tables):
            spec: EstimatorSpec = graphs.model_fn(features, **given)
        return spec

    def trace(self, *flat: Any) -> Any:
        """Runs the `model_fn` in the graph that is the default one now."""
        mode = self.mode
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
            more = self.finish()
        if mode == "train":
            fetches = flat_tensors(spec.loss, self.update, more, read)
            if not getattr(self.model.graphs.model_fn, "resources", False):
                read_after_writes(fetches)
            order_writes(fetches, flat_tensors(flat))
        return []

    def finish(self) -> Any:
        """Adds to the graph what stands beside the `model_fn`; gives what a step may fetch of that."""
        return None

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
        """Predictions for a batch, or the loss of a step on it."""
        return self.function(*tensors) if self.mode == "infer" else self.function(*tensors)[0]

    def values(self, features: Any, labels: Any) -> dict[str, Any]:
        """The metrics so far, by name."""
        values: dict[str, Any] = self.metrics(*flat_tensors(features, labels))
        return values
