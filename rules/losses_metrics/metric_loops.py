"""Loops over a dict of metrics, ``for name, metric in metrics.items(): tf.summary.scalar(name, metric[1])``, turn by turn.

A metric that the dict itself makes gets a name first, so that native finds it where the turns read it.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_nodes, own_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, Unprintable, code, expr, statements

from .folded_texts import folded_text, quoted
from .metrics import METRICS

if TYPE_CHECKING:
    import libcst as cst

_VIEWS = ("items", "keys", "values")


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """Edits for the first such loop of a function; none if there is none that can be written out.

    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
        for name, metric in metrics.items():
            tf.summary.scalar(name, metric[1])
        return metrics
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        accuracy = tf.metrics.accuracy(labels, classes)
        metrics = {"accuracy": accuracy}
        tf.summary.scalar("accuracy", accuracy[1])
        return metrics
    ```
    """
    for node in own_statements(function.body):
        if isinstance(node, ast.For) and not node.orelse:
            changes = _Loop.changes(module, function, node)
            if changes:
                return changes
    return []


@dataclass(frozen=True)
class _Entry:
    """A metric of the dict: the expression that stands in it, and its name if it is made there."""

    key: str
    value: ast.expr
    name: str = ""

    def part(self, module: Module, index: int) -> cst.BaseExpression | None:
        """The value (0) or the update (1)."""
        if isinstance(self.value, ast.Tuple) and len(self.value.elts) == 2:
            return module.cst.expression(self.value.elts[index])
        whole = self.whole()
        return None if whole is None else expr(f"{{whole}}[{index}]", whole=whole)

    def whole(self) -> cst.BaseExpression | None:
        """The pair of both."""
        name = self.name or (self.value.id if isinstance(self.value, ast.Name) else "")
        return expr(name) if name else None


@dataclass
class _Loop:
    """A loop whose turns read the entries of the dict called `dictionary`."""

    module: Module
    function: ast.FunctionDef
    node: ast.For
    dictionary: str
    view: str

    @classmethod
    def changes(cls, module: Module, function: ast.FunctionDef, node: ast.For) -> list[Change]:
        """The statements in the place of the loop; none where it cannot be written out."""
        walked, in_order = _walked(node.iter)
        if walked is None or not all(isinstance(statement, ast.Expr) for statement in node.body):
            return []
        loop = cls(module, function, node, *walked)
        entries, made = loop._entries()
        if in_order:
            entries = sorted(entries, key=lambda entry: entry.key)
        turns = [(_Turn(loop, entry), statement) for entry in entries for statement in node.body]
        try:
            new = [module.cst.substituted(statement, turn.instead) for turn, statement in turns]
        except Unprintable:
            return []
        if not entries or not all(turn.seen for turn, _ in turns):
            return []
        return [*made, *Change.of(module, Replace(node, new))]

    def _entries(self) -> tuple[list[_Entry], list[Change]]:
        """The entries, and the edits that give names to those that have none; nothing if not all are seen."""
        found: list[_Entry] = []
        changes: list[Change] = []
        for node in own_nodes(self.function.body):
            if isinstance(node, ast.Name) and node.id == self.dictionary and not self._may_stay(node):
                return [], []
        for statement in self._statements():
            for key, value in _given(statement):
                if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                    return [], []
                if any(entry.key == key.value for entry in found):
                    return [], []
                name = ""
                if isinstance(value, ast.Call) and self.module.resolve(value.func) in METRICS:
                    name = self._free(key.value, [entry.name for entry in found])
                    named = self._named(statement, value, name)
                    if not named:
                        return [], []
                    changes += named
                found.append(_Entry(key.value, value, name))
        return found, changes

    def _statements(self) -> list[ast.stmt]:
        """What fills the dict before the loop."""
        body = own_statements(self.function.body)
        stores = [s for s in body if isinstance(s, ast.Assign) and self._fills(s) and s.lineno < self.node.lineno]
        return sorted(stores, key=lambda statement: statement.lineno)

    def _fills(self, statement: ast.Assign) -> bool:
        target = statement.targets[0]
        target = target.value if isinstance(target, ast.Subscript) else target
        return len(statement.targets) == 1 and isinstance(target, ast.Name) and target.id == self.dictionary

    def _may_stay(self, node: ast.Name) -> bool:
        """Whether a use of the dict is in the loop, fills it before the loop whatever the conditions or after it, or hands
        it on."""
        statement = self.module.statement(node)
        if statement is self.node or self.module.is_inside(node, self.node):
            return isinstance(node.ctx, ast.Load)
        if isinstance(statement, ast.Assign) and self._fills(statement) and not isinstance(node.ctx, ast.Del):
            target = statement.targets[0]
            plain = isinstance(statement.value, ast.Dict) if target is node else node is getattr(target, "value", None)
            if target is not node and plain and statement.lineno > self.node.lineno:
                return not any(isinstance(a, (ast.For, ast.While)) for a in self.module.ancestors(self.node))
            around = {id(ancestor) for ancestor in self.module.ancestors(self.node)}
            return plain and id(self.module.parent(statement)) in around and statement.lineno < self.node.lineno
        parent = self.module.parent(node)
        called = isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Subscript) and parent.value is node)
        return isinstance(node.ctx, ast.Load) and not called

    def _named(self, statement: ast.stmt, value: ast.Call, name: str) -> list[Change]:
        """The edits that give a metric of the dict a name before the statement; none where nothing can stand there."""
        if self.module.indent(statement) is None:
            return []
        made = statements("{name} = {value}", name=name, value=self.module.cst.expression(value))
        return Change.of(self.module, Insert(made, before=statement), Replace(value, expr(name)))

    def _free(self, key: str, taken: list[str]) -> str:
        name = re.sub(r"\W+", "_", key).strip("_").lower() or "metric"
        name = f"metric_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
        used = {node.id for node in walk(self.function) if isinstance(node, ast.Name)} | set(self.module.bound_names)
        while name in used or name in taken:
            name += "_metric"
        return name


class _Turn:
    """A statement in the turn of one entry; `seen` is false where a part of it has nothing that it stands for."""

    def __init__(self, loop: _Loop, entry: _Entry) -> None:
        self.loop, self.entry = loop, entry
        targets = loop.node.target.elts if isinstance(loop.node.target, ast.Tuple) else [loop.node.target]
        pair = targets[-1] if loop.view != "keys" else None
        self.key = targets[0].id if loop.view != "values" and isinstance(targets[0], ast.Name) else ""
        self.metric = pair.id if isinstance(pair, ast.Name) else ""
        parts = pair.elts if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else []
        self.parts = [part.id if isinstance(part, ast.Name) else "" for part in parts]
        self.seen = len(targets) == (2 if loop.view == "items" else 1) and bool(self.key or self.metric or self.parts)

    def instead(self, node: ast.AST) -> cst.BaseExpression | None:
        """What takes the place of a node."""
        if (
            isinstance(node, ast.expr)
            and self.key
            and (folded := folded_text(node, {self.key: self.entry.key})) is not None
        ):
            return code(quoted(folded))
        if isinstance(node, ast.JoinedStr):
            self.seen = False  # what it reads has no reliable place
        if isinstance(node, ast.Subscript) and self._is_metric(node.value):
            index = node.slice
            part = index.value if isinstance(index, ast.Constant) else None
            return self._checked(
                self.entry.part(self.loop.module, part) if isinstance(part, int) and part < 2 else None
            )
        if isinstance(node, ast.expr) and self._is_metric(node):
            return self._checked(self.entry.whole())
        if isinstance(node, ast.Name) and node.id in self.parts:
            return self._checked(self.entry.part(self.loop.module, self.parts.index(node.id)))
        return None

    def _checked(self, found: cst.BaseExpression | None) -> cst.BaseExpression | None:
        self.seen &= found is not None
        return found

    def _is_metric(self, node: ast.expr) -> bool:
        """Whether an expression is the metric of the turn: by its own name, or by the key in the dict."""
        if isinstance(node, ast.Name):
            return node.id == self.metric
        held = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name)
        return held and node.value.id == self.loop.dictionary and node.slice.id == self.key  # type: ignore[attr-defined]


def _walked(node: ast.expr) -> tuple[tuple[str, str] | None, bool]:
    """The dict that a loop walks over with the view of it, and whether in the order of the keys."""
    if isinstance(node, ast.Name):
        return (node.id, "keys"), False
    if not isinstance(node, ast.Call) or node.keywords:
        return None, False
    function = node.func
    if isinstance(function, ast.Name) and function.id in ("sorted", "list") and len(node.args) == 1:
        walked, in_order = _walked(node.args[0])
        return walked, in_order or function.id == "sorted"
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        if function.value.id == "six" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            view = function.attr.replace("iter", "", 1)
            return ((node.args[0].id, view) if view in _VIEWS else None), False
        if function.attr in _VIEWS and not node.args:
            return (function.value.id, function.attr), False
    return None, False


def _given(statement: ast.stmt) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """Keys and values that a statement gives to the dict."""
    assert isinstance(statement, ast.Assign)
    target = statement.targets[0]
    if isinstance(target, ast.Subscript):
        yield target.slice, statement.value
    elif isinstance(statement.value, ast.Dict):
        yield from zip(statement.value.keys, statement.value.values)
