"""A name of variables that conditions make in different loops: each gets its own, and what reads it says which one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import place_of, walk
from migrator.rewrite import Replace, expr

from .layers import LAYERS

_TEST = (ast.Compare, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.cmpop, ast.UnaryOp, ast.unaryop)
_TURNS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


@dataclass(frozen=True)
class _Made:
    """One ``if test: name = …``."""

    target: ast.Name
    condition: ast.If
    loops: tuple[ast.AST, ...]


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one name of a function; none if there is no more.

    ```python
    import tensorflow as tf


    def network(parts, kind):
        if kind == "all":
            w = tf.get_variable("w", [2, 2])
        for i in range(2):
            if kind == "each":
                w = tf.get_variable("w_%d" % i, [2, 2])
            parts[i] = tf.matmul(parts[i], w)
        return parts
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(parts, kind):
        if kind == "all":
            w = tf.get_variable("w", [2, 2])
        for i in range(2):
            if kind == "each":
                w_2 = tf.get_variable("w_%d" % i, [2, 2])
            parts[i] = tf.matmul(parts[i], w_2 if kind == "each" else w)
        return parts
    ```
    """
    scope = module.scope(function)
    for name, bindings in scope.bindings.items():
        if len(bindings) < 2:
            continue
        made = [_made(module, function, binding.node) for binding in bindings]
        if None in made:
            continue
        found = sorted((each for each in made if each is not None), key=lambda each: place_of(each.target))
        if len({each.loops for each in found}) > 1 and _settled(module, found):
            changes = _apart(module, function, name, found)
            if changes:
                return changes
    return []


def _made(module: Module, function: ast.FunctionDef, target: ast.AST | None) -> _Made | None:
    """What makes a variable or a layer under a condition of its own."""
    statement = module.parent(target) if isinstance(target, ast.Name) else None
    if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return None
    condition = module.parent(statement)
    name = module.resolve(statement.value.func) if isinstance(statement.value, ast.Call) else None
    if name is None or name not in LAYERS or not isinstance(condition, ast.If):
        return None
    if condition.orelse or condition.body != [statement] or not all(_is_plain(node) for node in walk(condition.test)):
        return None
    loops = [
        outer
        for outer in module.ancestors(condition)
        if isinstance(outer, _TURNS) and module.is_inside(outer, function)
    ]
    return _Made(target, condition, tuple(loops))


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, (*_TEST, ast.expr_context))


def _settled(module: Module, found: list[_Made]) -> bool:
    """Whether the conditions have one value wherever they are asked: what they read gets its value once, in no loop."""
    for each in found:
        for node in walk(each.condition.test):
            if not isinstance(node, ast.Name):
                continue
            bindings = module.bindings(node)
            places = [binding.node for binding in bindings if binding.node is not None]
            if len(bindings) > 1 or any(module.nearest(place, (ast.For, ast.While)) is not None for place in places):
                return False
    return True


def _apart(module: Module, function: ast.FunctionDef, name: str, found: list[_Made]) -> list[Change]:
    """The changes that give all but the first a name of their own."""
    scope, taken = module.scope(function), set(module.bound_names)
    names = {found[0]: name}
    for each in found[1:]:
        new = next(f"{name}_{number}" for number in range(2, len(taken) + 3) if f"{name}_{number}" not in taken)
        names[each] = new
        taken.add(new)
    changes = [Replace(each.target, expr(names[each])) for each in found[1:]]
    for load in module.loads_of(name, scope):
        if not all(_has_run(module, each, load) for each in found):
            return []
        if module.scope(load) is not scope or module.nearest(load, ast.JoinedStr) is not None:
            return []
        value = expr(names[found[0]])
        for each in found[1:]:
            test = module.cst.expression(each.condition.test)
            value = expr("{own} if {test} else {other}", own=expr(names[each]), test=test, other=value)
        changes.append(Replace(load, value))
    return Change.of(module, *changes)


def _has_run(module: Module, each: _Made, load: ast.Name) -> bool:
    """Whether a condition is asked in the same turn whenever a place reads the name, and before."""
    block = module.parent(each.condition)
    while isinstance(block, ast.With):
        block = module.parent(block)
    always = isinstance(block, (ast.For, ast.FunctionDef)) and not getattr(block, "orelse", [])
    return always and place_of(each.target) < place_of(load) and module.is_inside(load, block)
