"""Numbers that both arms of a condition add to one name."""

from __future__ import annotations

import importlib

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.normalise.functions import hoisted_counts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

importlib.import_module("migrator.rules.program.desugarings")
SOURCE = """import tensorflow as tf


def network(x, units, last):
    width = 0
    for n in units:
        if n != last:
            x, y = tf.split(x, 2, axis=1)
            width += n // 2
        else:
            y = x
            width += n
    return y, width
"""


def expanded(source: str) -> str:
    module = Module("program.py", source)
    drafts = Drafts(Project({"program.py": module}))
    drafts.apply(hoisted_counts.expand.expand(drafts, module, module.tree.body[1]))  # type: ignore[arg-type]
    return drafts.project.modules["program.py"].text


def test_it_is_added_before() -> None:
    text = expanded(SOURCE)
    assert (
        "        width += n // 2 if n != last else n\n        if n != last:\n" in text and text.count("width +=") == 1
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y = x\n", "y = x * width\n"),  # reads what it is so far
        ("y = x\n", "n = x\n"),  # changes what is added
        ("if n != last:", "if check(n):"),
        ("width += n // 2", "width += size(n)"),
        ("width += n // 2", "width -= n // 2"),
        ("            width += n\n", ""),
        ("x, y = tf.split(x, 2, axis=1)", "last = y = x"),
        ("            y = x\n", ""),  # what is left would have no statement
    ],
)
def test_left_alone(old: str, new: str) -> None:
    source = SOURCE.replace(old, new)
    assert source != SOURCE and expanded(source) == source
