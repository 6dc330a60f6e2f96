"""Weights from values and of late shapes, against `tf.compat.v1.get_variable`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.layers.weights import get_layer, get_weight, weight_from_value

v1 = tf.compat.v1


@pytest.mark.parametrize(
    "value", [[0.5, -1.0], [[1, 2], [3, 4]], np.arange(3.0), np.float32(2.5), 3, True, np.zeros((2, 0), np.int64)]
)
def test_shape_type_and_value_are_those_of_tensorflow_1(value: Any) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        old = v1.get_variable("v", initializer=value)
        session.run(v1.global_variables_initializer())
        wanted = session.run(old)
    layer = tf.keras.layers.Layer()
    new = weight_from_value(layer, value, name="v", trainable=False)
    assert new.dtype == old.dtype.base_dtype and new.shape == old.shape
    np.testing.assert_array_equal(new, wanted)
    assert layer.non_trainable_weights == [new] and not layer.trainable_weights


def test_a_type_may_be_given() -> None:
    assert weight_from_value(tf.keras.layers.Layer(), [1.0, 2.0], dtype=tf.float64, name="v").dtype == tf.float64


class Scaled(tf.keras.layers.Layer):
    """Two weights as wide as the inputs, made by the first call."""

    def call(self, inputs: Any) -> Any:
        width = inputs.shape[-1]
        for turn in range(2):
            w = get_weight(self, name="w%d" % turn, shape=[width], initializer="ones", regularizer="l2")
            inputs = inputs * w
        return tf.reduce_sum(inputs, axis=1, keepdims=True)


def compiled() -> tf.keras.Model:
    model = tf.keras.Sequential([Scaled()])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", steps_per_execution=2)
    return model


def test_late_weights_train_and_are_saved(tmp_path: Path) -> None:
    x = np.random.RandomState(0).rand(8, 3).astype("float32")
    model = compiled()
    model.fit(x, x.sum(axis=1) * 2, batch_size=2, epochs=2, verbose=0)
    layer = model.layers[0]
    assert [w.shape.as_list() for w in layer.trainable_weights] == [[3], [3]] and len(layer.losses) == 2
    assert not np.allclose(layer.trainable_weights[0], 1.0)
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "model"))
    other = compiled()
    other.build((None, 3))
    tf.train.Checkpoint(model=other).restore(path).assert_existing_objects_matched()
    for one, same in zip(model.get_weights(), other.get_weights()):
        np.testing.assert_array_equal(one, same)


def test_another_shape_is_an_error() -> None:
    layer = Scaled()
    layer(tf.ones((2, 3)))
    with pytest.raises(ValueError, match=r"The weight w0 has the shape \(3,\), not \(4,\)"):
        layer(tf.ones((2, 4)))


class Doubled(tf.keras.layers.Layer):
    """A dense layer as wide as the second input, made by the first call."""

    def call(self, x: Any, y: Any) -> Any:
        return get_layer(self, "dense", tf.keras.layers.Dense, y.shape[-1], name="out")(x) + y


def test_a_late_layer_is_made_once_and_trained(tmp_path: Path) -> None:
    layer = Doubled()
    x, y = tf.ones([4, 2]), tf.ones([4, 3])
    apply = tf.function(layer)
    np.testing.assert_allclose(apply(x, y), layer(x, y))
    assert [w.shape.as_list() for w in layer.trainable_weights] == [[2, 3], [3]]
    assert layer.dense.name == "out"
    path = tf.train.Checkpoint(layer=layer).save(str(tmp_path / "layer"))
    other = Doubled()
    other(x, y)
    tf.train.Checkpoint(layer=other).restore(path).assert_consumed()
    np.testing.assert_array_equal(other(x, y), layer(x, y))


def test_a_late_layer_of_another_width_is_refused() -> None:
    layer = Doubled()
    layer(tf.ones([4, 2]), tf.ones([4, 3]))
    with pytest.raises(ValueError, match="dense was made with"):
        layer(tf.ones([4, 2]), tf.ones([4, 1]))


def test_a_late_layer_takes_no_other_name() -> None:
    with pytest.raises(ValueError, match="Layer has an attribute name already"):
        get_layer(tf.keras.layers.Layer(), "name", tf.keras.layers.Dense, 1)
