"""Train ops on several replicas: which do natively what an Estimator made each replica do.

There `compute_gradients` and `minimize` take the gradients of the share that a replica has in the mean of the losses, the
program edits those, and `apply_gradients` adds up what all replicas have. A Keras optimizer adds up in the same place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.updates import GRADIENTS
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.training.trainop import TrainOp

_SUM = "tensorflow.losses.Reduction.SUM"


def check_replicas(plan: Plan, train_op: TrainOp, reads_loss: bool = False) -> None:
    """Refuse what replicas do otherwise; `reads_loss`: the train step reads the loss beside the gradients."""
    call = train_op.updates[0].call
    for node in walk(plan.function):
        if isinstance(node, ast.Attribute) and plan.module.resolve(node) == _SUM:
            raise Unsupported("losses that are sums, which layers do not add up over replicas", node)
    if train_op.condition is not None or train_op.changes:
        raise Unsupported("the train op takes a step in some turns only, which layers do on one replica only", call)
    if train_op.plain:
        return
    for leaf in plan.gradients:
        for node in walk(leaf.node):
            if isinstance(node, ast.Call) and plan.module.resolve(node.func) == GRADIENTS:
                raise Unsupported("replicas add up what tf.gradients gives, which layers do on one replica only", node)
    if reads_loss:
        raise Unsupported("the train op reads the loss, which layers do on one replica only", call)
