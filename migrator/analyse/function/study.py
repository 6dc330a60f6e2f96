"""Studies a function that builds a part of a network: statement by statement, then as a whole."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.body import SCOPES, Body
from migrator.analyse.layers.recurrent import check_cells
from migrator.analyse.layers.sites import find_sites
from migrator.analyse.results.collections import Collections
from migrator.analyse.results.tags import write_collected
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.effects import is_effect
from migrator.analyse.statements.flow import Flow
from migrator.analyse.statements.names import binds
from migrator.analyse.statements.phases import ignored, look_through, widen
from migrator.analyse.statements.slicing import Slicer
from migrator.analyse.statements.statements import check_statements
from migrator.analyse.statements.times import Times
from migrator.analyse.training.optimizervalues import is_training
from migrator.analyse.training.sums import find_sums
from migrator.analyse.training.trainop import gradient_leaves
from migrator.resolve.syntax import walk


def outline(body: Body) -> None:
    """Find the statements, with the modes in which each runs."""
    statements = body.function.body[0 if body.docstring is None else 1 :]
    body.flow = Flow(
        statements,
        body.modes,
        lambda node: _stays_whole(body, node),
        lambda node: _is_scope(body, node),
        body.imported,
        body.early_returns,
    )
    body.slicer = Slicer(body.flow)
    write_collected(body)


def study(body: Body, extend: Callable[[], None] = lambda: None) -> None:
    """Find out all that can be said before layers are looked for; `extend` adds statements. Raises Unsupported."""
    outline(body)
    extend()
    hidden: dict[ast.AST, set[ast.expr]] = {}

    def only_training(node: ast.AST) -> set[ast.expr]:
        if node not in hidden:
            hidden[node] = ignored(body, node)
        return hidden[node]

    widen(body)
    look_through(body)
    body.collections = Collections(body)
    body.sums = find_sums(body)
    body.gradients = gradient_leaves(body)
    check_statements(body)
    module = body.module
    body.times = Times(
        body.flow,
        body.modes,
        set(body.dynamic),
        module.resolve,
        body.translations,
        _made_of_state,
        only_training,
        body.statics,
    )


def find_layers(body: Body) -> None:
    """Look for the places that make layers; needs the binding times."""
    body.sites = find_sites(body)
    body.site_of = {id(site.call): site for site in body.sites}
    check_cells(body)


def _is_scope(body: Body, node: ast.With) -> bool:
    """Whether a with statement only names things or orders ops."""
    calls = [item.context_expr for item in node.items]
    return all(isinstance(c, ast.Call) and body.module.resolve(c.func) in SCOPES for c in calls)


def _stays_whole(body: Body, node: ast.stmt) -> bool:
    """Compound statements without layers, specs, effects or mode tests move in one piece, unless they are scopes."""
    if isinstance(node, ast.With) or _refuses(node):
        return False
    for child in walk(node):
        if isinstance(child, ast.Return) or is_effect(body, child):
            return False
        if isinstance(child, ast.With) and _is_scope(body, child):  # it goes
            return False
        if isinstance(child, ast.Call) and (body.is_maker(child) or is_training(body, child)):
            return False
        if isinstance(child, ast.Name) and (child.id in (body.mode, *body.opened) or child.id in body.modes.names):
            return False
    return True


def _refuses(node: ast.stmt) -> bool:
    """Whether a condition gives names their values in one arm, and raises in another: the error is no part of the value."""
    if not isinstance(node, ast.If):
        return False
    arms = [node.body, node.orelse]
    while len(arms[-1]) == 1 and isinstance(other := arms[-1][0], ast.If):
        arms[-1:] = [other.body, other.orelse]
    ends = [isinstance(arm[-1], ast.Raise) for arm in arms if arm]
    return any(ends) and not all(ends) and bool(binds(node))


def _made_of_state(call: ast.Call) -> Time | None:
    """``cell.zero_state(…)`` is a tensor, though the cell and the size of a batch are known before."""
    return Time.EAGER if isinstance(call.func, ast.Attribute) and call.func.attr == "zero_state" else None
