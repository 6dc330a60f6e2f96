"""Weights of a canned model, by the names that its Estimator gave them."""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf

from migrator.runtime.canned.canned import CannedModel
from migrator.runtime.graph_v1.v1_checkpoints import newest_checkpoint, saved_keys
from migrator.runtime.training.keras_versions import keras_2

# Scopes of an Estimator by those of the model, whose own is the outermost.
ESTIMATOR_SCOPES = {
    r"^[^/]+/(?=linear_model/)": "linear/",
    r"^[^/]+/dnn/input_layer/": "dnn/input_from_feature_columns/input_layer/",
    r"^[^/]+/dnn/(?=batchnorm_(\d+)/)": r"dnn/hiddenlayer_\1/",
    r"^[^/]+/(?=dnn/|baseline/)": "",
}


def variable_names(model: CannedModel) -> list[str]:
    """Names of the weights in the newest checkpoint, and of the global step; the state of optimizers has none."""
    return sorted(saved_weights(model)[1])


def variable_value(model: CannedModel, name: str) -> Any:
    """The value of a weight in the newest checkpoint: an array, or a NumPy number. KeyError if it has no such weight."""
    reader, keys = saved_weights(model)
    return reader.get_tensor(keys[name])


def saved_weights(model: CannedModel) -> tuple[Any, dict[str, str]]:
    """The newest checkpoint, and the keys of its weights by their names. ValueError if there is no checkpoint.

    RuntimeError with Keras 3, which leaves the names of layers and columns out of those of weights.
    """
    keras_2("Names of the weights of canned models")
    path = newest_checkpoint(model)
    return tf.train.load_checkpoint(path), estimator_keys(path)


def estimator_keys(path: str) -> dict[str, str]:
    """The keys of the weights and the step in the checkpoint of a canned model, by their names in an Estimator."""
    names = {key: name for name, key in saved_keys(path).items()}
    keys = {}
    for key in tf.train.load_checkpoint(path).get_variable_to_shape_map():
        if key.startswith("model/parts/") and "/.OPTIMIZER_SLOT/" not in key:
            keys[estimator_name(names[key])] = key
        elif re.match(r"optimizer/_?iter", key):
            keys["global_step"] = key
    return keys


def estimator_name(name: str) -> str:
    """The name in an Estimator of a variable of a canned model."""
    for scope, replacement in ESTIMATOR_SCOPES.items():
        found, changed = re.subn(scope, replacement, name)
        if changed:
            return found
    return name
