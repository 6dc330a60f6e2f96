"""Which divisions are whole, which are not, and which nobody knows."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from migrator.python2.divisions import doubtful, with_floor_divisions

WHOLE = [
    "7 / 2",
    "len(xs) / 2",
    "-3 * len(xs) / int(y)",
    "N / len(xs)",
    "FLAGS.rows / N",
    "(len(xs) + 1) / (N)",
    "[i / 2 for i in [1]] and M / 2",
]
FLOAT = [
    "7 / 2.0",
    "x / float(n)",
    "time.time() / n",
    "1.0 * a / b",
    "tf.cast(x, tf.float32) / n",
    "FLAGS.rate / n",
    "R / n",
]
UNKNOWN = ["a / b", "a / 2", "tf.size(x) / 2", "params['n'] / 2", "W / 2", "FLAGS.other / 2", "P / 2"]
HEAD = """\
N = 20
M = N
M += 1
R = 0.5
W = 1
W = unknown()
P = 3
def change():
    global P
    P = 1.5
tf.flags.DEFINE_integer("rows", 3, "")
tf.flags.DEFINE_float("rate", 3, "")
"""


def looked_at(expression: str) -> tuple[str, int]:
    text = with_floor_divisions(f"{HEAD}value = {expression}\n")
    return text[len(HEAD) + len("value = ") : -1], sum(1 for _ in doubtful(ast.parse(text)))


@pytest.mark.parametrize("expression", WHOLE[:-1])
def test_of_two_integers(expression: str) -> None:
    assert looked_at(expression) == (expression.replace("/", "//"), 0)


@pytest.mark.parametrize("expression", FLOAT)
def test_of_a_float(expression: str) -> None:
    assert looked_at(expression) == (expression, 0)


@pytest.mark.parametrize("expression", UNKNOWN)
def test_of_what_nobody_knows(expression: str) -> None:
    assert looked_at(expression) == (expression, 1)


def test_in_functions_and_in_place() -> None:
    text = dedent("""\
        N = 3
        def f(n):
            k = len(n)
            k /= 2
            for i in range(k):
                use(i / 2, n / 2, N / 2)
        def g(N):
            return N / 2
        """)
    new = with_floor_divisions(text)
    assert "k //= 2" in new and "use(i // 2, n / 2, N // 2)" in new and "return N / 2" in new


def test_a_slash_in_a_comment_is_none() -> None:
    text = "x = (1  # a/b\n     / 2)\n"
    assert with_floor_divisions(text) in (text, text.replace("    / 2", "    // 2"))
