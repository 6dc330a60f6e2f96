"""Recurrent cells that overwrite ``__call__``, as those of TensorFlow's first versions do, in place of ``call``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.variables.scopes import VARIABLE_SCOPE
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code, expr, with_parameters

from .cell_classes import BASES

_MOST = 2
"""Inputs and state; a third argument of a cell is the name of its scope."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Their ``__call__`` as ``call``, without the name of a scope that no call gives.

    ```python
    import tensorflow as tf


    class Mixed(tf.nn.rnn_cell.RNNCell):
        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                new = tf.layers.dense(tf.concat([inputs, state], 1), 4)
            return new, new
    ```
    becomes
    ```python
    import tensorflow as tf


    class Mixed(tf.nn.rnn_cell.RNNCell):
        def call(self, inputs, state):
            with tf.variable_scope("Mixed"):
                new = tf.layers.dense(tf.concat([inputs, state], 1), 4)
            return new, new
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for one scope, or one method."""
    if b"def __call__" not in module.source:
        return
    for owner in module.nodes(ast.ClassDef):
        methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
        own = methods.get("__call__")
        derived = any((module.resolve(base) or "") in BASES for base in owner.bases)
        if own is None or not derived or "call" in methods or own.decorator_list or _calls_itself(own, owner):
            continue
        names = [argument.arg for argument in own.args.args]
        more = own.args.vararg or own.args.kwarg or own.args.kwonlyargs or own.args.posonlyargs
        if more or len(names) not in (1 + _MOST, 2 + _MOST):
            continue
        scope = names[1 + _MOST :]
        reads = [n for n in walk(own) if isinstance(n, ast.Name) and n.id in scope]
        stored = any(not isinstance(read.ctx, ast.Load) for read in reads)
        if scope and (len(own.args.defaults) != 1 or stored or _gives_scopes(project)):
            continue
        for read in reads:
            yield Change.of(module, _unscoped(module, read, owner))
        yield Change.of(module, Replace(own, with_parameters(module.cst.statement(own), name="call", drop=scope)))


def _unscoped(module: Module, read: ast.Name, owner: ast.ClassDef) -> Replace:
    """What takes the place of a name of a scope that is None: the name of the class, or what else it is for want of one."""
    whole = module.parent(read)
    if isinstance(whole, ast.Call) and module.resolve(whole.func) == VARIABLE_SCOPE and [read] == whole.args[:1]:
        default = [*whole.args[1:], *(keyword.value for keyword in whole.keywords if keyword.arg == "default_name")]
        if len(default) == len(whole.args) - 1 + len(whole.keywords) == 1:  # ``variable_scope(scope, "name")``
            function, name = (module.cst.expression(node) for node in (whole.func, default[0]))
            return Replace(whole, expr("{function}({name})", function=function, name=name))
    if not isinstance(whole, ast.BoolOp) or not isinstance(whole.op, ast.Or) or whole.values[0] is not read:
        return Replace(read, code("None"))
    if len(whole.values) == 2 and ast.unparse(whole.values[1]) in ("type(self).__name__", "self.__class__.__name__"):
        return Replace(whole, code(f'"{owner.name}"'))
    rest = whole.values[1] if len(whole.values) == 2 else None
    return Replace(whole, module.cst.expression(rest)) if rest is not None else Replace(read, code("None"))


def _calls_itself(method: ast.FunctionDef, owner: ast.ClassDef) -> bool:
    """Whether a method asks for the one that it overwrites."""
    called = (n for n in walk(method) if isinstance(n, ast.Attribute) and n.attr in ("__call__", "call"))
    return any(True for _ in called) or any(
        isinstance(n, ast.Name) and n.id in ("super", owner.name) for n in walk(method)
    )


def _gives_scopes(project: Project) -> bool:
    """Whether a call of what is named as cells are, ``self._cell(x, state, scope)``, says the name of a scope."""
    for module, call in project.calls():
        if len(call.args) > _MOST or any(keyword.arg in ("scope", None) for keyword in call.keywords):
            if module.resolve(call.func) is None and "cell" in ast.unparse(call.func).lower():
                if project.definition(module, call.func) is None:
                    return True
    return False
