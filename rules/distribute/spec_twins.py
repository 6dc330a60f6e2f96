"""The two ends of a model_fn that says the same with a TPU and without: one is enough where it trains without."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.statements.names import binds, reads
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Change, Remove, Replace, statements

_OF_TPU = (
    "mode predictions loss train_op eval_metrics export_outputs scaffold_fn host_call training_hooks evaluation_hooks "
    "prediction_hooks"
)
_OF_ESTIMATOR = (
    "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks scaffold "
    "evaluation_hooks prediction_hooks"
)
_READS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.UnaryOp, ast.Not, ast.expr_context, ast.Index)


def one_of_twins(module: Module, call: ast.Call) -> Change | None:
    """One return instead of ``if params["use_tpu"]: return TPUEstimatorSpec(…)`` and ``return EstimatorSpec(…)`` of the same.

    The second one stands under ``else``, or right behind; or the first does, where the condition is the other way around.
    What stands before the first one may only serve the `host_call`, which goes. None where they are not such.
    """
    end = module.statement(call)
    test = module.parent(end)
    if (
        not isinstance(end, ast.Return)
        or end.value is not call
        or not isinstance(test, ast.If)
        or not _is_read(test.test)
    ):
        return None
    if test.body[-1] is end and len(test.orelse) <= 1 and _serves_call(module, test.body):
        other = test.orelse[0] if test.orelse else _behind(module, test)
    elif test.orelse[-1:] == [end] and len(test.body) == 1 and _serves_call(module, test.orelse):
        other = test.body[0]
    else:
        return None
    if (
        not isinstance(other, ast.Return)
        or not isinstance(other.value, ast.Call)
        or not _same(module, call, other.value)
    ):
        return None
    if other is not _behind(module, test):
        return Replace(test, statements("return {spec}", spec=module.cst.expression(other.value)))
    return Remove(test)


def _is_read(test: ast.expr) -> bool:
    """Whether a condition only reads names, attributes and items, and nothing is lost with it."""
    return all(isinstance(node, _READS) for node in walk(test))


def _behind(module: Module, statement: ast.stmt) -> ast.stmt | None:
    for _, block in ast.iter_fields(module.parent(statement) or statement):
        if isinstance(block, list) and statement in block:
            at = block.index(statement) + 1
            return block[at] if at < len(block) else None
    return None


def _same(module: Module, call: ast.Call, other: ast.Call) -> bool:
    """Whether a TPUEstimatorSpec says what the call of an EstimatorSpec does."""
    if module.resolve(other.func) != "tensorflow.estimator.EstimatorSpec":
        return False
    try:
        mine, its = bind(call, _OF_TPU, "TPUEstimatorSpec"), bind(other, _OF_ESTIMATOR, "EstimatorSpec")
    except Unsupported:
        return False
    said, told = (
        {name: ast.dump(value) for name, value in given.items() if not is_none(value)} for given in (mine, its)
    )
    said.pop("host_call", None)
    return said == told and "eval_metrics" not in said


def _serves_call(module: Module, block: list[ast.stmt]) -> bool:
    """Whether the statements before the last one only give values to names that nothing but that block reads."""
    inside = {node for statement in block for node in walk(statement)}
    for statement in block[:-1]:
        if not isinstance(statement, (ast.Assign, ast.FunctionDef)):
            return False
        scope = module.scope(block[-1])
        for name in binds(statement):
            if scope.lookup(name) is not scope or not inside.issuperset(module.loads_of(name, scope)):
                return False
    last = block[-1]
    spec = last.value if isinstance(last, ast.Return) else None
    given = [k for k in spec.keywords if k.arg != "host_call"] if isinstance(spec, ast.Call) else []
    made = set().union(*map(binds, block[:-1]))
    return len(block) == 1 or not any(made & reads(keyword.value) for keyword in given)
