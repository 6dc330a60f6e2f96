"""An iterator that a model_fn keeps in a name, as a list.

In Python 3 an iterator is empty after it was read once, so this is the same only where it is read once, or where a program
counts on a list, as it was in Python 2: ``len(layers)``, ``layers[0]``, or ``list(layers)[i]`` in a loop.
"""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import statements
from migrator.rewrite import Replace, expr

_MAKERS = frozenset({"map", "filter", "zip", "reversed", "enumerate"})
_READERS = frozenset("list tuple dict set sorted sum zip enumerate map filter max min any all".split())
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The change of one iterator of a function; none if there is no more.

    ```python
    def network(x, params):
        layers = map(int, params["layers"].split(","))
        for units in layers:
            x = dense(x, units)
        return x
    ```
    becomes
    ```python
    def network(x, params):
        layers = list(map(int, params["layers"].split(",")))
        for units in layers:
            x = dense(x, units)
        return x
    ```
    """
    for statement in statements(function):
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            continue
        value, scope = statement.value, module.scope(target)
        if not _is_iterator(module, value) or len(scope.bindings.get(target.id, [])) != 1:
            continue
        loads = module.loads_of(target.id, scope)
        counted_on = any(_is_of_list(module, load) for load in loads) or all(_is_entry(module, load) for load in loads)
        if (loads and counted_on) or _is_read_once(module, statement, loads):
            return Change.of(module, Replace(value, expr("list({value})", value=module.cst.expression(value))))
    return []


def _is_iterator(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _is_built_in(module, node, _MAKERS)


def _is_built_in(module: Module, call: ast.Call, names: frozenset[str]) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in names and not module.bindings(call.func)


def _is_of_list(module: Module, load: ast.Name) -> bool:
    """Whether an iterator has to be a list: it has no length, and no entries."""
    parent = module.parent(load)
    if isinstance(parent, ast.Call) and load in parent.args:
        return _is_built_in(module, parent, frozenset({"len"}))
    return isinstance(parent, ast.Subscript) and parent.value is load


def _is_entry(module: Module, load: ast.Name) -> bool:
    """Whether an iterator has to be read for the first time here: ``list(sizes)[0]`` is an error after that."""
    whole = module.parent(load)
    entry = module.parent(whole) if isinstance(whole, ast.Call) and whole.args == [load] else None
    if not isinstance(entry, ast.Subscript) or entry.value is not whole or isinstance(entry.slice, ast.Slice):
        return False
    return isinstance(whole, ast.Call) and _is_built_in(module, whole, frozenset({"list", "tuple", "sorted"}))


def _is_read_once(module: Module, statement: ast.stmt, loads: list[ast.Name]) -> bool:
    """Whether one place reads an iterator to its end, no more often than it is made."""
    if len(loads) != 1 or module.scope(loads[0]) is not module.scope(statement):
        return False
    load, parent = loads[0], module.parent(loads[0])
    if isinstance(parent, (ast.For, ast.comprehension)):
        whole = parent.iter is load
    elif isinstance(parent, ast.Call):
        whole = load in parent.args and _is_built_in(module, parent, _READERS)
    else:
        whole = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List))
    around = set(module.ancestors(statement))
    inner: ast.AST = load
    for outer in module.ancestors(load):
        first = isinstance(outer, ast.For) and outer.iter is inner
        first = first or isinstance(outer, (ast.ListComp, ast.SetComp, ast.DictComp)) and outer.generators[0] is inner
        if isinstance(outer, _LOOPS) and outer not in around and not first:
            return False
        inner = outer
    return whole
