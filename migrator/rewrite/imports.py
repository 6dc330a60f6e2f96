"""Where a new import fits into a file."""

from __future__ import annotations

import ast
import sys

from migrator.resolve.text import Text
from migrator.vocabulary.diagnostics import Edit

from .changes import Import

_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset({"argparse", "json", "os", "sys", "time"}))


def import_position(text: Text, tree: ast.Module) -> int:
    """Byte offset of the line before which a new top-level import fits: the first TensorFlow import of the file, else after
    the imports at its head, the docstring and ``__future__`` imports."""
    last: ast.stmt | None = None
    for index, node in enumerate(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names]
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            level = node.level if isinstance(node, ast.ImportFrom) else 0
            roots = {name.partition(".")[0] for name in ([module] if module else names)}
            if "tensorflow" in roots and not level and text.indent(node) is not None:
                return text.line_span(node)[0]
            last = node
        elif index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            last = node
        elif last is not None and not isinstance(node, ast.Try):
            break
    return text.line_span(last)[1] if last is not None else _header_end(text)


def add_import(text: Text, tree: ast.Module, change: Import) -> Edit:
    """Insert import statements as lines of their own: where the change says, among those of the standard library, or at
    `import_position`."""
    new = "".join(line + text.newline for line in change.statement.splitlines())
    if change.above is not None:
        return text.insert(text.line_span(change.above)[0], new + text.newline * change.apart)
    below = change.below or above_standard(tree, change.statement)
    position = text.line_span(below)[1] if below is not None else import_position(text, tree)
    lead = "" if position == 0 or text.source[position - 1 : position] in (b"\n", b"\r") else text.newline
    return text.insert(position, lead + text.newline * (change.apart and position > 0) + new)


def above_standard(tree: ast.Module, statement: str) -> ast.stmt | None:
    """The import of the standard library at the head of a file below which that of another of its modules stands, in the
    order of names."""
    if not statement.startswith("import ") or statement.split()[1].partition(".")[0] not in _STANDARD:
        return None
    above: ast.stmt | None = None
    for node in tree.body:
        named = node.names[0].name if isinstance(node, ast.Import) else ""
        apart = above is not None and node.lineno > (above.end_lineno or 0) + 1
        if apart or named and named.partition(".")[0] not in _STANDARD or f"import {named}" > statement:
            break
        above = node if named else above
    return above


def _header_end(text: Text) -> int:
    """After the shebang and the comments at the head of a file without imports or docstring."""
    position = 0
    for start in text.line_starts[1:]:
        if not text.source[position:start].lstrip().startswith(b"#"):
            break
        position = start
    return position
