"""What the settings of one of several Estimators say, where a condition of the program chooses it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Optional

from migrator.resolve.module import Module

from ..sources import Source
from .exclusive import exclusive

SELDOM = 1000
"""Steps between two checkpoints where a program says only minutes, or nothing."""
_DEFAULTS = {"save_checkpoints_steps": SELDOM, "save_summary_steps": 100}
"""Settings that matter where an Estimator is trained, with what they are for one that is not told."""


def fields_of(sources: Sequence[Source], matter: bool) -> Optional[dict[str, ast.expr]]:
    """The settings of what may be any of some Estimators; None: those that `matter` differ, and nothing says which one it is."""
    found = dict(sources[0].settings.fields)
    for name, default in _DEFAULTS.items() if matter else ():
        told = [source.settings.fields.get(name) for source in sources]
        if all(value is None for value in told):
            continue
        values = [value if value is not None else ast.Constant(default) for value in told]
        value = one_of(sources, values)
        if value is None:
            return None
        found[name] = value
    return found


def one_of(sources: Sequence[Source], values: Sequence[ast.expr]) -> Optional[ast.expr]:
    """The value of the Estimator that is chosen, from those of each; None: nothing says which one it is."""
    if len({ast.dump(value) for value in values}) == 1:
        return values[0]
    chosen = _condition(sources)
    return None if chosen is None else ast.IfExp(chosen, values[0], values[1])


def _condition(sources: Sequence[Source]) -> Optional[ast.expr]:
    """What says that the first one of two Estimators is made, wherever the name of both is read."""
    held = {(source.module, source.scope, source.name) for source in sources}
    if len(sources) != 2 or len(held) != 1 or sources[0].name is None:
        return None
    module = sources[0].module
    arms = exclusive(module, *(source.construction.call for source in sources))
    if arms is None or len(module.bindings(sources[0].target)) != 2:  # type: ignore[arg-type]
        return None
    test = arms.test
    return test if isinstance(test, (ast.Name, ast.Attribute)) and _is_fixed(module, test) else None


def _is_fixed(module: Module, test: ast.expr) -> bool:
    """Whether a name, or an attribute of one, is the same in all of a function."""
    root, stored = test, {ast.unparse(n) for n in module.nodes(ast.Attribute) if not isinstance(n.ctx, ast.Load)}
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and len(module.bindings(root)) == 1 and ast.unparse(test) not in stored
