"""Summaries of a model_fn beside a folder of checkpoints, which `train_step` of the model writes."""

from __future__ import annotations

import ast

from migrator.analyse.function.plan import Plan
from migrator.resolve.syntax import walk

PREFIX = "tensorflow.summary."


def recorded(plan: Plan) -> bool:
    """Whether a model_fn has summaries while it trains; those of evaluations alone are written nowhere."""
    trained = {node for leaf in plan.flow.leaves if "train" in leaf.modes for node in walk(leaf.node)}
    return bool(written(plan) & trained)


def written(plan: Plan) -> frozenset[ast.AST]:
    """The references to `tf.summary` in a model_fn whose summaries `train_step` writes as they are.

    Not those of its layers, before whose tags Keras puts names, nor of metrics, which hold more steps than in a session.
    """
    left = {node for leaf in plan.call_leaves for node in walk(leaf.node)}
    left |= {node for leaf in plan.metric_effects if "train" in leaf.modes for node in walk(leaf.node)}
    return frozenset(
        node
        for node, name in plan.module.references()
        if name.startswith(PREFIX) and plan.module.is_inside(node, plan.function) and node not in left
    )


def shown_metrics(plan: Plan) -> frozenset[ast.AST]:
    """The references to `tf.summary.scalar` for metrics, which TensorBoard writes with the logs of `fit`."""
    leaves = [leaf.node for leaf in plan.metric_effects if leaf not in plan.watched]
    return frozenset(
        node
        for node, name in plan.module.references()
        if name == f"{PREFIX}scalar" and any(node in set(walk(leaf)) for leaf in leaves)
    )
