"""`tf.contrib.opt.*Optimizer` inside a model_fn: see migrator/runtime/optimizers/contrib_optimizers.py."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, format_call

from .optimizer_calls import LOCK, given_to, vendored
from .schedules import renamed

_PACKAGE = "tf.contrib.opt"
_PREFIX = "tensorflow.contrib.opt."
_MOMENTS = "beta1 beta2 epsilon"
_LARS = "learning_rate momentum weight_decay eeta epsilon name skip_list use_nesterov"


def _given(call: ast.Call, signature: str, tf1: str) -> dict[str, ast.expr]:
    return given_to(call, signature, tf1, _PACKAGE)


def _vendored(tf1: str, signature: str, names: dict[str, str]) -> Expression:
    return vendored(tf1, signature, names, _PACKAGE)


def _named(words: str) -> dict[str, str]:
    """The learning rate by its place, the other arguments by name."""
    return {"learning_rate": "", **{word: word for word in words.split()}}


def _decaying(tf1: str, signature: str) -> Expression:
    """An optimizer whose first argument is how weights decay, which must stay the same."""
    arguments = [word for word in signature.split() if word not in LOCK.split()]
    made = _vendored(tf1, signature, {word: word for word in arguments})

    def translate(call: ast.Call, writing: Writing) -> str | None:
        decay = _given(call, signature, tf1).get("weight_decay")
        if decay is None or not writing.is_static(decay):
            raise Unsupported(f"the weight decay of tf.contrib.opt.{tf1} is not seen to stay the same", call)
        return made(call, writing)

    return translate


def _of_moments(tf1: str, keras: str, lazy: str) -> Expression:
    """An optimizer that Keras has for variables with dense gradients; it moves rows that a batch does not touch."""
    signature = f"learning_rate {_MOMENTS} {LOCK}"
    exact = _vendored(tf1, signature, _named(_MOMENTS))

    def translate(call: ast.Call, writing: Writing) -> str | None:
        if writing.fact("exact") or writing.fact("conditional"):
            return exact(call, writing)
        given = _given(call, signature, tf1)
        arguments = renamed(given, writing, {"learning_rate": "", "beta1": "beta_1", "beta2": "beta_2"})
        arguments.append(("epsilon", writing.text(given["epsilon"]) if "epsilon" in given else "1e-8"))
        made = writing.need(lazy) if writing.fact("sparse") else f"{writing.tf}.keras.optimizers.{keras}"
        return format_call(made, arguments)

    return translate


_OPTIMIZERS: dict[str, Expression] = {
    "LazyAdamOptimizer": _of_moments("LazyAdamOptimizer", "Adam", "LazyAdam"),
    "AdaMaxOptimizer": _of_moments("AdaMaxOptimizer", "Adamax", "LazyAdamax"),
    "NadamOptimizer": _vendored("NadamOptimizer", f"learning_rate {_MOMENTS} {LOCK}", _named(_MOMENTS)),
    "AdamWOptimizer": _decaying("AdamWOptimizer", f"weight_decay learning_rate {_MOMENTS} {LOCK}"),
    "MomentumWOptimizer": _decaying("MomentumWOptimizer", f"weight_decay learning_rate momentum {LOCK} use_nesterov"),
    "LARSOptimizer": _vendored("LARSOptimizer", _LARS, _named(_LARS.split(" ", 1)[1].replace("name ", ""))),
    "AddSignOptimizer": _vendored(
        "AddSignOptimizer", f"learning_rate alpha beta sign_decay_fn {LOCK}", _named("alpha beta")
    ),
    "PowerSignOptimizer": _vendored(
        "PowerSignOptimizer", f"learning_rate base beta sign_decay_fn {LOCK}", _named("base beta")
    ),
}
EXPRESSIONS = {_PREFIX + name: rule for name, rule in _OPTIMIZERS.items()}
RATE_PLACES = {_PREFIX + name: 1 for name in ("AdamWOptimizer", "MomentumWOptimizer")}
NAME_TEXTS = {_PREFIX + "LARSOptimizer": lambda call: _given(call, _LARS, "LARSOptimizer").get("skip_list")}
