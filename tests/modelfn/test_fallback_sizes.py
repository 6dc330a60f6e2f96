"""Parameters that fall back to the size of a tensor."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

ATTENTION = """
def attention(queries, keys, units=None):
    {}
    q = tf.layers.dense(queries, units, name="q")
    k = tf.layers.dense(keys, units, name="k")
    return tf.matmul(q, k) / units ** 0.5
"""
TEST = "if units is None:\n        units = queries.get_shape().as_list()[-1]"


def attention(given: str, fallback: str = TEST) -> str:
    body = f'predictions = attention(features["x"], features["w"]{given})'
    return model_fn(body, before=ATTENTION.format(fallback))


@pytest.mark.parametrize("given", ["", ", 4", ', units=params["units"]', ", None"])
def test_build_makes_layers_of_either_size(given: str) -> None:
    text = migrate(attention(given))
    build, call = method(text, "build"), method(text, "call", "Attention")
    assert "units = input_shape[-1] if self.units is None else self.units\n" in build
    assert 'self.q = tf.keras.layers.Dense(units, name="q")' in build
    assert "units = queries.shape[-1] if self.units is None else self.units\n" in call


@pytest.mark.parametrize(
    "fallback",
    [
        "units = units or queries.shape[-1].value",
        "units = int(queries.shape[-1]) if units is None else units",
        "if not units:\n        units = queries.shape.as_list()[-1] // 2",
    ],
)
def test_other_spellings(fallback: str) -> None:
    text = migrate(attention(", 4", fallback))
    assert "input_shape[-1]" in method(text, "build") and "self.q" in method(text, "build")


def test_in_a_scope() -> None:
    before = """
def attention(x, units=None, scope="attention"):
    with tf.variable_scope(scope):
        if units is None:
            units = x.get_shape().as_list()[-1]
        return tf.layers.dense(x, units)
"""
    text = joined(migrate(model_fn('predictions = attention(features["x"])', before=before)))
    assert "Dense(input_shape[-1] if self.units is None else self.units)" in text or "Dense(units)" in text


@pytest.mark.parametrize(
    "fallback",
    [
        "if units is None:\n        units = tf.shape(queries)[-1]",
        "if units is None:\n        units = keys.shape[-1]",  # the second input
        "if units is None:\n        units = queries.shape[-1]\n    units = units * params.size",
        "if units is None:\n        units = queries.shape[-1]\n        keys = keys + 1",
    ],
)
def test_left(fallback: str) -> None:
    assert "program" in manual_reason(attention(", 4", fallback))
