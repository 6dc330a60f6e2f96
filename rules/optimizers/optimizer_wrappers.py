"""Optimizers of `tf.contrib` around another one, in a model_fn: what they do stands around the step of that optimizer.

- `tf.contrib.estimator.clip_gradients_by_norm` clips by the global norm of the gradients;
- `tf.contrib.opt.MovingAverageOptimizer` averages the weights after each step, and its `swapping_saver` lets evaluations and
  predictions have the averages;
- `tf.contrib.opt.extend_with_decoupled_weight_decay` of Adam and Momentum makes the optimizers `AdamW` and `MomentumW`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.returns import own_nodes
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.calls import delete_arguments
from migrator.resolve.module import Module

from ..canned.canned_clipping import CLIP
from ..symbols.tensorflow_names import whole_name

_AVERAGE = "tensorflow.contrib.opt.MovingAverageOptimizer"
_EXTEND = "tensorflow.contrib.opt.extend_with_decoupled_weight_decay"
_EXTENDED = {
    "tensorflow.train.AdamOptimizer": "AdamWOptimizer",
    "tensorflow.train.MomentumOptimizer": "MomentumWOptimizer",
}
_MINIMIZE = "loss global_step var_list name"
_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)


def spelled_out(module: Module, call: ast.Call) -> list[Change]:
    """The edits that do without the wrapper which `call` makes; none for other calls, and where it is used otherwise."""
    name = module.resolve(call.func)
    if name in (CLIP, _AVERAGE):
        return _unwrapped(module, call, name)
    return _extended(module, call)


# -- decoupled decay --------------------------------------------------------------------------------------------------


def _extended(module: Module, call: ast.Call) -> list[Change]:
    """``tf.contrib.opt.AdamWOptimizer(…)`` for a call of the class that the function makes of Adam's."""
    made: ast.expr = call.func
    statement = module.assignment(made) if isinstance(made, ast.Name) else None
    made = statement.value if statement is not None else made
    if not isinstance(made, ast.Call) or module.resolve(made.func) != _EXTEND:
        return []
    base = made.args[0] if len(made.args) == 1 and not made.keywords else None
    short, tf = _EXTENDED.get((module.resolve(base) if base is not None else None) or ""), whole_name(module)
    if short is None or tf is None:
        return []
    changes = [Change(module.edit(call.func, f"{tf}.contrib.opt.{short}"))]
    if statement is not None and isinstance(call.func, ast.Name):
        loads = module.loads_of(call.func.id, module.scope(call.func).lookup(call.func.id))
        if loads == [call.func]:
            changes.append(Change(module.delete_statement(statement)))
    return changes


# -- around the step --------------------------------------------------------------------------------------------------


@dataclass
class _Wrapped:
    """An optimizer that has a wrapper."""

    module: Module
    tf: str
    optimizer: str
    """The text of the inner optimizer."""
    norm: str = ""
    """To which gradients are clipped."""
    averages: str = ""
    """The name of the averages."""
    before: tuple[str, ...] = ()
    """What makes these for one step alone."""

    def changes(self, step: ast.Call) -> list[Change]:
        """The edits for ``wrapper.minimize(…)``. Raises Unsupported."""
        module = self.module
        given = {key: module.segment(value) for key, value in bind(step, _MINIMIZE, "minimize").items()}
        given.pop("name", None)
        counted = f", global_step={given['global_step']}" if "global_step" in given else ""
        var_list = f", var_list={given['var_list']}" if "var_list" in given else ""
        gradients, variables = (module.unused_name(name, step) for name in ("gradients", "variables"))

        def lines(target: str, unit: str) -> list[str]:
            if self.averages:
                weights = given.get("var_list", f"{self.tf}.trainable_variables()")
                return [
                    *self.before,
                    f"{target} = {self.optimizer}.minimize({given['loss']}{counted}{var_list})",
                    f"with {self.tf}.control_dependencies([{target}]):",
                    f"{unit}{target} = {self.averages}.apply({weights})",
                ]
            taken = f"{self.optimizer}.compute_gradients({given['loss']}{var_list})"
            return [
                *self.before,
                f"{gradients}, {variables} = zip(*{taken})",
                f"{gradients}, _ = {self.tf}.clip_by_global_norm({gradients}, {self.norm})",
                f"{target} = {self.optimizer}.apply_gradients(zip({gradients}, {variables}){counted})",
            ]

        return spelled(module, step, "train_op", lines) if "loss" in given else []


def _unwrapped(module: Module, call: ast.Call, name: str) -> list[Change]:
    tf = whole_name(module)
    try:
        given = bind(
            call, "optimizer clip_norm" if name == CLIP else "opt average_decay num_updates sequential_update", name
        )
        inner = given.get("optimizer", given.get("opt"))
        if tf is None or inner is None or not is_none(given.get("sequential_update")):
            return []
        wrapped = _Wrapped(module, tf, module.segment(inner))
        made = ""
        if name == CLIP:
            norm = given.get("clip_norm")
            if norm is None or not isinstance(norm, _ATOMS):
                return []
            wrapped.norm = module.segment(norm)
        else:
            wrapped.averages = module.unused_name("averages", call)
            decay = module.segment(given["average_decay"]) if "average_decay" in given else "0.9999"
            counted = "" if is_none(given.get("num_updates")) else f", {module.segment(given['num_updates'])}"
            made = f"{tf}.train.ExponentialMovingAverage({decay}{counted})"
        return _in_place(wrapped, call, inner, made) or _with_name(wrapped, call, inner, made)
    except Unsupported:
        return []


def _in_place(wrapped: _Wrapped, call: ast.Call, inner: ast.expr, averages: str) -> list[Change]:
    """The edits for ``wrapper(…).minimize(…)``."""
    module, method = wrapped.module, wrapped.module.parent(call)
    step = module.parent(method) if isinstance(method, ast.Attribute) and method.attr == "minimize" else None
    if not isinstance(step, ast.Call) or step.func is not method:
        return []
    if not isinstance(inner, ast.Name):
        wrapped.optimizer = module.unused_name("optimizer", call)
        wrapped.before = (f"{wrapped.optimizer} = {module.segment(inner)}",)
    if averages:
        wrapped.before = (*wrapped.before, f"{wrapped.averages} = {averages}")
    return wrapped.changes(step)


def _with_name(wrapped: _Wrapped, call: ast.Call, inner: ast.expr, averages: str) -> list[Change]:
    """The edits for ``optimizer = wrapper(…)`` and all that uses that name. Raises Unsupported."""
    module, tf, statement = wrapped.module, wrapped.tf, wrapped.module.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign) or statement.value is not call:
        return []
    same = isinstance(inner, ast.Name) and inner.id == target.id
    uses = _uses(module, target, statement, rebound=same)
    if uses is None:
        return []
    steps, savers = uses
    made = [f"{wrapped.averages} = {averages}"] if averages else []
    if not isinstance(inner, ast.Name) or not (same or len(module.bindings(inner)) == 1):
        wrapped.optimizer = target.id
        made.insert(0, f"{target.id} = {module.segment(inner)}")
    saver = f"{tf}.train.Scaffold(saver={tf}.train.Saver({averages}.variables_to_restore()))"
    changes: list[Change] | None = []
    if savers:
        changes = _swapped(module, savers, saver) if averages else None
    if changes is None:
        return []
    for step in steps:
        spelling = wrapped.changes(step)
        if not spelling:
            return []
        changes += spelling
    text = f"{module.newline}{module.indent(statement)}".join(made)
    return [*changes, Change(module.edit(statement, text) if made else module.delete_statement(statement))]


def _uses(
    module: Module, target: ast.Name, statement: ast.stmt, rebound: bool
) -> tuple[list[ast.Call], list[ast.Call]] | None:
    """The steps that a wrapper takes, and its swapping savers; None where it is used for more, or not seen to be there."""
    scope = module.scope(target).lookup(target.id)
    bindings = module.bindings(target)
    if len(bindings) != (2 if rebound else 1) or scope is None:
        return None
    if rebound and any(isinstance(a, (ast.If, ast.For, ast.While, ast.Try)) for a in _between(module, statement)):
        return None
    end = module.span(statement)[1]
    loads = [load for load in module.loads_of(target.id, scope) if module.span(load)[0] > end]
    early = [load for load in module.loads_of(target.id, scope) if module.span(load)[1] < module.span(statement)[0]]
    steps, savers = [], []
    for load in loads:
        method = module.parent(load)
        call = module.parent(method) if isinstance(method, ast.Attribute) else None
        if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute) or call.func is not method:
            return None
        if method.attr == "minimize":
            steps.append(call)
        elif method.attr == "swapping_saver" and not call.args and not call.keywords:
            savers.append(call)
        else:
            return None
    return (steps, savers) if steps and not early else None


def _between(module: Module, statement: ast.stmt) -> list[ast.AST]:
    """The conditions and loops around the second statement that gives a name its value, but not around the first."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    assert isinstance(target, ast.Name)
    first = next(
        module.statement(b.node) for b in module.bindings(target) if b.node is not target and b.node is not None
    )
    outer = list(module.ancestors(first))
    return [a for a in module.ancestors(statement) if a not in outer]


def _swapped(module: Module, savers: list[ast.Call], saver: str) -> list[Change] | None:
    """The edits that let evaluations and predictions restore the averages, in the place of a Saver that swaps them."""
    scaffold = module.parent(module.parent(savers[0]) or savers[0])
    if len(savers) > 1 or not isinstance(scaffold, ast.Call) or not _is_scaffold(module, scaffold):
        return None
    keyword, gone = module.parent(scaffold), []
    if isinstance(keyword, ast.Assign) and len(keyword.targets) == 1 and isinstance(keyword.targets[0], ast.Name):
        name = keyword.targets[0]
        loads = module.loads_of(name.id, module.scope(name).lookup(name.id))
        gone = [Change(module.delete_statement(keyword))]
        if len(loads) != 1 or len(module.bindings(name)) != 1:
            return None
        keyword = module.parent(loads[0])
    spec = module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "scaffold" else None
    function = module.nearest(scaffold, ast.FunctionDef)
    if (
        not isinstance(spec, ast.Call)
        or not isinstance(keyword, ast.keyword)
        or not isinstance(function, ast.FunctionDef)
    ):
        return None
    specs = [n for n in own_nodes(function.body) if isinstance(n, ast.Call) and module.resolve(n.func) == SPEC]
    others = [other for other in specs if other is not spec]
    given = [{k.arg for k in other.keywords} for other in others]
    if spec not in specs or not others or any({"train_op", "scaffold", None} & names for names in given):
        return None
    if not any(k.arg == "train_op" for k in spec.keywords):
        return None
    changes = [Change(edit) for edit in delete_arguments(module, spec, [keyword])]
    for other in others:
        last = max(module.span(a)[1] for a in (*other.args, *(k.value for k in other.keywords)))
        changes.append(Change(module.insert(last, f", scaffold={saver}")))
    return [*gone, *changes]


def _is_scaffold(module: Module, call: ast.Call) -> bool:
    """Whether a call makes a Scaffold with nothing but a saver."""
    named = [keyword.arg for keyword in call.keywords] == ["saver"] and not call.args
    return named and module.resolve(call.func) == "tensorflow.train.Scaffold"
