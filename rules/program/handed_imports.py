"""Modules of TensorFlow that functions and classes are given as arguments, as ``initializers`` of tf.contrib often is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import outer_names
from migrator.normalise.values.callers import given_by_callers
from migrator.normalise.values.dropped import without_arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, with_parameters
from migrator.vocabulary.unsupported import Unsupported


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """What is given a module by all of its callers reads it by its import.

    ```python
    import tensorflow as tf
    from tensorflow.contrib.layers.python.layers import initializers


    class Projection:
        def __init__(self, units, inits):
            self.units = units
            self.inits = inits

        def weights(self):
            return tf.get_variable("w", [3, self.units], initializer=self.inits.xavier_initializer())


    def network(x):
        return tf.matmul(x, Projection(2, inits=initializers).weights())
    ```
    becomes
    ```python
    import tensorflow as tf
    from tensorflow.contrib.layers.python.layers import initializers


    class Projection:
        def __init__(self, units):
            self.units = units

        def weights(self):
            return tf.get_variable("w", [3, self.units], initializer=initializers.xavier_initializer())


    def network(x):
        return tf.matmul(x, Projection(2).weights())
    ```
    """
    drafts.apply_all(paths, lambda project, module: _found(drafts, module))


def _found(drafts: Drafts, module: Module) -> Iterator[list[Change]]:
    """The changes for each argument of a call that is the name of an import."""
    for entry in module.imports:
        if not entry.top_level or not entry.target.startswith("tensorflow"):
            continue
        for load in module.loads(entry.name):
            outer = module.parent(load)
            call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
            if isinstance(call, ast.Call) and call.func is not load and module.resolve(load) is not None:
                try:
                    yield _read_there(drafts, module, call, load)
                except Unsupported:
                    continue


def _read_there(drafts: Drafts, module: Module, call: ast.Call, load: ast.Name) -> list[Change]:
    """The changes that let what a call calls read an import itself. Raises Unsupported."""
    project = drafts.project
    found = project.definition(module, call.func)
    function = _function(found)
    if found is None or function is None or found.module.path not in project.editable:
        return []
    if isinstance(found.node, ast.ClassDef) and project.subclasses(found):
        return []  # which may read what its objects hold
    bound = given(function, call, skip=int(isinstance(found.node, ast.ClassDef)))
    parameter = next((a for a in (*function.args.args, *function.args.kwonlyargs) if bound.get(a.arg) is load), None)
    if parameter is None:
        return []
    home, target = found.module, module.raw_names(load)
    values = given_by_callers(project, home, parameter)
    if any(not isinstance(value, ast.Name) or where.raw_names(value) != target for where, value in values):
        return []
    reads, stores = _uses(project, home, found, function, parameter)
    plain = [None, home.analysis.root, *([home.scope(function)] if parameter.arg == load.id else [])]
    if any(home.scope(read).lookup(load.id) not in plain for read in reads):
        return []
    names = outer_names(drafts, home, home.tree, module, load)
    changes = [(home, change) for change in names.changes]
    changes += [(home, Replace(read, names.texts[load.id])) for read in reads]
    changes += [(home, Remove(store)) for store in stores]
    head = with_parameters(home.cst.statement(function), drop=[parameter.arg])
    changes.append((home, Replace(function, head)))
    return Change.every([*changes, *without_arguments(values)])


def _function(found: Definition | None) -> ast.FunctionDef | None:
    """What is called where a function or a class is."""
    node = found.node if found is not None else None
    if isinstance(node, ast.ClassDef):
        return next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    return node if isinstance(node, ast.FunctionDef) else None


def _uses(
    project: Project, home: Module, found: Definition, function: ast.FunctionDef, parameter: ast.arg
) -> tuple[list[ast.expr], list[ast.Assign]]:
    """The places that read something of what a parameter holds, and the statements that keep it in an attribute.

    Raises Unsupported where more is done with it.
    """
    reads: list[ast.expr] = []
    stores: list[ast.Assign] = []
    if len(home.scope(function).bindings.get(parameter.arg, ())) != 1:
        raise Unsupported("the parameter gets another value", parameter)
    for load in home.loads_of_parameter(parameter.arg, function):
        outer = home.parent(load)
        target = outer.targets[0] if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else None
        if _is_member(outer):
            reads.append(load)
        elif isinstance(outer, ast.Assign) and isinstance(target, ast.Attribute) and outer in function.body:
            stores.append(outer)
            reads += _held(project, home, found, function, target)
        else:
            raise Unsupported("a module is handed on", load)
    if not reads:
        raise Unsupported("nothing of the module is read", parameter)
    return reads, stores


def _is_member(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and not node.attr.startswith("_")


def _held(
    project: Project, home: Module, found: Definition, function: ast.FunctionDef, target: ast.Attribute
) -> Iterator[ast.expr]:
    """What reads something of an attribute that nothing but one statement sets. Raises Unsupported."""
    own = {id(node) for node in walk(found.node)}
    if not isinstance(found.node, ast.ClassDef) or not is_name(target.value, function.args.args[0].arg):
        raise Unsupported("a module is kept elsewhere", target)
    for module in project.modules.values():
        for node in module.nodes(ast.Attribute) if target.attr.encode() in module.source else ():
            if node.attr != target.attr or node is target:
                continue
            method = module.nearest(node, ast.FunctionDef)
            plain = (
                isinstance(method, ast.FunctionDef) and bool(method.args.args) and module.parent(method) is found.node
            )
            if module is home and id(node) in own and plain and method is not None:
                if is_name(node.value, method.args.args[0].arg) and _is_member(module.parent(node)):
                    yield node
                    continue
            raise Unsupported("the attribute is read elsewhere", node)
