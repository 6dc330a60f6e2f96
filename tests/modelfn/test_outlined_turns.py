"""Turns of loops that make several layers: a class for the turn, and one list."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, method, migrate, model_fn, run, units
from modelfn.symbolic import assert_same

ENCODER = """
def encoder(x, mask, units, blocks, training):
    outputs = []
    for i in range(blocks):
        with tf.variable_scope("layer_%d" % i):
            with tf.variable_scope("attention"):
                q = tf.layers.dense(x, units, name="query")
                k = tf.layers.dense(x, units, name="key")
                y = tf.nn.softmax(q * k) * mask
            with tf.variable_scope("output"):
                # Back to the width of the input.
                y = tf.layers.dense(y, units)
                y = tf.layers.dropout(y, 0.1, training=training)
                x = x + y
                outputs.append(x)
    return x + outputs[0]
"""
USE = "training = mode == tf.estimator.ModeKeys.TRAIN\npredictions = encoder(features['x'], features['w'], 4, 2, training)"


def of(*changes: tuple[str, str]) -> str:
    text = ENCODER
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return model_fn(USE, before=text)


def test_a_class_for_a_turn() -> None:
    source = of()
    text = migrate(source)
    assert "self.encoder_layers = [EncoderLayer(units=units) for _ in range(blocks)]" in joined(text)
    assert method(text, "call", "Encoder") == (
        "def call(self, x, mask, training=False):\n"
        "    outputs = []\n"
        "    for encoder_layer in self.encoder_layers:\n"
        "        x = encoder_layer(x, mask=mask, training=training)\n"
        "        outputs.append(x)\n"
        "    return x + outputs[0]\n"
    )
    assert "def call(self, x, mask, training=False):" in method(text, "call", "EncoderLayer")
    assert "    # Back to the width of the input.\n" in method(text, "call", "EncoderLayer")
    (unit,) = units(run(source))
    names = dict(unit.variables)
    assert names["layer_*/attention/query/kernel"] == "encoder.encoder_layers.*.query.kernel"
    assert names["layer_*/output/dense/bias"] == "encoder.encoder_layers.*.dense.bias"


def test_what_is_computed() -> None:
    body = """
    net = features["x"]
    gate = features["w"]
    for i, units in enumerate(params["units"]):
        with tf.variable_scope("num_blocks_%d" % i):
            if i > 0:
                gate = tf.layers.dense(gate, 4, name="gate")
            net = tf.layers.dense(net, units, name="a") + tf.layers.dense(net, units, name="b")
            net = tf.layers.dense(net, 4, name="c") * gate
            net *= 0.5
    predictions = net
    """
    text = assert_same(model_fn(body), units=[3, 5])
    assert "class Block(" in text and "self.blocks = [" in text
    assert "net, gate = block(net" in method(text, "call", "Model").replace(
        "gate, net = block(gate", "net, gate = block(net"
    )


@pytest.mark.parametrize(
    "changes",
    [
        # Few layers.
        (
            ('                k = tf.layers.dense(x, units, name="key")\n', ""),
            ("q * k", "q"),
            ("y = tf.layers.dropout", "y = tf.nn.relu(y) #"),
        ),
        # The scope is not the turn's own, or is entered again.
        (('"layer_%d" % i', '"layer"'), (', name="query"', ""), (', name="key"', "")),
        (('"layer_%d" % i', '"layer_%d" % i, reuse=tf.AUTO_REUSE'),),
        # More than values comes out of a turn.
        (("                x = x + y\n", "                x = x + y\n                tf.summary.histogram('x', x)\n"),),
        (("                y = tf.nn.softmax", "                outputs.append(k)\n                y = tf.nn.softmax"),),
    ],
)  # fmt: skip
def test_left_as_lists(changes: tuple[tuple[str, str], ...]) -> None:
    outcomes = run(of(*changes))
    assert all(unit.tier in ("native", "manual") for unit in units(outcomes))
    assert not any("class EncoderLayer" in outcome.after.decode() for outcome in outcomes.values())


def test_turns_that_no_layer_can_be_stay_lists() -> None:
    body = """
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = features["x"]
    for i in range(2):
        with tf.variable_scope("block_%d" % i):
            net = tf.layers.dense(net, 4, name="a")
            if mode == tf.estimator.ModeKeys.TRAIN:
                net = 2.0 * net
            net = tf.layers.dropout(net, 0.1, training=training)
            net = tf.layers.dense(net, 3, name="b")
    predictions = net
    """
    text = migrate(model_fn(body))  # as a helper does not get the mode twice
    assert "class Block(" not in text and "self.block_a_layers = [" in text
