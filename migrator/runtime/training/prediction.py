"""`predict`: the predictions of a model, one example at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.training.inputs import read_input


def predict(
    model: tf.keras.Model,
    input_fn: Callable[..., Any],
    predict_keys: Sequence[str] | str | None = None,
    checkpoint_path: str | None = None,
    yield_single_examples: bool = True,
) -> Iterator[Any]:
    """Yields the predictions of the newest checkpoint (or another one), computed batch by batch as they are asked for.

    Each is an array, or a dict of arrays (those in `predict_keys`): for an example, or for a batch.
    """
    dataset = read_input(model, input_fn, "infer")
    if isinstance(dataset.element_spec, tuple):  # of features and labels
        # Features that are a tuple themselves would be taken for features and labels.
        dataset = dataset.map(lambda features, *_: (features,) if isinstance(features, tuple) else features)
    with tf.summary.record_if(False):
        model.run_state.predict_step.get_concrete_function(dataset.element_spec)  # creates the variables
    model.run_state.checkpoints.restore(checkpoint_path)
    for features in dataset:
        outputs = tf.nest.map_structure(lambda tensor: tensor.numpy(), model.run_state.predict_step(features))
        if predict_keys:
            outputs = {key: value for key, value in outputs.items() if key in predict_keys}
            if not outputs:
                raise ValueError(f"None of the predict_keys {predict_keys} is an output of the model.")
        if not yield_single_examples:
            yield outputs
        elif not isinstance(outputs, dict):
            yield from outputs
        elif len({len(value) for value in outputs.values()}) > 1:
            raise ValueError(f"The outputs {list(outputs)} differ in batch size.")
        else:
            yield from (dict(zip(outputs, values)) for values in zip(*outputs.values()))
