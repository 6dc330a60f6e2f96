"""Arms of mode tests that call the same with True in training and with False elsewhere: both are told whether it trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Optional

from migrator.analyse.statements.modes import ALL_MODES, Modes, mode_of_symbol
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code

_MODE, _TRAIN = "mode", "train"
_Run = tuple[ast.Assign, frozenset[str]]


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """Writes what the constants say of the mode, so that the calls are the same.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        if mode == tf.estimator.ModeKeys.TRAIN:
            logits = network(features, True)
        else:
            logits = network(features, False)
        return logits
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        logits = network(features, mode == tf.estimator.ModeKeys.TRAIN)
        return logits
    ```
    """
    names = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == _MODE]
    given = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    if _MODE not in given or not all(isinstance(node.ctx, ast.Load) for node in names):
        return []
    keys = (
        node.value for node, name in module.references() if mode_of_symbol(name) and isinstance(node, ast.Attribute)
    )
    asked = next((f"{_MODE} == {module.segment(key)}.TRAIN" for key in keys), None)
    if asked is None:
        return []
    modes = Modes(_MODE, lambda node: mode_of_symbol(module.resolve(node)))
    runs, _ = _runs(function.body, ALL_MODES, modes)
    for trained, when in runs:
        others = [other for other, where in runs if when == {_TRAIN} and _TRAIN not in where]
        found = {other: pairs for other in others if (pairs := _differing(trained, other))}
        for other, pairs in found.items():
            around = module.parent(trained)
            if isinstance(around, ast.If) and [trained, other] in (
                [*around.body, *around.orelse],
                [*around.orelse, *around.body],
            ):
                new = module.cst.statement(trained, {node: code(asked) for node, _ in pairs})
                return Change.of(module, Replace(around, new))
        constants = dict.fromkeys(node for pairs in found.values() for pair in pairs for node in pair)
        if constants:
            return [change for node in constants for change in Change.of(module, Replace(node, code(asked)))]
    return []


def _runs(body: Sequence[ast.stmt], now: frozenset[str], modes: Modes) -> tuple[list[_Run], frozenset[str]]:
    """The assignments of a block with the modes that they run in, and the modes in which it does not return."""
    found: list[_Run] = []
    for statement in body:
        if isinstance(statement, ast.Assign) and not modes.learn(statement):
            found.append((statement, now))
        elif isinstance(statement, ast.If):
            values = {mode: modes.evaluate(statement.test, mode) for mode in now}
            first, after = _runs(statement.body, frozenset(m for m in now if values[m] is not False), modes)
            second, more = _runs(statement.orelse, frozenset(m for m in now if values[m] is not True), modes)
            found, now = [*found, *first, *second], after | more
        elif isinstance(statement, ast.With):
            inner, now = _runs(statement.body, now, modes)
            found += inner
        elif isinstance(statement, (ast.Return, ast.Raise)):
            return found, frozenset()
    return found, now


def _differing(trained: ast.Assign, other: ast.Assign) -> Optional[list[tuple[ast.Constant, ast.Constant]]]:
    """The arguments that are True in one statement and False in the other one; None where these differ in more."""
    found: list[tuple[ast.Constant, ast.Constant]] = []
    return found if all(_is_alike(one, two, found) for one, two in _fields(trained, other)) else None


def _is_alike(one: object, two: object, found: list[tuple[ast.Constant, ast.Constant]]) -> bool:
    """Whether two trees are the same but for such constants, which come to those that are `found`."""
    if isinstance(one, ast.Constant) and isinstance(two, ast.Constant):
        if one.value is True and two.value is False:
            found.append((one, two))
            return True
        return ast.dump(one) == ast.dump(two)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(_is_alike(*pair, found) for pair in zip(one, two))
    if not isinstance(one, ast.AST) or not isinstance(two, ast.AST):
        return one == two
    return type(one) is type(two) and all(_is_alike(*pair, found) for pair in _fields(one, two))


def _fields(one: ast.AST, two: ast.AST) -> Iterator[tuple[object, object]]:
    return ((getattr(one, name, None), getattr(two, name, None)) for name in one._fields)
