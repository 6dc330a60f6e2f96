"""A Keras model around a `model_fn` of TensorFlow 1, where strategies are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.cluster.replicas import ReplicaRun
from migrator.runtime.cluster.strategy import make_strategy
from migrator.runtime.cluster.training import configure_distributed
from migrator.runtime.cluster.v1_partitions import restore_any_parts, start_as_parts, start_whole
from migrator.runtime.cluster.v1_replicas import as_in_graph, call_all, first_copy, in_turn, spec_of_one, step_on
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec, Graph
from migrator.runtime.graph_v1.v1_hooks import GraphRun
from migrator.runtime.graph_v1.v1_initial_values import outside
from migrator.runtime.graph_v1.v1_session_graph import SessionGraphModel
from migrator.runtime.graph_v1.v1_tensors import flat_tensors
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.config import RunConfig


def graph_model(
    model_fn: Callable[..., EstimatorSpec],
    model_dir: str | None = None,
    config: RunConfig | None = None,
    params: Any = None,
) -> SessionGraphModel:
    """Compiles a `GraphModel` for `train`, `evaluate` and `predict`; checkpoints go to `model_dir`."""
    strategy = make_strategy(config)
    with strategy.scope():
        made = ReplicatedGraphModel if strategy.num_replicas_in_sync > 1 else PartitionedGraphModel
        model = made(model_fn, {} if params is None else params)
        model.compile(steps_per_execution=100)
    configured: SessionGraphModel = configure_distributed(model, config, params=params, model_dir=model_dir)
    if strategy.num_replicas_in_sync == 1 and isinstance(configured.run_state.run, ReplicaRun):
        configured.run_state.run = PartitionedGraphRun(configured)
    restore_any_parts(configured)
    return configured


class PartitionedGraphRun(GraphRun, ReplicaRun):
    """Counts steps on the one device of a strategy."""


class PartitionedGraphModel(SessionGraphModel):
    """A `GraphModel` whose `model_fn` may partition variables, as for parameter servers."""

    getter = staticmethod(start_as_parts)

    def wrapped(self, graph: Graph, flat: list[Any]) -> tuple[Any, list[Any]]:
        def trace(*flat: Any) -> Any:
            tf.compat.v1.get_variable_scope().set_custom_getter(self.getter)
            return graph.trace(*flat)

        function = tf.compat.v1.wrap_function(trace, flat)
        return function, function.graph.inputs[: len(tf.nest.flatten(flat, expand_composites=True))]

    def new_variable(self, value: Any, arguments: Mapping[str, Any], **settings: Any) -> tf.Variable:
        """A variable, on a parameter server where there are some: slots on that of the variable that they are for."""
        variable = self.placed(value, settings)
        as_in_graph(self.distribute_strategy, variable)
        return variable

    def placed(self, value: Any, settings: dict[str, Any]) -> tf.Variable:
        if not isinstance(self.distribute_strategy, tf.distribute.ParameterServerStrategy):
            return tf.Variable(value, **settings)
        parts = settings["name"].split("/")
        for length in range(len(parts) - 1, 0, -1):
            scope = "/".join(parts[:length])
            if scope in self.tf1_variables:
                with tf.device(self.tf1_variables[scope].device):
                    return tf.Variable(value, **settings)
        with self.distribute_strategy.scope():
            return tf.Variable(value, **settings).get()


class ReplicatedGraphModel(PartitionedGraphModel):
    """Several replicas train in one graph, in which optimizers of TensorFlow 1 average gradients, and one of them evaluates."""

    getter = staticmethod(start_whole)
    handles_replicas = True

    def __init__(self, model_fn: Callable[..., EstimatorSpec], params: Any = None) -> None:
        super().__init__(model_fn, params)
        self.graphs.evaluated_loss = outside(BatchMean, name="loss")

    def new_step(self) -> tf.Variable:
        first = tf.VariableAggregation.ONLY_FIRST_REPLICA
        return tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step", aggregation=first)

    def train_step(self, data: Any) -> dict[str, Any]:
        """One run of the `train_op` for the batches of all replicas of this process."""
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(data)
        graph: Graph = self.graph("train", features, labels)

        def run(tensors: Sequence[Any]) -> Any:
            # Each call numbers its sums over replicas anew.
            return graph.run([*tensors, *flat_tensors([number() for number in vars(graph)["numbers"]])])

        self.compute_loss(y_pred=in_turn(run, flat_tensors(features, labels)))
        return {"loss": self.loss_metric.result()}

    def test_step(self, data: Any) -> dict[str, Any]:
        """Updates the metrics of `eval_metric_ops`, and a mean loss that no other replica knows."""
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(data)
        graph, loss = self.graph("eval", features, labels), self.graphs.evaluated_loss
        loss.update_state(graph.run(flat_tensors(features, labels)))
        return {**graph.values(features, labels), "loss": loss.result()}

    def make_test_function(self, force: bool = False) -> Any:
        """A function of one step on the first replica."""
        step = self.step_of("eval")
        self.test_function = tf.function(lambda iterator: step(next(iterator)))
        return self.with_hooks("eval", self.test_function)

    def step_of(self, mode: str) -> Callable[[Any], dict[str, Any]]:
        return step_on(self.distribute_strategy, mode, super().step_of(mode))

    def one_more(self, iterator: Any) -> list[Any]:
        raise NotImplementedError("A hook that runs a batch by itself is not supported on several replicas.")

    def batch_spec(self, batches: Any) -> Any:
        return spec_of_one(batches.element_spec)

    def reset_metrics(self) -> None:
        super().reset_metrics()
        self.graphs.evaluated_loss.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """Where an evaluation is under way, its loss: Keras asks here instead of what the last step returned."""
        loss = self.graphs.evaluated_loss
        return {"loss": loss.result()} if loss.count > 0 else super().get_metrics_result()

    def wrapped(self, graph: Graph, flat: list[Any]) -> tuple[Any, list[Any]]:
        if graph.mode != "train":
            return super().wrapped(graph, flat)
        strategy = self.distribute_strategy
        # In this scope optimizers average the losses, as those of Estimators do.
        with strategy.scope(), strategy._scale_loss_for_estimator_enabled():
            wrapped, inputs = super().wrapped(graph, flat * len(strategy.extended.worker_devices))
        vars(graph)["numbers"] = wrapped.graph.deferred_external_captures
        return wrapped, inputs + flat_tensors(wrapped.graph.deferred_internal_captures)

    def specify(self, graph: Graph, flat: Sequence[Any]) -> EstimatorSpec:
        if graph.mode != "train":
            return super().specify(graph, flat)
        spec: EstimatorSpec = call_all(self.distribute_strategy, graph.call, flat)
        return spec

    def new_variable(self, value: Any, arguments: Mapping[str, Any], **settings: Any) -> tf.Variable:
        settings.update((name, arguments[name]) for name in ("synchronization", "aggregation") if name in arguments)
        return super().new_variable(value, arguments, **settings)

    def placed(self, value: Any, settings: dict[str, Any]) -> tf.Variable:
        with self.distribute_strategy.scope():
            return tf.Variable(value, **settings)

    def seen_by(self, graph: Graph, key: str, variable: tf.Variable) -> tf.Variable:
        """The copy of the first replica, in the graphs of all that only it does."""
        if graph.mode == "train":
            return variable
        copies = vars(graph).setdefault("copies", {})
        if key not in copies:
            copies[key] = first_copy(self.distribute_strategy, variable)
        return copies[key]
