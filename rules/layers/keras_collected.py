"""What Keras objects in a graph collect, by the names that TensorFlow 2 has left of it: `losses` and `updates`.

`get_losses_for(None) + get_losses_for(x)` is what does not hang on inputs, and what hangs on `x`: all of a model that is
called with `x` alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_nodes
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr

_ATTRIBUTES = {"get_losses_for": "losses", "get_updates_for": "updates"}


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that let a function read all that an object collects by the attribute for it.

    ```python
    def model_fn(features, labels, mode):
        net = make_network()
        logits = net(features)
        losses = net.get_losses_for(None) + net.get_losses_for(features)
        return logits, losses
    ```
    becomes
    ```python
    def model_fn(features, labels, mode):
        net = make_network()
        logits = net(features)
        losses = net.losses
        return logits, losses
    ```
    """
    calls = [node for node in own_nodes(function.body) if isinstance(node, ast.Call)]
    found = [
        Replace(node, expr(f"{holder}.{_ATTRIBUTES[method]}"))
        for node, holder, method, given in _sums(function)
        if _inputs(calls, holder) == {given}
    ]
    return Change.of(module, *found)


def _sums(function: ast.FunctionDef) -> Iterator[tuple[ast.BinOp, str, str, str]]:
    """The sums of both parts, with the object, the method, and the inputs that are named."""
    for node in own_nodes(function.body):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
            continue
        parts = [_part(side) for side in (node.left, node.right)]
        known = [part for part in parts if part is not None]
        if len(known) == 2 and known[0][:2] == known[1][:2]:
            given = [part[2] for part in known]
            if given.count("None") == 1:
                yield node, *known[0][:2], next(text for text in given if text != "None")


def _part(node: ast.expr) -> tuple[str, str, str] | None:
    """Object, method and argument of ``model.get_losses_for(x)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _ATTRIBUTES:
        return None
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "inputs")]
    if not isinstance(node.func.value, ast.Name) or len(given) != 1 or len(node.args) + len(node.keywords) != 1:
        return None
    return node.func.value.id, node.func.attr, ast.unparse(given[0])


def _inputs(calls: list[ast.Call], holder: str) -> set[str]:
    """What an object is called with."""
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == holder]
    return {ast.unparse(call.args[0]) if call.args else "" for call in made}
