"""Rewriting: `ast` understands a program, libcst writes it. A rule says what changes in terms of nodes, never of offsets.

    call = module.cst.call(node)
    Replace(node, expr("{tf}.cast({x}, {tf}.int32)", tf=root, x=call.args[0].value))
    Replace(node, with_arguments(call, rename={"keep_dims": "keepdims"}))

All that rules use is here. Importing this imports no libcst: that comes with the first node that is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from .changes import Change, Conflict, Import, Insert, Remove, Rename, Replace, Statement, Unprintable, Written

if TYPE_CHECKING:
    import libcst as cst

    from .arguments import Key, Value
    from .templates import Hole

__all__ = [
    "Change",
    "Conflict",
    "Import",
    "Insert",
    "Remove",
    "Rename",
    "Replace",
    "Statement",
    "Unprintable",
    "Written",
    "code",
    "expr",
    "statements",
    "with_arguments",
]


def code(text: str, /) -> cst.BaseExpression:
    """An expression from its source as it is, with braces that are no holes."""
    from . import templates

    return templates.code(text)


def expr(template: str, /, **holes: Hole) -> cst.BaseExpression:
    """An expression from a template: ``expr("tf.cast({x}, tf.int32)", x=node)``; see `migrator.rewrite.templates`."""
    from . import templates

    return templates.expr(template, **holes)


def statements(template: str, /, **holes: Hole) -> list[Statement]:
    """Statements from a template, in which a hole alone on its line stands for statements."""
    from . import templates

    return templates.statements(template, **holes)


def with_arguments(
    call: cst.BaseExpression,
    *,
    rename: Mapping[str, str] | None = None,
    named: Mapping[int, str] | None = None,
    values: Mapping[int, Value] | None = None,
    drop: Collection[Key] = (),
    insert: Mapping[int, Value] | None = None,
    add: Mapping[str, Value] | None = None,
) -> cst.Call:
    """A call with other arguments; see `migrator.rewrite.arguments`."""
    from . import arguments

    return arguments.with_arguments(call, rename=rename, named=named, values=values, drop=drop, insert=insert, add=add)
