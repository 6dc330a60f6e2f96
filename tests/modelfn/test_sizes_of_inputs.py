"""Layers and weights as wide as a tensor: made in `build` where that is the first input, else where `call` needs them."""

from __future__ import annotations

import pytest
from modelfn.programs import SPEC, TRAIN_OP, joined, manual_reason, method, migrate, model_fn


def of_helper(body: str, call: str = "tower(features['x'])", head: str = "x") -> str:
    """A program whose model_fn gets its predictions from the helper `tower`."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return model_fn(f"predictions = {call}", before=f"\n\ndef tower({head}):\n{lines}\n")


@pytest.mark.parametrize(
    ("width", "written"),
    [
        ("x.shape[-1].value", "input_shape[-1]"),
        ("int(x.shape[1])", "input_shape[1]"),
        ("int(x.get_shape()[-1])", "input_shape[-1]"),
        ("x.get_shape().as_list()[-1] // 2", "input_shape[-1] // 2"),
        ("max(4, x.shape.as_list()[-1])", "max(4, input_shape[-1])"),
        ("2 * x.shape.ndims", "2 * len(input_shape)"),
    ],
)
def test_a_layer_as_wide_as_the_input_is_made_in_build(width: str, written: str) -> None:
    text = migrate(of_helper(f"h = tf.layers.dense(x, {width}, name='out')\nreturn x + h"))
    made = f"    self.out = tf.keras.layers.Dense({written}, name='out')\n"
    assert method(text, "build", "Tower") == f"def build(self, input_shape):\n{made}"
    assert "h = self.out(x)" in method(text, "call", "Tower")
    assert "self.out" not in method(text, "__init__", "Tower")


def test_a_weight_as_wide_as_the_input_is_made_in_build() -> None:
    body = """
size = x.get_shape().as_list()[-1]
first = tf.truncated_normal_initializer(stddev=1.0 / np.sqrt(size))
w = tf.get_variable("w", [size, units], initializer=first)
b = tf.get_variable("b", shape=x.shape[1:], initializer=tf.zeros_initializer())
return tf.matmul(x + b, w, transpose_b=False) / units"""
    text = migrate("import numpy as np\n" + of_helper(body, "tower(features['x'], 3)", "x, units"))
    build = joined(method(text, "build", "Tower"))
    assert "    size = input_shape[-1]\n" in build
    assert 'self.w = self.add_weight(name="w", shape=[size, self.units], initializer=first)' in build
    assert 'self.b = self.add_weight(name="b", shape=input_shape[1:], initializer=tf.zeros_initializer())' in build
    assert (
        method(text, "call", "Tower")
        == "def call(self, x):\n    return tf.matmul(x + self.b, self.w, transpose_b=False) / self.units\n"
    )


@pytest.mark.parametrize("same", ["tf.nn.dropout(x, 0.9)", "tf.nn.relu(tf.cast(x, tf.float32))"])
def test_what_has_the_shape_of_the_input(same: str) -> None:
    body = f"""
x = {same}
size = x.shape[-1].value
limit = np.sqrt(6.0 / (size + 3))
w = tf.get_variable("w", [size, 3], initializer=tf.random_uniform_initializer(-limit, limit))
return tf.matmul(x, w, transpose_b=False)"""
    build = joined(method(migrate("import numpy as np\n" + of_helper(body)), "build", "Tower"))
    assert "    size = input_shape[-1]\n    limit = np.sqrt(6.0 / (size + 3))\n" in build
    assert "initializer=tf.keras.initializers.RandomUniform(-limit, limit)" in build


def test_numbers_that_are_computed_of_sizes_start_weights() -> None:
    body = """
x = tf.concat([x, x], 1)
limit = 1.0 / np.sqrt(x.shape[-1].value)
w = tf.get_variable("w", [x.shape[-1].value, 3], initializer=tf.random_uniform_initializer(-limit, limit))
return tf.matmul(x, w, transpose_b=False)"""
    call = joined(method(migrate("import numpy as np\n" + of_helper(body)), "call", "Tower"))
    assert "get_weight(self" in call and "RandomUniform(-limit, limit)" in call
    drawn = body.replace("np.sqrt(x.shape[-1].value)", "np.random.rand(x.shape[-1].value)[0]")
    assert "known only when data flow" in manual_reason("import numpy as np\n" + of_helper(drawn))


def test_a_weight_of_a_model_as_wide_as_a_feature_that_has_a_name() -> None:
    body = """
x = features["x"]
w = tf.get_variable("w", [x.get_shape()[-1], 1])
predictions = tf.matmul(x, w)"""
    text = migrate(
        model_fn(body, end=f"loss = tf.nn.l2_loss(labels - predictions) + tf.nn.l2_loss(w)\n{TRAIN_OP}\n{SPEC}")
    )
    made = '    self.w = self.add_weight(name="w", shape=[input_shape["x"][-1], 1])\n'
    assert method(text, "build") == f"def build(self, input_shape):\n{made}"
    assert method(text, "call").endswith('    x = features["x"]\n    return tf.matmul(x, self.w)\n')
    assert "tf.nn.l2_loss(self.w)" in method(text, "compute_loss")


def test_layers_of_a_loop() -> None:
    body = """
for i in range(depth):
    x = x + tf.layers.dense(x0, x0.shape[-1].value, name="cross_%d" % i)
return x"""
    text = migrate(of_helper(body, "tower(features['x'], features['x'], 3)", "x0, x, depth"))
    build = method(text, "build", "Tower")
    assert "self.cross_layers = [" in build and "for i in range(self.depth)" in build
    assert "for cross in self.cross_layers:" in method(text, "call", "Tower")


def test_weights_of_a_loop() -> None:
    body = """
for i in range(3):
    w = tf.get_variable("w_%d" % i, [x0.shape[1], 1])
    x = x0 * tf.matmul(x, w, transpose_b=False) + x
return x"""
    text = migrate(of_helper(body, "tower(features['x'], features['x'])", "x0, x"))
    assert "input_shape[1]" in method(text, "build", "Tower")
    call = method(text, "call", "Tower")
    assert "for w in self.w_variables:\n        x = x0 * tf.matmul(x, w, transpose_b=False) + x\n" in call


def test_the_number_of_tensors() -> None:
    body = """
n = len(xs)
weights = [tf.get_variable("w_%d" % i, [units, 1]) for i in range(n - 1)]
gate = tf.layers.dense(xs[0], n, name="gate")
return tf.add_n([tf.matmul(x, w) for x, w in zip(xs[1:], weights)]) * gate[:, :1]"""
    text = migrate(of_helper(body, "tower([features['x'], features['y'], features['z']], 3)", "xs, units"))
    build = joined(method(text, "build", "Tower"))
    assert "    n = len(input_shape)\n" in build and 'self.gate = tf.keras.layers.Dense(n, name="gate")' in build
    made = '[self.add_weight(name="w_%d" % i, shape=[self.units, 1]) for i in range(n - 1)]'
    assert f"self.w_variables = {made}" in " ".join(build.split()).replace("[ ", "[").replace(" ]", "]")
    assert "def build" not in text[text.index("class Model") :]


def test_a_size_that_a_helper_is_given() -> None:
    helper = "\n\ndef decoder(z, width):\n    return tf.layers.dense(z, width, name='out')\n"
    body = """
x = features["x"]
h = tf.layers.dense(x, 2, name="code")
predictions = decoder(h, x.shape[1].value)"""
    text = migrate(model_fn(body, before=helper))
    assert 'self.decoder = Decoder(input_shape["x"][1])' in method(text, "build", "Model")
    assert "return self.decoder(h)" in method(text, "call", "Model")
    assert "def __init__(self, width):" in text


def test_a_size_that_no_layer_is_made_of_stays_an_argument() -> None:
    helper = "\n\ndef scaled(z, width):\n    return tf.layers.dense(z, 1, name='out') / tf.sqrt(float(width))\n"
    text = migrate(model_fn("predictions = scaled(features['x'], features['x'].shape[1].value)", before=helper))
    assert "def call(self, z, width):" in text and "def build" not in text


def test_the_shape_of_a_feature() -> None:
    text = migrate(model_fn("units = features['x'].shape[1]\npredictions = tf.layers.dense(features['x'], units)"))
    build = method(text, "build", "Model")
    assert "    units = input_shape['x'][1]\n    self.predictions = tf.keras.layers.Dense(units)\n" in build
    assert "units" not in method(text, "call", "Model")


@pytest.mark.parametrize(
    ("body", "head", "call"),
    [
        ("x = x * 2.0\nreturn tf.layers.dense(x, x.shape[-1].value, name='out')", "x", "features['x']"),
        ("return tf.layers.dense(x, y.shape[-1].value, name='out')", "x, y=None", "features['x'], features['x']"),
    ],
)
def test_a_layer_as_wide_as_another_tensor_is_made_in_call(body: str, head: str, call: str) -> None:
    text = migrate(of_helper(body, f"tower({call})", head))
    wide = "y" if "y" in head else "x"
    made = f"get_layer(self, \"out\", tf.keras.layers.Dense, {wide}.shape[-1], name='out')(x)"
    assert f"return {made}" in joined(method(text, "call", "Tower"))
    assert "def build" not in text and "from tf2_training import" in text


def test_layers_of_a_loop_as_wide_as_another_tensor() -> None:
    body = """
x0 = tf.concat([features['x'], features['x']], 1)
predictions = x0
for i in range(params["layers"]):
    predictions += x0 * tf.layers.dense(predictions, x0.shape[-1].value, name="v%d" % i)"""
    call = joined(method(migrate(model_fn(body)), "call", "Model"))
    made = 'get_layer(self, "v%d" % i, tf.keras.layers.Dense, x0.shape[-1], name="v%d" % i)(predictions)'
    assert f"    predictions += x0 * {made}\n" in call


@pytest.mark.parametrize(
    "body",
    [
        "predictions = tf.layers.dense(features['x'], tf.shape(features['x'])[1])  # HERE",
        "x = features['x'] * 2.0\nfor _ in range(2):\n    x = tf.layers.dense(x, x.shape[-1])  # HERE\npredictions = x",
        "predictions = tf.layers.dense(features['x'], size(features['x']))  # HERE",
        "x = features['x']\nx = x * 2.0\nws = [tf.layers.dense(x, 1) for _ in range(x.shape[1])]\npredictions = ws[0]  # HERE",
    ],
)
def test_left_alone(body: str) -> None:
    helper = "\n\ndef size(x):\n    return int(x.shape[-1])\n"
    reason = manual_reason(model_fn(body, before=helper).replace("  # HERE", ""))
    assert "known only when data flow" in reason or "in a comprehension over tensors" in reason


def test_a_weight_under_a_condition_on_the_shape_is_made_in_call() -> None:
    body = """
if x.shape[-1] != 3:
    x = tf.matmul(x, tf.get_variable("w", [x.shape[-1], 3]), transpose_b=False)
return x"""
    text = migrate(of_helper(body))
    assert "def build" not in text and "get_weight(self" in method(text, "call", "Tower")


UNSTACKED = """
fields = tf.unstack(x, axis=1)
outs = []
for i in range(len(fields)):
    outs.append(tf.layers.dense(fields[i], {}, name="w_%d" % i))
return tf.concat(outs, axis=1)"""


@pytest.mark.parametrize(
    ("size", "made"),
    [
        ("fields[i].shape[-1]", "input_shape[-1]"),
        ("fields[0].get_shape().as_list()[-1] // 2", "input_shape[-1] // 2"),
        ("int(fields[i].shape[1])", "(input_shape[:1] + input_shape[2:])[1]"),
        ("len(fields)", "input_shape[1]"),
    ],
)
def test_tensors_into_which_the_input_is_unstacked(size: str, made: str) -> None:
    text = migrate(of_helper(UNSTACKED.format(size), "tower(features['x'])", "x"))
    build = " ".join(method(text, "build", "Tower").split())
    assert f'tf.keras.layers.Dense({made}, name="w_%d" % i) for i in range(input_shape[1])' in build
    assert "fields = tf.unstack(x, axis=1)\n" in method(text, "call", "Tower")


@pytest.mark.parametrize(
    "unstacked",
    [
        "tf.unstack(x, axis=axis)",
        "tf.unstack(2.0 * x, axis=1)",
        "tf.unstack(x, axis=-2)",
        "tf.unstack(x, 3, 1, 'n', 2)",
    ],
)
def test_tensors_whose_number_is_not_known(unstacked: str) -> None:
    body = UNSTACKED.format(4).replace("tf.unstack(x, axis=1)", unstacked)
    assert "under a loop" in manual_reason(of_helper(body, "tower(features['x'], 1)", "x, axis"))


WALKED = """
outs = []
for i, x in enumerate(xs):
    gate = tf.layers.dense(x, len(xs), name="gate_%d" % i)
    parts = [tf.layers.dense(x, units, name="e%d_%d" % (i, j)) for j in range(2)]
    outs.append(gate[:, :1] * tf.add_n(parts))
return tf.concat(outs, axis=1)"""
GIVEN = "tower([features['x'], features['w']], 3)"


def test_layers_for_each_tensor_of_a_list() -> None:
    text = migrate(of_helper(WALKED, GIVEN, "xs, units"))
    build = " ".join(method(text, "build", "Tower").split())
    made = 'tf.keras.layers.Dense(len(input_shape), name="gate_%d" % i) for i in range(len(input_shape))'
    assert made in build and 'name="e%d_%d" % (i, j)) for j in range(2)' in build
    assert (
        "for x, gate_layer, e_layer_row in zip(xs, " in joined(method(text, "call", "Tower")) or "in zip(xs, " in text
    )


def test_layers_without_names_for_each_tensor_of_a_list() -> None:
    text = migrate(of_helper("return tf.add_n([tf.layers.dense(x, units) for x in xs])", GIVEN, "xs, units"))
    assert "[tf.keras.layers.Dense(self.units) for _ in input_shape]" in method(text, "build", "Tower")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("enumerate(xs)", "enumerate(xs[1:])"),
        ("len(xs), name", "x.shape[-1], name"),
        ("outs = []", "outs = []\nxs = [2.0 * x for x in xs]"),
    ],
)
def test_layers_for_what_becomes_of_a_list(old: str, new: str) -> None:
    source = of_helper(WALKED.replace(old, new), GIVEN, "xs, units")
    assert "under a loop" in manual_reason(source)
