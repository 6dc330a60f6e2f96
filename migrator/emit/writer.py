"""Writes leaves of a model_fn as the body of one generated function."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.analyse.function.body import SCOPES
from migrator.analyse.results.assertions import assertion_lines
from migrator.analyse.results.tags import tagged
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.negation import negated, without_body
from migrator.analyse.training.trainways import waits_for_updates
from migrator.emit.expressions import Expressions
from migrator.rewrite import Row, rows


def trimmed(lines: list[str]) -> list[str]:
    """Lines without blank ones at the beginning."""
    start = 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    return lines[start:]


class Writer(Expressions):
    """One generated function: its statements."""

    @property
    def indent(self) -> str:
        """Where the statements of a method stand."""
        return self.shared.outer + self.unit * 2

    def rows(self, leaves: list[Leaf]) -> list[Row]:
        """Consecutive leaves as rows of a method."""
        return rows(self.block(leaves, self.indent))

    def lines(self, *texts: str) -> list[Row]:
        """Rows of a method from lines, whose texts may go over lines of the program."""
        return rows([f"{self.indent}{text}" for text in texts])

    def comments(self, leaves: Iterable[Leaf]) -> list[Row]:
        """The comments above leaves."""
        nodes = [node for leaf in leaves for node in (*leaf.lead, leaf.node)]
        return rows([line for node in nodes for line in self.shared.renderer.comments(node, "")])

    def block(self, leaves: list[Leaf], indent: str, depth: int = 0) -> list[str]:
        """The lines of consecutive leaves that share their first `depth` frames."""
        lines: list[str] = []
        position = 0
        while position < len(leaves):
            group = self.group(leaves, position, depth)
            lines += self.lines_of(group, indent, depth)
            position += len(group)
        return lines

    def group(self, leaves: list[Leaf], position: int, depth: int) -> list[Leaf]:
        """The leaf at `position`, or all leaves of the compound statement that begins there."""
        first = leaves[position]
        if len(first.frames) == depth:
            return [first]
        node = first.frames[depth].node
        end = position
        while end < len(leaves) and len(leaves[end].frames) > depth and leaves[end].frames[depth].node is node:
            end += 1
        return leaves[position:end]

    def lines_of(self, group: list[Leaf], indent: str, depth: int) -> list[str]:
        """The lines of a group; none if something stands in the way, which is noted."""
        with self.shared.obstacles:
            if len(group[0].frames) == depth:
                return self.leaf(group[0], indent)
            return self.compound(group[0].frames[depth].node, group, indent, depth)
        return []

    def leaf(self, leaf: Leaf, indent: str) -> list[str]:
        """One statement."""
        if leaf.node in self.skip:
            return []
        renderer = self.shared.renderer
        added = self.plan.added(leaf, self)
        if added is not None:
            return [*([] if leaf in self.plan.watched else renderer.comments(leaf.node, indent)), indent + added]
        lead = [line for node in leaf.lead for line in renderer.comments(node, indent)]
        lines = tagged(self, leaf, renderer.statement(leaf.node, self.transform, indent), indent)
        if leaf in self.rebound:
            self.names.pop(self.rebound[leaf], None)
        begins_blank = bool(lines) and not lines[0].strip()
        return ["", *lead, *lines[begins_blank:]] if lead else lines

    def compound(self, node: ast.stmt, leaves: list[Leaf], indent: str, depth: int) -> list[str]:
        """A loop, condition or scope around leaves."""
        if isinstance(node, ast.With):
            waits = self.where not in ("factory", "train") and not waits_for_updates(self.plan, node, leaves[0])
            asserted = assertion_lines(self, node, indent) if waits else []
            asserted = [*self.shared.renderer.comments(node, indent), *asserted] if asserted else []
            scopes = [item for item in node.items if self.resolve_with(item) in SCOPES]
            if len(scopes) == len(node.items):
                return [*asserted, *self.block(leaves, indent, depth + 1)]
            inner = self.block(leaves, indent + self.unit, depth + 1)
            return [*self.shared.renderer.header(node, self.transform, indent, scopes), *inner] if inner else []
        if isinstance(node, ast.For):
            inner = self.block(leaves, indent + self.unit, depth + 1)
            return [*self.loop_header(node, leaves, inner, indent), *inner] if inner else []
        assert isinstance(node, ast.If)
        body = self.block([x for x in leaves if x.frames[depth].arm == "body"], indent + self.unit, depth + 1)
        orelse = self.block([x for x in leaves if x.frames[depth].arm == "orelse"], indent + self.unit, depth + 1)
        return self.condition(node, body, orelse, indent)

    def condition(self, node: ast.If, body: list[str], orelse: list[str], indent: str, chain: bool = True) -> list[str]:
        """An `if` with its arms already written; `chain` allows ``elif``."""
        if not body and not orelse:
            return []
        if not body:
            return without_body(negated(node.test, self.text), orelse, indent, self.unit)
        lines = [*self.shared.renderer.header(node, self.transform, indent), *body]
        if not orelse:
            return lines
        chained = (
            chain
            and len(node.orelse) == 1
            and isinstance(node.orelse[0], ast.If)
            and orelse[0].startswith(f"{indent}{self.unit}if ")
        )
        if chained and all(line.startswith(indent + self.unit) or not line.strip() for line in orelse):
            shifted = [line[len(self.unit) :] if line.strip() else line for line in orelse]
            return [*lines, indent + "el" + shifted[0].lstrip(), *shifted[1:]]
        return [*lines, f"{indent}else:", *orelse]

    def resolve_with(self, item: ast.withitem) -> str | None:
        """The qualified name of the function that makes a context manager."""
        return self.resolve(item.context_expr.func) if isinstance(item.context_expr, ast.Call) else None

    def loop_header(self, node: ast.For, leaves: list[Leaf], inner: list[str], indent: str) -> list[str]:
        """The head of a loop; in `call` it also walks the lists of layers that were made in it."""
        return self.shared.renderer.header(node, self.transform, indent)
