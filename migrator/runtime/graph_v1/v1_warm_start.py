"""A first start from the checkpoint of another model, as `warm_start_from` of an Estimator says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.checkpoints.checkpoint_names import keys_by_name
from migrator.runtime.checkpoints.warm_start_settings import (
    WarmStartSettings,
    keys_to_start_from,
    start_warm,
    starting_value,
)
from migrator.runtime.graph_v1.v1_checkpoints import part_of
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec, GraphModel
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.graph_v1.v1_tpu import tpu_graph_model
from migrator.runtime.training.config import RunConfig


def warm_graph_model(
    model_fn: Callable[..., EstimatorSpec],
    model_dir: str | None = None,
    config: RunConfig | None = None,
    params: Any = None,
    warm_start_from: str | WarmStartSettings | None = None,
) -> GraphModel:
    """A `graph_model` that starts with values of a checkpoint as long as there is none in its `model_dir`.

    `warm_start_from` may be a SavedModel, or a checkpoint of which all trainable variables are taken.
    """
    return warm_started(graph_model(model_fn, model_dir, config, params), warm_start_from)


def warm_tpu_graph_model(
    model_fn: Callable[..., EstimatorSpec], warm_start_from: str | WarmStartSettings | None = None, **others: Any
) -> GraphModel:
    """A `tpu_graph_model` that starts with values of a checkpoint as long as there is none in its `model_dir`."""
    return warm_started(tpu_graph_model(model_fn, **others), warm_start_from)


def warm_started(model: GraphModel, warm_start_from: str | WarmStartSettings | None) -> GraphModel:
    """`model`, to which the first restoring without a checkpoint of its own gives values of another one."""
    if warm_start_from is not None:
        start_warm(model, warm_start_from, take_saved_values)
    return model


def take_saved_values(model: GraphModel, settings: WarmStartSettings) -> None:
    """Gives the variables that the model has by now their values of the checkpoint."""
    path, patterns, moved, _ = settings
    reader, saved, chosen = tf.train.load_checkpoint(path), keys_by_name(path), []
    for variable in chosen_variables(model, ".*" if patterns is None else patterns):
        name, part = variable.name.partition(":")[0], variable._get_save_slice_info()
        # TensorFlow 1 saves the parts of a variable as a whole.
        whole = part.full_name if part and name not in saved else name
        if patterns is not None or whole in (moved or {}):
            chosen.append((whole, part, variable))
    keys = keys_to_start_from((name for name, _, _ in chosen), settings, saved)
    for name, part, variable in chosen:
        value = starting_value(reader, keys[name], name, settings)
        variable.assign(part_of(value, part) if part and value.shape != variable.shape else value)


def chosen_variables(model: GraphModel, patterns: str | Sequence[str]) -> list[tf.Variable]:
    """The variables that the patterns mean, which match from the start of a name."""
    if isinstance(patterns, str):
        return [variable for variable in model.trainable_weights if re.match(patterns, variable.name)]
    every = [model.global_step, *model.tf1_variables.values()]
    return [variable for variable in every if any(re.match(pattern, variable.name) for pattern in patterns)]
