"""Names of weights that the turns of a loop make, each in a scope of its own."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn


def made(scope: str, name: str = "'W'", head: str = "for i, size in enumerate([2, 3])", before: str = "pass") -> str:
    """A model with a weight in a scope in a loop."""
    body = f"""
outputs = []
{head}:
    {before}
    with {scope}:
        w = tf.get_variable({name}, [4, 3])
    outputs.append(features['x'] @ w)
predictions = tf.layers.dense(tf.concat(outputs, 1), 1)
"""
    return migrate(model_fn(body))


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        ("tf.variable_scope('conv-%s' % size)", '"conv-%s_W" % size'),
        ("tf.variable_scope('conv/%d/x' % size)", '"conv_%d_x_W" % size'),
        ("tf.variable_scope('layer_%d' % i)", '"layer_%d_W" % i'),
        ("tf.variable_scope('net'), tf.variable_scope('layer_%d' % i)", '"net_layer_%d_W" % i'),
    ],
)
def test_the_scope_tells_them_apart(scope: str, name: str) -> None:
    text = made(scope)
    assert f"name={name}" in text.replace("'", '"')
    read = name.rpartition(" ")[2]
    assert f" {read} in [2, 3]" in text or f" {read}, size in enumerate([2, 3])" in text


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        ("tf.variable_scope('a_%s_%s' % (i, size))", "'W'"),  # more than one place
        ("tf.variable_scope('a_%s' % size), tf.variable_scope('b_%s' % i)", "'W'"),
        ("tf.variable_scope('a_%s' % params['units'])", "'W'"),  # the same in each turn
        ("tf.variable_scope('a%%_%s' % size)", "'W'"),
        ("tf.variable_scope(str(size))", "'W'"),
        ("tf.variable_scope('a_%s' % (size - 1))", "'W'"),
        ("tf.variable_scope('a')", "'W_%d' % i"),  # has one of its own
        ("tf.variable_scope('a_%s' % size)", "'W_%d' % i"),
    ],
)
def test_other_scopes_change_nothing(scope: str, name: str) -> None:
    text = made(scope, name)
    plain = name.strip("'") if name == "'W'" else "W_%d"
    assert f'name="{plain}"' in text or f"name='{plain}'" in text or f"name='a_{plain}'" in text


def test_a_scope_around_all_turns() -> None:
    assert "name='net_W'" in made("tf.variable_scope('net', reuse=tf.AUTO_REUSE)", head="for size in [2]")


ATTENTION = """
def attention(x, scope="attention"):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        return x + tf.layers.dense(x, 4)


"""
TURNS = """
x = features["x"]
for i in range(2):
    with tf.variable_scope("block_{}".format(i), reuse=tf.AUTO_REUSE):
        x = attention(x, scope="own")
        x = attention(x, scope="other")
predictions = tf.layers.dense(x, 1)
"""


def test_calls_of_a_turn_in_scopes_of_their_own_share_nothing() -> None:
    text = migrate(model_fn(TURNS, before=ATTENTION))
    assert method(text, "__init__", "Model").count("Attention(") == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('scope="other"', "scope=params['scope']"),
        ('scope="other"', 'scope="its/own"'),  # a turn may be called `0/its`
        ('x = attention(x, scope="other")', 'x = attention(x * 2, scope="own")\n        x = attention(x, "o%d" % i)'),
    ],
)
def test_calls_of_a_turn_that_may_share_are_left(old: str, new: str) -> None:
    assert old in TURNS
    assert "shar" in manual_reason(model_fn(TURNS.replace(old, new), before=ATTENTION))
