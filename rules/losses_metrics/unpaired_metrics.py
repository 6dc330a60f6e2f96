"""Tensors among the metrics of a spec, which are no metrics: an Estimator refuses them where it evaluates."""

from __future__ import annotations

import ast

from migrator.analyse.function.specs import SPEC
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, expr

_REFUSED = (
    "an Estimator refuses to evaluate with this tensor among its metrics, which have to be pairs of a value and an update: "
    "it is left out"
)
_REDUCED = frozenset(f"reduce_{name}" for name in ("mean", "sum", "max", "min", "prod", "all", "any"))


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The change of one dict of metrics of a function, which loses its tensors; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf.square(features - labels))
        metrics = {"mean": tf.metrics.mean(labels), "loss": loss}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf.square(features - labels))
        metrics = {"mean": tf.metrics.mean(labels)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    ```
    """
    for call in walk(function):
        if not isinstance(call, ast.Call) or module.resolve(call.func) != SPEC:
            continue
        given = next((keyword.value for keyword in call.keywords if keyword.arg == "eval_metric_ops"), None)
        made = _dict(module, function, given)
        if made is None or module.comments_in(*module.span(made)):
            continue
        kept = [
            (key, value) for key, value in zip(made.keys, made.values) if key is None or not _is_tensor(module, value)
        ]
        if len(kept) < len(made.values) and all(key is not None for key, _ in kept):
            for value in made.values:
                if _is_tensor(module, value):
                    drafts.remark(module, value, _REFUSED)
            holes = {f"k{i}": module.cst.expression(key) for i, (key, _) in enumerate(kept) if key is not None}
            holes |= {f"v{i}": module.cst.expression(value) for i, (_, value) in enumerate(kept)}
            pairs = ", ".join(f"{{k{i}}}: {{v{i}}}" for i in range(len(kept)))
            return Change.of(module, Replace(made, expr(f"{{{{{pairs}}}}}", **holes)))
    return []


def _dict(module: Module, function: ast.FunctionDef, node: ast.expr | None) -> ast.Dict | None:
    """The dict that metrics are given as, by itself or by a name that nothing else reads but the specs."""
    if not isinstance(node, ast.Name):
        return node if isinstance(node, ast.Dict) else None
    made = module.assignment(node)
    if made is None or not isinstance(made.value, ast.Dict) or module.nearest(made, ast.FunctionDef) is not function:
        return None
    for load in module.loads_of(node.id, module.scope(node).lookup(node.id)):
        keyword = module.parent(load)
        if not isinstance(keyword, ast.keyword) or keyword.arg != "eval_metric_ops":
            return None
    return made.value


def _is_tensor(module: Module, node: ast.expr, deep: int = 0) -> bool:
    """Whether a value is seen to be one tensor: what a loss or a reduction gives, or what is computed of it by operators."""
    if isinstance(node, ast.Name):
        made = module.assignment(node)
        return (
            made is not None
            and deep < 4
            and is_name(made.targets[0], node.id)
            and _is_tensor(module, made.value, deep + 1)
        )
    if isinstance(node, ast.BinOp):
        return _is_tensor(module, node.left, deep + 1) or _is_tensor(module, node.right, deep + 1)
    name = (module.resolve(node.func) or "") if isinstance(node, ast.Call) else ""
    last = name.rpartition(".")[2]
    lost = name.startswith("tensorflow.losses.") and not last.startswith(("get_", "add_"))
    return lost or (name.startswith("tensorflow.") and last in _REDUCED)
