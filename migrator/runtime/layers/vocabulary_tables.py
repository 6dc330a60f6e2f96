"""Lookup tables from words to their numbers and back, with what TensorFlow 1 gives a word that is not known."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def index_table_from_file(
    vocabulary_file: Any, num_oov_buckets: int = 0, vocab_size: int | None = None, default_value: int = -1
) -> Any:
    """A table from the lines of a file (the first `vocab_size` of them) to their numbers, int64; see `word_table`."""
    initializer = tf.lookup.TextFileInitializer(
        vocabulary_file,
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
        vocab_size,
    )
    return word_table(initializer, num_oov_buckets, default_value)


def index_table_from_tensor(mapping: Any, num_oov_buckets: int = 0, default_value: int = -1) -> Any:
    """A table from the strings of a list or 1-D tensor to their positions, int64; see `word_table`."""
    words = tf.convert_to_tensor(mapping, tf.string)
    numbers = tf.range(tf.size(words, out_type=tf.int64), dtype=tf.int64)
    return word_table(tf.lookup.KeyValueTensorInitializer(words, numbers), num_oov_buckets, default_value)


def word_table(initializer: Any, num_oov_buckets: int, default_value: int) -> Any:
    """A table whose unknown words get numbers behind the known ones, by hash, or without buckets `default_value`."""
    if num_oov_buckets:
        return tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets)
    return tf.lookup.StaticHashTable(initializer, default_value)


def index_to_string_table_from_file(
    vocabulary_file: Any, vocab_size: int | None = None, default_value: str = "UNK"
) -> Any:
    """A table from the numbers (int64) of the lines of a file to the lines."""
    initializer = tf.lookup.TextFileInitializer(
        vocabulary_file,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        vocab_size,
    )
    return tf.lookup.StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(mapping: Any, default_value: str = "UNK") -> Any:
    """A table from positions (int64) in a list or 1-D tensor of strings to the strings."""
    words = tf.convert_to_tensor(mapping, tf.string)
    numbers = tf.range(tf.size(words, out_type=tf.int64), dtype=tf.int64)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(numbers, words), default_value)
