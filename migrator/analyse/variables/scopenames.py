"""Names of the graph as values: of scopes, ``scope.name`` of ``with tf.variable_scope("conv1") as scope``, and of tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.tags import names_layer, opened_names, path_of, summary_call
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.loggers import LOGGERS
from migrator.analyse.statements.names import targets
from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.analyse.variables.scopes import scope_prefix
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.writing import FunctionWriting

VARIABLE_SCOPE = "tensorflow.variable_scope"
_OF_GRAPHS = frozenset({"name", "op", "graph"})


def scope_name(writer: FunctionWriting, node: ast.expr) -> str | None:
    """The text of a scope's name, where `node` reads one; None for anything else. Raises Unsupported for other uses of a
    scope that the generated code does not open."""
    plan, held = writer.plan, node.value if isinstance(node, ast.Attribute) else node
    if not isinstance(held, ast.Name) or not isinstance(held.ctx, ast.Load):
        return None
    leaf, scopes = _opened(plan, held)
    if leaf is None or not scopes:
        return None
    opener = next(i for i in scopes[-1].items if i.optional_vars is not None and held.id in targets(i.optional_vars))
    of_variables = (
        isinstance(opener.context_expr, ast.Call) and plan.module.resolve(opener.context_expr.func) == VARIABLE_SCOPE
    )
    if of_variables != isinstance(node, ast.Attribute) or isinstance(node, ast.Attribute) and node.attr != "name":
        raise Unsupported(f"`{held.id}` is a scope, which Keras does not have", node)
    named = _names_operation(plan, node)
    if plan.is_helper and not named and not _is_in_tag(plan, leaf, node):
        raise Unsupported("the name of a scope in a helper, which depends on where it is called", node)
    text = _text(writer, scopes, node)
    return text if of_variables or named else f'{text} + "/"'


def name_in_graph(writer: FunctionWriting, node: ast.expr) -> str | None:
    """The text of the name that a variable has in TensorFlow 1, where `node` reads one, and in messages something like it
    for a tensor; None for anything else. Raises Unsupported for other uses of what only tensors of a graph have."""
    plan = writer.plan
    if not isinstance(node, ast.Attribute) or node.attr not in _OF_GRAPHS or plan.module.resolve(node) is not None:
        return None
    of_operation = isinstance(node.value, ast.Attribute) and node.value.attr == "op"
    held = node.value.value if isinstance(node.value, ast.Attribute) and of_operation else node.value
    leaf = plan.flow.leaf_of(node)
    made = (
        plan.slicer.reaching(held.id, leaf.index, None, leaf) if isinstance(held, ast.Name) and leaf is not None else []
    )
    if not isinstance(held, ast.Name) or leaf is None or writer.is_inner(held):
        return None
    if not made or not all(isinstance(one.node, ast.Assign) for one in made):
        return None  # such as the variable of a loop over all variables
    sites = [site for site in plan.sites if site.layer.weight and site.leaf in made and not site.loops]
    weight = sites[0] if len(made) == len(sites) == 1 else None
    if weight is None and plan.times.of(held) <= Time.MODE:
        return None
    if node.attr == "name" and _is_said(plan, node):
        return f'"{held.id}"'
    own = literal_pattern(weight.layer.name) if weight is not None else None
    prefix = scope_prefix(plan, weight.leaf) if weight is not None else None
    if node.attr != "name" or own is None or prefix is None or "*" in prefix + own or plan.is_helper:
        raise Unsupported(f"`{ast.unparse(node)}`, which is another one without the graph", node)
    number = "" if of_operation else "_0" if _is_in_tag(plan, leaf, node) else ":0"
    return f'"{prefix}{own}{number}"'


def _is_said(plan: Body, node: ast.expr) -> bool:
    """Whether a value only goes into a message."""
    call = plan.module.parent(node)
    while isinstance(call, (ast.BinOp, ast.Tuple, ast.keyword)):
        call = plan.module.parent(call)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "format":
        call = plan.module.parent(call)
    name = plan.module.resolve(call.func) or ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    return name == "print" or name.startswith(LOGGERS)


def _opened(plan: Body, held: ast.Name) -> tuple[Leaf | None, tuple[ast.With, ...]]:
    """The statement that reads a name, and the scopes down to the one that has it; none if it is no name of a scope."""
    at = plan.flow.leaf_of(held)
    if at is None or held.id not in plan.flow.scope_names or plan.slicer.reaching(held.id, at.index, None, at):
        return None, ()
    for leaf in [at, *reversed(plan.flow.leaves[: at.index])]:
        for depth in range(len(leaf.frames), 0, -1):
            frame = leaf.frames[depth - 1]
            if frame.silent and held.id in frame.binds():
                return at, tuple(f.node for f in leaf.frames[:depth] if isinstance(f.node, ast.With))
    return None, ()


def _names_operation(plan: Body, node: ast.expr) -> bool:
    """Whether a value only names an operation: of TensorFlow, or of a function that is handed over, such as an activation."""
    keyword = plan.module.parent(node)
    call = plan.module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "name" else None
    if not isinstance(call, ast.Call):
        return False
    name = plan.module.resolve(call.func)
    handed_over = isinstance(call.func, ast.Name) and call.func.id in plan.statics
    return handed_over if name is None else name.startswith("tensorflow.")


def _is_in_tag(plan: Body, leaf: Leaf, node: ast.expr) -> bool:
    summary = summary_call(plan, leaf)
    return summary is not None and bool(summary.args) and any(part is node for part in walk(summary.args[0]))


def _text(writer: FunctionWriting, scopes: tuple[ast.With, ...], node: ast.expr) -> str:
    names = [name for scope in scopes for name in opened_names(writer.plan, scope)]
    path = path_of(writer.plan, scopes)
    first = names[0] if names else None
    if first is not None and len(names) == 1:
        if path is not None and path == f"{literal_pattern(first)}/":
            return writer.text(first)
        if names_layer(writer.plan, first):
            return "self.name"
    if path is None:
        raise Unsupported("the name of this scope is not a literal", node)
    return f'"{path[:-1]}"'
