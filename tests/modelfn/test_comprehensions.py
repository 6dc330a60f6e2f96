"""Layers that comprehensions make, loops over tensors next to plain values, and lengths of lists of tensors."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

UNITS = {"units": [3, 4, 5], "last": 2, "deep": True}

BODIES = {
    "list": """
        x = features["x"]
        experts = [tf.layers.dense(x, units) for units in params["units"]]
        predictions = tf.concat(experts, 1)
    """,
    "counted": """
        x = features["x"]
        experts = [tf.layers.dense(x, units * i, name="expert_%d" % i) + i for i, units in enumerate(params["units"])]
        predictions = tf.concat(experts, 1)
    """,
    "range": """
        x = features["x"]
        predictions = tf.concat([tf.layers.dense(x, 2, name="e%d" % k) for k in range(params["last"])], 1)
    """,
    "dict": """
        x = features["x"]
        towers = {units: tf.layers.dense(x, units) for units in params["units"]}
        predictions = towers[3] + towers[5]
    """,
    "generator": """
        x = features["x"]
        predictions = sum(tf.layers.dense(x, units) for units in params["units"])
    """,
    "two loops": """
        x = features["x"]
        parts = [tf.layers.dense(x, units * i) for units in params["units"] for i in range(2)]
        predictions = tf.concat(parts, 1)
    """,
    "nested": """
        x = features["x"]
        parts = [tf.concat([tf.layers.dense(x, units * i) for i in range(2)], 1) for units in params["units"]]
        predictions = tf.concat(parts, 1)
    """,
    "in loops": """
        x = features["x"]
        for units in params["units"]:
            for j in range(2):
                x = tf.concat([tf.layers.dense(x, units + j, name="d_%d" % k) for k in range(2)], 1)
        predictions = x
    """,
    "under a condition": """
        x = features["x"]
        if params["deep"]:
            x = tf.add_n([tf.layers.dense(x, 4, name="expert_%d" % k) for k in range(3)])
        predictions = tf.layers.dense(x, 1)
    """,
    "tensors next to plain values": """
        inputs = [features["x"], features["w"], features["z"]]
        outputs = [tf.layers.dense(x, units) for x, units in zip(inputs, params["units"])]
        predictions = tf.concat(outputs, 1)
    """,
    "a loop over tensors next to plain values": """
        inputs = [features["x"], features["w"], features["z"]]
        outputs = []
        for i, (units, x) in enumerate(zip(params["units"], inputs)):
            outputs.append(tf.layers.dense(x, units + i, name="tower_%d" % i) * i)
        predictions = tf.concat(outputs, 1)
    """,
    "a loop over tensors that are written out": """
        predictions = 0.0
        for x in (features["x"], features["w"]):
            predictions += tf.layers.dense(x, 4)
    """,
    "a loop that counts tensors that are written out": """
        predictions = 0.0
        for i, x in enumerate([features["x"], features["w"], 2.0 * features["x"]]):
            with tf.variable_scope("tower_%d" % i):
                h = tf.layers.dense(x, 3 + i, name="hidden")
                predictions += tf.layers.dense(h, 2, name="out")
    """,
    "pairs that are written out": """
        predictions = 0.0
        for x, factor in ((features["x"], 2.0), (features["w"], 3.0)):
            predictions += factor * tf.layers.dense(x, 4)
    """,
    "two lists that are written out": """
        x, w = features["x"], features["w"]
        for a, b in zip((x, w), [w, x]):
            x = tf.layers.dense(a - b, 4) + x
        predictions = x
    """,
    "a comprehension over tensors that are written out": """
        x, w = [tf.layers.dropout(t, 0.0, training=mode == "train") for t in (features["x"], features["w"])]
        predictions = tf.layers.dense(x, 3) - tf.add_n([tf.layers.dense(t, 3) for t in (x, w)])
    """,
    "one layer for all that is written out": """
        outputs = []
        for x in (features["x"], features["w"]):
            outputs.append(tf.layers.dense(x, 4, name="shared", reuse=tf.AUTO_REUSE))
        predictions = outputs[0] - 2.0 * outputs[1]
    """,
    "tables in a dict": """
        tables = {units: tf.get_variable("t%d" % units, [units, 2]) for units in params["units"]}
        predictions = features["x"] * tables[4] + tables[3]
    """,
    "tables in a list": """
        tables = [tf.get_variable("t%d" % units, [units, 2]) for units in params["units"]]
        predictions = features["x"] * tables[0] + tables[-1]
    """,
    "layers in a list": """
        layers = [tf.layers.Dense(units) for units in params["units"]]
        x = features["x"]
        for layer in layers:
            x = layer(x)
        predictions = x
    """,
    "length of a list of tensors": """
        x = features["x"]
        experts = [tf.layers.dense(x, 4) for _ in range(params["last"])]
        gate = tf.layers.dense(x, len(experts))
        predictions = tf.concat(experts + [gate], 1)
    """,
    "length of a sum of lists": """
        x = features["x"]
        shared = [tf.layers.dense(x, 4) for _ in range(params["last"] + 1)]
        both = []
        for units in params["units"]:
            experts = [tf.layers.dense(x, units, name="e_%d" % k) for k in range(2)]
            both += experts
            experts = experts + shared
            x = x * tf.layers.dense(x, len(experts))
        both.extend(shared)
        both.append(x)
        predictions = tf.layers.dense(x, len(both)) + tf.concat(both, 1)
    """,
    "length kept in a name": """
        x = features["x"]
        fields = [features["x"], features["w"]]
        n = len(fields)
        predictions = tf.layers.dense(x, n * (n - 1) // 2) * n
    """,
    "a name that another loop walks over too": """
        tables = {}
        for f in params["units"]:
            tables[f] = tf.get_variable("emb_%d" % f, [f, 4])
        parts = []
        for f in params["units"]:
            parts.append(tables[f] * features["x"])
        predictions = tf.layers.dense(tf.concat(parts, 1), 1)
    """,
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_same_network(name: str) -> None:
    assert_same(model_fn(BODIES[name]), **UNITS)


def test_comprehensions_stay_comprehensions() -> None:
    text = migrate(model_fn(BODIES["tensors next to plain values"]))
    assert 'self.dense_layers = [tf.keras.layers.Dense(units) for units in params["units"]]' in method(text, "__init__")
    assert "outputs = [dense(x) for x, dense in zip(inputs, self.dense_layers)]" in method(text, "call")


def test_what_is_written_out_is_counted() -> None:
    text = migrate(model_fn(BODIES["a loop that counts tensors that are written out"]))
    made = method(text, "__init__")
    assert "for i in range(3)]" in made and "for _ in range(3)]" in made and "features" not in made
    assert "for x, hidden, out in zip(" in method(text, "call")


def test_a_comprehension_of_two_loops_has_a_list_of_lists() -> None:
    text = migrate(model_fn(BODIES["two loops"]))
    made = '[[tf.keras.layers.Dense(units * i) for i in range(2)] for units in params["units"]]'
    assert f"self.dense_layers = {made}" in method(text, "__init__")
    assert "[dense(x) for dense_row in self.dense_layers for dense in dense_row]" in method(text, "call")


def test_lists_of_variables_are_made_with_the_model() -> None:
    text = migrate(model_fn(BODIES["tables in a dict"]))
    assert "self.tables = {units: self.add_weight(" in method(text, "__init__")
    assert "self.tables[4] + self.tables[3]" in method(text, "call")


def test_the_length_of_a_list_is_written_out() -> None:
    init = method(migrate(model_fn(BODIES["length of a sum of lists"])), "__init__")
    assert 'tf.keras.layers.Dense(2 + params["last"] + 1)' in init
    assert 'tf.keras.layers.Dense(len(params["units"]) * 2 + params["last"] + 1 + 1)' in init


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            """
            x = features["x"]
            outputs = [tf.layers.dense(x, units) for units in params["units"] if units > 3]  # HERE
            predictions = tf.concat(outputs, 1)
            """,
            "comprehension with a condition",
        ),
        (
            """
            outputs = [tf.layers.dense(x, 3) for x in tf.unstack(features["x"])]  # HERE
            predictions = tf.concat(outputs, 1)
            """,
            "comprehension over tensors",
        ),
        (
            """
            x = features["x"]
            outputs = [tf.layers.dense(t, 3) for t in (x, *tf.unstack(x))]  # HERE
            predictions = tf.concat(outputs, 1)
            """,
            "comprehension over tensors",
        ),
        (
            """
            x = features["x"]
            outputs = [tf.layers.dense(t, units) for t, units in ((x, 3), (2.0 * x, 4))]  # HERE
            predictions = tf.concat(outputs, 1)
            """,
            "known only when data flow",
        ),
        (
            """
            units = 3
            x = features["x"]
            outputs = [tf.layers.dense(x, units) for units in params["units"]]  # HERE
            predictions = tf.concat(outputs, 1) * units
            """,
            "the name of a variable",
        ),
        (
            """
            x = features["x"]
            parts = [x]
            for units in params["units"]:
                if units > 3:
                    parts.append(x * units)
            predictions = tf.layers.dense(x, len(parts))  # HERE
            """,
            "known only when data flow",
        ),
        (
            """
            x = features["x"]
            parts = [x]
            for units in params["units"]:
                x = tf.layers.dense(x, len(parts), name="d%d" % units)  # HERE
                parts.append(x)
            predictions = x
            """,
            "known only when data flow",
        ),
    ],
)
def test_left_alone(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body))
