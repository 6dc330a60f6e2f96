"""Statements that edits made too long, or moved away from the lines that continue them."""

from __future__ import annotations

from migrator.engine.fixes import splice
from migrator.engine.layout import laid_out
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

LONG = "a_long_name_of_a_function_of_some_package_that_was_renamed_to_an_even_longer_one"


def edited(source: str, *changes: tuple[str, str], path: str = "program.py") -> str:
    """`source` after each first text in it was replaced by the second one, and laid out."""
    module = Module(path, source)
    edits = []
    for old, new in changes:
        start = source.index(old)
        edits.append(Edit(path, len(source[:start].encode()), len(source[: start + len(old)].encode()), new))
    return splice(module.source, laid_out({path: module}, edits)).decode()


ARGUMENTS = "first_argument, second_argument, third_argument"


def test_a_statement_becomes_too_long() -> None:
    source = f"def f():\n    x = g({ARGUMENTS}, 'ä')\n    return x\n"
    after = edited(source, ("g(", f"{LONG}("))
    assert after == f"def f():\n    x = {LONG}(\n        {ARGUMENTS}, 'ä'\n    )\n    return x\n"


def test_two_edits_of_one_statement_and_others_around_it() -> None:
    source = f"a = 1\nx = g({ARGUMENTS}, h)\nb = 2\n"
    after = edited(source, ("a = 1", "a = 3"), ("g(", f"{LONG}("), (", h)", ", hh)"), ("b = 2\n", ""))
    assert after == f"a = 3\nx = {LONG}(\n    {ARGUMENTS}, hh\n)\n"


def test_a_statement_inside_of_what_an_edit_puts_in() -> None:
    new = f"class A:\n  def f(self):\n    return {LONG}({ARGUMENTS}, 1, 2)"
    after = edited("x = 1\nx = 2\n", ("x = 1", new))
    broken = f"class A:\n  def f(self):\n    return {LONG}(\n      {ARGUMENTS}, 1, 2\n    )"
    assert after == f"{broken}\nx = 2\n"


def test_lines_that_continue_a_bracket_move_with_it() -> None:
    assert edited("x = g(a,\n      b)\n", ("g(", "package.g(")) == "x = package.g(a,\n              b)\n"
    assert edited("x = g(a,\n      b)\n", ("a,", "aa,")) == "x = g(aa,\n      b)\n"


def test_windows_line_breaks() -> None:
    assert edited("x = g(a,\r\n      b)\r\n", ("g(", "longer(")) == "x = longer(a,\r\n           b)\r\n"


def test_left_alone() -> None:
    long = f"x = {LONG}({ARGUMENTS}, 1234)\n"
    assert len(long) > 120
    for source, change in [
        (f"y = 1\n{long * 2}", ("y = 1", "y = 2")),  # not touched
        (f"x = g({ARGUMENTS})  # why\n", ("g(", f"{LONG}(")),  # a comment
        (f"x = g({ARGUMENTS}); y = 1\n", ("g(", f"{LONG}{LONG}(")),  # two statements
        ("if a: x = g(b)\n", ("g(", f"{LONG}{LONG}(")),
        ("x = g(b,\n      )\n", ("b", "(")),  # what cannot be parsed is somebody else's
    ]:
        old, new = change
        assert edited(source, change) == source.replace(old, new, 1)


def test_what_is_put_in_at_one_place_keeps_its_order() -> None:
    source = "x = 1\ny = 2\n"
    module, path, at = Module("program.py", source), "program.py", len("x = 1\n")
    first, second = f"a = {LONG}({ARGUMENTS}, 1)\n", "b = a\n"
    edits = laid_out({path: module}, [Edit(path, at, at, first), Edit(path, at, at, second)])
    after = splice(module.source, edits).decode()
    assert after == f"x = 1\na = {LONG}(\n    {ARGUMENTS}, 1\n)\nb = a\ny = 2\n"
