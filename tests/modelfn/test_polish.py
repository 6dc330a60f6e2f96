"""Names and quotes of generated classes are those that the owner would have written."""

from __future__ import annotations

import ast
import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, method, migrate, model_fn

from migrator.emit.polishing.polish import polished
from migrator.resolve.module import Module

RENAMED = {"f_x": "x", "f_y": "y", "f_labels": "labels"}


def named(text: str) -> str:
    return polished(textwrap.dedent(text), Module("a.py", ""), RENAMED)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("def go(a):\n    f_x = a\n    return f_x\n", "def go(a):\n    x = a\n    return x\n"),
        ("def go(x):\n    f_x = g(x)\n    return f_x\n", "def go(x):\n    x = g(x)\n    return x\n"),
        ("def go(a):\n    f_x = a\n    return lambda: f_x\n", "def go(a):\n    x = a\n    return lambda: x\n"),
        ("    def go(a):\n        f_x, b = a\n        h(f_x=f_x)\n", "    def go(a):\n        x, b = a\n        h(f_x=x)\n"),
    ],
)  # fmt: skip
def test_names_go_back(text: str, after: str) -> None:
    assert polished(text, Module("a.py", ""), RENAMED) == after
    assert named(textwrap.indent(text, "    ")) == textwrap.dedent(after)


@pytest.mark.parametrize(
    "text",
    [
        "def go(x):\n    f_x = x\n    return f_x + x\n",  # still read
        "def go(x):\n    for _ in x:\n        f_x = g(x)\n    return f_x\n",
        "def go(self, x):\n    f_x = g()\n    return f_x\n",  # the parameter has nothing to do with it
        "def go(a):\n    f_x = a\n    return f_x + x\n",  # of the module
        "def go(a):\n    f_x = a\n    return [f_x + x for x in a]\n",
        "def go(a):\n    f_x = a\n    return lambda x: f_x + x\n",
        "def go(a):\n    f_x = a\n    return f'{f_x}'\n",
        "def go(a):\n    global f_x\n    f_x = a\n",
        "def go(a):\n    def x():\n        pass\n    f_x = a\n    return f_x\n",
        "def go(a):\n    import b as x\n    f_x = a\n    return f_x\n",
        "def go(x):\n    h(lambda: x)\n    f_x = g(x)\n    return f_x\n",  # would see the new one
        "def go(f_x):\n    return f_x\n",
        "def go(a):\n    return [f_x for f_x in a]\n",
        "print(f_x)\n",
        "class A:\n    f_x = 1\n",
    ],
)
def test_names_stay(text: str) -> None:
    assert named(text) == text


SINGLE = "a = 'a', 'b', 'c', 'd'\n"


@pytest.mark.parametrize(
    ("source", "text", "after"),
    [
        (SINGLE, 'f("z", r"y", b"x")\n', "f('z', r'y', b'x')\n"),
        (SINGLE, 'def f():\n    """Docs."""\n    return "z"\n', 'def f():\n    """Docs."""\n    return \'z\'\n'),
        (SINGLE, '  def f():\n    return {"z": g("y")}\n', "  def f():\n    return {'z': g('y')}\n"),
        (SINGLE, 'f("it\'s", "a\\n", "", \'"\')\n', "f(\"it's\", \"a\\n\", '', '\"')\n"),
        (SINGLE + 'b = "z"\n', 'f("z", "y")\n', "f(\"z\", 'y')\n"),  # what the file has stays
        ('a = "a", "b", \'c\'\n', 'f("z")\n', 'f("z")\n'),
        ("a = 'a'\n", 'f("z")\n', 'f("z")\n'),  # too few to tell
        ("", 'f("z")\n', 'f("z")\n'),
    ],
)
def test_quotes_are_those_of_the_file(source: str, text: str, after: str) -> None:
    assert polished(text, Module("a.py", source), {}) == after


@pytest.mark.parametrize("source", [SINGLE, 'a = "a"\n'])
def test_no_string_gets_another_value(source: str) -> None:
    text = 'f("a", "it\'s", \'"\', "\\\\", "é", f"{x}", f"a{x!r}b", """t""", "{}", "%d")  # "comment"\n'
    after = polished(text, Module("a.py", source), {})
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text)) and '"comment"' in after


HELPER = """
def warmed(rate, step):
    step = tf.cast(step, tf.float32)
    slow = tf.train.exponential_decay(rate, tf.cast(step, tf.int64), 10, 0.5)
    return tf.minimum(slow, step / 10.0)


def loss_of(labels, outputs):
    labels = tf.cast(labels, tf.float32)
    return 0.5 * tf.losses.mean_squared_error(labels, outputs)
"""


def test_helpers_keep_their_names() -> None:
    body = """
    predictions = tf.layers.dense(features["x"], 1)
    loss = loss_of(labels, predictions)
    rate = warmed(params["rate"], tf.train.get_global_step())
    train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())
    """
    text = migrate(model_fn(body, end=SPEC, before=HELPER))
    assert "    labels = tf.cast(y, tf.float32)\n" in method(text, "compute_loss")
    lines = method(text, "__call__", "Rate").splitlines()
    assert lines[0] == "def __call__(self, step):" and "    step = tf.cast(step, tf.float32)" in lines
    assert lines[-1] == "    return tf.minimum(slow, step / 10.0)"


def test_arguments_on_lines_of_their_own_stay_so() -> None:
    after = """
    estimator = tf.estimator.Estimator(model_fn, params=PARAMS)
    estimator.train(
        input_fn=F,
        steps=1,
    )
    estimator.evaluate(
        F, steps=1)
    estimator.train(  # why
        F)
    estimator.train(input_fn=F,
                    steps=1)
    """
    body = 'predictions = tf.layers.dense(features["x"], 1)'
    text = migrate(model_fn(body, end=f"{LOSS}\n{TRAIN_OP}\n{SPEC}", after=after))
    assert "train(\n    estimator,\n    input_fn=F,\n    steps=1,\n)\n" in text
    assert "evaluate(\n    estimator, F, steps=1)\n" in text
    assert "train(\n    estimator,  # why\n    F)\n" in text
    assert "train(estimator, input_fn=F,\n      steps=1)\n" in text
