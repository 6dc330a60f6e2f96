"""Optimizers of `tf.contrib` around another one, in a model_fn: what they do stands around the step of that optimizer.

- `tf.contrib.estimator.clip_gradients_by_norm` clips by the global norm of the gradients;
- `tf.contrib.opt.MovingAverageOptimizer` averages the weights after each step, and its `swapping_saver` lets evaluations and
  predictions have the averages;
- `tf.contrib.opt.extend_with_decoupled_weight_decay` of Adam and Momentum makes the optimizers `AdamW` and `MomentumW`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_nodes
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.rewrite import Remove, Replace, Statement, expr, statements, with_arguments

from ..canned.canned_clipping import CLIP
from ..symbols.tensorflow_names import whole_name

if TYPE_CHECKING:
    import libcst as cst

_AVERAGE = "tensorflow.contrib.opt.MovingAverageOptimizer"
_EXTEND = "tensorflow.contrib.opt.extend_with_decoupled_weight_decay"
_EXTENDED = {
    "tensorflow.train.AdamOptimizer": "AdamWOptimizer",
    "tensorflow.train.MomentumOptimizer": "MomentumWOptimizer",
}
_MINIMIZE = "loss global_step var_list name"
_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that do without the wrapper which `call` makes; none for other calls, and where it is used otherwise.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
        optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.AdamOptimizer(0.1), 5.0)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
        optimizer = tf.train.AdamOptimizer(0.1)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    ```
    """
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
    changes: list[rewrite.Change] = [Replace(call.func, expr(f"{tf}.contrib.opt.{short}"))]
    if statement is not None and isinstance(call.func, ast.Name):
        loads = module.loads_of(call.func.id, module.scope(call.func).lookup(call.func.id))
        if loads == [call.func]:
            changes.append(Remove(statement))
    return Change.of(module, *changes)


# -- around the step --------------------------------------------------------------------------------------------------


@dataclass
class _Wrapped:
    """An optimizer that has a wrapper."""

    module: Module
    tf: str
    optimizer: cst.BaseExpression
    """The inner optimizer."""
    norm: cst.BaseExpression | None = None
    """To which gradients are clipped."""
    averages: str = ""
    """The name of the averages."""
    before: tuple[Statement, ...] = ()
    """What makes these for one step alone."""

    def changes(self, step: ast.Call) -> list[Change]:
        """The edits for ``wrapper.minimize(…)``. Raises Unsupported."""
        module = self.module
        given = {key: module.cst.expression(value) for key, value in bind(step, _MINIMIZE, "minimize").items()}
        if "loss" not in given:
            return []
        loss, optimizer, before = given["loss"], self.optimizer, self.before
        counted = {name: value for name, value in given.items() if name == "global_step"}
        listed = {name: value for name, value in given.items() if name == "var_list"}
        names = {name: module.unused_name(name, step) for name in ("gradients", "variables")}

        def make(target: str) -> list[Statement]:
            if self.norm is None:
                call = expr("{optimizer}.minimize({loss})", optimizer=optimizer, loss=loss)
                done = with_arguments(call, add={**counted, **listed})
                weights = given.get("var_list", expr("{tf}.trainable_variables()", tf=self.tf))
                after = "with {tf}.control_dependencies([{target}]):\n    {target} = {averages}.apply({weights})"
                averaged = statements(after, tf=self.tf, target=target, averages=self.averages, weights=weights)
                return [*before, *statements("{target} = {done}", target=target, done=done), *averaged]
            call = expr("{optimizer}.compute_gradients({loss})", optimizer=optimizer, loss=loss)
            taken = statements(
                "{gradients}, {variables} = zip(*{call})", call=with_arguments(call, add=listed), **names
            )
            template = "{gradients}, _ = {tf}.clip_by_global_norm({gradients}, {norm})"
            clipped = statements(template, gradients=names["gradients"], tf=self.tf, norm=self.norm)
            call = expr("{optimizer}.apply_gradients(zip({gradients}, {variables}))", optimizer=optimizer, **names)
            done = with_arguments(call, add=counted)
            return [*before, *taken, *clipped, *statements("{target} = {done}", target=target, done=done)]

        return spelled(module, step, "train_op", make)


def _unwrapped(module: Module, call: ast.Call, name: str) -> list[Change]:
    tf = whole_name(module)
    try:
        given = bind(
            call, "optimizer clip_norm" if name == CLIP else "opt average_decay num_updates sequential_update", name
        )
        inner = given.get("optimizer", given.get("opt"))
        if tf is None or inner is None or not is_none(given.get("sequential_update")):
            return []
        wrapped = _Wrapped(module, tf, module.cst.expression(inner))
        made = None
        if name == CLIP:
            norm = given.get("clip_norm")
            if norm is None or not isinstance(norm, _ATOMS):
                return []
            wrapped.norm = module.cst.expression(norm)
        else:
            wrapped.averages = module.unused_name("averages", call)
            decay = module.cst.expression(given["average_decay"]) if "average_decay" in given else expr("0.9999")
            counted = [] if is_none(given.get("num_updates")) else [module.cst.expression(given["num_updates"])]
            made = expr("{tf}.train.ExponentialMovingAverage({given})", tf=tf, given=[decay, *counted])
        return _in_place(wrapped, call, inner, made) or _with_name(wrapped, call, inner, made)
    except Unsupported:
        return []


def _in_place(wrapped: _Wrapped, call: ast.Call, inner: ast.expr, averages: cst.BaseExpression | None) -> list[Change]:
    """The edits for ``wrapper(…).minimize(…)``."""
    module, method = wrapped.module, wrapped.module.parent(call)
    step = module.parent(method) if isinstance(method, ast.Attribute) and method.attr == "minimize" else None
    if not isinstance(step, ast.Call) or step.func is not method:
        return []
    if not isinstance(inner, ast.Name):
        name = module.unused_name("optimizer", call)
        wrapped.before = (*statements("{name} = {inner}", name=name, inner=wrapped.optimizer),)
        wrapped.optimizer = expr(name)
    if averages is not None:
        made = statements("{name} = {made}", name=wrapped.averages, made=averages)
        wrapped.before = (*wrapped.before, *made)
    return wrapped.changes(step)


def _with_name(wrapped: _Wrapped, call: ast.Call, inner: ast.expr, averages: cst.BaseExpression | None) -> list[Change]:
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
    made: list[Statement] = []
    if not isinstance(inner, ast.Name) or not (same or len(module.bindings(inner)) == 1):
        made += statements("{name} = {inner}", name=target.id, inner=wrapped.optimizer)
        wrapped.optimizer = expr(target.id)
    if averages is not None:
        made += statements("{name} = {made}", name=wrapped.averages, made=averages)
    changes: list[Change] | None = []
    if savers:
        restored = "{tf}.train.Scaffold(saver={tf}.train.Saver({averages}.variables_to_restore()))"
        saver = expr(restored, tf=tf, averages=averages) if averages is not None else None
        changes = _swapped(module, savers, saver) if saver is not None else None
    if changes is None:
        return []
    for step in steps:
        spelling = wrapped.changes(step)
        if not spelling:
            return []
        changes += spelling
    return [*changes, *Change.of(module, Replace(statement, made) if made else Remove(statement))]


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


def _swapped(module: Module, savers: list[ast.Call], saver: cst.BaseExpression) -> list[Change] | None:
    """The edits that let evaluations and predictions restore the averages, in the place of a Saver that swaps them."""
    scaffold = module.parent(module.parent(savers[0]) or savers[0])
    if len(savers) > 1 or not isinstance(scaffold, ast.Call) or not _is_scaffold(module, scaffold):
        return None
    keyword, gone = module.parent(scaffold), list[rewrite.Change]()
    if isinstance(keyword, ast.Assign) and len(keyword.targets) == 1 and isinstance(keyword.targets[0], ast.Name):
        name = keyword.targets[0]
        loads = module.loads_of(name.id, module.scope(name).lookup(name.id))
        gone = [Remove(keyword)]
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
    gone.append(Replace(spec, with_arguments(module.cst.call(spec), drop=["scaffold"])))
    for other in others:
        gone.append(Replace(other, with_arguments(module.cst.call(other), add={"scaffold": saver})))
    return Change.of(module, *gone)


def _is_scaffold(module: Module, call: ast.Call) -> bool:
    """Whether a call makes a Scaffold with nothing but a saver."""
    named = [keyword.arg for keyword in call.keywords] == ["saver"] and not call.args
    return named and module.resolve(call.func) == "tensorflow.train.Scaffold"
