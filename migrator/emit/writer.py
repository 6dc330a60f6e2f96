"""Writes leaves of a model_fn as the body of one generated function."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence

from migrator.analyse.function.body import SCOPES
from migrator.analyse.results.assertions import assertion_texts
from migrator.analyse.results.tags import tagged
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.negation import negated
from migrator.analyse.training.trainways import waits_for_updates
from migrator.emit.expressions import Expressions, Shared
from migrator.rewrite import Row, opened, rows, trimmed, with_else, without_body


class Writer(Expressions):
    """One generated function: its statements."""

    def __init__(self, shared: Shared, where: str, names: dict[str, str]) -> None:
        super().__init__(shared, where, names)
        self.indent = shared.outer + shared.unit * 2
        """Where the statements that are being written stand, which begins with those of a method."""

    @contextlib.contextmanager
    def deeper(self) -> Iterator[None]:
        """While a block is written: its statements stand one level deeper."""
        held = self.indent
        self.indent += self.unit
        try:
            yield
        finally:
            self.indent = held

    def lines(self, *texts: str) -> list[Row]:
        """Rows from lines, whose texts may go over lines of the program."""
        return rows([f"{self.indent}{text}" for text in texts])

    def comments(self, leaves: Iterable[Leaf]) -> list[Row]:
        """The comments above leaves."""
        return self.remarks([node for leaf in leaves for node in (*leaf.lead, leaf.node)])

    def remarks(self, nodes: Iterable[ast.stmt]) -> list[Row]:
        """The comments above statements."""
        return rows([line for node in nodes for line in self.shared.renderer.comments(node, "")])

    def rows(self, leaves: list[Leaf], depth: int = 0) -> list[Row]:
        """Consecutive leaves that share their first `depth` frames."""
        found: list[Row] = []
        position = 0
        while position < len(leaves):
            group = self.group(leaves, position, depth)
            found += self.rows_of(group, depth)
            position += len(group)
        return found

    def below(self, leaves: list[Leaf], depth: int) -> list[Row]:
        """The rows of leaves in the block of their frame at `depth`."""
        with self.deeper():
            return self.rows(leaves, depth + 1)

    def arm(self, leaves: list[Leaf], depth: int, arm: str) -> list[Row]:
        """The rows of those leaves that stand in one arm of their condition at `depth`."""
        return self.below([leaf for leaf in leaves if leaf.frames[depth].arm == arm], depth)

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

    def rows_of(self, group: list[Leaf], depth: int) -> list[Row]:
        """The rows of a group; none if something stands in the way, which is noted."""
        with self.shared.obstacles:
            if len(group[0].frames) == depth:
                return self.leaf(group[0])
            return self.compound(group[0].frames[depth].node, group, depth)
        return []

    def statement(self, node: ast.stmt) -> list[Row]:
        """A statement with the comments above it and behind it."""
        return rows(self.shared.renderer.statement(node, self.transform, self.indent))

    def look(self, node: ast.stmt) -> None:
        """Let `transform` note what a statement reads, without writing it."""
        self.shared.renderer.statement(node, self.transform, "")

    def leaf(self, leaf: Leaf) -> list[Row]:
        """One statement."""
        if leaf.node in self.skip:
            return []
        added = self.plan.added(leaf, self)
        if added is not None:
            return [*([] if leaf in self.plan.watched else self.remarks([leaf.node])), *self.lines(added)]
        lead = self.remarks(leaf.lead)
        found = tagged(self, leaf, self.statement(leaf.node))
        if leaf in self.rebound:
            self.names.pop(self.rebound[leaf], None)
        return [*rows([""]), *lead, *trimmed(found)] if lead else found

    def compound(self, node: ast.stmt, leaves: list[Leaf], depth: int) -> list[Row]:
        """A loop, condition or scope around leaves."""
        if isinstance(node, ast.With):
            waits = self.where not in ("factory", "train") and not waits_for_updates(self.plan, node, leaves[0])
            asserted = self.lines(*assertion_texts(self, node)) if waits else []
            asserted = [*self.remarks([node]), *asserted] if asserted else []
            scopes = [item for item in node.items if self.resolve_with(item) in SCOPES]
            if len(scopes) == len(node.items):
                return [*asserted, *self.rows(leaves, depth + 1)]
            inner = self.below(leaves, depth)
            return [*asserted, *opened(self.head(node, scopes), inner)] if inner else []
        if isinstance(node, ast.For):
            inner = self.below(leaves, depth)
            return opened(self.loop_header(node, leaves, inner), inner) if inner else []
        assert isinstance(node, ast.If)
        return self.condition(node, self.arm(leaves, depth, "body"), self.arm(leaves, depth, "orelse"))

    def condition(self, node: ast.If, body: list[Row], orelse: list[Row], chain: bool = True) -> list[Row]:
        """An `if` with its arms already written; `chain` allows ``elif``."""
        if not body and not orelse:
            return []
        if not body:
            return without_body(negated(node.test, self.text), orelse, self.indent)
        *above, found = opened(self.head(node), body)
        chain = chain and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        return [*above, with_else(found, orelse, chain) if orelse else found]

    def head(self, node: ast.For | ast.If | ast.With, left_out: Collection[ast.withitem] = ()) -> list[str]:
        """The lines of the head of a compound statement with the comments above it, without some of its items."""
        return self.shared.renderer.header(node, self.transform, self.indent, left_out)

    def resolve_with(self, item: ast.withitem) -> str | None:
        """The qualified name of the function that makes a context manager."""
        return self.resolve(item.context_expr.func) if isinstance(item.context_expr, ast.Call) else None

    def loop_header(self, node: ast.For, leaves: list[Leaf], inner: Sequence[Row]) -> list[str]:
        """The head of a loop over its rows; in `call` it also walks the lists of layers that were made in it."""
        return self.head(node)
