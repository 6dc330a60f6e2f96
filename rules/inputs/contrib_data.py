"""Batches of `tf.contrib.data` that datasets have a method for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.engine.rule import Rule
from migrator.resolve.calls import bind, call_of
from migrator.resolve.module import Module
from migrator.rewrite import Change, Rename, Replace, with_arguments
from migrator.vocabulary.diagnostics import Diagnostic


class BatchAndDropRemainder(Rule):
    """Use `Dataset.batch(..., drop_remainder=True)` instead of `tf.contrib.data.batch_and_drop_remainder`.

    ## What it does
    Replaces `dataset.apply(tf.contrib.data.batch_and_drop_remainder(n))` by the method of the dataset.

    ## Why
    TensorFlow 2 has no `tf.contrib`.

    ## Example
        dataset = dataset.apply(tf.contrib.data.batch_and_drop_remainder(32))
    becomes
        dataset = dataset.batch(32, drop_remainder=True)

    ## Fix safety
    Safe: it is what the function did. Where it is not handed to `apply` at once, it is left alone.
    """

    code = "EST007"
    name = "batch-and-drop-remainder"
    symbols = ("tensorflow.contrib.data.batch_and_drop_remainder",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """Look at one reference."""
        call = call_of(module, node)
        given = bind(call, ["batch_size"]) if call is not None else None
        apply = module.parent(call) if call is not None else None
        if call is None or given is None or set(given) != {"batch_size"}:
            return
        if isinstance(apply, ast.keyword):
            apply = module.parent(apply)
        if not isinstance(apply, ast.Call) or list(bind(apply, ["transformation_func"]) or {}) != [
            "transformation_func"
        ]:
            return
        if not isinstance(apply.func, ast.Attribute) or apply.func.attr != "apply":
            return
        size = module.cst.expression(given["batch_size"])
        named = {"transformation_func": "batch_size"}
        new = with_arguments(module.cst.call(apply), rename=named, values={0: size}, add={"drop_remainder": "True"})
        changes: list[Change] = [Rename(apply.func, "batch"), Replace(apply, new)]
        yield self.diagnostic(module, node, "tf.contrib is gone; datasets have a method for it", changes=changes)
