"""Initializers that several weights start with: each weight gets one of its own.

An initializer of TensorFlow 1 draws anew for each variable. An object of Keras without a seed gives all of them the same
values, and layers that begin alike may stay alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.statements.names import binds, reads
from migrator.analyse.variables.scopenames import VARIABLE_SCOPE
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.values.callers import given_by_callers
from migrator.normalise.values.dropped import without_arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import reaching
from migrator.resolve.syntax import place_of, walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, with_parameters
from migrator.vocabulary.unsupported import Unsupported

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
    """The call that makes the initializer which a name stands for: by one assignment, or in all calls of a function."""
    statement, parameter = reaching(module, load), _parameter(module, load)
    value: ast.expr | None = statement.value if statement is not None else None
    if parameter is not None:
        value = _given(project, module, parameter)
    return value if isinstance(value, ast.Call) and draws(project, module, value) else None


def _parameter(module: Module, load: ast.Name) -> ast.arg | None:
    bindings = module.bindings(load)
    node = bindings[0].node if len(bindings) == 1 else None
    return node if isinstance(node, ast.arg) else None


def _given(project: Project, module: Module, parameter: ast.arg) -> ast.expr | None:
    """What a parameter is in all calls of its function: its default, or what all of them make alike, of nothing of their own."""
    try:
        places = given_by_callers(project, module, parameter)
    except Unsupported:
        return None
    value = places[0][1]
    if any(where is not module or ast.dump(other) != ast.dump(value) for where, other in places):
        return None
    outside = (None, module.analysis.root)
    return value if all(module.scope(value).lookup(name) in outside for name in reads(value)) else None


def draws(project: Project, module: Module, value: ast.expr, depth: int = 0) -> bool:
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
    values = [node.value for node in own_returns(found.node)]
    return bool(values) and all(v is not None and draws(project, found.module, v, depth + 1) for v in values)


def _spread(
    project: Project, module: Module, function: ast.FunctionDef, load: ast.Name, made: ast.Call
) -> list[Change]:
    """The changes that make an initializer where a name of one is read, if several weights may get it."""
    scope, parameter = module.scope(load).lookup(load.id), _parameter(module, load)
    begun = module.parent(parameter or made)
    every = [each for each in module.loads_of(load.id, scope) if _made(project, module, each) is made]
    loads = [each for each in every if module.is_inside(each, function)]
    if not all(is_given(module, each) and _means_the_same(module, made, each) for each in every):
        return []
    default = parameter is not None and begun is module.parent(made)  # is made once for all calls
    if len(every) < 2 and not default and not any(is_repeated(module, begun, each) for each in loads):
        return []
    changes = [(module, Replace(each, module.cst.expression(made))) for each in loads]
    whole = loads == every == module.loads_of(load.id, scope)
    if whole and parameter is not None:
        return Change.every([*changes, *_without(project, module, parameter, default)])
    if whole and isinstance(begun, ast.Assign) and scope is not None:
        if scope is not module.analysis.root or not project.readers.elsewhere(module, scope, load.id):
            return Change.every([*changes, (module, Remove(begun))])
    return Change.every(changes)


def _without(project: Project, module: Module, parameter: ast.arg, default: bool) -> Iterator[tuple[Module, Rewrite]]:
    """A function, and its calls, without a parameter that nothing reads."""
    owner = module.parent(module.parent(parameter) or parameter)
    if isinstance(owner, ast.FunctionDef):
        yield module, Replace(owner, with_parameters(module.cst.statement(owner), drop=[parameter.arg]))
        if not default:
            yield from without_arguments(given_by_callers(project, module, parameter))


def is_given(module: Module, load: ast.Name) -> bool:
    """Whether a place gives an initializer to a call."""
    outer = module.parent(load)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    return isinstance(call, ast.Call) and call.func is not load


def is_repeated(module: Module, statement: ast.AST | None, load: ast.Name) -> bool:
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
