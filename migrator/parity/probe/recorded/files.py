"""The checkpoints and files of weights that a program reads, and whether a value is one of theirs."""

from __future__ import annotations

import importlib
import os
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

_READERS = ("tensorflow.python.training.py_checkpoint_reader", "tensorflow.python.pywrap_tensorflow")
WIDE = 4
"""Rows of so many numbers are not the same by chance."""


class Source(NamedTuple):
    """A tensor of a checkpoint, or without a name all that a file holds."""

    path: str
    tensor: str = ""


class Files:
    """What has been read so far; one per process."""

    def __init__(self) -> None:
        self.opened: dict[str, None] = {}
        """Paths, in order."""
        self.read: dict[Source, None] = {}
        """What a program was given as arrays, in order."""
        self._hdf5: set[str] = set()
        self._paths: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        """By reader of a checkpoint that the program made."""
        self._own = False

    def install(self) -> None:
        """Watch readers of checkpoints and of HDF5."""
        reader = _reader()
        init, get_tensor = reader.__init__, reader.get_tensor

        def watched_init(self_: Any, path: Any, *args: Any) -> None:
            init(self_, path, *args)
            if not self._own:
                self._paths[self_] = os.fsdecode(path)
                self.opened[os.fsdecode(path)] = None

        def watched_get(self_: Any, name: Any) -> Any:
            if self_ in self._paths:
                self.read[Source(self._paths[self_], os.fsdecode(name))] = None
            return get_tensor(self_, name)

        reader.__init__, reader.get_tensor = watched_init, watched_get
        try:
            h5py: Any = importlib.import_module("h5py")
        except ImportError:
            return
        file_init = h5py.File.__init__

        def watched_file(self_: Any, name: Any, mode: Any = "r", *args: Any, **named: Any) -> None:
            file_init(self_, name, mode, *args, **named)
            if mode == "r" and isinstance(name, (str, bytes, os.PathLike)) and not self._own:
                path = os.fsdecode(name)
                self._hdf5.add(path)
                self.opened[path] = self.read[Source(path)] = None

        h5py.File.__init__ = watched_file

    def whole(self, value: Any, sources: Iterable[Source]) -> str:
        """The path of a source that holds an array of all numbers of `value`, in whatever order; empty if there is none."""
        if not _tells(value):
            return ""
        for source in sources:
            for array in self._arrays(source, value.size):
                if array.max() == value.max() and np.array_equal(np.sort(array, axis=None), np.sort(value, axis=None)):
                    return source.path
        return ""

    def part(self, value: Any, sources: Iterable[Source]) -> tuple[str, Any]:
        """The path of a source that holds rows or columns of `value`, and which of its numbers are in these."""
        for source in sources if value.ndim > 1 and _tells(value) else ():
            for array in self._arrays(source):
                for rows, others, turned in ((value, array, False), (value.T, array.T, True)):
                    if rows.shape[1:] != others.shape[1:] or int(np.prod(rows.shape[1:])) < WIDE:
                        continue
                    known = {row.tobytes() for row in others.astype(value.dtype) if np.ptp(row)}
                    found = np.array([row.tobytes() in known for row in np.ascontiguousarray(rows)])
                    if found.any():
                        mask = np.broadcast_to(found.reshape([-1] + [1] * (rows.ndim - 1)), rows.shape)
                        return source.path, np.ascontiguousarray(mask.T if turned else mask)
        return "", None

    def _arrays(self, source: Source, size: int = 0) -> Iterator[Any]:
        """The arrays of a source, those of `size` only if one is given; none of a file that is gone."""
        import tensorflow as tf

        arrays = self._of_hdf5 if source.path in self._hdf5 else self._of_checkpoint
        try:
            for array in arrays(source, size):
                if isinstance(array, np.ndarray) and array.dtype.kind == "f" and size in (0, array.size):
                    yield array
        except (OSError, RuntimeError, ValueError, tf.errors.OpError):
            return

    def _of_checkpoint(self, source: Source, size: int) -> Iterator[Any]:
        self._own = True
        try:
            reader = _reader()(os.fsencode(source.path))
        finally:
            self._own = False
        for name, shape in reader.get_variable_to_shape_map().items():
            if source.tensor in ("", name) and size in (0, int(np.prod(shape))):
                yield reader.get_tensor(name)

    def _of_hdf5(self, source: Source, size: int) -> list[Any]:
        h5py: Any = importlib.import_module("h5py")
        found: list[Any] = []
        self._own = True
        try:
            with h5py.File(source.path, "r") as file:
                file.visititems(lambda name, item: found.append(item[()]) if hasattr(item, "dtype") else None)
        finally:
            self._own = False
        return found


def _tells(value: Any) -> bool:
    """Whether a value could not be the same by chance, as a constant could."""
    return bool(value.dtype.kind == "f" and value.size > 1 and np.ptp(value) > 0)


def _reader() -> Any:
    for name in _READERS:
        try:
            found: Any = importlib.import_module(name)
            return found.CheckpointReader
        except (ImportError, AttributeError):  # it has moved between versions
            continue
    raise ImportError("this TensorFlow has no CheckpointReader")
