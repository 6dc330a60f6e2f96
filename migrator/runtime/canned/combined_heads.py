"""Several heads over one network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from migrator.runtime.canned.heads import Head
from migrator.runtime.canned.named_heads import name_of


class CombinedHead(Head):
    """Several heads with names. Each has its share of the logits, one after the other, and its labels under its name.

    The loss is the sum of theirs, times `head_weights` if given. Predictions have keys of two parts: the name of the head,
    and that of the prediction. The first head is served by default.

    Raises:
        ValueError: without heads, for heads without names, and for another number of weights.
    """

    def __init__(self, heads: Sequence[Any], head_weights: Sequence[float] | None = None) -> None:
        if not heads or any(not hasattr(head, "suffix") for head in heads):
            raise ValueError("A CombinedHead needs heads, and each needs a name.")
        if head_weights is not None and len(head_weights) != len(heads):
            raise ValueError(f"There are {len(heads)} heads and {len(head_weights)} head_weights.")
        super().__init__(sum(head.units for head in heads), None, "", None)
        self.heads = {name_of(head): head for head in heads}
        self.head_weights = list(head_weights or [1.0] * len(heads))

    def predictions(self, logits: tf.Tensor) -> dict[Any, tf.Tensor]:
        parts = tf.split(logits, [head.units for head in self.heads.values()], axis=-1)
        made = {name: head.predictions(own) for (name, head), own in zip(self.heads.items(), parts)}
        return {(name, key): value for name, own in made.items() for key, value in own.items()}

    def serving_outputs(self, predictions: dict[Any, tf.Tensor]) -> dict[str, Any]:
        return merged({name: head.serving_outputs(outputs_of(predictions, name)) for name, head in self.heads.items()})

    def loss(self, features: Any, labels: Any, outputs: Any) -> tf.Tensor:
        """The loss of a batch with these predictions, and labels by the names of heads."""
        losses = [head.loss(features, labels[name], outputs_of(outputs, name)) for name, head in self.heads.items()]
        return tf.add_n([loss * weight for loss, weight in zip(losses, self.head_weights)])

    def training_scalars(self, features: Any, labels: Any, outputs: Any, mean: bool) -> dict[str, tf.Tensor]:
        scalars: dict[str, tf.Tensor] = {}
        for name, head in self.heads.items() if mean else ():
            scalars.update(head.training_scalars(features, labels[name], outputs_of(outputs, name), mean))
        return scalars

    def metrics(self) -> dict[str, Any]:
        """New metrics, by the names of heads and by their own."""
        return {
            name: {"loss": tf.keras.metrics.Mean(name=f"loss/{name}"), **head.metrics()}
            for name, head in self.heads.items()
        }

    def update_all(self, metrics: Any, features: Any, labels: Any, outputs: Any) -> None:
        for name, head in self.heads.items():
            outputs_of_head = outputs_of(outputs, name)
            metrics[name]["loss"].update_state(head.loss(features, labels[name], outputs_of_head))
            head.update_all(metrics[name], features, labels[name], outputs_of_head)


def outputs_of(outputs: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """The predictions of one head, by their own names."""
    return {key: value for (head, key), value in outputs.items() if head == name}


def merged(served: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The outputs of an exported model by signature, out of those of heads by name."""
    outputs: dict[str, Any] = {}
    for name, given in served.items():
        outputs.setdefault("serving_default", given["serving_default"])
        for key, value in given.items():
            outputs[name if key == "serving_default" else f"{name}/{key}"] = value
    predicted = {f"{name}/{key}": value for name, given in served.items() for key, value in given["predict"].items()}
    return {**outputs, "predict": predicted}
