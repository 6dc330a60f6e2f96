"""Writes how a method begins whose statements bind names again that come in from outside."""

from __future__ import annotations

import ast
import re

from migrator.analyse.statements.flow import Leaf
from migrator.emit.writer import Writer
from migrator.rewrite import Row


def prologue(writer: Writer, leaves: list[Leaf]) -> list[Row]:
    """Names that the statements rebind begin with their value from outside, but where the first of them rebinds at once.

    If they bind the names of our own parameters, everything that comes in gets its name first.
    """
    bound = {name for leaf in leaves for name in leaf.defs}
    names = bound & set(writer.names)
    if not bound & {"x", "y", "y_pred", "sample_weight"}:
        writer.rebound = {leaf: name for name in names if (leaf := rebinding(leaves, name)) is not None}
        names -= {*writer.rebound.values()}
    else:
        used = {name for leaf in leaves for name in leaf.uses}
        incoming = {n for n, text in writer.names.items() if re.match(r"(x|y|y_pred)\b", text)}
        names |= incoming & (used | bound)
    return writer.lines(*(f"{name} = {writer.names.pop(name)}" for name in sorted(names)))


def rebinding(leaves: list[Leaf], name: str) -> Leaf | None:
    """The statement ``name = …`` that always runs before anything else binds a name, or reads it later than it runs itself."""
    first = next(leaf for leaf in leaves if name in leaf.defs)
    node, above = first.node, leaves[: leaves.index(first)]
    simple = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    deferred = (ast.Lambda, ast.FunctionDef)
    late = any(isinstance(n, deferred) for leaf in [*above, first] if name in leaf.uses for n in ast.walk(leaf.node))
    always = not first.frames and all(leaf.modes <= first.modes for leaf in leaves)
    return first if simple and always and not late else None
