"""Gradients that are taken after a step of another optimizer: those of TensorFlow 1 read the weights that it has moved.

``with tf.control_dependencies([first_step]): second.minimize(loss, var_list=generator)`` differentiates at the
activations of before the first step, through weights of after it, as long as variables are references. A tape has neither.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.training.trainways import dependencies
from migrator.analyse.training.updates import GRADIENTS, Update, gradient_arguments, is_method
from migrator.analyse.variables.variablechoices import in_list
from migrator.analyse.variables.variablelists import sites_of
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.layers.site import Site


def check_ordered_steps(plan: Plan, updates: Iterable[Update]) -> None:
    """Refuse gradients that need the weights which a step before them moves. Raises Unsupported."""
    if plan.translations.step_before(plan.module):  # the variables are resources
        return
    for update in updates:
        for leaf in _gradient_leaves(plan, update):
            for way in dependencies(plan, leaf):
                for part in way:
                    if part.update is not None and part.update.call is not update.call:
                        if _may_read(plan, _moved(plan, update), _moved(plan, part.update)):
                            raise Unsupported(
                                "gradients that are taken after a step of another optimizer may read the weights that it moves",
                                update.call,
                            )


def _gradient_leaves(plan: Plan, update: Update) -> list[Leaf]:
    """The statements that take the gradients of an update."""
    if update.minimizes:
        return [update.at]
    names = plan.slicer.inputs(update.at)
    found = plan.slicer.closure(names, update.at.index, "train", update.at) | {update.at}
    return [leaf for leaf in found if any(_takes_gradients(plan, node) for node in walk(leaf.node))]


def _takes_gradients(plan: Plan, node: ast.AST) -> bool:
    taken = isinstance(node, ast.Call) and plan.module.resolve(node.func) == GRADIENTS
    return taken or is_method(node, "compute_gradients")


def _moved(plan: Plan, update: Update) -> set[Site] | None:
    """The sites of the variables that an update moves; None if they are not seen."""
    given: ast.expr | None = None
    at = update.at
    if update.minimizes:
        given = update.arguments().get("var_list")
    else:
        calls = [(n, leaf) for leaf in _gradient_leaves(plan, update) for n in walk(leaf.node)]
        taking = [(n, leaf) for n, leaf in calls if isinstance(n, ast.Call) and is_method(n, "compute_gradients")]
        if len(taking) == 1:
            given, at = gradient_arguments(taking[0][0]).get("var_list"), taking[0][1]
    if given is None:
        return None
    try:
        choice = in_list(plan, given, at)
        return set(sites_of(plan, choice, given)) if choice is not None else None
    except Unsupported:
        return None


def _may_read(plan: Plan, own: set[Site] | None, moved: set[Site] | None) -> bool:
    """Whether the way from a loss to the variables of `own` may lead through `moved`: what these compute needs `own`."""
    if own is None or moved is None or own & moved:
        return True
    start = {site.leaf for site in plan.sites if (site.first or site) in own}
    behind = {
        leaf
        for leaf in plan.flow.leaves
        if "train" in leaf.modes
        and (leaf in start or start & plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, "train", leaf))
    }
    for site in plan.sites:
        if (site.first or site) in moved:
            using = _users(plan, site.leaf) if site.layer.weight else {site.leaf}
            if using & behind:
                return True
    return False


def _users(plan: Plan, made: Leaf) -> set[Leaf]:
    """The statements that read what one gives a name, and that one."""
    found = {made}
    for leaf in plan.flow.leaves:
        for name in plan.slicer.inputs(leaf) & made.defs if "train" in leaf.modes else ():
            if made in plan.slicer.reaching(name, leaf.index, "train", leaf):
                found.add(leaf)
    return found
