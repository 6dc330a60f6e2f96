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
