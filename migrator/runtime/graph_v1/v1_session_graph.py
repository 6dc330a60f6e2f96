"""A Keras model around a `model_fn` of TensorFlow 1 as `train`, `evaluate` and `predict` run it: with hooks and summaries."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_hooked_graph import HookedGraph, HookedGraphModel
from migrator.runtime.graph_v1.v1_hooks import GraphHook, GraphRun, SkippingRun
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


def skipping_graph_model(
    model_fn: Callable[..., EstimatorSpec],
    model_dir: str | None = None,
    config: RunConfig | None = None,
    params: Any = None,
) -> SessionGraphModel:
    """A `graph_model` whose `train_op` counts the global step with some batches only, as it adds up gradients of several."""
    model = graph_model(model_fn, model_dir, config, params)
    model.run_state.run = SkippingRun(model)
    return model


class SessionGraphModel(HookedGraphModel):
    """A `HookedGraphModel` with the configuration of an Estimator.

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

    def offered(self, mode: str) -> dict[str, Any]:
        given = self.graphs.params
        params = given(mode) if isinstance(given, dict) and callable(given) else given
        return {"mode": mode, "params": copy.deepcopy(params), "config": self.run_config}

    def new_graph(self, mode: str, spec: Any, given: Sequence[GraphHook] = ()) -> SessionGraph:
        return SessionGraph(self, mode, spec, given)  # no writer turns its summaries into events

    def serving_outputs(self, features: Any) -> dict[str, Any]:
        """Outputs of an exported model by signature: the `export_outputs`, or else the predictions."""
        graph: SessionGraph = self.graph("infer", features, None)
        return graph.exports(features)


class SessionGraph(HookedGraph):
    """A `HookedGraph` that writes summaries, and may be exported."""

    model: SessionGraphModel

    def prepare(self, wrapped: Any, inputs: list[Any]) -> None:
        """Begins the session; what it may export or record is computed apart."""
        spec = self.result
        super().prepare(wrapped, inputs)
        if self.mode == "infer":
            self.served = wrapped.prune(inputs, flat_tensors(spec.export_outputs))
            self.model.tables = [*self.model.tables, *self.tables]
        elif self.summaries is not None:
            self.recorded = wrapped.prune(inputs, [spec.loss, self.update, self.summaries])

    def trace(self, *flat: Any) -> Any:
        seed = self.model.run_config.tf_random_seed
        if seed is not None:
            tf.compat.v1.set_random_seed(seed)
        return super().trace(*flat)

    def finish(self) -> Any:
        """Adds the summaries, and lets hooks add what they need."""
        self.summaries = tf.compat.v1.summary.merge_all() if self.mode == "train" else None
        super().finish()
        return self.summaries

    def run(self, tensors: list[Any]) -> Any:
        """Predictions for a batch, or the loss of a step on it (of each replica), which writes its summaries when due."""
        if self.mode == "infer":
            return self.function(*tensors)
        if self.hooks is not None and tf.executing_eagerly():
            due = self.summaries is not None and self.model.run_state.logger.recording
            (loss, _, *summaries), stop = self.hooks.run(tensors, [self.summaries] if due else [])
            self.stopped(stop)
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
