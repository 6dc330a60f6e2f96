"""Initializers that several weights start with: each weight gets one of its own.

An initializer of TensorFlow 1 draws anew for each variable. An object of Keras without a seed gives all of them the same
values, and layers that begin alike may stay alike.
"""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import binds, reads
from migrator.analyse.variables.scopenames import VARIABLE_SCOPE
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import defaults
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.stuck import Stuck
from migrator.normalise.values.callers import given_by_callers
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import reaching
from migrator.resolve.syntax import does_nothing, place_of, walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, with_parameters

_ENDING = "_initializer"
_FAMILIES = ("tensorflow.initializers",)
_SAME = frozenset(
    {"zeros_initializer", "ones_initializer", "constant_initializer", "zeros", "ones", "constant", "identity"}
)
"""Those that draw nothing."""
_REPEATED = (ast.For, ast.While, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one initializer with a name; none if there is no more.

    ```python
    import tensorflow as tf


    def network(x):
        init = tf.truncated_normal_initializer(stddev=0.1)
        x = tf.layers.dense(x, 8, kernel_initializer=init)
        return tf.layers.dense(x, 8, kernel_initializer=init)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x):
        x = tf.layers.dense(x, 8, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1))
        return tf.layers.dense(x, 8, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1))
    ```
    """
    for load in walk(function):
        if isinstance(load, ast.Name) and isinstance(load.ctx, ast.Load):
            made = _made(drafts.project, module, load)
            if made is not None and (changes := _spread(drafts.project, module, function, load, made)):
                return changes
    return []


def _made(project: Project, module: Module, load: ast.Name) -> ast.Call | None:
    """The call that makes the initializer which a name stands for: by one assignment, or as a default that all callers take."""
    statement = reaching(module, load)
    bindings = module.bindings(load)
    parameter = bindings[0].node if len(bindings) == 1 else None
    value: ast.expr | None = statement.value if statement is not None else None
    if isinstance(parameter, ast.arg):
        function = module.parent(module.parent(parameter) or parameter)
        value = defaults(function).get(parameter.arg) if isinstance(function, ast.FunctionDef) else None
        if value is None or not _draws(project, module, value) or not _is_taken(project, module, parameter, value):
            return None
    return value if isinstance(value, ast.Call) and _draws(project, module, value) else None


def _draws(project: Project, module: Module, value: ast.expr, depth: int = 0) -> bool:
    """Whether a value is a new initializer that draws at random: of TensorFlow, or of a function that returns one."""
    if not isinstance(value, ast.Call):
        return False
    name = module.resolve(value.func)
    if name is not None:
        family, _, short = name.rpartition(".")
        known = short.endswith(_ENDING) or family in _FAMILIES and module.dialect(value.func) != "v2"
        return name.startswith("tensorflow.") and known and short not in _SAME
    found = project.definition(module, value.func)
    if found is None or not isinstance(found.node, ast.FunctionDef) or found.node.decorator_list or depth:
        return False
    body = [one for one in found.node.body if not does_nothing(one)]
    returned = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    return returned is not None and _draws(project, found.module, returned, depth + 1)


def _is_taken(project: Project, module: Module, parameter: ast.arg, default: ast.expr) -> bool:
    """Whether all callers of a function leave a parameter at its default."""
    try:
        return all(value is default for _, value in given_by_callers(project, module, parameter))
    except Stuck:
        return False


def _spread(
    project: Project, module: Module, function: ast.FunctionDef, load: ast.Name, made: ast.Call
) -> list[Change]:
    """The changes that make an initializer where a name of one is read, if several weights may get it."""
    scope = module.scope(load).lookup(load.id)
    statement = module.parent(made)
    every = [each for each in module.loads_of(load.id, scope) if _made(project, module, each) is made]
    loads = [each for each in every if module.is_inside(each, function)]
    if not all(_is_given(module, each) and _means_the_same(module, made, each) for each in every):
        return []
    if len(every) < 2 and not any(_is_repeated(module, statement, each) for each in loads):
        return []
    changes: list[Rewrite] = [Replace(each, module.cst.expression(made)) for each in loads]
    alone = isinstance(statement, ast.Assign) and loads == every == module.loads_of(load.id, scope)
    if isinstance(statement, ast.Assign) and scope is not None and alone:
        if scope is not module.analysis.root or not project.readers.elsewhere(module, scope, load.id):
            changes.append(Remove(statement))
    owner = module.parent(statement) if isinstance(statement, ast.arguments) else None
    if isinstance(owner, ast.FunctionDef) and loads == module.loads_of(load.id, scope):
        changes.append(Replace(owner, with_parameters(module.cst.statement(owner), drop=[load.id])))
    return Change.of(module, *changes)


def _is_given(module: Module, load: ast.Name) -> bool:
    """Whether a place gives an initializer to a call."""
    outer = module.parent(load)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    return isinstance(call, ast.Call) and call.func is not load


def _is_repeated(module: Module, statement: ast.AST | None, load: ast.Name) -> bool:
    """Whether a place may be reached several times after what makes an initializer was once, or says to a scope how all of
    its variables start."""
    call = module.parent(module.parent(load) or load)
    if (
        isinstance(call, ast.Call)
        and module.resolve(call.func) == VARIABLE_SCOPE
        or isinstance(statement, ast.arguments)
    ):
        return True
    for outer in module.ancestors(load):
        if statement is not None and module.is_inside(statement, outer):
            return False
        if isinstance(outer, _REPEATED):
            return True
    return False


def _means_the_same(module: Module, made: ast.Call, load: ast.Name) -> bool:
    """Whether the call would make the same initializer where a name of it is read."""
    read = reads(made)
    if any(module.scope(load).lookup(name) is not module.scope(made).lookup(name) for name in read):
        return False
    around = module.nearest(made, ast.FunctionDef) or module.tree
    below = [each for each in walk(around) if isinstance(each, ast.stmt) and place_of(each) > place_of(made)]
    return not any(read & binds(each) for each in below)
