"""What a SavedModel is fed, and the features that the model gets of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class ServingInputReceiver:
    """Placeholders to feed (one, or a dict by input name), and the features computed from them."""

    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Mapping[str, Any] | None = None  # other tensors to feed, by a prefix for signatures

    def model_features(self) -> Any:
        """What the model is called with; a single tensor is the feature called "feature"."""
        return self.features if isinstance(self.features, dict) else {"feature": self.features}


class TensorServingInputReceiver(ServingInputReceiver):
    """The same for a model whose features are one tensor."""

    def model_features(self) -> Any:
        return self.features


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """For serialized `tf.train.Example`s, fed as "examples" and parsed by `feature_spec`."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.compat.v1.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(tf.io.parse_example(examples, feature_spec), {"examples": examples})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """For features that are fed as they are; `features` holds tensors or `tf.TensorSpec`s of a batch."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        tensors = {}
        for name, tensor in features.items():
            shape = [default_batch_size, *tensor.shape[1:]] if tensor.shape.rank else tensor.shape
            tensors[name] = tf.compat.v1.placeholder(tensor.dtype, shape)
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn
