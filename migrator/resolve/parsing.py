"""Parses Python, also while other threads of the process do.

Python 3.11.7, 3.12.1 and older count the depth of a syntax tree in one place for the whole process (CPython issue 106905).
Where the garbage collector runs in the middle of `ast.parse`, and some finalizer or another thread parses as well, that
says `SystemError: AST constructor recursion depth mismatch` about good text. Printing a traceback is enough to parse.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def syntax_tree(text: str | bytes, path: str = "<unknown>") -> ast.Module:
    """The tree of a file. Raises SyntaxError, ValueError, RecursionError or MemoryError."""
    return _undisturbed(lambda: ast.parse(text, filename=path))


def expression_tree(text: str) -> ast.expr:
    """The tree of an expression. Raises as `syntax_tree` does."""
    return _undisturbed(lambda: ast.parse(text, mode="eval")).body


def _undisturbed(parse: Callable[[], T]) -> T:
    """What `parse` gives; where something else came in between, once more, with nothing that could."""
    try:
        return parse()
    except SystemError:
        was_enabled = gc.isenabled()
        gc.disable()  # without it, no Python code runs and no thread takes over before the tree is made
        try:
            return parse()
        finally:
            if was_enabled:
                gc.enable()
