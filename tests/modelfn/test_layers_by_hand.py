"""Weights and biases that one product or convolution alone uses become layers, of which the names in TensorFlow 1 stay known."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, method, migrate, model_fn, run, units

W = 'w = tf.get_variable("w", [4, 3])\n'
B = 'b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())\n'


def layer(body: str) -> tuple[str, str]:
    """What makes the layer, and what `call` gives."""
    text = joined(migrate(model_fn(body)))
    assert "add_weight" not in text and "matmul" not in text
    made = next(line.strip() for line in text.splitlines() if "tf.keras.layers.Dense" in line)
    return made, method(text, "call").strip().splitlines()[-1].strip()


@pytest.mark.parametrize(
    ("product", "activation"),
    [
        ("tf.matmul(features['x'], w) + b", ""),
        ("b + tf.matmul(features['x'], w)", ""),
        ("features['x'] @ w + b", ""),
        ("tf.add(tf.matmul(features['x'], w), b)", ""),
        ("tf.nn.bias_add(tf.matmul(features['x'], w), b)", ""),
        ("tf.nn.xw_plus_b(features['x'], w, b)", ""),
        ("tf.nn.relu_layer(features['x'], w, b)", ", activation=tf.nn.relu"),
        ("tf.sigmoid(tf.matmul(features['x'], w) + b)", ", activation=tf.sigmoid"),
    ],
)
def test_ways_to_write_it(product: str, activation: str) -> None:
    made, given = layer(f"{W}{B}predictions = {product}")
    assert made == f"self.predictions = tf.keras.layers.Dense(3{activation})" and given.startswith("return self.")


def test_the_sum_may_be_a_statement_of_its_own() -> None:
    made, given = layer(
        f"{W}{B}net = tf.matmul(features['x'], w)\nnet = tf.nn.bias_add(net, b)\npredictions = net * 2.0"
    )
    assert made == "self.dense = tf.keras.layers.Dense(3)" and given == "return net * 2.0"


def test_weights_may_be_made_where_they_are_used() -> None:
    w, b = (line.split(" = ")[1].strip() for line in (W, B))
    made, _ = layer(f"net = tf.matmul(features['x'], {w}) + {b}\npredictions = net * 2.0")
    assert made == "self.dense = tf.keras.layers.Dense(3)"


def test_layers_of_a_loop() -> None:
    body = """
    net = features["x"]
    for i, n in enumerate(params["units"]):
        with tf.variable_scope("fc%d" % i):
            w = tf.get_variable("w", [int(net.shape[1]), n], initializer=tf.truncated_normal_initializer(stddev=0.1))
            b = tf.get_variable("b", [n], initializer=tf.constant_initializer(0.1))
            net = tf.nn.relu(tf.matmul(net, w) + b)
    predictions = net
    """
    text = " ".join(migrate(model_fn(body)).split())
    made = (
        "self.fc_layers = [ tf.keras.layers.Dense( n, activation=tf.nn.relu, "
        "kernel_initializer=tf.keras.initializers.TruncatedNormal(stddev=0.1), "
        'bias_initializer=tf.constant_initializer(0.1), ) for n in params["units"] ]'
    )
    assert made in text and "for fc in self.fc_layers: net = fc(net) return" in text and "get_weight" not in text


def test_the_names_of_both_variables_stay_known() -> None:
    body = f"""
    with tf.variable_scope("out"):
        {W.strip()}
        b = tf.get_variable("shift", [3], initializer=tf.zeros_initializer())
        predictions = tf.matmul(features["x"], w) + b
    """
    (unit,) = units(run(model_fn(body)))
    assert dict(unit.variables) == {"out/w": "predictions.kernel", "out/shift": "predictions.bias"}


def test_a_scope_may_say_how_the_kernel_starts() -> None:
    body = f"""
    with tf.variable_scope("out", initializer=tf.ones_initializer()):
        w = tf.get_variable("w", [4, 3]{{}})
        {B.strip()}
        net = tf.matmul(features["x"], w) + b
    predictions = net * 2.0
    """
    assert layer(body.format(""))[0].endswith("Dense(3, kernel_initializer=tf.ones_initializer())")
    given = layer(body.format(", initializer=tf.glorot_uniform_initializer()"))[0]
    assert given.endswith("Dense(3, kernel_initializer=tf.keras.initializers.GlorotUniform())")
    assert layer(body.replace("ones_", "zeros_").format(", initializer=tf.ones_initializer()"))[0].endswith(
        "Dense(3, kernel_initializer=tf.ones_initializer())"
    )


@pytest.mark.parametrize(
    "body",
    [
        f"{W}{B}predictions = tf.matmul(features['x'], w) + b\nloss = tf.nn.l2_loss(w)",  # read twice
        f"{W}{B}predictions = tf.matmul(features['x'], w) + b + b",
        f"{W}{B}predictions = tf.matmul(features['x'], w, transpose_a=True) + b",
        f"{W}{B}predictions = tf.matmul(features['x'], w) * b",
        f"{W}{B.replace('[3]', '[1]')}predictions = tf.matmul(features['x'], w) + b",  # one for all units
        f"{W}b = tf.get_variable('b', [3])\npredictions = tf.matmul(features['x'], w) + b",  # which starts as the kernel
        f"{W.replace('])', '], trainable=False)')}{B}predictions = tf.matmul(features['x'], w) + b",
        f"{W.replace('])', '], tf.float64)')}{B}predictions = tf.matmul(features['x'], w) + b",
        f"{W.replace('[4, 3]', 'params[0]')}{B}predictions = tf.matmul(features['x'], w) + b",
        f"{W}{B}scale = 2.0\nif params['wide']:\n    scale = tf.matmul(features['x'], w) + b\npredictions = scale",
        f"n = 3\n{W.replace('3', 'n')}{B.replace('3', 'n')}n = 4\npredictions = tf.matmul(features['x'], w) + b + n",
    ],
)
def test_others_stay_weights(body: str) -> None:
    assert "Dense" not in migrate(model_fn(body))


@pytest.mark.parametrize("text", ["w", "out/", "kernel", "dense"])
def test_names_that_tests_tell_apart_stay(text: str) -> None:
    body = f"{W}{B}predictions = tf.matmul(features['x'], w) + b"
    chosen = f"loss += tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if '{text}' in v.name])"
    source = model_fn(f"{body}\nloss = tf.reduce_mean(tf.square(labels - predictions))\n{chosen}")
    assert ("Dense" in migrate(source)) is (text == "out/")


def test_tensors_whose_width_nothing_tells_stay() -> None:
    before = "def read():\n    return tf.data.Dataset.from_generator(rows, tf.float32)\n"
    assert "Dense" not in migrate(model_fn(f"{W}{B}predictions = tf.matmul(features['x'], w) + b", before=before))


TOLD = 'net = tf.concat([features["x"], features["w"]], 1)\nw = tf.get_variable("w", [int(net.shape[1]), 2])\n'


@pytest.mark.parametrize(
    ("rest", "activation"),
    [
        ("predictions = tf.matmul(net, w)", ""),
        ("predictions = tf.nn.tanh(net @ w)", "activation=tf.nn.tanh, "),
    ],
)
def test_a_weight_of_a_told_size_is_a_layer_without_a_bias(rest: str, activation: str) -> None:
    made, given = layer(TOLD + rest)
    assert made == f"self.predictions = tf.keras.layers.Dense(2, {activation}use_bias=False)"
    assert given == "return self.predictions(net)"


def test_names_of_such_a_weight() -> None:
    (unit,) = units(run(model_fn(TOLD + "predictions = tf.matmul(net, w)")))
    assert dict(unit.variables) == {"w": "predictions.kernel"}
    asked = "loss += tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.name])"
    head = f"{TOLD}predictions = tf.matmul(net, w)\nloss = tf.reduce_mean(tf.square(labels - predictions))\n"
    assert "Dense(2, use_bias=False)" in migrate(model_fn(head + asked))


def test_a_known_size_stays_a_weight() -> None:
    assert "Dense" not in migrate(model_fn(f"{W}predictions = tf.matmul(features['x'], w)"))


CROSS = """
def cross(x0, x{default}):
    w = tf.get_variable("w", [int(x.shape[-1])], initializer=tf.ones_initializer())
    return x0 * x * w
"""
CROSSED = 'predictions = cross(features["x"], features["w"])'


def test_the_input_whose_shape_weights_ask_for_comes_first() -> None:
    text = migrate(model_fn(CROSSED, before="import tensorflow as tf\n" + CROSS.format(default="")))
    assert "def build(self, input_shape):" in text and "def call(self, x, x0):" in text
    assert 'self.cross(features["w"], features["x"])' in text and "get_weight" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x0 * x * w", "x0 * tf.reshape(x, tf.shape(x)) * w"),
        ("int(x.shape[-1])]", "int(x.shape[-1]) + 0 * int(x0.shape[-1])]"),
        ("x0, x", "x0, x=None"),
    ],
)
def test_the_order_of_inputs(old: str, new: str) -> None:
    text = migrate(model_fn(CROSSED, before="import tensorflow as tf\n" + CROSS.format(default="").replace(old, new)))
    assert ("def call(self, x, x0)" in text) is new.startswith("x0 * tf")


FILTER = 'w = tf.get_variable("w", [2, 3, 1, 8])\nb = tf.get_variable("b", [8], initializer=tf.zeros_initializer())\n'


@pytest.mark.parametrize(
    ("convolution", "made"),
    [
        (
            "tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(features['x'], w, [1, 1, 1, 1], 'VALID', name='conv'), b), name='relu')",
            "8, [2, 3], activation=tf.nn.relu",
        ),
        (
            "tf.nn.conv2d(features['x'], filter=w, strides=[1, 2, 2, 1], padding='SAME') + b",
            '8, [2, 3], strides=2, padding="same"',
        ),
        ("tf.nn.conv2d(features['x'], w, (1, 1, 2, 1), 'VALID') + b", "8, [2, 3], strides=(1, 2)"),
    ],
)
def test_convolutions(convolution: str, made: str) -> None:
    text = joined(migrate(model_fn(f"{FILTER}predictions = {convolution}")))
    assert f"self.predictions = tf.keras.layers.Conv2D({made})" in text and "add_weight" not in text


@pytest.mark.parametrize(
    "convolution",
    [
        "tf.nn.conv2d(features['x'], w, [1, 1, 1, 1], padding=params['padding'])",
        "tf.nn.conv2d(features['x'], w, [1, 1, 1, 1], 'SAME', data_format='NCHW')",
        "tf.nn.conv2d(features['x'], w, [1, 1, 1, 1], [[0, 0], [1, 1], [1, 1], [0, 0]])",
        "tf.nn.conv2d(features['x'], w, [2, 1, 1, 1], 'SAME')",
    ],
)
def test_other_convolutions_stay(convolution: str) -> None:
    assert "Conv2D" not in migrate(model_fn(f"{FILTER}predictions = {convolution} + b"))


def test_a_name_that_the_program_asks_for_stays() -> None:
    body = f"{W}{B}predictions = tf.add(tf.matmul(features['x'], w), b, name='scores')"
    assert "Dense" in migrate(model_fn(body))
    assert "Dense" not in migrate(model_fn(body, before="import tensorflow as tf\nASKED = ['model/scores:0']\n"))
