"""What is known when the model is built goes to `__init__`; tensors stay in `call`; nothing is done twice."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

PARAMS = {"units": 4, "scale": 2.0, "layers": [3, 5], "name": "net"}

BODIES = {
    "params": 'predictions = tf.layers.dense(features["x"], params["units"]) * params["scale"]',
    "params.get": 'predictions = tf.layers.dense(features["x"], params.get("absent", 7)) * params.get("scale")',
    "a static name": """
        units = params["units"] * 2
        predictions = tf.layers.dense(features["x"], units) * units
    """,
    "a chain of static names": """
        units = params["units"]
        half = units // 2
        predictions = tf.layers.dense(features["x"] * half, half + 1)
    """,
    "static name rebound": """
        units = params["units"]
        units = units + 1
        x = tf.layers.dense(features["x"], units)
        predictions = tf.layers.dense(x, units)
    """,
    "static augmented": """
        units = params["units"]
        units += 3
        predictions = tf.layers.dense(features["x"], units) * units
    """,
    "static list built step by step": """
        sizes = []
        for size in params["layers"]:
            sizes.append(size * 2)
        sizes.append(1)
        x = features["x"]
        for size in sizes:
            x = tf.layers.dense(x, size)
        predictions = x * len(sizes)
    """,
    "static dict": """
        sizes = {"a": 3, "b": 4}
        x = tf.layers.dense(features["x"], sizes["a"])
        predictions = tf.layers.dense(x, sizes["b"]) * sizes["a"]
    """,
    "static call": """
        units = max(params["layers"])
        predictions = tf.layers.dense(features["x"], units) * units
    """,
    "static comprehension": """
        sizes = [size + 1 for size in params["layers"]]
        predictions = tf.layers.dense(features["x"], sum(sizes))
    """,
    "a name that a comprehension has for itself": """
        nets = {}
        for name in ["a", "b"]:
            nets[name] = tf.layers.dense(features["x"], 2, name="tower_" + name)
        scaled = {name: net * params["scale"] for name, net in nets.items()}
        predictions = scaled["a"] + scaled["b"]
    """,
    "tuple of static names": """
        first, second = params["layers"]
        predictions = tf.layers.dense(tf.layers.dense(features["x"], first), second) * first
    """,
    "local function without layers": """
        def scaled(value):
            return value * params["scale"]
        predictions = scaled(tf.layers.dense(features["x"], 2))
    """,
    "local function that reads a later name": """
        def scaled(value):
            return value * factor
        factor = params["scale"]
        predictions = scaled(tf.layers.dense(features["x"], 2))
    """,
    "lambda": """
        act = lambda value: value * params["scale"]
        predictions = act(tf.layers.dense(features["x"], 2))
    """,
    "lambda binds a name of its own": """
        double = lambda params: params * 2.0
        predictions = double(tf.layers.dense(features["x"], params["units"])) * params["scale"]
    """,
    "comprehension binds a name of its own": """
        parts = [features * 2.0 for features in [features["x"], features["w"]]]
        predictions = tf.layers.dense(tf.concat(parts, 1), params["units"])
    """,
    "import inside": """
        import math
        predictions = tf.layers.dense(features["x"] * math.pi, int(math.floor(2.5)))
    """,
    "conditional expression": """
        units = 3 if params["units"] > 3 else 5
        predictions = tf.layers.dense(features["x"], units)
    """,
    "try around static values": """
        try:
            units = params["absent"]
        except KeyError:
            units = 6
        predictions = tf.layers.dense(features["x"], units)
    """,
    "numbers in the loss": """
        weight = params["scale"] * 0.5
        predictions = tf.layers.dense(features["x"] * weight, 1)
        labels = labels * weight
    """,
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_same_network(name: str) -> None:
    assert_same(model_fn(BODIES[name]), **PARAMS)


def test_params_are_kept_only_where_they_are_read() -> None:
    text = migrate(model_fn('predictions = tf.layers.dense(features["x"], params["units"])'))
    assert "self.params" not in text
    assert "def __init__(self, params):" in text
    text = migrate(model_fn('predictions = tf.layers.dense(features["x"], 3) * params["scale"]'))
    assert 'self.params["scale"]' in method(text, "call")


def test_an_expensive_value_is_computed_once() -> None:
    body = """
    table = load_table(params["name"])
    predictions = tf.layers.dense(features["x"], len(table)) * table[0]
    """
    text = migrate(model_fn(body, before="from tables import load_table"))
    assert text.count("load_table(") == 1
    assert 'self.table = load_table(params["name"])' in method(text, "__init__")
    assert "* self.table[0]" in method(text, "call")


def test_checks_and_messages_are_kept_once() -> None:
    body = """
    assert params["units"] > 0
    print("units", params["units"])
    predictions = tf.layers.dense(features["x"], params["units"])
    """
    text = migrate(model_fn(body))
    init = method(text, "__init__")
    assert init.index("assert params") < init.index("print(") < init.index("Dense(")
    assert text.count("print(") == 1 and text.count("assert ") == 1


def test_attributes_of_params() -> None:
    text = migrate(model_fn('predictions = tf.layers.dense(features["x"], params.units) * params.scale'))
    assert "Dense(params.units)" in text and "* self.params.scale" in text


def test_closure() -> None:
    source = f"""import tensorflow as tf


def make_model_fn(units, rate):
    def model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], units)
        {LOSS}
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())
        {SPEC}

    return model_fn


estimator = tf.estimator.Estimator(model_fn=make_model_fn(4, rate=0.2), model_dir="here")
"""
    text = migrate(source)
    assert "    class Model(tf.keras.Model):\n        def __init__(self):" in text
    assert "self.predictions = tf.keras.layers.Dense(units)" in text
    assert "    def create_model(config=None, model_dir=None):" in text
    assert "optimizer=tf.keras.optimizers.SGD(rate)" in text
    assert "    return create_model\n" in text
    assert 'estimator = make_model_fn(4, rate=0.2)(model_dir="here")' in text


def test_builder_in_a_variable() -> None:
    source = f"""import tensorflow as tf


def make(units):
    def my_model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], units)
        {LOSS}
        {TRAIN_OP}
        {SPEC}

    return my_model_fn


model_fn = make(4)
estimator = tf.estimator.Estimator(model_fn)
"""
    text = migrate(source)
    assert "model_fn = make(4)\n" in text and "estimator = model_fn()" in text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "units = tf.shape(features['x'])[1]\npredictions = tf.layers.dense(features['x'], units)  # HERE",
            "data flows",
        ),
        (
            "params['queue'].put(features['x'])  # HERE\npredictions = tf.layers.dense(features['x'], 1)",
            "only has an effect",
        ),
        (
            "SIZES.append(3)\npredictions = tf.layers.dense(features['x'], SIZES[0])",
            "comes from outside",
        ),
        (
            "if params['deep']:\n    params = dict(params)\nparams['units'] = 3\n"
            "predictions = tf.layers.dense(features['x'], params['units'])",
            "comes from outside",
        ),
        ("yield 3  # HERE\npredictions = tf.layers.dense(features['x'], 3)", "generator"),
        ("training = features['w']\npredictions = tf.layers.dense(features['x'], 1) * training", "self or training"),
    ],
)
def test_left_alone(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body))


def test_a_name_that_only_conditions_bind_comes_from_inside() -> None:
    end = """
if params["weighted"]:
    loss = tf.reduce_mean(tf.square(labels - predictions) * labels)
else:
    loss = tf.reduce_mean(tf.square(labels - predictions))
if params["l2"]:
    loss += params["l2"] * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
"""
    body = "predictions = tf.layers.dense(features['x'], 1)"
    text = migrate(model_fn(body, end=f"{end}\n{TRAIN_OP}\n{SPEC}"))
    assert 'loss += self.params["l2"] * tf.add_n(' in method(text, "compute_loss")


def test_what_a_condition_alone_needs_of_the_forward_pass() -> None:
    end = """
loss = tf.reduce_mean(tf.square(labels - predictions))
if params["aux"]:
    other = tf.layers.dense(features["x"], 1)
    loss += tf.reduce_mean(tf.square(labels - other))
if params["kind"] == "a":
    scale = tf.layers.dense(features["x"], 1, name="a")
elif params["kind"] == "b":
    scale = tf.layers.dense(features["x"], 1, name="b")
else:
    raise ValueError(params["kind"])
loss *= tf.reduce_mean(scale)
"""
    body = "predictions = tf.layers.dense(features['x'], 1)"
    call = method(migrate(model_fn(body, end=f"{end}\n{TRAIN_OP}\n{SPEC}")), "call")
    assert '    other = None\n    if self.params["aux"]:\n        other = ' in call
    assert "scale = None" not in call


def test_a_loop_is_known_although_a_comprehension_walks_over_tensors_by_the_same_name() -> None:
    text = migrate(model_fn(BODIES["a name that a comprehension has for itself"]))
    assert "for name in" in method(text, "__init__") and "def build(" not in text
