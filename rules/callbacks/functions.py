"""Functions of a program that a LambdaCallback calls: they stand above `fit`, and say what they do by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from migrator.resolve.syntax import walk

from ..loop.page import Page
from ..loop.places import has_its_line, is_simple
from ..loop.use import Use

BATCH, EPOCH, EVALUATED, END = "on_train_batch_end", "on_epoch_end", "on_test_batch_end", "on_train_end"
_PARAMETERS = {BATCH: "batch, logs", EPOCH: "epoch, logs", EVALUATED: "batch, logs", END: "logs"}
_OWN = frozenset({"batch", "epoch", "logs"})


@dataclass
class Functions:
    """Those of one training."""

    page: Page
    at: ast.Call
    """Where it trains."""
    lines: list[str] = field(default_factory=list)
    """They, as lines above `fit`."""
    _names: set[str] = field(default_factory=set)

    def name(self, name: str) -> str:
        """A name that nothing else has."""
        name = self.page.module.unused_name(name, self.at)
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def add(self, moment: str, name: str, body: Sequence[str], condition: str = "", above: Sequence[str] = ()) -> str:
        """Adds a function that does something at a moment, if a condition holds that may read what stands `above` it; returns
        the argument that has it called."""
        unit, name = self.page.unit, self.name(name)
        inner = [f"if {condition}:", *(f"{unit}{line}" for line in body)] if condition else list(body)
        self.define(name, _PARAMETERS[moment], [*above, *inner])
        return f"{moment}={name}"

    def define(self, name: str, parameters: str, body: Iterable[str]) -> None:
        """Adds a function of that name."""
        self.lines += [f"def {name}({parameters}):", *(f"{self.page.unit}{line}" for line in body), ""]


def of_functions(uses: Iterable[Use]) -> str:
    """Why no such functions can be written for trainings that need them."""
    for use in uses:
        if use.method != "train":
            continue
        lines = [line for line in use.logged if line.pairs]
        inside = use.by_epochs and not use.measured and use.limit is not None and is_simple(use.limit)
        numbers = [use.interval, use.every, use.limit if inside else None]  # a name of its own has another limit
        parts = [part for line in lines for part in line.parts]
        parts += [part for stop in use.hooks.stops for part in stop.parts]
        parts += [part for asked in use.hooks.asked for part in asked.parts]
        parts += [number for number in numbers if isinstance(number, ast.expr)]
        if any(isinstance(n, ast.Name) and n.id in _OWN for part in (*parts, use.receiver) for n in walk(part)):
            return "a number with a name that callbacks have for themselves"
        called = (
            lines
            or use.logged_evaluations
            or use.last_step is not None
            or use.pauses
            or use.hooks.stops
            or use.hooks.asked
            or use.hooks.conditions
            or use.every is not None
        )
        if called and not has_its_line(use.module, use.call):
            return "callbacks of a training in the line of another statement"
    return ""
