"""Summaries of helpers that are called in several scopes at once."""

from __future__ import annotations

import pytest
from programs import joined, manual_reason, method, migrate, model_fn

HELPER = """

def cross(x, size):
    x = tf.layers.dense(x, size)
    tf.summary.histogram("x", x)
    return x


def stack(x, sizes):
    with tf.variable_scope("outer"):
        for i, size in enumerate(sizes):
            with tf.variable_scope("layer_%d" % i):
                x = cross(x, size)
    return x
"""


def test_the_helper_is_told_the_scopes() -> None:
    text = migrate(model_fn("predictions = stack(features['x'], [3, 1])", before=HELPER))
    assert 'tf.summary.histogram(self.scope + "x", x)' in joined(method(text, "call", "Cross"))
    made = joined(method(text, "__init__", "Stack"))
    assert 'scope="outer/layer_%d/" % i' in made and "name=self" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('tf.variable_scope("outer")', "tf.variable_scope(params_name)"),
        ('tf.variable_scope("layer_%d" % i)', 'tf.variable_scope("layer")'),
        ("    return x\n\n\ndef stack", "    return x * scope * outer_scope\n\n\ndef stack"),
        ("        for i, size in", "        i = 0\n        for _, size in"),
        ("x = cross(x, size)", "i += 1\n                x = cross(x, size)"),
        ("    with tf", "    with tf.variable_scope('outer'):\n        x = x + 1\n    with tf"),
        ("x = cross(x, size)", "x = (lambda f: f(x, size))(cross)"),
        ('"x", x)\n', '"x", x)\n    tf.summary.histogram("x", x + 1)\n'),
    ],
)
def test_scopes_that_tell_no_turn_apart(old: str, new: str) -> None:
    assert old in HELPER
    assert manual_reason(model_fn("predictions = stack(features['x'], [3, 1])", before=HELPER.replace(old, new, 1)))


def test_another_name_where_that_is_taken() -> None:
    helper = HELPER.replace("def cross(x, size):\n", "def cross(x, size):\n    scope = size\n")
    text = migrate(model_fn("predictions = stack(features['x'], [3, 1])", before=helper))
    assert 'outer_scope="outer/layer_%d/" % i' in joined(method(text, "__init__", "Stack"))


# -- helpers of helpers -----------------------------------------------------------------------------------------------

BLOCKS = """

def attend(x, scope="attend"):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        x = x * tf.get_variable("w", [4])
        tf.summary.histogram("seen", x)
    return x


def block(x, size, scope="block"):
    tf.summary.histogram("in", x)
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        return tf.layers.dense(attend(x), size)


"""
TWO = """
x = features["x"]
for i in range(2):
    with tf.variable_scope("encoder_{}".format(i), reuse=tf.AUTO_REUSE):
        x = block(x, 4, scope="own")
        x = block(x, 4, scope="other")
predictions = block(x, 1)
"""


def test_each_helper_on_the_way_hands_the_scopes_on() -> None:
    source = (
        TWO.replace('        x = block(x, 4, scope="own")\n', "") + "predictions = tf.layers.dense(predictions, 1)\n"
    )
    text = migrate(model_fn(source, before=BLOCKS))
    made = joined(method(text, "__init__", "Model"))
    assert 'outer_scope="encoder_{}/".format(i)' in made and 'outer_scope=""' in made
    assert 'outer_scope=outer_scope + scope + "/"' in joined(method(text, "__init__", "Block"))
    assert 'tf.summary.histogram(self.outer_scope + self.scope + "/seen", x)' in joined(method(text, "call", "Attend"))
    assert 'tf.summary.histogram(self.outer_scope + "in", x)' in joined(method(text, "call", "Block"))
    assert "self.scope = scope" in method(text, "__init__", "Attend")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('scope="other"', 'scope="own"'),  # the second one of that name gets a number
        ("predictions = block(x, 1)", 'with tf.variable_scope("encoder_1"):\n    predictions = block(x, 1)'),
        ('"encoder_{}".format(i)', "params['scope']"),
    ],
)
def test_ways_that_may_have_the_same_names(old: str, new: str) -> None:
    assert old in TWO
    assert manual_reason(model_fn(TWO.replace(old, new), before=BLOCKS))


def test_model_fns_that_have_scopes_of_the_same_names() -> None:
    body = """
def {name}(features, labels, mode):
    with tf.variable_scope("first"):
        x = block(features["x"])
    with tf.variable_scope("{second}"):
        x = block(x)
    loss = tf.reduce_mean(tf.square(labels - x))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


"""
    block = """\
import tensorflow as tf


def block(x):
    h = tf.layers.dense(x, 8)
    tf.summary.histogram("h", h)
    return h

"""
    made = "one, two = tf.estimator.Estimator(one_fn), tf.estimator.Estimator(two_fn)\n"
    both = block + body.format(name="one_fn", second="a") + body.format(name="two_fn", second="b") + made
    text = migrate(both)
    assert text.count('Block(name="first")') == 2 and 'tf.summary.histogram(self.name + "/h", h)' in text
