"""Blank lines around lines that go."""

from __future__ import annotations

import pytest

from migrator.engine.fixes import splice
from migrator.engine.spacing import spaced
from migrator.vocabulary.diagnostics import Edit


def edited(source: str, *changes: tuple[str, str]) -> str:
    """`source` after each first text in it was replaced by the second one."""
    edits = []
    for old, new in changes:
        start = source.index(old)
        edits.append(Edit("program.py", start, start + len(old), new))
    return splice(source.encode(), spaced(source.encode(), edits)).decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = 1\n\nx = 1\n\nb = 2\n", "a = 1\n\nb = 2\n"),
        ("a = 1\n\nx = 1\n\n\ndef f():\n", "a = 1\n\n\ndef f():\n"),
        ("a = 1\n\n\nx = 1\n\nb = 2\n", "a = 1\n\n\nb = 2\n"),
        ("def f():\n    x = 1\n\n    return 2\n", "def f():\n    return 2\n"),
        ("x = 1\n\nb = 2\n", "b = 2\n"),
        ("a = 1\r\n\r\nx = 1\r\n\r\nb = 2\r\n", "a = 1\r\n\r\nb = 2\r\n"),
        ("a = 1\nx = 1\n\nb = 2\n", "a = 1\n\nb = 2\n"),
        ("a = 1\n\nx = 1\nb = 2\n", "a = 1\n\nb = 2\n"),
        ("a = 1\n\nx = 1\n", "a = 1\n\n"),
    ],
)
def test_blank_lines_of_one_side_are_enough(source: str, expected: str) -> None:
    start = source.index("x = 1")
    indent = len(source[:start]) - len(source[:start].rstrip(" "))
    line = source[start - indent :].splitlines(keepends=True)[0]
    assert edited(source, (line, "")) == expected


def test_lines_that_go_one_below_the_other() -> None:
    source = "a = 1\n\nx = 1\ny = 2\n\nb = 2\n"
    assert edited(source, ("y = 2\n", ""), ("x = 1\n", "")) == "a = 1\n\nb = 2\n"


@pytest.mark.parametrize(
    "change",
    [("x = 1\n", "x = 3\n"), ("x = 1", ""), (" = 1\n\nx = 1", " = 1"), ("\n", "\nimport os\n")],
)
def test_what_leaves_or_puts_something_is_left_alone(change: tuple[str, str]) -> None:
    source = "a = 1\n\nx = 1\n\nb = 2\n"
    assert edited(source, change) == source.replace(*change, 1)


def test_lines_that_take_the_place_of_others() -> None:
    source = "a = 1\n\nx = 1\n\nb = 2\n"
    edits = [Edit("p.py", 7, 13, ""), Edit("p.py", 7, 7, "y = 1\n")]
    assert splice(source.encode(), spaced(source.encode(), edits)).decode() == "a = 1\n\ny = 1\n\nb = 2\n"
    edits = [Edit("p.py", 7, 13, ""), Edit("p.py", 13, 13, "y = 1\n")]
    assert splice(source.encode(), spaced(source.encode(), edits)).decode() == "a = 1\n\ny = 1\n\nb = 2\n"
