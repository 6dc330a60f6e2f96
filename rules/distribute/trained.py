"""What a strategy asks of the model that it trains."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.layers.statistics import has_moving_statistics
from migrator.analyse.training.trainop import train_op
from migrator.analyse.variables.partitioners import has_partitioners
from migrator.resolve.module import Module
from migrator.resolve.text import Spans

from ..canned.networks import Network
from ..loop.flow.weights import moves_all

SPOKEN = "it may train on several devices or machines"
_GATHERS = frozenset({"tensorflow.gather", "tensorflow.gather_nd"})
"""What does not read variables in parts row by row."""


@dataclass(frozen=True)
class Trained:
    """A model of a program: that of a model_fn, or one that takes the place of a canned Estimator."""

    module: Module
    """The file that makes its strategy."""
    servers: bool
    """Whether a cluster is one of parameter servers, since there is a partitioner."""
    moving: bool
    """Whether it has moving statistics."""
    step: str = ""
    """Why a step of training is not what Keras does on replicas."""
    parts: str = ""
    """Why it cannot have its variables in parts."""
    canned: bool = False


def of_plan(plan: Plan) -> Trained:
    """What a model_fn becomes."""
    servers, moving = has_partitioners(plan), has_moving_statistics(plan)
    return Trained(plan.module, servers, moving, _step(plan, servers), _parts(plan) if servers else "")


def of_network(network: Network) -> Trained:
    """What takes the place of a canned Estimator, which has a partitioner wherever there are parameter servers."""
    normalized = network.given.get("batch_norm")
    moving = isinstance(normalized, ast.Constant) and bool(normalized.value)
    return Trained(network.construction.module, True, moving, canned=True)


def _step(plan: Plan, servers: bool) -> str:
    """Keras adds gradients of replicas up before an optimizer sees them; workers of `servers` take whole steps each, but may
    name no weights, which are in parts."""
    try:
        training = train_op(plan)
    except Unsupported:
        return SPOKEN  # told where the model is written
    if training is not None and not training.plain and not (servers and moves_all(plan)):
        return "a train op that does more than to minimize the loss, on several devices"
    return ""


def _parts(plan: Plan) -> str:
    spans = Spans([plan.module.span(plan.function)])
    references = ((plan.module.span(node), name) for node, name in plan.module.references())
    if any(name in _GATHERS and spans.hold(span) for span, name in references):
        return "rows that are gathered from a variable in parts"
    return ""
