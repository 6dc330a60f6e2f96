"""Loops over the predictions of an Estimator, one dict for each example, as loops over the arrays that Keras gives."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator
from dataclasses import dataclass

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

Comprehension = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True)
class Rows:
    """A loop over predictions: where it takes them from, and what it reads of each."""

    source: ast.expr
    """What the loop goes over, inside of `enumerate` or `zip`."""
    picked: str
    """What picks some of the predictions, such as ``[:5]``."""
    target: ast.Name
    """The dict of one example."""
    reads: dict[str, list[ast.Subscript]]
    """Its entries, by key; nothing else of it is read."""
    zipped: bool
    """Whether it is one of several arguments of `zip`."""
    enumerated: bool


def rows_of(module: Module, node: ast.expr) -> Rows | None:
    """The loop over the predictions that an expression stands for; None if it does something else with them."""
    source, picked = _source(module, node)
    place = _place(module, source)
    if place is None:
        return None
    owner, target, zipped, enumerated = place
    reads: dict[str, list[ast.Subscript]] = {}
    for load in _loads(module, owner, target):
        parent = module.parent(load)
        if not isinstance(parent, ast.Subscript) or parent.value is not load or not isinstance(parent.ctx, ast.Load):
            return None
        key = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
        if not isinstance(key, str) or any(isinstance(n, ast.JoinedStr) for n in module.ancestors(parent)):
            return None
        reads.setdefault(key, []).append(parent)
    return Rows(source, picked, target, reads, zipped, enumerated) if reads else None


def is_one(module: Module, node: ast.expr) -> bool:
    """Whether a loop over predictions reads one entry of each, or prints them: one that is no dict does as well."""
    rows = rows_of(module, node)
    if rows is not None:
        return len(rows.reads) == 1
    place = _place(module, node)
    if place is None:
        return False
    owner, target, _, _ = place
    return all(_is_call(module, module.parent(load), "print") for load in _loads(module, owner, target))


def listed(module: Module, node: ast.expr) -> ast.expr:
    """``list(predictions)`` around predictions that a statement gives a name, else these."""
    parent = module.parent(node)
    if not _is_call(module, parent, "list") or not isinstance(parent, ast.Call) or parent.args != [node]:
        return node
    return parent if isinstance(module.parent(parent), ast.Assign) else node


def named(module: Module, node: ast.expr) -> tuple[ast.Name | None, list[ast.expr]]:
    """The one name that a statement gives a value, and the places that read it; the value itself where it gets none."""
    statement = module.parent(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(target, ast.Name):
        scope = module.scope(target).holder(target.id)
        if len(scope.bindings.get(target.id, [])) == 1:
            return target, [*module.loads_of(target.id, scope)]
    return None, [node]


def are_all_read(module: Module, node: ast.expr) -> bool:
    """Whether a program goes through the predictions of a call to their end, which they have then."""
    _, places = named(module, node)
    if len(places) != 1:
        return False
    source = places[0]
    parent = module.parent(source)
    if _is_call(module, parent, "enumerate") and isinstance(parent, ast.Call) and parent.args == [source]:
        source, parent = parent, module.parent(parent)
    if any(_is_call(module, parent, taker) for taker in ("list", "tuple", "sorted", "set")):
        return True
    if isinstance(parent, ast.comprehension) and parent.iter is source:
        return not isinstance(module.parent(parent), ast.GeneratorExp)
    if not isinstance(parent, ast.For) or parent.iter is not source:
        return False
    return not any(
        isinstance(n, (ast.Break, ast.Return, ast.Raise, ast.Yield)) for part in parent.body for n in walk(part)
    )


def _source(module: Module, node: ast.expr) -> tuple[ast.expr, str]:
    """``list(predictions)[:5]`` around predictions, and its slice."""
    parent = module.parent(node)
    if not _is_call(module, parent, "list") or not isinstance(parent, ast.Call) or parent.args != [node]:
        return node, ""
    above = module.parent(parent)
    if isinstance(above, ast.Subscript) and above.value is parent and isinstance(above.slice, ast.Slice):
        if all(isinstance(b, (ast.Constant, ast.UnaryOp, type(None))) for b in (above.slice.lower, above.slice.upper)):
            return above, f"[{module.segment(above.slice)}]"
    return parent, ""


def _place(module: Module, source: ast.expr) -> tuple[ast.AST, ast.Name, bool, bool] | None:
    """The loop that goes over `source`, the target of the predictions, and whether they are zipped or enumerated."""
    call = module.parent(source)
    zipped = _is_call(module, call, "zip") and isinstance(call, ast.Call) and source in call.args
    enumerated = _is_call(module, call, "enumerate") and isinstance(call, ast.Call) and call.args == [source]
    iterated: ast.AST | None = call if zipped or enumerated else source
    loop = module.parent(iterated) if iterated is not None else None
    if not isinstance(loop, (ast.For, ast.comprehension)) or loop.iter is not iterated:
        return None
    target: ast.AST = loop.target
    if zipped or enumerated:
        assert isinstance(call, ast.Call)
        number = call.args.index(source) if zipped else 1
        if not isinstance(target, ast.Tuple) or len(target.elts) != (len(call.args) if zipped else 2):
            return None
        if call.keywords:
            return None
        target = target.elts[number]
    owner = module.parent(loop) if isinstance(loop, ast.comprehension) else loop
    if not isinstance(target, ast.Name) or owner is None:
        return None
    return owner, target, zipped, enumerated


def _is_call(module: Module, node: ast.AST | None, name: str) -> bool:
    """Whether a node is a call of a built-in function."""
    function = node.func if isinstance(node, ast.Call) and not node.keywords else None
    return isinstance(function, ast.Name) and function.id == name and not module.is_bound(name, function)


def _loads(module: Module, owner: ast.AST, target: ast.Name) -> Iterator[ast.Name]:
    """Where the dict of an example is read, also behind the loop if no other one has a variable of its name."""
    scope = module.scope(target).holder(target.id)
    alone = len(scope.bindings.get(target.id, [])) == 1
    for load in module.loads_of(target.id, scope):
        if alone or module.is_inside(load, owner):
            yield load


def free_names(module: Module, rows: Rows) -> dict[str, str] | None:
    """Names for the entries of an example, by key; None if one of them is taken or no name."""
    names = {key: f"{key}_" if keyword.iskeyword(key) or key in vars(builtins) else key for key in rows.reads}
    if len(names) == 1 and any(key != name for key, name in names.items()):
        return dict.fromkeys(names, rows.target.id)
    if all(_is_free(module, name, rows) for name in names.values()):
        return names
    return dict.fromkeys(names, rows.target.id) if len(names) == 1 else None


def _is_free(module: Module, name: str, rows: Rows) -> bool:
    return name.isidentifier() and (name == rows.target.id or module.unused_name(name, rows.target) == name)
