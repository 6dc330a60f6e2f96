"""Suites of generated functions and classes: rows that are put together before it is known which statement comes next.

A row is a statement, or a comment or blank line that belongs to the statement behind it.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from migrator.vocabulary.unsupported import Unsupported

from .bodies import block, settled, unspaced
from .changes import Row, Statement
from .printing import text_of_nodes
from .templates import code
from .templates import lines as statements_of

_FIRST = re.compile(r"^([ \t]*)[^\s]", re.MULTILINE)
_BLOCK = "if True:\n"
_LAYOUT = re.compile(
    r"^_|whitespace|^(leading_lines|lines_after_decorators|header|footer|[lr]par|comma|equal|newline)$"
)
_INNER = (cst.FunctionDef, cst.Lambda)


@functools.lru_cache(maxsize=512)
def rows(text: str) -> tuple[Row, ...]:
    """What a text holds, whose lines stand at the depth of the first of them that is not blank."""
    found = _FIRST.search(text)
    if found is None:
        return tuple(cst.EmptyLine(indent=False) for _ in text.split("\n"))
    indent = found[1]
    last = text.rpartition("\n")[2].lstrip()
    end = "" if last and not last.startswith("#") else f"{indent}pass\n"  # which comments at the end belong to
    if "\n" not in text and not end:
        text, indent = text[len(indent) :], ""  # a line needs no block around it, which would be most of what is parsed
    try:
        tree = cst.parse_module(f"{_BLOCK if indent else ''}{text}\n{end}")
    except cst.ParserSyntaxError as error:
        raise Unsupported("libcst cannot parse what a part of it becomes") from error
    body = [*tree.body]
    if indent:
        assert isinstance(body[0], cst.If)
        body = [*body[0].body.body]
    else:
        body[0] = body[0].with_changes(leading_lines=[*tree.header, *body[0].leading_lines])
    whole = [*map(_without_blanks, body)]
    return tuple(whole) if not end else (*whole[:-1], *whole[-1].leading_lines)


def _without_blanks(statement: Statement) -> Statement:
    """A statement below blank lines without blanks, wherever it will stand."""
    above = statement.leading_lines
    if not any(line.indent and line.comment is None for line in above):
        return statement
    return statement.with_changes(
        leading_lines=[line if line.comment else cst.EmptyLine(indent=False) for line in above]
    )


def trimmed(found: Iterable[Row]) -> list[Row]:
    """Rows without blank lines at the beginning."""
    kept = list(found)
    while kept and isinstance(kept[0], cst.EmptyLine) and kept[0].comment is None:
        kept.pop(0)
    if kept and not isinstance(kept[0], cst.EmptyLine):
        kept[:1] = unspaced(kept[:1])  # type: ignore[arg-type]  # which is a statement
    return kept


def given(arguments: str) -> Sequence[cst.Arg]:
    """The arguments of a call from their text; none where it is empty."""
    call = code(f"f({arguments})")
    assert isinstance(call, cst.Call)
    return call.args


def body_of(statement: Statement) -> list[Row]:
    """What stands in a function, a class or a condition."""
    body = getattr(statement, "body", None)
    assert isinstance(body, cst.IndentedBlock)
    return [*body.body, *body.footer]  # type: ignore[list-item]  # as in any block on lines of its own


def is_definition(row: Row) -> bool:
    """Whether a row is a function or a class."""
    return isinstance(row, (cst.FunctionDef, cst.ClassDef))


def returned(row: Row) -> cst.BaseExpression | None:
    """What a statement returns, if it does nothing else."""
    small = row.body[0] if isinstance(row, cst.SimpleStatementLine) else None
    return small.value if isinstance(small, cst.Return) else None


def returned_at_once(body: Sequence[Row]) -> list[Row]:
    """A function that ends in ``return self.logits(net)`` instead of a name for that, and its return.

    Where a comment stands beside it, or the value goes over lines that are laid out after the name, it stays.
    """
    made, left = body[-2:] if len(body) > 1 else (None, None)
    if not isinstance(made, cst.SimpleStatementLine) or not isinstance(left, cst.SimpleStatementLine):
        return [*body]
    value, result = _named(made), returned(left)
    if value is None or not isinstance(result, cst.Name) or result.value != value[0]:
        return [*body]
    commented = made.trailing_whitespace.comment or any(line.comment for line in left.leading_lines)
    if commented or len(made.body) > 1 or any(isinstance(node, _INNER) for node in _code(body)):
        return [*body]  # an inner function may read the name
    end = cst.Return(value[1])
    return [*body[:-2], made.with_changes(body=[end], trailing_whitespace=left.trailing_whitespace)]


def _named(line: cst.SimpleStatementLine) -> tuple[str, cst.BaseExpression] | None:
    """The name that a statement gives to a value, and the value, if that can stand behind another word."""
    small = line.body[0]
    if isinstance(small, cst.AnnAssign) and not small.annotation.annotation.lpar:
        target, value = small.target, small.value
    elif isinstance(small, cst.Assign) and len(small.targets) == 1:
        target, value = small.targets[0].target, small.value
    else:
        return None
    if not isinstance(target, cst.Name) or target.lpar or value is None or value.lpar:
        return None
    opening, *more = text_of_nodes([value]).split("\n")
    return None if more and not opening.rstrip().endswith(("(", "[", "{")) else (target.value, value)


def defined(head: str, body: Iterable[Row]) -> Statement:
    """A function or a class from its head as it is, without the colon, and its body."""
    return _head(head).with_changes(body=block(body))


@functools.lru_cache(maxsize=1024)
def _head(head: str) -> Statement:
    (found,) = statements_of(f"{head}:\n    pass")
    return found


def text_of(found: Iterable[Row], unit: str, indent: str = "") -> str:
    """Rows as text, one level of which is indented by `unit`."""
    if not indent:
        statements, footer = settled(found)
        return text_of_nodes([*statements, *footer], unit) or "\n"
    return text_of_nodes([block(found, indent)], unit).partition("\n")[2]


def names_of(found: Iterable[Row]) -> set[str]:
    """Names that code reads or binds, without those of attributes and arguments."""
    return {node.value for node in _code(found) if isinstance(node, cst.Name)}


def attributes_of(found: Iterable[Row], name: str) -> set[str]:
    """Attributes of a name that code mentions."""
    attributes = (node for node in _code(found) if isinstance(node, cst.Attribute))
    return {node.attr.value for node in attributes if isinstance(node.value, cst.Name) and node.value.value == name}


def _code(found: Iterable[Row]) -> Iterator[cst.CSTNode]:
    """The nodes of code, without blanks and comments, and without the names of attributes and arguments."""
    stack: list[cst.CSTNode] = list(found)
    while stack:
        node = stack.pop()
        yield node
        for field in _meaning(type(node)):
            value = getattr(node, field)
            if isinstance(value, cst.CSTNode):
                stack.append(value)
            elif isinstance(value, (list, tuple)):
                stack += [item for item in value if isinstance(item, cst.CSTNode)]


@functools.cache
def _meaning(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of nodes of a kind that hold code."""
    own = {cst.Attribute: "attr", cst.Arg: "keyword"}.get(kind)
    every = (field.name for field in dataclasses.fields(kind))
    return tuple(name for name in every if name != own and not _LAYOUT.search(name))
