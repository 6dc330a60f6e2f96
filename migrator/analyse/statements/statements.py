"""Statements that the generated methods could not say: a function with one of them is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import parameters, reads, rebinds
from migrator.analyse.statements.tensors import is_tensor
from migrator.resolve.syntax import children, walk

# Names of parameters and variables of the generated methods.
_OWN_NAMES = frozenset({"self", "training", "x", "y", "y_pred", "sample_weight"})
_OPAQUE = frozenset({"exec", "eval", "locals", "globals", "vars", "next", "super"})
_ITERATORS = frozenset({"map", "filter", "zip", "iter", "reversed", "enumerate"})


def check_statements(body: Body) -> None:
    """Refuse what the generated methods could not say."""
    heads = {name for leaf in body.flow.leaves for frame in leaf.frames for name in frame.binds()}
    bound = [n for leaf in body.flow.leaves for n in _own_nodes(leaf.node) if isinstance(n, ast.Assign)]
    own = {name for statement in bound for name in rebinds(statement)} - parameters(body.function)
    own |= {name for leaf in body.flow.leaves for name in leaf.kills} | heads
    obstacles = Obstacles()
    for leaf in body.flow.leaves:
        with obstacles:
            _check_statement(body, leaf, own)
    obstacles.refuse()
    inside = own | set(body.statics) | set(body.dynamic) | {body.mode or ""}
    if "self" in inside or ("training" in inside and "training" not in body.modes.names):
        raise Unsupported("a variable has a name that the generated methods need: self or training", body.function)
    outer = set().union(*(body.slicer.inputs(leaf) for leaf in body.flow.leaves)) - inside - set(body.modes.names)
    taken = outer & _OWN_NAMES - body.sublayers.only_called(body.module, body.function)
    if taken:
        raise Unsupported(
            f"`{sorted(taken)[0]}` from outside is a name that the generated code needs",
            body.function,
        )
    _check_loops(body)


def _check_statement(body: Body, leaf: Leaf, own: set[str]) -> None:
    node = leaf.node
    if isinstance(node, (ast.Break, ast.Continue)):
        raise Unsupported("a loop that makes layers or tests the mode has a break or a continue", node)
    if isinstance(node, (ast.Global, ast.Nonlocal, ast.ClassDef)):
        raise Unsupported("a global statement or a class in a model_fn is not followed", node)
    for child in _own_nodes(node):
        if isinstance(child, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
            raise Unsupported("a generator or a coroutine is not followed", node)
        if isinstance(child, ast.Return) and child is not node:
            raise Unsupported("a `return` inside a try or a while statement is not followed", child)
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in _OPAQUE:
            raise Unsupported(f"what {child.func.id}() does here is not followed", child)
        if isinstance(child, ast.NamedExpr):
            raise Unsupported("a name is bound inside an expression (:=)", child)
        if isinstance(child, (ast.Break, ast.Continue)) and not isinstance(node, (ast.For, ast.While)):
            raise Unsupported("a loop that makes layers or tests the mode has a break or a continue", child)
    for frame in leaf.frames:
        head = frame.node.test if isinstance(frame.node, ast.If) else None
        if head is not None and any(isinstance(n, ast.NamedExpr) for n in walk(head)):
            raise Unsupported("a name is bound in a condition (:=)", head)
    stored = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    changed = leaf.defs - leaf.kills - own - (set() if isinstance(node, ast.AugAssign) else stored)
    added = isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and is_tensor(body, node.value)
    if changed and not added:  # what a tensor is added to is none of the caller's lists
        raise Unsupported(f"`{sorted(changed)[0]}`, which comes from outside, is changed", node)
    if leaf in body.gradients:  # they stay together, in their order
        return
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_iterator(node.value):
        raise Unsupported("an iterator can be read once only: wrap it in list()", node.value)


def _check_loops(body: Body) -> None:
    """Refuse loop variables that are read after their loop."""
    for leaf in body.flow.leaves:
        for frame in leaf.frames:
            if not isinstance(frame.node, ast.For):
                continue
            for other in body.flow.leaves:
                if other.index > leaf.index and frame.node not in other.loops and frame.binds() & other.uses:
                    again = {n for f in other.frames for n in f.binds()}
                    names = frame.binds() & other.uses & reads(other.node) - again
                    if any(not body.slicer.reaching(n, other.index, None, other) for n in names):
                        raise Unsupported(f"`{sorted(names)[0]}` is read after its loop", other.node)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below a statement that run with it: bodies of functions and lambdas are left out."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return
    for child in children(node):
        yield from _own_nodes(child)


def _is_iterator(node: ast.expr) -> bool:
    if isinstance(node, ast.GeneratorExp):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ITERATORS
