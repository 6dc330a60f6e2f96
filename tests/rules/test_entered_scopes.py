"""Layers of contrib that get the scope which is entered around them."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate, model_fn

HELPER = """
import tensorflow as tf
import tensorflow.contrib.slim as slim


def net(x, reuse=None):
    with tf.variable_scope("first"{around}) as scope:
        x = {call}
        x = slim.flatten(x)
    with tf.variable_scope("second") as scope:
        x = slim.fully_connected(x, 2, scope=scope, reuse=reuse)
    return x

"""
CALL = "slim.fully_connected(x, 4, scope=scope, reuse=reuse)"


def program(call: str = CALL, around: str = "", body: str = "predictions = net(features['x'])") -> str:
    return model_fn(body, before=HELPER.format(call=call, around=around))


def test_the_layer_has_the_name_of_the_scope() -> None:
    text = migrate(program(body="predictions = net(features['x']) + net(features['w'], reuse=True)"))
    assert 'name="first"' in text and 'name="second"' in text and text.count("Net()") == 1


def test_reuse_that_the_scope_says() -> None:
    text = migrate(program(around=", reuse=tf.AUTO_REUSE", call="slim.fully_connected(x, 4, scope=scope)"))
    assert 'name="first"' in text


@pytest.mark.parametrize(
    "call",
    [
        "slim.fully_connected(slim.fully_connected(x, 3), 4, scope=scope)",  # another one in the scope
        "slim.fully_connected(x, 4, scope=scope) + scope.original_name_scope",
        "slim.fully_connected(own(x), 4, scope=scope)",
    ],
)
def test_scopes_that_hold_more_are_left(call: str) -> None:
    own = "\ndef own(x):\n    return x * tf.get_variable('w', [3])\n"
    text = program(call=call, body="predictions = net(features['x'])\n").replace("\ndef net", own + "\n\ndef net")
    assert manual_reason(text)


def test_a_scope_of_its_own_stays() -> None:
    text = migrate(program(call="slim.fully_connected(x, 4, scope='own')"))
    assert "name='own'" in text and 'name="second"' in text and 'name="first"' not in text


LAYERS = """\
net = features["x"]
with tf.variable_scope("dnn"):
    for number, units in enumerate([4, 3]):
        with tf.variable_scope("hidden_%d" % number, values=(net,)) as hidden:
            net = tf.layers.dense(net, units, activation=tf.nn.relu, name=hidden)
            net = tf.layers.dropout(net, 0.1, training=mode == tf.estimator.ModeKeys.TRAIN)
        tf.summary.scalar("%s/zeros" % hidden.name, tf.nn.zero_fraction(net))
    with tf.variable_scope("logits") as scope:
        predictions = tf.layers.dense(net, 1, name=scope)
    print({read})
"""


def test_layers_of_tensorflow_in_scopes_with_numbers() -> None:
    text = migrate(model_fn(LAYERS.format(read="scope.name")))
    assert 'name="hidden_%d" % number' in text and 'name="logits"' in text and "variable_scope" not in text
    assert '"dnn/dnn/hidden_%s/zeros" % number' in text and "print('dnn/logits')" in text


@pytest.mark.parametrize("read", ["scope", "scope.original_name_scope", "scope.name, hidden.name"])
def test_reads_of_a_scope_that_are_not_known(read: str) -> None:
    assert manual_reason(model_fn(LAYERS.format(read=read)))


def test_names_of_scopes_in_a_helper_depend_on_where_it_is_called() -> None:
    helper = "import tensorflow as tf\n\n\ndef net(features, mode):\n"
    body = "".join(f"    {line}\n" for line in LAYERS.format(read="scope.name").splitlines())
    call = "with tf.variable_scope('all'):\n    predictions = net(features, mode)"
    text = model_fn(call, before=f"{helper}{body}    return predictions\n")
    assert "depends on where it is called" in manual_reason(text)
