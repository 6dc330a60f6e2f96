"""Code from templates that read as Python: text with holes, parsed once, then filled with nodes.

``expr("tf.cond({pred}, {yes}, {no})", pred=…, yes=…, no=…)``. What may stand in a hole is asked by where it stands:

* an expression, or a name as text, with dots where an expression may stand, anywhere where the template has a name;
* several arguments or expressions, where it is an argument or an element by itself; several parameters, where it is one;
* statements, where it stands alone on a line;
* text, within a string or a comment.

Braces that are meant are doubled, as for `str.format`. Layout follows the file that the code is written to.
"""

from __future__ import annotations

import functools
import re
import string
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Union

import libcst as cst

from .bodies import with_settled
from .changes import Statement
from .nodes import children, walk
from .trees import New, replaced

Hole = Union[str, cst.CSTNode, Sequence[cst.CSTNode]]

_MARK = re.compile(r"__hole_(\w+?)__")
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_CONFIG: cst.PartialParserConfig = cst.PartialParserConfig(default_indent="    ", default_newline="\n")
_ENDS_TEXT = re.compile(r"[\"'\\\n\r]")


def expr(template: str, /, **holes: Hole) -> cst.BaseExpression:
    """An expression."""
    found = _filled(_expression(template), template, holes)
    assert isinstance(found, cst.BaseExpression)
    return found


def statements(template: str, /, **holes: Hole) -> list[Statement]:
    """Statements; the template may be indented as a whole."""
    block = _filled(_block(template), template, holes)
    assert isinstance(block, cst.IndentedBlock)
    if any(
        isinstance(row, cst.EmptyLine) for hole in holes.values() if isinstance(hole, (list, tuple)) for row in hole
    ):
        block = with_settled(block)
    return list(block.body)  # type: ignore[arg-type]  # as all that stands in a block


def code(text: str, indent: str = "") -> cst.BaseExpression:
    """An expression from its source as it is; its further lines are those of a statement that stands at `indent`."""
    if "\n" not in text or not indent:
        return cst.parse_expression(text, _CONFIG)
    (statement,) = lines(f"{indent}_ = {text}")
    assert isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Assign)
    return statement.body[0].value


def lines(text: str) -> list[Statement]:
    """Statements from their source as it is, which may stand at any depth."""
    text = text.strip("\n")
    deep = text[:1] in (" ", "\t")
    module = cst.parse_module(f"{'if True:' if deep else ''}\n{text}\n", _CONFIG)
    body: list[Statement] = list(module.body)
    if deep:
        assert isinstance(body[0], cst.If)
        body = list(body[0].body.body)  # type: ignore[arg-type]  # as all that stands in a block
    elif body and module.header:
        above = [line for line in module.header if line.comment]
        body[0] = body[0].with_changes(leading_lines=[*above, *body[0].leading_lines])
    if any(line.comment for line in module.footer):
        raise ValueError(f"a comment at the end belongs to no statement: {text!r}")
    return body


def name(text: str) -> Union[cst.Name, cst.Attribute]:
    """The expression of a name with or without dots."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no name: give an expression")
    first, *rest = text.split(".")
    found: Union[cst.Name, cst.Attribute] = cst.Name(first)
    for part in rest:
        found = cst.Attribute(found, cst.Name(part))
    return found


def renamed(node: cst.CSTNode, new: str) -> cst.CSTNode:
    """A name, attribute, argument or parameter by another identifier."""
    if isinstance(node, cst.Name):
        return node.with_changes(value=new)
    fields: dict[type, str] = {cst.Attribute: "attr", cst.Arg: "keyword", cst.Param: "name", cst.ImportAlias: "name"}
    return node.with_changes(**{fields[type(node)]: name(new)})


@dataclass(frozen=True)
class _Template:
    tree: cst.CSTNode
    leads: frozenset[int]
    """The holes, and the nodes around them, by their ids."""
    places: tuple[tuple[str, tuple[cst.CSTNode, ...]], ...]
    """Of each hole its name, and it with the nodes around it, the innermost first."""


@functools.lru_cache(maxsize=1024)
def _expression(template: str) -> _Template:
    text, _ = _marked(template)
    return _template(_plain(cst.parse_expression(text, _CONFIG)))


@functools.lru_cache(maxsize=1024)
def _block(template: str) -> _Template:
    text, _ = _marked(textwrap.dedent(template).strip("\n"))
    module = cst.parse_module(text, _CONFIG)
    if any(line.comment for line in module.footer):
        raise ValueError(f"a comment at the end belongs to no statement: {template!r}")
    body = list(module.body)
    if body and module.header:
        body[0] = body[0].with_changes(leading_lines=[*module.header, *body[0].leading_lines])
    return _template(_plain(cst.IndentedBlock(body)))


def _marked(template: str) -> tuple[str, list[str]]:
    """The template with names that stand for its holes."""
    parts, found = [], []
    for text, hole, spec, conversion in string.Formatter().parse(template):
        parts.append(text)
        if hole is not None:
            if not hole.isidentifier() or spec or conversion:
                raise ValueError(f"{{{hole}}} is no hole: double braces that are meant, in {template!r}")
            found.append(hole)
            parts.append(f"__hole_{hole}__")
    return "".join(parts), found


def _plain(tree: cst.CSTNode) -> cst.CSTNode:
    """A tree whose commas are left to the printer where they look as it writes them, so that items may come and go."""
    kinds = (cst.Arg, cst.Element, cst.StarredElement, cst.Param)
    table: dict[cst.CSTNode, New] = {}
    for node in walk(tree):
        if isinstance(node, cst.EmptyLine) and node.comment is None and node.indent:
            table[node] = node.with_changes(indent=False)  # no blanks on a blank line
        comma = getattr(node, "comma", None) if isinstance(node, kinds) else None
        if isinstance(comma, cst.Comma) and comma.deep_equals(_COMMA):
            table[node] = node.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    inner = [node for node in table if any(part in table for part in walk(node) if part is not node)]
    if inner:  # those around others in a second pass, over what the first one made
        return _plain(replaced(tree, {node: new for node, new in table.items() if node not in inner}))
    return replaced(tree, table)


_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def _template(tree: cst.CSTNode) -> _Template:
    places: list[tuple[str, tuple[cst.CSTNode, ...]]] = []

    def look(node: cst.CSTNode, around: tuple[cst.CSTNode, ...]) -> None:
        for hole in dict.fromkeys(_MARK.findall(_text(node))):
            places.append((hole, (node, *around)))
        for _, child in children(node):
            look(child, (node, *around))

    look(tree, ())
    return _Template(tree, frozenset(id(node) for _, around in places for node in around), tuple(places))


def _text(node: cst.CSTNode) -> str:
    value = getattr(node, "value", "")
    return value if isinstance(value, str) else ""


def _filled(template: _Template, text: str, holes: Mapping[str, Hole]) -> cst.CSTNode:
    known = {hole for hole, _ in template.places}
    if known != set(holes):
        raise TypeError(f"holes {sorted(known)} are given {sorted(holes)}, in {text!r}")
    table: dict[cst.CSTNode, New] = {}
    for hole, around in template.places:
        target, new = _put(table.get(around[0], around[0]), holes[hole], hole, around)
        table[target] = new
    if template.tree in table:
        found = table[template.tree]
        assert isinstance(found, cst.CSTNode)
        return found
    return replaced(template.tree, table, lambda node: id(node) not in template.leads)


def _put(node: New, value: Hole, hole: str, around: tuple[cst.CSTNode, ...]) -> tuple[cst.CSTNode, New]:
    """The node of a template that goes, and what takes its place."""
    target, parents = around[0], around[1:]
    mark = f"__hole_{hole}__"
    if not isinstance(target, cst.Name) or target.value != mark:  # a part of a string, comment or longer name
        if not isinstance(value, str) or not isinstance(node, cst.CSTNode):
            raise TypeError(f"{{{hole}}} stands in text: give text")
        if not isinstance(target, cst.Name) and _ENDS_TEXT.search(value):
            raise ValueError(f"{value!r} would end the text that {{{hole}}} stands in")
        return target, node.with_changes(value=_text(node).replace(mark, value))
    if isinstance(value, str):
        return target, name(value)
    if isinstance(value, cst.BaseExpression):
        return target, value
    parent = parents[0] if parents else None
    several = [value] if isinstance(value, cst.CSTNode) else list(value)
    if isinstance(parent, cst.Arg) and parent.value is target and parent.keyword is None and not parent.star:
        return parent, [cst.Arg(item) if isinstance(item, cst.BaseExpression) else item for item in several]
    if isinstance(parent, cst.Element):
        return parent, [cst.Element(item) if isinstance(item, cst.BaseExpression) else item for item in several]
    if isinstance(parent, cst.Param):
        if isinstance(value, cst.Parameters):
            return parents[1], value
        return parent, several
    if isinstance(parent, cst.Expr) and isinstance(parents[1], cst.SimpleStatementLine):
        return parents[1], several
    raise TypeError(f"{type(several[0] if several else value).__name__} cannot stand in {{{hole}}}")
