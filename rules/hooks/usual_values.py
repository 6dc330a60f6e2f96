"""What a parameter stands for that no call gives, where the function fills it in: ``if names is None: names = USUAL``."""

from __future__ import annotations

import ast

from migrator.analyse.function.translate import is_none
from migrator.normalise.draft.arguments import defaults
from migrator.normalise.values.callers import calls_of
from migrator.normalise.values.possible_values import handed
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk


def usual_value(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    """The value that the function of a parameter gives it where it is None, if no call of the program gives another."""
    bound = [binding.node for binding in module.bindings(node)] if isinstance(node, ast.Name) else []
    parameter = next((each for each in bound if isinstance(each, ast.arg)), None)
    stored = [each for each in bound if isinstance(each, ast.Assign)]
    function = module.parent(module.parent(parameter) or module.tree) if parameter is not None else None
    if parameter is None or len(bound) != 2 or len(stored) != 1 or not isinstance(function, ast.FunctionDef):
        return None
    (statement,) = stored
    filled = module.parent(statement)
    named = [target.id for target in statement.targets if isinstance(target, ast.Name)] == [parameter.arg]
    if not named or not isinstance(filled, ast.If):
        return None
    default = defaults(function).get(parameter.arg)
    first = filled in function.body and filled.body == [statement] and not filled.orelse
    if default is None or not is_none(default) or not first or not _asks(filled.test, parameter.arg):
        return None
    return None if _may_give(project, Definition(module, function), parameter) else statement.value


def _asks(test: ast.expr, name: str) -> bool:
    """``name is None`` or ``not name``."""
    return ast.unparse(test) in (f"{name} is None", f"{name} == None", f"not {name}")


def _may_give(project: Project, function: Definition, parameter: ast.arg) -> bool:
    """Whether a call in the program may give a parameter, also one that calls what a table or a name holds."""
    node = function.node
    assert isinstance(node, ast.FunctionDef)
    if any(_names(module, parameter.arg) for module in project.modules.values()):
        return True
    calls, handed_around = calls_of(project, function)
    through = _through(project, function) if handed_around else []
    if handed_around and not through:
        return True
    places = [*node.args.posonlyargs, *node.args.args]
    index = places.index(parameter) if parameter in places else len(places)
    return any(
        len(call.args) > index or any(isinstance(each, ast.Starred) for each in call.args)
        for _, call in [*calls, *through]
    )


def _names(module: Module, name: str) -> bool:
    """Whether a file gives an argument of that name to a function of the program, or spells it as a text."""
    if any(isinstance(node, ast.Constant) and node.value == name for node in walk(module.tree)):
        return True
    calls = [call for call in module.nodes(ast.Call) if any(keyword.arg == name for keyword in call.keywords)]
    return any(not (module.resolve(call.func) or "").startswith("tensorflow.") for call in calls)


def _through(project: Project, function: Definition) -> list[tuple[Module, ast.Call]]:
    """The calls of what may be a function that is handed around; none if another use of it is not seen."""
    found: list[tuple[Module, ast.Call]] = []
    read: set[ast.expr] = set()
    ways = []
    for module in project.modules.values():
        for call in module.nodes(ast.Call):
            if project.definition(module, call.func) is not None or module.resolve(call.func) is not None:
                continue
            way = handed(project, module, call.func)
            if way is not None and any(project.definition(*place) == function for place in way.values):
                ways.append(way)
                found.append((module, call))
                read |= {*way.read, *(node for _, node in way.values)}
    module = function.module
    assert isinstance(function.node, ast.FunctionDef)
    scope = module.scope(module.parent(function.node) or module.tree)
    for other, use in project.readers.of(module, scope, function.node.name):
        outer = other.parent(use)
        if use not in read and not (isinstance(outer, ast.Call) and outer.func is use):
            return []
    return [] if any(way.strangers(project, read) for way in ways) else found
