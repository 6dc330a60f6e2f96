"""Keras models that a model_fn puts together statement by statement: as one expression, or by a function of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.specs import SPEC
from migrator.analyse.statements.names import binds, reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_nodes, own_statements
from migrator.normalise.functions.lift import module_name
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, Unprintable, code, expr, statements, with_arguments

_SPECS = frozenset({SPEC, "tensorflow.contrib.tpu.TPUEstimatorSpec"})
_KERAS = "tensorflow.keras."
_SEQUENTIAL = frozenset({f"{_KERAS}Sequential", f"{_KERAS}models.Sequential"})
_MODELS = frozenset({f"{_KERAS}Model", f"{_KERAS}models.Model"})
_INPUTS = frozenset({f"{_KERAS}Input", f"{_KERAS}layers.Input"})


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits for the first such model in a model_fn; none if it has none, and for other functions.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        model = tf.keras.Sequential()
        model.add(tf.keras.layers.Dense(8, activation="relu"))
        model.add(tf.keras.layers.Dense(1))
        return tf.estimator.EstimatorSpec(mode, predictions=model(features["x"]))
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
        return tf.estimator.EstimatorSpec(mode, predictions=model(features["x"]))
    ```
    """
    if not any(isinstance(n, ast.Call) and module.resolve(n.func) in _SPECS for n in own_nodes(function.body)):
        return []
    for block in _blocks(function):
        for start, statement in enumerate(block):
            changes: list[Change] = []
            if _is_made(module, statement, _SEQUENTIAL):
                changes = _listed(module, function, block[start:]) or _on_one_line(module, statement)
            if not changes and _is_made(module, statement, _MODELS):
                changes = _function(module, function, block[: start + 1])
            if changes:
                return changes
    return []


def _blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    yield function.body
    for statement in own_statements(function.body):
        for field in ("body", "orelse"):
            block = getattr(statement, field, None)
            if isinstance(block, list) and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                yield block


def _is_made(module: Module, statement: ast.stmt, names: frozenset[str]) -> bool:
    """Whether a statement gives one name to a new model."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    return _name(statement) != "" and module.resolve(statement.value.func) in names


def _name(statement: ast.stmt) -> str:
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    return target.id if isinstance(target, ast.Name) else ""


def _listed(module: Module, function: ast.FunctionDef, block: list[ast.stmt]) -> list[Change]:
    """``Sequential([a, b])`` for ``model = Sequential()``, ``model.add(a)``, ``model.add(b)`` in a row."""
    first, name = block[0], _name(block[0])
    assert isinstance(first, ast.Assign) and isinstance(first.value, ast.Call)
    if first.value.args or any(k.arg == "layers" or k.arg is None for k in first.value.keywords):
        return []
    added: list[tuple[ast.stmt, ast.expr]] = []
    for statement in block[1:]:
        layer = _added(statement, name)
        if layer is None or name in reads(layer):
            break
        added.append((statement, layer))
    others = [n for n in own_nodes(function.body) if isinstance(n, ast.Attribute) and ast.unparse(n) == f"{name}.add"]
    if not added or len(others) != len(added):
        return []
    span = module.span(first)[0], module.span(added[-1][0])[1]
    if b"#" in module.source[slice(*span)]:
        return []
    layers = expr("[{layers}]", layers=[module.cst.expression(layer) for _, layer in added])
    listed = with_arguments(module.cst.call(first.value), insert={0: layers})
    return Change.of(module, Replace(first.value, listed), *(Remove(statement) for statement, _ in added))


def _on_one_line(module: Module, statement: ast.stmt) -> list[Change]:
    """The statement on one line, which the text of the class breaks again where it is too long."""
    assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
    first, several = statement.lineno, statement.value.args[:1]
    elements = several[0].elts if several and isinstance(several[0], (ast.List, ast.Tuple)) else []
    plain = all(e.lineno == e.end_lineno for e in [*elements, *(k.value for k in statement.value.keywords)])
    text = module.segment(statement.value)
    if (
        first == statement.end_lineno
        or not elements
        or not plain
        or "#" in text
        or not isinstance(several[0], ast.List)
        or any(k.arg is None for k in statement.value.keywords)
    ):
        return []
    file, call = module.cst, statement.value
    listed = [file.expression(element) for element in elements]
    made = expr("{made}([{listed}])", made=file.expression(call.func), listed=listed)
    given = {k.arg: file.expression(k.value) for k in call.keywords if k.arg is not None}
    return Change.of(module, Replace(call, with_arguments(made, add=given)))


def _added(statement: ast.stmt, name: str) -> ast.expr | None:
    """``layer`` of ``model.add(layer)``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != f"{name}.add" or call.keywords:
        return None
    return call.args[0] if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred) else None


def _function(module: Module, function: ast.FunctionDef, block: list[ast.stmt]) -> list[Change]:
    """A function of the module that makes the model which the last statement of `block` makes of its own inputs."""
    starts = (i for i, statement in enumerate(block) if _makes_input(module, statement))
    region = block[next(starts, len(block)) :]
    if len(region) < 2 or not all(isinstance(s, (ast.Assign, ast.AugAssign, ast.For, ast.If)) for s in region):
        return []
    name, bound = _name(region[-1]), set().union(*map(binds, region))
    inside = {id(node) for statement in region for node in walk(statement)}
    local = {n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    local |= {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    local |= {n.name for n in own_nodes(function.body) if isinstance(n, ast.FunctionDef)}
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id in bound - {name} and id(node) not in inside:
            return []  # a part of the model is read beside it
    order = [n.id for s in region for n in walk(s) if isinstance(n, ast.Name) and n.id in local - bound]
    taken = list(dict.fromkeys(order))
    if name in set().union(*map(reads, region)) or any(isinstance(n, ast.Lambda) for s in region for n in walk(s)):
        return []
    if any(_is_tensor(module, function, one) for one in taken):
        return []
    new = module_name(module, f"make_{name}", function.name)
    return _moved(module, function, region, f"{new}({', '.join(taken)})")


def _is_tensor(module: Module, function: ast.FunctionDef, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a name may hang on what the model_fn is given for data or for its mode."""
    first = [a.arg for a in function.args.args]
    if name in first:
        return name in ("features", "labels", "mode") or name == first[0]
    values = [n.value for n in own_statements(function.body) if isinstance(n, ast.Assign) and name in binds(n)]
    others = set().union(*map(reads, values)) - seen - {name}
    bound = {n.id for n in own_nodes(function.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return not values or any(
        _is_tensor(module, function, other, seen | {name}) for other in others & (bound | set(first))
    )


def _makes_input(module: Module, statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Assign) else None
    calls = [n for n in walk(value) if isinstance(n, ast.Call)] if value is not None else []
    made = [call for call in calls if module.resolve(call.func) in _INPUTS]
    return bool(made) and not any(k.arg == "tensor" for call in made for k in call.keywords)


def _moved(module: Module, function: ast.FunctionDef, region: list[ast.stmt], made: str) -> list[Change]:
    last = region[-1]
    assert isinstance(last, ast.Assign)
    file = module.cst
    try:
        body = file.statements(region[:-1])
        body += statements("return {value}", value=file.expression(last.value))
    except Unprintable:
        return []
    top: ast.AST = function
    while not isinstance(module.parent(top), ast.Module):
        top = module.parent(top) or top
    assert isinstance(top, ast.stmt)
    call = statements("{name} = {made}", name=_name(last), made=code(made))
    changes = [Remove(statement) for statement in region[:-1]]
    head = Insert(statements(f"def {made}:\n    {{body}}", body=body), before=top, apart=True)
    return Change.of(module, head, *changes, Replace(last, call))
