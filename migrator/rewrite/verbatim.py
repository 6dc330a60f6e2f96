"""New definitions as text, which is put in as it is: libcst would parse it only to print it again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

# What every node prints and visits with; libcst has no public names for them.
from libcst._nodes.internal import CodegenState, visit_sequence

from .changes import Statement
from .templates import lines

_BLOCK = re.compile(r":[ \t]*(?:#.*)?\n([ \t]+)")
"""The end of the head of a block, and the indentation of what is in it."""


@dataclass(frozen=True)
class Definitions(cst.BaseCompoundStatement):
    """Functions and classes of the outermost level of a file, as one statement that nothing looks into."""

    text: str
    """Without blank lines at both ends."""
    leading_lines: Sequence[cst.EmptyLine] = ()

    def _visit_and_replace_children(self, visitor: cst.CSTTransformer) -> Definitions:  # type: ignore[override]
        above = visit_sequence(self, "leading_lines", self.leading_lines, visitor)
        return Definitions(self.text, above)

    def _codegen_impl(self, state: CodegenState) -> None:
        for line in self.leading_lines:
            line._codegen(state)
        block = _BLOCK.search(self.text)
        as_it_is = block is not None and block[1] == state.default_indent and state.default_newline == "\n"
        if as_it_is and not any(state.indent_tokens):
            state.add_token(f"{self.text}\n")
        else:
            for statement in lines(self.text):
                statement._codegen(state)


def definitions(text: str) -> list[Statement]:
    """The statements of functions and classes from their source as it is."""
    text = text.strip("\n")
    whole = text.startswith(("class ", "def ")) and text.rpartition("\n")[2].startswith((" ", "\t"))
    return [Definitions(text)] if whole else lines(text)
