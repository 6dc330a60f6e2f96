"""Lists of variables that a train op adds gradients to."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.statements.flow import Leaf


@dataclass(frozen=True)
class Sums:
    """A list of variables that begin at zero, one like each of some weights."""

    name: str
    like: str
    """The name of the weight, in the loop over all of them."""
    loop: ast.For | ast.comprehension
    leaves: tuple[Leaf, ...]
    """The statements that make them."""
