"""On which devices and machines a program trains, as data, or why that is not what `fit` does under a strategy."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module

from ..callbacks.keras_callbacks import Hooks
from ..loop.flow.results import READ
from ..loop.inputs import given_parts
from ..loop.loop import Distribution, Loop, NotPlain
from ..loop.places import has_its_line
from ..loop.plan import of_one_device
from ..loop.use import Use
from .trained import SPOKEN, Trained

_STRATEGIES = ("tensorflow.distribute.", "tensorflow.contrib.distribute.")
_ON_ONE_MACHINE = frozenset({"MirroredStrategy", "OneDeviceStrategy"})
_ARRAYS = frozenset(f"tensorflow.estimator.inputs.{name}_input_fn" for name in ("numpy", "pandas"))
_LINES = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions that are not computed with their statement, or more than once."""
_WORDS_OF_STRATEGIES = frozenset({"Strategy", "get_strategy", "distribute", "input_context"})


@dataclass(frozen=True)
class _Values:
    """What an expression for a strategy may be."""

    made: tuple[ast.Call, ...]
    nones: tuple[ast.expr, ...]


def distributed(
    loop: Loop, models: Sequence[Trained], words: Collection[str] | None, asked: bool, apart: bool
) -> Loop | NotPlain:
    """The same loop on the devices and machines of which a program speaks with `words`; None: with others, too.

    Where it does with none, a cluster may be `asked` for. `apart`: what is written shows that a cluster has to evaluate models
    apart from `fit`.
    """
    model = models[0]
    if words is None:
        return NotPlain(SPOKEN)
    if len(models) > 1 or len(loop.sources) > 1:
        return NotPlain("several Estimators on several devices or machines")
    if any(use.unlimited or (use.validation is not None and use.validation.unlimited) for use in loop.uses):
        return NotPlain("a number of steps that may be None, on several devices or machines")
    if any(
        use.whole and not (use.input.data.fixed and (use.limit is not None or use.input.data.ends)) for use in loop.uses
    ):
        return NotPlain(
            "evaluations amid a training on data of a number that is not seen, on several devices or machines"
        )
    loop = replace(loop, uses=tuple(replace(u, whole=False, measured=True) if u.whole else u for u in loop.uses))
    strategy = loop.first.settings.strategy
    if loop.first.settings.workers:
        words, asked = set(words) - _WORDS_OF_STRATEGIES, True
    hooked = [use for use in loop.uses if use.hooks != Hooks() or use.own or use.wanted or use.last_step is not None]
    if hooked and (strategy is None or not all(map(_sees_all_replicas, hooked))):
        return NotPlain("hooks, on several devices or machines")
    if any(use.result is not None and use.result.read for use in loop.uses):
        return NotPlain(f"{READ}, on several devices or machines")
    if any(use.by_batches for use in loop.uses):
        return NotPlain("predictions by batches, on several devices or machines")
    if any(not e.final for use in loop.uses if use.every is not None for e in use.exporters):
        return NotPlain("exports amid a training, on several devices or machines")
    exported = bool(loop.exports) or any(use.exporters for use in loop.uses)
    if loop.first.starts:
        return NotPlain("values of a checkpoint, on several devices or machines")
    if loop.on_tpu:
        return NotPlain("a TPU beside other devices or machines")
    if strategy is None:
        if not words and not asked:  # it spoke of TPUs
            return NotPlain(SPOKEN)
        loop = replace(loop, uses=tuple(_by_epochs(use) for use in loop.uses))
        apart = apart or model.canned
        reason = SPOKEN if set(words) & _WORDS_OF_STRATEGIES else model.step
        reason = reason or _of_cluster(loop, model, apart) or (model.parts if model.servers else _of_workers(loop))
        told = Distribution(None, (), not model.servers and model.moving, model.servers, apart)
        return NotPlain(reason) if reason else replace(loop, distribution=told, together=1)
    if any(use.module.resolve(part) in _ARRAYS for use in loop.uses for part in _functions(use)):
        return NotPlain("arrays of an input function, on several devices or machines")
    if model.canned:
        return NotPlain(SPOKEN)
    if not set(words) <= _WORDS_OF_STRATEGIES:
        return NotPlain("a strategy of the program beside a cluster of TF_CONFIG")
    if not loop.is_local(loop.first) or len(loop.modules) > 1:
        return NotPlain("an Estimator with a strategy of the program that is not held by one name")
    if not isinstance(loop.first.module.parent(loop.first.construction.call), ast.Assign):
        return NotPlain("an Estimator with a strategy that is annotated")
    if loop.first.params and any(_has(use, loop.first.params) for use in loop.uses):
        return NotPlain("parameters that input functions get of an Estimator with a strategy")
    values = _values(loop.first.module, strategy)
    if values is None:
        return NotPlain("its strategy is not seen")
    if reason := of_one_device(loop):
        return NotPlain(reason)
    if exported:
        return NotPlain("exports under a strategy of the program")
    distribution = Distribution(strategy, values.nones, model.moving)
    reason = model.step or _of_replicas(loop, model.moving)
    return NotPlain(reason) if reason else replace(loop, distribution=distribution, together=1, arrays=())


def _sees_all_replicas(use: Use) -> bool:
    """Whether callbacks have what hooks read, and nothing but a training runs while it does."""
    return not (use.wanted or use.listens or use.hooks.evaluators or use.logged_evaluations)


def _values(module: Module, node: ast.expr, deep: int = 0) -> _Values | None:
    """The strategies that an expression may be, if all are seen."""
    if is_none(node):
        return _Values((), (node,))
    if isinstance(node, ast.IfExp):
        return _joined(_values(module, arm, deep + 1) for arm in (node.body, node.orelse))
    if isinstance(node, ast.Call):
        name = module.resolve(node.func) or ""
        known = name.startswith(_STRATEGIES) and name.rpartition(".")[2] in _ON_ONE_MACHINE
        return _Values((node,), ()) if known else None
    if isinstance(node, ast.Name) and deep < 4:
        bound = [binding.node for binding in module.bindings(node)]
        statements = [each if isinstance(each, ast.stmt) else module.parent(each) for each in bound]
        values = [s.value for s in statements if isinstance(s, ast.Assign) and len(s.targets) == 1]
        if values and len(values) == len(statements):
            return _joined(_values(module, value, deep + 1) for value in values)
    return None


def _joined(parts: Iterator[_Values | None]) -> _Values | None:
    found = list(parts)
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return _Values(tuple(m for each in known for m in each.made), tuple(n for each in known for n in each.nones))


def _functions(use: Use) -> list[ast.expr]:
    """What makes the input functions of a use."""
    inputs = [use.input, *([use.validation.input] if use.validation is not None else [])]
    found = []
    for each in inputs:
        statement = use.module.assignment(each.function)
        made = statement.value if statement is not None else each.function
        found.append(made.func if isinstance(made, ast.Call) else made)
    return found


def _has(use: Use, params: str) -> bool:
    """Whether an input function is to get a variable that is not there yet."""
    inputs = [use.input, *([use.validation.input] if use.validation is not None else [])]
    given = (value for each in inputs for value in given_parts(each.given))
    return any(isinstance(value, ast.Name) and value.id == params for value in given)


def _of_replicas(loop: Loop, moving: bool) -> str:
    """Why data that replicas share are not those that they get from an Estimator."""
    for use in loop.uses:
        if use.method == "train":
            ended = use.limit is None and use.every is None and use.input.data.ends
            if not ended and (use.limit is None or use.input.data.ends is not False):
                return "data that may end, on several devices"
            if use.validation is not None and moving:
                return "moving statistics, of which each replica has its own in an evaluation amid the training"
        elif moving and not _may_restore(use):
            return "moving statistics, of which each replica has its own"
    return ""


def _of_cluster(loop: Loop, model: Trained, apart: bool) -> str:
    """Why workers and parameter servers of TF_CONFIG do not train as those of an Estimator."""
    if "make_strategy" in model.module.bound_names:
        return "a function of its own that makes strategies"
    for use in loop.uses:
        data = use.input.data
        if use.method == "train" and (_is_uneven(use) or _saves_between(use)):
            return "steps of a cluster that somebody counts"
        if use.method == "train" and not _is_counted(use):
            return "a number of steps that a cluster does not know"
        evaluations = [_is_known(data.ends, use.limit)] if use.method == "evaluate" else []
        if apart and use.validation is not None:
            evaluations.append(_is_known(use.validation.input.data.ends, use.validation.limit))
        if not all(evaluations):
            return "evaluations on data that may have no end"
        inside = any(isinstance(outer, _LINES) for outer in use.module.ancestors(use.call))
        evaluates = use.method == "evaluate" or use.validation is not None
        if evaluates and (inside or not has_its_line(use.module, use.call)):
            return "evaluations in the line of another statement"
    return ""


def _is_known(ends: bool | None, limit: ast.expr | int | None) -> bool:
    """Whether the number of batches of an evaluation is to be had before it."""
    return bool(ends) or (ends is False and limit is not None)


def _by_epochs(use: Use) -> Use:
    """The same use where nobody counts steps: a training to a step has epochs, at the ends of which it saves."""
    every = use.fields.get("save_checkpoints_steps")
    several = use.method == "train" and use.to_step and use.interval is not None
    return replace(use, counted=False, every=every if several else use.every)


def _saves_between(use: Use) -> bool:
    """Whether a training is to save after a number of steps that is no epoch."""
    return use.interval is not None and "save_checkpoints_steps" in use.fields


def _is_uneven(use: Use) -> bool:
    """Whether the last epoch of a training is seen to be shorter than the others."""
    return use.divided is None and isinstance(use.limit, ast.Constant) and isinstance(use.every, ast.Constant)


def _is_counted(use: Use) -> bool:
    """Whether a number of steps is known, and no data end before; data that end may be counted by one more pass."""
    return use.input.data.ends is (use.limit is None)


def _of_workers(loop: Loop) -> str:
    """Why workers that keep equal variables do not do as those of an Estimator."""
    if any(
        read.what == "latest_checkpoint" or (read.what == "model_dir" and read.folder is None) for read in loop.reads
    ):
        return "checkpoints of a cluster that are read"
    return ""


def _may_restore(use: Use) -> bool:
    """Whether the newest checkpoint, which has the means over replicas, may be read before a use."""
    return use.saves and has_its_line(use.module, use.call)


def why_not_after_all(loop: Loop, models: Iterable[str]) -> str:
    """Why the models, as they are written, cannot be trained and evaluated under a strategy."""
    if loop.distribution is None or all(use.method != "evaluate" and use.validation is None for use in loop.uses):
        return ""
    told = loop.distribution
    behind = all(use.validation is None or told.evaluates_behind(use) for use in loop.uses)
    if told.calls_evaluations or (told.on_cluster and behind):
        return ""
    if any("def compute_loss(" in text for text in models):
        return "a mean over the examples of a batch, of which replicas may have none"
    if told.on_cluster and any("def compute_metrics(" in text for text in models):
        return "metrics that parameter servers would not compute"
    return ""
