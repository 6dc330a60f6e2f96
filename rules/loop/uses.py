"""What a program does with its Estimators: calls of their methods, and of `train_and_evaluate`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.analyse.results.stepvalues import StepValue
from migrator.resolve.module import Module

from ..callbacks.asides import Asides, asides_of
from ..callbacks.callback_classes import OwnHook
from ..callbacks.early_stops import stops_early
from ..callbacks.evaluators import takes_estimator
from ..callbacks.given_hooks import hooks_given
from ..callbacks.keras_callbacks import Given, Hooks
from ..callbacks.logged_values import Logged
from ..callbacks.model_hooks import ModelHooks
from ..callbacks.savers import Saver, definitions_of, references_of
from ..exports.exporters import Exporter
from .data.kinds import Data
from .datasets import Reader
from .flow.chosen import SELDOM, fields_of, is_choice, one_of
from .inputs import MODES, Input, read_input
from .places import block_of, has_its_line, is_simple, line_above, stays
from .rows import are_all_read
from .settings import is_same, may_be_none
from .sources import Place, Source
from .specs import TRAIN_AND_EVALUATE, Validation, specs_of, validation_of
from .values import may_be_fraction

WHOLE = "yield_single_examples"
"""The argument that is false where predictions are wanted by batches."""
_METHODS = {
    "train": "input_fn hooks steps max_steps saving_listeners",
    "evaluate": "input_fn steps hooks checkpoint_path name",
    "predict": "input_fn predict_keys hooks checkpoint_path yield_single_examples",
}
_UNDERSTOOD = {
    "train": frozenset({"input_fn", "steps", "max_steps"}),
    "evaluate": frozenset({"input_fn", "steps", "name", "checkpoint_path"}),
    "predict": frozenset({"input_fn", "predict_keys", "checkpoint_path", WHOLE}),
}
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.ListComp, ast.GeneratorExp, ast.Lambda)


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
    counted: bool = True
    """Whether its process sees each step; parameter servers and workers tell of the ends of epochs alone."""

    @property
    def fields(self) -> dict[str, ast.expr]:
        """The settings of its Estimator, by name; a hook may say when it saves."""
        told = fields_of(self.sources, self.method == "train") or {}
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
    def divided(self) -> int | None:
        """How many epochs it has, if the program says that."""
        numbers = [node.value for node in (self.limit, self.every) if isinstance(node, ast.Constant)]
        if len(numbers) == 2 and all(isinstance(number, int) for number in numbers):
            limit, every = (int(str(number)) for number in numbers)
            return limit // every if every and limit % every == 0 else None
        return None

    @property
    def interval(self) -> ast.expr | int | None:
        """How many steps of a training in one epoch lie between two checkpoints; None: there is one at its end.

        An Estimator saves every ten minutes, if it is not told.
        """
        every = self.fields.get("save_checkpoints_steps")
        if self.every is not None or not self.saves or (self.limit is not None and _at_most(self.limit, every)):
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
        last = stop.arguments["last_step"] if stop is not None else None
        return None if last is self.limit else last

    @property
    def single(self) -> bool:
        """Whether callbacks wait for each step."""
        return self.hooks.single or bool(self.own) or self.last_step is not None or bool(self.logged_evaluations)

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
        return self.counted and self.every is not None and (goes_on or self.divided is None)

    @property
    def by_batches(self) -> bool:
        """Whether its predictions are made batch by batch, as they are read: they have no end, or different shapes."""
        if self.method != "predict" or WHOLE in self.arguments or self.is_first:
            return self.method == "predict" and WHOLE in self.arguments
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
        loops = (outer for outer in self.module.ancestors(self.call) if isinstance(outer, _LOOPS))
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
        return known and len(folders) == 1 and len({source.has_dicts for source in self.sources}) == 1


_STOPS = "hooks that stop early by evaluations amid a training"


def _dump(node: ast.expr | None) -> str:
    return "" if node is None else ast.dump(node)


def _at_most(limit: ast.expr, every: ast.expr | None) -> bool:
    """Whether a training ends before its second checkpoint."""
    if every is not None and ast.dump(limit) == ast.dump(every):
        return True
    steps = every.value if isinstance(every, ast.Constant) else None if every is not None else SELDOM
    whole = isinstance(limit, ast.Constant) and isinstance(limit.value, int)
    return whole and isinstance(steps, int) and limit.value <= steps  # type: ignore[attr-defined]


def use_of(reader: Reader, module: Module, node: ast.expr, sources: tuple[Source, ...]) -> Use | str | None:
    """What is done with an Estimator where it is read, or why it is not understood; None: it goes on from there."""
    outer = module.parent(node)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    name = module.resolve(call.func) if isinstance(call, ast.Call) and call.func is not node else None
    found: Use | str
    if isinstance(call, ast.Call) and name == TRAIN_AND_EVALUATE:
        found = _evaluated(reader, module, node, call, sources)
    elif isinstance(outer, ast.Attribute):
        found = _method(reader, module, node, outer, sources)
    elif stops_early(name) or takes_estimator(name):  # one of the hooks of a training
        return None
    elif name is not None and name.startswith("tensorflow."):
        return f"its Estimator is given to tf.{name.split('.', 1)[1]}"
    else:
        return None
    if isinstance(found, Use) and not found.alike():
        return "one of several Estimators that are set up differently"
    return _with_asides(found) if isinstance(found, Use) else found


def _params(module: Module, node: ast.expr, sources: tuple[Source, ...], method: str) -> ast.expr | None:
    """What all of several Estimators give to an input function, if that can be written where it is called."""
    found = [source.construction.arguments.get("params") for source in sources]
    if len({_dump(each) for each in found}) > 1:
        return None
    params = found[0] if not is_none(found[0]) else None
    held = len(sources) == 1 and sources[0].is_read(module, node) and sources[0].params
    if params is not None and held:
        params = ast.Name(held, ast.Load())
    elif params is not None and not stays(module, params):
        return None
    values = [source.settings.tpu.given(MODES[method], params) for source in sources]
    told = [value for value in values if value is not None]
    return one_of(sources, told) if len(told) == len(values) else None


def _evaluated(
    reader: Reader, module: Module, node: ast.expr, call: ast.Call, sources: tuple[Source, ...]
) -> Use | str:
    """A training by `train_and_evaluate`."""
    specs = specs_of(module, call)
    if isinstance(specs, str):
        return specs
    told = {name: value for name, value in specs[0].arguments.items() if not is_none(value)}
    found = read_input(reader, module, told["input_fn"], "train", _params(module, node, sources, "train"))
    validation = validation_of(reader, module, specs, _params(module, node, sources, "evaluate"), call)
    if isinstance(found, str) or isinstance(validation, str):
        return found if isinstance(found, str) else str(validation)
    hooks = _hooks(reader, module, call, node, told, sources)
    evaluated = _hooks(reader, module, call, node, dict(specs[1].arguments), sources, evaluated=True)
    if isinstance(hooks, str) or isinstance(evaluated, str):
        return hooks if isinstance(hooks, str) else str(evaluated)
    if "steps" in told:
        return "a StopAtStepHook that counts from where it starts"
    hooks = hooks.and_those(evaluated)
    use = _limited(reader, Use(module, call, "train", node, sources, found, told, validation, hooks))
    every = use.fields.get("save_checkpoints_steps")
    if is_choice(every):
        return "evaluations amid a training of one of several Estimators"
    if every is not None and (use.limit is None or not _at_most(use.limit, every)):
        if use.limit is None or found.data.ends is not False:
            return "evaluations amid a training on data that may end"
        if use.unlimited:
            return "evaluations amid a training whose number of steps may be None"
        if not (is_simple(use.limit) and is_simple(every)) and not has_its_line(module, call):
            return "a number of steps that is computed, in a line with other code"
        use = replace(use, every=every)
    reason = _of_exporters(use) or (_STOPS if hooks.stops and use.every is None else "")
    if reason:
        return reason
    return _refused(module, call, "train") or use


def _of_exporters(use: Use) -> str:
    """Why the exporters of a training stay."""
    if not use.exporters:
        return ""
    if not use.saves:
        return "`exporters` of its EvalSpec"
    if use.every is not None and not has_its_line(use.module, use.call):
        return "exports amid a training in the line of another statement"
    refused = [
        source.signatures.refusing(e.fed.text, e.fed.maybe_no_dict) for source in use.sources for e in use.exporters
    ]
    return next(filter(None, refused), "")


def _method(
    reader: Reader, module: Module, node: ast.expr, attribute: ast.Attribute, sources: tuple[Source, ...]
) -> Use | str:
    """A call of a method."""
    call, method = module.parent(attribute), attribute.attr
    if not isinstance(call, ast.Call) or call.func is not attribute or method not in _METHODS:
        return f"`.{method}` of its Estimator"
    try:
        given = bind(call, _METHODS[method], f"Estimator.{method}")
    except Unsupported as problem:
        return problem.reason
    told = {name: value for name, value in given.items() if not is_none(value) and not _says_nothing(name, value)}
    evaluated = method == "evaluate"
    hooks = _hooks(reader, module, call, node, told, sources, evaluated) if method != "predict" else Hooks()
    if isinstance(hooks, str) or hooks.stops:
        return hooks if isinstance(hooks, str) else _STOPS
    more = sorted(set(told) - _UNDERSTOOD[method])
    if more:
        return f"`{more[0]}` of {method}"
    whole = told.get(WHOLE)
    if whole is not None and not _are_read_at_once(module, call, whole, sources):
        return f"`{WHOLE}` of predict"
    if "predict_keys" in told and not _is_names(told["predict_keys"]):
        return "`predict_keys` of predict"
    if "input_fn" not in told:
        return f"`{method}` without an input function"
    if any(isinstance(outer, ast.JoinedStr) for outer in module.ancestors(call)):
        return f"`{method}` in a string"
    found = read_input(reader, module, told["input_fn"], method, _params(module, node, sources, method))
    if isinstance(found, str):
        return found
    use = _limited(reader, Use(module, call, method, node, sources, found, told, hooks=hooks))
    return _refused(module, call, method) or use


def _limited(reader: Reader, use: Use) -> Use:
    """A use, with what is known of the number of its steps."""
    fraction = may_be_fraction(reader.project, use.module, use.limit)
    unlimited = use.limit is not None and may_be_none(reader.project, use.module, use.limit)
    return replace(use, fraction=fraction, unlimited=unlimited)


def _with_asides(use: Use) -> Use | str:
    """A use, with how it writes what hooks of the model_fn are made from, or why it cannot."""
    hooks = use.sources[0].hooks
    if use.method == "predict" or hooks == ModelHooks():
        return use
    found = asides_of(use.sources[0], hooks, use.module, use.call)
    if found is None or (found and len(use.sources) > 1):
        return "what a hook of its model_fn is made from"
    above = use.logged_evaluations or hooks.conditions
    if use.method == "evaluate" and above and line_above(use.module, use.call) is None:
        return "a hook of its model_fn that logs in evaluations"
    return replace(use, asides=found)


def _hooks(
    reader: Reader,
    module: Module,
    call: ast.Call,
    node: ast.expr,
    told: dict[str, ast.expr],
    sources: tuple[Source, ...],
    evaluated: bool = False,
) -> Hooks | str:
    """The hooks of a training or an evaluation of `node`, whose limit becomes one of the arguments that are `told`."""
    if any(source.hooks != sources[0].hooks for source in sources) and "hooks" in told:
        return "hooks of one of several Estimators"
    model, params = sources[0].hooks, _params(module, node, sources, "evaluate")
    given = Given(reader, module, call, node, sources[0].settings, model.values, params, evaluated)
    return hooks_given(given, told, model)


def _are_read_at_once(module: Module, call: ast.Call, whole: ast.expr, sources: tuple[Source, ...]) -> bool:
    """Whether batches of predictions are made as they are read, where the call stands."""
    parent = module.parent(call)
    looped = isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is call
    called = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("list", "next")
    said = isinstance(whole, ast.Constant) and whole.value is False
    return said and (looped or called) and all(source.model is None for source in sources)


def _is_names(node: ast.expr) -> bool:
    """Whether an expression is a display of strings, or one."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    return bool(parts) and all(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)


def _says_nothing(name: str, value: ast.expr) -> bool:
    """Whether an argument is an empty list of hooks, or what is so without it."""
    if name == WHOLE:
        return isinstance(value, ast.Constant) and value.value is True
    return name in ("hooks", "saving_listeners") and is_empty(value)


def _refused(module: Module, call: ast.Call, method: str) -> str:
    """Why a call cannot become one of Keras."""
    start, end = module.span(call)
    if b"#" in module.source[start:end] and not has_its_line(module, call):
        return "a comment in a call that shares its line"
    if method == "train" and not isinstance(module.parent(call), ast.Expr):
        return "what `train` returns is read"
    return ""


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
    loops = {outer for outer in place.module.ancestors(place.at) if isinstance(outer, _LOOPS)}
    return any(
        (each.module.path, each.module.span(each.at)) > here or loops.intersection(each.module.ancestors(each.at))
        for each in others
    )
