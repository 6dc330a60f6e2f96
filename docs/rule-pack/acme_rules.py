"""Rules about the wrappers that everybody at Acme uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.engine.rule import Rule
from migrator.resolve.module import Module
from migrator.rewrite import Rename
from migrator.vocabulary.diagnostics import Diagnostic


class ReadTensors(Rule):
    """Read examples with `acme.data.dataset` instead of `acme.data.read`.

    ## What it does
    Renames the function where it is called by its whole name.

    ## Why
    `acme.data.read` gives the tensors of a one-shot iterator, which need a session; `acme.data.dataset` gives the dataset.

    ## Example
        features, labels = data.read("train")
    becomes
        features, labels = data.dataset("train")

    ## Fix safety
    Safe in an input_fn, which may return either.
    """

    code = "ACME001"
    name = "read-tensors"
    url = "https://wiki.acme.example/tf2#data"
    symbols = ("acme.data.read",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """Look at one reference."""
        message = "acme.data.read needs a session: acme.data.dataset gives the dataset"
        if isinstance(node, ast.Attribute):
            yield self.diagnostic(module, node, message, changes=[Rename(node, "dataset")])
        else:  # `from acme.data import read`: its owner changes the import
            yield self.diagnostic(module, node, message)
