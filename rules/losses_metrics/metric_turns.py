"""Loops over texts that are written down, whose turns make a metric and read it, turn by turn."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, Unprintable, code, expr

from .folded_texts import folded_text, quoted
from .metrics import METRICS

if TYPE_CHECKING:
    import libcst as cst

    from migrator.rewrite import Statement

_MANY = 16
_NAMED = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.expr_context)
_MAY_CHANGE = (ast.Attribute, ast.Subscript, ast.Call, ast.Assign, ast.Return)
_JUMPS = (
    ast.Break,
    ast.Continue,
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Global,
    ast.Nonlocal,
    ast.Lambda,
)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """Edits for the first such loop of a function; none where a turn may be left, or its text is changed.

    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        metrics = {}
        for task in ["click", "buy"]:
            metrics["accuracy_" + task] = tf.metrics.accuracy(labels[task], classes[task])
            tf.summary.scalar(task, metrics["accuracy_" + task][1])
        return metrics
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        metrics = {}
        metrics["accuracy_click"] = tf.metrics.accuracy(labels["click"], classes["click"])
        tf.summary.scalar("click", metrics["accuracy_click"][1])
        metrics["accuracy_buy"] = tf.metrics.accuracy(labels["buy"], classes["buy"])
        tf.summary.scalar("buy", metrics["accuracy_buy"][1])
        return metrics
    ```

    So are loops over tuples whose turns make metrics.

    ```python
    import tensorflow as tf


    def model_fn(clicks, buys, p_click, p_buy):
        metrics = {}
        for task, label, p in [("click", clicks, p_click), ("buy", buys, p_buy)]:
            metrics["auc_" + task] = tf.metrics.auc(label, p)
        return metrics
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(clicks, buys, p_click, p_buy):
        metrics = {}
        metrics["auc_click"] = tf.metrics.auc(clicks, p_click)
        metrics["auc_buy"] = tf.metrics.auc(buys, p_buy)
        return metrics
    ```
    """
    for node in own_statements(function.body):
        if not isinstance(node, ast.For) or node.orelse:
            continue
        turns = _texts(module, node) or _tuples(module, node)
        inner = [n for statement in node.body for n in walk(statement) if isinstance(n, ast.Name)]
        own = {n.id for n in inner if not isinstance(n.ctx, ast.Load)}
        if not 0 < len(turns) <= _MANY or not _makes_metric(module, node, read=not isinstance(node.target, ast.Tuple)):
            continue
        targets = set(turns[0].values)
        if not _is_plain(module, function, node, targets | own) or own & targets.union(*(turn.reads for turn in turns)):
            continue
        if any(module.bound_names & {f"{name}_{turn.word}" for turn in turns} for name in own):
            continue
        try:
            rows = [_turned(module, statement, turn, own) for turn in turns for statement in node.body]
        except Unprintable:
            continue
        return Change.of(module, Replace(node, rows))
    return []


@dataclass(frozen=True)
class _Turn:
    """What the names of a loop stand for in one turn; one of them is a text."""

    values: dict[str, ast.expr]

    @property
    def texts(self) -> dict[str, str]:
        """Those of the names that are texts."""
        known = {name: value.value for name, value in self.values.items() if isinstance(value, ast.Constant)}
        return {name: text for name, text in known.items() if isinstance(text, str)}

    @property
    def word(self) -> str:
        """What ends the names that the turn binds."""
        return next((_word(text) for text in self.texts.values()), "")

    @property
    def reads(self) -> set[str]:
        """Names that the values read."""
        return {n.id for value in self.values.values() for n in walk(value) if isinstance(n, ast.Name)}


def _apart(turns: list[_Turn]) -> list[_Turn]:
    """Turns whose texts tell them apart; none where they do not."""
    words = {turn.word for turn in turns}
    return turns if len(words) == len(turns) and all(words) else []


def _texts(module: Module, loop: ast.For) -> list[_Turn]:
    """The turns over a list of texts that is written down, in the head of the loop or once in a name; none for all others."""
    node = loop.iter
    made = module.assignment(node) if isinstance(node, ast.Name) else None
    if made is not None and isinstance(node, ast.Name):
        loads = module.loads_of(node.id, module.scope(node).lookup(node.id))
        if isinstance(made.value, ast.List) and any(isinstance(module.parent(n), _MAY_CHANGE) for n in loads):
            return []
        node = made.value
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    if not isinstance(loop.target, ast.Name):
        return []
    return _apart([_Turn({loop.target.id: part}) for part in parts])


def _tuples(module: Module, loop: ast.For) -> list[_Turn]:
    """The turns over tuples that are written down, of texts and of what has a name; none for all others."""
    names = [n.id for n in loop.target.elts if isinstance(n, ast.Name)] if isinstance(loop.target, ast.Tuple) else []
    if not isinstance(loop.target, ast.Tuple) or len(set(names)) != len(loop.target.elts):
        return []
    rows = [part.elts if isinstance(part, (ast.List, ast.Tuple)) else [] for part in _written(module, loop.iter)]
    if any(
        len(row) != len(names) or not all(isinstance(n, _NAMED) for part in row for n in walk(part)) for row in rows
    ):
        return []
    return _apart([_Turn(dict(zip(names, row))) for row in rows])


def _written(module: Module, node: ast.expr) -> list[ast.expr]:
    """The parts of a list in the head of a loop, or of a `zip` of such lists."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    function = node.func if isinstance(node, ast.Call) and not node.keywords else None
    if isinstance(node, ast.Call) and isinstance(function, ast.Name) and function.id == "zip":
        columns = [part.elts for part in node.args if isinstance(part, (ast.List, ast.Tuple))]
        if (
            not module.bindings(function)
            and len(columns) == len(node.args)
            and len({len(column) for column in columns}) == 1
        ):
            return [ast.Tuple([*row], ast.Load()) for row in zip(*columns)]
    return []


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower()


def _makes_metric(module: Module, loop: ast.For, read: bool) -> bool:
    """Whether a turn makes a metric, and where it has to be `read`, takes its value or its update: ``metric[1]``,
    ``metrics[key][1]``."""
    inner = [node for statement in loop.body for node in walk(statement)]
    if not any(isinstance(node, ast.Call) and module.resolve(node.func) in METRICS for node in inner):
        return False
    if not read:
        return True
    taken = (node for node in inner if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load))
    pairs = (n for n in inner if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Tuple))
    return any(isinstance(n.slice, ast.Constant) and n.slice.value in (0, 1) for n in taken) or any(pairs)


def _is_plain(module: Module, function: ast.FunctionDef, loop: ast.For, names: set[str]) -> bool:
    """Whether nothing leaves a turn before its end, and nothing reads the `names` that it binds after it."""
    if any(isinstance(node, _JUMPS) for statement in loop.body for node in walk(statement)):
        return False
    inside = {id(node) for node in walk(loop)}
    outside = (n for n in walk(function) if isinstance(n, ast.Name) and n.id in names and id(n) not in inside)
    return all(_is_of_a_loop(module, node) for node in outside)


def _is_of_a_loop(module: Module, name: ast.Name) -> bool:
    """Whether a loop or a comprehension around a name gives it its value."""
    heads = [a.target for a in module.ancestors(name) if isinstance(a, ast.For)]
    for outer in module.ancestors(name):
        heads += [loop.target for loop in getattr(outer, "generators", [])]
    return any(isinstance(n, ast.Name) and n.id == name.id for head in heads for n in walk(head))


def _turned(module: Module, statement: ast.stmt, turn: _Turn, own: set[str]) -> Statement:
    """A statement in a turn, whose own names end with its text."""

    def instead(node: ast.AST) -> cst.BaseExpression | None:
        if isinstance(node, ast.Name) and node.id in own:
            return expr(f"{node.id}_{turn.word}")
        folded = folded_text(node, turn.texts) if isinstance(node, ast.expr) else None
        if folded is not None:
            return code(quoted(folded))
        return (
            module.cst.expression(turn.values[node.id])
            if isinstance(node, ast.Name) and node.id in turn.values
            else None
        )

    return module.cst.substituted(statement, instead)
