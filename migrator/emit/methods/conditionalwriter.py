"""Writes train ops that run under a condition, or that add gradients up, in the order of the program."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.conditionalsteps import arm_of, condition_of
from migrator.analyse.training.counters import is_read
from migrator.analyse.training.stepcount import counts_in_turn, counts_step
from migrator.analyse.training.sums import change_lines
from migrator.rewrite import Row, defined, rows, trimmed

if TYPE_CHECKING:
    from migrator.emit.methods.trainstep import TrainStepWriter

_GROUP, _NO_OP, _DEPENDENCIES = "tensorflow.group", "tensorflow.no_op", "tensorflow.control_dependencies"


def op_rows(writer: TrainStepWriter, node: ast.expr) -> list[Row]:
    """The statements that do what an op does, without what other statements of the program make of it."""
    node = node.value if isinstance(node, ast.Starred) else node
    change = next((change for change in writer.train_op.changes if change.node is node), None)
    if change is not None:
        return writer.lines(*change_lines(writer, change))
    if isinstance(node, (ast.List, ast.Tuple)):
        return [row for part in node.elts for row in op_rows(writer, part)]
    if isinstance(node, ast.Call) and node in writer.updates:
        return writer.lines(*writer.text(node).split("\n"))
    if isinstance(node, ast.Call) and writer.resolve(node.func) == _GROUP:
        return [row for part in node.args for row in op_rows(writer, part)]
    known = isinstance(node, ast.Name) or (isinstance(node, ast.Call) and writer.resolve(node.func) == _NO_OP)
    counted = node.value if isinstance(node, ast.Attribute) and node.attr == "op" else node
    if known or (isinstance(counted, ast.Call) and _counts(writer, counted)):
        return []
    raise Unsupported("the train op does more than is seen", node)


def _counts(writer: TrainStepWriter, call: ast.Call) -> bool:
    """Whether a call counts the global step, which the optimizer does."""
    return counts_step(writer.model, call, writer.at) or counts_in_turn(writer.model, call, writer.at) is not None


def holds_op(writer: TrainStepWriter, node: ast.stmt) -> bool:
    """Whether a statement gives a name to changes of sums, alone or in a group."""
    held = {id(change.node) for change in writer.train_op.changes if not is_read(writer.model, change)}
    return isinstance(node, (ast.Assign, ast.Expr, ast.Return)) and any(id(part) in held for part in ast.walk(node))


def dependency_rows(writer: TrainStepWriter, node: ast.With) -> list[Row]:
    """What the head of ``with tf.control_dependencies([total.assign_add(g) …])`` runs itself."""
    found: list[Row] = []
    held = {id(change.node) for change in writer.train_op.changes} | set(map(id, writer.updates))
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and writer.resolve(call.func) == _DEPENDENCIES:
            for argument in call.args:
                if any(id(part) in held for part in ast.walk(argument)):
                    found += op_rows(writer, argument)
    return found


def turn_rows(writer: TrainStepWriter, node: ast.If, arms: dict[str, list[Row]]) -> list[Row]:
    """A condition over tensors, whose arms become functions."""
    condition, train_op = condition_of(writer.model, node), writer.train_op
    assert condition is not None
    names: list[str] = []
    found: list[Row] = rows([""])
    optimizers = list(dict.fromkeys(train_op.attribute(update) for update in train_op.updates))
    for arm, body in arms.items():
        mine = [update for update in train_op.updates if arm_of(update.at, node) == arm]
        stepped = {train_op.attribute(update) for update in mine}
        body, optimized = trimmed(body), [ast.unparse(update.optimizer) for update in mine]
        counted = [f"self.{o}.iterations.assign_add(1)" for o in optimizers if o not in stepped and not train_op.pauses]
        remark = ["# a step of training all the same"] if counted else []
        if not body and not counted:
            names.append("lambda: None")
            continue
        names.append(_name(writer, optimized, names))
        found += [defined(f"def {names[-1]}()", [*body, *rows([*remark, *counted])]), *rows([""])]
    return [*found, *writer.lines(f"{writer.tf}.cond({writer.text(condition)}, {', '.join(names)})")]


def _name(writer: TrainStepWriter, optimizers: list[str], taken: list[str]) -> str:
    """A name for the function of one arm: after its optimizer, where each arm has one."""
    stem = re.sub(r"_?(train_)?(optimizer|opt)_?", "", optimizers[0]) if len(optimizers) == 1 else ""
    several = len(writer.train_op.others) > 0
    first = f"{stem}_step" if several and stem.isidentifier() else ("step" if optimizers else "skip")
    others = (f"take_{first}", *(f"{first}_{number}" for number in range(2, 10)))
    return next(
        name
        for name in (first, *others)
        if name not in taken and not writer.model.is_local(name) and name not in writer.model.statics
    )
