"""`add_metrics` of `tf.contrib.estimator` around an Estimator with a model_fn: its metrics become those of the model_fn."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.returns import own_nodes
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.rewrite import Remove, Replace, Unprintable, expr, with_arguments

from ..estimator_calls.estimator_values import ESTIMATOR, EXTENDERS, Construction, extended
from ..model_fns.model_fns import model_fn_behind

if TYPE_CHECKING:
    import libcst as cst

_GIVEN = ("features", "labels")


def added(project: Project, constructions: Callable[[], list[Construction]]) -> list[Change]:
    """The edits for the first such call that is given an Estimator of its own; none if there is none to be taken apart."""
    for module in project.modules.values():
        for node, name in module.references():
            call = module.parent(node)
            if name in EXTENDERS and name.endswith(".add_metrics") and isinstance(call, ast.Call) and call.func is node:
                everything = constructions()
                made = extended(module, call, everything)
                changes = []
                with contextlib.suppress(Unprintable):
                    changes = _added(project, module, call, made[0], everything) if len(made) == 1 else []
                if changes:
                    return changes
    return []


def _added(
    project: Project, module: Module, call: ast.Call, made: Construction, everything: list[Construction]
) -> list[Change]:
    try:
        given = bind(call, "estimator metric_fn", "`add_metrics`")
    except Unsupported:
        return []
    model_fn = _model_fn(project, made)
    metric_fn = _metric_fn(project, module, given["metric_fn"]) if "metric_fn" in given else None
    if model_fn is None or metric_fn is None or model_fn.module is not module:
        return []
    others = [_model_fn(project, each) for each in everything if each is not made and each.name == ESTIMATOR]
    if model_fn in others or None in others:
        return []
    gone = _replaced(module, call, given["estimator"], made)
    changes = _specs(model_fn, metric_fn) if gone else []
    return [*gone, *changes] if changes else []


def _model_fn(project: Project, made: Construction) -> Definition | None:
    """The function that an Estimator is made with; None for a canned one, and where it is not seen."""
    return model_fn_behind(project, made.module, made.arguments["model_fn"]) if made.name == ESTIMATOR else None


def _replaced(module: Module, call: ast.Call, estimator: ast.expr, made: Construction) -> list[Change]:
    """The Estimator itself in the place of the call, where nothing else can use it."""
    statement, target = module.statement(call), module.segment(estimator)
    if estimator is made.call:
        return Change.of(module, Replace(call, module.cst.expression(estimator)))
    own = module.statement(made.call)
    block = [getattr(module.parent(statement), field, []) for field in ("body", "orelse")]
    together = any(own in part and statement in part and part.index(statement) == part.index(own) + 1 for part in block)
    plain = isinstance(own, ast.Assign) and [module.segment(t) for t in own.targets] == [target]
    if not together or not plain or made.module is not module:
        return []
    if isinstance(statement, ast.Return) and statement.value is call:
        return Change.of(module, Replace(call, module.cst.expression(estimator)))
    if isinstance(statement, ast.Assign) and [module.segment(t) for t in statement.targets] == [target]:
        return Change.of(module, Remove(statement)) if statement.value is call else []
    return []


def _metric_fn(project: Project, module: Module, value: ast.expr) -> ast.FunctionDef | ast.Lambda | None:
    """A function of the file, or one that is written where it is given."""
    if isinstance(value, ast.Lambda):
        return value
    found = project.definition(module, value) if isinstance(value, ast.Name) else None
    here = found is not None and found.module is module and found.node in module.tree.body
    return found.node if found is not None and here and isinstance(found.node, ast.FunctionDef) else None


def _called(
    module: Module, metric_fn: ast.FunctionDef | ast.Lambda, given: Mapping[str, cst.BaseExpression]
) -> cst.BaseExpression:
    """What the function returns of arguments."""
    if isinstance(metric_fn, ast.FunctionDef):
        return with_arguments(expr(f"{metric_fn.name}()"), add=given)
    bound: dict[ast.AST, cst.BaseExpression] = {
        load: value for name, value in given.items() for load in module.loads_of_parameter(name, metric_fn)
    }
    return module.cst.substituted(metric_fn.body, lambda node: bound.get(node))


def _specs(model_fn: Definition, metric_fn: ast.FunctionDef | ast.Lambda) -> list[Change]:
    """The edits that let the specs of evaluations hold what the function returns."""
    module, function = model_fn.module, model_fn.node
    assert isinstance(function, ast.FunctionDef)
    parameters = [argument.arg for argument in function.args.args]
    stored = {n.id for n in own_nodes(function.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    wanted = metric_fn.args
    decorated = isinstance(metric_fn, ast.FunctionDef) and metric_fn.decorator_list
    if wanted.vararg or wanted.kwarg or wanted.posonlyargs or decorated:
        return []
    changes = []
    for call, fields in _evaluating(module, function):
        given: dict[str, cst.BaseExpression] = {}
        for argument in (*wanted.args, *wanted.kwonlyargs):
            name = argument.arg
            if name in _GIVEN and name in parameters and name not in stored:
                given[name] = expr(name)
            elif name == "predictions" and _may_be_written(fields.get("predictions"), metric_fn):
                given[name] = module.cst.expression(fields["predictions"])
            else:
                return []
        more = _called(module, metric_fn, given)
        metrics = fields.get("eval_metric_ops")
        if metrics is None:
            changes.append(Replace(call, with_arguments(module.cst.call(call), add={"eval_metric_ops": more})))
        else:
            both = expr("dict({metrics}, **{more})", metrics=module.cst.expression(metrics), more=more)
            changes.append(Replace(metrics, both))
    return Change.of(module, *changes)


def _may_be_written(value: ast.expr | None, metric_fn: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether predictions may be written where a function reads them, which may be more than once."""
    return not is_none(value) and (isinstance(value, ast.Name) or isinstance(metric_fn, ast.FunctionDef))


def _evaluating(module: Module, function: ast.FunctionDef) -> Iterator[tuple[ast.Call, dict[str, ast.expr]]]:
    """The specs that hold metrics; if none does, the only one with a loss, or with a loss and no train op."""
    found = []
    for node in own_nodes(function.body):
        if isinstance(node, ast.Call) and module.resolve(node.func) == SPEC:
            found.append((node, {k.arg: k.value for k in node.keywords if k.arg is not None and not is_none(k.value)}))
    measured = [spec for spec in found if "eval_metric_ops" in spec[1]]
    losing = [spec for spec in found if "loss" in spec[1]]
    plain = losing if len(losing) == 1 else [spec for spec in losing if "train_op" not in spec[1]]
    yield from measured or (plain if len(plain) == 1 else [])
