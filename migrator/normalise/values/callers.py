"""What all callers of a function or a method give for one of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.normalise.draft.arguments import defaults, given
from migrator.normalise.functions.partials import PARTIAL
from migrator.normalise.objects.initializers import initializer_calls
from migrator.normalise.objects.methods import method_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.vocabulary.unsupported import Unsupported

Place = tuple[Module, ast.expr]


def calls_of(project: Project, function: Definition) -> tuple[list[tuple[Module, ast.Call]], bool]:
    """All calls of a function, and whether it is used in another way too."""
    uses = [
        (module, use, module.parent(use))
        for module in project.modules.values()
        for use in project.uses(function, module)
    ]
    found = [(module, call) for module, use, call in uses if isinstance(call, ast.Call) and call.func is use]
    return found, len(found) < len(uses)


def given_by_callers(project: Project, module: Module, parameter: ast.arg) -> list[Place]:
    """Their values with their files, and the default where one gives none. Raises Unsupported."""
    function = module.parent(module.parent(parameter) or parameter)
    holder = module.parent(function) if function is not None else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        raise Unsupported("who calls the function is not seen", parameter)
    if parameter in (function.args.vararg, function.args.kwarg):
        raise Unsupported("arguments are gathered by * or **", parameter)
    if isinstance(holder, ast.ClassDef) and function.name == "__init__":
        calls = initializer_calls(project, Definition(module, holder))
        if calls is None:
            raise Unsupported("the class is handed around", function)
        return _given_at([(other, call.func) for other, call in calls], module, function, parameter, method=True)
    if isinstance(holder, ast.ClassDef):
        return _given_at(_of_method(project, function), module, function, parameter, method=True)
    references = project.readers.of(module, module.scope(holder or module.tree), function.name)
    return _given_at(references, module, function, parameter)


def _given_at(
    references: Iterable[Place], module: Module, function: ast.FunctionDef, parameter: ast.arg, method: bool = False
) -> list[Place]:
    """What calls at the places that read a function of `module` give for a parameter, or its default. Raises Unsupported."""
    values: list[Place] = []
    for other, reference in references:
        call = other.parent(reference)
        if not isinstance(call, ast.Call):
            raise Unsupported("the function is handed around", reference)
        if call.func is reference:
            value = _given(function, call, parameter, skip=int(method))
        elif not method and call.args == [reference] and other.resolve(call.func) == PARTIAL:
            value = next((keyword.value for keyword in call.keywords if keyword.arg == parameter.arg), None)
        else:
            raise Unsupported("the function is handed around", reference)
        if value is None and parameter.arg not in defaults(function):
            raise Unsupported("what is given for the parameter is not seen", call)
        values.append((other, value) if value is not None else (module, defaults(function)[parameter.arg]))
    if not values:
        raise Unsupported("nobody calls the function", function)
    return values


def _given(function: ast.FunctionDef, call: ast.Call, parameter: ast.arg, skip: int) -> ast.expr | None:
    """What a call gives for a parameter, also beside arguments that are spread out of a dict. Raises Unsupported."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == parameter.arg), None)
    if named is not None and parameter not in function.args.posonlyargs:
        return named
    return given(function, call, skip).get(parameter.arg)


def _of_method(project: Project, function: ast.FunctionDef) -> Iterator[Place]:
    """The places that read a method. Raises Unsupported where one may do so and is not seen to."""
    for where in project.modules.values():
        for node in where.nodes(ast.Attribute) if function.name.encode() in where.source else ():
            if node.attr != function.name:
                continue
            found = method_of(project, where, node)
            if found is not None and found.function is function:
                yield where, node
            elif found is None and not _is_of_library(where, node.value):
                raise Unsupported("what has the method is not seen", node)


def _is_of_library(module: Module, node: ast.expr) -> bool:
    """Whether an expression is something of TensorFlow, or holds nothing but what TensorFlow made."""
    if (module.resolve(node) or "").startswith("tensorflow."):
        return True
    statement = module.assignment(node)
    values = [statement.value] if statement is not None else []
    owner = module.nearest(node, ast.ClassDef)
    if isinstance(node, ast.Attribute) and owner is not None:
        same = ast.unparse(node)
        stores = (part for part in walk(owner) if isinstance(part, ast.Assign))
        values = [part.value for part in stores if same in map(ast.unparse, part.targets)]
    names = [module.resolve(value.func) or "" if isinstance(value, ast.Call) else "" for value in values]
    return bool(names) and all(name.startswith("tensorflow.") for name in names)
