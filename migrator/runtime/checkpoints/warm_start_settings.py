"""A first start with values of a checkpoint: which variables take them, and when."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple

import tensorflow as tf

from migrator.runtime.training.messages import log_info


class WarmStartSettings(NamedTuple):
    """Which variables start with values of a checkpoint.

    Fields:
      ckpt_to_initialize_from: a checkpoint, or a folder with checkpoints; written by TensorFlow 1 or by this program.
      vars_to_warm_start: a pattern of the names of trainable variables, or a list of patterns of names of any variables;
        None: only those of `var_name_to_vocab_info`.
      var_name_to_vocab_info: a `VocabInfo` by the name of each variable whose vocabulary is another one in the checkpoint.
      var_name_to_prev_var_name: names in the checkpoint of variables that have another name there.
    """

    ckpt_to_initialize_from: str
    vars_to_warm_start: str | Sequence[str] | None = ".*"
    var_name_to_vocab_info: Mapping[str, Any] | None = None
    var_name_to_prev_var_name: Mapping[str, str] | None = None


def as_settings(warm_start_from: str | WarmStartSettings) -> WarmStartSettings:
    """What says the same as the path of a checkpoint, or of a SavedModel."""
    if isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    path = os.fspath(warm_start_from)
    saved_model = tf.saved_model.contains_saved_model(path)
    return WarmStartSettings(os.path.join(path, "variables", "variables") if saved_model else path)


def start_warm(
    model: tf.keras.Model,
    warm_start_from: str | WarmStartSettings,
    take_values: Callable[[Any, WarmStartSettings], None],
) -> None:
    """Lets the first restoring without a checkpoint of its own call ``take_values(model, settings)``.

    `warm_start_from` may be a SavedModel, or a checkpoint of which all trainable variables are taken.
    """
    settings = as_settings(warm_start_from)
    checkpoints = model.run_state.checkpoints
    restore = checkpoints.restore

    def restore_or_warm_start(path: str | None = None, with_optimizer: bool = False) -> None:
        if path is None and checkpoints.newest() is None and int(model.optimizer.iterations.numpy()) == 0:
            log_info("Warm-starting with WarmStartSettings: %s", settings)
            take_values(model, settings)
        else:
            restore(path, with_optimizer)

    checkpoints.restore = restore_or_warm_start


def keys_to_start_from(names: Iterable[str], settings: WarmStartSettings, saved: Mapping[str, str]) -> dict[str, str]:
    """The keys in the checkpoint of the variables with these names.

    `saved` has the keys by the names that variables have there. ValueError if one is missing, or if a name of the
    settings is not among the variables.
    """
    path, renamed = settings.ckpt_to_initialize_from, settings.var_name_to_prev_var_name or {}
    moved = settings.var_name_to_vocab_info or {}
    keys = {}
    for name in names:
        old = renamed.get(name, name)
        if old not in saved:
            raise ValueError(f"{path} does not hold {old}, which {name} should start from.")
        keys[name] = saved[old]
    for field, given in (("var_name_to_prev_var_name", renamed), ("var_name_to_vocab_info", moved)):
        if set(given) - set(keys):
            raise ValueError(f"{field} has names that are not used: {sorted(set(given) - set(keys))}")
    return keys


def starting_value(reader: Any, key: str, name: str, settings: WarmStartSettings) -> Any:
    """The value that the variable called `name` starts with, in the order of its vocabulary if it has one."""
    value, vocabulary = reader.get_tensor(key), (settings.var_name_to_vocab_info or {}).get(name)
    return value if vocabulary is None else vocabulary.moved(value)
