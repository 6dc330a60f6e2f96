"""Gradients that are clipped, or taken as they are, and nothing else: no `train_step`, but an argument of the optimizer.

The optimizers of Keras clip as the program does, before rows of one id are added up, and pass over variables without gradients.
On several replicas they clip the sum of all gradients, where the program clipped those of each.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.training.optimizervalues import values_of
from migrator.analyse.training.scaledlosses import scaled
from migrator.analyse.training.trainop import TrainOp, loss_text
from migrator.analyse.training.trainways import same_value
from migrator.analyse.training.updates import (
    GRADIENTS,
    Clipping,
    Update,
    differentiation_arguments,
    gradient_arguments,
    is_method,
)
from migrator.resolve.parsing import expression_tree

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan


def with_clipping(plan: Plan, train_op: TrainOp, alone: bool) -> TrainOp:
    """The train op as one that minimizes the loss with an optimizer that clips, if that is all that it does.

    `alone`: the program trains on one replica. On several, the train op stays, unless it does nothing to the gradients.
    """
    if train_op.plain or train_op.others or train_op.condition or train_op.changes or train_op.averages:
        return train_op
    if len(train_op.updates) != 1 or train_op.updates[0].minimizes or plan.partial_losses:
        return train_op
    update = train_op.updates[0]
    try:
        found = _Chain(plan, update)
        found.pairs(update.arguments()["grads_and_vars"], update.at)
    except (_Other, Unsupported, KeyError):
        return train_op
    inside = {update.at, *found.leaves}
    others = [leaf for leaf in plan.gradients if leaf not in inside and "train" in leaf.modes]
    if others or (found.limit is not None and not alone):
        return train_op
    if found.limit is None:
        return replace(train_op, plain=True)
    limit, at = found.limit
    makers = values_of(plan, update.optimizer, update.at)
    optimizers = [node for node, _ in makers if isinstance(node, ast.Call)]
    known = all(plan.module.resolve(node.func) in plan.translations.optimizers for node in optimizers)
    stays = all(same_value(plan, limit, at, limit, leaf) for _, leaf in makers)
    if len(optimizers) < len(makers) or not known or not stays or plan.times.of(limit) is not Time.STATIC:
        return train_op
    leaves = tuple(sorted(found.leaves, key=lambda leaf: leaf.index))
    return replace(train_op, plain=True, clipping=Clipping(found.argument, limit, frozenset(optimizers), leaves))


class _Other(Exception):
    """Something else is done with the gradients."""


@dataclass
class _Chain:
    """Follows gradients from the step of the optimizer back to the loss."""

    plan: Plan
    update: Update
    argument: str = ""
    limit: tuple[ast.expr, Leaf] | None = None
    leaves: set[Leaf] = field(default_factory=set)

    def pairs(self, node: ast.expr, at: Leaf) -> None:
        """Pairs of a gradient and its variable, of all variables. Raises _Other."""
        if isinstance(node, ast.Name):
            leaf, statement = self._definition(node, at)
            if not isinstance(statement.targets[0], ast.Name):
                raise _Other
            self.pairs(statement.value, leaf)
        elif isinstance(node, ast.ListComp):
            generator = self._generator(node)
            target, element = generator.target, node.elt
            if not isinstance(target, ast.Tuple) or not isinstance(element, ast.Tuple):
                raise _Other
            names = [part.id for part in target.elts if isinstance(part, ast.Name)]
            if len(names) != 2 or len(target.elts) != 2 or len(element.elts) != 2:
                raise _Other
            if not isinstance(element.elts[1], ast.Name) or element.elts[1].id != names[1]:
                raise _Other
            self._present(generator, names[0])
            self._clipped(element.elts[0], names[0], at)
            self.pairs(generator.iter, at)
        elif is_method(node, "compute_gradients"):
            self._computed(node, at)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id in ("list", "tuple") and len(node.args) == 1:
                self.pairs(node.args[0], at)
            elif node.func.id == "zip" and len(node.args) == 2:
                self.gradients(node.args[0], at)
                self._variables(node.args[1], at)
            else:
                raise _Other
        else:
            raise _Other

    def gradients(self, node: ast.expr, at: Leaf) -> None:
        """The gradients of all variables. Raises _Other."""
        if isinstance(node, ast.Name):
            leaf, statement = self._definition(node, at)
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                self.gradients(statement.value, leaf)
            elif not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != 2:
                raise _Other
            elif not isinstance(target.elts[0], ast.Name) or target.elts[0].id != node.id:
                raise _Other
            elif self._is(statement.value, "clip_by_global_norm"):
                self._by_global_norm(statement.value, leaf)
            else:
                self._unzipped(statement.value, leaf)
        elif isinstance(node, ast.ListComp):
            generator = self._generator(node)
            if not isinstance(generator.target, ast.Name) or generator.ifs:
                raise _Other
            self._clipped(node.elt, generator.target.id, at)
            self.gradients(generator.iter, at)
        elif isinstance(node, ast.Subscript):
            index = node.slice
            if (
                not isinstance(index, ast.Constant)
                or index.value != 0
                or not self._is(node.value, "clip_by_global_norm")
            ):
                raise _Other
            self._by_global_norm(node.value, at)
        elif isinstance(node, ast.Call) and self.plan.module.resolve(node.func) == GRADIENTS:
            given = differentiation_arguments(node)
            self._loss(given.get("ys"), at, node)
            self._variables(given["xs"], at)
        else:
            raise _Other

    def _definition(self, name: ast.Name, at: Leaf) -> tuple[Leaf, ast.Assign]:
        """The one statement that gave a name its value, under no condition that the step is not under."""
        leaves = self.plan.slicer.reaching(name.id, at.index, "train", at)
        if len(leaves) != 1 or not isinstance(leaves[0].node, ast.Assign) or len(leaves[0].node.targets) != 1:
            raise _Other
        leaf = leaves[0]
        if any(not isinstance(frame.node, ast.With) for frame in leaf.frames if frame not in self.update.at.frames):
            raise _Other
        if leaf in self.plan.gradients:
            self.leaves.add(leaf)
        return leaf, leaf.node  # type: ignore[return-value]

    def _generator(self, node: ast.ListComp) -> ast.comprehension:
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise _Other
        return node.generators[0]

    def _present(self, generator: ast.comprehension, name: str) -> None:
        """Whether the loop takes all gradients, or all that there are."""
        wanted = ast.dump(expression_tree(f"{name} is not None"))
        if any(ast.dump(test) != wanted for test in generator.ifs):
            raise _Other

    def _clipped(self, node: ast.expr, name: str, at: Leaf) -> None:
        """What becomes of the gradient `name`: it is clipped, or stays."""
        if isinstance(node, ast.IfExp):  # a variable without a gradient stays without
            tests = {f"{name} is None": (node.body, node.orelse), f"{name} is not None": (node.orelse, node.body)}
            absent, present = tests.get(ast.unparse(node.test), (None, node))
            if not isinstance(absent, ast.Constant) and not (isinstance(absent, ast.Name) and absent.id == name):
                raise _Other
            node = present
        if isinstance(node, ast.Name) and node.id == name:
            return
        if not isinstance(node, ast.Call):
            raise _Other
        if self._is(node, "clip_by_norm"):
            given = bind(node, "t clip_norm axes name", "tf.clip_by_norm")
            if not is_none(given.get("axes")):
                raise _Other
            value, limit, argument = given["t"], given["clip_norm"], "clipnorm"
        elif self._is(node, "clip_by_value"):
            given = bind(node, "t clip_value_min clip_value_max name", "tf.clip_by_value")
            value, limit, argument = given["t"], given["clip_value_max"], "clipvalue"
            if not _is_negative(given["clip_value_min"], limit):
                raise _Other
        else:
            raise _Other
        if not isinstance(value, ast.Name) or value.id != name:
            raise _Other
        self._limited(argument, limit, at)

    def _by_global_norm(self, node: ast.expr, at: Leaf) -> None:
        assert isinstance(node, ast.Call)
        given = bind(node, "t_list clip_norm use_norm name", "tf.clip_by_global_norm")
        if not is_none(given.get("use_norm")):
            raise _Other
        self._limited("global_clipnorm", given["clip_norm"], at)
        self.gradients(given["t_list"], at)

    def _limited(self, argument: str, limit: ast.expr, at: Leaf) -> None:
        if self.limit is not None:
            raise _Other
        self.argument, self.limit = argument, (limit, at)

    def _is(self, node: ast.expr, name: str) -> bool:
        return isinstance(node, ast.Call) and self.plan.module.resolve(node.func) == f"tensorflow.{name}"

    def _unzipped(self, node: ast.expr, at: Leaf) -> None:
        """``zip(*optimizer.compute_gradients(loss))``."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple", "zip"):
            if len(node.args) == 1 and not node.keywords:
                inner = node.args[0]
                if node.func.id == "zip" and isinstance(inner, ast.Starred):
                    return self.pairs(inner.value, at)
                if node.func.id != "zip":
                    return self._unzipped(inner, at)
        raise _Other

    def _variables(self, node: ast.expr, at: Leaf) -> None:
        """All variables: those of the gradients that were unzipped, or a list of all."""
        if isinstance(node, ast.Name):
            leaf, statement = self._definition(node, at)
            target = statement.targets[0]
            if isinstance(target, (ast.Tuple, ast.List)):
                if len(target.elts) != 2 or not isinstance(target.elts[1], ast.Name) or target.elts[1].id != node.id:
                    raise _Other
                return self._unzipped(statement.value, leaf)
            return self._variables(statement.value, leaf)
        listed = isinstance(node, ast.Call) and self.plan.module.resolve(node.func) in self.plan.translations.variables
        if not listed or not isinstance(node, ast.Call) or node.args or node.keywords:
            raise _Other

    def _computed(self, node: ast.expr, at: Leaf) -> None:
        """``optimizer.compute_gradients(loss)`` of the optimizer that takes the step."""
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        given = gradient_arguments(node)
        self._loss(given.get("loss"), at, node)
        if not same_value(self.plan, node.func.value, at, self.update.optimizer, self.update.at):
            raise _Other
        if "var_list" in given:
            self._variables(given["var_list"], at)

    def _loss(self, loss: ast.expr | None, at: Leaf, call: ast.Call) -> None:
        if scaled(self.plan, loss, at) is not None or loss_text(self.plan, loss, at, call) != "loss":
            raise _Other


def _is_negative(lower: ast.expr, upper: ast.expr) -> bool:
    """Whether one limit is the other one with its sign."""
    if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub):
        return ast.dump(lower.operand) == ast.dump(upper)
    return False
