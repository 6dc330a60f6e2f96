"""What the train op of a spec does: which optimizers take a step, on which gradients."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.modelfn.averages import Averages, kept_averages
from migrator.modelfn.errors import Unsupported
from migrator.modelfn.flow import Leaf
from migrator.modelfn.names import reads
from migrator.modelfn.optimizerclass import class_of_optimizer, is_training
from migrator.modelfn.stepcount import counts_step, is_step
from migrator.modelfn.translate import bind, is_none
from migrator.syntax import walk

if TYPE_CHECKING:
    from migrator.modelfn.body import Body
    from migrator.modelfn.plan import Plan

GRADIENTS = "tensorflow.gradients"
DEPENDENCIES = "tensorflow.control_dependencies"
_GROUP = "tensorflow.group"
_NO_OP = "tensorflow.no_op"
_COLLECTION = "tensorflow.get_collection"
_MINIMIZE = "loss global_step var_list gate_gradients aggregation_method colocate_gradients_with_ops name grad_loss"
_APPLY = "grads_and_vars global_step name"
_COMPUTE = "loss var_list gate_gradients aggregation_method colocate_gradients_with_ops grad_loss"
_DIFFERENTIATE = (
    "ys xs grad_ys name colocate_gradients_with_ops gate_gradients aggregation_method stop_gradients "
    "unconnected_gradients"
)
# They say how TF1 schedules the work, not what is computed.
_SCHEDULING = frozenset({"gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "name"})


@dataclass(frozen=True)
class Update:
    """A step of one optimizer: ``optimizer.minimize(…)`` or ``optimizer.apply_gradients(…)`` in the leaf `at`."""

    call: ast.Call
    at: Leaf

    @property
    def optimizer(self) -> ast.expr:
        """The optimizer."""
        assert isinstance(self.call.func, ast.Attribute)
        return self.call.func.value

    @property
    def minimizes(self) -> bool:
        """Whether the call takes the gradients itself."""
        assert isinstance(self.call.func, ast.Attribute)
        return self.call.func.attr == "minimize"

    def arguments(self) -> dict[str, ast.expr]:
        """Arguments that say what is computed."""
        return minimize_arguments(self.call) if self.minimizes else _computed(self.call, _APPLY, "apply_gradients")


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

    def attribute(self, update: Update) -> str:
        """The attribute of the model that holds the optimizer of an update."""
        return next((name for other, name in self.others if other is update), "optimizer")


@dataclass(frozen=True)
class _Part:
    """One thing that the train op runs: an update, a step of the global step, averages of weights, or the UPDATE_OPS."""

    update: Update | None = None
    advances: bool = False
    averages: Averages | None = None

    @property
    def runs_updates(self) -> bool:
        """Whether it is the UPDATE_OPS."""
        return self.update is None and not self.advances and self.averages is None


def minimize_arguments(call: ast.Call) -> dict[str, ast.expr]:
    """What ``minimize`` is given."""
    return _computed(call, _MINIMIZE, "minimize")


def gradient_arguments(call: ast.Call) -> dict[str, ast.expr]:
    """What ``optimizer.compute_gradients`` is given."""
    return _computed(call, _COMPUTE, "compute_gradients")


def differentiation_arguments(call: ast.Call) -> dict[str, ast.expr]:
    """What ``tf.gradients`` is given."""
    return _computed(call, _DIFFERENTIATE, "tf.gradients")


def _computed(call: ast.Call, signature: str, what: str) -> dict[str, ast.expr]:
    given = {name: value for name, value in bind(call, signature, what).items() if name not in _SCHEDULING}
    for name in ("grad_loss", "grad_ys", "stop_gradients", "unconnected_gradients"):
        if not is_none(given.pop(name, None)):
            raise Unsupported(f"`{name}` of {what} is not migrated yet", call)
    return {name: value for name, value in given.items() if not is_none(value)}


def is_method(node: ast.AST | None, *names: str) -> bool:
    """Whether a node is a call of a method of one of these names."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names


def gradient_leaves(body: Body) -> set[Leaf]:
    """Leaves that compute with gradients, and what depends on them."""
    found: set[Leaf] = set()
    changed = True
    while changed:
        changed = False
        for leaf in body.flow.leaves:
            if leaf in found or leaf.mode_only or "train" not in leaf.modes or isinstance(leaf.node, ast.Return):
                continue
            own = any(
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
    ways = _ways(plan, node, plan.specs["train"].leaf)
    updates: dict[ast.Call, Update] = {}
    main: Update | None = None
    for way in ways:
        mine = [part.update for part in way if part.update is not None]
        if not mine:
            raise Unsupported("the train op is not seen to be `optimizer.minimize(loss)`", node)
        steps = sum(part.advances for part in way)
        if len(mine) > 1:
            main = _check_several(plan, mine, steps, len(ways))
        for update in mine:
            _check_update(plan, update, steps if len(mine) == 1 else None)
            updates[update.call] = update
        ran = any(part.runs_updates for part in way)
        if plan.updates_run and not ran and any(site.layer.moving for site in plan.sites):
            raise Unsupported("UPDATE_OPS are collected, but the train op does not run them", mine[0].call)
    ordered = sorted(updates.values(), key=lambda update: update.at.index)
    averages = [part.averages for way in ways for part in way if part.averages is not None]
    if averages:
        if len(ordered) > 1 or len(averages) > 1:
            raise Unsupported("averages of weights beside several train ops are not migrated yet", averages[0].call)
        return TrainOp(tuple(ordered), plain=False, averages=averages[0])
    if main is not None:
        return TrainOp(tuple(ordered), plain=False, others=_attributes(plan, ordered, main))
    whole = all(update.minimizes and "var_list" not in update.arguments() for update in ordered)
    plain = whole and not plan.partial_losses
    if len({ast.dump(update.optimizer) for update in ordered}) > 1:
        if not plain or not all(isinstance(u.at.node, ast.Assign) and u.at.node.value is u.call for u in ordered):
            raise Unsupported("several optimizers are not migrated yet", ordered[1].call)
        if plan.is_local("optimizer"):
            raise Unsupported("`optimizer` is a name that the generated function needs", ordered[0].call)
        return TrainOp(tuple(ordered), plain=True, choice=True)
    return TrainOp(tuple(ordered), plain)


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
            name = node.id if isinstance(node, ast.Name) and node.id != "optimizer" else f"optimizer_{len(found) + 2}"
            if any(site.attribute == name for site in plan.sites) or name in plan.statics:
                name += "_"
            found.append((update, name))
    return tuple(found)


def _check_counted(plan: Plan, update: Update) -> None:
    step = update.arguments().get("global_step")
    if step is not None and not is_step(plan, step, update.at):
        what = "minimize" if update.minimizes else "apply_gradients"
        raise Unsupported(f"{what}() counts something else than the global step", step)


def _check_update(plan: Plan, update: Update, steps: int | None) -> None:
    """Refuse an update that is not all there is to a step; `steps` is how often the train op itself counts one, None where
    other updates count too."""
    given = update.arguments()
    if update.minimizes:
        loss_text(plan, given.get("loss"), update.at, update.call)
        variables = given.get("var_list")
        if isinstance(variables, (ast.List, ast.Tuple)) and not variables.elts:
            raise Unsupported("a list of variables is empty", variables)
    if steps is None:
        return
    what = "minimize" if update.minimizes else "apply_gradients"
    if class_of_optimizer(plan, update.optimizer, update.at) is not None:
        given.pop("global_step", None)  # such a class does not count
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


def same_value(plan: Plan, one: ast.expr, one_at: Leaf, other: ast.expr, other_at: Leaf) -> bool:
    """Whether two expressions stand for one value: the same text, and no name in it rebound in between."""
    if ast.dump(one) != ast.dump(other):
        first, first_at = plan.followed_in(one, one_at, "train")
        second, second_at = plan.followed_in(other, other_at, "train")
        return first is second and first_at is second_at
    return all(
        plan.slicer.reaching(name, one_at.index, "train", one_at)
        == plan.slicer.reaching(name, other_at.index, "train", other_at)
        for name in reads(one)
    )


def _ways(plan: Plan, node: ast.expr, at: Leaf) -> list[list[_Part]]:
    """What an op runs: one list of parts for each way that static conditions may take."""
    value, where = plan.followed_in(node, at, "train")
    if isinstance(value, ast.Name):
        sources = plan.slicer.reaching(value.id, where.index, "train", where)
        assigned = [(assign, leaf) for leaf in sources for assign in _assignments(leaf.node, value.id)]
        once = all(isinstance(leaf.node, (ast.Assign, ast.If)) and not leaf.loops for leaf in sources)
        if not assigned or not once:
            raise Unsupported("the train op is not seen to be `optimizer.minimize(loss)`", node)
        return [way for assign, leaf in assigned for way in _ways(plan, assign.value, leaf)]
    assert value is not None
    if _only_updates(plan, value, where):
        return [[_Part()]]
    before = _dependencies(plan, where, value)
    if isinstance(value, ast.Attribute) and value.attr == "op" and isinstance(value.value, ast.Call):
        value = value.value if counts_step(plan, value.value, where) else value
    if is_method(value, "minimize", "apply_gradients"):
        assert isinstance(value, ast.Call)
        return _joined([before, [[_Part(Update(value, where))]]])
    if isinstance(value, ast.Call) and plan.module.resolve(value.func) == _GROUP:
        inner = [e for a in value.args for e in _elements(plan, a, where)]
        return _joined([before, *(_ways(plan, part, at) for part, at in inner)])
    if isinstance(value, ast.Call) and counts_step(plan, value, where):
        return _joined([before, [[_Part(advances=True)]]])
    if isinstance(value, ast.Call) and plan.module.resolve(value.func) == _NO_OP and before != [[]]:
        return before
    averages = kept_averages(plan, value, where)
    if averages is not None:
        if not all(any(part.update is not None for part in way) for way in before):
            raise Unsupported("averages of weights are not seen to follow the step", value)
        return _joined([before, [[_Part(averages=averages)]]])
    if node is plan.field("train", "train_op"):
        raise Unsupported("the train op is not seen to be `optimizer.minimize(loss)`", node)
    raise Unsupported("the train op does more than to minimize the loss", node)


def _elements(plan: Plan, node: ast.expr, at: Leaf) -> list[tuple[ast.expr, Leaf]]:
    """The parts of an argument of ``tf.group``, which takes nested lists, and where each stands."""
    node = node.value if isinstance(node, ast.Starred) else node
    if isinstance(node, ast.Name):
        return _gathered(plan, node, at) or [(node, at)]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [e for part in node.elts for e in _elements(plan, part, at)]
    return [(node, at)]


def _gathered(plan: Plan, node: ast.Name, at: Leaf) -> list[tuple[ast.expr, Leaf]]:
    """What a list holds that a literal begins and ``train_ops.append(…)`` goes on with; nothing for other names."""
    found: list[tuple[ast.expr, Leaf]] = []
    leaves = sorted(plan.slicer.reaching(node.id, at.index, "train", at), key=lambda leaf: leaf.index)
    for leaf in leaves:
        value = appended(leaf.node, node.id)
        if isinstance(leaf.node, ast.Assign) and isinstance(leaf.node.value, (ast.List, ast.Tuple)):
            found += _elements(plan, leaf.node.value, leaf)
        elif value is not None and not leaf.loops and leaf.guard >= plan.specs["train"].leaf.guard:
            found.append((value, leaf))
        else:
            return []
    return found


def appended(node: ast.AST, name: str | None = None) -> ast.expr | None:
    """``op`` of ``train_ops.append(op)``."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not is_method(call, "append") or len(call.args) != 1:
        return None
    assert isinstance(call.func, ast.Attribute)
    return call.args[0] if name is None or ast.unparse(call.func.value) == name else None


def _assignments(statement: ast.stmt, name: str) -> Iterator[ast.Assign]:
    for child in walk(statement):
        if isinstance(child, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in child.targets):
            yield child


def _joined(parts: list[list[list[_Part]]]) -> list[list[_Part]]:
    return [[part for way in chosen for part in way] for chosen in itertools.product(*parts)]


def _dependencies(plan: Plan, at: Leaf, value: ast.expr) -> list[list[_Part]]:
    """What the control dependencies around a leaf run before it, and around the gradients that it applies."""
    calls: dict[ast.expr, Leaf] = {}
    gradients = {leaf for name in reads(value) for leaf in plan.slicer.closure([name], at.index, "train", at)}
    for leaf in [at, *sorted(gradients & plan.gradients, key=lambda leaf: leaf.index)]:
        for frame in leaf.frames:
            for item in frame.node.items if isinstance(frame.node, ast.With) else []:
                call = item.context_expr
                if isinstance(call, ast.Call) and plan.module.resolve(call.func) == DEPENDENCIES:
                    if any(part is value for part in walk(call)):
                        raise Unsupported("a control dependency without a name is not migrated yet", value)
                    calls[call] = leaf
    parts: list[list[list[_Part]]] = [[[]]]
    for call, leaf in calls.items():
        assert isinstance(call, ast.Call)
        for argument in call.args:
            if _only_updates(plan, argument, leaf):
                parts.append([[_Part()]])
                continue
            for element in argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]:
                try:
                    parts.append(_ways(plan, element, leaf))
                except Unsupported as problem:
                    raise Unsupported(
                        "a control dependency that is more than UPDATE_OPS is not migrated yet", call
                    ) from problem
    return _joined(parts)


def _only_updates(plan: Plan, node: ast.expr, at: Leaf) -> bool:
    """Whether an expression is the collection of update ops, which Keras layers run by themselves."""
    value, at = plan.followed_in(node, at, "train")
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(_only_updates(plan, e, at) for e in value.elts)
    if isinstance(value, ast.Starred):
        return _only_updates(plan, value.value, at)
    if not isinstance(value, ast.Call):
        return False
    if plan.module.resolve(value.func) == _GROUP:
        return bool(value.args) and all(_only_updates(plan, a, at) for a in value.args)
    if plan.module.resolve(value.func) != _COLLECTION or len(value.args) + len(value.keywords) != 1:
        return False
    moving = [site for site in plan.sites if site.layer.moving is not None and site.leaf.index > at.index]
    if moving:
        raise Unsupported("UPDATE_OPS are collected before the layer is made", value)
    key = value.args[0] if value.args else None
    if isinstance(key, ast.Constant):
        return key.value == "update_ops"
    return key is not None and (plan.module.resolve(key) or "").endswith(".UPDATE_OPS")
