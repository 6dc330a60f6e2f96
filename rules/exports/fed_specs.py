"""The specs that placeholders become."""

from __future__ import annotations

import ast

from ..loop.page import Page
from .fed_features import Fed, FedTogether
from .placeholders import Told, told_by


class Specs:
    """Writes those of a file."""

    def __init__(self, page: Page) -> None:
        self.module = page.module
        self.tf = page.tf

    def signature(self, parameter: Fed | FedTogether) -> str:
        """What a parameter is like."""
        if isinstance(parameter, Fed):
            return self._spec(parameter.told, parameter.key)
        entries = [(f"{name}: {self.of(call, name)}", self._loops(call)) for call, name in parameter.every]
        if len(entries) == 1:
            return f"{{{' '.join(filter(None, entries[0]))}}}"
        return f"{{{', '.join(f'**{{{entry} {loops}}}' if loops else entry for entry, loops in entries)}}}"

    def of(self, call: ast.Call, name: str) -> str:
        """What was a placeholder, of its call."""
        told = told_by(self.module, call)
        assert told is not None
        return self._spec(told, name)

    def _spec(self, told: Told, name: str) -> str:
        """What was a placeholder."""
        text = self.module.segment
        dtype = f"{self.tf}.{told.dtype}" if isinstance(told.dtype, str) else text(told.dtype)
        return f"{self.tf}.TensorSpec({text(told.shape)}, {dtype}, name={name})"

    def _loops(self, call: ast.Call) -> str:
        """The loops around a placeholder in a comprehension or a statement, on one line; empty for others."""
        made = self.module.parent(call)
        loop = self.module.parent(self.module.statement(call))
        if isinstance(loop, ast.For):
            return _on_one_line(f"for {self.module.segment(loop.target)} in {self.module.segment(loop.iter)}")
        if not isinstance(made, ast.DictComp):
            return ""
        loops = self.module.source[self.module.span(made.value)[1] : self.module.span(made)[1]].decode()
        return _on_one_line(loops.rpartition("}")[0].rstrip(", " + chr(10)))


def _on_one_line(text: str) -> str:
    """A part of an expression without the breaks of its lines, and without backslashes that continue these."""
    return " ".join(text.replace("\\\n", " ").split())
