"""Templates become calls that share their layers; those that may mean more stay."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

TOWER = """
def make_tower(x, units=3):
    return tf.layers.dense(x, units, name="dense")
"""


def program(body: str, before: str = TOWER) -> str:
    """A model_fn with `body`."""
    return model_fn(body, before=before)


@pytest.mark.parametrize(
    "body",
    [
        'tower = tf.make_template("tower", make_tower)\npredictions = tower(features["x"]) + tower(features["w"])',
        'tower = tf.make_template("tower", make_tower, units=3)\na = tower(features["x"])\n'
        'predictions = a + tower(features["w"])',
        'tower = tf.make_template("tower", make_tower, create_scope_now_=None)\n'
        'with tf.variable_scope("both"):\n    a = tower(features["x"])\n    predictions = a + tower(x=features["w"])',
    ],
)
def test_the_calls_of_a_template_share_one_layer(body: str) -> None:
    text = migrate(program(body))
    assert method(text, "__init__", of="Model").count("= Tower(") == 1
    assert method(text, "call", of="Model").count("self.tower(") == 2
    assert "template" not in text


def test_what_a_template_is_given_is_given_in_each_call() -> None:
    body = (
        'tower = tf.make_template("tower", make_tower, units=params["units"])\n'
        'predictions = tower(features["x"]) + tower(features["w"], units=params["units"])'
    )
    assert 'Tower(params["units"])' in migrate(program(body)).replace("units=", "")


@pytest.mark.parametrize(
    "body",
    [
        'tower = tf.make_template("tower", make_tower)\nwith tf.variable_scope("a"):\n    a = tower(features["x"])\n'
        'with tf.variable_scope("b"):\n    predictions = a + tower(features["w"])',
        'tower = tf.make_template("tower", make_tower)\ntowers = [tower]\npredictions = towers[0](features["x"])',
        'tower = tf.make_template(params["scope"], make_tower)\npredictions = tower(features["x"])',
        'tower = tf.make_template("tower", make_tower, unique_name_="one")\npredictions = tower(features["x"])',
        'tower = tf.make_template("tower", make_tower, **params["more"])\npredictions = tower(features["x"])',
        'a = tf.make_template("t", make_tower)\nb = tf.make_template("t", make_tower)\n'
        'predictions = a(features["x"]) + b(features["x"])',
        'predictions = tf.make_template("tower", make_tower)(features["x"])',
        'units = 3\ntower = tf.make_template("tower", make_tower, units=units)\na = tower(features["x"])\nunits = 4\n'
        'predictions = a + tower(features["x"], units=units)',
    ],
)
def test_other_templates_are_left(body: str) -> None:
    assert "make_template" in manual_reason(program(body))


@pytest.mark.parametrize(
    "body",
    [
        'tower = tf.make_template("t", lambda x: make_tower(x))\npredictions = tower(features["x"])',
        'tower = tf.make_template("t", make_tower)\nwith tf.variable_scope("t"):\n    a = make_tower(features["x"])\n'
        'predictions = a + tower(features["w"])',
    ],
)
def test_templates_of_what_else_there_is_are_left(body: str) -> None:
    manual_reason(program(body))
