"""Initializers that several weights start with."""

from __future__ import annotations

import ast
import textwrap
from importlib import import_module

import pytest
from modelfn.programs import method, migrate, model_fn

from migrator.engine.fixes import splice
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

own_initializers = import_module("migrator.rules.initializers.own_initializers")
MADE = "tf.truncated_normal_initializer(stddev=0.1)"
HEAD = "import tensorflow as tf\n\n\n"


def expanded(text: str, function: str = "net") -> str:
    """The program after all steps in one of its functions."""
    text = HEAD + textwrap.dedent(text).strip("\n") + "\n"
    while True:
        module = Module("program.py", text)
        drafts = Drafts(Project({"program.py": module}))
        (found,) = [n for n in module.nodes(ast.FunctionDef) if n.name == function]
        changes = own_initializers.expand.expand(drafts, module, found)
        if not changes:
            return text[len(HEAD) :].strip("\n")
        text = splice(module.source, [change.edit for change in changes]).decode()


LOCAL = """
def net(x, n):
    init = {made}
    x = tf.layers.dense(x, n, kernel_initializer=init)
    return tf.layers.dense(x, n, kernel_initializer=init)
"""
LOOP = """
def net(x, n):
    init = {made}
    for _ in range(n):
        x = tf.layers.dense(x, n, kernel_initializer=init)
    return x
"""
GLOBAL = """
INIT = {made}


def net(x, n):
    return tf.layers.dense(x, n, kernel_initializer=INIT)
"""
DEFAULT = """
def net(x, n, init={made}):
    return tf.layers.dense(x, n, kernel_initializer=init)


net(net(1, 2), 3)
"""
SCOPE = """
def net(x, n):
    init = {made}
    with tf.variable_scope("net", initializer=init):
        return tf.layers.dense(x, n)
"""
MAKER = """
def make(stddev):
    return tf.truncated_normal_initializer(stddev=stddev)


""" + LOCAL.replace("{made}", "make(0.1)")


@pytest.mark.parametrize("text", [LOCAL, LOOP, GLOBAL, SCOPE])
@pytest.mark.parametrize("made", [MADE, "tf.initializers.he_normal()", "tf.contrib.layers.xavier_initializer()"])
def test_each_weight_gets_its_own(text: str, made: str) -> None:
    after = expanded(text.format(made=made))
    assert "init = " not in after and "INIT" not in after and f"initializer={made}" in after


def test_a_default_that_no_call_changes() -> None:
    after = expanded(DEFAULT.format(made=MADE))
    assert f"kernel_initializer={MADE}" in after and "def net(x, n):" in after


GIVEN = """
SCALE = 0.1


def net(x, n, init):
    for _ in range(n):
        x = tf.layers.dense(x, n, kernel_initializer=init)
    return x


net(net(1, 2, {first}), 3, init={second})
"""


def test_what_all_calls_make_alike() -> None:
    made = "tf.truncated_normal_initializer(stddev=SCALE)"
    after = expanded(GIVEN.format(first=made, second=made))
    assert f"kernel_initializer={made}" in after and "def net(x, n):" in after and "net(net(1, 2), 3)" in after


@pytest.mark.parametrize(
    ("first", "second"), [(MADE, MADE.replace("0.1", "0.2")), (MADE, "None"), ("load()", "load()")]
)
def test_what_calls_give_otherwise_stays(first: str, second: str) -> None:
    text = GIVEN.format(first=first, second=second)
    assert expanded(text) == text.strip("\n")


def test_a_call_that_makes_it_of_its_own_values_stays() -> None:
    made = "tf.truncated_normal_initializer(stddev=rate)"
    text = GIVEN.format(first=made, second=made).replace("net(net(", "def f(rate):\n    net(net(")
    assert expanded(text) == text.strip("\n")


def test_what_a_function_of_the_program_makes() -> None:
    after = expanded(MAKER)
    assert after.count("kernel_initializer=make(0.1)") == 2 and "init = " not in after


@pytest.mark.parametrize(
    "text",
    [
        LOCAL.format(made="tf.zeros_initializer()"),
        LOCAL.format(made="tf.constant_initializer(0.1)"),
        LOCAL.format(
            made="tf.keras.initializers.GlorotUniform()"
        ),  # which gives the same values in the old program, too
        LOCAL.format(made="load()"),
        LOCAL.format(made=MADE).replace("    x = tf", "    print(init.stddev)\n    x = tf"),
        LOCAL.format(made="tf.truncated_normal_initializer(stddev=n)").replace(
            "    x = tf", "    n = n + 1\n    x = tf"
        ),
        LOCAL.format(made=MADE).replace("kernel_initializer=init)\n    return", "name='a')\n    return"),  # one use
        DEFAULT.format(made=MADE).replace("net(1, 2)", "net(1, 2, None)"),
        SCOPE.format(made=MADE).replace("initializer=init", "partitioner=init or None"),
    ],
)
def test_other_values_stay(text: str) -> None:
    assert expanded(text) == text.strip("\n")


def test_layers_under_a_scope_and_in_a_loop() -> None:
    body = """
    init = tf.random_uniform_initializer(-0.1, 0.1)
    net = features["x"]
    with tf.variable_scope("net", initializer=init):
        for _ in range(2):
            net = tf.layers.dense(net, 4)
        w = tf.get_variable("w", [4, 1])
    predictions = net @ w
    """
    made = method(migrate(model_fn(textwrap.dedent(body))), "__init__")
    assert made.count("tf.keras.initializers.RandomUniform(-0.1, 0.1)") == 2 and "init = " not in made
