"""Recurrent layers, which make the variables of their cells in a scope: two of them in one scope share them by name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.names import reads
from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.analyse.variables.reuse import NOTHING, Flags, says_no
from migrator.analyse.variables.reusecalls import reuse_values
from migrator.analyse.variables.scopes import exclusive, named_around, scope_calls, scope_in_tf1, scope_prefix
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site


def is_reused(plan: Body, site: Site, flags: Flags = NOTHING) -> bool:
    """Whether a site may find variables that exist already."""
    own = [k.value for k in site.call.keywords if k.arg == "reuse"] if site.layer.helper is None else []
    return any(not says_no(value, flags) for value in (*own, *reuse_values(plan, site.leaf)))


def check_recurrent(plan: Body, sites: list[Site]) -> None:
    """Refuse recurrent layers that may find the variables of another one by their names, and scopes that are not known.

    Layers that run the same cells share what the cells hold, here as in TensorFlow 1. Raises Unsupported.
    """
    earlier: list[Site] = []
    for site in (site for site in sites if site.layer.recurrent):
        name = _full_name(plan, site)
        if is_reused(plan, site):
            others = [other for other in earlier if not exclusive(other, site) and not _same_cells(plan, other, site)]
            if any(_may_share(plan, other, site) for other in others):
                raise Unsupported("recurrent layers may share their variables by name", site.call)
            if site.loops and (name is None or "*" not in name):
                raise Unsupported("the turns of a loop may share the variables of a recurrent layer", site.call)
        earlier.append(site)


def check_cells(plan: Body) -> None:
    """Refuse cells that are made under a condition of the data: they would be others for each batch. Raises Unsupported."""
    if b"rnn" not in plan.module.source:
        return
    given = {id(n) for s in plan.sites for _, v in s.layer.arguments if isinstance(v, ast.AST) for n in walk(v)}
    for leaf in plan.flow.leaves:
        for node in walk(leaf.node) if plan.time(leaf) > Time.MODE else ():
            if not isinstance(node, ast.Call) or id(node) in given or not plan.sublayers.makes_cell(plan.module, node):
                continue
            if not (plan.module.resolve(node.func) or "").endswith("StateTuple"):
                raise Unsupported("recurrent cells are made while data flow", node)


def _may_share(plan: Body, first: Site, second: Site) -> bool:
    """Whether two layers may have cells in one scope, or one in a scope of the other."""
    names = [_full_name(plan, site) for site in (first, second)]
    if first.leaf.scopes == second.leaf.scopes and all(_own_name(site) for site in (first, second)):
        names = [_own_name(site) for site in (first, second)]  # whatever the scopes around both are called
    if names[0] is None or names[1] is None:
        return True
    return f"{names[0]}/".startswith(f"{names[1]}/") or f"{names[1]}/".startswith(f"{names[0]}/")


def _own_name(site: Site) -> str | None:
    """The scope that a layer enters itself; None where it is that of a name, or not a literal."""
    scope = site.layer.name
    return scope_in_tf1(site.layer) if scope is None else literal_pattern(scope)


def _full_name(plan: Body, site: Site) -> str | None:
    """The scope of the cells, ``*`` for what is formatted into it; None where the source does not tell it."""
    prefix, scope = scope_prefix(plan, site.leaf), site.layer.name
    if isinstance(scope, ast.Name):
        around = named_around(site, scope.id)
        if around is None:
            raise Unsupported("the scope of a recurrent layer is not a literal", scope)
        return prefix if around == scope_calls(plan, site.leaf)[-1:] else None
    own = _own_name(site)
    return None if prefix is None or own is None else prefix + own


def _same_cells(plan: Body, first: Site, second: Site) -> bool:
    """Whether two layers run the same objects."""
    cells = [[value for _, value in site.layer.arguments if not isinstance(value, str)] for site in (first, second)]
    if not all(isinstance(cell, ast.Name) for cell in (*cells[0], *cells[1])):
        return False
    if [ast.dump(cell) for cell in cells[0]] != [ast.dump(cell) for cell in cells[1]]:
        return False
    before, after = (
        [plan.slicer.reaching(name, site.leaf.index, None, site.leaf) for name in sorted(reads(cells[0]))]
        for site in (first, second)
    )
    return before == after
