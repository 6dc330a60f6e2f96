"""Estimators of a class that a table or its name chooses: each is made where the choice falls on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames
from migrator.normalise.draft.spelled import spelled
from migrator.normalise.functions.applied import written
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, Statement, expr, statements, with_arguments
from migrator.vocabulary.unsupported import Unsupported

from ..estimator_calls.estimator_kinds import KINDS
from ..model_fns.chosen_calls import by_test
from ..model_fns.looked_up import Lookup, called_entry, entry, is_getattr, lookup, lookup_at, text, without

if TYPE_CHECKING:
    import libcst as cst


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Writes such a choice as an `if`.

    ```python
    import tensorflow as tf

    columns = []
    CLASSES = {"wide": "LinearClassifier", "none": "BaselineClassifier"}
    ARGUMENTS = {"wide": {"feature_columns": columns}, "none": {}}


    def build(name):
        return getattr(tf.estimator, CLASSES[name])(n_classes=3, **ARGUMENTS[name])
    ```
    becomes
    ```python
    import tensorflow as tf

    columns = []


    def build(name):
        if name == "wide":
            estimator = tf.estimator.LinearClassifier(n_classes=3, **{"feature_columns": columns})
        elif name == "none":
            estimator = tf.estimator.BaselineClassifier(n_classes=3, **{})
        else:
            raise KeyError(name)
        return estimator
    ```
    """
    drafts.apply_all(paths, lambda _, module: _found(drafts, module))


def _found(drafts: Drafts, module: Module) -> Iterator[list[Change]]:
    """The changes for each choice."""
    if b"stimator" not in module.source:
        return
    for call in module.nodes(ast.Call):
        member = _member(module, call)
        if member is not None:
            yield Change.of(module, Replace(call, member))
            continue
        if isinstance(call.func, (ast.Subscript, ast.Call, ast.Name)):
            chosen = _chosen(drafts.project, module, call)
            yield _spelled(drafts, module, call, chosen) if chosen is not None else []


def _member(module: Module, call: ast.Call) -> cst.BaseExpression | None:
    """``getattr(tf.estimator, "Estimator")`` as the member that it is."""
    if not is_getattr(module, call):
        return None
    name = text(call.args[1])
    known = module.resolve(call.args[0]) == "tensorflow.estimator" and name
    return expr(f"{{base}}.{name}", base=module.cst.expression(call.args[0])) if known else None


def _chosen(project: Project, module: Module, call: ast.Call) -> Lookup | None:
    """What chooses the class that a call makes an Estimator of."""
    found = lookup(project, module, call)
    names = found.names(module) if found is not None else []
    return found if names and {*names} <= KINDS else None


def _spelled(drafts: Drafts, module: Module, call: ast.Call, found: Lookup) -> list[Change]:
    """The statements for one choice; none where its table is used otherwise."""
    names = OuterNames()
    gone = without(drafts.project, module, found)
    if not found.keys or found.default is not None or gone is None:
        return []
    if any(isinstance(node, ast.Call) for node in ast.walk(found.key)):
        return []
    try:
        made = [_made(drafts, module, call, found, number, names) for number in range(len(found.keys))]
    except Unsupported:
        return []
    asked = module.cst.expression(found.key)
    arms = found.arms(asked, made)

    def make(name: str) -> list[Statement]:
        return by_test(name, arms, statements("raise KeyError({asked})", asked=asked))

    changes = spelled(module, call, "estimator", make)
    given = [each.value if isinstance(each, ast.keyword) else each for each in arguments(call)]
    others = [_beside(drafts.project, module, each, found) for each in given]
    for other in others:
        gone += without(drafts.project, module, other) or [] if other is not None else []
    held: list[Rewrite] = [Remove(found.held)] if found.held is not None else []
    return [*gone, *Change.of(module, *names.changes, *held), *changes] if changes else []


def _beside(project: Project, module: Module, given: ast.expr, found: Lookup) -> Lookup | None:
    """What an argument looks up in another table by the same key."""
    other = lookup_at(project, module, given)
    return other if other is not None and ast.dump(other.key) == ast.dump(found.key) else None


def _made(
    drafts: Drafts, module: Module, call: ast.Call, found: Lookup, number: int, names: OuterNames
) -> cst.BaseExpression:
    """The call that makes one of the Estimators. What it is given by the same key out of other tables is known there, too."""
    key = found.table.keys[number]
    new = called_entry(drafts, module, call, found, found.table.values[number], names)
    values: dict[int, cst.BaseExpression] = {}
    for at, each in enumerate(arguments(call)):
        given = each.value if isinstance(each, ast.keyword) else each
        other = _beside(drafts.project, module, given, found)
        if other is not None and key is not None:
            known = entry(drafts.project, other, key)
            if known is not None:
                values[at] = written(drafts, module, call, *known, names)
    return with_arguments(new, values=values) if values else new
