"""Predictions of a `GraphModel` with hooks of TensorFlow 1 around their batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.graph_v1.v1_hooks import GraphHook, GraphHooks, GraphSession
from migrator.runtime.graph_v1.v1_session_graph import SessionGraph, SessionGraphModel
from migrator.runtime.graph_v1.v1_tensors import flat_tensors
from migrator.runtime.training.prediction import predict


def predict_with_hooks(
    model: SessionGraphModel,
    input_fn: Callable[..., Any],
    *args: Any,
    callbacks: Iterable[GraphHook] = (),
    **named: Any,
) -> Iterator[Any]:
    """`predict` with the hooks that the callbacks bring, and those of the EstimatorSpec. Other arguments are its own."""
    step, state = HookedStep(model, list(callbacks)), model.run_state
    predictions, end = predict(model, input_fn, *args, **named), object()
    while True:
        compiled, state.predict_step = state.predict_step, step
        try:
            prediction = next(predictions, end)
        finally:
            state.predict_step = compiled  # other predictions may go on before the next one of these
        if prediction is end:
            break
        yield prediction
    step.graph.hooks.end()


class HookedStep:
    """The predictions of one batch after the other, in a graph of their own."""

    graph: PredictionGraph

    def __init__(self, model: SessionGraphModel, given: list[GraphHook]) -> None:
        self.model, self.given = model, given

    def get_concrete_function(self, spec: Any) -> None:
        """Traces the graph, which creates the variables."""
        self.graph = PredictionGraph(self.model, spec, self.given)

    def __call__(self, features: Any) -> Any:
        values, stop = self.graph.hooks.run(flat_tensors(features))
        if stop:
            raise NotImplementedError("A hook cannot end predictions early.")
        return tf.nest.map_structure(tf.convert_to_tensor, values)


class PredictionGraph(SessionGraph):
    """The graph of the predictions for features of these types."""

    hooks: GraphHooks

    def __init__(self, model: SessionGraphModel, features: Any, given: list[GraphHook]) -> None:
        super().__init__(model, "infer", (features, None), given)

    def bind(self, session: GraphSession, inputs: list[Any]) -> None:
        """Does what the Scaffold says, and binds the hooks, if there are any."""
        super().bind(session, inputs)
        self.hooks = self.hooks or GraphHooks([], session, inputs, self.result.predictions)
