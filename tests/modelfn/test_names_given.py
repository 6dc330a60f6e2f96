"""Names of variables that helpers make of what their calls give them."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn, run, units

DICE = """
def dice(x, is_training, name=""):
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        alpha = tf.get_variable("alpha" + name, [4], initializer=tf.zeros_initializer())
    normed = tf.layers.batch_normalization(x, center=False, name=name, training=is_training)
    p = tf.sigmoid(normed)
    return alpha * (1.0 - p) * x + p * x
"""
END = f"""
{LOSS}
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    {TRAIN_OP}
{SPEC}
"""


def dice(use: str, before: str = DICE) -> str:
    return model_fn(f'training = mode == "train"\n{use}', end=END, before=before)


def variables(source: str) -> dict[str, str]:
    (unit,) = units(run(source))
    return dict(unit.variables)


def test_each_call_tells_names_apart() -> None:
    source = dice('x = dice(features["x"], training, "one")\npredictions = dice(x, training, name="two")')
    assert method(migrate(source), "__init__", "Model").count("Dice(") == 2
    assert {"alphaone": "one.alpha", "two/gamma": "two.normed.gamma"}.items() <= variables(source).items()


def test_turns_of_a_loop() -> None:
    use = 'x = features["x"]\nfor i in range(2):\n    x = dice(x, training, name="dice_%d" % i)\npredictions = x'
    assert variables(dice(use))["alphadice_*"] == "dice_layers.*.alpha"


@pytest.mark.parametrize(
    "name",
    ['"%s_alpha" % name', '"{}_alpha".format(name)', 'f"{name}_alpha"', 'name + "_alpha"', '"%s_%s" % (name, "alpha")'],
)
def test_names_that_are_formatted(name: str) -> None:
    source = dice('predictions = dice(features["x"], training, "one")', DICE.replace('"alpha" + name', name))
    migrate(source)
    found = variables(source)
    assert "one_alpha" in found or name.startswith('"%s_%s"')


def test_numbers_in_names() -> None:
    before = (
        DICE.replace('name=""', "number")
        .replace('"alpha" + name', '"alpha%d" % number')
        .replace("name=name", 'name="n%d" % number')
    )
    source = dice('x = dice(features["x"], training, 1)\npredictions = dice(x, training, 2)', before)
    assert {"alpha1", "alpha2", "n2/gamma"} <= set(variables(source))


PAIR = """
def pair(x, first, second):
    with tf.variable_scope("pair", reuse=tf.AUTO_REUSE):
        a = tf.get_variable(first, [4])
        b = tf.get_variable("b_" + second, [4])
    return x * a + b
"""


def test_one_variable_under_two_names_is_left() -> None:
    source = model_fn('predictions = pair(features["x"], "b_w", "w")', before=PAIR)
    assert "`pair/b_w` is shared by two calls" in manual_reason(source)


@pytest.mark.parametrize("arguments", ['params["first"], "w"', '"b_a", params["second"]', '"b_%d" % params["n"], "w"'])
def test_names_that_may_be_one_are_left(arguments: str) -> None:
    source = model_fn(f'predictions = pair(features["x"], {arguments})', before=PAIR)
    assert "under a name that is not a literal" in manual_reason(source)


def test_names_that_differ() -> None:
    source = model_fn('predictions = pair(features["x"], "a", "w")', before=PAIR)
    migrate(source)
    assert {"pair/a", "pair/b_w"} <= set(variables(source))


def test_names_that_only_an_outer_helper_tells() -> None:
    outer = '\n\ndef outer(x, name):\n    return tf.nn.relu(pair(x, name, name + "_2"))\n'
    source = model_fn('predictions = outer(features["x"], "w")', before=PAIR + outer)
    migrate(source)
    assert {"pair/w", "pair/b_w_2"} <= set(variables(source))
    source = model_fn('predictions = outer(features["x"], params["n"])', before=PAIR + outer)
    assert "not a literal" in manual_reason(source)


def test_in_a_model_fn_nothing_tells() -> None:
    body = """
    with tf.variable_scope("pair", reuse=tf.AUTO_REUSE):
        a = tf.get_variable(params["first"], [4])
        b = tf.get_variable("b", [4])
    predictions = features["x"] * a + b
    """
    assert "not a literal" in manual_reason(model_fn(body))
