"""What `train_and_evaluate` is given: a TrainSpec and an EvalSpec that are seen, as data."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.resolve.module import Module
from migrator.resolve.reaching import read_once

from ..estimator_calls.estimator_values import PREFIX
from ..exports.exporters import Exporter, exporters_of
from .data.datasets import Reader
from .data.options import may_be_none
from .inputs import Input, read_input
from .places import has_its_line, moves

TRAIN_AND_EVALUATE = PREFIX + "train_and_evaluate"
TRAIN_SPEC, EVAL_SPEC = PREFIX + "TrainSpec", PREFIX + "EvalSpec"
NAMES = frozenset({TRAIN_AND_EVALUATE, TRAIN_SPEC, EVAL_SPEC})
_SIGNATURES = {
    "TrainSpec": "input_fn max_steps hooks saving_listeners",
    "EvalSpec": "input_fn steps name hooks exporters start_delay_secs throttle_secs",
}
_UNDERSTOOD = frozenset({"input_fn", "max_steps", "steps", "name", "start_delay_secs", "throttle_secs"})
_LISTENING = frozenset({"hooks", "saving_listeners"})
_EXPORTING = frozenset({"hooks", "exporters"})
_LISTS = frozenset({"hooks", "saving_listeners", "exporters"})
USUAL_STEPS = 100
"""Batches of an evaluation where an EvalSpec says nothing."""


@dataclass(frozen=True)
class Spec:
    """A TrainSpec or an EvalSpec."""

    name: ast.expr
    """The reference to its class."""
    arguments: dict[str, ast.expr]
    """By parameter; those that are None, too."""
    statement: ast.Assign | None
    """What holds it, and goes."""


@dataclass(frozen=True)
class Validation:
    """The evaluations during a training."""

    input: Input
    limit: ast.expr | int | None
    """How many batches each takes at most."""
    unlimited: bool
    """Whether that may be None."""
    specs: tuple[Spec, Spec]
    exporters: tuple[Exporter, ...]
    throttled: ast.expr | None
    """The least time between two of them, which an Estimator waits for."""

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere, beside the inputs."""
        limits = [spec.arguments.get(name) for spec, name in zip(self.specs, ("max_steps", "steps"))]
        return tuple(limit for limit in limits if limit is not None)


def specs_of(module: Module, call: ast.Call) -> tuple[Spec, Spec] | str:
    """The specs of a call of `train_and_evaluate`, or why they are not understood."""
    try:
        given = bind(call, "estimator train_spec eval_spec", "train_and_evaluate")
    except Unsupported as problem:
        return problem.reason
    found = []
    for parameter, name in (("train_spec", "TrainSpec"), ("eval_spec", "EvalSpec")):
        spec = _spec(module, given[parameter], name, call) if parameter in given else f"no {name}"
        if isinstance(spec, str):
            return spec
        found.append(spec)
    return found[0], found[1]


def _spec(module: Module, node: ast.expr, name: str, call: ast.Call) -> Spec | str:
    """One spec, which is made for this call only."""
    statement = None
    made: ast.expr = node
    if isinstance(node, ast.Name):
        statement = read_once(module, node)
        if statement is None or not has_its_line(module, statement):
            return f"its {name} is used elsewhere"
        made = statement.value
    if not isinstance(made, ast.Call) or module.resolve(made.func) != PREFIX + name:
        return f"its {name} is not seen"
    try:
        given = bind(made, _SIGNATURES[name], name)
    except Unsupported as problem:
        return problem.reason
    told = {key: value for key, value in given.items() if key not in _LISTS or not (is_none(value) or is_empty(value))}
    more = sorted(set(told) - _UNDERSTOOD - (_LISTENING if name == "TrainSpec" else _EXPORTING))
    if more:
        return f"`{more[0]}` of its {name}"
    if "input_fn" not in told:
        return f"a {name} without an input function"
    if statement is not None and not moves(module, statement, call, told.values()):
        return f"its {name} is made elsewhere"
    return Spec(made.func, told, statement)


def validation_of(
    reader: Reader, module: Module, specs: tuple[Spec, Spec], params: ast.expr | None, call: ast.Call
) -> Validation | str:
    """The evaluations that an EvalSpec asks for, or why they are not understood."""
    given = specs[1].arguments
    found = read_input(reader, module, given["input_fn"], "evaluate", params)
    if isinstance(found, str):
        return found
    limit: ast.expr | int | None = given.get("steps", USUAL_STEPS)
    if isinstance(limit, ast.expr) and is_none(limit):
        limit = None
    whole = found if limit is not None else found.read_whole
    if whole is None:
        return "evaluations on data without an end"
    exporters = exporters_of(reader.project, module, given["exporters"], call) if "exporters" in given else ()
    if isinstance(exporters, str):
        return exporters
    unlimited = isinstance(limit, ast.expr) and may_be_none(reader.project, module, limit)
    return Validation(whole, limit, unlimited, specs, exporters, given.get("throttle_secs"))
