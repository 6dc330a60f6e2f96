"""Assertions that the forward pass waits for: in TensorFlow 2 they run where they stand, without control dependencies."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from migrator.modelfn.errors import Unsupported

if TYPE_CHECKING:
    from migrator.modelfn.writer import Writer
    from migrator.module import Module

DEPENDENCIES = "tensorflow.control_dependencies"
_ASSERTION = re.compile(r"tensorflow\.(debugging\.)?assert_\w+$")


def is_assertion(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a call of one of TensorFlow's assertions."""
    return isinstance(node, ast.Call) and _ASSERTION.match(module.resolve(node.func) or "") is not None


def assertion_lines(writer: Writer, node: ast.With, indent: str) -> list[str]:
    """The assertions among the control dependencies of a scope. Raises Unsupported for anything else that it waits for."""
    lines: list[str] = []
    for item in node.items:
        call = item.context_expr
        if not isinstance(call, ast.Call) or writer.resolve(call.func) != DEPENDENCIES:
            continue
        listed = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if not isinstance(listed, (ast.List, ast.Tuple)):
            raise Unsupported("control dependencies in the forward pass are not migrated yet", node)
        for element in listed.elts:
            if not is_assertion(writer.plan.module, element):
                raise Unsupported("control dependencies in the forward pass are not migrated yet", node)
            if writer.where != "init":  # nothing flows yet
                lines.append(indent + writer.text(element))
    return [*writer.shared.renderer.comments(node, indent), *lines] if lines else []
