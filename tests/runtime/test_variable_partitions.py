"""`partitioned` gives each variable the partitioner of the innermost block around it, when it is made and when it is built."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.cluster.variable_partitions import PARTITIONER, partition_by_scope, partitioned

pytestmark = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train with parameter servers")
FixedShards = tf.distribute.experimental.partitioners.FixedShardsPartitioner


@contextlib.contextmanager
def noted() -> Iterator[dict[str, int]]:
    """The number of parts that a strategy would make of each variable, by shape."""
    found: dict[str, int] = {}

    def creator(next_creator: Any, **given: Any) -> Any:
        variable = next_creator(**given)
        if variable.shape.rank:
            found[str(tuple(variable.shape))] = partition_by_scope(shape=variable.shape, dtype=variable.dtype)[0]
        return variable

    with tf.variable_creator_scope(creator):
        yield found


class Tower(tf.keras.layers.Layer):
    """Splits one of its layers by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.first = tf.keras.layers.Dense(40, use_bias=False)
        with partitioned(self, FixedShards(4)):
            self.second = tf.keras.layers.Dense(50, use_bias=False)

    def call(self, inputs: Any) -> Any:
        return self.second(self.first(inputs))


class Model(tf.keras.Model):
    """One block for each kind of what a model makes."""

    def __init__(self) -> None:
        super().__init__()
        with partitioned(self, FixedShards(2)):
            self.table = self.add_weight(name="table", shape=[100, 10], initializer="zeros")
            with partitioned(self, FixedShards(3)):
                self.inner = self.add_weight(name="inner", shape=[110, 10], initializer="zeros")
            with partitioned(self, None):
                self.same = self.add_weight(name="same", shape=[120, 10], initializer="zeros")
        self.whole = self.add_weight(name="whole", shape=[130, 10], initializer="zeros")
        with partitioned(self, FixedShards(5)):
            self.stack = [tf.keras.layers.Dense(units, use_bias=False) for units in (20, 30)]
            self.tower = Tower()
        self.last = tf.keras.layers.Dense(60, use_bias=False)
        with partitioned(self, FixedShards(6)):
            self.recurrent = tf.keras.layers.LSTM(7, use_bias=False)

    def call(self, inputs: Any) -> Any:
        net = inputs
        for layer in self.stack:
            net = layer(net)
        return self.recurrent(self.last(self.tower(net))[:, tf.newaxis])


def test_each_variable_gets_what_its_scope_says() -> None:
    with noted() as found:
        model = Model()
        tf.function(lambda: model(np.zeros([2, 10], np.float32)))()
    assert found == {
        "(100, 10)": 2,
        "(110, 10)": 3,
        "(120, 10)": 2,
        "(130, 10)": 1,
        "(10, 20)": 5,
        "(20, 30)": 5,
        "(30, 40)": 5,
        "(40, 50)": 4,
        "(50, 60)": 1,
        "(60, 28)": 6,
        "(7, 28)": 6,
    }
    assert PARTITIONER.get() is None


def test_a_block_that_fails_leaves_nothing_behind() -> None:
    with pytest.raises(ZeroDivisionError), partitioned(tf.keras.layers.Layer(), FixedShards(2)):
        raise ZeroDivisionError
    assert PARTITIONER.get() is None
    assert partition_by_scope(shape=tf.TensorShape([8, 2]), dtype=tf.float32) == [1, 1]


def test_scalars_have_no_parts() -> None:
    assert partition_by_scope(shape=tf.TensorShape([]), dtype=tf.float32) == []
