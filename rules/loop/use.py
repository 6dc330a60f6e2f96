"""A use of an Estimator: a call of one of its methods, or of `train_and_evaluate`, as data."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from migrator.analyse.results.stepvalues import StepValue
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of

from ..callbacks.asides import Asides
from ..callbacks.callback_classes import OwnHook
from ..callbacks.keras_callbacks import Hooks
from ..callbacks.logged_values import Logged
from ..callbacks.savers import Saver, definitions_of, references_of
from ..exports.exporters import Exporter
from .data.kinds import Data
from .flow.chosen import SELDOM, fields_of
from .flow.held import held
from .flow.results import Result
from .inputs import Input
from .places import LOOPS
from .rows import are_all_read
from .settings import is_same
from .sources import Place, Source
from .specs import Validation

WHOLE = "yield_single_examples"
"""The argument that is false where predictions are wanted by batches."""


@dataclass(frozen=True)
class Use(Place):
    """A call of a method of an Estimator."""

    module: Module
    call: ast.Call
    method: str
    receiver: ast.expr
    """What stands for the Estimator in it."""
    sources: tuple[Source, ...]
    """Those that it may be; their settings are alike."""
    input: Input
    arguments: dict[str, ast.expr]
    """Those of the method, by parameter, that say something."""
    validation: Validation | None = None
    """The evaluations during a training by `train_and_evaluate`."""
    hooks: Hooks = Hooks()
    every: ast.expr | None = None
    """Steps between these; None: there is one, at the end."""
    fraction: bool = False
    """Whether the limit may be no whole number, of which the next one counts."""
    unlimited: bool = False
    """Whether the number of its steps may be None."""
    asides: Asides = field(default_factory=dict)
    """How parts of what hooks of the model_fn are made from are written."""
    whole: bool = False
    """Whether it is one epoch, amid which a callback evaluates: how many batches its data have is not known."""
    measured: bool = False
    """Whether its data are counted before it, as they may end before its limit and it has evaluations amid it."""
    result: Result | None = None
    """What is done with what `train_and_evaluate` returns."""
    counted: bool = True
    """Whether its process sees each step; parameter servers and workers tell of the ends of epochs alone."""

    @property
    def fields(self) -> dict[str, ast.expr]:
        """The settings of its Estimator, by name; a hook may say when it saves."""
        told = held(self, fields_of(self.sources, self.method == "train") or {})
        if self.saver is None or not self.saver.interval:
            return told
        return {**{n: v for n, v in told.items() if not n.startswith("save_checkpoints_")}, **self.saver.interval}

    @property
    def saver(self) -> Saver | None:
        """What else is known of when it saves, and who is told."""
        return self.hooks.saver

    @property
    def listens(self) -> bool:
        """Whether listeners are told of its checkpoints."""
        return self.saver is not None and self.saver.listeners is not None

    @property
    def listeners(self) -> list[ast.ClassDef]:
        """The classes of these."""
        told = self.saver.listeners if self.saver is not None else None
        return list(definitions_of(self.module, told)) if told is not None else []

    @property
    def limit(self) -> ast.expr | None:
        """How many steps it has, or the step to which it trains."""
        return self.arguments.get("steps", self.arguments.get("max_steps"))

    @property
    def at(self) -> ast.expr:
        return self.call

    @property
    def path(self) -> ast.expr | None:
        """The checkpoint that it is to read, if not the newest one."""
        return self.arguments.get("checkpoint_path")

    @property
    def to_step(self) -> bool:
        """Whether the limit counts the steps of earlier trainings."""
        return "max_steps" in self.arguments

    @property
    def data(self) -> list[Data]:
        """All that it reads."""
        return [each.data for each in self.inputs]

    @property
    def inputs(self) -> list[Input]:
        """What they come from."""
        behind = [self.validation.input] if self.validation is not None else []
        return [self.input, *behind, *(evaluator.input for evaluator in self.hooks.evaluators)]

    @property
    def names(self) -> tuple[ast.expr, ...]:
        """References to names of the library that go with it, beside the method."""
        hooks = [*self.hooks.names, *(n for each in self.listeners for n in references_of(self.module, each))]
        if self.validation is None:
            return tuple(hooks)
        exporters = [n for e in self.exporters for n in (e.reference, *e.fed.names)]
        return self.call.func, *(spec.name for spec in self.validation.specs), *hooks, *exporters

    @property
    def exporters(self) -> tuple[Exporter, ...]:
        """What writes SavedModels of its evaluations."""
        return self.validation.exporters if self.validation is not None else ()

    @property
    def by_epochs(self) -> bool:
        """Whether it has an epoch for each evaluation amid it."""
        return self.every is not None and not self.whole

    @property
    def divided(self) -> int | None:
        """How many epochs it has, if the program says that."""
        numbers = [node.value for node in (self.limit, self.every) if isinstance(node, ast.Constant)]
        if not self.measured and len(numbers) == 2 and all(isinstance(number, int) for number in numbers):
            limit, every = (int(str(number)) for number in numbers)
            return limit // every if every and limit % every == 0 else None
        return None

    @property
    def interval(self) -> ast.expr | int | None:
        """How many steps of a training in one epoch lie between two checkpoints; None: there is one at its end.

        An Estimator saves every ten minutes, if it is not told.
        """
        every = self.fields.get("save_checkpoints_steps")
        if self.by_epochs or not self.saves or (self.limit is not None and at_most(self.limit, every)):
            return None
        return every if every is not None else SELDOM

    @property
    def logged(self) -> tuple[Logged, ...]:
        """What hooks log while it trains: those of the model_fn, and its own."""
        return (*self.sources[0].hooks.logged, *self.hooks.logged) if self.method == "train" else ()

    @property
    def evaluates(self) -> bool:
        """Whether it is an evaluation, or has some."""
        return self.method == "evaluate" or self.validation is not None

    @property
    def logged_evaluations(self) -> tuple[Logged, ...]:
        """What hooks of the model_fn log in evaluations."""
        return self.sources[0].hooks.evaluated if self.evaluates else ()

    @property
    def own(self) -> tuple[OwnHook, ...]:
        """Its hooks of classes of the program."""
        asked = {False: self.method == "train", True: self.evaluates}
        return (*(own for own in self.sources[0].hooks.own if asked[own.evaluated]), *self.hooks.own)

    @property
    def last_step(self) -> ast.expr | None:
        """The step at which a hook of the model_fn ends it, if that is not its limit."""
        stop = self.sources[0].hooks.stop if self.method == "train" else None
        last = stop.arguments.get("last_step") if stop is not None else None
        return None if last is self.limit else last

    @property
    def pauses(self) -> bool:
        """Whether its step counts some of its batches only."""
        return self.method == "train" and any(source.pauses for source in self.sources)

    @property
    def single(self) -> bool:
        """Whether callbacks wait for each step."""
        return (
            self.pauses
            or self.hooks.single
            or bool(self.own)
            or self.last_step is not None
            or bool(self.logged_evaluations)
        )

    @property
    def wanted(self) -> list[tuple[str, StepValue]]:
        """Tensors that the model hands out for hooks, by their keys."""
        lines = [pair for line in self.logged for pair in line.wanted]
        return lines + [pair for own in self.own for pair in own.wanted]

    @property
    def terminates(self) -> bool:
        """Whether a hook ends it where its loss is not a number."""
        return self.hooks.terminates or any(source.hooks.terminates for source in self.sources)

    def stops(self, goes_on: bool) -> bool:
        """Whether the last of its epochs may have to end early: one that goes on may start from any step."""
        return self.counted and self.by_epochs and (goes_on or self.divided is None)

    @property
    def by_batches(self) -> bool:
        """Whether its predictions are made batch by batch, as they are read: they have no end, or different shapes."""
        if self.method != "predict":
            return False
        if WHOLE in self.arguments or self.is_first:
            return WHOLE in self.arguments
        data = self.input.data
        ends = data.ends or (data.ends is None and are_all_read(self.module, self.call))
        return not (ends and data.even)

    @property
    def is_first(self) -> bool:
        """Whether ``next(…)`` reads one prediction alone."""
        parent = self.module.parent(self.call)
        return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "next"

    @property
    def saves_by(self) -> ast.expr | int:
        """Steps between two checkpoints of which listeners are told."""
        return self.fields.get("save_checkpoints_steps", SELDOM)

    @property
    def repeated(self) -> bool:
        """Whether it may run more than once for one Estimator."""
        made = {outer for source in self.sources for outer in source.module.ancestors(source.construction.call)}
        loops = (outer for outer in self.module.ancestors(self.call) if isinstance(outer, LOOPS))
        return any(loop not in made for loop in loops) or not self.by_name

    def starts(self, uses: Sequence[Use]) -> bool:
        """Whether its model may have no values before it, and takes those of a checkpoint."""
        if not self.sources[0].starts or self.path is not None:
            return False
        statement = self.module.statement(self.call)
        above = {statement, *self.module.ancestors(statement)}
        mine = (u for u in uses[: uses.index(self)] if set(u.sources) == set(self.sources) and self._is_of_same(u))
        before = (u for u in mine if u.method == "train" and u.module is self.module)
        return not any(above.intersection(block_of(self.module, u.module.statement(u.call))) for u in before)

    def _is_of_same(self, other: Use) -> bool:
        """Whether another use is surely of the same Estimator: a function may make several."""
        if self.by_name and other.by_name:
            return True
        one, two = self.receiver, other.receiver
        same = isinstance(one, ast.Name) and isinstance(two, ast.Name) and one.id == two.id
        return same and len(self.module.bindings(one)) == 1 and is_same(self.module, one, two)  # type: ignore[arg-type]

    def alike(self) -> bool:
        """Whether all Estimators that it may be of are set up alike, as far as that matters here."""
        known = fields_of(self.sources, self.method == "train") is not None
        folders = {source.settings.directory is None for source in self.sources}
        rows = {source.has_dicts for source in self.sources if self.method == "predict"}
        return known and len(folders) == 1 and len(rows) <= 1


def at_most(limit: ast.expr, every: ast.expr | None) -> bool:
    """Whether a training ends before its second checkpoint."""
    if every is not None and ast.dump(limit) == ast.dump(every):
        return True
    steps = every.value if isinstance(every, ast.Constant) else None if every is not None else SELDOM
    whole = isinstance(limit, ast.Constant) and isinstance(limit.value, int)
    return whole and isinstance(steps, int) and limit.value <= steps  # type: ignore[attr-defined]
