"""Loops over what is known when the model is built, side by side with losses: ``for task, loss in zip(tasks, losses)``."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, code, statements

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

_MAKING = ("tensorflow.get_variable", "tensorflow.Variable", "tensorflow.layers.", "tensorflow.metrics.")
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)
_INDEXED = (ast.List, ast.ListComp, ast.Tuple)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The losses by their place, where such a loop makes weights or metrics; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode, params):
        losses = [tf.reduce_mean(tf.square(labels[task] - features[task])) for task in params["tasks"]]
        total = 0.0
        for task, loss in zip(params["tasks"], losses):
            total += tf.get_variable("weight_" + task, []) * loss
        for i, loss in enumerate(losses):
            total += tf.get_variable("scale_%d" % i, []) * loss
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode, params):
        losses = [tf.reduce_mean(tf.square(labels[task] - features[task])) for task in params["tasks"]]
        total = 0.0
        for index, task in enumerate(params["tasks"]):
            loss = losses[index]
            total += tf.get_variable("weight_" + task, []) * loss
        for i in range(len(params["tasks"])):
            loss = losses[i]
            total += tf.get_variable("scale_%d" % i, []) * loss
    ```
    """
    names = [argument.arg for argument in function.args.args]
    if "mode" not in names or len(names) < 2:
        return []
    labelled = _labelled(function, names[1])
    for loop in walk(function):
        if isinstance(loop, ast.For) and not loop.orelse and any(_makes(module, part) for part in loop.body):
            changes = _zipped(module, function, loop, labelled) or _counted(module, function, loop, labelled)
            if changes:
                return changes
    return []


def _zipped(module: Module, function: ast.FunctionDef, loop: ast.For, labelled: set[str]) -> list[Change]:
    """The changes for a loop over ``zip(…)`` of which some parts are lists of losses."""
    walked, targets = loop.iter, loop.target
    if not _is_call(walked, module, "zip") or not isinstance(targets, ast.Tuple):
        return []
    if len(walked.args) != len(targets.elts) or not all(isinstance(target, ast.Name) for target in targets.elts):
        return []
    pairs = list(zip(targets.elts, walked.args))
    lists = [(target, value) for target, value in pairs if _is_loss_list(function, value, labelled)]
    others = [(target, value) for target, value in pairs if not _reads(value, labelled)]
    if not lists or not others or len(lists) + len(others) < len(pairs):
        return []
    index = module.unused_name("index", loop)
    held = [ast.unparse(target) for target, _ in others]
    over = [module.segment(value) for _, value in others]
    several = len(others) > 1
    target = f"{index}, ({', '.join(held)})" if several else f"{index}, {held[0]}"
    walked_now = f"enumerate(zip({', '.join(over)}))" if several else f"enumerate({over[0]})"
    return _rewritten(module, loop, (target, walked_now), index, lists)


def _counted(module: Module, function: ast.FunctionDef, loop: ast.For, labelled: set[str]) -> list[Change]:
    """The changes for a loop over ``enumerate(losses)``."""
    walked, targets = loop.iter, loop.target
    if not _is_call(walked, module, "enumerate") or not isinstance(targets, ast.Tuple) or len(walked.args) != 1:
        return []
    names = [target for target in targets.elts if isinstance(target, ast.Name)]
    turns = _turns(function, walked.args[0], labelled)
    if len(names) != 2 or turns is None:
        return []
    count = str(turns) if isinstance(turns, int) else f"len({module.segment(turns)})"
    return _rewritten(module, loop, (names[0].id, f"range({count})"), names[0].id, [(names[1], walked.args[0])])


def _rewritten(
    module: Module, loop: ast.For, head: tuple[str, str], index: str, lists: list[tuple[ast.expr, ast.expr]]
) -> list[Change]:
    """The changes of a loop that gets another head, and takes losses out of lists."""
    texts = [f"{ast.unparse(target)} = {ast.unparse(value)}[{index}]" for target, value in lists]
    first = [row for text in texts for row in statements(text)]
    changed = [Replace(loop.target, code(head[0])), Replace(loop.iter, code(head[1]))]
    return Change.of(module, *changed, Insert(first, before=loop.body[0]))


def _is_call(node: ast.expr, module: Module, name: str) -> TypeGuard[ast.Call]:
    """Whether a node calls a function of Python by its name, with arguments by place alone."""
    if not isinstance(node, ast.Call) or node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return False
    return isinstance(node.func, ast.Name) and node.func.id == name and not module.bindings(node.func)


def _makes(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement makes weights or metrics."""
    calls = (node for node in walk(statement) if isinstance(node, ast.Call))
    return any((module.resolve(call.func) or "").startswith(_MAKING) for call in calls)


def _reads(node: ast.AST, names: Container[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in walk(node))


def _values(function: ast.FunctionDef, name: str) -> list[ast.expr]:
    """What a function gives a name."""
    found = (n for n in walk(function) if isinstance(n, ast.Assign) and len(n.targets) == 1)
    return [n.value for n in found if isinstance(n.targets[0], ast.Name) and n.targets[0].id == name]


def _is_loss_list(function: ast.FunctionDef, node: ast.expr, labelled: Container[str]) -> bool:
    """Whether a node names a list that is computed of the labels."""
    if not isinstance(node, ast.Name) or node.id not in labelled:
        return False
    stores = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)]
    values = _values(function, node.id)
    return len(values) == len(stores) == 1 and isinstance(values[0], _INDEXED)


def _turns(function: ast.FunctionDef, node: ast.expr, labelled: Container[str]) -> ast.expr | int | None:
    """What a list of losses has one for each of, or how many it has; None where that is not seen."""
    if not _is_loss_list(function, node, labelled) or not isinstance(node, ast.Name):
        return None
    value = _values(function, node.id)[0]
    grown = [n for n in walk(function) if isinstance(n, ast.Attribute) and _reads(n.value, (node.id,))]
    if grown:
        return None
    if isinstance(value, ast.ListComp):
        only = value.generators[0]
        plain = len(value.generators) == 1 and not only.ifs and isinstance(only.iter, _NAMED)
        return only.iter if plain and not _reads(only.iter, labelled) else None
    assert isinstance(value, (ast.List, ast.Tuple))
    return None if any(isinstance(each, ast.Starred) for each in value.elts) else len(value.elts)


def _labelled(function: ast.FunctionDef, labels: str) -> set[str]:
    """Names of values that the labels are a part of."""
    found = {labels}
    while True:
        more = {name for node in walk(function) for name in _given(node, found)} - found
        if not more:
            return found
        found |= more


def _given(node: ast.AST, labelled: set[str]) -> Iterator[str]:
    """Names that a statement gives what is computed of the labels."""
    if isinstance(node, (ast.Assign, ast.AugAssign)) and _reads(node.value, labelled):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (part.id for target in targets for part in walk(target) if isinstance(part, ast.Name))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "extend"):
        if isinstance(node.func.value, ast.Name) and any(_reads(each, labelled) for each in node.args):
            yield node.func.value.id
