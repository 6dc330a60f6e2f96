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
    said = isinstance(rate, ast.Constant)
    return said or (rate is not None and writing.is_static(rate) and not writing.fact("scheduled"))


def gradient_descent(call: ast.Call, writing: Writing) -> str:
    """SGD without momentum."""
    given = given_to(call, f"learning_rate {LOCK}", "GradientDescentOptimizer")
    return _keras("SGD", writing, renamed(given, writing, {"learning_rate": ""}))


def _exactly(exact: Expression, plain: Expression) -> Expression:
    """The kernel of TensorFlow 1 where the settings ask for it."""
    return lambda call, writing: (exact if writing.fact("exact") else plain)(call, writing)


_MOMENTUM = "learning_rate momentum use_locking name use_nesterov"
_exact_momentum = vendored(
    "MomentumOptimizer",
    _MOMENTUM,
    {"learning_rate": "", "momentum": "momentum", "use_nesterov": "use_nesterov"},
)


def momentum(call: ast.Call, writing: Writing) -> str:
    """Momentum; Keras bakes the rate into the velocity and moves rows that a batch does not touch."""
    given = given_to(call, _MOMENTUM, "MomentumOptimizer")
    arguments = renamed(given, writing, {"learning_rate": "", "momentum": "momentum", "use_nesterov": "nesterov"})
    if writing.fact("sparse"):
        return format_call(writing.need("LazyMomentum"), arguments)
    if _rate_stays(given, writing):
        return _keras("SGD", writing, arguments)
    return format_call(writing.need("Momentum"), arguments)


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
_FTRL_SIGNATURE = f"{_FTRL.rpartition(' ')[0]} use_locking name accum_name linear_name {_FTRL.rpartition(' ')[2]}"
_exact_ftrl = vendored("FtrlOptimizer", _FTRL_SIGNATURE, _FTRL_NAMES)


def ftrl(call: ast.Call, writing: Writing) -> str | None:
    """Ftrl; Keras computes all rows anew in each step, also those that a batch does not have.

    These stay as they are only where they began as zeros, the rate stays the same, and no shrinkage adds to their gradients.
    """
    given = given_to(call, _FTRL_SIGNATURE, "FtrlOptimizer")
    shrinks = not is_empty(given.get("l2_shrinkage_regularization_strength"))
    rows_stay = writing.fact("zero tables") and _rate_stays(given, writing) and not shrinks
    if writing.fact("exact") or set(given) - set(_FTRL_NAMES):
        return _exact_ftrl(call, writing)
    arguments = renamed(given, writing, _FTRL_NAMES)
    if writing.fact("sparse") and not rows_stay:
        return format_call(writing.need("LazyFtrl"), arguments)
    return _keras("Ftrl", writing, arguments)


_L1_L2 = {name: name for name in ("l1_regularization_strength", "l2_regularization_strength")}


_RMSPROP = "learning_rate decay momentum epsilon use_locking centered name"
_exact_rmsprop = vendored(
    "RMSPropOptimizer",
    _RMSPROP,
    {"learning_rate": "", "decay": "decay", "momentum": "momentum", "epsilon": "epsilon", "centered": "centered"},
)


def rmsprop(call: ast.Call, writing: Writing) -> str:
    """RMSProp; that of Keras starts with other squares."""
    given = given_to(call, _RMSPROP, "RMSPropOptimizer")
    arguments = renamed(given, writing, {"learning_rate": "", "decay": "rho", "momentum": "momentum"})
    epsilon = writing.text(given["epsilon"]) if "epsilon" in given else "1e-10"
    arguments += [("epsilon", epsilon), *renamed(given, writing, {"centered": "centered"})]
    return format_call(writing.need("LazyRMSprop" if writing.fact("sparse") else "RMSprop"), arguments)


_ADADELTA = f"learning_rate rho epsilon {LOCK}"
_exact_adadelta = vendored("AdadeltaOptimizer", _ADADELTA, {"learning_rate": "", "rho": "rho", "epsilon": "epsilon"})


def adadelta(call: ast.Call, writing: Writing) -> str:
    """Adadelta with TF1's epsilon; Keras moves rows that a batch does not touch."""
    given = given_to(call, _ADADELTA, "AdadeltaOptimizer")
    epsilon = writing.text(given["epsilon"]) if "epsilon" in given else "1e-8"
    arguments = [*renamed(given, writing, {"learning_rate": "", "rho": "rho"}), ("epsilon", epsilon)]
    if writing.fact("sparse"):
        return format_call(writing.need("LazyAdadelta"), arguments)
    return _keras("Adadelta", writing, arguments)


_DA_START = "initial_gradient_squared_accumulator_value"
_DA = f"learning_rate global_step {_DA_START} l1_regularization_strength l2_regularization_strength {LOCK}"
_PROXIMAL_ADAGRAD = (
    f"learning_rate initial_accumulator_value l1_regularization_strength l2_regularization_strength {LOCK}"
)
_PROXIMAL = f"learning_rate l1_regularization_strength l2_regularization_strength {LOCK}"
_PROXIMAL_NAMES = {"learning_rate": "", "initial_accumulator_value": "initial_accumulator_value", **_L1_L2}


def global_step(call: ast.Call, writing: Writing) -> str:
    """The number of optimizer steps."""
    if writing.where == "factory":
        raise Unsupported("the optimizer computes with the global step", call)
    return "self.optimizer.iterations"


_OPTIMIZERS: dict[str, Expression] = {
    "GradientDescentOptimizer": gradient_descent,
    "MomentumOptimizer": _exactly(_exact_momentum, momentum),
    "AdamOptimizer": adam,
    "AdagradOptimizer": adagrad,
    "RMSPropOptimizer": _exactly(_exact_rmsprop, rmsprop),
    "FtrlOptimizer": ftrl,
    "AdadeltaOptimizer": _exactly(_exact_adadelta, adadelta),
    "AdagradDAOptimizer": _exactly(
        vendored("AdagradDAOptimizer", _DA, {"learning_rate": "", _DA_START: _DA_START, **_L1_L2}),
        vendored(
            "AdagradDAOptimizer",
            _DA,
            {"learning_rate": "", _DA_START: "initial_accumulator_value", **_L1_L2},
            keras="AdagradDA",
        ),
    ),
    "ProximalAdagradOptimizer": _exactly(
        vendored("ProximalAdagradOptimizer", _PROXIMAL_ADAGRAD, _PROXIMAL_NAMES),
        vendored("ProximalAdagradOptimizer", _PROXIMAL_ADAGRAD, _PROXIMAL_NAMES, keras="ProximalAdagrad"),
    ),
    "ProximalGradientDescentOptimizer": _exactly(
        vendored("ProximalGradientDescentOptimizer", _PROXIMAL, _PROXIMAL_NAMES),
        vendored("ProximalGradientDescentOptimizer", _PROXIMAL, _PROXIMAL_NAMES, keras="ProximalGradientDescent"),
    ),
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
