"""Gradients that are taken after a step of another optimizer, which may read the weights that it has moved."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, PATH, SPEC, manual_reason, method, migrate, model_fn, run, units

STEP = "tf.train.get_global_step()"
BODY = """
with tf.variable_scope("lower"):
    net = tf.layers.dense(features["x"], 4, tf.nn.relu, name="hidden")
with tf.variable_scope("upper"):
    scale = tf.get_variable("scale", [4])
    predictions = tf.layers.dense(net * scale, 1, name="out")
"""
REASON = "after a step of another optimizer may read the weights that it moves"
ONE = """
first = tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables("{}"))
with tf.control_dependencies([first]):
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, {}, var_list=tf.trainable_variables("{}"))
"""


def program(train: str, body: str = BODY, before: str = "") -> str:
    return model_fn(body, end=f"{LOSS}\n{train}\n{SPEC}", before=before)


@pytest.mark.parametrize("first", ["upper", "upper/scale", "upper/out"])
def test_the_way_to_the_second_leads_through_the_first(first: str) -> None:
    assert REASON in manual_reason(program(ONE.format(first, STEP, "lower")))


@pytest.mark.parametrize(("first", "second"), [("lower", "upper"), ("upper/out", "upper/scale")])
def test_gradients_computed_in_order(first: str, second: str) -> None:
    train = f"""
optimizer = tf.train.AdagradOptimizer(0.1)
own = tf.trainable_variables("{second}")
one = tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables("{first}"))
with tf.control_dependencies([one]):
    pairs = optimizer.compute_gradients(loss, own)
    train_op = optimizer.apply_gradients(pairs, {STEP})
"""
    if first == "lower":  # the activations of before are all that the second needs
        assert method(migrate(program(train)), "train_step").count(".apply_gradients(") == 2
    else:
        assert REASON in manual_reason(program(train))


@pytest.mark.parametrize(
    "train",
    [
        # nothing says which is first
        ONE.replace("with tf.control_dependencies([first]):\n    train_op", "second")
        + "train_op = tf.group(first, second)",
        # the gradients were there before
        """
optimizer = tf.train.AdagradOptimizer(0.1)
own = tf.trainable_variables("lower")
pairs = optimizer.compute_gradients(loss, own)
first = tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables("upper"))
with tf.control_dependencies([first]):
    train_op = optimizer.apply_gradients(pairs, {1})
""",
    ],
)
def test_gradients_that_wait_for_nothing(train: str) -> None:
    migrate(program(train.format("upper", STEP, "lower")))


def test_resources_keep_what_was_read() -> None:
    text = migrate(program(ONE.format("upper", STEP, "lower"), before="import tensorflow.compat.v1 as tf\n"))
    assert method(text, "train_step").count(".apply_gradients(") == 2


def bridged(dependency: str, head: str, end: str = "") -> str:
    """How the Estimator of a program with `dependency` is made, as a graph."""
    train = (
        f"with tf.control_dependencies({dependency}):\n    train_op = tf.train.AdamOptimizer().minimize(loss, {STEP})"
    )
    outcomes = run(program(train + end, before=f"{head}\n"), "bridge")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    return outcomes[PATH].after.decode().split("estimator = ")[1]


V1, COMPAT = "import tensorflow as tf", "import tensorflow.compat.v1 as tf"
UPDATES = "tf.get_collection(tf.GraphKeys.UPDATE_OPS)"


@pytest.mark.parametrize(
    ("dependency", "head", "marked"),
    [
        ("[predictions]", COMPAT, True),
        ("[predictions]", V1, False),
        ("[predictions]", f"{COMPAT}\ntf.disable_v2_behavior()", False),
        (UPDATES, COMPAT, False),
    ],
)
def test_a_graph_is_told_what_its_variables_were(dependency: str, head: str, marked: bool) -> None:
    text = bridged(dependency, head)
    assert ("graph_model(with_resources(model_fn), params=PARAMS)" in text) is marked
    assert ("graph_model(model_fn, params=PARAMS)" in text) is not marked
