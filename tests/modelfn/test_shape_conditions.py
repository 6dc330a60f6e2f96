"""Layers that are used or not according to the static shapes of tensors."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

TESTS = [
    "x.shape[-1] != params['units']",
    "x.get_shape().as_list()[-1] != params['units']",
    "int(x.shape[1]) != params['units'] and params['project']",
    "len(x.shape) == 2 and x.shape.as_list()[-1] < params['units']",
]


@pytest.mark.parametrize("test", TESTS)
def test_a_residual_connection(test: str) -> None:
    body = f"""
    x = features["x"]
    net = tf.layers.dense(x, params["units"], name="net")
    if {test}:
        x = tf.layers.dense(x, params["units"], name="residual")
    predictions = tf.layers.dense(x + net, 1)
    """
    text = migrate(model_fn(body))
    assert "if " not in method(text, "__init__")
    assert "    if " in method(text, "call")
    assert "x = self.residual(x)" in method(text, "call")


def test_the_size_under_a_name_and_layers_in_both_arms() -> None:
    body = """
    x = features["x"]
    size = x.get_shape().as_list()[-1]
    if size == 3:
        x = tf.layers.dense(x, 2)
    else:
        x = tf.layers.dense(x, 5)
    predictions = tf.layers.dense(x, 1)
    """
    text = migrate(model_fn(body))
    assert "self.dense_1 = tf.keras.layers.Dense(2)\n    self.dense_2 = tf.keras.layers.Dense(5)" in method(
        text, "__init__"
    )
    assert "    if size == 3:\n        x = self.dense_1(x)\n    else:\n        x = self.dense_2(x)" in method(
        text, "call"
    )


def test_in_a_loop() -> None:
    body = """
    x = features["x"]
    for units in params["sizes"]:
        net = tf.layers.dense(x, units)
        if x.shape[-1] != units:
            x = tf.layers.dense(x, units)
        x = x + net
    predictions = tf.layers.dense(x, 1)
    """
    text = migrate(model_fn(body))
    assert ".append(None)" not in text
    assert (
        'for units, dense_1, dense_2 in zip(params["sizes"], self.dense_1_layers, self.dense_2_layers):'
        in text.replace("self.params", "params")
    )


def test_in_a_part_of_the_network() -> None:
    helper = """

def block(x, units):
    net = tf.layers.dense(x, units)
    if x.shape[-1] != units:
        x = tf.layers.dense(x, units)
    return x + net


"""
    body = """
    x = block(features["x"], 4)
    x = block(x, 3)
    predictions = tf.layers.dense(x, 1)
    """
    text = migrate(model_fn(body, before=helper))
    assert "        if x.shape[-1] != self.units:\n            x = self.dense_2(x)\n" in text


SHAPE_LIST = """

def get_shape_list(tensor, expected_rank=None):
    if expected_rank is not None:
        assert_rank(tensor, expected_rank)
    shape = tensor.shape.as_list()
    unknown = [index for (index, dim) in enumerate(shape) if dim is None]
    if not unknown:
        return shape
    dynamic = tf.shape(tensor)
    for index in unknown:
        shape[index] = dynamic[index]
    return shape


def mapped(x, units):
    return tf.tanh(tf.layers.dense(x, units))


def bent(x, units):
    return tf.layers.dense(x, units) + tf.get_variable("bend", [units])

"""
LISTED = """
x = features["x"]
shape = get_shape_list(x, expected_rank=2)
width = shape[1]
if width != params["units"]:
    x = mapped(x, params["units"])
predictions = tf.layers.dense(x, 1)
"""


def test_sizes_that_a_function_of_the_program_lists() -> None:
    text = migrate(model_fn(LISTED, before=SHAPE_LIST))
    assert '        if width != self.params["units"]:\n            x = self.mapped(x)\n' in text
    assert '        self.mapped = Mapped(params["units"])\n' in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("mapped(x, params", "bent(x, params", "variables are made under a condition on a shape"),
        ("return shape\n\n\ndef mapped", "return measure(shape)\n\n\ndef mapped", "a condition over tensors"),
        ("tensor.shape.as_list()", "other.shape.as_list()", "a condition over tensors"),
        ("dynamic = tf.shape(tensor)", "dynamic = tf.cast(tensor, tf.int32)", "a condition over tensors"),
    ],
)
def test_other_lists_are_refused(old: str, new: str, reason: str) -> None:
    source = model_fn(LISTED, before=SHAPE_LIST)
    assert old in source
    assert reason in manual_reason(source.replace(old, new))


def test_a_variable_as_wide_as_a_tensor() -> None:
    body = """
    x = features["x"]
    size = x.shape[-1]
    if size != params["units"]:
        w = tf.get_variable("w", [size, params["units"]])
        x = tf.matmul(x, w, transpose_b=False)
    predictions = tf.layers.dense(x, 1)
    """
    text = migrate(model_fn(body))
    assert 'w = get_weight(self, name="w", shape=[size, self.params["units"]])' in method(text, "call")


def test_other_variables_are_refused() -> None:
    body = """
    x = features["x"]
    if x.shape[-1] != params["units"]:
        w = tf.get_variable("w", [4, params["units"]])
        x = tf.matmul(x, w)
    predictions = tf.layers.dense(x, 1)
    """
    assert "variables are made under a condition on a shape" in manual_reason(model_fn(body))


@pytest.mark.parametrize(
    "test",
    [
        "tf.shape(x)[0] > 2",
        "x[0, 0] > 0.0",
        "tf.reduce_sum(x) > x.shape[-1]",
        "check(x.shape)",
        "x.shape[-1] in known(x)",
    ],
)
def test_other_conditions_are_refused(test: str) -> None:
    body = f"""
    x = features["x"]
    if {test}:
        x = tf.layers.dense(x, 3)
    predictions = tf.layers.dense(x, 1)
    """
    assert "a condition over tensors" in manual_reason(model_fn(body))


def test_a_part_of_the_network_under_a_condition_is_refused() -> None:
    helper = "\n\ndef block(x):\n    w = tf.get_variable('w', [4, 4])\n    return tf.matmul(x, w)\n\n\n"
    body = """
    x = features["x"]
    if x.shape[-1] == 4:
        x = block(x)
    predictions = tf.layers.dense(x, 1)
    """
    assert "variables are made under a condition on a shape" in manual_reason(model_fn(body, before=helper))


OPTIONAL = """

def tower(x, name, dense=None):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        if dense is not None:
            x = tf.concat([x, tf.layers.dense(dense, 4, name="proj")], axis=1)
        return tf.layers.dense(x, 2, name="out")
"""
GIVEN = 'tower(features["x"], "user", dense=features["age"])'
LACKING = 'tower(features["x"], "item")'


@pytest.mark.parametrize("calls", [(GIVEN, LACKING), (LACKING, GIVEN)])
def test_a_layer_for_a_tensor_that_only_some_calls_give(calls: tuple[str, str]) -> None:
    text = migrate(model_fn(f"predictions = {calls[0]} + {calls[1]}", before=OPTIONAL))
    call = method(text, "call", "Tower")
    assert call.startswith("def call(self, x, dense=None):\n    if dense is not None:\n")
    assert "self.proj(dense)" in call and 'self.proj = tf.keras.layers.Dense(4, name="proj")' in text
    assert 'self.user(features["x"], dense=features["age"])' in text and 'self.item(features["x"])' in text


def test_a_weight_for_a_tensor_that_only_some_calls_give_is_refused() -> None:
    helper = OPTIONAL.replace('tf.layers.dense(dense, 4, name="proj")', 'dense * tf.get_variable("w", [2])')
    reason = manual_reason(model_fn(f"predictions = {GIVEN} + {LACKING}", before=helper))
    assert "a condition" in reason
