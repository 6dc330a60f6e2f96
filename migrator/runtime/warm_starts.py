"""A first start of a canned model from the checkpoint of another one, as `warm_start_from` of an Estimator says."""

from __future__ import annotations

import os
import re
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.canned import CannedModel
from migrator.runtime.v1_checkpoints import saved_keys
from migrator.runtime.variable_values import estimator_name
from migrator.runtime.warm_start_settings import WarmStartSettings


def with_warm_start(
    make: Callable[..., CannedModel], warm_start_from: str | WarmStartSettings | None, **arguments: Any
) -> CannedModel:
    """``make(**arguments)``, which starts with values of a checkpoint as long as there is none in its `model_dir`.

    `warm_start_from` may be a checkpoint, or a folder with checkpoints, of which all trainable variables are taken.
    Variables have the names that an Estimator gave them. TypeError if they are chosen by a list of patterns, which
    would mean the state of optimizers as well.
    """
    model = make(**arguments)
    if warm_start_from is None:
        return model
    settings = warm_start_from
    if not isinstance(settings, WarmStartSettings):
        path = os.fspath(settings)
        saved_model = tf.saved_model.contains_saved_model(path)
        settings = WarmStartSettings(os.path.join(path, "variables", "variables") if saved_model else path)
    if not isinstance(settings.vars_to_warm_start, str):
        raise TypeError(f"vars_to_warm_start must be one pattern, given: {settings.vars_to_warm_start!r}")
    checkpoints = model.run_state.checkpoints
    restore = checkpoints.restore

    def restore_or_warm_start(path: str | None = None, with_optimizer: bool = False) -> None:
        if path is None and checkpoints.newest() is None and int(model.optimizer.iterations.numpy()) == 0:
            take_weights(model, settings)
        else:
            restore(path, with_optimizer)

    checkpoints.restore = restore_or_warm_start
    return model


def take_weights(model: CannedModel, settings: WarmStartSettings) -> None:
    """Gives the trainable variables that the pattern means their values of the checkpoint; ValueError if one is missing."""
    path, renamed = settings.ckpt_to_initialize_from, settings.var_name_to_prev_var_name or {}
    pattern = re.compile(str(settings.vars_to_warm_start))
    tf.get_logger().info("Warm-starting with WarmStartSettings: %s", settings)
    reader, used = tf.train.load_checkpoint(path), set()
    keys = {estimator_name(name): key for name, key in saved_keys(path).items()}
    for variable in model.trainable_variables:
        name = estimator_name(variable.name.partition(":")[0])
        if not pattern.match(f"{name}:0"):
            continue
        old = renamed.get(name, name)
        used.add(name)
        if old not in keys:
            raise ValueError(f"{path} does not hold {old}, which {name} should start from.")
        variable.assign(reader.get_tensor(keys[old]))
    if set(renamed) - used:
        raise ValueError(f"var_name_to_prev_var_name has names that are not used: {sorted(set(renamed) - used)}")
