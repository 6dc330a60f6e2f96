"""Rewriting: `ast` understands a program, libcst writes it. A rule says what changes in terms of nodes, never of offsets.

    call = module.cst.call(node)
    Replace(node, expr("{tf}.cast({x}, {tf}.int32)", tf=root, x=call.args[0].value))
    Replace(node, with_arguments(call, rename={"keep_dims": "keepdims"}))

All that rules use is here. Importing this imports no libcst: that comes with the first node that is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Union

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
    "lines",
    "statements",
    "with_arguments",
    "with_parameters",
]


def code(text: str, /) -> cst.BaseExpression:
    """An expression from its source as it is, with braces that are no holes."""
    from . import templates

    return templates.code(text)


def lines(text: str, /) -> list[Statement]:
    """Statements from their source as it is, with braces that are no holes."""
    return statements(text.replace("{", "{{").replace("}", "}}"))


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
    insert: Mapping[int, Union[Value, Sequence[Value]]] | None = None,
    spread: Mapping[int, Mapping[str, Value]] | None = None,
    add: Mapping[str, Value] | None = None,
) -> cst.Call:
    """A call with other arguments; see `migrator.rewrite.arguments`."""
    from . import arguments

    return arguments.with_arguments(
        call, rename=rename, named=named, values=values, drop=drop, insert=insert, spread=spread, add=add
    )


def with_parameters(
    function: Statement,
    *,
    name: str | None = None,
    drop: Collection[str] = (),
    add: Sequence[str] = (),
    by_keyword: bool = False,
    instead: Sequence[str] | None = None,
    returns: bool = True,
) -> cst.FunctionDef:
    """A function with another name or other parameters; see `migrator.rewrite.parameters`."""
    from . import parameters

    return parameters.with_parameters(
        function, name=name, drop=drop, add=add, by_keyword=by_keyword, instead=instead, returns=returns
    )
