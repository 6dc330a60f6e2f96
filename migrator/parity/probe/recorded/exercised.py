"""Whether what the old program has ready does anything: clips that clip, regularizers that count, stops that stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_CLIPPED: dict[int, list[tuple[Any, Any]]] = {}
"""Gradients before and after, by the graph that they are in."""


def install() -> None:
    """Remember what `tf.clip_by_global_norm` and `tf.clip_by_norm` are given, and return."""
    import tensorflow as tf

    for owner in (tf, tf.compat.v1):
        for name, several in (("clip_by_global_norm", True), ("clip_by_norm", False)):
            if not hasattr(getattr(owner, name), "_parity"):
                setattr(owner, name, _watched(getattr(owner, name), several))


def watch_choices(writer: Any) -> None:
    """Record what early stopping and exporters of the best model decide."""
    import tensorflow as tf

    exporter = tf.compat.v1.estimator.BestExporter
    export = exporter.export

    def watched_export(self: Any, *args: Any, **named: Any) -> Any:
        path = export(self, *args, **named)
        writer.event("best export", name=self.name, made=path is not None)
        return path

    exporter.export = watched_export
    try:
        from tensorflow_estimator.python.estimator.early_stopping import _StopOnPredicateHook as hook
    except ImportError:
        return
    make = hook.__init__

    def watched_make(self: Any, should_stop_fn: Any, *args: Any, **named: Any) -> None:
        def should_stop() -> Any:
            stop = should_stop_fn()
            writer.event("early stopping", stop=bool(stop))
            return stop

        writer.event("early stopping", stop=False)
        make(self, should_stop, *args, **named)

    hook.__init__ = watched_make


def _watched(function: Any, several: bool) -> Any:
    def clip(given: Any, *args: Any, **named: Any) -> Any:
        given = list(given) if several else given
        result = function(given, *args, **named)
        pairs = list(zip(given, result[0])) if several else [(given, result)]
        _remember(pairs)
        return result

    clip._parity = True  # type: ignore[attr-defined]
    return clip


def _remember(pairs: Sequence[tuple[Any, Any]]) -> None:
    import tensorflow as tf

    if not tf.compat.v1.executing_eagerly() and not tf.distribute.has_strategy():
        _CLIPPED.setdefault(id(tf.compat.v1.get_default_graph()), []).extend(pairs)


def tensors(graph: Any) -> dict[str, Any]:
    """What tells of a step: whether a gradient was clipped, and what regularizers add to the loss. Adds to the graph."""
    import tensorflow as tf

    v1 = tf.compat.v1
    changed = []
    for before, after in _CLIPPED.pop(id(graph), ()):
        values = [part.values if isinstance(part, tf.IndexedSlices) else part for part in (before, after)]
        if all(_there(value, graph) for value in values):
            apart = tf.reduce_max(tf.abs(values[0] - values[1]))
            changed.append(tf.cast(apart, tf.float32) > 1e-5 * tf.cast(tf.reduce_max(tf.abs(values[0])), tf.float32))
    terms = [term for term in graph.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES) if _there(term, graph)]
    found: dict[str, Any] = {}
    if changed:
        found["clipped"] = tf.reduce_any(tf.stack(changed))
    if terms:
        found["regularization"] = tf.add_n([tf.cast(tf.reduce_sum(term), tf.float64) for term in terms])
    return found


def _there(value: Any, graph: Any) -> bool:
    """Whether a tensor is one of this graph, and has a value in each step."""
    return getattr(value, "graph", None) is graph and value.op._get_control_flow_context() is None
