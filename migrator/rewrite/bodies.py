"""Statements with other bodies, on other lines: what stands around them stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from .changes import Row, Statement


def with_body(
    statement: Statement, body: Sequence[Row], orelse: Sequence[Statement] | None = None
) -> cst.BaseCompoundStatement:
    """A compound statement with another body, and another ``else``: none if that is empty, its own if that is None."""
    if not isinstance(statement, cst.BaseCompoundStatement):
        raise TypeError(f"a {type(statement).__name__} has no body")
    old, made = statement.body, block(body)
    new = statement.with_changes(
        body=old.with_changes(body=made.body, footer=made.footer or old.footer)
        if isinstance(old, cst.IndentedBlock)
        else made
    )
    if orelse is None:
        return new
    return new.with_changes(orelse=cst.Else(block(orelse)) if orelse else None)


def in_its_line(line: Statement, new: Sequence[Statement]) -> list[Statement]:
    """Statements in the place of a simple one, with the comments above it and behind it."""
    if not new or not isinstance(line, cst.SimpleStatementLine):
        return list(new)
    first, *rest = new
    found = [first.with_changes(leading_lines=[*line.leading_lines, *first.leading_lines]), *rest]
    if isinstance(found[-1], cst.SimpleStatementLine) and line.trailing_whitespace.comment is not None:
        found[-1] = found[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    return found


def below(lines: Sequence[cst.EmptyLine], statement: Statement) -> Statement:
    """A statement with comments or blank lines above its own."""
    return statement.with_changes(leading_lines=[*lines, *statement.leading_lines]) if lines else statement


def settled(rows: Iterable[Row]) -> tuple[list[Statement], list[cst.EmptyLine]]:
    """The statements of rows, each with the comments and blank lines above it, and what stands below the last one."""
    done: list[Statement] = []
    above: list[cst.EmptyLine] = []
    for row in rows:
        if isinstance(row, cst.EmptyLine):
            above.append(row)
        else:
            done.append(below(above, row))
            above = []
    return done, above


def with_settled(block: cst.IndentedBlock) -> cst.IndentedBlock:
    """A block in whose body, and in those in it, rows were put."""
    statements, footer = settled(block.body)  # type: ignore[arg-type]
    done = []
    for statement in statements:
        inner = getattr(statement, "body", None)
        done.append(
            statement.with_changes(body=with_settled(inner)) if isinstance(inner, cst.IndentedBlock) else statement
        )
    return block.with_changes(body=done, footer=[*footer, *block.footer])


def commented(line: Statement, new: Sequence[Statement]) -> list[Statement]:
    """Statements that bring comments of their own, below those above another one, whose place they take."""
    found = list(new)
    if found and any(each.comment for each in found[0].leading_lines):
        found[0] = below(line.leading_lines, found[0])
    return found


def spaced(statements: Sequence[Statement]) -> list[Statement]:
    """Statements with a blank line above the first one."""
    return [below([cst.EmptyLine(indent=False)], statements[0]), *statements[1:]] if statements else []


def unspaced(statements: Sequence[Statement]) -> list[Statement]:
    """Statements without blank lines above the first one and its comments."""
    if not statements:
        return []
    lines = list(statements[0].leading_lines)
    while lines and lines[0].comment is None:
        lines.pop(0)
    return [statements[0].with_changes(leading_lines=lines), *statements[1:]]


def with_remark(statement: Statement, line: Statement) -> Statement:
    """A compound statement with the comment behind a simple one behind its head."""
    body = getattr(statement, "body", None)
    if not isinstance(line, cst.SimpleStatementLine) or line.trailing_whitespace.comment is None:
        return statement
    if not isinstance(body, cst.IndentedBlock):
        raise TypeError(f"a {type(statement).__name__} has no head")
    return statement.with_changes(body=body.with_changes(header=line.trailing_whitespace))


def block(rows: Iterable[Row], indent: str | None = None) -> cst.IndentedBlock:
    """A block of rows, at the indentation of the file if none is given."""
    statements, footer = settled(rows)
    return cst.IndentedBlock(statements, footer=footer, indent=indent)
