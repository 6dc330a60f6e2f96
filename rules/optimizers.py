"""`tf.train.*Optimizer` and the learning rate schedules inside a model_fn.

The Keras class is taken where it computes the same; else the exact one is vendored (see migrator/runtime/optimizers.py).
Each hyper-parameter whose default differs is written out.
"""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import Expression, Writing, bind, format_call

_LOCK = "use_locking name"


def _given(call: ast.Call, signature: str, name: str) -> dict[str, ast.expr]:
    given = bind(call, signature, f"tf.train.{name}")
    for ignored in ("use_locking", "name"):
        given.pop(ignored, None)
    return given


def _texts(given: dict[str, ast.expr], writing: Writing, names: dict[str, str]) -> list[tuple[str | None, str]]:
    """Arguments in the order of `names` (TF1 name to Keras name; an empty one is positional), where they are given."""
    return [(new or None, writing.text(given[old])) for old, new in names.items() if old in given]


def gradient_descent(call: ast.Call, writing: Writing) -> str:
    """SGD without momentum."""
    given = _given(call, f"learning_rate {_LOCK}", "GradientDescentOptimizer")
    return format_call(f"{writing.tf}.keras.optimizers.SGD", _texts(given, writing, {"learning_rate": ""}))


def momentum(call: ast.Call, writing: Writing) -> str:
    """Momentum; Keras bakes the rate into the velocity and moves rows that a batch does not touch."""
    given = _given(call, "learning_rate momentum use_locking name use_nesterov", "MomentumOptimizer")
    rate = given.get("learning_rate")
    constant = (
        isinstance(writing.followed(rate), (ast.Constant, ast.Subscript, ast.Attribute)) if rate is not None else False
    )
    if constant and not writing.fact("sparse") and not writing.fact("scheduled"):
        names = {"learning_rate": "", "momentum": "momentum", "use_nesterov": "nesterov"}
        return format_call(f"{writing.tf}.keras.optimizers.SGD", _texts(given, writing, names))
    names = {"learning_rate": "", "momentum": "momentum", "use_nesterov": "use_nesterov"}
    return format_call(writing.need("MomentumOptimizer"), _texts(given, writing, names))


def adagrad(call: ast.Call, writing: Writing) -> str:
    """Adagrad, with TF1's accumulator and without Keras's epsilon."""
    given = _given(call, f"learning_rate initial_accumulator_value {_LOCK}", "AdagradOptimizer")
    start = writing.text(given["initial_accumulator_value"]) if "initial_accumulator_value" in given else "0.1"
    rate = _texts(given, writing, {"learning_rate": ""})
    rest: list[tuple[str | None, str]] = [("initial_accumulator_value", start), ("epsilon", "0.0")]
    return format_call(f"{writing.tf}.keras.optimizers.Adagrad", [*rate, *rest])


def _vendored(tf1: str, signature: str, names: dict[str, str]) -> Expression:
    def translate(call: ast.Call, writing: Writing) -> str:
        given = _given(call, signature, tf1)
        unknown = set(given) - set(names)
        if unknown:
            raise Unsupported(f"tf.train.{tf1} with {', '.join(sorted(unknown))} is not migrated yet", call)
        return format_call(writing.need(tf1), _texts(given, writing, names))

    return translate


# Keras's Adam is equal for ten steps and 2e-5 off after a hundred; the kernel of TF1 is not.
adam = _vendored(
    "AdamOptimizer",
    f"learning_rate beta1 beta2 epsilon {_LOCK}",
    {"learning_rate": "", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"},
)
rmsprop = _vendored(
    "RMSPropOptimizer",
    "learning_rate decay momentum epsilon use_locking centered name",
    {"learning_rate": "", "decay": "decay", "momentum": "momentum", "epsilon": "epsilon", "centered": "centered"},
)
ftrl = _vendored(
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
adadelta = _vendored(
    "AdadeltaOptimizer", f"learning_rate rho epsilon {_LOCK}", {"learning_rate": "", "rho": "rho", "epsilon": "epsilon"}
)

# Schedule of TF1: signature, Keras class, its arguments by TF1 name, what stands for arguments that are left out.
_SCHEDULES: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    "exponential_decay": (
        "learning_rate global_step decay_steps decay_rate staircase name",
        "ExponentialDecay",
        {"learning_rate": "", "decay_steps": "", "decay_rate": "", "staircase": "staircase"},
        {},
    ),
    **dict.fromkeys(
        ("piecewise_constant", "piecewise_constant_decay"),
        ("x boundaries values name", "PiecewiseConstantDecay", {"boundaries": "", "values": ""}, {}),
    ),
    "polynomial_decay": (
        "learning_rate global_step decay_steps end_learning_rate power cycle name",
        "PolynomialDecay",
        {
            "learning_rate": "",
            "decay_steps": "",
            "end_learning_rate": "end_learning_rate",
            "power": "power",
            "cycle": "cycle",
        },
        {},
    ),
    "inverse_time_decay": (
        "learning_rate global_step decay_steps decay_rate staircase name",
        "InverseTimeDecay",
        {"learning_rate": "", "decay_steps": "", "decay_rate": "", "staircase": "staircase"},
        {},
    ),
    "cosine_decay": (
        "learning_rate global_step decay_steps alpha name",
        "CosineDecay",
        {"learning_rate": "", "decay_steps": "", "alpha": "alpha"},
        {},
    ),
    "cosine_decay_restarts": (
        "learning_rate global_step first_decay_steps t_mul m_mul alpha name",
        "CosineDecayRestarts",
        {"learning_rate": "", "first_decay_steps": "", "t_mul": "t_mul", "m_mul": "m_mul", "alpha": "alpha"},
        {},
    ),
}


def natural_exp_decay(call: ast.Call, writing: Writing) -> str:
    """``rate * exp(-decay_rate * step / decay_steps)``."""
    given = bind(call, "learning_rate global_step decay_steps decay_rate staircase name", "tf.train.natural_exp_decay")
    rate = given["decay_rate"]
    text = writing.text(rate)
    negative = f"-{text}" if isinstance(rate, (ast.Constant, ast.Name, ast.Attribute, ast.Subscript)) else f"-({text})"
    arguments: list[tuple[str | None, str]] = [
        (None, writing.text(given["learning_rate"])),
        (None, writing.text(given["decay_steps"])),
        (None, f"{writing.tf}.exp({negative})"),
    ]
    if "staircase" in given:
        arguments.append(("staircase", writing.text(given["staircase"])))
    made = format_call(f"{writing.tf}.keras.optimizers.schedules.ExponentialDecay", arguments)
    return _at_step(made, given["global_step"], writing)


def _at_step(made: str, step: ast.expr, writing: Writing) -> str:
    """A schedule for an optimizer, which calls it with its step; or in a function of the step, its value."""
    if writing.where == "rate":
        return f"{made}({writing.text(step)})"
    if not writing.is_step(step):
        raise Unsupported("the schedule runs on something else than the global step", step)
    return made


def schedule(short: str) -> Expression:
    """The translation of one schedule; Keras reads the step itself."""

    def translate(call: ast.Call, writing: Writing) -> str:
        signature, keras, names, _ = _SCHEDULES[short]
        given = bind(call, signature, f"tf.train.{short}")
        step = given.get("global_step", given.get("x"))
        if step is None:
            raise Unsupported(f"tf.train.{short} without a step", call)
        made = format_call(f"{writing.tf}.keras.optimizers.schedules.{keras}", _texts(given, writing, names))
        return _at_step(made, step, writing)

    return translate


def global_step(call: ast.Call, writing: Writing) -> str:
    """The number of optimizer steps."""
    if writing.where == "factory":
        raise Unsupported("the optimizer computes with the global step", call)
    return "self.optimizer.iterations"


SCHEDULES = frozenset(
    prefix + short
    for short in (*_SCHEDULES, "natural_exp_decay")
    for prefix in ("tensorflow.train.", "tensorflow.compat.v1.train.")
)
_OPTIMIZERS: dict[str, Expression] = {
    "GradientDescentOptimizer": gradient_descent,
    "MomentumOptimizer": momentum,
    "AdamOptimizer": adam,
    "AdagradOptimizer": adagrad,
    "RMSPropOptimizer": rmsprop,
    "FtrlOptimizer": ftrl,
    "AdadeltaOptimizer": adadelta,
}
STEPS = frozenset(
    f"tensorflow.train.{n}" for n in ("get_global_step", "get_or_create_global_step", "create_global_step")
)
OPTIMIZERS = frozenset(f"tensorflow.train.{name}" for name in _OPTIMIZERS)

EXPRESSIONS: dict[str, Expression] = {
    **{f"tensorflow.train.{name}": rule for name, rule in _OPTIMIZERS.items()},
    **{f"tensorflow.train.{short}": schedule(short) for short in _SCHEDULES},
    "tensorflow.train.natural_exp_decay": natural_exp_decay,
    **dict.fromkeys(STEPS, global_step),
}
