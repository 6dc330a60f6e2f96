"""Static loops and conditions: one layer per turn, each applied in its turn, none twice and none left out."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

TRAINING = "training=mode == tf.estimator.ModeKeys.TRAIN"
UNITS = {"units": [3, 4, 5], "last": 2, "deep": True}

BODIES = {
    "for": """
        x = features["x"]
        for units in params["units"]:
            x = tf.layers.dense(x, units)
        predictions = tf.layers.dense(x, params["last"])
    """,
    "enumerate, both read": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            x = tf.layers.dense(x, units, name="layer_%d" % i) * i
        predictions = x
    """,
    "enumerate, counter read in call only": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            x = tf.layers.dense(x, units) + i
        predictions = x
    """,
    "enumerate, counter read in __init__ only": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            x = tf.layers.dense(x, units * (i + 1))
        predictions = x
    """,
    "range(len())": """
        x = features["x"]
        units = params["units"]
        for i in range(len(units)):
            x = tf.layers.dense(x, units[i])
            if i < len(units) - 1:
                x = tf.nn.relu(x)
        predictions = x
    """,
    "reversed": """
        x = features["x"]
        for units in reversed(params["units"]):
            x = tf.layers.dense(x, units)
        predictions = x
    """,
    "literal tuple": """
        x = features["x"]
        for units in (8, 4):
            x = tf.layers.dense(x, units)
        predictions = x
    """,
    "empty loop": """
        x = features["x"]
        for units in params["units"][:0]:
            x = tf.layers.dense(x, units)
        predictions = tf.layers.dense(x, 1)
    """,
    "no name for the turn": """
        x = features["x"]
        for _ in range(3):
            x = tf.layers.dense(x, 4)
        predictions = x
    """,
    "several layers a turn": f"""
        x = features["x"]
        for units in params["units"]:
            x = tf.layers.dense(x, units)
            x = tf.layers.batch_normalization(x, {TRAINING})
            x = tf.nn.relu(x)
            x = tf.layers.dropout(x, 0.1, {TRAINING})
        predictions = x
    """,
    "two layers in one statement": """
        x = features["x"]
        for units in params["units"]:
            x = tf.layers.dense(x, units, name="a") + tf.layers.dense(tf.nn.relu(x), units, name="b")
        predictions = x
    """,
    "two loops": """
        x = features["x"]
        for units in params["units"]:
            x = tf.layers.dense(x, units)
        for units in params["units"]:
            x = tf.layers.dense(x, units + 1)
        predictions = x
    """,
    "nested loops": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            for j in range(2):
                x = tf.layers.dense(x, units + j) * i
            x = tf.layers.dense(x, 7)
        predictions = x
    """,
    "condition in a loop": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            if i != 1:
                x = tf.layers.dense(x, units)
            x = tf.layers.dense(x, 9)
        predictions = x
    """,
    "condition with else in a loop": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            if i % 2:
                x = tf.layers.dense(x, units)
            else:
                x = tf.layers.dense(x, 1) + tf.layers.dense(x, 2)
        predictions = x
    """,
    "condition in nested loops": """
        x = features["x"]
        for units in params["units"]:
            for j in range(2):
                if j:
                    x = tf.layers.dense(x, units)
                x = tf.nn.relu(x)
        predictions = x
    """,
    "a list grows": """
        outputs = [features["x"]]
        for units in params["units"]:
            outputs.append(tf.layers.dense(outputs[-1], units))
        predictions = tf.concat(outputs, 1)
    """,
    "a counter by hand": """
        x = features["x"]
        count = 0
        for units in params["units"]:
            x = tf.layers.dense(x, units + count)
            count += 1
        predictions = x
    """,
    "loop without layers": """
        x = features["x"]
        for units in params["units"]:
            x = x * units
        predictions = tf.layers.dense(x, 1)
    """,
    "loop in a scope, scope in a loop": """
        x = features["x"]
        with tf.variable_scope("net"):
            for i, units in enumerate(params["units"]):
                with tf.variable_scope("block%d" % i):
                    x = tf.layers.dense(x, units)
        predictions = x
    """,
    "objects before the loop": """
        x = features["x"]
        shared = tf.layers.Dense(3)
        for units in params["units"]:
            x = shared(tf.layers.dense(x, units))
        predictions = x
    """,
    "static if": """
        x = features["x"]
        if params["deep"]:
            x = tf.layers.dense(x, 5)
        predictions = tf.layers.dense(x, 1)
    """,
    "static if, elif, else": """
        x = features["x"]
        if not params["deep"]:
            x = tf.layers.dense(x, 5)
        elif params["last"] == 2:
            x = tf.layers.dense(x, 6)
        else:
            x = tf.nn.relu(x)
        predictions = tf.layers.dense(x, 1)
    """,
    "conditional expression": """
        x = features["x"]
        x = tf.layers.dense(x, 5) if params["deep"] else x
        predictions = tf.layers.dense(x, 1)
    """,
    "units by condition": """
        if params["deep"]:
            units = 10
        else:
            units = 20
        predictions = tf.layers.dense(features["x"], units)
    """,
    "variables": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            w = tf.get_variable("w%d" % i, [units])
            b = tf.get_variable("b%d" % i, [i])
            x = x * w + b
        predictions = x
    """,
    "variables of one name in two loops": """
        x = features["x"]
        for i in range(2):
            w = tf.get_variable("one%d" % i, [i])
            x = x * w
        for i in range(3):
            w = tf.get_variable("other%d" % i, [i])
            x = x + w
        predictions = x
    """,
    "variables in nested loops": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            for j in range(2):
                w = tf.get_variable("w_%d_%d" % (i, j), [units])
                x = x * w
        predictions = x
    """,
    "variables by condition": """
        x = features["x"]
        for i, units in enumerate(params["units"]):
            x = x * 2
            if i > 0:
                w = tf.get_variable("w%d" % i, [units])
                x = x * w
        predictions = x
    """,
    "variables in a dict": """
        tables = {}
        for units in params["units"]:
            tables[units] = tf.get_variable("t%d" % units, [units, 2])
        predictions = features["x"] * tables[4] + tables[3]
    """,
    "variables in a list": """
        weights = []
        for units in params["units"]:
            w = tf.get_variable("w%d" % units, [units])
            weights.append(w)
        predictions = features["x"] * weights[0] + weights[-1]
    """,
    "variables of two loops in one list": """
        weights = []
        for units in params["units"]:
            w = tf.get_variable("w%d" % units, [units])
            weights.append(w)
        for units in params["units"]:
            w = tf.get_variable("v%d" % units, [units + 1])
            weights.append(w)
        predictions = features["x"] * weights[0] + weights[-1]
    """,
    "objects in a loop": """
        x = features["x"]
        for units in params["units"]:
            dense = tf.layers.Dense(units)
            x = dense(x)
        predictions = x
    """,
    "continue without layers": """
        x = features["x"]
        for units in params["units"]:
            if units == 4:
                continue
            x = x * units
        predictions = tf.layers.dense(x, 1)
    """,
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_same_network(name: str) -> None:
    assert_same(model_fn(BODIES[name]), **UNITS)


def test_other_arm_of_static_conditions() -> None:
    for name in ("static if", "static if, elif, else", "units by condition"):
        assert_same(model_fn(BODIES[name]), units=[3], last=1, deep=False)


def test_a_list_of_layers_as_a_comprehension() -> None:
    text = migrate(model_fn(BODIES["for"]))
    assert 'self.dense_layers = [tf.keras.layers.Dense(units) for units in params["units"]]' in method(text, "__init__")
    assert "for dense in self.dense_layers:\n        x = dense(x)\n" in method(text, "call")


def test_variables_keep_the_names_that_their_loop_gives_them() -> None:
    text = migrate(model_fn(BODIES["variables"]))
    assert "for w, b in zip(self.w_variables, self.b_variables):\n        x = x * w + b\n" in method(text, "call")


def test_a_counter_of_a_range_counts_the_layers() -> None:
    text = migrate(model_fn(BODIES["range(len())"]))
    assert "for i, dense in enumerate(self.dense_layers):" in method(text, "call")


def test_methods_do_not_repeat_what_they_do_not_read() -> None:
    body = """
    units = params["units"]
    depth = len(units)
    x = features["x"]
    for i in range(depth):
        x = tf.layers.dense(x, units[i])
    predictions = x
    """
    text = assert_same(model_fn(body), **UNITS)
    assert "units" not in method(text, "call") and "depth = len(units)" in method(text, "__init__")


def test_names_of_layers_name_the_lists() -> None:
    text = migrate(model_fn(BODIES["enumerate, both read"]))
    assert "self.layer_layers" in text or "self.layers_" in text
    assert 'name="layer_%d" % i' in method(text, "__init__")
    assert "layer_%d" not in method(text, "call")


def test_a_missing_layer_keeps_the_lists_aligned() -> None:
    text = migrate(model_fn(BODIES["condition in a loop"]))
    assert ".append(None)" in method(text, "__init__")


# -- left alone -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            """
            x = features["x"]
            for units in params["units"]:
                if units:  # HERE
                    for u in units:
                        x = tf.layers.dense(x, u)
            predictions = x
            """,
            "a loop under a condition inside a loop",
        ),
        (
            """
            x = features["x"]
            for units in params["units"]:
                x = tf.layers.dense(x, units)
            else:
                x = x * 2.0
            predictions = x
            """,
            "loop with an `else`",
        ),
        (
            """
            x = features["x"]
            while params["more"]():
                x = tf.layers.dense(x, 3)
            predictions = x
            """,
            "",
        ),
        ("predictions = (lambda x: tf.layers.dense(x, 3))(features['x'])  # HERE", "lambda"),
        (
            """
            predictions = 0.0
            for key in sorted(features):
                predictions += tf.layers.dense(features[key], 3)
            """,
            "",
        ),
        ("predictions = tf.layers.dense(features['x'], *params['a'])  # HERE", "hidden behind"),
        (
            """
            x = features["x"]
            for units in params["units"]:
                w = tf.get_variable("w%d" % units, [units])
                x = x * w
            predictions = x + w  # HERE
            """,
            "another turn of the loop",
        ),
        (
            """
            x = features["x"]
            w = 1.0
            for units in params["units"]:
                x = x * w
                w = tf.get_variable("w%d" % units, [units])  # HERE
            predictions = x
            """,
            "something else in another",
        ),
        (
            """
            x = features["x"]
            for units in params["units"]:
                if units > 3:
                    w = tf.get_variable("w%d" % units, [units])
                else:
                    w = tf.get_variable("v%d" % units, [units])
                x = x * w  # HERE
            predictions = x
            """,
            "another turn of the loop",
        ),
        (
            """
            x = features["x"]
            weights = {}
            for units in params["units"]:
                weights[units] = tf.get_variable("w%d" % units, [units])
                x = x * weights[units]  # HERE
            predictions = x
            """,
            "in the loop that fills it",
        ),
        ("predictions = tf.layers.dense(features['x'], **params)  # HERE", "hidden behind"),
    ],
)
def test_left_alone(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body))
