"""`predict` is lazy, splits batches, and gives arrays as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from line_program import X, create_model, input_fn

from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import configure


def test_predict_reads_only_what_is_asked_for(tmp_path: Path) -> None:
    read: list[int] = []

    def endless() -> Any:
        while True:
            read.append(1)
            yield {"x": X[:4]}

    def features() -> tf.data.Dataset:
        return tf.data.Dataset.from_generator(endless, output_signature={"x": tf.TensorSpec([None, 3])})

    predictions = predict(create_model(tmp_path), features)
    assert [set(next(predictions)) for _ in range(6)] == [{"output", "twice"}] * 6
    assert len(read) < 6


def test_predict_keys_and_batches(tmp_path: Path) -> None:
    model = create_model(tmp_path)
    batches = list(predict(model, input_fn, predict_keys="twice", yield_single_examples=False))
    assert [batch["twice"].shape for batch in batches] == [(4, 1)] * 5 + [(2, 1)]
    with pytest.raises(ValueError, match="output"):
        next(predict(model, input_fn, predict_keys=["none"]))


class Echo(tf.keras.Model):
    def call(self, features: Any, training: bool = False) -> Any:
        return features


def test_predict_gives_strings_as_bytes_and_arrays_as_they_are(tmp_path: Path) -> None:
    model = Echo()
    model.compile("sgd")
    configure(model, RunConfig(model_dir=str(tmp_path)))
    data = {"word": ["a", "b", "c"], "number": [1, 2, 3]}
    rows = list(predict(model, lambda: tf.data.Dataset.from_tensor_slices(data).batch(2)))
    assert rows == [{"word": word.encode(), "number": number} for word, number in zip("abc", (1, 2, 3))]
    assert list(predict(model, lambda: tf.data.Dataset.range(3).batch(2))) == [0, 1, 2]


def test_features_that_are_a_tuple_are_not_taken_for_features_and_labels(tmp_path: Path) -> None:
    class Lengths(tf.keras.Model):
        def call(self, features: Any, training: bool = False) -> Any:
            words, lengths = features
            return {"sum": tf.reduce_sum(words, axis=1) + lengths}

    model = Lengths()
    model.compile("sgd")
    configure(model, RunConfig(model_dir=str(tmp_path)))
    data = ([[1, 2], [3, 4]], [10, 20]), [0, 1]
    rows = list(predict(model, lambda: tf.data.Dataset.from_tensor_slices(data).batch(2)))
    assert rows == [{"sum": 13}, {"sum": 27}]
