"""Steps of optimizers in a program, and what they are given."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.statements.flow import Leaf

GRADIENTS = "tensorflow.gradients"
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
class Clipping:
    """An argument that clips gradients."""

    argument: str
    """Its name: ``global_clipnorm``, ``clipnorm`` or ``clipvalue``."""
    limit: ast.expr
    optimizers: frozenset[ast.Call]
    """The calls that make the optimizers which take it."""
    leaves: tuple[Leaf, ...]
    """The statements that it stands for, without the step of the optimizer."""


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
