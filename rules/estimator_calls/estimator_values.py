"""Which expressions of a program are Estimators: the calls that make them, and every place that reads one."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrator.resolve.module import Module
from migrator.resolve.reaching import reaching

PREFIX = "tensorflow.estimator."
ESTIMATOR = PREFIX + "Estimator"
METHODS = frozenset({"train", "evaluate", "predict"})
"""What an Estimator is made for."""
EXTENDERS = frozenset(
    family + name
    for family in (PREFIX, "tensorflow.contrib.estimator.")
    for name in ("add_metrics", "forward_features")
)
"""Functions that return the Estimator they are given, with more to it."""


@dataclass(eq=False)
class Construction:
    """One `Estimator(…)` call, or a call that makes another kind of Estimator."""

    module: Module
    call: ast.Call
    arguments: dict[str, ast.expr]
    """Of `Estimator`, by parameter."""
    name: str = ESTIMATOR
    """Qualified name of what is called."""
    dialect: str = "v1"
    """``v1`` or ``v2``: the TensorFlow whose class it is, where they differ."""
    dialect_reason: str = ""
    """Why, as a phrase."""
    tpu: bool = False
    """Whether it is a TPUEstimator."""


@dataclass
class Values:
    """All Estimators of a project: where they are made, and each place that reads one."""

    constructions: list[Construction] = field(default_factory=list)
    reads: list[tuple[Module, ast.expr]] = field(default_factory=list)
    """Expressions whose value is an Estimator, constructions included."""
    lost: list[tuple[Module, ast.AST, str]] = field(default_factory=list)
    """Where an Estimator goes out of sight, and how."""


def extended(module: Module, call: ast.Call, constructions: list[Construction]) -> list[Construction]:
    """The Estimators that a call of one of the `EXTENDERS` may be given: all, unless the one is seen."""
    given: ast.expr | None = call
    seen: set[ast.expr] = set()
    while isinstance(given, ast.Call) and given not in seen and module.resolve(given.func) in EXTENDERS:
        seen.add(given)
        given = next((k.value for k in given.keywords if k.arg == "estimator"), given.args[0] if given.args else None)
        statement = reaching(module, given) if isinstance(given, ast.Name) else None
        given = statement.value if statement is not None else given
    return [each for each in constructions if each.call is given] or constructions
