"""Hooks of an EstimatorSpec whose model_fn becomes layers: what each is as a callback."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import HookCall, HookRule, Resolve, bind, is_empty, is_none

from .hooks import HOOKS, LOGGING, NEUTRAL, SAVING
from .metric_loggers import metric_loggers
from .saver_listeners import SAVER_GONE
from .session_hooks import SessionHook, hook_class, reads_step_before

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.resolve.module import Module
    from migrator.resolve.project import Project

    from ..estimator_calls.driver import Driver

_FAMILIES = ("tensorflow.train", "tensorflow.estimator")
_PLAIN = ("StopAtStepHook", "StepCounterHook", "ProfilerHook", "GlobalStepWaiterHook")
SUMMARIES = "SummarySaverHook"
_SUMMARY_SIGNATURE = "save_steps save_secs output_dir summary_writer scaffold summary_op"
_MERGED = "tensorflow.summary.merge_all"
Follow = Callable[[ast.expr], ast.expr]


def _arguments(call: ast.Call, short: str) -> dict[str, ast.expr]:
    """The arguments of a hook that its callback takes. Raises Unsupported for others that are not neutral."""
    given = bind(call, HOOKS[short].signature, short)
    for name, value in list(given.items()):
        if name in NEUTRAL:
            if not is_none(value) and not (isinstance(value, ast.Constant) and value.value in NEUTRAL[name]):
                raise Unsupported(f"`{name}` of a {short} is not migrated yet", value)
            del given[name]
    return given


def logging(call: ast.Call, resolve: Resolve, follow: Follow) -> HookCall:
    """A LoggingTensorHook: tensors by tag, or a list of tensors; names of ops stand for tensors."""
    given = _arguments(call, LOGGING)
    tensors = given.pop("tensors", None)
    value = follow(tensors) if tensors is not None else None
    pairs: list[tuple[str, ast.expr]] = []
    if isinstance(value, ast.Dict):
        for key, tensor in zip(value.keys, value.values):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise Unsupported("a tag of a LoggingTensorHook is not a literal", key or value)
            pairs.append((key.value, tensor))
    elif isinstance(value, (ast.List, ast.Tuple)):
        for tensor in value.elts:
            named = isinstance(tensor, ast.Constant) and isinstance(tensor.value, str)
            if not named and not isinstance(tensor, ast.Name):
                raise Unsupported("a tensor of a LoggingTensorHook has neither a tag nor a name", tensor)
            pairs.append((tensor.id if isinstance(tensor, ast.Name) else ast.literal_eval(tensor), tensor))
    if not pairs:
        raise Unsupported("the tensors that are logged are not seen", tensors if tensors is not None else call)
    return HookCall(HOOKS[LOGGING].callback, tuple(given.items()), tuple(pairs))


def saver(call: ast.Call, resolve: Resolve, follow: Follow) -> HookCall:
    """A CheckpointSaverHook without listeners; its Saver may say how many checkpoints are kept, as RunConfig does."""
    given = bind(call, HOOKS[SAVING].signature, SAVING)
    for name, value in list(given.items()):
        made = follow(value) if name == "saver" else value
        kept = isinstance(made, ast.Call) and resolve(made.func) == "tensorflow.train.Saver"
        if isinstance(made, ast.Call) and kept:
            kept = not made.args and all(
                k.arg in ("max_to_keep", "keep_checkpoint_every_n_hours") for k in made.keywords
            )
        if name == "listeners" and not is_empty(value):
            raise Unsupported("listeners of a hook of an EstimatorSpec are not migrated yet", value)
        if name == "listeners" or name in SAVER_GONE:
            if not (kept or is_empty(value) or getattr(value, "value", None) in SAVER_GONE.get(name, ())):
                raise Unsupported(f"`{name}` of a {SAVING} is not migrated yet", value)
            del given[name]
    return HookCall(HOOKS[SAVING].callback, tuple(given.items()))


def nan(call: ast.Call, resolve: Resolve, follow: Follow) -> HookCall:
    """A NanTensorHook of the loss, which every training checks."""
    given = bind(call, "loss_tensor fail_on_nan_loss", "NanTensorHook")
    fails = given.get("fail_on_nan_loss")
    if "loss_tensor" not in given or (fails is not None and getattr(fails, "value", None) is not True):
        raise Unsupported("a NanTensorHook that only warns is not migrated yet", call)
    return HookCall("", loss=given["loss_tensor"])


def final(call: ast.Call, resolve: Resolve, follow: Follow) -> HookCall:
    """A FinalOpsHook, which is fed nothing."""
    given = bind(call, "final_ops final_ops_feed_dict", "FinalOpsHook")
    if "final_ops" not in given or not is_none(given.get("final_ops_feed_dict")):
        raise Unsupported("a FinalOpsHook that is fed is not migrated yet", call)
    return HookCall("FinalValues", final=given["final_ops"])


def summaries(call: ast.Call, resolve: Resolve, follow: Follow) -> HookCall:
    """A SummarySaverHook of all summaries, which an Estimator writes as well."""
    given = bind(call, _SUMMARY_SIGNATURE, SUMMARIES)
    given = {name: value for name, value in given.items() if not is_none(value)}
    merged = follow(given.pop("summary_op")) if "summary_op" in given else None
    every = isinstance(merged, ast.Call) and resolve(merged.func) == _MERGED and not (merged.args or merged.keywords)
    if not every or set(given) - {"save_steps", "output_dir"} or "save_steps" not in given:
        raise Unsupported("a SummarySaverHook of some summaries, or by time, works on its graph", call)
    return HookCall(SUMMARIES, tuple(given.items()), of_fit=True)


def _plain(short: str) -> HookRule:
    """A hook that reads no tensor."""

    def rule(call: ast.Call, resolve: Resolve, follow: Follow) -> HookCall:
        return HookCall(HOOKS[short].callback, tuple(_arguments(call, short).items()))

    return rule


_RULES: dict[str, HookRule] = {
    LOGGING: logging,
    SAVING: saver,
    "NanTensorHook": nan,
    "FinalOpsHook": final,
    SUMMARIES: summaries,
    **{short: _plain(short) for short in _PLAIN},
}
SPEC_HOOKS = {f"{family}.{short}": rule for family in _FAMILIES for short, rule in _RULES.items()}
EVALUATION_HOOKS = frozenset(f"{family}.{LOGGING}" for family in _FAMILIES)


def own_hook(project: Project, module: Module, call: ast.Call, evaluated: bool) -> HookCall | None:
    """A hook of a class of the program; the tensors that it is made from are exchanged for their names.

    None if it is none; raises Unsupported where it needs a session.
    """
    found = hook_class(project, module, call, logs=False)
    if found is None or not isinstance(found.node, ast.ClassDef):
        return None
    definition = found.node
    hook = SessionHook(found.module, definition, given_tensors=True)
    hook.check(evaluated)
    init = hook.methods.get("__init__")
    tensors = []
    if hook.tensors and init is not None:
        if init.args.vararg or init.args.kwarg or init.args.posonlyargs:
            raise Unsupported("a hook with *args or **kwargs is not migrated yet", init)
        parameters = " ".join(argument.arg for argument in (*init.args.args[1:], *init.args.kwonlyargs))
        given = bind(call, parameters, definition.name)
        for name in dict.fromkeys(hook.tensors.values()):
            if name not in given or is_none(given[name]):
                raise Unsupported(f"what {definition.name} fetches is not seen", given.get(name, call))
            tensors += _gathered(name, given[name], definition.name)
    behind = hook.reads_step and reads_step_before(found.module)
    arguments = (("steps_behind", "1"),) if behind else ()
    return HookCall("HookCallback", arguments, tuple(tensors), own=call, names=tuple(hook.names.items()))


def _gathered(name: str, value: ast.expr, hook: str) -> list[tuple[str, ast.expr]]:
    """The tensors that a hook is given by a parameter: one, or those in a dict or a list."""
    if isinstance(value, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
        if not keys or not all(isinstance(key, str) for key in keys):
            raise Unsupported(f"what {hook} fetches is not seen", value)
        return [(f"{name}_{key!s}", part) for key, part in zip(keys, value.values)]
    if isinstance(value, (ast.List, ast.Tuple)):
        if not value.elts or any(isinstance(part, ast.Starred) for part in value.elts):
            raise Unsupported(f"what {hook} fetches is not seen", value)
        return [(f"{name}_{number}", part) for number, part in enumerate(value.elts)]
    return [(name, value)]


def take_over_classes(plan: Plan, driver: Callable[[Module], Driver]) -> None:
    """Let the classes of a program's own hooks in the specs of a model_fn stay, with names of `tf.compat.v1`."""
    for hook in plan.spec_hooks.hooks:
        found = hook_class(plan.sublayers.project, plan.module, hook.made.own, logs=False)
        if found is not None and isinstance(found.node, ast.ClassDef):
            driver(found.module).spell(SessionHook(found.module, found.node).spelled())


def watched_names(plans: Iterable[Plan | None], drivers: Mapping[str, Driver]) -> frozenset[str]:
    """Names of ops that callbacks read, those of hooks in specs included."""
    known = [plan for plan in plans if plan is not None]
    for plan in known:
        drivers[plan.module.path].watched.update(plan.spec_hooks.named)
    watched = frozenset(name for driver in drivers.values() for name in driver.watched)
    metric_loggers(drivers.values(), known, watched)
    return watched
