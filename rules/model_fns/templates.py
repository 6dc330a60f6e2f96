"""`tf.make_template`: a function whose calls share their variables, as calls in a scope with `AUTO_REUSE` do."""

from __future__ import annotations

import ast

from migrator.analyse.function.translate import is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Statement, statements, with_arguments

from ..symbols.tensorflow_names import whole_name

_TEMPLATE = "tensorflow.make_template"
_PLACES = (ast.With, ast.FunctionDef, ast.Lambda, ast.For, ast.While)
_OWN = frozenset({"create_scope_now_", "unique_name_", "custom_getter_"})


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements for one call of a template, or none left of it; none for other calls.

    A template that is used for more than to be called stays.

    ```python
    import tensorflow as tf


    def make_tower(x, units):
        return tf.layers.dense(x, units)


    def network(x, y):
        tower = tf.make_template("tower", make_tower, units=4)
        a = tower(x)
        b = tower(y)
        return a + b
    ```
    becomes
    ```python
    import tensorflow as tf


    def make_tower(x, units):
        return tf.layers.dense(x, units)


    def network(x, y):
        with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
            a = make_tower(x, units=4)
        with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
            b = make_tower(y, units=4)
        return a + b
    ```
    """
    if module.resolve(call.func) == _TEMPLATE:
        return _gone(module, call)
    made = module.assignment(call.func) if isinstance(call.func, ast.Name) else None
    value = made.value if made is not None else None
    tf = whole_name(module)
    if not isinstance(value, ast.Call) or module.resolve(value.func) != _TEMPLATE or tf is None:
        return []
    parts = _parts(module, value)
    if parts is None or not isinstance(call.func, ast.Name) or not _only_called(module, call.func):
        return []
    scope, function, given = parts
    own = {keyword.arg for keyword in call.keywords}

    def make(target: str) -> list[Statement]:
        more = {k.arg: module.cst.expression(k.value) for k in given if k.arg is not None and k.arg not in own}
        made = module.cst.call(call).with_changes(func=module.cst.expression(function))
        return statements(
            "with {tf}.variable_scope({scope}, reuse={tf}.AUTO_REUSE):\n    {target} = {made}",
            tf=tf, scope=module.cst.expression(scope), target=target, made=with_arguments(made, add=more),
        )  # fmt: skip

    return spelled(module, call, call.func.id + "_output", make)


def _parts(module: Module, template: ast.Call) -> tuple[ast.expr, ast.expr, list[ast.keyword]] | None:
    """The scope, the function, and what it is always given; None where these are not plain."""
    if len(template.args) != 2 or any(isinstance(a, ast.Starred) for a in template.args):
        return None
    scope, function = template.args
    names = [n for k in template.keywords for n in walk(k.value) if isinstance(n, ast.Name)]
    kept = [k for k in template.keywords if k.arg not in _OWN]
    if any(k.arg in _OWN and not is_none(k.value) for k in template.keywords) or any(k.arg is None for k in kept):
        return None
    literal = isinstance(scope, ast.Constant) and isinstance(scope.value, str)
    same = [other for other in walk(module.tree) if other is not scope and ast.dump(other) == ast.dump(scope)]
    if not literal or not all(_is_spelled(module, other, function) for other in same):
        return None  # the second of two scopes of one name has another name
    once = all(
        len(module.bindings(name)) == 1 for name in (*names, *(n for n in walk(function) if isinstance(n, ast.Name)))
    )
    return (scope, function, kept) if once and isinstance(function, (ast.Name, ast.Attribute)) else None


def _is_spelled(module: Module, scope: ast.AST, function: ast.expr) -> bool:
    """Whether a name of a scope stands where a call of the template stood before."""
    around = next((a for a in module.ancestors(scope) if isinstance(a, ast.stmt)), None)
    only = around.body[0] if isinstance(around, ast.With) and len(around.body) == 1 else None
    call = only.value if isinstance(only, ast.Assign) else None
    opened = around.items[0].context_expr if isinstance(around, ast.With) else None
    if not isinstance(opened, ast.Call) or [k.arg for k in opened.keywords] != ["reuse"]:
        return False
    return isinstance(call, ast.Call) and ast.dump(call.func) == ast.dump(function)


def _only_called(module: Module, name: ast.Name) -> bool:
    """Whether nothing but calls in one and the same scope read the name of a template."""
    places = set()
    for load in module.loads_of(name.id, module.scope(name).lookup(name.id)):
        call = module.parent(load)
        if not isinstance(call, ast.Call) or call.func is not load:
            return False
        places.add(tuple(a for a in module.ancestors(call) if isinstance(a, _PLACES)))
    return len(places) == 1


def _gone(module: Module, template: ast.Call) -> list[Change]:
    """The edit that deletes a template which nothing calls any more."""
    statement = module.statement(template)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign) or statement.value is not template:
        return []
    if _parts(module, template) is None or module.loads_of(target.id, module.scope(target).lookup(target.id)):
        return []
    return Change.of(module, Remove(statement))
