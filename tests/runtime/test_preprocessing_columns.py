"""Columns on Keras preprocessing layers give the numbers, gradients and parsing specs of the columns of TensorFlow 1."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import column_program
import pytest
import tensorflow as tf

from migrator.runtime.columns.preprocessing_categories import HashedColumn, VocabularyFileColumn
from migrator.runtime.columns.preprocessing_columns import DenseFeatures, EmbeddingColumn, NumericColumn

TOP = Path(__file__).resolve().parents[2]
LATEST = os.environ.get("MIGRATOR_LATEST_PYTHON") or str(TOP / ".venv-latest" / "bin" / "python")


def test_each_column_equals_that_of_tensorflow_1(tmp_path: Path) -> None:
    assert column_program.problems(tmp_path) == []


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
@pytest.mark.parametrize("keras", [2, 3])
def test_on_the_newest_tensorflow(keras: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TOP), "TF_USE_LEGACY_KERAS": "1" if keras == 2 else "0"}
    command = [LATEST, column_program.__file__]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert f"0 differences with Keras {keras}" in result.stdout, result.stdout + result.stderr


def test_columns_stand_in_the_order_of_their_names() -> None:
    layer = DenseFeatures([NumericColumn("b"), NumericColumn("a", shape=2)])
    assert layer({"a": tf.constant([[1.0, 2.0]]), "b": tf.constant([3.0])}).numpy().tolist() == [[1.0, 2.0, 3.0]]


def test_two_layers_have_tables_of_their_own() -> None:
    column = EmbeddingColumn(HashedColumn("word", 5), 2)
    first, second = DenseFeatures([column]), DenseFeatures(column, trainable=False)
    words = {"word": tf.constant(["a", "b"])}
    assert first(words).shape == second(words).shape == (2, 2)
    assert [len(first.trainable_variables), len(second.trainable_variables)] == [1, 0]
    assert first.weights[0] is not second.weights[0]


def test_a_vocabulary_file_that_is_too_short(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a\nb\n")
    with pytest.raises(ValueError, match="2 lines, fewer than vocabulary_size 3"):
        VocabularyFileColumn("word", str(tmp_path / "words"), 3)


def test_tables_of_words_are_saved_with_the_model(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a\nb\n")
    layer = DenseFeatures([EmbeddingColumn(VocabularyFileColumn("word", str(tmp_path / "words")), 2)])
    words = {"word": tf.constant(["b", "?"])}
    expected = layer(words)
    module = tf.Module()
    module.layer = layer
    module.serve = tf.function(layer, input_signature=[{"word": tf.TensorSpec([None], tf.string)}])
    tf.saved_model.save(module, str(tmp_path / "saved"))
    (tmp_path / "words").unlink()
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    served = loaded.serve(words)
    assert served.numpy().tolist() == expected.numpy().tolist() and served.numpy()[1].tolist() == [0.0, 0.0]
