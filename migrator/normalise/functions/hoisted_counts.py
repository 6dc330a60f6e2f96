"""Numbers that both arms of a condition add to one name, beside tensors: added before it, where these are not needed."""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import binds, reads
from migrator.analyse.statements.times import is_cheap
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, expr, statements


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such name of a function; none where an arm reads or changes what is added, or the test.

    ```python
    import tensorflow as tf


    def network(x, units, last):
        width = 0
        if units != last:
            x, direct = tf.split(x, 2, axis=1)
            width += units // 2
        else:
            direct = x
            width += units
        return direct, width
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x, units, last):
        width = 0
        width += units // 2 if units != last else units
        if units != last:
            x, direct = tf.split(x, 2, axis=1)
        else:
            direct = x
        return direct, width
    ```
    """
    for node in walk(function):
        if not isinstance(node, ast.If) or not is_cheap(node.test) or module.indent(node) is None:
            continue
        if module.nearest(node, ast.FunctionDef) is not function or _is_elif(module, node):
            continue
        pair = _pair(node)
        if pair is not None:
            one, other = pair
            value = expr(
                "{one} if {test} else {other}",
                one=module.cst.expression(one.value),
                test=module.cst.expression(node.test),
                other=module.cst.expression(other.value),
            )
            added = statements("{name} += {value}", name=module.cst.expression(one.target), value=value)
            return Change.of(module, Insert(added, before=node), Remove(one), Remove(other))
    return []


def _is_elif(module: Module, node: ast.If) -> bool:
    outer = module.parent(node)
    return (
        isinstance(outer, ast.If) and outer.orelse == [node] and module.source.startswith(b"elif", module.span(node)[0])
    )


def _pair(node: ast.If) -> tuple[ast.AugAssign, ast.AugAssign] | None:
    """What both arms add to one name, which nothing else in them reads or changes."""
    for one in node.body:
        if not isinstance(one, ast.AugAssign) or not isinstance(one.target, ast.Name) or len(node.body) < 2:
            continue
        name = one.target.id
        same = [s for s in node.orelse if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)]
        same = [s for s in same if s.target.id == name and isinstance(s.op, ast.Add)]  # type: ignore[union-attr]
        if len(same) != 1 or not isinstance(one.op, ast.Add) or len(node.orelse) < 2:
            continue
        others = [s for s in (*node.body, *node.orelse) if s not in (one, same[0])]
        changed = set().union(*map(binds, others))
        read = set().union(*map(reads, others))
        known = reads(one.value) | reads(same[0].value) | reads(node.test) | {name}
        if name not in read and not changed & known and is_cheap(one.value) and is_cheap(same[0].value):
            return one, same[0]
    return None
