"""A recording on disk: one line of JSON per event, and the arrays behind it in one flat file.

Written as it happens, so that a run which dies leaves what it got so far. No pickle: the two sides may run different
versions of numpy. An array is referred to as ``{"at": byte offset, "n": bytes, "dtype": ..., "shape": [...]}``;
strings are kept as lengths followed by their bytes.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

EVENTS, ARRAYS = "events.jsonl", "arrays.bin"
FAILURE = "failure.json"
"""How the program ended, if not well."""
SAMPLED = 1 << 16
"""How many values tell the distribution of more."""


class Writer:
    """Appends events and arrays to the recording in `folder` (made if missing)."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self._lock = threading.Lock()  # input pipelines write from threads of their own
        self._events = open(os.path.join(folder, EVENTS), "w", encoding="utf-8")
        self._arrays = open(os.path.join(folder, ARRAYS), "wb")

    def event(self, event_type: str, **fields: Any) -> None:
        """Write one event; `fields` must be plain JSON data."""
        line = json.dumps(dict(fields, type=event_type)) + "\n"
        with self._lock:
            self._events.write(line)
            self._events.flush()

    def array(self, value: Any) -> dict[str, Any]:
        """Keep `value`, anything numpy takes for an array, and return the reference to it."""
        array = np.asarray(value)
        if array.dtype.kind in "OSU":
            texts = [_to_bytes(item) for item in array.reshape(-1).tolist()]
            data = np.asarray([len(text) for text in texts], np.int64).tobytes() + b"".join(texts)
            dtype = "bytes"
        else:
            if array.dtype.kind not in "biufc":  # bfloat16 and its like have no name that plain numpy knows
                array = array.astype(np.float32)
            data = np.ascontiguousarray(array).tobytes()
            dtype = array.dtype.name
        with self._lock:
            start = self._arrays.tell()
            self._arrays.write(data)
            self._arrays.flush()
        return {"at": start, "n": len(data), "dtype": dtype, "shape": list(array.shape)}

    def tree(self, value: Any) -> Any:
        """Encode a batch: dicts, tuples, lists, named tuples of tensors, SparseTensors, ragged tensors, None."""
        if value is None:
            return None
        if isinstance(value, dict):
            return {"dict": {str(key): self.tree(item) for key, item in value.items()}}
        if hasattr(value, "dense_shape") and hasattr(value, "indices"):
            parts = (value.indices, value.values, value.dense_shape)
            return {"sparse": [self.array(_numpy(part)) for part in parts]}
        if hasattr(value, "row_splits") and hasattr(value, "values"):
            return {"ragged": [self.tree(value.values), self.array(_numpy(value.row_splits))]}
        if isinstance(value, (tuple, list)):
            return {"tuple": [self.tree(item) for item in value]}
        return self.array(_numpy(value))

    def close(self) -> None:
        self._events.close()
        self._arrays.close()


class Reader:
    """Reads the recording in `folder`. Raises OSError if there is none."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        with open(os.path.join(folder, EVENTS), encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.events: list[dict[str, Any]] = []
        for line in lines:
            if line.strip():
                try:
                    self.events.append(json.loads(line))
                except ValueError:  # the writer was killed in the middle of the last line
                    break
        self._arrays = open(os.path.join(folder, ARRAYS), "rb")

    def of(self, event_type: str) -> Iterator[dict[str, Any]]:
        """The events of one type, in order."""
        return (event for event in self.events if event["type"] == event_type)

    def array(self, reference: dict[str, Any]) -> Any:
        """The array behind a reference; strings come back as an object array of bytes."""
        self._arrays.seek(reference["at"])
        data = self._arrays.read(reference["n"])
        shape = tuple(reference["shape"])
        if reference["dtype"] != "bytes":
            return np.frombuffer(data, dtype=np.dtype(reference["dtype"])).reshape(shape).copy()
        count = int(np.prod(shape)) if shape else 1
        lengths = np.frombuffer(data[: 8 * count], np.int64)
        result = np.empty(count, dtype=object)
        position = 8 * count
        for index, length in enumerate(lengths.tolist()):
            result[index] = data[position : position + length]
            position += length
        return result.reshape(shape)

    def leaves(self, tree: Any, path: str = "") -> dict[str, Any]:
        """Flatten an encoded batch to path -> array; a sparse or ragged tensor gives one entry per part."""
        if tree is None:
            return {}
        if "at" in tree:
            return {path or "value": self.array(tree)}
        found: dict[str, Any] = {}
        if "dict" in tree:
            for key, item in tree["dict"].items():
                found.update(self.leaves(item, _join(path, key)))
        elif "tuple" in tree:
            for index, item in enumerate(tree["tuple"]):
                found.update(self.leaves(item, _join(path, str(index))))
        elif "sparse" in tree:
            for name, item in zip(("indices", "values", "dense_shape"), tree["sparse"]):
                found[_join(path, name)] = self.array(item)
        else:
            found.update(self.leaves(tree["ragged"][0], _join(path, "values")))
            found[_join(path, "row_splits")] = self.array(tree["ragged"][1])
        return found


def describe(tree: Any) -> str:
    """One line on the structure of an encoded batch, such as ``{ids: int32[32, 6]}``."""
    if tree is None:
        return "None"
    if "at" in tree:
        return "{}{}".format(tree["dtype"], tree["shape"])
    if "dict" in tree:
        return "{" + ", ".join(f"{key}: {describe(item)}" for key, item in tree["dict"].items()) + "}"
    if "tuple" in tree:
        return "(" + ", ".join(describe(item) for item in tree["tuple"]) + ")"
    if "sparse" in tree:
        return "sparse " + describe(tree["sparse"][1])
    return "ragged " + describe(tree["ragged"][0])


def sample(values: Any) -> Any:
    """All of the values in one row, or `SAMPLED` of them from everywhere: for one shape always the same places."""
    flat = np.reshape(values, [-1])
    return flat if flat.size <= SAMPLED else flat[np.random.RandomState(0).randint(flat.size, size=SAMPLED)]


def seed_of(config: Any) -> Optional[int]:
    """The seed of a RunConfig, old or new."""
    seed = config.tf_random_seed
    return None if seed is None else int(seed)


def checksums(array: Any) -> list[float]:
    """Norm, sum and a position-dependent sum of `array`: equal for equal arrays, and cheap to keep for every step."""
    flat = np.asarray(array, np.float64).reshape(-1)
    return [float(np.sqrt(np.dot(flat, flat))), float(flat.sum()), float(np.dot(flat, np.cos(np.arange(flat.size))))]


def _numpy(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else value


def _to_bytes(item: Any) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode("utf-8")


def _join(path: str, key: str) -> str:
    return path + "/" + key if path else key
