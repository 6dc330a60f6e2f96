"""Lengths of lists of tensors that a helper gets, ``tf.layers.dense(x, len(experts))``: what calls it says how long they are."""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import keywords
from migrator.normalise.values.callers import calls_of
from migrator.resolve.calls import has_stars
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, expr, with_parameters

from ..model_fns.translations import translations

_PLAIN = (ast.Name, ast.BinOp, ast.operator, ast.List, ast.Tuple, ast.expr_context, ast.Constant, ast.Subscript)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits for one such list of a helper; none where a call computes the list in its place, or hides it.

    ```python
    import tensorflow as tf


    def gate(x, experts):
        weights = tf.layers.dense(x, len(experts))
        return tf.reduce_sum(tf.stack(experts, axis=1) * weights[:, :, None], axis=1)


    def network(x, specific, shared):
        return gate(x, specific + shared)
    ```
    becomes
    ```python
    import tensorflow as tf


    def gate(x, experts, *, num_experts):
        weights = tf.layers.dense(x, num_experts)
        return tf.reduce_sum(tf.stack(experts, axis=1) * weights[:, :, None], axis=1)


    def network(x, specific, shared):
        return gate(x, specific + shared, num_experts=len(specific + shared))
    ```
    """
    if function.args.vararg or function.args.kwarg or function.decorator_list:
        return []
    for parameter in function.args.args:
        lengths = _lengths(module, function, parameter.arg)
        name = f"num_{parameter.arg}"
        if not lengths or name in {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(parameters(function)):
            continue
        calls, elsewhere = calls_of(drafts.project, Definition(module, function))
        wanted: list[tuple[Module, rewrite.Change]] = []
        for other, call in [] if elsewhere or any(has_stars(call) for _, call in calls) else calls:
            held = given(function, call).get(parameter.arg)
            if held is None or any(not isinstance(node, _PLAIN) for node in walk(held)):
                wanted = []
                break
            wanted.append((other, keywords(other, call, {name: f"len({other.segment(held)})"})))
        if wanted:
            head = with_parameters(module.cst.statement(function), add=[name], by_keyword=True)
            inside = [(module, Replace(node, expr(name))) for node in lengths]
            return Change.every([(module, Replace(function, head)), *inside, *wanted])
    return []


def _lengths(module: Module, function: ast.FunctionDef, name: str) -> list[ast.Call]:
    """Where a function asks for the length of a list of tensors, which nothing else gets a name of, and makes a layer of it."""
    loads = [n for n in walk(function) if is_name(n, name)]
    if any(not isinstance(load.ctx, ast.Load) for load in loads):  # type: ignore[attr-defined]
        return []
    parents = [module.parent(load) for load in loads]
    found = [p for p in parents if isinstance(p, ast.Call) and is_name(p.func, "len") and not module.bindings(p.func)]  # type: ignore[arg-type]
    stacked = any(isinstance(p, ast.Call) and (module.resolve(p.func) or "").startswith("tensorflow.") for p in parents)
    return found if stacked and any(_makes_layer(module, node) for node in found) else []


def _makes_layer(module: Module, node: ast.Call) -> bool:
    """Whether a value is an argument of what makes a layer."""
    layers = translations().layers
    calls = (outer for outer in module.ancestors(node) if isinstance(outer, ast.Call))
    return any((module.resolve(outer.func) or "") in layers for outer in calls)
