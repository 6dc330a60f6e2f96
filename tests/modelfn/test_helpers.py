"""Functions beside a model_fn that make layers become layers themselves."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, migrate, model_fn
from modelfn.symbolic import assert_same

END = f"{LOSS}\n{TRAIN_OP}\n{SPEC}"
TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"
PARAMS = {"units": [3, 4], "u": 5, "s": 2.0}

SAME = {
    "called once": (
        "def block(x):\n    return tf.layers.dense(x, 1)",
        'predictions = block(features["x"])',
    ),
    "called twice": (
        "def block(x, units):\n    return tf.layers.dense(x, units)",
        'predictions = block(block(features["x"], 3), units=4)',
    ),
    "in a loop": (
        "def block(x, units, i):\n    return tf.layers.dense(x, units) * i",
        """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            x = block(x, units, i)
        predictions = x
        """,
    ),
    "several results": (
        "def block(x, units):\n    h = tf.layers.dense(x, units)\n    return h, tf.layers.dense(h, 1)",
        'h, predictions = block(features["x"], params["u"])\npredictions = predictions + h',
    ),
    "loops and conditions inside": (
        """def block(x, sizes, wide):
    for size in sizes:
        x = tf.layers.dense(x, size)
    if wide:
        x = tf.layers.dense(x, 100)
    return x""",
        'predictions = block(features["x"], params["units"], True) + block(features["w"], [1], wide=False)',
    ),
    "params": (
        'def block(x, params):\n    return tf.layers.dense(x, params["u"]) * params["s"]',
        'predictions = block(block(features["x"], params), dict(params, u=4))',
    ),
    "the mode": (
        f"def block(x, mode):\n    return tf.layers.dropout(tf.layers.dense(x, 3), 0.4, training={TRAINING})",
        'predictions = block(features["x"], mode)',
    ),
    "helpers of helpers": (
        "def inner(x, n):\n    return tf.layers.dense(x, n)\n\n\ndef block(x):\n    return inner(inner(x, 3), 4)",
        'predictions = block(features["x"])',
    ),
    "defaults": (
        "def block(x, units=3, scale=2.0):\n    return tf.layers.dense(x, units) * scale",
        'predictions = block(block(features["x"]), scale=3.0)',
    ),
    "a parameter that is replaced by what is computed": (
        """def block(x, units, size=None, rate=0.4):
    if size is None:
        size = tf.shape(x)[0]
    x = tf.layers.dense(x, units) * size
    return x""",
        'predictions = block(block(features["x"], 3), 4, params["s"])',
    ),
    "a parameter that the mode replaces": (
        f"""def block(x, mode, scale=2.0):
    if not {TRAINING}:
        scale = 1.0
    return tf.layers.dense(x, 3) * scale""",
        'predictions = block(features["x"], mode)',
    ),
    "checks of shapes": (
        """def block(x, size=None):
    if x is None:
        raise ValueError("nothing")
    if x is not None:
        size = tf.shape(x)[0]
    elif size is None:
        raise ValueError("size")
    return tf.layers.dense(x, 3)""",
        'predictions = block(features["x"])',
    ),
    "without layers it stays a function": (
        "def block(x, factor):\n    return x * factor",
        'predictions = block(tf.layers.dense(features["x"], 3), params["s"])',
    ),
}


@pytest.mark.parametrize("name", sorted(SAME))
def test_same_network(name: str) -> None:
    helper, body = SAME[name]
    assert_same(model_fn(body, end=END, before=f"\n\n{helper}\n"), **PARAMS)


def test_a_helper_is_a_class_of_its_name() -> None:
    helper, body = SAME["called twice"]
    text = migrate(model_fn(body, before=f"\n\n{helper}\n"))
    assert "class Block(tf.keras.layers.Layer):" in text and "def block(" not in text
    assert text.index("class Block(") < text.index("class Model(")


@pytest.mark.parametrize(
    ("helper", "reason"),
    [
        ("def block(x, n=2):\n    return block(tf.layers.dense(x, n), n - 1) if n else x", ""),
        ("def block(x, sizes=[]):\n    sizes.append(3)\n    return tf.layers.dense(x, len(sizes))", "is changed"),
        ("def block(x):\n    x = tf.layers.dense(x, 3)\n    return RATE  # HERE", "do not compute"),
        ("def block(*args):\n    return tf.layers.dense(args[0], 3)", "*args"),
        ("def block(x):\n    return tf.layers.dense(x, 3)\n\n\nKEPT = block", "used outside of the model"),
    ],
)
def test_left_alone(helper: str, reason: str) -> None:
    assert reason in manual_reason(model_fn('predictions = block(features["x"])', before=f"\n\n{helper}\n"))


UNUSED = """
def inner(x, name):
    with tf.variable_scope(name):
        return tf.layers.dense(x, 3, name="fc")


def block(x):
    return inner(tf.layers.dense(x, 2), "inner")


def other(x):
    # nobody calls this
    return block(x) + tf.layers.dense(x, 1)
"""


def test_code_that_nothing_names_keeps_the_helpers_that_it_calls() -> None:
    text = migrate(model_fn('predictions = block(features["x"])', before=f"\n{UNUSED}\n"))
    for line in (
        "class Block(tf.keras.layers.Layer):",
        "class Inner(tf.keras.layers.Layer):",
        "def inner(x, name):\n    with tf.compat.v1.variable_scope(name):",
        '    return inner(tf.compat.v1.layers.dense(x, 2), "inner")',
        "    # nobody calls this\n    return block(x) + tf.compat.v1.layers.dense(x, 1)",
        'self.block(features["x"])',
    ):
        assert line in text, line


def test_a_helper_that_a_file_calls_for_both_stands_in_the_way() -> None:
    other = "from layers import block\n\n\ndef other(x):\n    return block(x)\n"
    layers = "import tensorflow as tf\n\n\ndef block(x):\n    return tf.layers.dense(x, 3)\n"
    program = model_fn('predictions = block(features["x"])', before=f"\n{other}\n")
    assert "used outside of the model" in manual_reason({"main.py": program, "layers.py": layers})


NETWORK = """
class Network(object):
    def __init__(self, x, units):
        self.hidden = {made}

    def output(self):
        return self.hidden
"""


@pytest.mark.parametrize("made", ["tf.layers.dense(x, units)", "outer(x, units)"])
def test_a_class_that_makes_layers_as_it_is_made_is_no_plain_object(made: str) -> None:
    outer = "def outer(x, units):\n    return tf.layers.dense(x, units)\n"
    body = "network = Network(features['x'], 3)\npredictions = tf.layers.dense(network.output(), 1)"
    used = outer if "outer" in made else ""
    text = assert_same(model_fn(body, before=f"\n\n{used}\n{NETWORK.format(made=made)}"))
    assert "class Network(tf.keras.Model):" in text
    helper = "def block(x):\n    return tf.layers.dense(Network(x, 3).output(), 1)"
    body = "predictions = block(features['x'])"
    reason = manual_reason(model_fn(body, before=f"\n\n{NETWORK.format(made=made)}\n{helper}\n\n{outer}\n"))
    assert "a class makes layers in a method that is not followed" in reason


def test_a_class_that_makes_no_layers_is_a_plain_object() -> None:
    before = f"\n\n{NETWORK.format(made='x * units')}"
    text = migrate(model_fn("predictions = tf.layers.dense(Network(features['x'], 2.0).output(), 1)", before=before))
    assert "Network(features['x'], 2.0).output()" in text


@pytest.mark.parametrize("name", ["build_model", "model", "create_model"])
def test_a_helper_named_like_the_model_becomes_a_layer_of_another_name(name: str) -> None:
    helper = f"\n\ndef {name}(x, units):\n    return tf.layers.dense(x, units)\n"
    text = assert_same(model_fn(f'predictions = {name}(features["x"], params["u"])', before=helper), u=3)
    assert "class Network(tf.keras.layers.Layer):" in text and text.count("class Model(tf.keras.Model):") == 1
    assert "= Network(params[" in text


def test_a_parameter_named_config_is_kept_by_a_layer() -> None:
    helper = "def block(config, x):\n    return tf.layers.dense(x, config['u']) * tf.add(config['s'], x[0])"
    text = migrate(model_fn("predictions = block(params, features['x'])", before=f"\n\n{helper}\n"))
    assert "self.config = config\n" in text and "tf.add(self.config['s'], x[0])" in text


def test_a_name_from_outside_that_only_the_factory_needs_for_itself() -> None:
    source = """
import tensorflow as tf


def build(config, model):
    def model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], config.units) * model.scale
        loss = tf.reduce_mean(tf.square(labels - predictions))
        optimizer = tf.train.GradientDescentOptimizer({rate})
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    return model_fn


estimator = tf.estimator.Estimator(build(CONFIG, MODEL))
"""
    text = migrate(source.replace("{rate}", "0.1"))
    assert "tf.keras.layers.Dense(config.units)" in text and "* model.scale" in text
    for name in ("config", "model"):
        reason = manual_reason(source.replace("{rate}", f"{name}.rate"))
        assert f"`{name}` is a name that the generated function needs" in reason


NUMBERED = """
def inner(x, name):
    return tf.layers.dense(x, 3, name="inner_{}".format(name))


def outer(x, name):
    return inner(x, name)

"""


@pytest.mark.parametrize(
    "calls",
    [
        "outer(outer(features['x'], 1), name=2)",
        "outer(features['x'], 1 + len(PARAMS))",
        "features['x']\nfor i in range(2):\n    predictions = outer(predictions, i)",
        "features['x']\nfor i, _ in enumerate(PARAMS):\n    predictions = outer(predictions, i + 1)",
    ],
)
def test_a_number_is_no_name_of_a_layer(calls: str) -> None:
    after = migrate(model_fn(f"predictions = {calls}", before=NUMBERED))
    assert "name=name" not in after and "super().__init__()" in after


@pytest.mark.parametrize("name", ["'a'", "'a_%d' % 1", "PARAMS['name']"])
def test_a_text_is_the_name_of_a_layer(name: str) -> None:
    after = migrate(model_fn(f"predictions = outer(features['x'], {name})", before=NUMBERED))
    assert after.count("super().__init__(name=name)") == 2


@pytest.mark.parametrize(
    "helpers",
    [
        "def block(x, rate):\n    return tf.layers.dense(x, 3) * (1 - rate)",
        "def inner(x, rate, y):\n    rate = rate or 0.0\n    return tf.layers.dense(x + y, 3) * (1 - rate)\n\n\n"
        "def block(x, rate):\n    return inner(x, rate, x)",
    ],
)
def test_plain_values_are_handed_on_by_name(helpers: str) -> None:
    body = f'rate = 0.5 if {TRAINING} else 0.0\npredictions = block(features["x"], rate)'
    text = migrate(model_fn(body, end=END, before=helpers))
    assert 'self.block(features["x"], rate=' in text
    assert "self.inner(" not in text or "self.inner(x, rate=rate, y=x)" in text


def test_tensors_keep_their_place() -> None:
    helper = "def block(x, y, z=None):\n    return tf.layers.dense(x, 3) * y"
    text = migrate(model_fn('predictions = block(features["x"], features["w"], None)', end=END, before=helper))
    assert 'self.block(features["x"], features["w"]' in text
