"""How many steps Keras runs in one call: as many as it may, where that makes a training faster."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..data.options import default_of, options
from ..loop import goes_on
from ..use import Use
from ..values import values_of

MOST_TOGETHER = 100
"""Steps in a call, where nothing waits for one between."""
_SIZES = (MOST_TOGETHER, 50, 20, 10)
"""Numbers of steps that people take to log, to save and to train. A tenth of the calls leaves a tenth of their cost."""
_LOGGED = 50
"""The least steps in a call where lines are logged: an Estimator logs the first of so many steps, a callback the last one."""
_LONG = 200
"""Steps from which a training gains by it: a call saves about a millisecond a step where a model is small, nothing where it is
large, and its graph takes up to half a second more to be made."""


def steps_together(project: Project, uses: list[Use]) -> int:
    """How many steps models are to run in a call: 1 where each has to come back. Keras has to know the number of batches."""
    if not all(data.counted for use in uses for data in use.data):
        return 1
    longest = max((_steps(project, use) for use in uses if use.method == "train"), default=0)
    if longest < _LONG:
        return 1
    awaited = _awaited(uses)
    if awaited is None:
        return 1
    least = _LOGGED if any(use.logged for use in uses) else 1
    fitting = [size for size in _SIZES if size >= least and all(number % size == 0 for number in awaited)]
    dividing = [size for size in fitting if longest % size == 0]  # else no callback sees the last steps with Keras 3
    return (dividing or fitting or [1])[0]


def _steps(project: Project, use: Use) -> int:
    """How many steps a training is seen to have."""
    return _number(project, use.module, use.limit) if use.limit is not None else 0


def _number(project: Project, module: Module, node: ast.expr) -> int:
    """The largest number that an expression is seen to be, itself or as the default of an option; else 0."""
    values = values_of(project, module, node)
    names = {value.attr for _, value in values if isinstance(value, ast.Attribute)}
    for home, default in [(home, default_of(call)) for name in names for home, call in options(project, name)]:
        values += values_of(project, home, default) if default is not None else []
    known = (value.value for _, value in values if isinstance(value, ast.Constant))
    return max((number for number in known if isinstance(number, int)), default=0)


def _awaited(uses: list[Use]) -> list[int] | None:
    """The numbers of steps after which callbacks do something, as they are called once in a group; None: not all are known."""
    if any(use.stops(goes_on(use, uses)) or use.single for use in uses):
        return None  # one waits for the last step
    awaited: list[int] = []
    for use in (use for use in uses if use.method == "train"):
        numbers = [
            *(line.every for line in use.logged),
            *([use.interval, use.fields.get("save_summary_steps")] if use.saves else []),
            use.every,
        ]
        for number in (number.value if isinstance(number, ast.Constant) else number for number in numbers):
            if isinstance(number, int):
                awaited.append(number)
            elif number is not None:  # which says never
                return None
    return awaited
