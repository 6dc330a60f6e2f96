"""Sessions beside an Estimator that it does not need."""

from __future__ import annotations

import textwrap

import pytest
from desugared import ESTIMATOR, MODEL, TRAIN, below
from modelfn.programs import run

INIT = "sess.run(tf.global_variables_initializer())\n"
BLOCK = "with tf.Session() as sess:\n"


def inside(body: str, head: str = BLOCK) -> str:
    """A program with a block of a session."""
    return MODEL + ESTIMATOR + head + textwrap.indent(body, "    ")


@pytest.mark.parametrize(
    "body",
    [
        INIT + TRAIN,
        "sess.run([tf.global_variables_initializer(), tf.tables_initializer()])\n" + TRAIN,
        "sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))\n"
        + TRAIN
        + "sess.close()\n",
        TRAIN,
    ],
)
def test_a_block(body: str) -> None:
    text = below(inside(body))
    assert "ession" not in text and "sess" not in text and text.endswith("model.fit(make_input_fn(8, None)().take(20))")


def test_a_session_with_a_name() -> None:
    text = below(MODEL + "sess = tf.Session(config=tf.ConfigProto())\n" + INIT + ESTIMATOR + TRAIN + "sess.close()\n")
    assert "sess" not in text


@pytest.mark.parametrize(
    "source",
    [
        inside(TRAIN + "print(sess.run(tf.constant(1)))\n"),
        inside(INIT + TRAIN + "print(tf.constant(1).eval())\n"),
        inside(INIT + "saver = tf.train.Saver()\n" + TRAIN),
        inside(INIT + TRAIN + "keep(sess)\n"),
        inside("sess.run(tf.global_variables_initializer(), feed_dict=FEEDS)\n" + TRAIN),
        MODEL + "sess = tf.InteractiveSession()\n" + INIT + ESTIMATOR + TRAIN + "print(tf.constant(1).eval())\n",
    ],
)
def test_sessions_that_do_more_stay(source: str) -> None:
    text = run(source)["program.py"].after.decode()
    assert "Session(" in text and text.count("sess") >= source.count("sess")
