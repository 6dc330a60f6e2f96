"""Partitioners of variables: one for a whole model goes to its strategy, several stand around what each of them splits."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.helperbodies import HelperBody
from migrator.analyse.variables.partitioners import given_partitioner, has_partitioners, own_partitioners
from migrator.analyse.variables.scopes import VARIABLE_SCOPE, names_made, scope_calls

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site


def scope_partitioner(plan: Body, node: ast.With) -> ast.expr | None:
    """The partitioner of a with statement: the last one, as that stands innermost."""
    calls = [item.context_expr for item in node.items]
    scopes = [c for c in calls if isinstance(c, ast.Call) and plan.module.resolve(c.func) == VARIABLE_SCOPE]
    return next((found for call in reversed(scopes) if (found := given_partitioner(call)) is not None), None)


def only_partitioner(plan: Body) -> ast.expr | None:
    """The one partitioner of a model_fn, None where it has none or several."""
    found = {} if by_scope(plan) else {ast.dump(node): node for node in own_partitioners(plan)}
    return next(iter(found.values()), None)


def splits_some(plan: Body) -> bool:
    """Whether variables stand outside of what the one partitioner of a model_fn stands around."""
    return any(names_made(plan, site) != frozenset() and not any(_around(plan, site)) for site in plan.sites)


def by_scope(plan: Body) -> bool:
    """Whether each partitioner stands around what it splits. Raises Unsupported where it cannot stand there.

    In a helper any does, as the strategy of the model knows nothing of it.
    """
    inside = any(has_partitioners(site.layer.helper) for site in plan.sites if site.layer.helper is not None)
    apart = inside or isinstance(plan, HelperBody) or len({ast.dump(node) for node in own_partitioners(plan)}) > 1
    if apart:
        for site in plan.sites:
            if (site.layer.late or site.layer.built) and any(_around(plan, site)):
                raise Unsupported(
                    "a variable of a size that data tell stands under one of several partitioners", site.call
                )
    return apart


def partitioners_of(plan: Body, sites: Iterable[Site]) -> list[ast.expr]:
    """The partitioners that stand around `sites`."""
    return [node for site in sites for node in _around(plan, site)]


def _around(plan: Body, site: Site) -> Iterator[ast.expr]:
    for call in (*scope_calls(plan, site.leaf), site.call):
        found = given_partitioner(call)
        if found is not None:
            yield found
