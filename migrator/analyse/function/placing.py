"""Where statements go that are there for their effect: messages, summaries, checks, losses that layers keep."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.assertions import is_assertion, is_check
from migrator.analyse.results.collections import CONDITIONAL
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.loggers import called_function
from migrator.analyse.training.optimizervalues import makes_optimizer

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body


def place(body: Body, leaf: Leaf, call: set[Leaf], losses: set[Leaf], tainted: set[Leaf]) -> None:
    """Give a statement that is there for its effect (a message, a summary) to the phase that knows its values."""
    if runs_when_built(body, leaf) or leaf in body.gradients or leaf in call or leaf in losses:
        return
    if id(leaf.node) in body.collections.kept:
        if leaf in tainted:
            raise Unsupported(CONDITIONAL, leaf.node)
        call |= {leaf}.union(*(body.slicer.closure(body.slicer.inputs(leaf), leaf.index, m, leaf) for m in leaf.modes))
        return
    made = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
    name = called_function(body.module, made.func) if isinstance(made, ast.Call) else None
    known = isinstance(made, ast.Call) and body.translations.effects(name, ast.unparse(made.func))
    known = known or made is not None and is_assertion(body.module, made)
    if not (leaf in body.watched or known or is_check(body, leaf.node)):
        raise Unsupported("a statement that only has an effect is not migrated yet", leaf.node)
    needed: set[Leaf] = set()
    inputs = {name for name in body.slicer.inputs(leaf) if not body.is_schedule(name)}
    for mode in leaf.modes:
        needed |= body.slicer.closure(inputs, leaf.index, mode, leaf)
    if any(isinstance(other.node, ast.Assign) and makes_optimizer(body, other.node.value) for other in needed):
        raise Unsupported("what an optimizer holds is read beside the training step", leaf.node)
    if any(body.metric_call(other) is not None for other in needed):
        body.metric_effects += [leaf] if "train" in leaf.modes or leaf in body.watched else []
    elif leaf in tainted or needed & (losses - call) or not _from_data(body, leaf, needed):
        if "train" in leaf.modes or leaf in body.watched:
            losses |= {leaf} | needed
    else:
        call |= {leaf} | needed


def _from_data(body: Body, leaf: Leaf, needed: set[Leaf]) -> bool:
    """Whether a value depends on features or weights, not on the global step and the like alone."""
    dynamic = Time.DYNAMIC in (body.time(leaf), *(body.time(other) for other in needed))
    return dynamic or any(body.sites_in(other) for other in (leaf, *needed))


def runs_when_built(body: Body, leaf: Leaf) -> bool:
    """Whether a statement that is there for its effect needs no tensor, nor do the conditions around it."""
    heads = [body.times.head(frame) for frame in leaf.frames if not frame.silent]
    return max([body.times.of(leaf.node), *heads]) is Time.STATIC
