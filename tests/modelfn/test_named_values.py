from __future__ import annotations

import pytest
from programs import joined, manual_reason, method, migrate, model_fn


def test_a_first_value_with_a_name() -> None:
    body = """
    init = tf.random_normal([3, 1], stddev=0.1)
    w = tf.get_variable("w", initializer=init)
    predictions = tf.matmul(features["x"], w)
    """
    text = migrate(model_fn(body))
    assert 'self.w = self.add_weight(name="w", shape=[3, 1], initializer=tf.keras' in joined(method(text, "__init__"))
    assert "init =" not in text


def test_a_name_that_is_used_again() -> None:
    body = """
    with tf.variable_scope("a"):
        init = tf.zeros([3, 2])
        w = tf.get_variable("w", initializer=init)
    with tf.variable_scope("b"):
        init = tf.ones([2, 1])
        v = tf.Variable(init, name="v")
    predictions = tf.matmul(tf.matmul(features["x"], w), v)
    """
    init = joined(method(migrate(model_fn(body)), "__init__"))
    assert 'shape=[3, 2], initializer="zeros"' in init and 'shape=[2, 1], initializer="ones"' in init


def test_a_value_in_each_turn_of_a_loop() -> None:
    body = """
    x = features["x"]
    for i in range(2):
        init = tf.zeros([3, 3])
        x = tf.matmul(x, tf.get_variable("w%d" % i, initializer=init))
    predictions = x
    """
    assert 'shape=[3, 3], initializer="zeros"' in joined(method(migrate(model_fn(body)), "__init__"))


def test_a_size_that_the_input_tells() -> None:
    body = """
    x = tf.layers.dense(features["x"], 4)
    size = x.get_shape().as_list()[-1]
    init = tf.truncated_normal([size, 1])
    predictions = tf.matmul(x, tf.get_variable("w", initializer=init, validate_shape=False))
    """
    text = joined(migrate(model_fn(body)))
    assert "shape=[size, 1], initializer=tf.keras.initializers.TruncatedNormal(stddev=1.0)" in text


@pytest.mark.parametrize(
    "body",
    [
        """
        init = tf.random_normal([3, 1])
        w = tf.get_variable("w", initializer=init)
        predictions = tf.matmul(features["x"], w + init)
        """,
        """
        init = tf.random_normal([3, 1])
        w = tf.get_variable("w", initializer=init)
        v = tf.get_variable("v", initializer=init)
        predictions = tf.matmul(features["x"], w + v)
        """,
        """
        init = tf.random_normal([3, 3])
        x = features["x"]
        for i in range(2):
            x = tf.matmul(x, tf.get_variable("w%d" % i, initializer=init))
        predictions = x
        """,
        """
        init = tf.random_normal([3, 1])
        if params["zero"]:
            init = tf.zeros([3, 1])
        predictions = tf.matmul(features["x"], tf.get_variable("w", initializer=init))
        """,
        """
        n = 3
        init = tf.random_normal([n, 1])
        n = n + 1
        predictions = tf.matmul(features["x"], tf.get_variable("w", initializer=init)) * n
        """,
        """
        init = tf.random_normal([3, 1]) + 1.0
        predictions = tf.matmul(features["x"], tf.get_variable("w", initializer=init))
        """,
    ],
)
def test_values_that_have_to_keep_their_names(body: str) -> None:
    assert manual_reason(model_fn(body))


SHARED = """
def fc(x, size, name):
    scope = {value}
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        w = tf.get_variable("w", [x.shape[-1], size])
        return tf.matmul(x, w)


def tower(x, sizes, name):
    for i, size in enumerate(sizes):
        x = fc(x, size, "%s_%d" % (name, i))
    return x
"""


def test_the_text_of_a_scope_tells_calls_apart_that_reuse() -> None:
    body = "predictions = tower(features['x'], [4, 1], 'user') * tower(features['w'], [4, 1], 'item')"
    text = migrate(model_fn(body, before="import tensorflow as tf\n" + SHARED.format(value='"%s_fc" % name')))
    assert "AUTO_REUSE" not in text and "Tower([4, 1], 'user')" in text and "Tower([4, 1], 'item')" in text
    same = body.replace("'item'", "'user'")
    assert "share" in manual_reason(model_fn(same, before="import tensorflow as tf\n" + SHARED.format(value="name")))
    drawn = SHARED.format(value="other(name)")
    assert manual_reason(model_fn(body, before="import tensorflow as tf\n" + drawn))
