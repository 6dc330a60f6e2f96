"""What loops and comprehensions walk over, part by part: ``for i, (task, x) in enumerate(zip(tasks, inputs))``.

A loop may walk over tensors next to plain values. How often it turns is known when the model is built if one of the
parts is; the others are walked over in `call` only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Union

from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.names import enumerated, parameters, targets
from migrator.resolve.syntax import children, walk

Loop = Union[ast.For, ast.comprehension]
Comprehension = (ast.ListComp, ast.DictComp, ast.GeneratorExp)


def parts(loop: Loop) -> list[tuple[ast.expr, ast.expr]]:
    """Each target of a loop with what it walks over, the counter of `enumerate` left out."""
    _, target, iterable = enumerated(loop)
    if is_zip(iterable, target):
        assert isinstance(iterable, ast.Call) and isinstance(target, ast.Tuple)
        return list(zip(target.elts, iterable.args))
    return [(target, iterable)]


def is_zip(iterable: ast.expr, target: ast.expr) -> bool:
    """Whether a loop walks over ``zip(a, b)`` with one target for each."""
    if not isinstance(iterable, ast.Call) or not isinstance(iterable.func, ast.Name) or iterable.func.id != "zip":
        return False
    plain = not iterable.keywords and not any(isinstance(a, ast.Starred) for a in iterable.args)
    return plain and isinstance(target, ast.Tuple) and len(target.elts) == len(iterable.args)


def bound_times(loop: Loop, time: Callable[[ast.AST], Time]) -> Iterator[tuple[str, Time]]:
    """When each name is known that the head of a loop binds."""
    for target, iterable in parts(loop):
        yield from ((name, time(iterable)) for name in targets(target))
    counter = enumerated(loop)[0]
    if counter is not None:
        yield from ((name, turns_time(loop, time)) for name in targets(counter))


def turns_time(loop: Loop, time: Callable[[ast.AST], Time]) -> Time:
    """When the number of turns is known."""
    return Time.STATIC if written_turns(loop) is not None else min(time(iterable) for _, iterable in parts(loop))


def written_turns(loop: Loop) -> int | None:
    """How often a loop turns that walks over what is written out, ``for x in (user, item)``; None where it is not."""
    written = [value.elts for _, value in parts(loop) if isinstance(value, (ast.List, ast.Tuple))]
    known = [len(elements) for elements in written if not any(isinstance(e, ast.Starred) for e in elements)]
    return known[0] if len(known) == len(parts(loop)) and len(set(known)) == 1 else None


def static_parts(loop: Loop, time: Callable[[ast.AST], Time]) -> list[tuple[ast.expr, ast.expr]]:
    """The parts that are known when the model is built."""
    return [(target, iterable) for target, iterable in parts(loop) if time(iterable) <= Time.MODE]


def own_reads(
    node: ast.AST, names: Collection[str], bound: Mapping[str, ast.comprehension] = MappingProxyType({})
) -> Iterator[tuple[ast.AST, tuple[ast.comprehension, str]]]:
    """The reads of `names` that the loops of comprehensions have bound for themselves, each with its loop."""
    if isinstance(node, ast.Name) and node.id in bound:
        yield node, (bound[node.id], node.id)
    inner = dict(bound)
    if isinstance(node, (*Comprehension, ast.SetComp)):
        for generator in node.generators:
            yield from own_reads(generator.iter, names, inner)
            inner.update((name, generator) for name in targets(generator.target) if name in names)
            for test in generator.ifs:
                yield from own_reads(test, names, inner)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            yield from own_reads(part, names, inner)
        return
    if isinstance(node, (ast.Lambda, ast.FunctionDef)):
        inner = {name: loop for name, loop in inner.items() if name not in parameters(node)}
    for child in children(node):
        yield from own_reads(child, names, inner)


def comprehensions(node: ast.AST) -> Iterator[ast.comprehension]:
    """All loops in the comprehensions below a node."""
    for child in walk(node):
        if isinstance(child, ast.comprehension):
            yield child
