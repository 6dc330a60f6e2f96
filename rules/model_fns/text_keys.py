"""Dicts of weights whose keys are numbers or tuples: a checkpoint holds those of dicts with texts for keys alone."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code

_WEIGHTS = frozenset({"tensorflow.get_variable", "tensorflow.Variable", "tensorflow.contrib.framework.model_variable"})


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such dict, of which nothing but its entries is used; none if there is no more.

    ```python
    import tensorflow as tf


    def network(x, names):
        tables = {}
        for a in names:
            for b in names:
                tables[a, b] = tf.get_variable(a + b, [20, 4])
        return tf.nn.embedding_lookup(tables[names[0], names[1]], x)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x, names):
        tables = {}
        for a in names:
            for b in names:
                tables[f"{a}_{b}"] = tf.get_variable(a + b, [20, 4])
        return tf.nn.embedding_lookup(tables[f"{names[0]}_{names[1]}"], x)
    ```
    """
    entries_set = (n.value for n in walk(function) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    filled = {value.id for value in entries_set if isinstance(value, ast.Name)}
    for name, bindings in module.scope(function).bindings.items() if filled else ():
        if name not in filled or len(bindings) != 1 or not isinstance(bindings[0].node, ast.Name):
            continue
        uses = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name and n is not bindings[0].node]
        parents = [(use, module.parent(use)) for use in uses]
        entries = [parent for use, parent in parents if isinstance(parent, ast.Subscript) and parent.value is use]
        stores = [entry for entry in entries if isinstance(entry.ctx, ast.Store)]
        if len(entries) < len(uses) or not stores or not all(_is_weight(module, entry) for entry in stores):
            continue
        keys = [_text(module, entry.slice) for entry in entries]
        if all(isinstance(entry.slice, ast.Tuple) for entry in entries) or any(
            _is_count(module, entry.slice) for entry in stores
        ):
            if all(keys):
                changes = [Replace(entry, code(f"{name}[{key}]")) for entry, key in zip(entries, keys)]
                return Change.of(module, *changes)
    return []


def _is_weight(module: Module, entry: ast.Subscript) -> bool:
    """Whether an entry is set to a weight."""
    statement = module.parent(entry)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and module.resolve(value.func) in _WEIGHTS


def _is_count(module: Module, key: ast.expr) -> bool:
    """Whether a key counts the turns of a loop, or is a number."""
    if isinstance(key, ast.Constant):
        return type(key.value) is int
    bound = [binding.node for binding in module.bindings(key)] if isinstance(key, ast.Name) else []
    return bool(bound) and all(node is not None and _counts(module, node) for node in bound)


def _counts(module: Module, node: ast.AST) -> bool:
    """Whether a name is the number of a turn: of `range`, or the first of `enumerate`."""
    above = module.parent(node)
    loop = module.parent(above) if isinstance(above, ast.Tuple) and above.elts[0] is node else above
    head = loop.iter if isinstance(loop, (ast.For, ast.comprehension)) else None
    if not isinstance(head, ast.Call) or not isinstance(head.func, ast.Name) or module.bindings(head.func):
        return False
    return head.func.id == ("enumerate" if loop is not above else "range")


def _text(module: Module, key: ast.expr) -> str | None:
    """The key as a text; None where it is none that is followed."""
    parts = key.elts if isinstance(key, ast.Tuple) else [key]
    if any(isinstance(part, ast.Starred) for part in parts):
        return None
    if len(parts) == 1:
        return f'"{ast.unparse(key)}"' if isinstance(key, ast.Constant) else f"str({module.segment(key)})"
    texts = [_literal(p) if isinstance(p, ast.Constant) else f"{{{module.segment(p)}}}" for p in parts]
    plain = not any('"' in text or "\\" in text or "\n" in text for text in texts)
    return f'f"{"_".join(texts)}"' if plain else None


def _literal(node: ast.Constant) -> str:
    return node.value if isinstance(node.value, str) else ast.unparse(node)
