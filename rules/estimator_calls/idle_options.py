"""Options of a program that were read by what is gone: nothing reads them any more, though callers may still give them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Edit

_WHOLE = (b"vars(", b"__dict__", b"flag_values_dict", b"getattr(", b"_get_kwargs")
"""What may read options without naming them."""


def idle_options(modules: Mapping[str, Module], edits: Iterable[Edit]) -> Iterator[tuple[Module, ast.Call, str]]:
    """Calls like ``DEFINE_string("name", …)`` and ``add_argument("--name")`` whose option something read before `edits` alone."""
    defined = [(module, call) for module in modules.values() for call in module.nodes(ast.Call) if _defined(call)]
    if not defined or any(each in module.source for module in modules.values() for each in _WHOLE):
        return
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    before, left = set[str](), set[str]()
    for path, module in modules.items():
        before |= _named(module)
        try:
            left |= _named(_after(module, by_path[path]) if path in by_path else module)
        except SyntaxError:  # told elsewhere
            return
    for module, call in defined:
        if (name := _defined(call)) in before - left:
            yield module, call, f"nothing reads the option `{name}` any more"


def _after(module: Module, edits: list[Edit]) -> Module:
    """A file with its edits."""
    return Module(module.path, splice(module.source, edits).decode("utf-8", "surrogatepass"))


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
