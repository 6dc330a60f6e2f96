"""Whether Keras runs several steps in one call: where it may, and where that makes a training faster."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..data.options import default_of, defines
from ..loop import goes_on
from ..use import Use
from ..values import values_of

GROUP = 100
"""Steps in a call."""
LONG = 1000
"""Steps from which a training gains by it: a call saves about a millisecond a step where a model is small, nothing where it is
large, and its graph takes half a second more to be made."""


def in_groups(project: Project, uses: list[Use]) -> bool:
    """Whether models are to run `GROUP` steps in a call. Keras has to know the number of batches."""
    counted = all(data.counted for use in uses for data in use.data)
    return counted and _divides(uses) and any(_is_long(project, use) for use in uses)


def _is_long(project: Project, use: Use) -> bool:
    """Whether a training is seen to have as many steps as make it worth while."""
    return use.method == "train" and use.limit is not None and _number(project, use.module, use.limit) >= LONG


def _number(project: Project, module: Module, node: ast.expr) -> int:
    """The largest number that an expression is seen to be, itself or as the default of an option; else 0."""
    values = values_of(project, module, node)
    names = {value.attr for _, value in values if isinstance(value, ast.Attribute)}
    options = [(home, default_of(call)) for home, call in project.calls() if any(defines(call, name) for name in names)]
    for home, default in options:
        values += values_of(project, home, default) if default is not None else []
    known = (value.value for _, value in values if isinstance(value, ast.Constant))
    return max((number for number in known if isinstance(number, int)), default=0)


def _divides(uses: list[Use]) -> bool:
    """Whether callbacks see each step that they wait for, where they are called once in a group."""
    if any(use.stops(goes_on(use, uses)) or use.single for use in uses):
        return False  # one waits for the last step
    for use in (use for use in uses if use.method == "train"):
        numbers = [
            *(line.every for line in use.logged),
            *([use.interval, use.fields.get("save_summary_steps")] if use.saves else []),
            use.every,
        ]
        known = [n.value if isinstance(n, ast.Constant) else n for n in numbers if n is not None]
        if not all(isinstance(number, int) and number % GROUP == 0 for number in known):
            return False
    return True
