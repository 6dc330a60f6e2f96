"""Names that a graph gives to scopes and tensors.

TensorFlow 2 has name scopes in the place of variable scopes, and no names for tensors without a graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import is_none
from migrator.analyse.variables.scopes import VARIABLE_SCOPE
from migrator.engine.fixes import printed_fixes
from migrator.resolve.module import Module
from migrator.resolve.symbols import dotted
from migrator.resolve.syntax import statements, walk
from migrator.rewrite import Replace, expr
from migrator.vocabulary.diagnostics import Fix

from ..model_fns.translations import is_refused, needs_graph
from ..program.unused_code import GRAPH_SCOPES
from ..symbols.symbol_rows import find_row

if TYPE_CHECKING:
    import libcst as cst

SCOPE = "tensorflow.get_variable_scope"


def graph_name_fixes(module: Module) -> list[Fix]:
    """Rewrites for files that move as a whole.

    ``tf.get_variable_scope().name`` becomes ``tf.get_current_name_scope()`` where only an error says it, and the default
    ``name = tensor.name`` of a parameter of that name becomes ``getattr(tensor, "name", None)``. Around no variables,
    ``with tf.variable_scope("attention"):`` becomes ``with tf.name_scope("attention"):``.
    """
    fixes: list[Fix] = []
    if b"variable_scope" in module.source:
        fixes += scope_fixes(module)
    if b"get_variable_scope" in module.source:
        scopes = (Replace(node, _current(node)) for node in _scope_names(module))
        fixes += printed_fixes(module, "name the scope of the layer", scopes)
    if b"name is None" in module.source:
        fixes += printed_fixes(
            module,
            "tensors may have no name",
            (
                Replace(node, expr('getattr({tensor}, "name", None)', tensor=module.cst.expression(node.value)))
                for node in _tensor_names(module)
            ),
        )
    return fixes


def scope_fixes(module: Module) -> list[Fix]:
    """The scopes of functions that make no variables: these name ops alone."""
    return printed_fixes(module, "name operations", _scopes(module))


def _scopes(module: Module) -> Iterator[Replace]:
    graphs = _with_variables(module)
    for statement in statements(module.tree):
        function = module.nearest(statement, ast.FunctionDef) if isinstance(statement, ast.With) else None
        if not isinstance(statement, ast.With) or function is None or function in graphs:
            continue
        for item in statement.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or item.optional_vars:
                continue
            name = _name_of_scope(module, call) if module.resolve(call.func) == VARIABLE_SCOPE else None
            if name is not None:
                library = dotted(call.func.value) or "tf"
                yield Replace(call, expr("{library}.name_scope({name})", library=library, name=name))


def _name_of_scope(module: Module, call: ast.Call) -> cst.BaseExpression | None:
    """The name that a variable scope gives; None where it is entered anew, or numbered."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given.update(zip(("name_or_scope", "default_name"), call.args))
    name, default = given.get("name_or_scope"), given.get("default_name")
    if name is None or is_none(name):
        return None if default is None or is_none(default) else module.cst.expression(default)
    if isinstance(name, ast.Call) and module.resolve(name.func) == SCOPE:
        return None
    if default is None or is_none(default) or isinstance(name, (ast.Constant, ast.JoinedStr, ast.BinOp)):
        return module.cst.expression(name)
    return expr("{name} or {default}", name=module.cst.expression(name), default=module.cst.expression(default))


def _with_variables(module: Module) -> set[ast.FunctionDef]:
    """The functions that name what only graphs have beside scopes, and those that call such a function at the top."""
    found: set[ast.FunctionDef] = set()
    callers: dict[str, list[ast.FunctionDef]] = {}
    for function in module.nodes(ast.FunctionDef):
        names = {name for _, name in module.references_in(function)}
        if any(_is_of_graphs(name) for name in names):
            found.add(function)
        for node in walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                callers.setdefault(node.func.id, []).append(function)
    waiting = list(found)
    while waiting:
        function = waiting.pop()
        if module.parent(function) is module.tree:
            calling = [caller for caller in callers.pop(function.name, ()) if caller not in found]
            found.update(calling)
            waiting += calling
    return found


def _is_of_graphs(name: str) -> bool:
    """Whether only graphs have what a name means; not scopes, which are looked at here, nor what has another name now."""
    row = find_row(name[len("tensorflow.") :]) if name.startswith("tensorflow.") else None
    renamed = name in GRAPH_SCOPES or (row is not None and row[0].kind == "rename")
    return not renamed and (is_refused(name) or needs_graph(name))


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


def _current(node: ast.Attribute) -> cst.BaseExpression:
    assert isinstance(node.value, ast.Call)
    library = (dotted(node.value.func) or "tf").rpartition(".")[0]
    return expr("{library}.get_current_name_scope()", library=library)


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
