"""`tf.train.*Optimizer` and the learning rate schedules inside a model_fn.

The Keras class is taken where it computes the same for the model at hand, with each argument whose default differs. Where it
does not, a class is vendored, and with `--exact` one that runs the kernel of TensorFlow 1.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, format_call, is_empty

from . import contrib_optimizers, schedules
from .optimizer_calls import LOCK, given_to, vendored
from .schedules import renamed


def _keras(name: str, writing: Writing, arguments: list[tuple[str | None, str]]) -> str:
    return format_call(f"{writing.tf}.keras.optimizers.{name}", arguments)


def _summing(name: str, writing: Writing, arguments: list[tuple[str | None, str]]) -> str:
    """An optimizer of Keras that squares gradients: Keras 3 squares each of an id that a batch has several times, where
    TF1 and Keras 2 square their sum; a vendored class of that name sums them up."""
    if writing.fact("repeated") and writing.fact("keras 3"):
        return format_call(writing.need(name), arguments)
    return _keras(name, writing, arguments)


def _rate_stays(given: dict[str, ast.expr], writing: Writing) -> bool:
    """Whether the learning rate is seen to be the same in all steps."""
    rate = given.get("learning_rate")
    return rate is not None and writing.is_static(rate) and not writing.fact("scheduled")


def gradient_descent(call: ast.Call, writing: Writing) -> str:
    """SGD without momentum."""
    given = given_to(call, f"learning_rate {LOCK}", "GradientDescentOptimizer")
    return _keras("SGD", writing, renamed(given, writing, {"learning_rate": ""}))


def momentum(call: ast.Call, writing: Writing) -> str:
    """Momentum; Keras bakes the rate into the velocity and moves rows that a batch does not touch."""
    given = given_to(call, "learning_rate momentum use_locking name use_nesterov", "MomentumOptimizer")
    if _rate_stays(given, writing) and not writing.fact("sparse") and not writing.fact("exact"):
        names = {"learning_rate": "", "momentum": "momentum", "use_nesterov": "nesterov"}
        return _keras("SGD", writing, renamed(given, writing, names))
    names = {"learning_rate": "", "momentum": "momentum", "use_nesterov": "use_nesterov"}
    return format_call(writing.need("MomentumOptimizer"), renamed(given, writing, names))


def adagrad(call: ast.Call, writing: Writing) -> str:
    """Adagrad, with TF1's accumulator and without Keras's epsilon."""
    given = given_to(call, f"learning_rate initial_accumulator_value {LOCK}", "AdagradOptimizer")
    start = writing.text(given["initial_accumulator_value"]) if "initial_accumulator_value" in given else "0.1"
    rate = renamed(given, writing, {"learning_rate": ""})
    if writing.fact("exact") and writing.fact("repeated"):
        return format_call(writing.need("AdagradOptimizer"), [*rate, ("initial_accumulator_value", start)])
    return _summing("Adagrad", writing, [*rate, ("initial_accumulator_value", start), ("epsilon", "0.0")])


_MOMENTS = "learning_rate beta1 beta2 epsilon"
_exact_adam = vendored(
    "AdamOptimizer",
    f"{_MOMENTS} {LOCK}",
    {"learning_rate": "", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"},
)


def adam(call: ast.Call, writing: Writing) -> str | None:
    """Adam with TF1's epsilon; Keras computes the powers of the betas anew in each step, which rounds otherwise.

    It takes them to the number of all steps, where those of TF1 count the ones that it was applied in.
    """
    if writing.fact("exact") or writing.fact("conditional"):
        return _exact_adam(call, writing)
    given = given_to(call, f"{_MOMENTS} {LOCK}", "AdamOptimizer")
    arguments = renamed(given, writing, {"learning_rate": "", "beta1": "beta_1", "beta2": "beta_2"})
    epsilon = writing.text(given["epsilon"]) if "epsilon" in given else "1e-8"
    return _summing("Adam", writing, [*arguments, ("epsilon", epsilon)])


_FTRL = (
    "learning_rate learning_rate_power initial_accumulator_value l1_regularization_strength "
    "l2_regularization_strength l2_shrinkage_regularization_strength"
)
_FTRL_NAMES = {name: name if name != "learning_rate" else "" for name in _FTRL.split()}
_vendored_ftrl = vendored(
    "FtrlOptimizer",
    f"{_FTRL.rpartition(' ')[0]} use_locking name accum_name linear_name {_FTRL.rpartition(' ')[2]}",
    _FTRL_NAMES,
)


def ftrl(call: ast.Call, writing: Writing) -> str | None:
    """Ftrl; Keras computes all rows anew in each step, also those that a batch does not have.

    These stay as they are only where they began as zeros, the rate stays the same, and no shrinkage adds to their gradients.
    """
    signature = f"{_FTRL.rpartition(' ')[0]} use_locking name accum_name linear_name {_FTRL.rpartition(' ')[2]}"
    given = given_to(call, signature, "FtrlOptimizer")
    shrinks = not is_empty(given.get("l2_shrinkage_regularization_strength"))
    rows_stay = writing.fact("zero tables") and _rate_stays(given, writing) and not shrinks
    if writing.fact("exact") or (writing.fact("sparse") and not rows_stay) or set(given) - set(_FTRL_NAMES):
        return _vendored_ftrl(call, writing)
    return _keras("Ftrl", writing, renamed(given, writing, _FTRL_NAMES))


_L1_L2 = {name: name for name in ("l1_regularization_strength", "l2_regularization_strength")}


rmsprop = vendored(
    "RMSPropOptimizer",
    "learning_rate decay momentum epsilon use_locking centered name",
    {"learning_rate": "", "decay": "decay", "momentum": "momentum", "epsilon": "epsilon", "centered": "centered"},
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
