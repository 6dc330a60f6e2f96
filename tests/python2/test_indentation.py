"""Tabs and blanks."""

from __future__ import annotations

import ast

import pytest

from migrator.python2.indentation import consistent

MIXED = """\
def f(a,
\tb):
\tx = 1
        y = '''
\tstays'''
\t# about z
        z = g(1,
              2)
\tif x:
\t    return y
# the end
"""


def test_levels_become_four_blanks() -> None:
    with pytest.raises(TabError):
        ast.parse(MIXED)
    assert (
        consistent(MIXED)
        == """\
def f(a,
        b):
    x = 1
    y = '''
\tstays'''
    # about z
    z = g(1,
          2)
    if x:
        return y
# the end
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        "if a:\n\tx\n\tif b:\n\t\ty\n",
        "if a:\n  x\n  if b:\n      y\n",
        "if a:\n\tx = f(1,\n\t      2)\n",
        "x = '''\n\ta\n  b'''\n",
        "",
    ],
)
def test_one_kind_stays(text: str) -> None:
    assert consistent(text) == text


def test_form_feeds_stay() -> None:
    assert consistent("if a:\n\tx\n\x0c        y\n") == "if a:\n    x\n\x0c    y\n"
