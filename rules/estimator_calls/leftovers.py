"""What a migration leaves without a use: options that nothing reads any more, and files that hold nothing but imports."""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterable, Iterator, Mapping

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Edit

_WHOLE = (b"vars(", b"__dict__", b"flag_values_dict", b"getattr(", b"_get_kwargs")
"""What may read options without naming them."""


def leftovers(modules: Mapping[str, Module], edits: Iterable[Edit]) -> Iterator[tuple[Module, ast.AST, str]]:
    """What is left without a use after `edits` of some files, and what the owner should know of it."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    try:
        after = {path: _Changed(modules[path], mine) for path, mine in by_path.items()}
        yield from _options(modules, after)
        yield from _files(modules, after)
    except (SyntaxError, ValueError):  # edits that nothing can make, which the engine tells of
        return


class _Changed:
    """A file, and what its edits make of it."""

    def __init__(self, module: Module, edits: list[Edit]) -> None:
        self._module = module
        self._edits = edits

    @functools.cached_property
    def result(self) -> Module:
        """The file with its edits, which is parsed already if it was laid out so."""
        text = splice(self._module.source, self._edits).decode("utf-8", "surrogatepass")
        laid_out: Module | None = self._module.memo.get("laid out")
        return laid_out if laid_out is not None and laid_out.text == text else Module(self._module.path, text)

    def keeps(self, node: ast.expr | ast.stmt) -> bool:
        """Whether no edit touches a node, so that it is in the result as well: most need no look at that."""
        start, end = self._module.span(node)
        return all(edit.end < start or end < edit.start for edit in self._edits)


def _files(modules: Mapping[str, Module], after: Mapping[str, _Changed]) -> Iterator[tuple[Module, ast.AST, str]]:
    """Files whose functions and classes all went elsewhere."""
    for path, changed in after.items():
        held = [statement for statement in modules[path].tree.body if not _says_nothing(statement)]
        if not held or os.path.basename(path) == "__init__.py" or any(map(changed.keeps, held)):
            continue
        if all(map(_says_nothing, changed.result.tree.body)):
            yield (
                modules[path],
                held[0],
                "nothing is left of this file but imports: delete it, unless another program needs it",
            )


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is an import, or a text."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or isinstance(statement, (ast.Import, ast.ImportFrom))


def _options(modules: Mapping[str, Module], after: Mapping[str, _Changed]) -> Iterator[tuple[Module, ast.AST, str]]:
    """Calls like ``DEFINE_string("name", …)`` and ``add_argument("--name")`` whose option something read before alone."""
    defined = [(module, call) for module in modules.values() for call in module.nodes(ast.Call) if _defined(call)]
    if not defined or any(each in module.source for module in modules.values() for each in _WHOLE):
        return
    names = {_defined(call) for _, call in defined}
    before, left = set[str](), set[str]()
    for path, module in modules.items():
        changed = after.get(path)
        found = [(name, node) for name, node in _named(module) if name in names]
        before.update(name for name, _ in found)
        left.update(name for name, node in found if changed is None or changed.keeps(node))
    for changed in after.values() if not before <= left else ():
        left.update(name for name, _ in _named(changed.result))
    for module, call in defined:
        if (name := _defined(call)) in before - left:
            yield module, call, f"nothing reads the option `{name}` any more"


def _named(module: Module) -> Iterator[tuple[str, ast.expr]]:
    """Attributes that a file reads, and what its strings may name."""
    defined = {call.args[0] for call in module.nodes(ast.Call) if _defined(call)}
    for node in walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in defined:
            yield node.value, node
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr, node


def _defined(call: ast.Call) -> str:
    """The name of the option that a call defines."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    known = isinstance(first, str) and (name == "add_argument" or name.startswith("DEFINE"))
    return str(first).lstrip("-").replace("-", "_") if known else ""
