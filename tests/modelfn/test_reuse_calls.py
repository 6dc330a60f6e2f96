"""Scopes that are told to reuse their variables, and scopes that are entered by the objects that hold them."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

SHARED = {
    "a loop in a scope": """
        state = features["x"]
        with tf.variable_scope("rnn") as scope:
            for t in range(3):
                if t > 0:
                    scope.reuse_variables()
                w = tf.get_variable("w", [3, 4])
                state = tf.matmul(state, w)
        predictions = state
    """,
    "a scope in a loop": """
        outputs = []
        for name in ["x", "w"]:
            with tf.variable_scope("net"):
                if name != "x":
                    tf.get_variable_scope().reuse_variables()
                outputs.append(tf.layers.dense(features[name], 4, name="fc"))
        predictions = outputs[0] - outputs[1]
    """,
    "statements in order": """
        with tf.variable_scope("net") as scope:
            a = tf.layers.dense(features["x"], 4, name="fc")
            scope.reuse_variables()
            predictions = a - tf.layers.dense(features["w"], 4, name="fc")
    """,
    "the current scope": """
        with tf.variable_scope(tf.get_variable_scope()):
            outputs = []
            for name in ["x", "w"]:
                with tf.name_scope("tower"):
                    outputs.append(tf.layers.dense(features[name], 4, name="fc"))
                    tf.get_variable_scope().reuse_variables()
        predictions = outputs[0] - outputs[1]
    """,
    "the outermost scope": """
        a = tf.layers.dense(features["x"], 4, name="fc")
        tf.get_variable_scope().reuse_variables()
        predictions = a - tf.layers.dense(features["w"], 4, name="fc")
    """,
    "a loop over tensors": """
        outputs = []
        with tf.variable_scope("net") as scope:
            for i, x in enumerate([features["x"], features["w"]]):
                if i > 0:
                    scope.reuse_variables()
                outputs.append(tf.layers.dense(x, 4, name="fc"))
        predictions = outputs[0] - outputs[1]
    """,
    "a scope that is entered again": """
        with tf.variable_scope("net") as scope:
            a = tf.layers.dense(features["x"], 4, name="fc")
        with tf.variable_scope("other"):
            with tf.variable_scope(scope, reuse=True):
                predictions = a - tf.layers.dense(features["w"], 4, name="fc")
    """,
    "the current scope in a loop": """
        state = features["x"]
        with tf.variable_scope("rnn"):
            for t in range(3):
                with tf.variable_scope(tf.get_variable_scope(), reuse=t > 0):
                    state = tf.layers.dense(state, 4, name="fc")
        predictions = state
    """,
}


@pytest.mark.parametrize("name", sorted(SHARED))
def test_one_layer_is_used_again(name: str) -> None:
    text = assert_same(model_fn(SHARED[name]))
    made = method(text, "__init__", "Model")
    assert made.count("Dense(") + made.count("add_weight(") == 1 and " for " not in made
    assert "reuse" not in text and "_scope" not in text


HELPER = """
def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator") as scope:
        if reuse:
            scope.reuse_variables()
        return tf.layers.dense(x, 3, name="fc")


"""


def test_a_helper_that_tells_its_scope() -> None:
    body = 'predictions = discriminator(features["x"]) - discriminator(features["w"], reuse=True)'
    text = assert_same(model_fn(body, before=HELPER))
    assert method(text, "__init__", "Model").count("Discriminator(") == 1
    assert "reuse" not in text


def test_a_helper_that_asks_for_the_current_scope() -> None:
    before = HELPER.replace(" as scope", "").replace("scope.reuse", "tf.get_variable_scope().reuse")
    body = 'predictions = discriminator(features["x"]) - discriminator(features["w"], reuse=True)'
    text = assert_same(model_fn(body, before=before))
    assert method(text, "__init__", "Model").count("Discriminator(") == 1


def test_helpers_under_a_scope_that_is_told() -> None:
    before = """
    def tower(x):
        return tf.layers.dense(x, 3, name="fc")


    """
    body = """
    with tf.variable_scope("towers") as scope:
        a = tower(features["x"])
        scope.reuse_variables()
        predictions = a - tower(features["w"])
    """
    text = assert_same(model_fn(body, before=before))
    assert method(text, "__init__", "Model").count("Tower(") == 1


def test_layers_that_each_turn_numbers_anew() -> None:
    body = """
    outputs = []
    for i, name in enumerate(["x", "w"]):
        with tf.variable_scope("net", reuse=i > 0):
            outputs.append(tf.layers.dense(features[name], 4))
    predictions = outputs[0] - outputs[1]
    """
    text = migrate(model_fn(body))
    assert method(text, "__init__", "Model").count("Dense(") == 1
    assert 'for name in ["x", "w"]:' in method(text, "call", "Model")


def test_a_counter_that_is_read_stays() -> None:
    body = """
    outputs = []
    for i, name in enumerate(["x", "w"]):
        with tf.variable_scope("net", reuse=i > 0):
            outputs.append(tf.layers.dense(features[name], 4, name="fc") * i)
    predictions = outputs[0] - outputs[1]
    """
    assert 'for i, name in enumerate(["x", "w"]):' in method(assert_same(model_fn(body)), "call", "Model")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (  # each turn numbers on: a second layer, which TensorFlow 1 does not find
            """
            state = features["x"]
            with tf.variable_scope("net") as scope:
                for t in range(2):
                    if t > 0:
                        scope.reuse_variables()
                    state = tf.layers.dense(state, 3)  # HERE
            predictions = state
            """,
            "shared by all turns",
        ),
        (
            """
            x = features["x"]
            with tf.variable_scope("net") as scope:
                for t in range(2):
                    if t > 0:
                        scope.reuse_variables()
                    x = tf.layers.dense(x, t + 1, name="fc")  # HERE
            predictions = x
            """,
            "shared by all turns",
        ),
        (
            """
            with tf.variable_scope("net") as scope:
                a = tf.layers.dense(features["x"], 3, name="fc")
                with tf.variable_scope("inner") as inner:
                    pass
                inner.reuse_variables()  # HERE
                predictions = a - tf.layers.dense(features["w"], 3, name="fc")
            """,
            "",
        ),
        (
            """
            x = 0.0
            for i, y in enumerate([*tf.unstack(features["x"]), features["w"]]):
                x += tf.layers.dense(y, 3)  # HERE
            predictions = x
            """,
            "under a loop or a condition over tensors",
        ),
        (
            """
            x = 0.0
            for i, y in enumerate(tf.unstack(features["x"])):
                x += tf.layers.dense(y, 3, name="fc_%d" % i, reuse=tf.AUTO_REUSE)  # HERE
            predictions = x
            """,
            "under a loop or a condition over tensors",
        ),
        (
            """
            with tf.variable_scope("net") as scope:
                a = tf.layers.dense(features["x"], 3, name="fc")
                predictions = a - tf.layers.dense(features["w"], 3, name="fc")  # HERE
                scope.reuse_variables()
            """,
            "shared by two calls",
        ),
    ],
)
def test_what_is_left(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body))


def test_a_helper_that_tells_the_scope_of_its_caller_is_left() -> None:
    before = """
    def tower(x, reuse):
        if reuse:
            tf.get_variable_scope().reuse_variables()
        return tf.layers.dense(x, 3, name="fc")


    """
    body = """
    a = tower(features["x"], False)
    predictions = a - tower(features["w"], True)
    """
    assert "which scope is told to reuse" in manual_reason(model_fn(body, before=before))


TWICE = """
def network(x, dropout, reuse, is_training):
    with tf.variable_scope("net", reuse=reuse):
        h = tf.layers.dense(x, 4)
        h = tf.layers.dropout(h, rate=dropout, training=is_training)
        return tf.layers.dense(h, 3)


"""
BOTH = """
trained = network(features["x"], 0.5, reuse=False, is_training=True)
tested = network(features["x"], 0.5, reuse=True, is_training=False)
predictions = trained - tested
"""


def test_calls_that_share_may_fix_the_training_otherwise() -> None:
    text = migrate(model_fn(BOTH, before=TWICE))
    assert method(text, "__init__", "Model").count("Network(") == 1
    call = method(text, "call", "Model")
    assert 'self.network(features["x"], training=True)' in call
    assert 'self.network(features["x"], training=False)' in call
    assert "def call(self, x, training=False):" in text and "rate=dropout" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("reuse=True", "reuse=params['again']"),  # perhaps not shared
        ("0.5, reuse=True", "0.1, reuse=True"),  # the layer of the second call is another one
        ('features["x"], 0.5, reuse=True', 'features["w"], 0.25, reuse=True'),
    ],
)
def test_calls_that_may_not_share_all_are_left(old: str, new: str) -> None:
    assert "share some of their variables" in manual_reason(model_fn(BOTH.replace(old, new), before=TWICE))


def test_calls_that_share_nothing_keep_their_flags() -> None:
    before = TWICE.replace(", reuse=reuse", "").replace("reuse, ", "")
    body = BOTH.replace("reuse=False, ", "").replace("reuse=True, ", "")
    text = migrate(model_fn(body.replace("tested = ", "with tf.variable_scope('t'):\n    tested = "), before=before))
    assert method(text, "__init__", "Model").count("Network(") == 2
