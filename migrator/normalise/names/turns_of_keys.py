"""Loops over the keys of a dict that the function fills under texts: they are loops over these texts."""

from __future__ import annotations

import ast
import re

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import straight_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import place_of, target_name, walk
from migrator.rewrite import Replace, code

_MAKERS = ("tensorflow.layers.", "tensorflow.keras.layers.", "tensorflow.contrib.", "tensorflow.get_variable")
_PLAIN = re.compile(r"[\w./-]+")


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such loop; none if there is no more.

    ```python
    import tensorflow as tf


    def heads(x):
        maps = {"low": x}
        maps["high"] = tf.layers.conv2d(x, 8, 3)
        found = []
        for number, name in enumerate(sorted(maps)):
            found.append(tf.layers.conv2d(maps[name], 4, 3, name="head_%d" % number))
        return found
    ```
    becomes
    ```python
    import tensorflow as tf


    def heads(x):
        maps = {"low": x}
        maps["high"] = tf.layers.conv2d(x, 8, 3)
        found = []
        for number, name in enumerate(["high", "low"]):
            found.append(tf.layers.conv2d(maps[name], 4, 3, name="head_%d" % number))
        return found
    ```
    """
    straight = list(straight_statements(function.body))
    for loop in straight:
        if isinstance(loop, ast.For) and any(_may_make_layers(drafts, module, node) for node in walk(loop)):
            whole, read, ordered = _iterated(module, loop.iter)
            keys = _keys(module, function, straight, read, loop) if read is not None else []
            if keys:
                texts = (f'"{key}"' for key in (sorted(keys) if ordered else keys))
                return Change.of(module, Replace(whole, code(f"[{', '.join(texts)}]")))
    return []


def _may_make_layers(drafts: Drafts, module: Module, node: ast.AST) -> bool:
    """Whether a node calls what makes layers or variables, or a function of the program."""
    if not isinstance(node, ast.Call):
        return False
    name = module.resolve(node.func) or ""
    return name.startswith(_MAKERS) or drafts.project.definition(module, node.func) is not None


def _iterated(module: Module, node: ast.expr) -> tuple[ast.expr, ast.Name | None, bool]:
    """What goes over keys of a dict, the name of the dict, and whether they are sorted."""
    if isinstance(node, ast.Call) and _is_builtin(module, node.func, "enumerate") and node.args:
        node = node.args[0]
    whole, ordered = node, False
    while isinstance(node, ast.Call) and not node.keywords:
        if len(node.args) == 1 and any(_is_builtin(module, node.func, each) for each in ("sorted", "list", "tuple")):
            ordered = ordered or _is_builtin(module, node.func, "sorted")
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "keys" and not node.args:
            node = node.func.value
        else:
            break
    return whole, node if isinstance(node, ast.Name) else None, ordered


def _is_builtin(module: Module, node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and not module.bindings(node)


def _keys(
    module: Module, function: ast.FunctionDef, straight: list[ast.stmt], read: ast.Name, loop: ast.For
) -> list[str]:
    """The keys that a dict has at a loop, in their order; none where they are not seen, or are no plain texts."""
    found = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == read.id]
    made = [s for s in straight if target_name(s) == read.id and place_of(s) < place_of(loop)]
    if len(made) != 1 or sum(isinstance(node.ctx, ast.Store) for node in found) != 1:
        return []
    value = made[0].value if isinstance(made[0], ast.Assign) else None
    if not isinstance(value, ast.Dict) or any(module.scope(node) is not module.scope(read) for node in found):
        return []
    keys: list[ast.expr | None] = [*value.keys]
    for node in found:
        parent = module.parent(node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            if isinstance(parent.ctx, ast.Load):
                continue
            statement = module.statement(node)
            if statement not in straight or place_of(statement) > place_of(loop) or isinstance(parent.ctx, ast.Del):
                return []
            keys.append(parent.slice)
        elif not isinstance(node.ctx, ast.Store) and node is not read and place_of(node) < _end(loop):
            return []
    texts = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    plain = len(texts) == len(keys) and all(_PLAIN.fullmatch(text) for text in texts)
    return list(dict.fromkeys(texts)) if plain else []


def _end(node: ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
