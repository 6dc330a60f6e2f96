"""Functions that make variables in files that the model reaches through values only."""

from __future__ import annotations

import textwrap

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf
{imports}

def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    logits = {network}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{"y": logits}})
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

estimator = tf.estimator.Estimator(model_fn, params={params})
"""
NETS = """\
import tensorflow as tf

def deep(x, training):
    return tf.layers.dense(x, 1)

def plain(x, training):
    return x * 2.0

class Wide:
    def build(self, x, training):
        return tf.layers.dense(x, 1)

MODELS = {"deep": deep, "plain": plain}
LATER = {}
LATER["deep"] = deep
SAFE = {"plain": plain}
REGISTERED = {}

def register(function):
    REGISTERED[function.__name__] = function
    return function

@register
def found(x, training):
    return tf.layers.dense(x, 1)

def get_model(name):
    return MODELS[name]

def later(name):
    return LATER[name]

def registered(name):
    return REGISTERED[name]

def made(name):
    return Wide()

def get_safe(name):
    return SAFE[name]
"""


def tier(imports: str, network: str, params: str) -> tuple[str, str]:
    text = PROGRAM.format(imports=imports, network=network, params=params)
    files = {"program.py": text, "nets.py": NETS}
    outcomes = migrate_component(
        [decode(name, textwrap.dedent(content).encode()) for name, content in files.items()], Settings()
    )
    unit = next(unit for outcome in outcomes for unit in outcome.units)
    nets = next(outcome for outcome in outcomes if outcome.path == "nets.py")
    if unit.tier == "bridge":
        assert "tf.compat.v1.layers.dense" in nets.after.decode()
    return unit.tier, unit.reason


@pytest.mark.parametrize(
    "imports, network, params",
    [
        ("from nets import get_model", 'get_model("deep")(features["x"], training)', "{}"),
        ("import nets", 'nets.get_model("deep")(features["x"], training)', "{}"),
        ("import nets", 'nets.later("deep")(features["x"], training)', "{}"),
        ("import nets", 'nets.registered("found")(features["x"], training)', "{}"),
        ("import nets", 'nets.made("wide").build(features["x"], training)', "{}"),
        ("from nets import MODELS", 'MODELS.get("deep")(features["x"], training)', "{}"),
        ("import nets", 'getattr(nets, params["name"])(features["x"], training)', '{"name": "deep"}'),
        ("import nets", 'params["network"](features["x"], training)', '{"network": nets.deep}'),
    ],
)
def test_variables_behind_a_value_go_through_the_bridge(imports: str, network: str, params: str) -> None:
    found, reason = tier(imports, network, params)
    assert found == "bridge"
    unmoved = "tf.layers.dense is in code that does not move with the model_fn (nets.py:"
    several = "a helper that makes layers is used outside of the model as well (nets.py:"
    assert reason.startswith((unmoved, several, "a function that makes layers is used for more than a call (nets.py:"))


@pytest.mark.parametrize(
    "imports, network, params",
    [
        ("from nets import get_safe", 'tf.layers.dense(get_safe("plain")(features["x"], training), 1)', "{}"),
        ("from nets import plain", 'tf.layers.dense(plain(features["x"], training), 1)', "{}"),
        ("import nets", 'tf.layers.dense(params["network"](features["x"], training), 1)', '{"network": nets.plain}'),
    ],
)
def test_what_the_model_does_not_reach_is_no_obstacle(imports: str, network: str, params: str) -> None:
    assert tier(imports, network, params) == ("native", "")
