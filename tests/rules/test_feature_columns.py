"""`input_layer` and `linear_model` in a model_fn."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, PATH, manual_reason, method, migrate, model_fn, run, units


@pytest.mark.parametrize(
    ("old", "made", "used"),
    [
        (
            'input_layer(features, params["columns"])',
            'tf.keras.layers.DenseFeatures(params["columns"])',
            "self.predictions(features)",
        ),
        (
            'input_layer(feature_columns=params["columns"], features=features, trainable=False)',
            'tf.keras.layers.DenseFeatures(params["columns"], trainable=False)',
            "self.predictions(features)",
        ),
        (
            'linear_model(features, params["columns"])',
            'LinearFeatures(params["columns"])',
            "self.predictions(features)",
        ),
        (
            'linear_model(features, params["columns"], 2, "mean")',
            'LinearFeatures(params["columns"], units=2, sparse_combiner="mean")',
            "self.predictions(features)",
        ),
    ],
)
def test_layers_on_columns(old: str, made: str, used: str) -> None:
    text = migrate(model_fn(f"predictions = tf.feature_column.{old}"))
    assert made in method(text, "__init__") and used in method(text, "call")


LAYER = "x, lengths = tf.contrib.feature_column.sequence_input_layer({})"
SEQUENCES = f"{LAYER}\npredictions = x[:, 0] * tf.cast(lengths, tf.float32)"


def test_columns_of_sequences() -> None:
    before = """\
    from tensorflow.contrib.feature_column import sequence_numeric_column
    words = tf.contrib.feature_column.sequence_categorical_column_with_vocabulary_file("words", "words.txt", 9)
    COLUMNS = [tf.feature_column.embedding_column(words, 4), sequence_numeric_column("price")]
    """
    text = migrate(model_fn(SEQUENCES.format("features, COLUMNS"), before=before))
    assert 'tf.feature_column.sequence_categorical_column_with_vocabulary_file("words", "words.txt", 9)' in text
    assert 'tf.feature_column.sequence_numeric_column("price")' in text and "contrib" not in text
    assert "self.sequence_input_layer = tf.keras.experimental.SequenceFeatures(COLUMNS)" in method(text, "__init__")
    assert "x, lengths = self.sequence_input_layer(features)" in method(text, "call")


def test_columns_of_sequences_in_a_graph() -> None:
    text = run(model_fn(SEQUENCES.format("features, params")), "bridge")[PATH].after.decode()
    assert "x, lengths = sequence_input_layer(features, params)" in text and "graph_model, sequence_input_layer" in text


def test_columns_that_share_a_table_are_made_outside_of_the_graph() -> None:
    """TensorFlow 2 makes them in graphs alone, and a program may make them anywhere."""
    before = "COLUMNS = tf.feature_column.shared_embedding_columns([A, B], dimension=3)"
    outcomes = run(model_fn("predictions = tf.feature_column.input_layer(features, COLUMNS)", before=before), "auto")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    assert "COLUMNS = graph_shared_embedding_columns([A, B], dimension=3)" in outcomes[PATH].after.decode()
    assert "with tf.Graph().as_default():" in outcomes[HELPERS].after.decode()


def test_shared_embeddings_of_tensorflow_2_stay_in_a_graph() -> None:
    body = "teams = tf.feature_column.shared_embeddings([A, B], 3)\npredictions = tf.keras.layers.DenseFeatures(teams)(features)"
    source = model_fn(body)
    assert "tf.feature_column.shared_embeddings is not migrated yet" in manual_reason(source)
    outcomes = run(source.replace("tf.train", "tf.compat.v1.train"), "auto")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    assert "teams = tf.feature_column.shared_embeddings([A, B], 3)" in outcomes[PATH].after.decode()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ('input_layer(features, params["c"], cols_to_vars=V)', "`cols_to_vars` of tf.feature_column.input_layer"),
        ('linear_model(features, params["c"], trainable=False)', "`trainable` of tf.feature_column.linear_model"),
        ("input_layer(features)", "without `feature_columns`"),
        ("input_layer(*features)", "hidden behind * or **"),
    ],
)
def test_refused(call: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f"predictions = tf.feature_column.{call}"))


def test_collections_of_columns_of_sequences_are_refused() -> None:
    source = model_fn(SEQUENCES.format("features, params, ['mine']"))
    assert "`weight_collections` of tf.contrib.feature_column.sequence_input_layer" in manual_reason(source)
