"""What an op of a training runs, its control dependencies included: updates, the count of the step, changes of sums."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.objects import reads_updates
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.training.conditionalsteps import condition_of
from migrator.analyse.training.stepcount import Counted, counts_in_turn, counts_step
from migrator.analyse.training.sums import Change, change_of
from migrator.analyse.training.updates import Update, is_method
from migrator.analyse.variables.averages import Averages, kept_averages
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.plan import Plan

DEPENDENCIES = "tensorflow.control_dependencies"
GROUP = "tensorflow.group"
_NO_OP = "tensorflow.no_op"
_COLLECTION = "tensorflow.get_collection"


@dataclass(frozen=True)
class Part:
    """One thing that the train op runs: an update, a step of the global step, averages of weights, a change of sums of
    gradients, or the UPDATE_OPS."""

    update: Update | None = None
    advances: ast.Call | None = None
    """What counts the global step."""
    counted: Counted | None = None
    """In which turn it does; None where in each."""
    averages: Averages | None = None
    change: Change | None = None

    @property
    def runs_updates(self) -> bool:
        """Whether it is the UPDATE_OPS."""
        return self.op is None

    @property
    def op(self) -> ast.expr | None:
        """The op itself; None for the UPDATE_OPS."""
        if self.update is not None:
            return self.update.call
        if self.averages is not None:
            return self.averages.call
        return self.change.node if self.change is not None else self.advances


def ways(plan: Plan, node: ast.expr, at: Leaf) -> list[list[Part]]:
    """What an op runs: one list of parts for each way that static conditions may take."""
    value, where = plan.followed_in(node, at, "train")
    if isinstance(value, ast.Name):
        sources = _last(plan.slicer.reaching(value.id, where.index, "train", where), value.id)
        assigned = [(assign, leaf) for leaf in sources for assign in _assignments(leaf.node, value.id)]
        once = all(isinstance(leaf.node, (ast.Assign, ast.If)) and not leaf.loops for leaf in sources)
        if not assigned or not once:
            raise Unsupported("the train op is not seen to be `optimizer.minimize(loss)`", node)
        return [way for assign, leaf in assigned for way in ways(plan, assign.value, leaf)]
    assert value is not None
    if _only_updates(plan, value, where):
        return [[Part()]]
    before = dependencies(plan, where, value)
    if isinstance(value, ast.Attribute) and value.attr == "op" and isinstance(value.value, ast.Call):
        value = value.value if counts_step(plan, value.value, where) else value
    if is_method(value, "minimize", "apply_gradients"):
        assert isinstance(value, ast.Call)
        if any(part is value for scope in where.scopes for item in scope.items for part in walk(item)):
            raise Unsupported("a control dependency without a name is not migrated yet", value)
        return _joined([before, [[Part(Update(value, where))]]])
    if isinstance(value, ast.Call) and plan.module.resolve(value.func) == GROUP:
        inner = [e for a in value.args for e in _elements(plan, a, where)]
        return _joined([before, *(ways(plan, part, at) for part, at in inner)])
    if isinstance(value, ast.Call) and counts_step(plan, value, where):
        return _joined([before, [[Part(advances=value)]]])
    counted = counts_in_turn(plan, value, where) if isinstance(value, ast.Call) else None
    if counted is not None:
        assert isinstance(value, ast.Call)
        return _joined([before, [[Part(advances=value, counted=counted)]]])
    change = change_of(plan, value, where)
    if change is not None:
        return _joined([before, [[Part(change=change)]]])
    if isinstance(value, ast.Call) and plan.module.resolve(value.func) == _NO_OP:
        if before != [[]] or any(condition_of(plan, frame.node) is not None for frame in where.arms):
            return before
    steps_at = [part.update.at for way in before for part in way if part.update is not None]
    averages = kept_averages(plan, value, where, steps_at)
    if averages is not None:
        if not all(any(part.update is not None for part in way) for way in before):
            raise Unsupported("averages of weights are not seen to follow the step", value)
        return _joined([before, [[Part(averages=averages)]]])
    if node is plan.field("train", "train_op"):
        raise Unsupported("the train op is not seen to be `optimizer.minimize(loss)`", node)
    raise Unsupported("the train op does more than to minimize the loss", node)


def _last(leaves: list[Leaf], name: str) -> list[Leaf]:
    """Leaves that may give a name its value, without those after which another one in the same arm does."""
    return [
        leaf
        for leaf in leaves
        if not any(
            other.index > leaf.index and name in other.kills and all(frame in leaf.arms for frame in other.arms)
            for other in leaves
        )
    ]


def _elements(plan: Plan, node: ast.expr, at: Leaf) -> list[tuple[ast.expr, Leaf]]:
    """The parts of an argument of ``tf.group`` or of control dependencies, which take lists, and where each stands."""
    node = node.value if isinstance(node, ast.Starred) else node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_elements(plan, node.left, at), *_elements(plan, node.right, at)]
    if isinstance(node, ast.Name):
        return _gathered(plan, node, at) or [(node, at)]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [e for part in node.elts for e in _elements(plan, part, at)]
    return [(node, at)]


def parts_of(node: ast.expr) -> list[ast.expr]:
    """The parts of an argument of ``tf.group`` that are written in it."""
    return (
        [part for each in node.elts for part in parts_of(each)] if isinstance(node, (ast.List, ast.Tuple)) else [node]
    )


def _gathered(plan: Plan, node: ast.Name, at: Leaf) -> list[tuple[ast.expr, Leaf]]:
    """What a list holds that a literal begins and ``train_ops.append(…)`` goes on with; nothing for other names."""
    found: list[tuple[ast.expr, Leaf]] = []
    leaves = sorted(plan.slicer.reaching(node.id, at.index, "train", at), key=lambda leaf: leaf.index)
    for leaf in leaves:
        value = appended(leaf.node, node.id)
        if isinstance(leaf.node, ast.Assign) and isinstance(leaf.node.value, (ast.List, ast.Tuple)):
            found += _elements(plan, leaf.node.value, leaf)
        elif value is not None and not leaf.loops and leaf.guard >= plan.specs["train"].leaf.guard:
            found += _elements(plan, value, leaf)
        else:
            return []
    return found


def appended(node: ast.AST, name: str | None = None) -> ast.expr | None:
    """``op`` of ``train_ops.append(op)``, or ``ops`` of ``train_ops.extend(ops)`` and ``train_ops += ops``, starred."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
        same = name is None or node.target.id == name
        return ast.copy_location(ast.Starred(node.value, ast.Load()), node) if same else None
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not is_method(call, "append", "extend") or len(call.args) != 1:
        return None
    assert isinstance(call.func, ast.Attribute)
    if name is not None and ast.unparse(call.func.value) != name:
        return None
    several = call.func.attr == "extend"
    return ast.copy_location(ast.Starred(call.args[0], ast.Load()), call) if several else call.args[0]


def _assignments(statement: ast.stmt, name: str) -> Iterator[ast.Assign]:
    for child in walk(statement):
        if isinstance(child, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in child.targets):
            yield child


def _joined(parts: list[list[list[Part]]]) -> list[list[Part]]:
    """All combinations of ways, with each op once."""
    found = []
    for chosen in itertools.product(*parts):
        ops = {part.op: part for way in chosen for part in way}
        found.append(list(ops.values()))
    return found


def dependencies(plan: Plan, at: Leaf, value: ast.expr | None = None) -> list[list[Part]]:
    """What the control dependencies around a leaf run before it, and around the gradients that it applies (`value`)."""
    calls: dict[ast.expr, Leaf] = {}
    names = reads(value) if value is not None and is_method(value, "minimize", "apply_gradients") else ()
    gradients = {leaf for name in names for leaf in plan.slicer.closure([name], at.index, "train", at)}
    for leaf in [at, *sorted(gradients & plan.gradients, key=lambda leaf: leaf.index)]:
        heads = [item.context_expr for scope in leaf.scopes for item in scope.items]
        inside = next((n for n, head in enumerate(heads) if any(part is value for part in walk(head))), len(heads))
        for call in heads[:inside]:  # those around the head that `value` stands in
            if isinstance(call, ast.Call) and plan.module.resolve(call.func) == DEPENDENCIES:
                calls[call] = leaf
    parts: list[list[list[Part]]] = [[[]]]
    for call, leaf in calls.items():
        assert isinstance(call, ast.Call)
        for argument in call.args:
            if _only_updates(plan, argument, leaf):
                parts.append([[Part()]])
                continue
            for element, place in _elements(plan, argument, leaf):
                try:
                    parts.append(ways(plan, element, place))
                except Unsupported as problem:
                    raise Unsupported(
                        "a control dependency that is more than UPDATE_OPS is not migrated yet", call
                    ) from problem
    return _joined(parts)


def waits_for_updates(plan: Body, scope: ast.With, at: Leaf) -> bool:
    """Whether control dependencies around a leaf are the UPDATE_OPS alone."""
    calls = [item.context_expr for item in scope.items if isinstance(item.context_expr, ast.Call)]
    waits = [call for call in calls if plan.module.resolve(call.func) == DEPENDENCIES]
    return bool(waits) and all(_only_updates(plan, argument, at) for call in waits for argument in call.args)


def _only_updates(plan: Body, node: ast.expr, at: Leaf) -> bool:
    """Whether an expression is the collection of update ops, which Keras layers run by themselves."""
    value, at = plan.followed_in(node, at, "train")
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(_only_updates(plan, e, at) for e in value.elts)
    if isinstance(value, ast.Starred):
        return _only_updates(plan, value.value, at)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return _only_updates(plan, value.left, at) and _only_updates(plan, value.right, at)
    if value is not None and reads_updates(plan, value, at):
        return True
    if not isinstance(value, ast.Call):
        return False
    if plan.module.resolve(value.func) == GROUP:
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
