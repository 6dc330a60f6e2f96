"""What a program does with its Estimators: calls of their methods, and of `train_and_evaluate`."""

from __future__ import annotations

import ast
from dataclasses import replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.analyse.statements.loggers import LOGGERS
from migrator.resolve.module import Module

from ..callbacks.asides import asides_of
from ..callbacks.early_stops import stops_early
from ..callbacks.evaluators import takes_estimator
from ..callbacks.given_hooks import hooks_given
from ..callbacks.keras_callbacks import Given, Hooks
from ..callbacks.model_hooks import ModelHooks
from .data.datasets import Reader
from .data.options import may_be_none
from .flow.chosen import SELDOM, one_of
from .flow.exclusive import is_choice
from .flow.results import READ, result_of
from .inputs import MODES, read_input
from .places import has_its_line, is_simple, line_above, stays
from .sources import Source
from .specs import TRAIN_AND_EVALUATE, specs_of, validation_of
from .use import WHOLE, Use, at_most
from .values import may_be_fraction

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


_STOPS = "hooks that stop early by evaluations amid a training"


def _dump(node: ast.expr | None) -> str:
    return "" if node is None else ast.dump(node)


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
    elif name is not None and name.startswith("tensorflow.") and not name.startswith(LOGGERS):
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
    if hooks.stops and not is_none(specs[1].arguments.get("name")):
        return "a hook that stops early by evaluations without a name, beside those that have one"
    if "steps" in told:
        return "a StopAtStepHook that counts from where it starts"
    hooks = hooks.and_those(evaluated)
    use = _limited(reader, Use(module, call, "train", node, sources, found, told, validation, hooks))
    every = use.fields.get("save_checkpoints_steps")
    if every is None and hooks.stops:  # by time: as often as it saves now
        every = ast.copy_location(ast.Constant(SELDOM), call)
    if is_choice(every):
        return "evaluations amid a training of one of several Estimators"
    if every is not None and (use.limit is None or not at_most(use.limit, every)):
        data = found.data
        measured = data.ends is not False
        seen = data.counted and data.fixed and (use.limit is not None or bool(data.ends))
        whole = (use.unlimited or (measured and not seen)) and _evaluates_by_itself(use)
        if not whole:
            if measured and not (data.fixed and (use.limit is not None or data.ends)):
                return "evaluations amid a training on data of a number that is not seen"
            if measured and hooks.stops and not data.counted:  # which may end long before the data
                return "hooks that stop early, on data that would have to be read to count them"
            if use.unlimited:
                return "evaluations amid a training whose number of steps may be None"
        known = is_simple(every) and not measured and (use.limit is None or is_simple(use.limit))
        if not known and not has_its_line(module, call):
            return "a number of steps that is computed, in a line with other code"
        use = replace(use, every=every, measured=measured and not whole, whole=whole)
    if use.every is None:
        use = replace(use, hooks=use.hooks.without_stops)
    reason = _of_exporters(use)
    if reason:
        return reason
    result = result_of(reader.project, module, call, bool(use.exporters))
    if isinstance(result, str) or (result is not None and result.read and use.whole):
        return result if isinstance(result, str) else READ
    return _refused(module, call, "train_and_evaluate") or replace(use, result=result)


def _evaluates_by_itself(use: Use) -> bool:
    """Whether a callback may evaluate the model amid an epoch: no hook is told of it, and a step takes its batch first."""
    told = use.logged_evaluations or any(own.evaluated for own in use.own)
    return not told and all(source.model is None and not source.needs_keras_2 for source in use.sources)


def _of_exporters(use: Use) -> str:
    """Why the exporters of a training stay."""
    if not use.exporters:
        return ""
    if not use.saves:
        return "`exporters` of its EvalSpec"
    if use.every is not None and not has_its_line(use.module, use.call):
        return "exports amid a training in the line of another statement"
    if len({source.signatures for source in use.sources}) > 1:
        return "exporters of one of several Estimators with other signatures"
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
    if more and not (more == ["hooks"] and all(source.watched for source in sources)):  # of predictions
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
    if "hooks" in told and (use.by_batches or use.is_first):
        return "`hooks` of predictions that are not all made"
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
    through = (
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("enumerate", "zip")
    )
    loop, read = (module.parent(parent), parent) if through and parent is not None else (parent, call)
    looped = isinstance(loop, (ast.For, ast.comprehension)) and loop.iter is read
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
