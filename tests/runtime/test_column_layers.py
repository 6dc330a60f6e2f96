"""`LinearFeatures` computes what `linear_model` of TensorFlow 1 computes, on dense, sparse and weighted columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.columns.feature_columns import ConstantLogits, DenseNetwork, LinearFeatures

fc, v1 = tf.feature_column, tf.compat.v1
WORDS = [["a", "b"], ["c"], [], ["b", "b", "?"]]


def features() -> dict[str, Any]:
    words = tf.ragged.constant(WORDS, dtype=tf.string)
    weights = tf.ragged.constant([[0.5, 2.0], [1.0], [], [1.0, -1.0, 3.0]])
    return {
        "words": words.to_sparse(),
        "weights": weights.to_sparse(),
        "point": tf.constant([[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5], [3.0, 3.0]]),
        "age": tf.constant([0.1, 0.7, 0.3, 0.2], tf.float64),
    }


def columns() -> list[Any]:
    words = fc.categorical_column_with_vocabulary_list("words", ["a", "b", "c"])
    return [
        fc.numeric_column("point", shape=(2,)),
        fc.bucketized_column(fc.numeric_column("age", dtype=tf.float64), [0.1, 0.5]),
        fc.weighted_categorical_column(words, "weights"),
    ]


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_linear_features_equals_linear_model(units: int, combiner: str) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        outputs = v1.feature_column.linear_model(features(), columns(), units, combiner)
        variables = v1.trainable_variables()
        values = [np.random.RandomState(i).randn(*v.shape).astype("float32") for i, v in enumerate(variables)]
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        for variable, value in zip(variables, values):
            variable.load(value, session)
        expected, gradients = session.run([outputs, v1.gradients(tf.reduce_sum(outputs**2), variables)])
        names = [variable.op.name for variable in variables]

    layer = LinearFeatures(columns(), units, combiner)
    layer(features())
    by_name = {variable.name.split(":")[0]: variable for variable in layer.trainable_variables}
    ours = [by_name[name] for name in names]  # also the same names
    for variable, value in zip(ours, values):
        variable.assign(value)
    with tf.GradientTape() as tape:
        result = tf.function(layer)(features())
        loss = tf.reduce_sum(result**2)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)
    for one, other in zip(tape.gradient(loss, ours), gradients):
        dense = tf.convert_to_tensor(one)
        if hasattr(other, "indices"):
            summed = np.zeros(dense.shape, "float32")
            np.add.at(summed, other.indices, other.values)
            other = summed
        np.testing.assert_allclose(dense, other, rtol=1e-5, atol=1e-5)


def test_order_of_columns_does_not_matter() -> None:
    first, second = DenseNetwork(1, [2], columns()[:2]), DenseNetwork(1, [2], columns()[1::-1])
    first(features()), second(features())
    second.set_weights(first.get_weights())
    np.testing.assert_array_equal(first(features()), second(features()))


def test_one_column_may_stand_alone() -> None:
    assert LinearFeatures(columns()[0])(features()).shape == (4, 1)


def test_float64_is_bucketized_as_it_is() -> None:
    layer = LinearFeatures([columns()[1]])
    layer(features())
    layer.tables.get_variable(layer.feature_columns[0], "weights").assign([[0.0], [1.0], [2.0]])
    assert layer(features()).numpy()[:, 0].tolist() == [1.0, 2.0, 1.0, 1.0]  # 0.1 is below the float32 of 0.1


def test_dropout_and_batch_norm_only_in_training() -> None:
    network = DenseNetwork(1, [50], columns()[:2], dropout=0.5, batch_norm=True)
    network(features())
    assert not np.array_equal(network(features(), training=True), network(features(), training=True))
    np.testing.assert_array_equal(network(features()), network(features()))


def test_constant_logits_follow_the_batch_size_of_sparse_features_too() -> None:
    assert ConstantLogits(3)({"words": features()["words"]}).shape == (4, 3)
