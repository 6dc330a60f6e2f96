"""Datasets that TensorFlow Datasets has ready: ``tfds.load("mnist", split="train")``."""

from __future__ import annotations

from .kinds import Data, Env, Gathered, Known, Splits, Value

LOAD = "tensorflow_datasets.load"
SPLIT = "tensorflow_datasets.Split."
_PARAMETERS = ("name", "split")


def prepared(given: list[Value], named: Env) -> Value:
    """What ``tfds.load`` returns for arguments by place and by name: one split, or all of them by their names."""
    arguments = {**dict(zip(_PARAMETERS, given)), **named}
    split, batched = arguments.get("split", Known(None)), arguments.get("batch_size", Known(None)) != Known(None)
    told = arguments.get("with_info", Known(False))
    if len(given) > len(_PARAMETERS) or not isinstance(split, Known) or not isinstance(told, Known):
        return None  # a list of splits is a list of datasets
    data = Data(ends=True, counted=False, even=not batched)
    found: Value = Splits(data) if split.value is None else data
    return Gathered(places=(found, None)) if told.value else found
