"""What only checks or tells: assertions and messages that the forward pass waits for, which in TensorFlow 2 run where they
stand, without control dependencies; and Python code that raises an error where something is wrong."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.normalise.draft.returns import own_statements

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.writing import FunctionWriting
    from migrator.resolve.module import Module

DEPENDENCIES = "tensorflow.control_dependencies"
RUNS = "in TensorFlow 1 nothing waited for this, so that it was not run; now it is"
_ASSERTION = re.compile(r"tensorflow\.((debugging\.)?(assert_\w+|Assert)|print)$")


def is_assertion(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a call of one of TensorFlow's assertions, or of ``tf.print``."""
    return isinstance(node, ast.Call) and _ASSERTION.match(module.resolve(node.func) or "") is not None


def bare_assertions(module: Module, function: ast.FunctionDef | ast.ClassDef) -> Iterator[ast.Call]:
    """The assertions of a function that nothing waits for."""
    for statement in own_statements(function.body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if is_assertion(module, statement.value):
                yield statement.value


def assertion_texts(writer: FunctionWriting, node: ast.With) -> list[str]:
    """The assertions among the control dependencies of a scope. Raises Unsupported for anything else that it waits for."""
    texts: list[str] = []
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
                texts.append(writer.text(element))
    return texts


def is_check(body: Body, node: ast.stmt) -> bool:
    """Whether a statement is there to raise an error: an `assert`, a condition of which some arm raises one, or a call of a
    function of the program that does nothing else.

    What else it may do is giving values to names, as in ``if rank == 3: … elif length is None: raise …``.
    """
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        definition = body.sublayers.project.definition(body.module, node.value.func)
        function = definition.node if definition is not None else None
        return isinstance(function, ast.FunctionDef) and not function.decorator_list and _is_check_function(function)
    if isinstance(node, ast.If):
        return _only_checks([node], set()) and _raises(node)
    return isinstance(node, (ast.Assert, ast.Raise))


def _is_check_function(function: ast.FunctionDef) -> bool:
    own = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    outer = any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(function))
    return not outer and _only_checks(body, own) and _raises(function)


def _raises(node: ast.stmt) -> bool:
    return any(isinstance(child, (ast.Raise, ast.Assert)) for child in ast.walk(node))


def _only_checks(statements: list[ast.stmt], own: set[str]) -> bool:
    """Whether statements raise errors and give values to names, or to entries of what the names in `own` hold, alone."""
    for node in statements:
        if isinstance(node, (ast.If, ast.For)):
            if not _only_checks([*node.body, *node.orelse], own):
                return False
        elif isinstance(node, ast.Assign):
            entries = [t for t in node.targets if not isinstance(t, (ast.Name, ast.Tuple))]
            for entry in entries:
                held = entry.value if isinstance(entry, ast.Subscript) else None
                if not isinstance(held, ast.Name) or held.id not in own:
                    return False
        elif not isinstance(node, (ast.Assert, ast.Raise, ast.Pass)):
            return False
    return True
