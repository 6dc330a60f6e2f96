"""Probabilities of dropout in recurrent cells that a helper is given as its caller needs them in a mode, in two parts.

A cell is made once, for all modes. So a helper that runs cells is told the probability of training, and whether it trains.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.values.callers import calls_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Insert, Replace, code, expr, statements, with_arguments, with_parameters
from migrator.vocabulary.unsupported import Unsupported

from .dropout_by_condition import in_training
from .rnn import LAYERS, keep_probabilities

FLAG = "training"
_LASTING = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load)
_DEPTH = 4


@dataclass(frozen=True)
class _Given:
    """What one call gives for a probability."""

    module: Module
    call: ast.Call
    value: ast.expr
    """The argument."""
    test: ast.expr
    inside: ast.expr
    """What it is in training."""
    outside: ast.expr


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such parameter; none if there is no more.

    ```python
    import tensorflow as tf


    def encode(x, keep):
        cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=keep)
        return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]


    def model_fn(features, labels, mode, params):
        return encode(features["x"], params["keep"] if mode == tf.estimator.ModeKeys.TRAIN else 1.0)


    estimator = tf.estimator.Estimator(model_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def encode(x, keep, training):
        keep_now = keep if training else 1.0
        cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=keep_now)
        return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]


    def model_fn(features, labels, mode, params):
        return encode(features["x"], params["keep"], training=mode == tf.estimator.ModeKeys.TRAIN)


    estimator = tf.estimator.Estimator(model_fn)
    ```
    """
    if b"DropoutWrapper" not in b"".join(m.source for m in drafts.project.modules.values()):
        return []
    definition = Definition(module, function)
    if FLAG in {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(parameters(function)):
        return []
    if function.args.vararg or function.args.kwarg or function.decorator_list:
        return []
    for name in parameters(function):
        if not _drops(drafts.project, definition, name):
            continue
        found = _given(drafts.project, definition, name)
        if found:
            return _parted(definition, name, found)
    return []


def _drops(project: Project, definition: Definition, name: str, depth: int = 0) -> bool:
    """Whether a function runs cells that drop by a parameter, itself or in functions to which it hands that on."""
    module, function = definition.module, definition.node
    calls = [node for node in walk(function) if isinstance(node, ast.Call)]
    runs = any((module.resolve(call.func) or "") in LAYERS for call in calls)
    for call in calls:
        if runs and any(is_name(keep, name) for keep in keep_probabilities(call, module.resolve)):
            return True
        other = project.definition(module, call.func) if depth < _DEPTH else None
        if other is None or not isinstance(other.node, ast.FunctionDef) or other.node is function:
            continue
        try:
            handed = [inner for inner, value in given(other.node, call).items() if is_name(value, name)]
        except Unsupported:
            continue
        if any(_drops(project, other, inner, depth + 1) for inner in handed):
            return True
    return False


def _given(project: Project, definition: Definition, name: str) -> list[_Given]:
    """What all calls give, each a probability in training and one number otherwise; none where that is not seen."""
    assert isinstance(definition.node, ast.FunctionDef)
    calls, more = calls_of(project, definition)
    found: list[_Given] = []
    for module, call in calls:
        try:
            value = given(definition.node, call).get(name)
        except Unsupported:
            return []
        statement = module.assignment(value) if value is not None else None
        chosen = statement.value if statement is not None else value
        if value is None or not isinstance(chosen, ast.IfExp) or not in_training(module, chosen.test):
            return []
        known = _is_lasting(module, chosen.test, chosen) and _is_lasting(module, chosen.body, chosen)
        if not known or not isinstance(chosen.orelse, ast.Constant):
            return []
        found.append(_Given(module, call, value, chosen.test, chosen.body, chosen.orelse))
    alike = len({ast.dump(each.outside) for each in found}) == 1
    return found if alike and not more else []


def _is_lasting(module: Module, node: ast.expr, whole: ast.expr) -> bool:
    """Whether an expression is the same where it is handed on: comparisons of names that are bound once."""
    parts = [part for part in walk(node) if isinstance(part, (ast.expr, ast.expr_context))]
    plain = all(isinstance(part, (*_LASTING, ast.Compare)) for part in parts)
    return plain and all(len(module.bindings(part)) <= 1 for part in parts if isinstance(part, ast.Name))


def _parted(definition: Definition, name: str, found: list[_Given]) -> list[Change]:
    module, function = definition.module, definition.node
    assert isinstance(function, ast.FunctionDef)
    now = module.unused_name(f"{name}_now", function)
    outside = found[0].module.cst.expression(found[0].outside)
    named = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == name]
    if not all(isinstance(node.ctx, ast.Load) for node in named):
        return []
    first = function.body[1] if ast.get_docstring(function) is not None and len(function.body) > 1 else function.body[0]
    made = statements("{now} = {name} if {flag} else {outside}", now=now, name=name, flag=FLAG, outside=outside)
    head = with_parameters(module.cst.statement(function), add=[FLAG])
    changes: list[tuple[Module, rewrite.Change]] = [
        (module, Replace(function, head)),
        (module, Insert(made, before=first)),
        *((module, Replace(node, code(now))) for node in named),
    ]
    for each in found:
        file = each.module.cst
        test, inside = expr("{test}", test=file.expression(each.test)), file.expression(each.inside)
        by_keyword = next((k.arg for k in each.call.keywords if k.value is each.value), None)
        values = {} if by_keyword else {each.call.args.index(each.value): inside}
        drop = [by_keyword] if by_keyword else []
        add = {FLAG: test, **({by_keyword: inside} if by_keyword else {})}
        changes.append(
            (each.module, Replace(each.call, with_arguments(file.call(each.call), drop=drop, values=values, add=add)))
        )
    return Change.every(changes)
