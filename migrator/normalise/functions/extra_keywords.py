"""``**kwargs`` that all calls fill alike: the function names what it gets, which is nothing where no call gives more."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, with_arguments, with_parameters

Wanted = list[tuple[Module, rewrite.Change]]


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The changes for the function that a call calls, or the class that it makes an object of; none where it is something else.

    ```python
    import tensorflow as tf


    def block(x, units, **kwargs):
        return tf.layers.dense(x, units, **kwargs)


    def network(x):
        return block(x, 8, activation=tf.nn.relu)
    ```
    becomes
    ```python
    import tensorflow as tf


    def block(x, units, activation):
        return tf.layers.dense(x, units, activation=activation)


    def network(x):
        return block(x, 8, activation=tf.nn.relu)
    ```
    """
    project = drafts.project
    found = project.definition(module, call.func)
    if found is None or found.module.path not in project.editable:
        return []
    if isinstance(found.node, ast.ClassDef):
        wanted = _of_class(project, found)
    else:
        wanted = _of_function(project, found)
    return Change.every(wanted)


def _of_function(project: Project, found: Definition) -> Wanted:
    """The changes for a function all of whose calls give the same keywords beside its parameters."""
    module, function = found.module, found.node
    assert isinstance(function, ast.FunctionDef)
    if function.args.kwarg is None or function.decorator_list or isinstance(module.parent(function), ast.ClassDef):
        return []
    gathered = function.args.kwarg.arg
    references = project.readers.of(module, module.scope(module.parent(function) or module.tree), function.name)
    more = _given(function, [(where, where.parent(node), node) for where, node in references])
    if more is None or set(more) & {n.id for n in walk(function) if isinstance(n, ast.Name)}:
        return []
    spreads = _spreads(module, [n for n in walk(function) if isinstance(n, ast.Name) and n.id == gathered])
    if spreads is None or any(set(more) & {k.arg for k in each.keywords} for each, _ in spreads):
        return []
    head = with_parameters(module.cst.statement(function), drop=[gathered], add=more)
    return [(module, Replace(function, head)), *_spelled(module, spreads, more)]


def _of_class(project: Project, found: Definition) -> Wanted:
    """The changes for a class whose constructor keeps such arguments for the calls of its methods, if no call gives any."""
    module, owner = found.module, found.node
    inits = [each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    init = inits[0] if len(inits) == 1 else None
    if init is None or init.args.kwarg is None or not init.args.args or project.subclasses(found):
        return []
    uses = [(where, where.parent(use), use) for where in project.modules.values() for use in project.uses(found, where)]
    if _given(init, uses) != []:
        return []
    gathered, own = init.args.kwarg.arg, init.args.args[0].arg
    read = [n for n in walk(init) if isinstance(n, ast.Name) and n.id == gathered]
    kept = module.parent(read[0]) if len(read) == 1 else None
    target = kept.targets[0] if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else None
    if not isinstance(kept, ast.Assign) or not isinstance(target, ast.Attribute) or ast.unparse(target.value) != own:
        return []
    if any(target.attr.encode() in other.source for other in project.modules.values() if other is not module):
        return []
    places = [n for n in module.nodes(ast.Attribute) if n.attr == target.attr and n is not target]
    if any(not module.is_inside(place, owner) or not isinstance(place.value, ast.Name) for place in places):
        return []
    spreads = _spreads(module, places)
    if spreads is None:
        return []
    head = with_parameters(module.cst.statement(init), drop=[gathered])
    return [(module, Replace(init, head)), (module, Remove(kept)), *_spelled(module, spreads, [])]


def _given(function: ast.FunctionDef, uses: list[tuple[Module, ast.AST | None, ast.expr]]) -> list[str] | None:
    """The keywords that all calls give beside the parameters of a function; None where not all do, or not all are seen."""
    found: set[tuple[str, ...]] = set()
    known = parameters(function)
    for _, call, reference in uses:
        if not isinstance(call, ast.Call) or call.func is not reference:
            return None
        if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        found.add(tuple(sorted(k.arg for k in call.keywords if k.arg is not None and k.arg not in known)))
    return list(found.pop()) if len(found) == 1 else None


def _spreads(module: Module, reads: Sequence[ast.expr]) -> list[tuple[ast.Call, ast.keyword]] | None:
    """The calls that hand on what was gathered, where nothing else reads it."""
    found = []
    for read in reads:
        keyword = module.parent(read)
        call = module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg is None else None
        if not isinstance(call, ast.Call) or not isinstance(keyword, ast.keyword):
            return None
        found.append((call, keyword))
    calls = [call for call, _ in found]
    inside = any(module.is_inside(one, other) for one in calls for other in calls if one is not other)
    return None if inside or len(set(calls)) < len(calls) else found


def _spelled(
    module: Module, spreads: list[tuple[ast.Call, ast.keyword]], names: list[str]
) -> Iterator[tuple[Module, rewrite.Change]]:
    """Calls that give what was gathered by name."""
    for call, keyword in spreads:
        at = arguments(call).index(keyword)
        old = module.cst.call(call)
        new = (
            with_arguments(old, spread={at: {name: name for name in names}})
            if names
            else with_arguments(old, drop=[at])
        )
        yield module, Replace(call, new)
