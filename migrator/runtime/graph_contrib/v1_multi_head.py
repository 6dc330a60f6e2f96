"""Several heads over one network in the graph of a `model_fn`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.canned.combined_heads import merged
from migrator.runtime.canned.heads import Head
from migrator.runtime.canned.named_heads import name_of
from migrator.runtime.graph_contrib.v1_heads import create_estimator_spec, step_of
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec


class MultiHead:
    """Several heads with names; the loss is the sum of theirs, times `head_weights` if given. The first one is served.

    Logits are a dict by name, or ``[batch, units]`` with those of one head after the other; labels are a dict by name.
    """

    def __init__(self, heads: Sequence[Any], head_weights: Sequence[float] | None = None) -> None:
        self.heads, self.head_weights = list(heads), list(head_weights or [1.0] * len(heads))
        self.units = sum(head.units for head in self.heads)
        if len(self.head_weights) != len(self.heads):
            raise ValueError(f"There are {len(self.heads)} heads and {len(self.head_weights)} head_weights.")
        if not self.heads or any(not hasattr(head, "suffix") for head in self.heads):
            raise ValueError("A MultiHead needs heads, and each needs a name.")


def create_head_spec(
    head: Head | MultiHead,
    features: Any,
    mode: str,
    logits: Any,
    labels: Any = None,
    optimizer: Any = None,
    train_op_fn: Callable[[tf.Tensor], Any] | None = None,
    **others: Any,
) -> EstimatorSpec:
    """`create_estimator_spec` of a head, or of several.

    With several heads, update ops run with the train op only where `update_ops` gives them. Predictions have keys of
    two parts: the name of the head, and that of the prediction.
    """
    if isinstance(head, Head):
        return create_estimator_spec(head, features, mode, logits, labels, optimizer, train_op_fn, **others)
    if not isinstance(logits, Mapping):
        parts = tf.split(logits, [part.units for part in head.heads], axis=-1)
        logits = {name_of(part): own for part, own in zip(head.heads, parts)}
    specs = {}
    for part in head.heads:
        own = None if labels is None else labels[name_of(part)]
        specs[name_of(part)] = create_estimator_spec(
            part,
            features,
            mode,
            logits[name_of(part)],
            own,
            train_op_fn=lambda loss: tf.no_op(),
            update_ops=others.get("update_ops"),
        )
    predictions = {(name, key): value for name, spec in specs.items() for key, value in spec.predictions.items()}
    if mode == "infer":
        served = {name: dict(spec.export_outputs or {}) for name, spec in specs.items()}
        return EstimatorSpec(mode, predictions, export_outputs=merged(served))
    loss = tf.add_n([spec.loss * weight for spec, weight in zip(specs.values(), head.head_weights)])
    if mode == "eval":
        metrics = {f"loss/{name}": tf.compat.v1.metrics.mean(spec.loss) for name, spec in specs.items()}
        for spec in specs.values():
            metrics.update(spec.eval_metric_ops or {})
        return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
    train_op = step_of(loss, optimizer, train_op_fn)
    return EstimatorSpec(mode, predictions, loss, tf.group(train_op, *(others.get("update_ops") or ())))
