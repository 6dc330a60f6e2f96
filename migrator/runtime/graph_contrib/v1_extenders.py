"""What `add_metrics` and `forward_features` of `tf.contrib.estimator` did to a canned Estimator."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable
from typing import Any, Callable

import tensorflow as tf


class GraphMetrics(tf.keras.metrics.Metric):
    """What a function that calls `tf.compat.v1.metrics` computes over all batches of an evaluation, by name.

    `metric_fn` gets those of features, labels, predictions and config that it names, in a graph of TensorFlow 1.
    """

    def __init__(self, metric_fn: Callable[..., dict[str, Any]], config: Any, name: str) -> None:
        super().__init__(name=name)
        self.metric_fn, self.config = metric_fn, config
        # Beside Keras, so that no checkpoint has to hold it: functions that update and read, and their variables.
        self.graph = types.SimpleNamespace(update=None, read=dict, variables=())

    def update_state(self, features: Any, labels: Any, predictions: Any) -> None:
        batch = {"features": features, "labels": labels, "predictions": predictions}
        tensors = tf.nest.flatten(batch, expand_composites=True)
        if self.graph.update is None:
            with tf.init_scope():
                self.make_graph(batch, [tf.TensorSpec([None, *t.shape[1:]], t.dtype) for t in tensors])
        self.graph.update(*tensors)

    def make_graph(self, batch: Any, specs: list[tf.TensorSpec]) -> None:
        metrics: dict[str, Any] = {}

        def compute(*tensors: tf.Tensor) -> None:
            given = tf.nest.pack_sequence_as(batch, tensors, expand_composites=True)
            offered = {**given, "config": self.config}
            wanted = inspect.signature(self.metric_fn).parameters
            metrics.update(self.metric_fn(**{name: value for name, value in offered.items() if name in wanted}))

        whole = tf.compat.v1.wrap_function(compute, specs)
        # Operations are run even if nothing reads their values.
        self.graph.update = whole.prune(whole.inputs[: len(specs)], [updated.op for _, updated in metrics.values()])
        self.graph.read = whole.prune([], {name: value for name, (value, _) in metrics.items()})
        self.graph.variables = whole.graph.variables

    def result(self) -> dict[str, tf.Tensor]:
        results: dict[str, tf.Tensor] = self.graph.read()
        return results

    def reset_state(self) -> None:
        for variable in self.graph.variables:
            variable.assign(tf.zeros_like(variable))


def add_metrics(model: tf.keras.Model, metric_fn: Callable[..., dict[str, Any]]) -> tf.keras.Model:
    """Lets evaluations of a canned model report what `metric_fn` computes as well; it replaces metrics of the same names."""
    compute_metrics, number = model.compute_metrics, len(getattr(model, "graph_metrics", ()))
    added = GraphMetrics(metric_fn, model.run_config, f"graph_metrics_{number}")
    model.graph_metrics = [*getattr(model, "graph_metrics", ()), added]

    def compute_all(x: Any, y: Any, y_pred: Any, sample_weight: Any) -> dict[str, Any]:
        added.update_state(x, y, y_pred)
        results: dict[str, Any] = compute_metrics(x, y, y_pred, sample_weight)
        return results

    model.compute_metrics = compute_all
    return model


def forward_features(model: tf.keras.Model, keys: str | Iterable[str] | None = None) -> tf.keras.Model:
    """Adds features (None: all) to the predictions of a canned model, and to the signatures that serve all of these."""
    predict_step, serving_outputs = model.predict_step, model.serving_outputs

    def forwarded(features: Any) -> dict[str, Any]:
        names = features if keys is None else [keys] if isinstance(keys, str) else keys
        return {name: features[name] for name in names}

    def predict_and_forward(features: Any) -> dict[str, Any]:
        return {**predict_step(features), **forwarded(features)}

    def serve_and_forward(features: Any) -> dict[str, Any]:
        outputs = serving_outputs(features)
        return {key: {**out, **forwarded(features)} if isinstance(out, dict) else out for key, out in outputs.items()}

    model.predict_step, model.serving_outputs = predict_and_forward, serve_and_forward
    model.run_state.predict_step = tf.function(predict_and_forward)
    return model
