"""The hooks in a list: written, joined, filled by `append` and `extend`, some of them under a condition."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from migrator.analyse.function.translate import is_empty
from migrator.resolve.module import Module

from ..loop.places import has_its_line


@dataclass(frozen=True)
class Condition:
    """A test that has to hold, or not to."""

    node: ast.expr
    negated: bool = False


@dataclass(frozen=True)
class Element:
    """One hook of a list."""

    node: ast.expr
    condition: Condition | None = None
    """What has to hold for the list to have it."""


class NotSeen(Exception):
    """Something else is done with the list."""


def elements_of(module: Module, node: ast.expr, statements: list[ast.stmt]) -> list[Element] | None:
    """The elements of a list, or None; what holds it and fills it is added to `statements`."""
    held: list[ast.stmt] = []
    try:
        found = list(_elements(module, node, held))
    except NotSeen:
        return None
    if not all(has_its_line(module, line) for line in held):
        return None
    statements += held
    return found


def _elements(module: Module, node: ast.expr, held: list[ast.stmt]) -> Iterator[Element]:
    if isinstance(node, (ast.List, ast.Tuple)):
        if any(isinstance(part, ast.Starred) for part in node.elts):
            raise NotSeen
        yield from map(Element, node.elts)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _elements(module, node.left, held)
        yield from _elements(module, node.right, held)
    elif isinstance(node, ast.IfExp):
        yield from _under(Condition(node.test), _elements(module, node.body, held))
        yield from _under(Condition(node.test, negated=True), _elements(module, node.orelse, held))
    elif isinstance(node, ast.Name):
        yield from _named(module, node, held)
    elif not is_empty(node):
        raise NotSeen


def _under(condition: Condition, elements: Iterator[Element]) -> Iterator[Element]:
    for element in elements:
        if element.condition is not None:
            raise NotSeen
        yield replace(element, condition=condition)


def _named(module: Module, node: ast.Name, held: list[ast.stmt]) -> Iterator[Element]:
    """The elements of a list with a name, which statements around its own may add to."""
    scope = module.scope(node).lookup(node.id)
    targets = [binding.node for binding in module.bindings(node)]
    lines = sorted((module.statement(target) for target in targets), key=module.span)
    firsts = [line for line in lines if isinstance(line, ast.Assign) and len(line.targets) == 1]
    if not firsts or not all(isinstance(line, ast.AugAssign) for line in lines if line not in firsts):
        raise NotSeen
    first = firsts[0]
    if len(firsts) > 1 and not is_empty(first.value):  # what it was would be lost
        raise NotSeen
    lines += [module.statement(load) for load in module.loads_of(node.id, scope) if load is not node]
    lines = sorted(dict.fromkeys(lines), key=module.span)
    if lines[0] is not first:
        raise NotSeen
    yield from _elements(module, first.value, held)
    held.append(first)
    taken: set[ast.stmt] = set()
    for line in lines[1:]:
        outer = module.parent(line)
        if outer is module.parent(first) and len(firsts) == 1:
            yield from _added(module, line, node.id, held)
            held.append(line)
        elif isinstance(outer, ast.If) and module.parent(outer) is module.parent(first) and outer not in taken:
            if len(firsts) > 1 and (taken or len(outer.body) > 1 or len(outer.orelse) > 1):
                raise NotSeen
            taken.add(outer)
            yield from _chosen(module, outer, node.id, held)
            held.append(outer)
        elif outer not in taken:
            raise NotSeen


def _chosen(module: Module, branch: ast.If, name: str, held: list[ast.stmt]) -> Iterator[Element]:
    """What an `if` adds that does nothing else."""
    for body, negated in ((branch.body, False), (branch.orelse, True)):
        for line in body:
            yield from _under(Condition(branch.test, negated), _added(module, line, name, held))


def _added(module: Module, line: ast.stmt, name: str, held: list[ast.stmt]) -> Iterator[Element]:
    """What a statement adds to a list."""
    if isinstance(line, ast.AugAssign) and isinstance(line.op, ast.Add) and isinstance(line.target, ast.Name):
        if line.target.id != name:
            raise NotSeen
        yield from _elements(module, line.value, held)
        return
    if isinstance(line, ast.Assign):  # where there was nothing before
        yield from _elements(module, line.value, held)
        return
    call = line.value if isinstance(line, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) else None
    owner = method.value if isinstance(method, ast.Attribute) else None
    if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute) or len(call.args) != 1 or call.keywords:
        raise NotSeen
    if not isinstance(owner, ast.Name) or owner.id != name or method.attr not in ("append", "extend"):
        raise NotSeen
    if method.attr == "append":
        yield Element(call.args[0])
    else:
        yield from _elements(module, call.args[0], held)
