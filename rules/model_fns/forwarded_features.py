"""`forward_features` of `tf.contrib.estimator` around an Estimator with a model_fn, which returns these features itself then."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_nodes
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import read_once
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, code, expr

from ..estimator_calls.estimator_values import ESTIMATOR, EXTENDERS
from ..loop.comments import has_comments
from ..loop.places import moves

if TYPE_CHECKING:
    import libcst as cst

_SPEC = "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks scaffold"
_READERS = frozenset({SPEC, "tensorflow.estimator.export.PredictOutput"})


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Adds the features to the predictions.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        predictions = {"y": tf.layers.dense(features["x"], 1)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)


    estimator = tf.estimator.Estimator(model_fn)
    estimator = tf.contrib.estimator.forward_features(estimator, "key")
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        predictions = {"y": tf.layers.dense(features["x"], 1), "key": features["key"]}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)


    estimator = tf.estimator.Estimator(model_fn)
    ```
    An Estimator that is held by a name for such a function alone, or for `add_metrics`, is made in its call.
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"forward_features" not in module.source and b"add_metrics" not in module.source:
        return
    for node, name in module.references():
        call = call_of(module, node) if name in EXTENDERS else None
        given = _bound(call, "estimator keys sparse_default_values") if call is not None else {}
        estimator = given.get("estimator")
        if call is None or estimator is None:
            continue
        if isinstance(estimator, ast.Name):
            yield _nested(module, call, estimator)
        elif name.endswith("forward_features") and isinstance(estimator, ast.Call):
            yield _forwarded(project, module, call, estimator, given)


def _bound(call: ast.Call, signature: str) -> dict[str, ast.expr]:
    try:
        return bind(call, signature, "")
    except Unsupported:
        return {}


def _nested(module: Module, call: ast.Call, estimator: ast.Name) -> list[Change]:
    """The Estimator in the place of the name that holds it for the call alone."""
    made = read_once(module, estimator)
    value = made.value if made is not None else None
    inner = _innermost(module, value) if isinstance(value, ast.Call) else None
    if made is None or value is None or inner is None or has_comments(module, made):
        return []
    if module.resolve(inner.func) != ESTIMATOR or not moves(module, made, call, [value]):
        return []
    return Change.of(module, Replace(estimator, module.cst.expression(value)), Remove(made))


def _forwarded(
    project: Project, module: Module, call: ast.Call, made: ast.Call, given: dict[str, ast.expr]
) -> list[Change]:
    """The Estimator without the call, and its model_fn, which nothing else has, with more predictions."""
    keys, inner = _keys(given.get("keys")), _innermost(module, made)
    arguments = _bound(inner, "model_fn model_dir config params warm_start_from")
    found = project.definition(module, arguments["model_fn"]) if "model_fn" in arguments else None
    function = found.node if found is not None else None
    if module.resolve(inner.func) != ESTIMATOR or not keys or not is_none(given.get("sparse_default_values")):
        return []
    if found is None or not isinstance(function, ast.FunctionDef) or not function.args.args:
        return []
    home, features = found.module, function.args.args[0].arg
    readers = project.readers.of(home, home.scope(home.parent(function) or home.tree).holder(function.name), found.name)
    if len(readers) != 1 or len(home.scope(function).bindings.get(features, [])) != 1:
        return []
    wanted: list[tuple[Module, Rewrite]] = [(module, Replace(call, module.cst.expression(made)))]
    texts = {key: f'{features}["{key}"]' for key in keys}
    changed: set[ast.expr] = set()
    for spec in (n for n in own_nodes(function.body) if isinstance(n, ast.Call) and home.resolve(n.func) == SPEC):
        fields = _bound(spec, _SPEC)
        value = fields.get("predictions")
        if value is None or is_none(value):
            continue
        shown = _display(home, value)
        if shown is None and not is_none(fields.get("export_outputs")):
            return []
        place = shown or value
        if place not in changed:
            changed.add(place)
            wanted.append((home, Replace(place, _with(home, place, texts))))
    try:
        return Change.every(wanted) if changed else []
    except Unsupported:
        return []


def _innermost(module: Module, call: ast.Call) -> ast.Call:
    """What makes the Estimator that functions extend, one inside of another."""
    while module.resolve(call.func) in EXTENDERS:
        estimator = _bound(call, "estimator metric_fn").get("estimator")
        if not isinstance(estimator, ast.Call):
            break
        call = estimator
    return call


def _keys(node: ast.expr | None) -> list[str]:
    """The names of features that are written out; none where they are not."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node] if node is not None else []
    names = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return names if len(names) == len(parts) and all(name.isidentifier() for name in names) else []


def _display(module: Module, value: ast.expr) -> ast.Dict | None:
    """The dict that predictions are written as, where its name does nothing but to give them and their entries."""
    if isinstance(value, ast.Dict):
        return value
    made = module.assignment(value) if isinstance(value, ast.Name) else None
    if made is None or not isinstance(made.value, ast.Dict) or not isinstance(value, ast.Name):
        return None
    for load in module.loads_of(value.id, module.scope(value).lookup(value.id)):
        outer = module.parent(load)
        call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
        known = isinstance(call, ast.Call) and module.resolve(call.func) in _READERS
        if not known and not (isinstance(outer, ast.Subscript) and outer.value is load):
            return None
    return made.value


def _with(module: Module, value: ast.expr, texts: dict[str, str]) -> cst.BaseExpression:
    """A dict with more entries."""
    if not isinstance(value, ast.Dict):
        more = ", ".join(f"{key}={text}" for key, text in texts.items())
        return expr(f"dict({{value}}, {more})", value=module.cst.expression(value))
    own = [
        f"{module.segment(k)}: {module.segment(v)}" if k else f"**{module.segment(v)}"
        for k, v in zip(value.keys, value.values)
    ]
    return code("{" + ", ".join([*own, *(f'"{key}": {text}' for key, text in texts.items())]) + "}")
