"""What a rule wants changed, as plain data: nodes of the program, and what takes their place.

Targets are nodes of `ast`, which understands the program; what is written are nodes of libcst. Nothing here imports libcst.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Union

from migrator.vocabulary.diagnostics import Edit, Location
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

Statement = Union["cst.SimpleStatementLine", "cst.BaseCompoundStatement"]
"""What may stand in a body."""

Row = Union[Statement, "cst.EmptyLine"]
"""A statement, or a comment or blank line that belongs to the statement behind it."""


@dataclass(frozen=True, eq=False)
class Replace:
    """A node becomes another one. `new` may hold the old node, or nodes that stood in it: those stay the user's bytes.

    A text stands for a name, with or without dots, or is a short string in its quotes. Statements may become several; the
    comments above and behind the old one stay, unless the new ones bring their own.
    """

    target: ast.AST
    new: Union[str, cst.CSTNode, Sequence[Statement]]
    optional: bool = False
    """Whether this is left out where another change takes the code away; else that is a conflict."""

    @property
    def is_name(self) -> bool:
        """Whether a name becomes another one, or a string, which takes neither libcst nor parentheses."""
        return isinstance(self.new, str) and isinstance(self.target, (ast.Name, ast.Attribute))


@dataclass(frozen=True)
class Rename:
    """An identifier becomes another one: the last of a name with dots, a keyword of a call, a parameter, what
    is imported, the module that something is imported from. It takes no libcst."""

    target: Union[ast.Name, ast.Attribute, ast.keyword, ast.arg, ast.alias, ast.ImportFrom]
    new: str
    optional: bool = False
    bound: str | None = None
    """What the file then calls that which is imported; None: as before."""
    is_name: ClassVar[bool] = True

    @property
    def old(self) -> str:
        """What stands there."""
        for field in ("id", "attr", "arg", "name", "module"):
            found = getattr(self.target, field, None)
            if isinstance(found, str):
                return found
        raise TypeError(f"this {type(self.target).__name__} has no name")


@dataclass(frozen=True, eq=False)
class Insert:
    """New statements before or after one (exactly one of `before`, `after`), or at the end of the body of `into`.

    `above` puts them before the comments above that statement, too; `apart` also sets them off by blank lines, as definitions.
    """

    statements: Union[Statement, Sequence[Statement]]
    before: ast.stmt | None = None
    after: ast.stmt | None = None
    into: ast.AST | None = None
    above: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Remove:
    """A statement goes with its line and the comment behind it; ``pass`` stays where a block would be empty.

    `apart` takes along what sets a definition off: the comments right above it, and blank lines.
    """

    target: ast.stmt
    apart: bool = False


@dataclass(frozen=True)
class Comments:
    """The comment lines right above a statement become others, each with its ``#``. They stay where the statement goes. It
    takes no libcst."""

    target: ast.stmt
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Import:
    """Import statements on lines of their own: where such stand in the file, `instead` of another statement, or `below` or
    `above` one, from which a blank line keeps them if they stand `apart`."""

    statement: str
    instead: ast.stmt | None = None
    below: ast.stmt | None = None
    above: ast.stmt | None = None
    apart: bool = False


Change = Union[Replace, Rename, Insert, Remove, Comments, Import]

Origin = tuple[str, int]
"""Path of a file and number of one of its lines."""


ENDS, BELOW, ABOVE, BEGINS = range(4)
"""Insertions at one place: what ends code that stays, statements below inner and outer ones, those above, what begins code."""


@dataclass(frozen=True)
class Written:
    """An edit that changes make; `origins` says for each line of its text where it was written first, None for new code."""

    edit: Edit
    origins: tuple[Origin | None, ...]
    rank: tuple[int, int] = (ENDS, 0)
    """Of several insertions at one place, those with a lower one come first."""


class Conflict(Exception):
    """Two changes of one application get into each other's way: a mistake of the rule."""


class Unprintable(Unsupported):
    """Code that libcst cannot print back byte for byte, so that it has to stay as it is."""

    def __init__(self, reason: str, location: Location) -> None:
        super().__init__(reason)
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.reason}"
