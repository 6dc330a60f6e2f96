"""What a migration leaves without a use: options that nothing reads any more, and files that hold nothing but imports."""

from __future__ import annotations

import ast
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
        after = {path: _after(modules[path], mine) for path, mine in by_path.items()}
        yield from _options(modules, after)
        yield from _files(modules, after)
    except (SyntaxError, ValueError):  # edits that nothing can make, which the engine tells of
        return


def _after(module: Module, edits: list[Edit]) -> Module:
    """A file with its edits, which is parsed already if it was laid out so."""
    text = splice(module.source, edits).decode("utf-8", "surrogatepass")
    laid_out: Module | None = module.memo.get("laid out")
    return laid_out if laid_out is not None and laid_out.text == text else Module(module.path, text)


def _files(modules: Mapping[str, Module], after: Mapping[str, Module]) -> Iterator[tuple[Module, ast.AST, str]]:
    """Files whose functions and classes all went elsewhere."""
    for path, new in after.items():
        held, left = ([s for s in module.tree.body if not _says_nothing(s)] for module in (modules[path], new))
        if held and not left and os.path.basename(path) != "__init__.py":
            yield (
                modules[path],
                held[0],
                "nothing is left of this file but imports: delete it, unless another program needs it",
            )


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is an import, or a text."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or isinstance(statement, (ast.Import, ast.ImportFrom))


def _options(modules: Mapping[str, Module], after: Mapping[str, Module]) -> Iterator[tuple[Module, ast.AST, str]]:
    """Calls like ``DEFINE_string("name", …)`` and ``add_argument("--name")`` whose option something read before alone."""
    defined = [(module, call) for module in modules.values() for call in module.nodes(ast.Call) if _defined(call)]
    if not defined or any(each in module.source for module in modules.values() for each in _WHOLE):
        return
    before, left = set[str](), set[str]()
    for path, module in modules.items():
        before |= _named(module)
        left |= _named(after.get(path, module))
    for module, call in defined:
        if (name := _defined(call)) in before - left:
            yield module, call, f"nothing reads the option `{name}` any more"


def _named(module: Module) -> set[str]:
    """Attributes that a file reads, and what its strings may name."""
    defined = {call.args[0] for call in module.nodes(ast.Call) if _defined(call)}
    constants = (node for node in walk(module.tree) if isinstance(node, ast.Constant) and node not in defined)
    texts = {node.value for node in constants if isinstance(node.value, str)}
    return texts | {n.attr for n in module.nodes(ast.Attribute) if isinstance(n.ctx, ast.Load)}


def _defined(call: ast.Call) -> str:
    """The name of the option that a call defines."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    known = isinstance(first, str) and (name == "add_argument" or name.startswith("DEFINE"))
    return str(first).lstrip("-").replace("-", "_") if known else ""
