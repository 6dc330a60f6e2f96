"""Keras models that a model_fn puts together statement by statement."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

USE = 'predictions = net(features["x"])'
INPUTS = "tf.keras.Input(shape=(4,))"


def test_layers_that_are_added_in_a_row_stand_in_a_list() -> None:
    body = """
    net = tf.keras.models.Sequential(name="net")
    net.add(tf.keras.layers.Dense(params["units"],
                                  activation="relu"))
    net.add(tf.keras.layers.Dense(1))
    """
    text = joined(method(migrate(model_fn(body + USE)), "__init__"))
    layers = 'tf.keras.layers.Dense(params["units"], activation="relu"), tf.keras.layers.Dense(1)'
    assert f'self.net = tf.keras.models.Sequential([{layers}], name="net")' in " ".join(text.split())


@pytest.mark.parametrize(
    "body",
    [
        "net = tf.keras.Sequential()\nfor units in params['hidden']:\n    net.add(tf.keras.layers.Dense(units))",
        "net = tf.keras.Sequential()\nnet.add(tf.keras.layers.Dense(1))\nif params['x']:\n    net.add(tf.keras.layers.ReLU())",
        "net = tf.keras.Sequential()\nadd = net.add\nadd(tf.keras.layers.Dense(1))",
        "net = tf.keras.Sequential()\nnet.add(*params['layers'])",
    ],
)
def test_other_ways_to_add_are_left(body: str) -> None:
    assert "of a Keras object" in manual_reason(model_fn(f"{body}\n{USE}"))


def test_a_functional_model_becomes_a_function() -> None:
    body = f"""
    units = params["units"]
    inputs = {INPUTS}
    hidden = inputs
    for size in params["hidden"]:
        # one after the other
        hidden = tf.keras.layers.Dense(size)(hidden)
    net = tf.keras.Model(inputs, tf.keras.layers.Dense(units)(hidden))
    """
    text = migrate(model_fn(body + USE))
    made = method(text, "make_net")
    assert made.startswith(f"def make_net(params, units):\n    inputs = {INPUTS}\n")
    assert "        # one after the other\n" in made
    assert made.endswith("    return tf.keras.Model(inputs, tf.keras.layers.Dense(units)(hidden))\n")
    assert "self.make_net = make_net(params, units)" in method(text, "__init__")


@pytest.mark.parametrize(
    "body",
    [
        f"i = {INPUTS}\no = tf.keras.layers.Dense(1)(i)\nnet = tf.keras.Model(i, o)\nlast = o",
        f"i = {INPUTS}\nx = features['x']\no = tf.keras.layers.Dense(1)(i)\nnet = tf.keras.Model(i, o)",
        f"t = mode == 'train'\ni = {INPUTS}\no = tf.keras.layers.Dropout(0.1)(i, training=t)\nnet = tf.keras.Model(i, o)",
    ],
)
def test_models_that_hang_on_more_are_left(body: str) -> None:
    assert "make_net" not in manual_reason(model_fn(f"{body}\n{USE}"))


def test_functions_of_the_program_stay_as_they_are() -> None:
    before = f"""
    def build(units):
        inputs = {INPUTS}
        net = tf.keras.Model(inputs, tf.keras.layers.Dense(units)(inputs))
        return net
    """
    text = migrate(model_fn(f"net = build(params['units'])\n{USE}", before=before))
    assert "    net = tf.keras.Model(inputs, tf.keras.layers.Dense(units)(inputs))\n    return net\n" in text
    assert "make_net" not in text
