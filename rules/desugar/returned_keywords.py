"""Arguments of the library that a function returns in a dict, for its one caller to spread."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns, terminates
from migrator.normalise.functions.idle import taken_away
from migrator.normalise.functions.inline import Inliner
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Replace, Unprintable, statements
from migrator.vocabulary.unsupported import Unsupported

from ..loop.comments import has_comments
from ..symbols.tensorflow_names import whole_name
from .gathered_arguments import NAMES


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Lets the function make what they are for.

    ```python
    import tensorflow as tf


    def spec_of(mode, loss, train_op):
        if mode == tf.estimator.ModeKeys.TRAIN:
            return {"loss": loss, "train_op": train_op}
        return {"loss": loss}


    def model_fn(features, labels, mode):
        return tf.estimator.EstimatorSpec(mode, **spec_of(mode, loss(features, labels), train_op))
    ```
    becomes
    ```python
    import tensorflow as tf


    def spec_of(mode, loss, train_op):
        if mode == tf.estimator.ModeKeys.TRAIN:
            return tf.estimator.EstimatorSpec(mode, **{"loss": loss, "train_op": train_op})
        return tf.estimator.EstimatorSpec(mode, **{"loss": loss})


    def model_fn(features, labels, mode):
        return spec_of(mode, loss(features, labels), train_op)
    ```
    """
    gone: set[tuple[str, str]] = set()
    drafts.apply_all(paths, lambda _, module: _found(drafts, module, gone))
    for path, name in sorted(gone):
        taken_away(drafts, path, name)


def _found(drafts: Drafts, module: Module, gone: set[tuple[str, str]]) -> Iterator[list[Change]]:
    """The changes for each of them; functions that are put in the places of their calls are noted."""
    for call in module.nodes(ast.Call) if b"**" in module.source and b"stimator" in module.source else ():
        for spread in call.keywords:
            name = module.resolve(call.func) if spread.arg is None and isinstance(spread.value, ast.Call) else None
            if name in NAMES and name is not None:
                yield _moved(drafts, module, call, spread, name, gone)


def _moved(
    drafts: Drafts, module: Module, call: ast.Call, spread: ast.keyword, name: str, gone: set[tuple[str, str]]
) -> list[Change]:
    """The changes for one call; none where the function is used for more. What makes a dict, and is not given what is given
    beside, comes to its caller."""
    project, inner = drafts.project, spread.value
    assert isinstance(inner, ast.Call)
    found = project.definition(module, inner.func)
    function = found.node if found is not None else None
    if found is None or not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return []
    home = found.module
    root = whole_name(home)
    readers = project.readers.of(home, home.analysis.root, function.name)
    alone = isinstance(home.parent(function), ast.Module) and [node for _, node in readers] == [inner.func]
    if not alone or root is None or has_comments(module, call) or not terminates(function.body):
        return []
    told = _told(home, function, call, inner)
    values = [(each, each.value) for each in own_returns(function)]
    if home.path not in project.editable:
        return []
    if told is None:
        gone.add((home.path, function.name))
        with contextlib.suppress(Unsupported, Unprintable):
            return Inliner(drafts, module, inner, found).changes()
        return []
    made = f"return {root}{name[len('tensorflow') :]}({', '.join(told)})"
    wanted: list[tuple[Module, Rewrite]] = [(module, Replace(call, module.cst.expression(inner)))]
    for each, value in values:
        if value is None:
            return []
        wanted.append((home, Replace(each, statements(made, value=home.cst.expression(value)))))
    try:
        return Change.every(wanted)
    except Unsupported:
        return []


def _told(home: Module, function: ast.FunctionDef, call: ast.Call, inner: ast.Call) -> list[str] | None:
    """The arguments of a call as its function has them: literals, and names that this is given; None where there are others."""
    try:
        known = {value.id: name for name, value in given(function, inner).items() if isinstance(value, ast.Name)}
    except Unsupported:
        return None
    found: list[str] = []
    for each in arguments(call):
        value = each.value if isinstance(each, ast.keyword) else each
        before = f"{each.arg}=" if isinstance(each, ast.keyword) and each.arg is not None else ""
        if value is inner:
            found.append("**{value}")
        elif isinstance(value, ast.Constant):
            found.append(before + repr(value.value).replace("{", "{{").replace("}", "}}"))
        elif isinstance(value, ast.Name) and len(home.scope(function).bindings.get(known.get(value.id, ""), [])) == 1:
            found.append(before + known[value.id])
        else:
            return None
    return found
