"""Writes train ops that run under a condition, or that add gradients up, in the order of the program."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.conditionalsteps import arm_of, condition_of
from migrator.analyse.training.stepcount import counts_step
from migrator.analyse.training.sums import change_lines
from migrator.emit.writer import trimmed

if TYPE_CHECKING:
    from migrator.emit.methods.trainstep import TrainStepWriter

_GROUP, _NO_OP, _DEPENDENCIES = "tensorflow.group", "tensorflow.no_op", "tensorflow.control_dependencies"


def op_lines(writer: TrainStepWriter, node: ast.expr, indent: str) -> list[str]:
    """The statements that do what an op does, without what other statements of the program make of it."""
    node = node.value if isinstance(node, ast.Starred) else node
    change = next((change for change in writer.train_op.changes if change.node is node), None)
    if change is not None:
        return change_lines(writer, change, indent)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [line for part in node.elts for line in op_lines(writer, part, indent)]
    if isinstance(node, ast.Call) and node in writer.updates:
        return [indent + line for line in writer.text(node).split("\n")]
    if isinstance(node, ast.Call) and writer.resolve(node.func) == _GROUP:
        return [line for part in node.args for line in op_lines(writer, part, indent)]
    known = isinstance(node, ast.Name) or (isinstance(node, ast.Call) and writer.resolve(node.func) == _NO_OP)
    counted = node.value if isinstance(node, ast.Attribute) and node.attr == "op" else node
    if known or (isinstance(counted, ast.Call) and counts_step(writer.model, counted, writer.at)):
        return []
    raise Unsupported("the train op does more than is seen", node)


def holds_op(writer: TrainStepWriter, node: ast.stmt) -> bool:
    """Whether a statement gives a name to changes of sums, alone or in a group."""
    held = {id(change.node) for change in writer.train_op.changes}
    return isinstance(node, (ast.Assign, ast.Expr, ast.Return)) and any(id(part) in held for part in ast.walk(node))


def dependency_lines(writer: TrainStepWriter, node: ast.With, indent: str) -> list[str]:
    """What the head of ``with tf.control_dependencies([total.assign_add(g) …])`` runs itself."""
    lines = []
    held = {id(change.node) for change in writer.train_op.changes} | set(map(id, writer.updates))
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and writer.resolve(call.func) == _DEPENDENCIES:
            for argument in call.args:
                if any(id(part) in held for part in ast.walk(argument)):
                    lines += op_lines(writer, argument, indent)
    return lines


def turn_lines(writer: TrainStepWriter, node: ast.If, arms: dict[str, list[str]], indent: str) -> list[str]:
    """A condition over tensors, whose arms become functions."""
    condition, train_op, unit = condition_of(writer.model, node), writer.train_op, writer.unit
    assert condition is not None
    names: list[str] = []
    lines: list[str] = []
    optimizers = list(dict.fromkeys(train_op.attribute(update) for update in train_op.updates))
    for arm, body in arms.items():
        mine = [update for update in train_op.updates if arm_of(update.at, node) == arm]
        stepped = {train_op.attribute(update) for update in mine}
        name = _name(writer, [ast.unparse(update.optimizer) for update in mine], names)
        names.append(name)
        counted = [f"{indent}{unit}self.{o}.iterations.assign_add(1)" for o in optimizers if o not in stepped]
        if counted:
            counted.insert(0, f"{indent}{unit}# a step of training all the same")
        lines += [f"{indent}def {name}():", *trimmed(body), *counted, ""]
    return ["", *lines, f"{indent}{writer.tf}.cond({writer.text(condition)}, {', '.join(names)})"]


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
