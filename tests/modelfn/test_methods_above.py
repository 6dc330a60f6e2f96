"""Methods that call those of a base class by `super`, properties, and objects that are made where they are used."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, run, units

BASE = """
import tensorflow as tf


class Base(object):
    def __init__(self, params):
        self.params = params

    def network(self, x):
        return tf.layers.dense(x, self.params["units"])

    def model_fn(self, features, labels, mode):
        self.mode = mode
        predictions = self.network(features["x"])
        loss = tf.reduce_mean(tf.square(labels - predictions))
        train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


"""
DEEP = """
class Deep(Base):
    @property
    def training(self):
        return self.mode == tf.estimator.ModeKeys.TRAIN

    def network(self, x):
        wide = super().network(x)
        deep = tf.layers.dropout(tf.layers.dense(x, 8), 0.5, training=self.training)
        return wide + tf.layers.dense(deep, 1)

    def model_fn(self, features, labels, mode):
        return super(Deep, self).model_fn(features, labels, mode)


"""
USE = 'estimator = tf.estimator.Estimator(Deep({"units": 1}).model_fn)\n'


def test_super_a_property_and_an_object_without_a_name() -> None:
    text = migrate(BASE + DEEP + USE)
    call = method(text, "call", of="Model")
    assert "wide = self.wide(x)" in call and "self.deep(self.dense_1(x), training=training)" in call
    assert 'deep = Deep({"units": 1})\n' in text and "create_model(params=deep.params)" in text
    assert "def training" not in text and "super(Deep" not in text


def test_an_object_in_the_model_fn_whose_class_inherits_what_builds_it() -> None:
    made = BASE.replace("def model_fn(self, features, labels, mode):", "def build(self, features, labels, mode):")
    made = made.replace("return tf.layers", "raise NotImplementedError  # return tf.layers")
    net = "class Net(Base):\n    def network(self, x):\n        return tf.layers.dense(x, self.params)\n\n\n"
    use = "def model_fn(features, labels, mode, params):\n    net = Net(params)\n    return net.build(features, labels, mode)"
    text = migrate(f"{made}{net}{use}\n\n\nestimator = tf.estimator.Estimator(model_fn, params=3)\n")
    assert "tf.keras.layers.Dense(params)" in text and "NotImplementedError" not in text


def test_a_build_that_returns_early() -> None:
    source = """
import tensorflow as tf


class Model(object):
    def __init__(self, features, labels, mode):
        self.mode = mode
        self.loss = None
        self.train_op = None
        self.build(features, labels)

    def build(self, features, labels):
        self.predictions = tf.layers.dense(features["x"], 1)
        if self.mode == tf.estimator.ModeKeys.PREDICT:
            return
        self.loss = tf.reduce_mean(tf.square(labels - self.predictions))
        if self.mode == tf.estimator.ModeKeys.TRAIN:
            self.train_op = tf.train.AdamOptimizer().minimize(self.loss, tf.train.get_global_step())


def model_fn(features, labels, mode):
    model = Model(features, labels, mode)
    return tf.estimator.EstimatorSpec(mode, predictions=model.predictions, loss=model.loss, train_op=model.train_op)


estimator = tf.estimator.Estimator(model_fn)
"""
    text = migrate(source)
    assert "class Model(tf.keras.Model):" in text and 'self.predictions(features["x"])' in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Deep(Base)", "class Deep(Mixin, Base)"),
        ("super().network(x)", "super(Base, self).network(x)"),
        ("super().network(x)", "super().other(x)"),
        ("class Deep", "super = print\n\n\nclass Deep"),
        ("    @property\n", "    @cached_property\n"),
        ("    def network", "    @training.setter\n    def training(self, x):\n        pass\n\n    def network"),
        ("training=self.training", "training=self.training, name=f'{self.training}'"),
    ],
)
def test_left_to_the_bridge(old: str, new: str) -> None:
    source = "class Mixin(object):\n    pass\n" + BASE + DEEP.replace(old, new) + USE
    manual_reason(source)


def test_another_object_with_such_an_attribute() -> None:
    known = (
        BASE + DEEP + "class Other(object):\n    def __init__(self):\n        self.training = 1\n\n\nother = Other()\n"
    )
    assert "other.training" in migrate(known + "print(other.training)\n" + USE)
    assert [u.tier for u in units(run(known + "print(unseen().training)\n" + USE))] == ["manual"]
