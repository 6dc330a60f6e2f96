"""What a first start takes from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class WarmStartSettings(NamedTuple):
    """Which variables start with values of a checkpoint.

    Fields:
      ckpt_to_initialize_from: a checkpoint, or a folder with checkpoints; written by TensorFlow 1 or by this program.
      vars_to_warm_start: a pattern of the names of trainable variables, or a list of patterns of names of any variables.
      var_name_to_prev_var_name: names in the checkpoint of variables that have another name there.
    """

    ckpt_to_initialize_from: str
    vars_to_warm_start: str | Sequence[str] = ".*"
    var_name_to_prev_var_name: Mapping[str, str] | None = None
