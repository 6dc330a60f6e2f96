"""Hooks that end a training by what its evaluations gave, as callbacks of Keras."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.results.stepvalues import StepValues
from migrator.resolve.module import Module

from ..hooks.hooks import HOOKS, hook_of

_MODES = {
    "stop_if_no_decrease_hook": "min",
    "stop_if_no_increase_hook": "max",
    "stop_if_lower_hook": "<",
    "stop_if_higher_hook": ">",
}
_UNSEEN = "a hook that stops early"


@dataclass(frozen=True)
class EarlyStop:
    """One such hook."""

    name: ast.expr
    """The reference to its function."""
    estimator: ast.expr
    metric: str
    mode: str
    """``min`` or ``max``: it stops where the metric gets no better; or how a value that ends it compares to the limit."""
    limit: ast.expr
    """That value, or for how many steps it gets no better."""
    first: ast.expr | None
    """The step before which it does not look."""
    at_once: bool = False
    """Whether it looks at each step, and so where an evaluation was."""

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere."""
        return (self.limit,) if self.first is None else (self.limit, self.first)


def stops_early(name: str | None) -> bool:
    """Whether a qualified name is that of such a hook."""
    return hook_of(name) in _MODES


def early_stop_of(module: Module, call: ast.Call, values: StepValues) -> EarlyStop | str:
    """What such a hook says, or why it is not understood."""
    short = hook_of(module.resolve(call.func)) or ""
    parameter = "threshold" if _MODES[short] in "<>" else f"max_steps_without_{short.split('_')[3]}"
    signature = HOOKS[short].signature
    try:
        given = {name: value for name, value in bind(call, signature, short).items() if not is_none(value)}
    except Unsupported as problem:
        return problem.reason
    metric, first = given.get("metric_name"), given.get("min_steps")
    if isinstance(first, ast.Constant) and first.value == 0:
        first = None
    known = isinstance(metric, ast.Constant) and metric.value in {"loss", *values.keys}
    if (
        not known
        or not isinstance(metric, ast.Constant)
        or {"eval_dir"} & set(given)
        or not {"estimator", parameter} <= set(given)
    ):
        return _UNSEEN
    often = given.get("run_every_steps")
    at_once = isinstance(often, ast.Constant) and often.value == 1
    return EarlyStop(call.func, given["estimator"], str(metric.value), _MODES[short], given[parameter], first, at_once)


def epochs(steps: ast.expr, every: ast.expr, text: str, every_text: str, less: int = 0) -> str:
    """So many steps as epochs of `every` steps, rounded up, and `less` of them."""
    numbers = [node.value if isinstance(node, ast.Constant) else None for node in (steps, every)]
    if all(isinstance(number, int) for number in numbers):
        whole, part = (int(str(number)) for number in numbers)
        return str(-(-whole // part) - less)
    times = _times(steps, every)
    if times is not None:
        return str(times - less)
    return f"-(-{text} // {every_text})" + (f" - {less}" if less else "")


def _times(steps: ast.expr, every: ast.expr) -> int | None:
    """The number in ``2 * every``."""
    if not isinstance(steps, ast.BinOp) or not isinstance(steps.op, ast.Mult):
        return None
    sides = (steps.left, steps.right)
    same = [side for side in sides if ast.dump(side) == ast.dump(every)]
    others = [side.value for side in sides if isinstance(side, ast.Constant)]
    return others[0] if len(same) == 1 and len(others) == 1 and isinstance(others[0], int) else None
