"""`tf.contrib.estimator.clip_gradients_by_norm(optimizer, norm)` around the optimizer of a canned Estimator.

It clips by the global norm of the gradients, as `global_clipnorm` of a Keras optimizer does.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Edit

CLIP = "tensorflow.contrib.estimator.clip_gradients_by_norm"


def clipped(module: Module, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The optimizer inside of a clipping call, and the norm; None for anything else. Raises Unsupported."""
    if not isinstance(node, ast.Call) or module.resolve(node.func) != CLIP:
        return None
    given = bind(node, "optimizer clip_norm", "clip_gradients_by_norm")
    if set(given) != {"optimizer", "clip_norm"}:
        raise Unsupported("clip_gradients_by_norm without its arguments", node)
    if not isinstance(given["clip_norm"], (ast.Constant, ast.Name, ast.Attribute, ast.Subscript)):
        raise Unsupported("the norm of clip_gradients_by_norm is computed, which is not migrated yet", node)
    return given["optimizer"], given["clip_norm"]


def rebound(module: Module, name: ast.Name) -> tuple[ast.expr, ast.expr, Edit] | None:
    """``x = Optimizer(…)`` and ``x = clip_gradients_by_norm(x, norm)`` below it: the first value, the norm, and the
    deletion of the second statement. None where `name` is bound in any other way, or read in between."""
    scope = module.scope(name).lookup(name.id)
    statements = [module.statement(b.node) for b in module.bindings(name) if isinstance(b.node, ast.Name)]
    if scope is None or len(statements) != 2 or len(scope.bindings.get(name.id, [])) != 2:
        return None
    first, second = sorted(statements, key=lambda statement: module.span(statement))
    if not (isinstance(first, ast.Assign) and isinstance(second, ast.Assign)):
        return None
    found = clipped(module, second.value)
    if found is None or not (isinstance(found[0], ast.Name) and found[0].id == name.id):
        return None
    inside = {id(node) for node in walk(second)}
    end = module.span(second)[1]
    early = [n for n in module.loads_of(name.id, scope) if id(n) not in inside]
    if any(module.span(n)[0] < end for n in early) or not _neighbours(module, first, second):
        return None
    plain = all(len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) for s in (first, second))
    return (first.value, found[1], module.delete_statement(second)) if plain else None


def _neighbours(module: Module, first: ast.stmt, second: ast.stmt) -> bool:
    """Whether one statement stands directly below the other, in one block."""
    block = block_of(module, first)
    place = block.index(first) + 1
    return block[place : place + 1] == [second]
