"""Conditional random fields of `tf.contrib.crf` inside a model_fn: the vendored functions of the same names."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind, format_call, is_none

_SIGNATURES = {
    "crf_log_likelihood": "inputs tag_indices sequence_lengths transition_params",
    "crf_sequence_score": "inputs tag_indices sequence_lengths transition_params",
    "crf_unary_score": "tag_indices sequence_lengths inputs",
    "crf_binary_score": "tag_indices sequence_lengths transition_params",
    "crf_log_norm": "inputs sequence_lengths transition_params",
    "crf_decode": "potentials transition_params sequence_length",
}


def function(name: str) -> Expression:
    """The translation of one function."""

    def translate(call: ast.Call, writing: Writing) -> str:
        given = bind(call, _SIGNATURES[name], name)
        if name == "crf_log_likelihood" and is_none(given.get("transition_params")):
            raise Unsupported("crf_log_likelihood that makes its own transitions is not migrated yet", call)
        arguments: list[tuple[str | None, str]] = [(None, writing.text(a)) for a in call.args]
        arguments += [(k.arg, writing.text(k.value)) for k in call.keywords]
        return format_call(writing.need(name), arguments)

    return translate


EXPRESSIONS = {f"tensorflow.contrib.crf.{name}": function(name) for name in _SIGNATURES}
