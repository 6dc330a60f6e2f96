"""In what order models take the values of checkpoints, and who needs what was there before."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence

from ..places import LOOPS, has_its_line, is_simple, line_above
from ..sources import Place
from ..use import Use


def of_paths(places: Iterable[Place], readers: Callable[[Place], Collection[Place]]) -> str:
    """Why a checkpoint cannot be restored where it is read; `readers` may need the weights that were there before."""
    for place in (place for place in places if place.path is not None):
        module, statement = place.module, place.module.statement(place.at)
        if line_above(module, place.at) is None or not is_simple(place.receiver):
            return "a checkpoint that is read in the midst of a statement"
        if is_followed(place, readers(place)):
            plain = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.For)) or (
                not isinstance(place, Use) and isinstance(statement, ast.Return)
            )
            if not place.saves or not plain or not has_its_line(module, place.at):
                return "a checkpoint that is read amid others"
    return ""


def of_starts(uses: Sequence[Use]) -> str:
    """Why values of a checkpoint cannot be given where a model is used first."""
    for use in (use for use in uses if use.starts(uses)):
        if line_above(use.module, use.call) is None or not is_simple(use.receiver):
            return "values of a checkpoint for a model in the midst of a statement"
        if use.input.data.batch or use.input.data.ends is None and not use.input.data.counted:
            return "values of a checkpoint for a model whose data are not known"
    return ""


def is_followed(place: Place, readers: Collection[Place]) -> bool:
    """Whether one of several places may need the weights that were there before another one."""
    others = [each for each in readers if each.path is None and set(each.sources) & set(place.sources)]
    function = place.module.nearest(place.at, ast.FunctionDef)
    if any(each.module.nearest(each.at, ast.FunctionDef) is not function for each in others):
        return True
    here = (place.module.path, place.module.span(place.at))
    loops = {outer for outer in place.module.ancestors(place.at) if isinstance(outer, LOOPS)}
    return any(
        (each.module.path, each.module.span(each.at)) > here or loops.intersection(each.module.ancestors(each.at))
        for each in others
    )
