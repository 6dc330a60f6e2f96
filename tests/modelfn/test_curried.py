"""Functions that return the function which builds the network."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, joined, manual_reason, method, migrate, migrate_all, model_fn, run, units
from modelfn.symbolic import assert_same

NET = '''
def generator(size, classes=1, small=None):
    """A network of blocks."""
    if size % 2 != 0:
        raise ValueError("size must be even")
    blocks = size // 2
    regularizer = tf.contrib.layers.l2_regularizer(0.1)

    def model(inputs, training):
        """Builds it."""
        net = inputs
        for i in range(blocks):
            net = tf.layers.dense(net, 4, name="fc%d" % i)
        if small:
            net = tf.layers.dropout(net, 0.5, training=training)
        return tf.layers.dense(net, classes, name="logits")

    return model
'''
TRAINING = "training = mode == tf.estimator.ModeKeys.TRAIN\n"
TWO = "network = generator(params['size'], small=params['small'])\npredictions = network(features['x'], training)"


def test_one_layer_of_both() -> None:
    source = model_fn(TRAINING + TWO, before=NET)
    text = migrate(source)
    assert (
        '"""A network of blocks."""' in text
        and "def generator" not in text
        and "network" not in method(text, "call", "Model")
    )
    made, call = method(text, "__init__", "Generator"), method(text, "call", "Generator")
    assert made.startswith("def __init__(self, size, small=None, classes=1):") and "raise ValueError" in made
    assert call.startswith("def call(self, inputs, training=False):") and "raise" not in call
    assert "self.generator = Generator(params['size'], small=params['small'])" in joined(
        method(text, "__init__", "Model")
    )
    (unit,) = units(run(source))
    assert {"fc*/kernel", "logits/bias"} <= set(dict(unit.variables))


def test_called_at_once_and_by_name() -> None:
    body = f"{TRAINING}predictions = generator(2 * params['size'], classes=3)(training=training, inputs=features['x'])"
    text = migrate(model_fn(body, before=NET))
    assert "Generator(2 * params['size'], classes=3)" in text or "Generator(size=2 * params['size'], classes=3)" in text


def test_what_is_computed() -> None:
    body = "net = make(params['units'])\npredictions = net(features['x'])"
    before = """
def make(units):
    width = units + 1

    def net(x):
        return tf.layers.dense(x, width) + tf.layers.dense(x, units)

    return net
"""
    assert_same(model_fn(body, before=before), units=3)


def test_two_applications_are_two_layers() -> None:
    body = f"{TRAINING}net = generator(2, classes=4)\nx = net(features['x'], training)\npredictions = net(x, training)"
    plain = NET.replace(', name="logits"', "").replace(', name="fc%d" % i', "")
    text = migrate(model_fn(body, before=plain))
    assert method(text, "__init__", "Model").count("Generator(") == 2


def test_a_function_that_returns_what_another_one_returns() -> None:
    net = f"import tensorflow as tf\n{NET}\n\ndef sized(name, classes):\n    sizes = dict(small=2, big=4)\n"
    net += "    size = sizes[name]\n    return generator(size, classes)\n"
    body = f"{TRAINING}network = nets.sized(params['name'], 2)\npredictions = network(features['x'], training)"
    source = model_fn(body, before="import tensorflow as tf\n\nimport nets\n")
    after = migrate_all({PATH: source, "nets.py": net})
    assert method(after["nets.py"], "__init__", "Sized").startswith("def __init__(self, name, classes):")
    assert "nets.Sized(params['name'], 2)" in after[PATH]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Names that mean something else in one piece.
        ("    blocks = size // 2\n", "    blocks = size // 2\n    net = blocks\n"),
        ("def model(inputs, training):", "def model(inputs, small):"),
        # More than one function, or more than calls of it.
        ("    return model\n", "    return model if small else None\n"),
        ("    return model\n", "    model.size = size\n    return model\n"),
        ("    return model\n", "    return [model]\n"),
        ("network = generator(", "network = params['other'] or generator("),
        ("predictions = network", "print(network)\n    predictions = network"),
        ("network = generator(params['size'], ", "size = 2\n    network = generator(size, "),
        # Variables that are made once.
        ("    blocks = size // 2\n", "    blocks = size // 2\n    w = tf.get_variable('w', [classes])\n"),
        # Effects of calls.
        ("generator(params['size'], ", "generator(params['sizes'].pop(), "),
    ],
)
def test_left(old: str, new: str) -> None:
    source = model_fn(TRAINING + TWO, before=NET)
    assert source.count(old) == 1
    source = source.replace(old, new)
    if "size = 2" in new:
        source = source.replace("predictions = network", "size = 4\n    predictions = network")
    assert "program" in manual_reason(source)
