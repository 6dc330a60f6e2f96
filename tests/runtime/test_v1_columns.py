"""Feature columns in graphs of a model_fn: those of sequences, and those that share a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.graph_contrib.v1_sequence_columns import sequence_input_layer
from migrator.runtime.graph_contrib.v1_shared_embeddings import (
    graph_make_parse_example_spec,
    graph_shared_embedding_columns,
)

fc, v1 = tf.feature_column, tf.compat.v1
WORDS = [["a", "b", "?"], ["c"], [], ["b", "b"]]


def features() -> dict[str, Any]:
    prices = tf.ragged.constant([[0.5, 2.0, 1.0], [1.0], [], [1.0, -1.0]])
    return {"words": tf.ragged.constant(WORDS, dtype=tf.string).to_sparse(), "price": prices.to_sparse()}


def columns(numeric: Any) -> list[Any]:
    words = fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b", "c"])
    return [numeric("price"), fc.embedding_column(words, 2), fc.indicator_column(words)]


def ran(result: Any) -> tuple[list[str], list[Any]]:
    """Names of the variables, and values where these are 0, 1, 2 and so on."""
    variables = v1.global_variables()
    with v1.Session() as session:
        session.run(v1.tables_initializer())
        for variable in variables:
            variable.load(np.arange(np.prod(variable.shape), dtype="float32").reshape(variable.shape), session)
        return [variable.op.name for variable in variables], session.run(result)


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without what contrib was made of")
def test_sequences_are_those_of_contrib() -> None:
    from migrator.parity.probe.tf1 import sequences

    found = []
    for layer, numeric in (
        (sequences.sequence_input_layer, sequences.sequence_numeric_column),
        (sequence_input_layer, fc.sequence_numeric_column),
    ):
        with tf.Graph().as_default():
            names, values = ran(
                [*layer(features(), columns(numeric)), tf.shape(layer(features(), columns(numeric))[0])]
            )
            found.append((names, [value.tolist() for value in values]))
    assert found[0] == found[1]
    assert found[0][1][1:] == [[3, 1, 0, 2], [4, 3, 6]]
    layer = tf.keras.experimental.SequenceFeatures(columns(fc.sequence_numeric_column))
    layer(features())
    layer.set_weights([np.arange(6, dtype="float32").reshape(3, 2)])
    assert layer(features())[0].numpy().tolist() == found[0][1][0]


def test_a_shared_table_of_columns_that_are_made_anywhere() -> None:
    home, away = (fc.categorical_column_with_identity(name, 5) for name in ("home", "away"))
    teams = graph_shared_embedding_columns([home, away], 3, combiner="sum")
    found = []
    for _ in range(2):  # each graph has a table of its own
        with tf.Graph().as_default():
            given = {"home": tf.constant([1, 4]), "away": tf.constant([4, 0])}
            parts = [v1.feature_column.input_layer(given, [team]) for team in teams]
            names, values = ran(tf.concat(parts, 1))
            found.append((names, values.tolist()))
    assert found[0] == found[1] and len(found[0][0]) == 1
    assert found[0][1] == [[3, 4, 5, 12, 13, 14], [12, 13, 14, 0, 1, 2]]


def test_the_spec_of_examples_for_columns_with_a_shared_table() -> None:
    words = [fc.categorical_column_with_hash_bucket(name, 5) for name in ("home", "away")]
    others = [fc.numeric_column("x", shape=(2,)), fc.embedding_column(words[0], 3), fc.indicator_column(words[1])]
    with pytest.raises(ValueError, match="FeatureColumn"):
        fc.make_parse_example_spec(graph_shared_embedding_columns(words, 3))
    spec = graph_make_parse_example_spec([*graph_shared_embedding_columns(words, 3), *others])
    assert spec == fc.make_parse_example_spec([*words, *others])
