"""SavedModels that a program loads to predict with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.engine.rule import Rule
from migrator.resolve.calls import bind, call_of
from migrator.resolve.module import Module
from migrator.rewrite import Change, Replace, expr, statements
from migrator.vocabulary.diagnostics import Diagnostic

from ..symbols.tensorflow_names import tensorflow_root

if TYPE_CHECKING:
    import libcst as cst

_PARAMETERS = "export_dir signature_def_key signature_def input_names output_names tags graph config".split()


class SavedModelPredictor(Rule):
    """Call a signature of a loaded SavedModel instead of a predictor of `tf.contrib`.

    ## What it does
    Loads the SavedModel by `tf.saved_model.load`, and calls its signature with a tensor for each array that was fed. What
    comes out is a dict of arrays as before.

    ## Why
    TensorFlow 2 has no `tf.contrib`.

    ## Example
        predict = tf.contrib.predictor.from_saved_model(folder, "scores")
        rows = predict({"text": ["one", "two"]})
    becomes
        saved_model = tf.saved_model.load(folder)
        predict = saved_model.signatures["scores"]
        rows = predict(text=tf.constant(["one", "two"]))
        rows = {name: tensor.numpy() for name, tensor in rows.items()}

    ## Fix safety
    Safe. The model stays in a name of its own, as a signature alone does not keep its variables. A predictor that is handed
    on, or of which more than a folder and the key of a signature is said, is left alone.
    """

    code = "EST013"
    name = "saved-model-predictor"
    url = "https://www.tensorflow.org/guide/saved_model#loading_and_using_a_custom_model"
    symbols = ("tensorflow.contrib.predictor.from_saved_model",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """Look at one reference."""
        call, root = call_of(module, node), tensorflow_root(module, node)
        changes = _changes(module, call, root[0]) if call is not None and root is not None else []
        if root is not None and changes:
            yield self.diagnostic(
                module, node, "a SavedModel is loaded with its signatures", changes=[*root[1], *changes]
            )


def _changes(module: Module, call: ast.Call, tf: str) -> list[Change]:
    """Of the statement that makes a predictor and of all its calls; none where one of them is not followed."""
    given = bind(call, _PARAMETERS)
    statement = module.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name) or given is None:
        return []
    scope = module.scope(target)
    if not {"export_dir"} <= set(given) <= {"export_dir", "signature_def_key"}:
        return []
    if len(scope.bindings.get(target.id, [])) != 1:
        return []
    key = given.get("signature_def_key")
    written = module.cst.expression(key) if key is not None else expr('"serving_default"')
    several = sum(found in SavedModelPredictor.symbols for _, found in module.references()) > 1
    model = f"{target.id}_model" if several else "saved_model"
    new = statements(
        f"{{model}} = {tf}.saved_model.load({{folder}})\n{target.id} = {{model}}.signatures[{{key}}]",
        model=module.unused_name(model, statement),
        folder=module.cst.expression(given["export_dir"]),
        key=written,
    )
    changes: list[Change] = [Replace(statement, new)]
    for load in module.loads_of(target.id, scope):
        use = module.parent(load)
        if not isinstance(use, ast.Call) or use.func is not load or len(use.args) != 1 or use.keywords:
            return []
        if isinstance(use.args[0], ast.Starred):
            return []
        changes.append(_read(module, use, target.id, tf))
    return changes


def _read(module: Module, use: ast.Call, predictor: str, tf: str) -> Change:
    """The arrays that a call gives: one of them, or all in a dict."""
    called, around = _called(module, predictor, use.args[0], tf), module.parent(use)
    if isinstance(around, ast.Subscript) and around.value is use:
        return Replace(around, expr("{called}[{key}].numpy()", called=called, key=module.cst.expression(around.slice)))
    holder = around.targets[0] if isinstance(around, ast.Assign) and len(around.targets) == 1 else None
    if isinstance(around, ast.Assign) and isinstance(holder, ast.Name):
        arrays = f"{holder.id} = {{{{name: tensor.numpy() for name, tensor in {holder.id}.items()}}}}"
        return Replace(around, statements(f"{holder.id} = {{called}}\n{arrays}", called=called))
    return Replace(use, expr("{{name: tensor.numpy() for name, tensor in {called}.items()}}", called=called))


def _called(module: Module, predictor: str, fed: ast.expr, tf: str) -> cst.BaseExpression:
    """A call of the signature with what the predictor was fed."""
    dtype = f"{predictor}.structured_input_signature[1]"
    given = _entries(fed)
    if given is None:
        values = f"{{{{name: {tf}.constant(value, {dtype}[name].dtype) for name, value in {{fed}}.items()}}}}"
        return expr(f"{predictor}(**{values})", fed=module.cst.expression(fed))
    parts, holes = [], {}
    for number, (key, value) in enumerate(given.items()):
        typed = "" if _is_plain(value) else f', {dtype}["{key}"].dtype'
        parts.append(f"{key}={tf}.constant({{value{number}}}{typed})")
        holes[f"value{number}"] = module.cst.expression(value)
    return expr(f"{predictor}({', '.join(parts)})", **holes)


def _entries(fed: ast.expr) -> dict[str, ast.expr] | None:
    """Of a dict that is written out, with names as keys."""
    if not isinstance(fed, ast.Dict) or not fed.keys:
        return None
    found: dict[str, ast.expr] = {}
    for key, value in zip(fed.keys, fed.values):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not key.value.isidentifier():
            return None
        found[key.value] = value
    return found


def _is_plain(value: ast.expr) -> bool:
    """Whether a constant of it has the type that it had where it was fed: words, or numbers with a point."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(_is_plain(element) for element in value.elts)
    return isinstance(value, ast.Constant) and isinstance(value.value, (str, bytes, float))
