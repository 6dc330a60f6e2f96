"""Categorical columns on Keras preprocessing layers: each turns features into the ids of categories.

Each takes the arguments of the function of ``tf.feature_column`` that it stands for, and gives the same ids. In a feature that
is not sparse, "" and -1 mean that nothing is there. Ids below zero count as nothing, too: embeddings of them are zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf


def raw_feature(features: Mapping[str, Any], key: str) -> Any:
    """The feature `key`, of shape ``[batch, …]``: one number or word for each example makes a column of them."""
    tensor = features[key]
    if not isinstance(tensor, tf.SparseTensor):
        tensor = tf.convert_to_tensor(tensor)
    if tensor.shape.rank == 1:
        return tf.sparse.expand_dims(tensor, 1) if isinstance(tensor, tf.SparseTensor) else tensor[:, tf.newaxis]
    return tensor


def sparse_feature(features: Mapping[str, Any], key: str, missing: Any = None) -> tf.SparseTensor:
    """The feature `key`, without what is `missing` if it is not sparse: by default "" and -1."""
    tensor = raw_feature(features, key)
    if isinstance(tensor, tf.SparseTensor):
        return tensor
    if missing is None:
        missing = "" if tensor.dtype == tf.string else -1
    indices = tf.where(tf.not_equal(tensor, tf.constant(missing, tensor.dtype)))
    return tf.SparseTensor(indices, tf.gather_nd(tensor, indices), tf.shape(tensor, out_type=tf.int64))


class IdentityColumn:
    """``categorical_column_with_identity``: integers that are ids already; those out of range become `default_value`."""

    def __init__(self, key: str, num_buckets: int, default_value: int | None = None) -> None:
        self.key = self.name = key
        self.num_buckets, self.default_value = num_buckets, default_value
        self.layers: list[tf.keras.layers.Layer] = []
        self.parse_example_spec = {key: tf.io.VarLenFeature(tf.int64)}

    def ids(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The ids, int64."""
        integers = sparse_feature(features, self.key)
        ids = tf.cast(integers.values, tf.int64)
        if self.default_value is not None:
            ids = tf.where((ids < 0) | (ids >= self.num_buckets), tf.constant(self.default_value, tf.int64), ids)
        return integers.with_values(ids)


class HashedColumn:
    """``categorical_column_with_hash_bucket``: words, or integers as words, by their hash."""

    def __init__(self, key: str, hash_bucket_size: int, dtype: Any = tf.string) -> None:
        self.key = self.name = key
        self.num_buckets = hash_bucket_size
        self.hashing = tf.keras.layers.Hashing(hash_bucket_size)
        self.layers = [self.hashing]
        self.parse_example_spec = {key: tf.io.VarLenFeature(dtype)}

    def ids(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The ids, int64."""
        words = sparse_feature(features, self.key)
        return words.with_values(tf.cast(self.hashing(words.values), tf.int64))


class VocabularyListColumn:
    """``categorical_column_with_vocabulary_list``: words or integers by their place in a list.

    What is not in the list becomes `default_value`, or one of `num_oov_buckets` ids behind the list, by its hash.
    """

    def __init__(
        self,
        key: str,
        vocabulary_list: Sequence[Any],
        dtype: Any = None,
        default_value: int | None = -1,
        num_oov_buckets: int | None = 0,
    ) -> None:
        vocabulary = np.array(vocabulary_list).tolist()
        self.key = self.name = key
        self.default_value = -1 if default_value is None else default_value
        self.vocabulary_size = len(vocabulary)
        self.num_buckets = len(vocabulary) + (num_oov_buckets or 0)
        if isinstance(vocabulary[0], int):
            self.lookup = tf.keras.layers.IntegerLookup(vocabulary=vocabulary, oov_token=min(vocabulary) - 1)
        else:
            unused = max((tf.compat.as_text(word) for word in vocabulary), key=len) + "?"
            self.lookup = tf.keras.layers.StringLookup(vocabulary=vocabulary, oov_token=unused)
        self.hashing = tf.keras.layers.Hashing(num_oov_buckets) if num_oov_buckets else None
        self.layers = [self.lookup] + ([self.hashing] if num_oov_buckets else [])
        self.parse_example_spec = {key: tf.io.VarLenFeature(dtype or tf.as_dtype(np.array(vocabulary_list).dtype))}

    def ids(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The ids, int64."""
        words = sparse_feature(features, self.key)
        values = tf.cast(words.values, tf.int64) if words.dtype.is_integer else words.values
        ids = tf.cast(self.lookup(values), tf.int64) - 1  # Keras starts with an id for all that it does not know
        if self.hashing is None:
            unknown = tf.constant(self.default_value, tf.int64)
        else:
            unknown = self.vocabulary_size + tf.cast(self.hashing(values), tf.int64)
        return words.with_values(tf.where(ids < 0, unknown, ids))


class VocabularyFileColumn(VocabularyListColumn):
    """``categorical_column_with_vocabulary_file``: as `VocabularyListColumn`, of the first lines of a file."""

    def __init__(
        self,
        key: str,
        vocabulary_file: str,
        vocabulary_size: int | None = None,
        num_oov_buckets: int | None = 0,
        default_value: int | None = None,
        dtype: Any = tf.string,
    ) -> None:
        with tf.io.gfile.GFile(vocabulary_file, "rb") as file:
            lines = file.read().replace(b"\r", b"").split(b"\n")
        lines = (lines if lines[-1] else lines[:-1])[:vocabulary_size]
        if vocabulary_size is not None and len(lines) < vocabulary_size:
            raise ValueError(f"{vocabulary_file} has {len(lines)} lines, fewer than vocabulary_size {vocabulary_size}.")
        words = [int(line) for line in lines] if dtype.is_integer else lines
        super().__init__(key, words, dtype, default_value, num_oov_buckets)


class WeightedColumn:
    """``weighted_categorical_column``: categories that count as much as another feature says."""

    def __init__(self, categorical_column: Any, weight_feature_key: str, dtype: Any = tf.float32) -> None:
        self.categorical_column, self.weight_feature_key = categorical_column, weight_feature_key
        self.name = f"{categorical_column.name}_weighted_by_{weight_feature_key}"
        self.num_buckets = categorical_column.num_buckets
        self.layers = categorical_column.layers
        self.parse_example_spec = {
            **categorical_column.parse_example_spec,
            weight_feature_key: tf.io.VarLenFeature(dtype),
        }

    def ids(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The ids, int64."""
        ids: tf.SparseTensor = self.categorical_column.ids(features)
        return ids

    def weights(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """One weight for each id."""
        weights = sparse_feature(features, self.weight_feature_key, 0)
        return weights if weights.dtype.is_floating else tf.cast(weights, tf.float32)


class CrossedColumn:
    """``crossed_column``: each combination of categories of several columns, by its hash.

    Keras has `HashedCrossing`, which knows neither missing words nor several to an example.
    """

    def __init__(self, keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None) -> None:
        self.keys, self.num_buckets, self.hash_key = list(keys), hash_bucket_size, hash_key
        self.name = "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self.leaves()))
        self.layers = [layer for key in self.leaves() if not isinstance(key, str) for layer in key.layers]
        self.parse_example_spec: dict[str, Any] = {}
        for key in self.leaves():
            spec = {key: tf.io.VarLenFeature(tf.string)} if isinstance(key, str) else key.parse_example_spec
            self.parse_example_spec.update(spec)

    def leaves(self) -> Iterator[Any]:
        """The keys, and those of crossed columns among them."""
        for key in self.keys:
            yield from key.leaves() if isinstance(key, CrossedColumn) else [key]

    def ids(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The ids, int64."""
        parts = [raw_feature(features, key) if isinstance(key, str) else key.ids(features) for key in self.leaves()]
        return tf.sparse.cross_hashed(parts, self.num_buckets, self.hash_key)
