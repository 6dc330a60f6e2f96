"""A first start of a canned model from the checkpoint of another one, as `warm_start_from` of an Estimator says."""

from __future__ import annotations

import re
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.canned.canned import CannedModel
from migrator.runtime.checkpoints.variable_values import estimator_name
from migrator.runtime.checkpoints.warm_start_settings import (
    WarmStartSettings,
    keys_to_start_from,
    start_warm,
    starting_value,
)
from migrator.runtime.graph_v1.v1_checkpoints import saved_keys
from migrator.runtime.training.keras_versions import keras_2


def with_warm_start(
    make: Callable[..., CannedModel], warm_start_from: str | WarmStartSettings | None, **arguments: Any
) -> CannedModel:
    """``make(**arguments)``, which starts with values of a checkpoint as long as there is none in its `model_dir`.

    `warm_start_from` may be a checkpoint, or a folder with checkpoints, of which all trainable variables are taken.
    Variables have the names that an Estimator gave them. TypeError if they are chosen by a list of patterns, which
    would mean the state of optimizers as well.
    """
    chosen = getattr(warm_start_from, "vars_to_warm_start", "")
    if chosen is not None and not isinstance(chosen, str):
        raise TypeError(f"vars_to_warm_start must be one pattern, given: {chosen!r}")
    model = make(**arguments)
    if warm_start_from is not None:
        start_warm(model, warm_start_from, take_weights)
    return model


def take_weights(model: CannedModel, settings: WarmStartSettings) -> None:
    """Gives the trainable variables that the pattern means their values of the checkpoint. RuntimeError with Keras 3."""
    keras_2("Warm starts of canned models")
    path, pattern = settings.ckpt_to_initialize_from, settings.vars_to_warm_start
    named = [(estimator_name(v.name.partition(":")[0]), v) for v in model.trainable_variables]
    if pattern is None:
        chosen = [(name, variable) for name, variable in named if name in (settings.var_name_to_vocab_info or {})]
    else:
        chosen = [(name, variable) for name, variable in named if re.match(str(pattern), f"{name}:0")]
    saved = {estimator_name(name): key for name, key in saved_keys(path).items()}
    keys, reader = keys_to_start_from((name for name, _ in chosen), settings, saved), tf.train.load_checkpoint(path)
    for name, variable in chosen:
        variable.assign(starting_value(reader, keys[name], name, settings))
