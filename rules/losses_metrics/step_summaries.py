"""Summaries of a model_fn beside a folder of checkpoints, which `train_step` of the model writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.plan import Plan
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

PREFIX = "tensorflow.summary."


def recorded(plan: Plan) -> bool:
    """Whether a model_fn has summaries while it trains; those of evaluations alone are written nowhere."""
    trained = {node for leaf in plan.flow.leaves if "train" in leaf.modes for node in walk(leaf.node)}
    return bool(written(plan) & trained) or bool(_of_layers(plan))


def written(plan: Plan) -> frozenset[ast.AST]:
    """The references to `tf.summary` in a model_fn, and in the layers that it becomes, whose summaries `train_step` writes.

    Not those of metrics, which hold more steps than in a session.
    """
    left = {node for leaf in plan.metric_effects if "train" in leaf.modes for node in walk(leaf.node)}
    own = _inside(plan.module, plan.function)
    return frozenset(node for node in own if node not in left) | _of_layers(plan)


def _of_layers(plan: Plan) -> frozenset[ast.AST]:
    """Those in the functions that become layers, and in the program's own classes of layers."""
    own = [sublayer.definition for sublayer in plan.sublayers.found.values()] + list(plan.sublayers.layer_classes)
    return frozenset(node for each in own for node in _inside(each.module, each.node))


def _inside(module: Module, function: ast.AST) -> Iterator[ast.AST]:
    """The references to `tf.summary` in a function."""
    references = ((node, name) for node, name in module.references() if name.startswith(PREFIX))
    return (node for node, _ in references if module.is_inside(node, function))


def shown_metrics(plan: Plan) -> frozenset[ast.AST]:
    """The references to `tf.summary.scalar` for metrics, which TensorBoard writes with the logs of `fit`."""
    leaves = [leaf.node for leaf in plan.metric_effects if leaf not in plan.watched]
    return frozenset(
        node
        for node, name in plan.module.references()
        if name == f"{PREFIX}scalar" and any(node in set(walk(leaf)) for leaf in leaves)
    )
