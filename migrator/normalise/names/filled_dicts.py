"""Dicts that are made with a few entries, or none, and get the others in the statements right below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.reaching import blocks
from migrator.resolve.syntax import is_name, target_name, walk
from migrator.rewrite import Remove, Replace, expr

if TYPE_CHECKING:
    import libcst as cst


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such dict of a function, which is written down at once; none if there is no more.

    ```python
    import tensorflow as tf


    def hooks(loss, rate):
        logged = {}
        logged["loss"] = loss
        logged["rate"] = rate
        return [tf.train.LoggingTensorHook(logged, every_n_iter=10)]
    ```
    becomes
    ```python
    import tensorflow as tf


    def hooks(loss, rate):
        logged = {"loss": loss, "rate": rate}
        return [tf.train.LoggingTensorHook(logged, every_n_iter=10)]
    ```
    """
    for block in (block for node in walk(function) for block in blocks(node)):
        for number, statement in enumerate(block):
            made = statement.value if isinstance(statement, ast.Assign) else None
            name, keys = target_name(statement), _keys(module, made)
            if made is None or name is None or keys is None:
                continue
            fillings = list(_fillings(block[number + 1 :], name, keys))
            if fillings:
                return Change.of(module, Replace(made, _display(module, made, fillings)), *map(Remove, fillings))
    return []


def _keys(module: Module, made: ast.expr | None) -> list[object] | None:
    """The keys of a dict that is written out; None for anything else."""
    if isinstance(made, ast.Dict):
        return [key.value for key in made.keys if isinstance(key, ast.Constant)] if None not in made.keys else None
    if not isinstance(made, ast.Call) or made.args or made.keywords or not isinstance(made.func, ast.Name):
        return None
    return [] if made.func.id == "dict" and not module.bindings(made.func) else None


def _fillings(below: list[ast.stmt], name: str, keys: list[object]) -> Iterator[ast.Assign]:
    """The statements at the head of a block that give a dict entries that it does not have, of values that do not read it."""
    known = list(keys)
    for statement in below:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        key = target.slice if isinstance(target, ast.Subscript) and is_name(target.value, name) else None
        if not isinstance(statement, ast.Assign) or not isinstance(key, ast.Constant) or key.value in known:
            return
        if any(is_name(node, name) for node in walk(statement.value)):
            return
        known.append(key.value)
        yield statement


def _display(module: Module, made: ast.expr, fillings: list[ast.Assign]) -> cst.Dict:
    """The dict with all entries."""
    import libcst as cst

    holes: dict[str, cst.CSTNode] = {}
    for number, filling in enumerate(fillings):
        assert isinstance(filling.targets[0], ast.Subscript)
        holes[f"key_{number}"] = module.cst.expression(filling.targets[0].slice)
        holes[f"value_{number}"] = module.cst.expression(filling.value)
    pairs = ", ".join(f"{{key_{number}}}: {{value_{number}}}" for number in range(len(fillings)))
    new, held = expr(f"{{{{{pairs}}}}}", **holes), module.cst.expression(made)
    assert isinstance(new, cst.Dict)
    if not isinstance(held, cst.Dict) or not held.elements:
        return new
    last = held.elements[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return held.with_changes(elements=[*held.elements[:-1], last, *new.elements])
