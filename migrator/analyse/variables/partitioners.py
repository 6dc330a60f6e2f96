"""Which partitioners a function names, and the helpers that it calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import is_none
from migrator.analyse.variables.scopes import scope_calls

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body


def given_partitioner(call: ast.Call) -> ast.expr | None:
    """The partitioner that a call of `variable_scope` or `get_variable` gives."""
    return next((k.value for k in call.keywords if k.arg == "partitioner" and not is_none(k.value)), None)


def own_partitioners(plan: Body) -> list[ast.expr]:
    """All partitioners that a function names."""
    calls = [call for leaf in plan.flow.leaves for call in scope_calls(plan, leaf)]
    found = [given_partitioner(call) for call in (*calls, *(site.call for site in plan.sites))]
    return [node for node in found if node is not None]


def has_partitioners(plan: Body) -> bool:
    """Whether a function names partitioners, or a helper that it calls."""
    inner = [site.layer.helper for site in plan.sites if site.layer.helper is not None]
    return bool(own_partitioners(plan)) or any(has_partitioners(helper) for helper in inner)
