"""Features that a function of the program computes of placeholders, which become its parameters."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from ..loop.places import has_its_line
from .feature_dicts import is_dict, only_reads
from .fed_entries import added_entries, fed_by, loads
from .fed_features import OF_TENSOR, RECEIVER, Computed, Fed, FedTogether, Receiver
from .placeholders import arguments_of_call, placeholders, told_by


def computed_receiver(
    project: Project, module: Module, node: ast.expr, function: ast.FunctionDef, value: ast.expr, call: ast.AST
) -> Receiver | None:
    """A function of the program that computes features of placeholders, which become its parameters."""
    made = module.resolve(value.func) if isinstance(value, ast.Call) else None
    known = made in (RECEIVER, OF_TENSOR)
    given = arguments_of_call(value, "features receiver_tensors") if known and isinstance(value, ast.Call) else None
    if given is None or set(given) != {"features", "receiver_tensors"}:
        return None
    unsure = made == RECEIVER and not is_dict(project, module, given["features"])
    assert isinstance(value, ast.Call)
    tensors = given["receiver_tensors"]
    together = _together(project, module, function, tensors, call)
    if together is not None:
        parameters: tuple[Fed | FedTogether, ...] = (together,)
        return Receiver(
            node,
            (value.func,),
            returned=(value, given["features"]),
            computed=Computed(function, parameters),
            maybe_no_dict=unsure,
        )
    held_dict = module.assignment(tensors)
    if held_dict is not None and isinstance(held_dict.value, ast.Dict) and held_dict in function.body:
        alone = isinstance(tensors, ast.Name) and loads(module, tensors) == [tensors]
        tensors = held_dict.value if alone and has_its_line(module, held_dict) else tensors
    if isinstance(tensors, ast.Dict):
        entries = [(module.segment(key), item) for key, item in zip(tensors.keys, tensors.values) if key is not None]
    else:
        entries = [('"input"', tensors)]
    fed = [each for each in (_parameter(module, key, item) for key, item in entries) if each is not None]
    every = list(placeholders(module, function))
    held = {each.statement for each in fed} & set(function.body)
    if not fed or len({len(entries), len(fed), len(held), len(every)}) > 1:
        return None
    return Receiver(
        node,
        (value.func,),
        statement=held_dict if tensors is not given["receiver_tensors"] else None,
        returned=(value, given["features"]),
        computed=Computed(function, tuple(fed)),
        text=len(fed) == 1 and fed[0].told.is_text(module),
        maybe_no_dict=unsure,
    )


def _together(
    project: Project, module: Module, function: ast.FunctionDef, tensors: ast.expr, call: ast.AST
) -> FedTogether | None:
    """A dict of placeholders that the function only reads, and that can be written where the SavedModel is made."""
    statement = module.assignment(tensors)
    if statement is None or statement not in function.body or not isinstance(tensors, ast.Name):
        return None
    added = {s: e for s, e in added_entries(module, tensors).items() if s in function.body}
    fed = fed_by(module, function, tensors, False, added)
    if fed is None or not all(has_its_line(module, each) for each in (statement, *added)):
        return None
    more = [(each, made) for each, entries in added.items() for _, made in entries]
    keys = dict(fed)
    later = tuple((each, made, keys[made]) for each, made in more if isinstance(made, ast.Call))
    own = [(made, name) for made, name in fed if made not in {made for _, made, _ in later}]
    if len(later) < len(more) or not own or not all(module.parent(made) is statement.value for made, _ in own):
        return None
    for load in loads(module, tensors):
        adds = any(module.is_inside(load, each) for each in added)
        if load is not tensors and not adds and not only_reads(project, module, load):
            return None
    parts = [node for part in (statement.value, *added) for node in walk(part)]
    loops = [node.target for node in parts if isinstance(node, (ast.comprehension, ast.For))]
    names = {n.id for target in loops for n in walk(target) if isinstance(n, ast.Name)}
    scopes = [
        module.scope(place).lookup(name.id)
        for name in parts
        if isinstance(name, ast.Name) and name.id not in {*names, tensors.id}
        for place in (statement, call)
    ]
    if any(scope is not None and scope.kind != "module" for scope in scopes):
        return None
    return FedTogether(statement, tensors.id, tuple(own), later)


def _parameter(module: Module, key: str, node: ast.expr) -> Fed | None:
    """What a placeholder that a name holds becomes."""
    statement = module.assignment(node)
    call = statement.value if statement is not None else None
    told = told_by(module, call) if isinstance(call, ast.Call) else None
    if told is None or statement is None or not has_its_line(module, statement):
        return None
    if not all(_is_everywhere(module, part) for part in told.parts()) or not isinstance(node, ast.Name):
        return None
    return Fed(statement, node.id, key, told)


def _is_everywhere(module: Module, node: ast.expr) -> bool:
    """Whether all names of an expression are those of its file."""
    names = [n for n in walk(node) if isinstance(n, ast.Name)]
    scopes = [module.scope(name).lookup(name.id) for name in names]
    return all(scope is not None and scope.kind == "module" for scope in scopes)
