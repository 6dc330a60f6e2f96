"""What only variables of a TensorFlow 1 graph say: the operation that holds them, and, asked for truth, that they are there."""

from __future__ import annotations

import ast

from migrator.engine.fixes import printed_fixes
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code, expr
from migrator.vocabulary.diagnostics import Fix

_AVERAGES = b"ExponentialMovingAverage"


def variable_fixes(module: Module) -> list[Fix]:
    """For graphs of TensorFlow 1 whose variables are those of TensorFlow 2, which live outside of the graph.

    ``variable.op.name`` becomes the name without its number of the output; ``average if average else variable``, with what
    an `ExponentialMovingAverage` has for a variable, asks for None, as TensorFlow 2 asks for the value.
    """
    changes: list[Replace] = []
    if b".op.name" in module.source:
        changes += _names(module)
    if _AVERAGES in module.source and b".average(" in module.source:
        changes += _presence(module)
    return printed_fixes(module, "read variables that are outside of the graph", changes)


def _names(module: Module) -> list[Replace]:
    if any(node.attr == "op" and isinstance(node.ctx, ast.Store) for node in module.nodes(ast.Attribute)):
        return []  # objects of the program have one
    changes: dict[ast.AST, Replace] = {}
    for node in module.nodes(ast.Attribute):
        holder = node.value
        if node.attr != "name" or not isinstance(node.ctx, ast.Load):
            continue
        if not isinstance(holder, ast.Attribute) or holder.attr != "op" or module.resolve(node) is not None:
            continue
        text = module.nearest(node, ast.JoinedStr)
        if text is not None:  # whose parts have no reliable place
            written = module.segment(text)
            quote = '"' if '"' not in written else "'"
            if quote not in written:
                new = written.replace(".op.name", f".name.split({quote}:{quote})[0]")
                changes[text] = Replace(text, code(new))
            continue
        changes[node] = Replace(node, expr('{x}.name.split(":")[0]', x=module.cst.expression(holder.value)))
    return list(changes.values())


def _presence(module: Module) -> list[Replace]:
    changes = []
    for node in walk(module.tree):
        if not isinstance(node, (ast.IfExp, ast.If)):
            continue
        test, sign = node.test, "is not"
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, sign = test.operand, "is"
        if isinstance(test, ast.Name) and _is_average(module, test):
            changes.append(Replace(node.test, expr(f"{test.id} {sign} None")))
    return changes


def _is_average(module: Module, node: ast.Name) -> bool:
    """Whether a name is what a moving average has for a variable, and nothing else."""
    values = [getattr(module.parent(binding.node), "value", None) for binding in module.bindings(node)]
    return bool(values) and all(
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "average"
        and len(value.args) == 1
        and not value.keywords
        for value in values
    )
