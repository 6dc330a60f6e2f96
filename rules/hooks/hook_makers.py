"""Functions of a program that make its hooks: ``get_train_hooks(names)``, ``HOOKS.get(name)(**settings)``."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.normalise.values.possible_values import PossibleValues, handed
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

from ..program.settled import returns_of

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

_Place = tuple[Module, ast.expr]


@dataclass(frozen=True)
class HookMakers:
    """The functions that one call may call, what they return, and what was read to find them."""

    functions: tuple[Definition, ...]
    returned: list[_Place]
    read: frozenset[ast.expr]
    way: PossibleValues | None
    """From the call to the functions, if it does not name one itself."""


def makers_of(project: Project, module: Module, call: ast.Call) -> HookMakers | None:
    """The functions of the program that a call may call; None where one of them is not seen."""
    named = project.definition(module, call.func)
    way = handed(project, module, call.func) if named is None else None
    places = [(module, call.func)] if named is not None else way.values if way is not None else []
    found = [project.definition(*place) for place in places]
    functions = tuple(definition for definition in found if definition is not None and _is_plain(definition))
    if not functions or len(functions) < len(found):
        return None
    returned: list[_Place] = []
    for definition in functions:
        assert isinstance(definition.node, ast.FunctionDef)
        values = [statement.value for statement in returns_of(definition.module, definition.node)]
        returned += [(definition.module, value) for value in values if value is not None]
    return HookMakers(functions, returned, frozenset(node for _, node in places), way)


def _is_plain(definition: Definition) -> bool:
    """Whether a function gives back what it returns."""
    node = definition.node
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    return not any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk(node))


def check_makers(project: Project, drivers: Iterable[FileEdits]) -> Iterator[tuple[Definition, str]]:
    """Functions that return callbacks from now on and are called by tests, too, with what to say of that.

    Raises Unsupported where anything else than a training calls them.
    """
    makers = [each for driver in drivers for each in driver.hook_makers]
    ways = [each.way for each in makers if each.way is not None]
    read = {node for each in makers for node in each.read}.union(*(way.read for way in ways))
    for definition in dict.fromkeys(function for each in makers for function in each.functions):
        module = definition.module
        scope = module.scope(module.parent(definition.node) or module.tree)
        tests = list(_others(project.readers.of(module, scope, definition.name), read))
        if tests:
            yield definition, f"what this returns holds Keras callbacks now, also for {', '.join(dict.fromkeys(tests))}"
    for way in ways:
        list(_others(way.strangers(project, read), read))


def _others(places: Iterable[_Place], read: Collection[ast.expr]) -> Iterator[str]:
    """The files of tests among the places that are not `read`. Raises Unsupported for others."""
    for module, node in places:
        name = os.path.basename(module.path)
        if node in read:
            continue
        if not name.startswith("test_") and not name.endswith("_test.py"):
            raise Unsupported("what makes the hooks of a training is used for something else as well", node)
        yield name
