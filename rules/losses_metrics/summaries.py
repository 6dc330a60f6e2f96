"""`tf.summary.*` inside a model_fn: written while training, at the global step, every `save_summary_steps`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind, format_call, is_none

# Signature of TF1; the arguments that TF2 takes, the first two by position.
_SUMMARIES = {
    "scalar": ("name tensor collections family", ("name", "tensor")),
    "histogram": ("name values collections family", ("name", "values")),
    "image": ("name tensor max_outputs collections family", ("name", "tensor", "max_outputs")),
    "text": ("name tensor collections", ("name", "tensor")),
}


def summary(short: str) -> Expression:
    """The translation of one function of `tf.summary`."""

    def translate(call: ast.Call, writing: Writing) -> str:
        return summarized(call, short, writing.tf, writing.text)

    return translate


def summarized(call: ast.Call, short: str, tf: str, text: Callable[[ast.expr], str]) -> str:
    """A summary as TensorFlow 2 writes it. Raises Unsupported."""
    signature, kept = _SUMMARIES[short]
    given = bind(call, signature, f"tf.summary.{short}")
    if not is_none(given.get("family")):
        raise Unsupported("a summary with a family is not migrated yet", given["family"])
    arguments = [(n if n == "max_outputs" else None, text(given[n])) for n in kept if n in given]
    return format_call(f"{tf}.summary.{short}", arguments)


EXPRESSIONS: dict[str, Expression] = {f"tensorflow.summary.{short}": summary(short) for short in _SUMMARIES}
