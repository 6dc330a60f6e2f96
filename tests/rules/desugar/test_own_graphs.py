"""Sessions beside an Estimator on the default graph, with all that they run made in their block."""

from __future__ import annotations

import textwrap

import pytest
from desugared import ESTIMATOR, MODEL, TRAIN
from modelfn.programs import run

HEAD = """rows = [1.0, 2.0]


def first(batches):
    return batches.make_one_shot_iterator().get_next()


"""


def after(body: str, before: str = "", behind: str = "", made: str = "tf.Session()") -> str:
    """What becomes of a program with such a block."""
    block = f"{before}with {made} as sess:\n" + textwrap.indent(body, "    ")
    return run(MODEL + HEAD + block + behind + ESTIMATOR + TRAIN)["program.py"].after.decode()


@pytest.mark.parametrize(
    "body",
    [
        "print(sess.run(tf.reduce_mean(rows)))\n",
        "total = sess.run(tf.reduce_sum(tf.constant(rows)))\n",
        "x = tf.placeholder(tf.float32)\nprint(sess.run(x + 1, {x: rows}))\n",
    ],
)
def test_it_gets_a_graph(body: str) -> None:
    text = after(body, behind="print(total)\n" if "total" in body else "")
    assert "with tf.compat.v1.Session(graph=tf.Graph()) as sess:" in text and ".fit(" in text


@pytest.mark.parametrize(
    ("body", "before", "behind"),
    [
        ("print(sess.run(total))\n", "total = tf.reduce_sum(rows)\n", ""),
        ("print(sess.run(total()))\n", "def total():\n    return sum_\n\n\nsum_ = tf.reduce_sum(rows)\n", ""),
        ("print(sess.run(total + 1))\n", "total = first(make_input_fn(8, 1)())['x']\n", ""),
        ("total = tf.reduce_sum(rows)\nprint(sess.run(total))\n", "", "print(total)\n"),
        ("saver = tf.train.Saver()\nsaver.restore(sess, 'x')\n", "", ""),
        ("print(sess.run(tf.random_normal([2])))\n", "tf.set_random_seed(1)\n", ""),
    ],
)
def test_what_reaches_out_of_its_block_stays(body: str, before: str, behind: str) -> None:
    text = after(body, before, behind)
    assert "with tf.Session() as sess:" in text and ".fit(" not in text


def test_one_that_has_a_graph_keeps_it() -> None:
    text = after("print(sess.run(1.0))\n", "graph = tf.Graph()\n", made="tf.Session(graph=graph)")
    assert "Session(graph=graph)" in text
