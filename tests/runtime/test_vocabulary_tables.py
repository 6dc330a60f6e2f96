"""Vocabulary tables against those of TensorFlow 1."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.layers import vocabulary_tables

WORDS = ["the", "cat", "sat"]
ASKED = ["sat", "dog", "the", "", "zebra"]


def in_version_1(name: str, *args: Any, asked: Any, **named: Any) -> Any:
    from tensorflow.python.ops import lookup_ops

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        value = getattr(lookup_ops, name)(*args, **named).lookup(tf.constant(asked))
        session.run(tf.compat.v1.tables_initializer())
        return session.run(value)


@pytest.mark.parametrize(
    "named", [{}, {"num_oov_buckets": 1}, {"num_oov_buckets": 3}, {"default_value": 2}, {"vocab_size": 2}]
)
@pytest.mark.parametrize("source", ["file", "tensor"])
def test_words_to_numbers(tmp_path: Path, source: str, named: dict[str, int]) -> None:
    given: Any = WORDS
    if source == "file":
        given = str(tmp_path / "vocabulary.txt")
        Path(given).write_text("\n".join(WORDS))
    elif "vocab_size" in named:
        pytest.skip("a list has its size")
    name = f"index_table_from_{source}"
    table = getattr(vocabulary_tables, name)(given, **named)
    found = table.lookup(tf.constant(ASKED))
    assert found.dtype == tf.int64
    np.testing.assert_array_equal(found, in_version_1(name, given, asked=ASKED, **named))


@pytest.mark.parametrize("source", ["file", "tensor"])
def test_numbers_to_words(tmp_path: Path, source: str) -> None:
    given: Any = WORDS
    if source == "file":
        given = str(tmp_path / "vocabulary.txt")
        Path(given).write_text("\n".join(WORDS))
    name = f"index_to_string_table_from_{source}"
    asked = np.array([2, 0, 7, -1])
    found = getattr(vocabulary_tables, name)(given).lookup(tf.constant(asked))
    np.testing.assert_array_equal(found, in_version_1(name, given, asked=asked))


def test_a_dataset_keeps_its_table() -> None:
    def input_fn() -> Any:
        table = vocabulary_tables.index_table_from_tensor(WORDS)
        return tf.data.Dataset.from_tensor_slices(ASKED).map(table.lookup).map(lambda x: x + 1).batch(5)

    dataset = input_fn()
    gc.collect()
    assert next(iter(dataset)).numpy().tolist() == [3, 0, 1, 0, 0]


@pytest.mark.parametrize("buckets", [0, 2])
def test_in_the_graph_of_a_model_fn(tmp_path: Path, buckets: int) -> None:
    from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
    from migrator.runtime.graph_v1.v1_session_graph import graph_model
    from migrator.runtime.training.prediction import predict

    def model_fn(features: Any, mode: str) -> EstimatorSpec:
        table = vocabulary_tables.index_table_from_tensor(WORDS, num_oov_buckets=buckets)
        return EstimatorSpec(mode, predictions=table.lookup(features))

    model = graph_model(model_fn, model_dir=str(tmp_path))
    found = list(predict(model, lambda: tf.data.Dataset.from_tensors(tf.constant(ASKED))))
    expected = in_version_1("index_table_from_tensor", WORDS, num_oov_buckets=buckets, asked=ASKED)
    np.testing.assert_array_equal(found, expected)
