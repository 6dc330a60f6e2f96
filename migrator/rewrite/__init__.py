"""Rewriting: `ast` understands a program, libcst writes it. A rule says what changes in terms of nodes, never of offsets.

    call = module.cst.call(node)
    Replace(node, expr("{tf}.cast({x}, {tf}.int32)", tf=root, x=call.args[0].value))
    Replace(node, with_arguments(call, rename={"keep_dims": "keepdims"}))

All that rules use is here. Importing this imports no libcst: that comes with the first node that is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Union

from .changes import (
    Change,
    Comments,
    Conflict,
    Import,
    Insert,
    Remove,
    Rename,
    Replace,
    Row,
    Statement,
    Unprintable,
    Written,
)

if TYPE_CHECKING:
    import libcst as cst

    from .arguments import Key, Spread, Value
    from .templates import Hole

__all__ = [
    "Change",
    "Comments",
    "Conflict",
    "Import",
    "Insert",
    "Remove",
    "Rename",
    "Replace",
    "Row",
    "Statement",
    "Unprintable",
    "Written",
    "attributes_of",
    "body_of",
    "code",
    "commented",
    "defined",
    "definitions",
    "expr",
    "given",
    "in_its_line",
    "in_scope",
    "is_definition",
    "lines",
    "names_of",
    "opened",
    "returned",
    "returned_at_once",
    "rows",
    "same",
    "source",
    "spaced",
    "statements",
    "text_of",
    "trimmed",
    "unspaced",
    "with_arguments",
    "with_body",
    "with_else",
    "with_first_argument",
    "with_function",
    "with_parameters",
    "with_remark",
    "without_blanks",
    "without_body",
    "without_repeated_scopes",
]


def code(text: str, /, indent: str = "") -> cst.BaseExpression:
    """An expression from its source as it is, with braces that are no holes; see `migrator.rewrite.templates`."""
    from . import templates

    return templates.code(text, indent)


def source(node: cst.CSTNode, /) -> str:
    """The text of a node."""
    from . import printing

    return printing.text_of_nodes([node])


def with_body(
    statement: Statement, body: Sequence[Row], orelse: Sequence[Statement] | None = None
) -> cst.BaseCompoundStatement:
    """A compound statement with another body; see `migrator.rewrite.bodies`."""
    from . import bodies

    return bodies.with_body(statement, body, orelse)


def in_its_line(line: Statement, new: Sequence[Statement]) -> list[Statement]:
    """Statements in the place of a simple one, with its comments; see `migrator.rewrite.bodies`."""
    from . import bodies

    return bodies.in_its_line(line, new)


def commented(line: Statement, new: Sequence[Statement]) -> list[Statement]:
    """Statements that bring comments of their own, below those above another one, whose place they take."""
    from . import bodies

    return bodies.commented(line, new)


def spaced(statements: Sequence[Statement]) -> list[Statement]:
    """Statements with a blank line above the first one."""
    from . import bodies

    return bodies.spaced(statements)


def unspaced(statements: Sequence[Statement]) -> list[Statement]:
    """Statements without blank lines above the first one."""
    from . import bodies

    return bodies.unspaced(statements)


def with_remark(statement: Statement, line: Statement) -> Statement:
    """A compound statement with the comment behind a simple one; see `migrator.rewrite.bodies`."""
    from . import bodies

    return bodies.with_remark(statement, line)


def lines(text: str, /) -> list[Statement]:
    """Statements from their source as it is, with braces that are no holes."""
    from . import templates

    return templates.lines(text)


def definitions(text: str, /) -> list[Statement]:
    """New functions and classes of the outermost level from their source, which nothing looks into; see
    `migrator.rewrite.verbatim`."""
    from . import verbatim

    return verbatim.definitions(text)


def rows(found: Sequence[str], /) -> list[Row]:
    """The statements and comments that lines hold; see `migrator.rewrite.suites`."""
    from . import suites

    return list(suites.rows("\n".join(found))) if found else []


def defined(head: str, body: Iterable[Row]) -> Statement:
    """A function or a class from its head as it is, and the rows of its body."""
    from . import suites

    return suites.defined(head, body)


def opened(head: Sequence[str], body: Iterable[Row]) -> list[Row]:
    """A compound statement from the lines of its head, comments above it among them, and its body."""
    from . import conditions

    return conditions.opened(head, body)


def with_else(statement: Row, orelse: Sequence[Row], chain: bool = True) -> Statement:
    """A condition with another arm; see `migrator.rewrite.conditions`."""
    from . import conditions

    return conditions.with_else(statement, orelse, chain)


def without_body(condition: str, orelse: Sequence[Row], indent: str = "") -> list[Row]:
    """``if condition:`` over rows; see `migrator.rewrite.conditions`."""
    from . import conditions

    return conditions.without_body(condition, orelse, indent)


def same(first: Sequence[Row], second: Sequence[Row]) -> bool:
    """Whether two runs of rows are the same text."""
    from . import conditions

    return conditions.same(first, second)


def in_scope(head: str, body: Sequence[Row]) -> list[Row]:
    """Rows in a scope of which `head` is the text, below the blank lines above them."""
    from . import conditions

    return conditions.in_scope(head, body)


def without_blanks(found: Sequence[Row]) -> list[Row]:
    """Rows without blank lines between them."""
    from . import conditions

    return conditions.without_blanks(found)


def without_repeated_scopes(found: Sequence[Row], remark: str) -> list[Row]:
    """Rows in which scopes with a remark go on in those right above them; see `migrator.rewrite.conditions`."""
    from . import conditions

    return conditions.without_repeated_scopes(found, remark)


def with_first_argument(row: Row, old: str, new: str) -> Row:
    """A statement whose call with `old` before its other arguments has `new` in that place."""
    from . import conditions

    return conditions.with_first_argument(row, old, new)


def text_of(found: Iterable[Row], unit: str, indent: str = "") -> str:
    """The text of rows, one level of which is indented by `unit`."""
    from . import suites

    return suites.text_of(found, unit, indent)


def trimmed(found: Iterable[Row]) -> list[Row]:
    """Rows without blank lines at the beginning."""
    from . import suites

    return suites.trimmed(found)


def given(arguments: str) -> Sequence[cst.Arg]:
    """The arguments of a call from their text; none where it is empty."""
    from . import suites

    return suites.given(arguments)


def body_of(statement: Statement) -> list[Row]:
    """What stands in a function, a class or a condition."""
    from . import suites

    return suites.body_of(statement)


def is_definition(row: Row) -> bool:
    """Whether a row is a function or a class."""
    from . import suites

    return suites.is_definition(row)


def returned(row: Row) -> cst.BaseExpression | None:
    """What a statement returns, if it does nothing else."""
    from . import suites

    return suites.returned(row)


def returned_at_once(body: Sequence[Row]) -> list[Row]:
    """What a function does, without a name for what it returns; see `migrator.rewrite.suites`."""
    from . import suites

    return suites.returned_at_once(body)


def names_of(found: Iterable[Row]) -> set[str]:
    """Names that code reads or binds, without those of attributes and arguments."""
    from . import suites

    return suites.names_of(found)


def attributes_of(found: Iterable[Row], name: str) -> set[str]:
    """Attributes of a name that code mentions."""
    from . import suites

    return suites.attributes_of(found, name)


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
    spread: Mapping[int, Spread] | None = None,
    add: Mapping[str, Value] | None = None,
) -> cst.Call:
    """A call with other arguments; see `migrator.rewrite.arguments`."""
    from . import arguments

    return arguments.with_arguments(
        call, rename=rename, named=named, values=values, drop=drop, insert=insert, spread=spread, add=add
    )


def with_function(call: cst.BaseExpression, function: Value) -> cst.Call:
    """The call of another function with the same arguments; see `migrator.rewrite.arguments`."""
    from . import arguments

    return arguments.with_function(call, function)


def with_parameters(
    function: Statement,
    *,
    name: str | None = None,
    drop: Collection[str] = (),
    add: Sequence[str] = (),
    first: str | None = None,
    by_keyword: bool = False,
    instead: Sequence[str] | None = None,
    returns: bool = True,
) -> cst.FunctionDef:
    """A function with another name or other parameters; see `migrator.rewrite.parameters`."""
    from . import parameters

    return parameters.with_parameters(
        function, name=name, drop=drop, add=add, first=first, by_keyword=by_keyword, instead=instead, returns=returns
    )
