"""What the train op of a spec does: which optimizers take a step, on which gradients."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.objects import WEIGHTS, may_have_variables, object_of
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.training.conditionalsteps import check_names, check_sums, conditional
from migrator.analyse.training.counters import check_counters, steps_of
from migrator.analyse.training.optimizervalues import check_seen, class_of_optimizer, is_training
from migrator.analyse.training.orderedsteps import check_ordered_steps
from migrator.analyse.training.scaledlosses import scaled
from migrator.analyse.training.stepcount import is_step
from migrator.analyse.training.sums import Change, makes_sums
from migrator.analyse.training.trainways import Part, dependencies, same_value, ways
from migrator.analyse.training.updates import GRADIENTS, Clipping, Update, is_method
from migrator.analyse.variables.averages import Averages
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.plan import Plan

_OF_STEP = re.compile(
    r"^(?:train_(?!op$|step$)([a-z]+)|(?!train_|optimizer)([a-z][a-z_]*?)(?:_train|_train_op|_train_step|_op|_step))$"
)
"""Names of what an optimizer of several does: ``train_generator``, ``d_train_op``."""


@dataclass(frozen=True)
class TrainOp:
    """The train op. `updates` are in source order; only one of them runs, unless there are `others`."""

    updates: tuple[Update, ...]
    plain: bool
    """Whether all that happens is that one optimizer minimizes the loss."""
    choice: bool = False
    """Whether each update is of an optimizer of its own, so that static conditions choose the optimizer."""
    others: tuple[tuple[Update, str], ...] = ()
    """Where several optimizers take a step each: all but the one that counts the global step, with their attributes."""
    averages: Averages | None = None
    """Moving averages of the weights, which follow each step."""
    condition: ast.If | None = None
    """What decides which of the updates runs in a step."""
    changes: tuple[Change, ...] = ()
    """What happens to sums of gradients."""
    pauses: bool = False
    """Whether the global step counts the steps of the optimizer only, which are fewer than the batches."""
    clipping: Clipping | None = None
    """What the optimizer does with the gradients of a train op that is `plain`."""

    def attribute(self, update: Update) -> str:
        """The attribute of the model that holds the optimizer of an update."""
        return next((name for other, name in self.others if other is update), "optimizer")


def gradient_leaves(body: Body) -> set[Leaf]:
    """Leaves that compute with gradients, and what depends on them."""
    found: set[Leaf] = set()
    changed = True
    while changed:
        changed = False
        for leaf in body.flow.leaves:
            if leaf in found or leaf.mode_only or "train" not in leaf.modes or isinstance(leaf.node, ast.Return):
                continue
            own = makes_sums(body, leaf) or any(
                is_method(child, "compute_gradients", "apply_gradients")
                or (isinstance(child, ast.Call) and body.module.resolve(child.func) == GRADIENTS)
                for child in walk(leaf.node)
            )
            if own or any(
                source in found
                for name in body.slicer.inputs(leaf)
                for source in body.slicer.reaching(name, leaf.index, "train", leaf)
            ):
                found.add(leaf)
                changed = True
    return found


def train_op(plan: Plan) -> TrainOp | None:
    """What the train op does; None if there is no training spec. Raises Unsupported."""
    node = plan.field("train", "train_op")
    if node is None:
        if "train" in plan.specs and plan.field("train", "loss") is not None and "eval" not in plan.specs:
            raise Unsupported("the training spec has no train_op", plan.specs["train"].leaf.node)
        return None
    every = ways(plan, node, plan.specs["train"].leaf)
    updates: dict[ast.Call, Update] = {}
    main: Update | None = None
    condition = conditional(plan, every)
    pauses = False

    def before(leaf: Leaf) -> list[Part]:
        return [part for way in dependencies(plan, leaf) for part in way]

    for way in every:
        mine = [part.update for part in way if part.update is not None]
        steps = steps_of(plan, way, every, condition)
        if not mine and (condition is None or steps > 1):
            raise Unsupported("the train op is not seen to be `optimizer.minimize(loss)`", node)
        pauses |= not mine and not steps
        check_sums(plan, way, before)
        check_counters(plan, way, before)
        if len(mine) > 1:
            main = _check_several(plan, mine, steps, len(every))
        for update in mine:
            _check_update(plan, update, steps if len(mine) == 1 else None)
            updates[update.call] = update
        ran = any(part.runs_updates for part in way)
        if plan.updates_run and not ran and any(site.layer.moving for site in plan.sites):
            raise Unsupported(
                "UPDATE_OPS are collected, but the train op does not run them", mine[0].call if mine else node
            )
    ordered = sorted(updates.values(), key=lambda update: update.at.index)
    check_ordered_steps(plan, ordered)
    averages = [part.averages for way in every for part in way if part.averages is not None]
    changes = tuple({part.change: None for way in every for part in way if part.change is not None})
    if condition is not None or changes:
        return _with_sums(plan, ordered, changes, condition, averages, pauses)
    if averages:
        if len(ordered) > 1 or len(averages) > 1:
            raise Unsupported("averages of weights beside several train ops are not migrated yet", averages[0].call)
        return TrainOp(tuple(ordered), plain=False, averages=averages[0])
    if main is not None:
        return TrainOp(tuple(ordered), plain=False, others=_attributes(plan, ordered, main))
    whole = all(update.minimizes and moves_all(plan, update) for update in ordered)
    whole &= all(scaled(plan, update.arguments().get("loss"), update.at) is None for update in ordered)
    plain = whole and not plan.partial_losses
    if len({ast.dump(update.optimizer) for update in ordered}) > 1:
        if not plain or not all(isinstance(u.at.node, ast.Assign) and u.at.node.value is u.call for u in ordered):
            raise Unsupported("several optimizers are not migrated yet", ordered[1].call)
        if plan.is_local("optimizer"):
            raise Unsupported("`optimizer` is a name that the generated function needs", ordered[0].call)
        return TrainOp(tuple(ordered), plain=True, choice=True)
    return TrainOp(tuple(ordered), plain)


def pauses(plan: Plan) -> bool:
    """Whether the global step counts some of the batches only."""
    try:
        found = train_op(plan)
    except Unsupported:
        return False
    return found is not None and found.pauses


def moves_all(plan: Plan, update: Update) -> bool:
    """Whether a step is by all trainable variables: of no list, or of that of the one object that has any."""
    given = update.arguments().get("var_list")
    if given is None:
        return True
    node, _ = plan.followed_in(given, update.at, "train")
    if not isinstance(node, ast.Attribute) or node.attr not in WEIGHTS:
        return False
    site = object_of(plan, node.value)
    return site is not None and site.layer.keras and [s for s in plan.sites if may_have_variables(s)] == [site]


def _with_sums(
    plan: Plan,
    updates: list[Update],
    changes: tuple[Change, ...],
    condition: ast.If | None,
    averages: list[Averages],
    pauses: bool,
) -> TrainOp:
    """The train op where a condition decides which updates run, or gradients are summed up."""
    if averages:
        raise Unsupported("averages of weights beside a conditional train op are not migrated yet", averages[0].call)
    for update in updates:
        if update.at.loops:
            raise Unsupported("optimizers in a loop are not migrated yet", update.call)
    if condition is not None:
        check_names(plan, [leaf for leaf in plan.flow.leaves if "train" in leaf.modes], condition)
    others = [u for u in updates if ast.dump(u.optimizer) != ast.dump(updates[-1].optimizer)]
    if others and any(class_of_optimizer(plan, u.optimizer, u.at) is not None for u in updates):
        raise Unsupported(
            "an optimizer class of the program beside another optimizer is not migrated yet", others[0].call
        )
    named = _attributes(plan, others, updates[-1])
    return TrainOp(tuple(updates), plain=False, others=named, condition=condition, changes=changes, pauses=pauses)


def _check_several(plan: Plan, updates: list[Update], steps: int, ways: int) -> Update:
    """The update that counts the step, of several that run in one step. Raises Unsupported."""
    held = [ast.dump(u.optimizer) for u in updates if not is_training(plan, u.optimizer)]  # a construction is one more
    if ways > 1 or len(set(held)) < len(held):
        raise Unsupported("an optimizer that takes several steps at once is not migrated yet", updates[1].call)
    for update in updates:
        if update.at.loops:
            raise Unsupported("optimizers in a loop are not migrated yet", update.call)
        if class_of_optimizer(plan, update.optimizer, update.at) is not None:
            raise Unsupported(
                "an optimizer class of the program beside another optimizer is not migrated yet", update.call
            )
        if update.minimizes and "var_list" not in update.arguments():
            raise Unsupported("several optimizers move the same variables", update.call)
    for leaf in plan.flow.leaves:
        if "train" in leaf.modes and any(map(plan.is_schedule, plan.slicer.inputs(leaf))):
            if not any(is_training(plan, n) for n in walk(leaf.node) if isinstance(n, ast.expr)):
                raise Unsupported("a learning rate is read beside several optimizers", leaf.node)
    counting = [update for update in updates if "global_step" in update.arguments()]
    for update in counting:
        _check_counted(plan, update)
    if len(counting) + steps != 1:
        problem = "never advances" if not counting and not steps else "advances more than once"
        raise Unsupported(f"several optimizers: the step {problem}", updates[1].call)
    return counting[0] if counting else updates[-1]


def _attributes(plan: Plan, updates: list[Update], main: Update) -> tuple[tuple[Update, str], ...]:
    """The attributes of the model for all optimizers but one."""
    found: list[tuple[Update, str]] = []
    for update in updates:
        if update is not main:
            node = update.optimizer
            name = node.id if isinstance(node, ast.Name) and node.id != "optimizer" else _named_by_step(update)
            if not name or name in [other for _, other in found]:
                name = f"optimizer_{len(found) + 2}"
            if any(site.attribute == name for site in plan.sites) or name in plan.statics:
                name += "_"
            found.append((update, name))
    return tuple(found)


def _named_by_step(update: Update) -> str:
    """What ``linear_op = tf.train.FtrlOptimizer(0.1).minimize(…)`` calls its optimizer; empty where it says nothing."""
    statement = update.at.node
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is update.call else None
    found = _OF_STEP.match(target.id) if isinstance(target, ast.Name) else None
    return f"{found[1] or found[2]}_optimizer" if found is not None else ""


def _check_counted(plan: Plan, update: Update) -> None:
    step = update.arguments().get("global_step")
    if step is not None and not is_step(plan, step, update.at):
        what = "minimize" if update.minimizes else "apply_gradients"
        raise Unsupported(f"{what}() counts something else than the global step", step)


def _check_update(plan: Plan, update: Update, steps: int | None) -> None:
    """Refuse an update that is not all there is to a step; `steps` is how often the train op itself counts one, None where
    other updates count too."""
    given = update.arguments()
    check_seen(plan, update.optimizer, update.at)
    if update.minimizes:
        if scaled(plan, given.get("loss"), update.at) is None:
            loss_text(plan, given.get("loss"), update.at, update.call)
        variables = given.get("var_list")
        if isinstance(variables, (ast.List, ast.Tuple)) and not variables.elts:
            raise Unsupported("a list of variables is empty", variables)
    if steps is None:
        return
    what = "minimize" if update.minimizes else "apply_gradients"
    own = class_of_optimizer(plan, update.optimizer, update.at)
    if own is not None and own[0].method("apply_gradients") is not None:
        if (counter := own[0].counter()) is not None:
            raise Unsupported("an optimizer class that counts the steps itself is not migrated yet", counter)
        given.pop("global_step", None)  # such a method does not count
    if "global_step" in given:
        _check_counted(plan, update)
    steps += "global_step" in given
    if steps != 1:
        problem = "never advances" if not steps else "advances more than once"
        where = " without global_step" if not steps else ""
        raise Unsupported(f"{what}(){where}: the step {problem}", update.call)


def loss_text(plan: Plan, given: ast.expr | None, at: Leaf, call: ast.Call) -> str:
    """How the train step writes the loss that gradients are of. Raises Unsupported for what is no loss of the model."""
    loss, spec = plan.field("train", "loss"), plan.specs["train"].leaf
    if isinstance(given, ast.List) and len(given.elts) == 1:
        given = given.elts[0]
    if given is not None and loss is not None and same_value(plan, given, at, loss, spec):
        return 'losses["loss"]' if plan.partial_losses else "loss"
    if isinstance(given, ast.Name) and given.id in plan.partial_losses:
        return f'losses["{given.id}"]'
    raise Unsupported("the train op minimizes something else than the loss of the spec", call)
