"""What takes a class or a function that a decorator of the program decorates, as one that enters it into a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.draft.returns import own_returns
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name

_HARMLESS = frozenset({"six.add_metaclass", "six.python_2_unicode_compatible", "functools.total_ordering"})


def takers(project: Project, decorated: Definition) -> Iterator[Definition]:
    """The functions whose first parameter is the decorated class or function.

    That is ``enter`` of ``@enter``, and of ``@register("name")`` what ``register`` returns; those of other files are not seen.
    """
    for decorator in decorated.node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        found = project.definition(decorated.module, decorator if call is None else call.func)
        inner = None if found is None else found.node if call is None else _returned(found)
        if found is not None and isinstance(inner, ast.FunctionDef) and inner.args.args:
            yield Definition(found.module, inner)


def may_hand_on(owner: Definition) -> bool:
    """Whether a decorator may hand a class on, or put another one in its place."""
    made = (node.func if isinstance(node, ast.Call) else node for node in owner.node.decorator_list)
    return not all(owner.module.resolve(node) in _HARMLESS for node in made)


def gives_back(project: Project, decorated: Definition) -> bool:
    """Whether all decorators are functions of the program that return what they decorate."""
    found = list(takers(project, decorated))
    return len(found) == len(decorated.node.decorator_list) and all(map(_same, found))


def _same(taker: Definition) -> bool:
    """Whether a function returns nothing but its first argument."""
    function = taker.node
    assert isinstance(function, ast.FunctionDef)
    name = function.args.args[0].arg
    returned = own_returns(function)
    bound = taker.module.scope(returned[0]).bindings.get(name, []) if returned else []
    return len(bound) == 1 and all(is_name(each.value, name) for each in returned if each.value is not None)


def _returned(factory: Definition) -> ast.AST | None:
    """The function in a function which returns that, and nothing else."""
    if not isinstance(factory.node, ast.FunctionDef):
        return None
    own = {part.name: part for part in factory.node.body if isinstance(part, ast.FunctionDef)}
    names = {each.value.id if isinstance(each.value, ast.Name) else "" for each in own_returns(factory.node)}
    return own.get(names.pop()) if len(names) == 1 else None
