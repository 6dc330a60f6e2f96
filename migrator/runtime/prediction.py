"""`predict`: the predictions of a model, one example at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.inputs import ModeKeys, features_only
from migrator.runtime.prepare import predict_function, prepare_dataset, prepare_model


def predict(
    model: tf.keras.Model,
    input_fn: Callable[..., Any],
    predict_keys: Sequence[str] | str | None = None,
    checkpoint_path: str | None = None,
    yield_single_examples: bool = True,
) -> Iterator[Any]:
    """Yields the predictions of the newest checkpoint, computed batch by batch as they are asked for.

    Args:
      model: A model that went through `configure`.
      input_fn: Returns a dataset of batches of features; labels are dropped.
      predict_keys: The outputs to yield, where the model has a dict of them. None: all.
      checkpoint_path: Use this checkpoint instead of the newest.
      yield_single_examples: Whether to split batches into examples.

    Yields:
      For each example (or batch) an array, or a dict of arrays.

    Raises:
      ValueError: none of `predict_keys` is an output, or the outputs differ in batch size.
    """
    dataset = features_only(prepare_dataset(model, input_fn, ModeKeys.PREDICT))
    with tf.summary.record_if(False):
        prepare_model(model, dataset, ModeKeys.PREDICT, checkpoint_path)
    predict_step = predict_function(model, dataset.element_spec)
    for features in dataset:
        outputs = tf.nest.map_structure(lambda tensor: tensor.numpy(), predict_step(features))
        outputs = select_outputs(outputs, predict_keys)
        if yield_single_examples:
            yield from split_examples(outputs)
        else:
            yield outputs


def select_outputs(outputs: Any, keys: Sequence[str] | str | None) -> Any:
    """Those outputs whose name is in `keys`; all if there are none."""
    if not keys:
        return outputs
    if not isinstance(outputs, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    selected = {key: value for key, value in outputs.items() if key in keys}
    if not selected:
        raise ValueError(f"Expected to run at least one output from {list(outputs)}, provided {keys}.")
    return selected


def split_examples(outputs: Any) -> Iterator[Any]:
    """Splits an array [n, ...], or a dict of them, into n examples."""
    if not isinstance(outputs, dict):
        yield from outputs
        return
    sizes = {key: len(value) for key, value in outputs.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"Batch length of predictions should be same, given: {sizes}")
    for values in zip(*outputs.values()):
        yield dict(zip(outputs, values))
