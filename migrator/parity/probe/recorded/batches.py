"""Recorded batches in the form that the input of the new program has."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

from . import store


class InputMismatch(Exception):
    """A recorded batch does not fit what the new program feeds to its model; the text shows both."""


class Conform:
    """Turns encoded batches into values that fit a structure of type specs; remembers what had to be changed."""

    def __init__(self, reader: store.Reader, note: Callable[[str], None]) -> None:
        self.reader = reader
        self.note = note

    def tree(self, encoded: Any, spec: Any, path: str = "") -> Any:
        """`encoded` as numpy arrays, SparseTensors and RaggedTensors shaped as `spec`. Raises InputMismatch."""
        import tensorflow as tf

        where = path or "the batch"
        if isinstance(spec, dict):
            if encoded is not None and "dict" not in encoded and len(spec) == 1:
                encoded = {"dict": {next(iter(spec)): encoded}}
            items: Any = (encoded or {}).get("dict")
            missing = [key for key in spec if items is None or key not in items]
            if missing:
                raise InputMismatch(self._text(where, encoded, spec, "has no " + ", ".join(map(str, missing))))
            values = {key: self.tree(items[key], spec[key], self._join(path, str(key))) for key in spec}
            return OrderedDict(values) if isinstance(spec, OrderedDict) else values  # as make_csv_dataset has it
        if isinstance(spec, (tuple, list)):
            items = (encoded or {}).get("tuple")
            if items is None or len(items) != len(spec):
                raise InputMismatch(self._text(where, encoded, spec, "has another structure"))
            parts = [self.tree(item, one, self._join(path, str(i))) for i, (item, one) in enumerate(zip(items, spec))]
            return type(spec)(*parts) if hasattr(spec, "_fields") else type(spec)(parts)
        if encoded is not None and "dict" in encoded and len(encoded["dict"]) == 1:
            encoded = next(iter(encoded["dict"].values()))
        if isinstance(spec, tf.SparseTensorSpec):
            if encoded is None or "sparse" not in encoded:
                raise InputMismatch(self._text(where, encoded, spec, "is not sparse"))
            indices, values, shape = (self.reader.array(part) for part in encoded["sparse"])
            return tf.SparseTensor(indices, tf.constant(values.tolist() if values.dtype == object else values), shape)
        if isinstance(spec, tf.RaggedTensorSpec):
            if encoded is None or "ragged" not in encoded:
                raise InputMismatch(self._text(where, encoded, spec, "is not ragged"))
            return self._ragged(encoded)
        if encoded is None or "at" not in encoded:
            raise InputMismatch(self._text(where, encoded, spec, "has another structure"))
        return self._dense(self.reader.array(encoded), spec, where, encoded)

    def _dense(self, array: Any, spec: Any, where: str, encoded: Any) -> Any:
        wanted = spec.dtype.as_numpy_dtype
        if array.dtype != object and np.dtype(wanted) != array.dtype:
            self.note(f"{where}: recorded as {array.dtype}, fed as {spec.dtype.name}")
            array = array.astype(wanted)
        if not spec.shape.is_compatible_with(array.shape):
            target = spec.shape.as_list() if spec.shape.rank is not None else None
            if target and target.count(None) <= 1:
                try:
                    reshaped = array.reshape([-1 if n is None else n for n in target])
                except ValueError:
                    reshaped = None
                if reshaped is not None and reshaped.shape[:1] == array.shape[:1]:
                    self.note(f"{where}: recorded as {list(array.shape)}, fed as {list(reshaped.shape)}")
                    return reshaped
            raise InputMismatch(self._text(where, encoded, spec, "has another shape"))
        return array

    def _ragged(self, encoded: Any) -> Any:
        import tensorflow as tf

        if "ragged" not in encoded:
            return tf.constant(self.reader.array(encoded))
        values, splits = encoded["ragged"]
        return tf.RaggedTensor.from_row_splits(self._ragged(values), self.reader.array(splits))

    @staticmethod
    def _join(path: str, key: str) -> str:
        return path + "/" + key if path else key

    @staticmethod
    def _text(where: str, encoded: Any, spec: Any, problem: str) -> str:
        return f"input of the new program: {where} {problem}\n  recorded: {store.describe(encoded)}\n  new:      {spec}"


def tensors(value: Any) -> Any:
    """Numpy arrays of a batch as tensors."""
    import tensorflow as tf

    def convert(leaf: Any) -> Any:
        return tf.constant(leaf.tolist() if leaf.dtype == object else leaf) if isinstance(leaf, np.ndarray) else leaf

    return tf.nest.map_structure(convert, value)


def split_spec(spec: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """Features, labels and the rest (weights) of what a Keras dataset yields; labels are None if there are none."""
    if type(spec) is not tuple:
        return spec, None, ()
    return spec[0], (spec[1] if len(spec) > 1 else None), tuple(spec[2:])


def spec_of(batch: Any) -> Any:
    """Type specs of a concrete batch, with the first dimension left open."""
    import tensorflow as tf

    def one(leaf: Any) -> Any:
        if hasattr(leaf, "_type_spec") and not isinstance(leaf, tf.Tensor):
            return leaf._type_spec
        leaf = tf.convert_to_tensor(leaf)
        return tf.TensorSpec([None] + leaf.shape.as_list()[1:] if leaf.shape.rank else [], leaf.dtype)

    return tf.nest.map_structure(one, batch)


def own_dataset(x: Any, y: Any, weights: Any, batch_size: Any) -> Any:
    """The program's input as a Dataset, or None where that cannot be (generators, DatasetCreator)."""
    import tensorflow as tf

    if isinstance(x, tf.data.Dataset):
        return x
    if x is None or callable(x) or hasattr(x, "__next__") or hasattr(x, "__getitem__") and not _arrays(x):
        return None
    parts = (x,) if y is None else (x, y) if weights is None else (x, y, weights)
    return tf.data.Dataset.from_tensor_slices(parts).batch(batch_size or 32)


def _arrays(x: Any) -> bool:
    import tensorflow as tf

    return all(isinstance(leaf, (np.ndarray, tf.Tensor)) for leaf in tf.nest.flatten(x))


def replayed(
    generator: Callable[[], Iterator[Any]], features: Any, labels: Any, own: Any, watch: Callable[[Any], None] | None
) -> Any:
    """A Dataset of recorded batches that ends when `own`, the program's input, ends.

    `generator` yields ``(features, labels)``, or ``(features,)`` where `labels` is None. `watch` is handed each batch
    of `own` in the structure it has; weights that `own` yields beside features and labels are kept.
    """
    import tensorflow as tf

    signature = (features,) if labels is None else (features, labels)
    recorded = tf.data.Dataset.from_generator(generator, output_signature=signature)
    if own is None:
        return recorded
    spec = own.element_spec

    def join(mine: Any, theirs: Any) -> Any:
        if watch is not None:
            flat = tf.nest.flatten(mine, expand_composites=True)

            def call(*parts: Any) -> None:
                watch(tf.nest.pack_sequence_as(spec, list(parts), expand_composites=True))

            with tf.control_dependencies([tf.py_function(call, flat, [])]):
                theirs = tf.nest.map_structure(tf.identity, theirs, expand_composites=True)
        rest = mine[len(theirs) :] if type(spec) is tuple else ()
        return theirs + tuple(rest)

    return tf.data.Dataset.zip((own, recorded)).map(join)
