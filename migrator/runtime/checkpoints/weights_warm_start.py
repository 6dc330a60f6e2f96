"""A first start of a model with layers from the checkpoint of another one, as `warm_start_from` of an Estimator says."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.checkpoints.checkpoint_names import keep_names, keys_by_name
from migrator.runtime.checkpoints.warm_start_settings import (
    WarmStartSettings,
    as_settings,
    keys_to_start_from,
    start_warm,
    starting_value,
)
from migrator.runtime.checkpoints.weight_names import tf1_variables
from migrator.runtime.checkpoints.weights_from_checkpoint import create_weights


def begin_warm(model: tf.keras.Model, warm_start_from: str | WarmStartSettings | None = None) -> tf.keras.Model:
    """`model`, which starts with values of a checkpoint as long as there is none in its `model_dir`.

    `warm_start_from` may be a SavedModel, or a checkpoint of which all trainable variables are taken. Its own checkpoints
    may be that of another model, as they hold the names of TensorFlow 1.
    """
    keep_names(model)
    if warm_start_from is not None:
        start_warm(model, warm_start_from, take_named_weights)
    return model


def take_named_weights(model: tf.keras.Model, settings: WarmStartSettings) -> None:
    """Gives the trained weights that the pattern means their values of the checkpoint."""
    path, pattern = settings.ckpt_to_initialize_from, settings.vars_to_warm_start
    if pattern is not None and not isinstance(pattern, str):
        raise TypeError(f"vars_to_warm_start must be one pattern, given: {pattern!r}")
    chosen = {each.op.name: each.variable for each in tf1_variables(model, pattern)}
    if pattern is None:
        chosen = {name: chosen[name] for name in chosen if name in (settings.var_name_to_vocab_info or {})}
    keys, reader = keys_to_start_from(chosen, settings, keys_by_name(path)), tf.train.load_checkpoint(path)
    for name, variable in chosen.items():
        variable.assign(starting_value(reader, keys[name], name, settings))


class WarmStart:
    """Gives a model first values of a checkpoint, called with the data that it trains on; nothing, if it is to start from none.

    `warm_start_from` may be a SavedModel, or a checkpoint of which all trainable variables are taken.
    """

    def __init__(self, model: tf.keras.Model, warm_start_from: str | WarmStartSettings | None) -> None:
        self.model, self.warm_start_from = model, warm_start_from

    def __call__(self, data: tf.data.Dataset) -> None:
        if self.warm_start_from is not None:
            create_weights(self.model, data.element_spec)
            take_named_weights(self.model, as_settings(self.warm_start_from))
