"""Arguments of an EstimatorSpec that each mode gathers in a dict first: ``EstimatorSpec(**specs)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.specs import SPEC
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr, with_arguments

if TYPE_CHECKING:
    import libcst as cst

_SPECS = frozenset({SPEC, "tensorflow.contrib.tpu.TPUEstimatorSpec", "tensorflow.estimator.tpu.TPUEstimatorSpec"})


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """``specs = dict(loss=loss)`` becomes ``specs = EstimatorSpec(loss=loss)`` where ``return EstimatorSpec(**specs)`` follows.

    Only where all that the name ever holds are such dicts, and nothing but the one call reads it.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            specs = dict(mode=mode, predictions=predictions)
        else:
            specs = dict(mode=mode, loss=tf.losses.mean_squared_error(labels, predictions))
        return tf.estimator.EstimatorSpec(**specs)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            specs = tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)
        else:
            specs = tf.estimator.EstimatorSpec(mode=mode, loss=tf.losses.mean_squared_error(labels, predictions))
        return specs
    ```
    """
    for path in paths:
        module = drafts.project.modules[path]
        if b"Spec(" in module.source and b"**" in module.source:
            calls = [node for node, name in module.references() if name in _SPECS]
            drafts.apply([change for node in calls for change in _spread(module, module.parent(node), node)])


def _spread(module: Module, call: ast.AST | None, function: ast.expr) -> list[Change]:
    if not isinstance(call, ast.Call) or call.func is not function or not isinstance(module.parent(call), ast.Return):
        return []
    spread = [keyword for keyword in call.keywords if keyword.arg is None]
    named = [keyword for keyword in call.keywords if keyword.arg is not None]
    beside = [*call.args, *(keyword.value for keyword in named)]
    if len(spread) != 1 or not isinstance(spread[0].value, ast.Name):
        return []
    if not all(isinstance(value, ast.Name) and _is_parameter(module, value) for value in beside):
        return []
    name = spread[0].value
    bindings, scope = module.bindings(name), module.scope(name)
    if module.loads_of(name.id, scope.lookup(name.id)) != [name] or scope.lookup(name.id) is not scope:
        return []
    replaced = [Replace(call, expr(name.id))]
    for binding in bindings:
        statement = module.parent(binding.node) if binding.node is not None else None
        if not isinstance(statement, ast.Assign) or statement.targets != [binding.node]:
            return []
        keys = _keys(module, statement.value)
        if not keys or set(keys) & {keyword.arg for keyword in named} or not _ends_way(module, statement, call):
            return []
        replaced.append(Replace(statement.value, _as_call(module, statement.value, call)))
    return Change.of(module, *replaced)


def _is_parameter(module: Module, node: ast.Name) -> bool:
    bindings = [binding.node for binding in module.bindings(node)]
    return len(bindings) == 1 and isinstance(bindings[0], ast.arg)


def _keys(module: Module, node: ast.expr) -> list[str]:
    """The keys of a dict that is written out, each once; none if it is anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        if node.args or module.bindings(node.func):
            return []
        keys = [keyword.arg for keyword in node.keywords]
    elif isinstance(node, ast.Dict):
        keys = [k.value if isinstance(k, ast.Constant) and isinstance(k.value, str) else None for k in node.keys]
    else:
        return []
    found = [key for key in keys if key is not None and key.isidentifier()]
    return found if len(found) == len(keys) == len(set(found)) else []


def _ends_way(module: Module, statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a dict is made in the function of the call, outside of loops and handlers."""
    for node in module.ancestors(statement):
        if isinstance(node, ast.FunctionDef):
            return module.is_inside(call, node)
        if not isinstance(node, (ast.If, ast.With)):
            return False
    return False


def _as_call(module: Module, node: ast.expr, spread: ast.Call) -> cst.Call:
    """A call with the entries of a dict, and their comments, in the place of the dict that it spreads."""
    import libcst as cst

    call, held = module.cst.call(spread), module.cst.expression(node)
    kept = with_arguments(call, drop=[at for at, arg in enumerate(call.args) if arg.star == "**"])
    if isinstance(held, cst.Call):
        args, before = list(held.args), held.whitespace_before_args
    else:
        assert isinstance(held, cst.Dict) and isinstance(node, ast.Dict)
        blank = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        names = [cst.Name(str(key.value)) for key in node.keys if isinstance(key, ast.Constant)]
        pairs = zip(names, held.elements)
        args = [cst.Arg(item.value, keyword=name, equal=blank, comma=item.comma) for name, item in pairs]
        args[-1] = args[-1].with_changes(whitespace_after_arg=held.rbrace.whitespace_before)
        before = held.lbrace.whitespace_after
    if not kept.args:
        return kept.with_changes(args=args, whitespace_before_args=before)
    last = kept.args[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    if isinstance(before, cst.ParenthesizedWhitespace):
        last = last.with_changes(comma=cst.Comma(whitespace_after=before))
    return kept.with_changes(args=[*kept.args[:-1], last, *args])
