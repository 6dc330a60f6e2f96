"""Names that a function binds on some ways only, and to nothing but None, as arguments of the library."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import statements
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, code


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """Writes None in their place: reading them on another way is an error.

    ```python
    import tensorflow as tf


    def network(x, params):
        if not params["normalize"]:
            normalizer_fn = None
        return tf.contrib.layers.fully_connected(x, 8, normalizer_fn=normalizer_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x, params):
        if not params["normalize"]:
            pass
        return tf.contrib.layers.fully_connected(x, 8, normalizer_fn=None)
    ```
    """
    for statement in statements(function):
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            continue
        none = isinstance(statement.value, ast.Constant) and statement.value.value is None
        scope = module.scope(target)
        if (
            not none
            or statement in function.body
            or scope.holder(target.id) is not scope
            or len(scope.bindings.get(target.id, [])) != 1
        ):
            continue
        loads = module.loads_of(target.id, scope)
        given = [load for load in loads if _is_given(module, load)]
        if given:
            gone: list[Rewrite] = [Remove(statement)] if given == loads else []
            return Change.of(module, *gone, *(Replace(load, code("None")) for load in given))
    return []


def _is_given(module: Module, load: ast.Name) -> bool:
    """Whether a name is an argument of a function of the library."""
    outer = module.parent(load)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    known = isinstance(call, ast.Call) and call.func is not load
    return known and isinstance(call, ast.Call) and (module.resolve(call.func) or "").startswith("tensorflow.")
