"""`tf.train.*Optimizer` and the learning rate schedules inside a model_fn.

The Keras class is taken where it computes the same; else the exact one is vendored (see migrator/runtime/optimizers.py).
Each hyper-parameter whose default differs is written out.
"""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import Expression, Writing, format_call

from . import contrib_optimizers, schedules
from .optimizer_calls import LOCK, given_to, vendored
from .schedules import renamed


def gradient_descent(call: ast.Call, writing: Writing) -> str:
    """SGD without momentum."""
    given = given_to(call, f"learning_rate {LOCK}", "GradientDescentOptimizer")
    return format_call(f"{writing.tf}.keras.optimizers.SGD", renamed(given, writing, {"learning_rate": ""}))


def momentum(call: ast.Call, writing: Writing) -> str:
    """Momentum; Keras bakes the rate into the velocity and moves rows that a batch does not touch."""
    given = given_to(call, "learning_rate momentum use_locking name use_nesterov", "MomentumOptimizer")
    rate = given.get("learning_rate")
    constant = (
        isinstance(writing.followed(rate), (ast.Constant, ast.Subscript, ast.Attribute)) if rate is not None else False
    )
    if constant and not writing.fact("sparse") and not writing.fact("scheduled"):
        names = {"learning_rate": "", "momentum": "momentum", "use_nesterov": "nesterov"}
        return format_call(f"{writing.tf}.keras.optimizers.SGD", renamed(given, writing, names))
    names = {"learning_rate": "", "momentum": "momentum", "use_nesterov": "use_nesterov"}
    return format_call(writing.need("MomentumOptimizer"), renamed(given, writing, names))


def adagrad(call: ast.Call, writing: Writing) -> str:
    """Adagrad, with TF1's accumulator and without Keras's epsilon.

    Keras 3 squares each gradient of a row that a batch looks up more than once, where TF1 squares their sum.
    """
    given = given_to(call, f"learning_rate initial_accumulator_value {LOCK}", "AdagradOptimizer")
    start = writing.text(given["initial_accumulator_value"]) if "initial_accumulator_value" in given else "0.1"
    rate = renamed(given, writing, {"learning_rate": ""})
    if writing.fact("sparse"):
        return format_call(writing.need("AdagradOptimizer"), [*rate, ("initial_accumulator_value", start)])
    rest: list[tuple[str | None, str]] = [("initial_accumulator_value", start), ("epsilon", "0.0")]
    return format_call(f"{writing.tf}.keras.optimizers.Adagrad", [*rate, *rest])


_L1_L2 = {name: name for name in ("l1_regularization_strength", "l2_regularization_strength")}


# Keras's Adam is equal for ten steps and 2e-5 off after a hundred; the kernel of TF1 is not.
adam = vendored(
    "AdamOptimizer",
    f"learning_rate beta1 beta2 epsilon {LOCK}",
    {"learning_rate": "", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"},
)
rmsprop = vendored(
    "RMSPropOptimizer",
    "learning_rate decay momentum epsilon use_locking centered name",
    {"learning_rate": "", "decay": "decay", "momentum": "momentum", "epsilon": "epsilon", "centered": "centered"},
)
ftrl = vendored(
    "FtrlOptimizer",
    "learning_rate learning_rate_power initial_accumulator_value l1_regularization_strength l2_regularization_strength "
    "use_locking name accum_name linear_name l2_shrinkage_regularization_strength",
    {
        n: n if n != "learning_rate" else ""
        for n in (
            "learning_rate learning_rate_power initial_accumulator_value l1_regularization_strength "
            "l2_regularization_strength l2_shrinkage_regularization_strength"
        ).split()
    },
)
adagrad_da = vendored(
    "AdagradDAOptimizer",
    "learning_rate global_step initial_gradient_squared_accumulator_value l1_regularization_strength "
    f"l2_regularization_strength {LOCK}",
    {
        "learning_rate": "",
        "initial_gradient_squared_accumulator_value": "initial_gradient_squared_accumulator_value",
        **_L1_L2,
    },
)
proximal_adagrad = vendored(
    "ProximalAdagradOptimizer",
    f"learning_rate initial_accumulator_value l1_regularization_strength l2_regularization_strength {LOCK}",
    {"learning_rate": "", "initial_accumulator_value": "initial_accumulator_value", **_L1_L2},
)
proximal_gradient_descent = vendored(
    "ProximalGradientDescentOptimizer",
    f"learning_rate l1_regularization_strength l2_regularization_strength {LOCK}",
    {"learning_rate": "", **_L1_L2},
)
adadelta = vendored(
    "AdadeltaOptimizer", f"learning_rate rho epsilon {LOCK}", {"learning_rate": "", "rho": "rho", "epsilon": "epsilon"}
)


def global_step(call: ast.Call, writing: Writing) -> str:
    """The number of optimizer steps."""
    if writing.where == "factory":
        raise Unsupported("the optimizer computes with the global step", call)
    return "self.optimizer.iterations"


_OPTIMIZERS: dict[str, Expression] = {
    "GradientDescentOptimizer": gradient_descent,
    "MomentumOptimizer": momentum,
    "AdamOptimizer": adam,
    "AdagradOptimizer": adagrad,
    "RMSPropOptimizer": rmsprop,
    "FtrlOptimizer": ftrl,
    "AdadeltaOptimizer": adadelta,
    "AdagradDAOptimizer": adagrad_da,
    "ProximalAdagradOptimizer": proximal_adagrad,
    "ProximalGradientDescentOptimizer": proximal_gradient_descent,
}
STEPS = frozenset(
    f"tensorflow.train.{n}" for n in ("get_global_step", "get_or_create_global_step", "create_global_step")
)
_RULES: dict[str, Expression] = {
    **{f"tensorflow.train.{name}": rule for name, rule in _OPTIMIZERS.items()},
    **contrib_optimizers.EXPRESSIONS,
}
OPTIMIZERS = frozenset(_RULES)

EXPRESSIONS: dict[str, Expression] = {
    **_RULES,
    **schedules.EXPRESSIONS,
    **dict.fromkeys(STEPS, global_step),
}
