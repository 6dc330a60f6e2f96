"""Iterators that a model_fn keeps in a name."""

from __future__ import annotations

import pytest
from desugared import INPUT, TRAIN, plain
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run, units

NETWORK = """import tensorflow as tf


def model_fn(features, labels, mode, params):
    layers = {made}
    net = features["x"]
{loop}
    predictions = tf.layers.dense(net, 1)
    {loss}
    {train_op}
    {spec}


"""
MADE = 'map(int, params["layers"].split(","))'
EACH = "    for units in layers:\n        net = tf.layers.dense(net, units)"
ESTIMATOR = 'estimator = tf.estimator.Estimator(model_fn, params={"layers": "4,2"})\n'


def program(loop: str, made: str = MADE) -> str:
    return NETWORK.format(made=made, loop=loop, loss=LOSS, train_op=TRAIN_OP, spec=SPEC) + INPUT + ESTIMATOR + TRAIN


@pytest.mark.parametrize(
    "loop",
    [
        EACH,
        "    for i in range(len(layers)):\n        net = tf.layers.dense(net, layers[i])",
        "    for i, units in enumerate(layers):\n        net = tf.layers.dense(net, units, name='layer_%d' % i)",
        "    for i in range(1):\n        net = tf.layers.dense(net, list(layers)[i])",
    ],
)
def test_it_becomes_a_list(loop: str) -> None:
    assert 'list(map(int, params["layers"].split(",")))' in plain(program(loop))


@pytest.mark.parametrize(
    "loop",
    [
        f"{EACH}\n{EACH}",
        "    for _ in range(2):\n        for units in layers:\n            net = tf.layers.dense(net, units)",
        "    net = tf.layers.dense(net, next(layers))",
        "    for i in range(1):\n        net = tf.layers.dense(net, len(list(layers)))",
        "    for i in range(1):\n        net = tf.layers.dense(net, sum(list(layers)[1:]) + 1)",
        f"    for i in range(1):\n        net = tf.layers.dense(net, list(layers)[0])\n{EACH}",
    ],
)
def test_one_that_may_be_empty_is_none(loop: str) -> None:
    outcomes = run(program(loop), style="auto")
    assert "list(map(" not in outcomes["program.py"].after.decode()
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]


def test_a_function_of_the_program_is_another() -> None:
    text = "def map(function, values):\n    return [function(value) for value in values]\n\n\n"
    source = program(EACH).replace("def model_fn", text + "def model_fn")
    assert "list(map(" not in run(source, style="auto")["program.py"].after.decode()
