"""What the analysis asks of a function while it is written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from migrator.analyse.function.translate import Writing

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body


class FunctionWriting(Writing, Protocol):
    """One function of a generated class, as far as it is written."""

    plan: Body
    unit: str
    """One level of indentation, as the file has it."""

    def is_inner(self, node: ast.Name) -> bool:
        """Whether a name is bound inside of a statement: a parameter of a lambda, or the target of a comprehension."""
