"""`tf.summary.*` inside a model_fn: written while training, at the global step, every `save_summary_steps`."""

from __future__ import annotations

import ast

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
        signature, kept = _SUMMARIES[short]
        given = bind(call, signature, f"tf.summary.{short}")
        if not is_none(given.get("family")):
            raise Unsupported("a summary with a family is not migrated yet", given["family"])
        arguments = [(n if n == "max_outputs" else None, writing.text(given[n])) for n in kept if n in given]
        return format_call(f"{writing.tf}.summary.{short}", arguments)

    return translate


EXPRESSIONS: dict[str, Expression] = {f"tensorflow.summary.{short}": summary(short) for short in _SUMMARIES}
