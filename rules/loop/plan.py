"""How a program trains, evaluates and predicts, as data: all uses of its Estimator, or why they stay as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans

from ..estimator_calls.checkpoint_readers import READERS, reading_modules
from ..estimator_calls.estimator_values import ESTIMATOR, PREFIX, Construction, Values
from .datasets import Data, Reader
from .inputs import Input, read_input
from .places import has_its_line, is_simple
from .settings import Settings, settings_of
from .specs import NAMES, TRAIN_AND_EVALUATE, Validation, specs_of, validation_of

_METHODS = {
    "train": "input_fn hooks steps max_steps saving_listeners",
    "evaluate": "input_fn steps hooks checkpoint_path name",
    "predict": "input_fn predict_keys hooks checkpoint_path yield_single_examples",
}
_UNDERSTOOD = {
    "train": frozenset({"input_fn", "steps", "max_steps"}),
    "evaluate": frozenset({"input_fn", "steps", "name"}),
    "predict": frozenset({"input_fn", "predict_keys"}),
}
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.ListComp, ast.GeneratorExp, ast.Lambda)
_CONVOLUTION = re.compile(r"conv(?=\d|\w*_\dd|olution|_transpose)")
SELDOM = 1000
"""Steps between two checkpoints where a program says only minutes, or nothing."""
_GLOBAL_STEP = re.compile(r"^global_step$|\{global_step\b|%\(global_step\)")
"""The key of an evaluation's result, by itself or in a format."""
_NEUTRAL_NAMES = ("ModeKeys", "EstimatorSpec", "Estimator", "inputs.numpy_input_fn", "inputs.pandas_input_fn")
"""Names of the library that stand for nothing else in a program whose loop is understood."""


@dataclass(frozen=True)
class Use:
    """A call of a method of the Estimator."""

    module: Module
    call: ast.Call
    method: str
    input: Input
    arguments: dict[str, ast.expr]
    """Those of the method, by parameter, that say something."""
    validation: Validation | None = None
    """The evaluations during a training by `train_and_evaluate`."""
    every: ast.expr | None = None
    """Steps between these; None: there is one, at the end."""

    @property
    def limit(self) -> ast.expr | None:
        """How many steps it has, or the step to which it trains."""
        return self.arguments.get("steps", self.arguments.get("max_steps"))

    @property
    def to_step(self) -> bool:
        """Whether the limit counts the steps of earlier trainings."""
        return "max_steps" in self.arguments

    @property
    def data(self) -> list[Data]:
        """All that it reads."""
        return [self.input.data, *([self.validation.input.data] if self.validation is not None else [])]

    @property
    def names(self) -> tuple[ast.expr, ...]:
        """References to names of the library that go with it, beside the method."""
        if self.validation is None:
            return ()
        return self.call.func, *(spec.name for spec in self.validation.specs)

    @property
    def divided(self) -> int | None:
        """How many epochs it has, if the program says that."""
        numbers = [node.value for node in (self.limit, self.every) if isinstance(node, ast.Constant)]
        if len(numbers) == 2 and all(isinstance(number, int) for number in numbers):
            limit, every = (int(str(number)) for number in numbers)
            return limit // every if every and limit % every == 0 else None
        return None

    def stops(self, goes_on: bool) -> bool:
        """Whether the last of its epochs may have to end early: one that goes on may start from any step."""
        return self.every is not None and (goes_on or self.divided is None)

    @property
    def repeated(self) -> bool:
        """Whether it may run more than once."""
        return any(isinstance(outer, _LOOPS) for outer in self.module.ancestors(self.call))


@dataclass(frozen=True)
class Loop:
    """The training loop of a program, of which everything is understood."""

    construction: Construction
    module: Module
    target: ast.Name
    """The name that holds the Estimator."""
    scope: Scope
    uses: tuple[Use, ...]
    settings: Settings
    interval: ast.expr | int | None
    """How many steps lie between two checkpoints of a training; None: there is one at its end."""
    draws: bool
    """Whether the program draws from the generators of Python or NumPy."""
    grouped: bool
    """Whether Keras may run several steps in one call: it has to know the number of batches."""

    def goes_on(self, use: Use) -> bool:
        """Whether the model may have been trained before a training."""
        return _goes_on(use, self.uses, self.settings)


@dataclass(frozen=True)
class NotPlain:
    """Why the loop of a program stays with the helpers."""

    reason: str


def loop_of(
    project: Project,
    modules: list[Module],
    constructions: list[Construction],
    plans: list[Plan],
    values: Values,
    inside: Mapping[str, Spans],
) -> Loop | NotPlain:
    """The loop of a program; `modules` are its files, `inside` the spans of its model_fns by file."""
    if len(constructions) != 1 or constructions[0].name != ESTIMATOR or constructions[0].tpu or len(plans) != 1:
        return NotPlain("it has several Estimators, or one of another kind")
    settings = settings_of(project, constructions[0])
    if isinstance(settings, str):
        return NotPlain(settings)
    reason = _of_model(plans[0]) or _of_files(project, modules, inside, settings)
    if reason:
        return NotPlain(reason)
    draws = any(_draws(name) for module in modules for _, name in module.references())
    return _followed(project, modules, constructions[0], values, settings, draws)


def _draws(name: str) -> bool:
    """Whether a function is one of the generators that a whole process shares."""
    own = name.endswith((".RandomState", ".default_rng", ".Random", ".SystemRandom"))
    return name.startswith(("numpy.random.", "random.")) and not own


def _of_model(plan: Plan) -> str:
    """What of a model_fn asks for more than `fit`."""
    if plan.spec_hooks.hooks or plan.watched:
        return "hooks of its model_fn"
    if plan.warm is not None or plan.starting:
        return "values of a checkpoint"
    if plan.averaged or plan.config_fields or "config" in plan.statics:
        return "averages, a Scaffold or the configuration in its model_fn"
    return ""


def _of_files(project: Project, modules: list[Module], inside: Mapping[str, Spans], settings: Settings) -> str:
    """What of the code around the model_fns asks for more."""
    if any(True for _ in reading_modules(project, READERS)):
        return "checkpoints that are read by names"
    names = {name.rpartition(".")[2].lower() for module in modules for _, name in module.references()}
    normalized = any("batch_norm" in name or "batchnorm" in name for name in names)
    if "hard_sigmoid" in names or (normalized and any(_CONVOLUTION.search(name) for name in names)):
        return "layers that Keras 3 computes otherwise"
    for module in modules:
        spans = inside.get(module.path, Spans())
        for node, name in module.references():
            if spans.hold(module.span(node)):
                if name.startswith("tensorflow.summary.") and settings.directory is not None:
                    return "summaries of its model_fn"
                continue
            if node in settings.calls or name in NAMES:  # what `_followed` looks at
                continue
            if name.startswith(PREFIX) and not name[len(PREFIX) :].startswith(_NEUTRAL_NAMES):
                return f"tf.{name.split('.', 1)[1]}"
            if name.startswith("tensorflow.") and name.endswith("Hook"):
                return "hooks"
        for constant in walk(module.tree) if b"global_step" in module.source else ():
            if (
                isinstance(constant, ast.Constant)
                and isinstance(constant.value, str)
                and _GLOBAL_STEP.search(constant.value)
                and not spans.hold(module.span(constant))
            ):
                return "the global step that an evaluation returns"
    return ""


def _followed(
    project: Project,
    modules: list[Module],
    construction: Construction,
    values: Values,
    settings: Settings,
    draws: bool,
) -> Loop | NotPlain:
    """The loop, from all places that read the Estimator."""
    module = construction.module
    statement = module.parent(construction.call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or values.lost:
        return NotPlain("the Estimator is not held by one name")
    scope = module.scope(target).holder(target.id)
    if len(scope.bindings.get(target.id, [])) != 1:
        return NotPlain("the Estimator is not held by one name")
    if settings.fields and not has_its_line(module, construction.call):
        return NotPlain("the Estimator is made in the line of another statement")
    reader, uses = Reader(project), []
    for where, node in values.reads:
        if node is construction.call or _is_training(where, node):
            continue
        params = construction.arguments.get("params")
        use = _evaluated(reader, where, node, params, settings) or _use(reader, where, node, params)
        if isinstance(use, str):
            return NotPlain(use)
        if where is not module or where.scope(node).lookup(target.id) is not scope:
            return NotPlain("the Estimator is used elsewhere")
        uses.append(use)
    if not uses:
        return NotPlain("nothing uses its Estimator")
    uses.sort(key=lambda use: use.module.span(use.call))
    trainings = [use for use in uses if use.method == "train"]
    reason = _of_trainings(trainings, settings) or _of_specs(modules, uses)
    if reason:
        return NotPlain(reason)
    whole = [use for use in trainings if use.every is None]
    interval = _interval(whole, settings) if settings.directory is not None else None
    grouped = all(data.counted for use in uses for data in use.data) and _divides(settings, interval, uses)
    return Loop(construction, module, target, scope, tuple(uses), settings, interval, draws, grouped)


def _interval(trainings: list[Use], settings: Settings) -> ast.expr | int | None:
    """The steps between two checkpoints; an Estimator saves every ten minutes, if it is not told."""
    every = settings.fields.get("save_checkpoints_steps")
    limits = [limit for use in trainings for limit in [use.limit] if limit is not None]
    if len(limits) == len(trainings) and all(_at_most(limit, every) for limit in limits):
        return None
    return every if every is not None else SELDOM


def _at_most(limit: ast.expr, every: ast.expr | None) -> bool:
    """Whether a training ends before its second checkpoint."""
    if every is not None and ast.dump(limit) == ast.dump(every):
        return True
    steps = every.value if isinstance(every, ast.Constant) else None if every is not None else SELDOM
    whole = isinstance(limit, ast.Constant) and isinstance(limit.value, int)
    return whole and isinstance(steps, int) and limit.value <= steps  # type: ignore[attr-defined]


def _goes_on(use: Use, uses: Sequence[Use], settings: Settings) -> bool:
    """Whether the model may have been trained before a training, by another one or by an earlier run."""
    first = next((each for each in uses if each.method == "train"), None)
    return settings.directory is not None or use.repeated or use is not first


def _divides(settings: Settings, interval: ast.expr | int | None, uses: list[Use]) -> bool:
    """Whether callbacks see each step that they wait for, where they are called every hundred steps."""
    if any(use.stops(_goes_on(use, uses, settings)) for use in uses):
        return False  # one waits for the last step
    every = settings.fields.get("save_summary_steps")
    numbers = [*([interval, every] if settings.directory is not None else []), *(use.every for use in uses)]
    known = [n.value if isinstance(n, ast.Constant) else n for n in numbers if n is not None]
    return all(isinstance(number, int) and number % 100 == 0 for number in known)


def _is_training(module: Module, node: ast.expr) -> bool:
    """Whether a value is what `train` returns, which nothing reads."""
    return isinstance(node, ast.Call) and isinstance(module.parent(node), ast.Expr)


def _evaluated(
    reader: Reader, module: Module, node: ast.expr, params: ast.expr | None, settings: Settings
) -> Use | str | None:
    """The use that is a training by `train_and_evaluate`, or why it is not understood; None: it is another use."""
    outer = module.parent(node)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    if not isinstance(call, ast.Call) or module.resolve(call.func) != TRAIN_AND_EVALUATE:
        return None
    specs = specs_of(module, call)
    if isinstance(specs, str):
        return specs
    told = {name: value for name, value in specs[0].arguments.items() if not is_none(value)}
    found = read_input(reader, module, told["input_fn"], "train", params)
    validation = validation_of(reader, module, specs, params)
    if isinstance(found, str) or isinstance(validation, str):
        return found if isinstance(found, str) else str(validation)
    use = Use(module, call, "train", found, told, validation)
    every = settings.fields.get("save_checkpoints_steps")
    if every is not None and (use.limit is None or not _at_most(use.limit, every)):
        if use.limit is None or found.data.ends is not False:
            return "evaluations amid a training on data that may end"
        if not is_simple(use.limit) or not is_simple(every):
            return "a number of steps that is computed"
        use = replace(use, every=every)
    return _refused(module, call, "train", found.data) or use


def _of_specs(modules: list[Module], uses: list[Use]) -> str:
    """Why `train_and_evaluate` and what it is given stay."""
    known = {name for use in uses for name in use.names}
    for module in modules:
        for node, name in module.references():
            if name in NAMES and node not in known:
                return f"tf.{name.split('.', 1)[1]}"
    return ""


def _use(reader: Reader, module: Module, node: ast.expr, params: ast.expr | None) -> Use | str:
    """What is done with an Estimator at one place, or why it is not understood."""
    attribute = module.parent(node)
    call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(node, ast.Name) or not isinstance(attribute, ast.Attribute):
        return "the Estimator is used elsewhere"
    method = attribute.attr
    if not isinstance(call, ast.Call) or call.func is not attribute or method not in _METHODS:
        return f"`.{method}` of its Estimator"
    try:
        given = bind(call, _METHODS[method], f"Estimator.{method}")
    except Unsupported as problem:
        return problem.reason
    told = {name: value for name, value in given.items() if not is_none(value) and not _says_nothing(name, value)}
    more = sorted(set(told) - _UNDERSTOOD[method])
    if more:
        return f"`{more[0]}` of {method}"
    if "predict_keys" in told and not _is_names(told["predict_keys"]):
        return "`predict_keys` of predict"
    if "input_fn" not in told:
        return f"`{method}` without an input function"
    if any(isinstance(outer, ast.JoinedStr) for outer in module.ancestors(call)):
        return f"`{method}` in a string"
    found = read_input(reader, module, told["input_fn"], method, params)
    if isinstance(found, str):
        return found
    return _refused(module, call, method, found.data) or Use(module, call, method, found, told)


def _is_names(node: ast.expr) -> bool:
    """Whether an expression is a display of strings, or one."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    return bool(parts) and all(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)


def _says_nothing(name: str, value: ast.expr) -> bool:
    """Whether an argument is an empty list of hooks."""
    return name in ("hooks", "saving_listeners") and is_empty(value)


def _refused(module: Module, call: ast.Call, method: str, data: Data) -> str:
    """Why a method on such data is not what Keras does."""
    start, end = module.span(call)
    if b"#" in module.source[start:end] and not has_its_line(module, call):
        return "a comment in a call that shares its line"
    if method == "train" and not isinstance(module.parent(call), ast.Expr):
        return "what `train` returns is read"
    if method == "predict":
        parent = module.parent(call)
        first = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "next"
        if not data.ends and not first:
            return "predictions on data without an end"
        if not data.even:
            return "predictions on batches of different shapes"
    return ""


def _of_trainings(trainings: list[Use], settings: Settings) -> str:
    """Why several trainings are not what as many calls of `fit` do."""
    for use in trainings:
        goes_on = settings.directory is not None or len(trainings) > 1 or use.repeated
        if not use.input.data.counted and goes_on:  # Keras 2 counts one step too many
            return "several trainings on data of an unknown number"
        if use.limit is None and use.input.data.ends is not True:
            return "a training without an end"
        lines = settings.directory is not None or (goes_on and use.to_step)
        if lines and not has_its_line(use.module, use.call):
            return "a training in the line of another statement"
    return ""
