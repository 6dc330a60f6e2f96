"""A list of sizes that a loop fills for its own next turn, as it is in the end: layers can be made of it before the loop runs."""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.analyse.statements.names import binds, reads, targets
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, place_of, walk
from migrator.rewrite import Remove, Replace, code, expr

_LEAVES = (ast.Break, ast.Continue, ast.Return)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such list; none if there is no more.

    ```python
    import tensorflow as tf


    def network(x, fields, units):
        sizes = [fields]
        for i, n in enumerate(units):
            x = tf.matmul(x, tf.get_variable("w%d" % i, [sizes[-1], n]))
            sizes.append(int(n))
        return x
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x, fields, units):
        sizes = [fields] + [int(n) for n in units]
        for i, n in enumerate(units):
            x = tf.matmul(x, tf.get_variable("w%d" % i, [sizes[i], n]))
        return x
    ```
    """
    for loop in walk(function):
        if isinstance(loop, ast.For) and not loop.orelse:
            for statement in loop.body:
                changes = _filled(module, function, loop, statement)
                if changes:
                    return changes
    return []


def _filled(module: Module, function: ast.FunctionDef, loop: ast.For, statement: ast.stmt) -> list[Change]:
    """The changes for the list to which a statement of a loop appends."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return []
    held = call.func.value
    made = module.assignment(held) if isinstance(held, ast.Name) and len(call.args) == 1 and not call.keywords else None
    if made is None or not isinstance(held, ast.Name) or not isinstance(made.value, ast.List):
        return []
    block = module.parent(loop)
    while isinstance(block, ast.With) and made not in block.body:
        block = module.parent(block)  # which runs once, whatever there is
    if made not in getattr(block, "body", []) or place_of(made) > place_of(loop):
        return []
    if module.nearest(made, (ast.FunctionDef, ast.Lambda)) is not function:
        return []
    if any(isinstance(node, _LEAVES) for node in walk(loop)) or not _is_size(module, call.args[0]):
        return []
    first, counter = len(made.value.elts), _counter(module, loop)
    if not first or counter is None:
        return []
    turned = targets(loop.target)
    outside = (reads(call.args[0]) | reads(loop.iter)) - turned
    changed = set().union(*(binds(each) for each in loop.body))
    changed |= {name for each in walk(function) for name in _bound_between(each, made, loop)}
    if turned & changed or outside & (changed | turned) or held.id in outside:
        return []
    changes: list[rewrite.Change] = [Remove(statement)]
    for load in module.loads_of(held.id, module.scope(held).lookup(held.id)):
        if load is held:
            continue
        if module.scope(load) is not module.scope(held) or not _is_read(module, load):
            return []
        inside = module.is_inside(load, loop)
        if not inside and place_of(load) > place_of(loop):
            continue
        index = _index(module, load)
        if index is None or not (-1 <= index < first) or (not inside and index == -1):
            return []
        if inside and index == -1:
            number = first - 1 + (place_of(load) > place_of(statement))
            place = module.parent(load)
            assert isinstance(place, ast.Subscript)
            at = f"{counter} + {number}" if number else counter
            changes.append(Replace(place, code(f"{held.id}[{at}]")))
    if len(changes) == 1:
        return []  # what no turn asks for may as well be filled by the loop
    turn, walked = loop.target, loop.iter
    if isinstance(turn, ast.Tuple) and isinstance(walked, ast.Call) and counter not in reads(call.args[0]):
        turn, walked = turn.elts[1], walked.args[0]
    made_of = {"size": call.args[0], "turn": turn, "walked": walked}
    nodes = {name: module.cst.expression(node) for name, node in made_of.items()}
    old = module.cst.expression(made.value)
    changes.append(Replace(made.value, expr("{old} + [{size} for {turn} in {walked}]", old=old, **nodes)))
    return Change.of(module, *changes)


def _bound_between(node: ast.AST, made: ast.stmt, loop: ast.For) -> set[str]:
    """What a statement between the list and the loop binds."""
    below = isinstance(node, ast.stmt) and place_of(made) < place_of(node) < place_of(loop)
    return binds(node) if below and isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)) else set()


def _is_size(module: Module, node: ast.expr) -> bool:
    """Whether a value is a number that is known without tensors: a name, an entry, or what `int` makes of these."""
    if isinstance(node, ast.Call):
        known = is_name(node.func, "int") and not module.bindings(node.func) and len(node.args) == 1  # type: ignore[arg-type]
        return known and _is_size(module, node.args[0])
    if isinstance(node, ast.BinOp):
        return _is_size(module, node.left) and _is_size(module, node.right)
    if isinstance(node, ast.Subscript):
        return _is_size(module, node.value) and _is_size(module, node.slice)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and isinstance(node.value, (int, str)))


def _counter(module: Module, loop: ast.For) -> str | None:
    """The name that counts the turns of a loop from 0."""
    maker = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    if not isinstance(maker, ast.Name) or module.bindings(maker) or not isinstance(loop.iter, ast.Call):
        return None
    if len(loop.iter.args) != 1 or loop.iter.keywords:
        return None
    counts = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
    known = is_name(maker, "enumerate" if isinstance(loop.target, ast.Tuple) else "range")
    return counts.id if known and isinstance(counts, ast.Name) else None


def _is_read(module: Module, load: ast.Name) -> bool:
    """Whether a place reads the list, and does nothing else with it."""
    parent = module.parent(load)
    if isinstance(parent, ast.Attribute) or any(isinstance(a, ast.JoinedStr) for a in module.ancestors(load)):
        return False
    return not isinstance(parent, ast.Subscript) or isinstance(parent.ctx, ast.Load)


def _index(module: Module, load: ast.Name) -> int | None:
    """The number of the entry that a place reads."""
    parent = module.parent(load)
    index = parent.slice if isinstance(parent, ast.Subscript) and parent.value is load else None
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and isinstance(index.operand, ast.Constant):
        return -index.operand.value if isinstance(index.operand.value, int) else None
    return index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else None
