"""`tf.get_variable` with a value instead of a shape, with a shape that data tell, and in helpers that make nothing else."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn


def made(arguments: str) -> str:
    """The line that makes the variable, without its wrapping."""
    body = f'w = tf.get_variable("w", {arguments})\npredictions = features["x"] * w'
    init = " ".join(
        method(migrate(model_fn(body, before="import numpy as np\nimport tensorflow as tf\n")), "__init__").split()
    )
    return init.split("self.w = ")[1].split(" self.")[0].replace("( ", "(").replace(", )", ")").replace(" )", ")")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("0.5", 'self.add_weight(name="w", shape=(), initializer=tf.constant_initializer(0.5))'),
        (
            "tf.constant([0.1, -2.0])",
            'self.add_weight(name="w", shape=[2], initializer=tf.constant_initializer([0.1, -2.0]))',
        ),
        ("tf.zeros([3])", 'self.add_weight(name="w", shape=[3], initializer="zeros")'),
        (
            "tf.truncated_normal([3], stddev=0.1), trainable=False",
            'self.add_weight(name="w", shape=[3], '
            "initializer=tf.keras.initializers.TruncatedNormal(stddev=0.1), trainable=False)",
        ),
        ("[1, 2]", 'weight_from_value(self, [1, 2], name="w")'),
        ("np.zeros(3, np.float32)", 'weight_from_value(self, np.zeros(3, np.float32), name="w")'),
        ('params["table"], trainable=False', 'weight_from_value(self, params["table"], name="w", trainable=False)'),
        ('tf.constant(params["t"], tf.float32)', 'weight_from_value(self, params["t"], dtype=tf.float32, name="w")'),
        ('tf.convert_to_tensor(params["t"])', 'weight_from_value(self, params["t"], name="w")'),
        ("params['t'], dtype=tf.float32", "weight_from_value(self, params['t'], name=\"w\")"),  # the value has its type
    ],
)
def test_a_value_gives_shape_and_type(value: str, written: str) -> None:
    assert made(f"initializer={value}") == written


def test_the_initializer_of_the_scope_is_not_asked() -> None:
    body = """
    with tf.variable_scope("s", initializer=tf.zeros_initializer()):
        w = tf.get_variable("w", initializer=params["value"])
    predictions = features["x"] * w
    """
    assert 'weight_from_value(self, params["value"], name="s_w")\n' in migrate(model_fn(body))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("", "neither a shape nor an initial value"),
        ("initializer=None", "neither a shape nor an initial value"),
        ("initializer=tf.sqrt(2.0)", "the initial value of this variable"),
        ("initializer=tf.constant(params['t'], shape=[3])", "the initial value of this variable"),
        ("initializer=features['x']", "only when data flows"),
    ],
)
def test_values_that_are_not_seen(arguments: str, reason: str) -> None:
    body = f'w = tf.get_variable("w", {arguments})  # HERE\npredictions = features["x"] * w'
    assert reason in manual_reason(model_fn(body))


# -- shapes that data tell --------------------------------------------------------------------------------------------

CROSS = """
def cross(x0, x, index=0):
    with tf.variable_scope("cross_%d" % index):
        width = x.get_shape().as_list()[-1]
        w = tf.get_variable("w", [width])
        b = tf.get_variable("b", shape=[width], initializer=tf.zeros_initializer())
        return x0 * x * w + b


"""


def test_call_makes_a_weight_of_the_size_of_its_input() -> None:
    body = """
    x = features["x"]
    for i in range(2):
        x = cross(features["x"], x, i)
    predictions = x
    """
    text = migrate(model_fn(body, before=CROSS))
    assert method(text, "__init__").strip().endswith('super().__init__(name="cross_%d" % index)')
    call = method(text, "call")
    assert 'w = get_weight(self, name="w", shape=[width])\n' in call
    assert 'b = get_weight(self, name="b", shape=[width], initializer=tf.zeros_initializer())\n' in call


def test_weights_of_one_layer_have_names_of_their_own() -> None:
    body = """
    x = features["x"]
    for i, units in enumerate(params["units"]):
        with tf.variable_scope("layer_%d" % i):
            w = tf.get_variable("w", [x.shape[1], units])
        x = tf.matmul(x, w)
    with tf.variable_scope("out"):
        v = tf.get_variable(f"v", [int(x.shape[1])])
    predictions = x * v
    """
    call = method(migrate(model_fn(body)), "call")
    assert 'w = get_weight(self, name="layer_%d" % i + "_" + "w", shape=[x.shape[1], units])' in call
    assert 'v = get_weight(self, name=f"out_v", shape=[int(x.shape[1])])' in call


def test_a_numbered_scope_around_a_late_weight_is_left() -> None:
    body = """
    x = features["x"]
    for i in range(2):
        with tf.variable_scope(None, "block%d" % i):  # HERE
            w = tf.get_variable("w", [x.shape[1]])
        x = x * w
    predictions = x
    """
    assert "a scope that is numbered" in manual_reason(model_fn(body))


# -- helpers that make variables only ---------------------------------------------------------------------------------

TABLES = """
def tables(sizes, dim):
    found = {}
    with tf.variable_scope("tables"):
        for name in sizes:
            found[name] = tf.get_variable(name + "_table", [sizes[name], dim])
    return found


"""


def test_a_helper_that_returns_a_dict_of_variables() -> None:
    body = 'weights = tables(params["sizes"], 3)\npredictions = features["x"] * weights["user"] + weights["item"]'
    text = migrate(model_fn(body, before=TABLES))
    assert 'self.weights_[name] = self.add_weight(name="tables_" + name + "_table", shape=[sizes[name], 3])' in text
    assert 'return features["x"] * self.weights_["user"] + self.weights_["item"]' in method(text, "call")


def test_a_helper_that_computes_stays_a_layer() -> None:
    before = """
    def product(x):
        w = tf.get_variable("w", [3])
        return x * tf.nn.relu(w), w


    """
    text = migrate(model_fn('predictions, w = product(features["x"])', before=before))
    assert "class Product(tf.keras.layers.Layer)" in text


WEIGHTS = 'w = tf.get_variable("w", [4, 1])\nb = tf.get_variable("b", [1])\n'


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (
            "tf.nn.xw_plus_b(features['x'], w, b, name='scores')",
            "tf.nn.bias_add(tf.matmul(features['x'], self.w), self.b)",
        ),
        (
            "tf.nn.xw_plus_b(x=features['x'], biases=b, weights=w)",
            "tf.nn.bias_add(tf.matmul(features['x'], self.w), self.b)",
        ),
        (
            "tf.nn.relu_layer(features['x'], w, b)",
            "tf.nn.relu(tf.nn.bias_add(tf.matmul(features['x'], self.w), self.b))",
        ),
    ],
)
def test_products_are_written_out(call: str, written: str) -> None:
    text = migrate(model_fn(f"{WEIGHTS}predictions = {call}"))
    assert f"return {written}\n" in method(text, "call") and "compat.v1" not in text


def test_products_whose_arguments_are_hidden_are_left() -> None:
    manual_reason(
        model_fn(f"{WEIGHTS}parts = list(reversed([b, w]))\npredictions = tf.nn.xw_plus_b(features['x'], *parts)")
    )
