"""A model that is no more than layers one behind another: `Sequential` needs no class.

class Model(tf.keras.Model):                 model = tf.keras.Sequential([
    def __init__(self):                          tf.keras.layers.Dense(8),
        super().__init__()                       tf.keras.layers.Dense(1),
        self.hidden = tf.keras.layers.Dense(8)   ])
        self.logits = tf.keras.layers.Dense(1)

    def call(self, features):
        return self.logits(self.hidden(features))
"""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Chain:
    """The layers of such a model."""

    attributes: tuple[str, ...]
    """What the class would call them, in the order in which they are applied."""
    texts: tuple[str, ...]
    """How they are made."""

    def path(self, path: str) -> str:
        """Where a weight is, which would be at a path of attributes of the class."""
        first, dot, rest = path.partition(".")
        return f"layers.{self.attributes.index(first)}{dot}{rest}" if first in self.attributes else path


def chain_of(text: str) -> Chain | None:
    """The layers of a class whose methods make them and apply each to what the one before gives, and do nothing else."""
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ClassDef)
    methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    if len(node.body) != 2 or set(methods) != {"__init__", "call"} or "#" in text:
        return None
    made = _made(methods["__init__"])
    applied = _applied(methods["call"])
    if made is None or applied is None or sorted(made) != sorted(applied):
        return None
    texts = [ast.get_source_segment(text, made[name]) or "" for name in applied]
    return Chain(tuple(applied), tuple(texts)) if not any("\n" in each for each in texts) else None


def _made(init: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """The values of attributes, if `__init__` does no more than to set each of them once."""
    found: dict[str, ast.expr] = {}
    for statement in init.body[1:]:  # behind that of the base class
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(target, ast.Attribute) or not isinstance(statement, ast.Assign) or target.attr in found:
            return None
        if not isinstance(statement.value, ast.Call) or any(_is_own(n) for n in ast.walk(statement.value)):
            return None
        found[target.attr] = statement.value
    return found


def _applied(call: ast.FunctionDef) -> list[str] | None:
    """The attributes that `call` applies, the first one to its argument, and each to the result of the one before."""
    known: dict[str, list[str]] = {call.args.args[1].arg: []}
    for statement in call.body:
        if not isinstance(statement, (ast.Assign, ast.Return)) or statement.value is None:
            return None
        applied = _of_value(statement.value, known)
        if applied is None or isinstance(statement, ast.Return):
            return applied if statement is call.body[-1] else None
        if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
            return None
        known = {statement.targets[0].id: applied}
    return None


def _of_value(node: ast.expr, known: dict[str, list[str]]) -> list[str] | None:
    """The attributes whose results make a value."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if not isinstance(node, ast.Call) or not _is_own(node.func) or len(node.args) != 1:
        return None
    if any(keyword.arg != "training" or ast.unparse(keyword.value) != "training" for keyword in node.keywords):
        return None
    before = _of_value(node.args[0], known)
    assert isinstance(node.func, ast.Attribute)
    return None if before is None or node.func.attr in before else [*before, node.func.attr]


def _is_own(node: ast.AST) -> bool:
    """Whether an expression is an attribute of the object itself."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
