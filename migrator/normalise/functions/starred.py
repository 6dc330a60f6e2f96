"""Arguments that a call spreads out of a list and a function gathers again, named one by one."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, with_arguments, with_parameters

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that spread no list in a call, or else those that let its function gather none; none where neither is so.

    ```python
    def metric_fn(*args):
        losses, labels = args[:2]
        return losses - labels


    def model_fn(example_losses, label_ids):
        values = [example_losses, label_ids]
        return metric_fn(*values)
    ```
    becomes
    ```python
    def metric_fn(losses, labels):
        return losses - labels


    def model_fn(example_losses, label_ids):
        values = [example_losses, label_ids]
        return metric_fn(example_losses, label_ids)
    ```
    """
    spread = [argument for argument in call.args if isinstance(argument, ast.Starred)]
    if not spread:
        return _gathered(drafts.project, module, call)
    lists = [_listed(module, call, argument.value) for argument in spread]
    file, places = module.cst, {id(argument): at for at, argument in enumerate(call.args)}
    given = {places[id(a)]: [file.expression(e) for e in elements] for a, elements in zip(spread, lists) if elements}
    if not given:
        return []
    return Change.of(module, Replace(call, with_arguments(file.call(call), drop=[*given], insert=given)))


def _listed(module: Module, call: ast.Call, node: ast.expr) -> list[ast.expr]:
    """The names in the list that `node` is a name of, if all of them still mean the same at the call."""
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    if len(bindings) != 1 or bindings[0].node is None or not isinstance(node, ast.Name):
        return []
    made = module.statement(bindings[0].node)
    value = made.value if isinstance(made, ast.Assign) and isinstance(made.targets[0], ast.Name) else None
    if not isinstance(value, (ast.List, ast.Tuple)) or _function(module, made) is not _function(module, call):
        return []
    if module.nearest(call, (ast.For, ast.While)) is not None:
        return []
    readers = [load for load in module.loads(node.id) if module.bindings(load) == bindings]
    if not all(isinstance(module.parent(load), (ast.Starred, ast.Tuple, ast.List)) for load in readers):
        return []
    return value.elts if all(_lasts(module, made, call, element) for element in value.elts) else []


def _lasts(module: Module, made: ast.stmt, call: ast.Call, element: ast.expr) -> bool:
    """Whether an element is a name that gets no other value between the list and the call."""
    if not isinstance(element, ast.Name):
        return False
    places = [binding.node for binding in module.bindings(element)]
    return all(p is not None and not made.lineno < getattr(p, "lineno", 0) <= call.lineno for p in places)


def _function(module: Module, node: ast.AST) -> ast.AST | None:
    return module.nearest(node, _FUNCTIONS)


def _gathered(project: Project, module: Module, call: ast.Call) -> list[Change]:
    """The edits that give the function of a call the parameters that it takes out of ``*args`` first of all."""
    definition = project.definition(module, call.func)
    if definition is None or definition.module is not module or not isinstance(definition.node, ast.FunctionDef):
        return []
    function = definition.node
    given = function.args
    others = (given.posonlyargs, given.args, given.kwonlyargs, given.kwarg)
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if given.vararg is None or any(others) or len(body) < 2 or function.decorator_list:
        return []
    taken = body[0]
    names = _taken(taken, given.vararg.arg)
    reads = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == given.vararg.arg]
    if not names or len(reads) != 1 or not isinstance(taken, ast.stmt):
        return []
    for load in module.loads(function.name):
        user = module.parent(load)
        if not isinstance(user, ast.Call) or user.func is not load or user.keywords or len(user.args) != len(names):
            return []
        if any(isinstance(argument, ast.Starred) for argument in user.args):
            return []
    new = with_parameters(module.cst.statement(function), instead=names)
    return Change.of(module, Replace(function, new), Remove(taken))


def _taken(statement: ast.stmt, gathered: str) -> list[str]:
    """The names that a statement gives to all of ``*args``, or to its first ones; empty for other statements."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, (ast.Tuple, ast.List)):
        return []
    names = [element.id for element in target.elts if isinstance(element, ast.Name)]
    value = statement.value
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        part = value.slice
        first = part.lower is None or (isinstance(part.lower, ast.Constant) and part.lower.value == 0)
        count = part.upper.value if isinstance(part.upper, ast.Constant) else None
        if not first or part.step is not None or (part.upper is not None and count != len(names)):
            return []
        value = value.value
    whole = isinstance(value, ast.Name) and value.id == gathered
    return names if whole and len(names) == len(set(names)) == len(target.elts) else []
