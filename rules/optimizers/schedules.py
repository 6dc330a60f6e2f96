"""`tf.train.*_decay` inside a model_fn: Keras schedules, which read the step themselves."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind, format_call


def renamed(given: dict[str, ast.expr], writing: Writing, names: dict[str, str]) -> list[tuple[str | None, str]]:
    """Arguments in the order of `names` (TF1 name to Keras name; an empty one is positional), where they are given."""
    return [(new or None, _given(old, given[old], writing)) for old, new in names.items() if old in given]


def _given(name: str, value: ast.expr, writing: Writing) -> str:
    """An argument. Keras makes the optimizer, and asks for its rate, also where nothing is trained and the program has no number
    of steps."""
    stands_in = name in ("decay_steps", "first_decay_steps") and writing.may_be_none(value)
    return f"{writing.text(value)} or 1" if stands_in else writing.text(value)


# Schedule of TF1: signature, Keras class, its arguments by TF1 name.
_SCHEDULES: dict[str, tuple[str, str, dict[str, str]]] = {
    "exponential_decay": (
        "learning_rate global_step decay_steps decay_rate staircase name",
        "ExponentialDecay",
        {"learning_rate": "", "decay_steps": "", "decay_rate": "", "staircase": "staircase"},
    ),
    **dict.fromkeys(
        ("piecewise_constant", "piecewise_constant_decay"),
        ("x boundaries values name", "PiecewiseConstantDecay", {"boundaries": "", "values": ""}),
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
    ),
    "inverse_time_decay": (
        "learning_rate global_step decay_steps decay_rate staircase name",
        "InverseTimeDecay",
        {"learning_rate": "", "decay_steps": "", "decay_rate": "", "staircase": "staircase"},
    ),
    "cosine_decay": (
        "learning_rate global_step decay_steps alpha name",
        "CosineDecay",
        {"learning_rate": "", "decay_steps": "", "alpha": "alpha"},
    ),
    "cosine_decay_restarts": (
        "learning_rate global_step first_decay_steps t_mul m_mul alpha name",
        "CosineDecayRestarts",
        {"learning_rate": "", "first_decay_steps": "", "t_mul": "t_mul", "m_mul": "m_mul", "alpha": "alpha"},
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
        signature, keras, names = _SCHEDULES[short]
        given = bind(call, signature, f"tf.train.{short}")
        step = given.get("global_step", given.get("x"))
        if step is None:
            raise Unsupported(f"tf.train.{short} without a step", call)
        made = format_call(f"{writing.tf}.keras.optimizers.schedules.{keras}", renamed(given, writing, names))
        return _at_step(made, step, writing)

    return translate


def linear_cosine_decay(call: ast.Call, writing: Writing) -> str:
    """A vendored schedule."""
    given = bind(
        call, "learning_rate global_step decay_steps num_periods alpha beta name", "tf.train.linear_cosine_decay"
    )
    names = {name: name for name in ("num_periods", "alpha", "beta")}
    arguments = renamed(given, writing, {"learning_rate": "", "decay_steps": "", **names})
    return _at_step(format_call(writing.need("LinearCosineDecay"), arguments), given["global_step"], writing)


def noisy_linear_cosine_decay(call: ast.Call, writing: Writing) -> str:
    """The same class with noise, which TF1 adds by default."""
    what = "tf.train.noisy_linear_cosine_decay"
    signature = "learning_rate global_step decay_steps initial_variance variance_decay num_periods alpha beta name"
    given = bind(call, signature, what)
    names = {name: name for name in ("initial_variance", "variance_decay", "num_periods", "alpha", "beta")}
    arguments = renamed(given, writing, {"learning_rate": "", "decay_steps": "", **names})
    if "initial_variance" not in given:
        arguments.append(("initial_variance", "1.0"))
    return _at_step(format_call(writing.need("LinearCosineDecay"), arguments), given["global_step"], writing)


EXPRESSIONS: dict[str, Expression] = {
    **{f"tensorflow.train.{short}": schedule(short) for short in _SCHEDULES},
    "tensorflow.train.natural_exp_decay": natural_exp_decay,
    "tensorflow.train.linear_cosine_decay": linear_cosine_decay,
    "tensorflow.train.noisy_linear_cosine_decay": noisy_linear_cosine_decay,
}
SCHEDULES = frozenset(EXPRESSIONS) | {name.replace(".train.", ".compat.v1.train.") for name in EXPRESSIONS}
