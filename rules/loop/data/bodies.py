"""The statements of a function, run on what its expressions stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Protocol

from migrator.resolve.module import Module

from .kinds import Data, Env, Function, Gathered, Known, Value, either


class Values(Protocol):
    """Says what expressions stand for."""

    def value(self, module: Module, node: ast.expr | None, env: Mapping[str, Value] | None = None) -> Value:
        """What an expression stands for."""

    def returned(self, module: Module, node: ast.expr | None, env: Mapping[str, Value]) -> Value:
        """What a function returns."""


class Body:
    """Runs the statements of a function; both arms of a condition that is not known."""

    def __init__(self, reader: Values, module: Module, own: str = "") -> None:
        self.reader = reader
        self.module = module
        self.own = own
        """The name of an object that it initializes; ``self.x`` is a name to it."""
        self.shot: Data | None = None
        """The dataset of which the function reads a batch: once migrated, it returns this one."""
        self.values: list[Value] = []

    def returned(self) -> Value:
        """What all returns have in common."""
        if not self.values:
            return None
        found = self.values[0]
        for value in self.values[1:]:
            found = either(found, value)
        return found

    def run(self, statements: Iterable[ast.stmt], env: Env) -> bool:
        """Whether the statements may reach their end."""
        return all(self._run(statement, env) for statement in statements)

    def _run(self, node: ast.stmt, env: Env) -> bool:
        if isinstance(node, ast.Return):
            if isinstance(node.value, ast.Tuple):  # `return iterator.get_next(), None`
                self._read(node.value.elts[0] if node.value.elts else None, env)
            self.values.append(self.shot or self.reader.returned(self.module, node.value, env))
            return False
        if isinstance(node, ast.Raise):
            return False
        if isinstance(node, ast.FunctionDef):
            env[node.name] = Function(self.module, node, env) if not node.decorator_list else None
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            value = self._read(node.value, env)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                bind(target, value, env)
                if attribute(target, self.own):
                    env[ast.unparse(target)] = value
        elif isinstance(node, ast.If):
            return self._if(node, env)
        elif isinstance(node, ast.With):
            return self.run(node.body, env)
        elif isinstance(node, (ast.For, ast.While, ast.Try, ast.AugAssign, ast.AsyncFor, ast.AsyncWith)):
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    env[part.id] = None
                elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    env[ast.unparse(part)] = None
                elif isinstance(part, ast.Return):
                    self.values.append(None)
        return True

    def _read(self, node: ast.expr | None, env: Env) -> Value:
        """What an expression stands for, which may be the batch that the function reads."""
        value = self.reader.value(self.module, node, env)
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(value, Data) and isinstance(called, ast.Attribute) and called.attr == "get_next":
            self.shot = value
        return value

    def _if(self, node: ast.If, env: Env) -> bool:
        test = self.reader.value(self.module, node.test, env)
        if isinstance(test, Known):
            return self.run(node.body if test.value else node.orelse, env)
        arms = []
        for arm in (node.body, node.orelse):
            inner = dict(env)
            if self.run(arm, inner):
                arms.append(inner)
        if not arms:
            return False
        merged = arms[0]
        for other in arms[1:]:
            merged = {name: either(merged.get(name), other.get(name)) for name in {*merged, *other}}
        env.clear()
        env.update(merged)
        return True


def attribute(node: ast.expr, own: str) -> bool:
    """Whether an expression is an attribute of what a name stands for."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own


def bind(target: ast.expr, value: Value, env: Env) -> None:
    """Give the names of a target what is assigned to it."""
    if isinstance(target, ast.Name):
        env[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        places = value.places if isinstance(value, Gathered) and not value.named else ()
        whole = len(places) == len(target.elts) and not any(isinstance(e, ast.Starred) for e in target.elts)
        for number, element in enumerate(target.elts):
            bind(element, places[number] if whole else None, env)
    elif isinstance(target, ast.Starred):
        bind(target.value, None, env)
