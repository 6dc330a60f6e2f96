"""Calls that make optimizers, and those for which a class is vendored."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind, format_call

from .schedules import renamed

LOCK = "use_locking name"


def given_to(call: ast.Call, signature: str, name: str, package: str = "tf.train") -> dict[str, ast.expr]:
    """The arguments of a call, without those that only say how TensorFlow 1 works or calls it."""
    given = bind(call, signature, f"{package}.{name}")
    for ignored in ("use_locking", "name"):
        given.pop(ignored, None)
    return given


def vendored(
    tf1: str, signature: str, names: dict[str, str], package: str = "tf.train", keras: str | None = None
) -> Expression:
    """The translation to a vendored class, of the same name or that of `keras`; `names` are its arguments, see `renamed`."""

    def translate(call: ast.Call, writing: Writing) -> str:
        given = given_to(call, signature, tf1, package)
        step = given.pop("global_step", None)
        if step is not None and not writing.is_step(step):
            raise Unsupported(f"{package}.{tf1} counts something else than the global step", step)
        unknown = set(given) - set(names)
        if unknown:
            raise Unsupported(f"{package}.{tf1} with {', '.join(sorted(unknown))} is not migrated yet", call)
        return format_call(writing.need(keras or tf1), renamed(given, writing, names))

    return translate
