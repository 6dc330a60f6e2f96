"""Names that a graph gives to scopes and tensors, and that programs tell in errors.

TensorFlow 2 has the name scope of the layer in the place of the variable scope, and no names for tensors without a graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.diagnostics import Fix
from migrator.module import Module
from migrator.symbols import dotted
from migrator.syntax import statements, walk

SCOPE = "tensorflow.get_variable_scope"


def graph_name_fixes(module: Module) -> list[Fix]:
    """Rewrites for files that move as a whole.

    ``tf.get_variable_scope().name`` becomes ``tf.get_current_name_scope()`` where only an error says it, and the default
    ``name = tensor.name`` of a parameter of that name becomes ``getattr(tensor, "name", None)``.
    """
    fixes: list[Fix] = []
    if b"get_variable_scope" in module.source:
        fixes += [_fix(module, node) for node in _scope_names(module)]
    if b"name is None" in module.source:
        for node in _tensor_names(module):
            text = f'getattr({module.segment(node.value)}, "name", None)'
            fixes.append(Fix("tensors may have no name", (module.edit(node, text),)))
    return fixes


def _tensor_names(module: Module) -> Iterator[ast.Attribute]:
    """``tensor.name`` of ``if name is None: name = tensor.name``, of a parameter whose shape the function reads."""
    for node in statements(module.tree):
        if not isinstance(node, ast.If):
            continue
        test, body = node.test, node.body
        statement = body[0] if len(body) == 1 and not node.orelse else None
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Attribute):
            continue
        value, target = statement.value, statement.targets[0]
        if value.attr != "name" or not isinstance(value.value, ast.Name) or not isinstance(target, ast.Name):
            continue
        if not isinstance(test, ast.Compare) or ast.unparse(test) != f"{target.id} is None":
            continue
        bindings = module.bindings(value.value)
        function = module.nearest(node, ast.FunctionDef)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.arg) and function is not None:
            shapes = [n for n in walk(function) if isinstance(n, ast.Attribute) and n.attr in ("shape", "get_shape")]
            if any(isinstance(n.value, ast.Name) and n.value.id == value.value.id for n in shapes):
                yield value


def said_in_error(module: Module, call: ast.Call) -> bool:
    """Whether a call asks for the scope to tell its name in an error, and for nothing else."""
    return any(node.value is call for node in _scope_names(module))


def _fix(module: Module, node: ast.Attribute) -> Fix:
    assert isinstance(node.value, ast.Call)
    library = (dotted(node.value.func) or "tf").rpartition(".")[0]
    return Fix("name the scope of the layer", (module.edit(node, f"{library}.get_current_name_scope()"),))


def _scope_names(module: Module) -> Iterator[ast.Attribute]:
    for node in module.nodes(ast.Attribute):
        call = node.value
        named = node.attr == "name" and isinstance(node.ctx, ast.Load) and isinstance(call, ast.Call)
        if named and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if module.resolve(call.func) == SCOPE and not call.args and not call.keywords and _is_said(module, node):
                yield node


def _is_said(module: Module, node: ast.expr) -> bool:
    """Whether a value goes into errors only, perhaps by way of a name."""
    if module.nearest(node, ast.Raise) is not None:
        return True
    statement = module.parent(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or len(module.bindings(target)) != 1:
        return False
    scope = module.scope(target)
    reads = [n for n in module.loads(target.id) if module.scope(n).lookup(target.id) is scope]
    return all(module.nearest(n, ast.Raise) is not None for n in reads)
