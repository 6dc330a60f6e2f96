"""The code of a program that a piece of code names, itself or through others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.objects.methods import lookup, method_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Place = tuple[Module, ast.AST]
_Global = tuple[Module, str]


class NamedCode:
    """Follows names to functions, classes, methods of classes that are seen, and variables of modules."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._seen: set[ast.AST] = set()
        self._globals: set[tuple[str, str]] = set()
        self._waiting: list[Place] = []

    def follow(self, module: Module, node: ast.AST) -> None:
        """Look at a function, class, statement or expression, and at what it names."""
        if node not in self._seen:
            self._seen.add(node)
            self._waiting.append((module, node))

    def places(self) -> Iterator[Place]:
        """Everything there is to follow, each place once."""
        while self._waiting:
            module, node = self._waiting.pop(0)
            yield module, node
            receivers: set[ast.expr] = set()
            """Objects of which a method is named, and nothing else by that."""
            for part in walk(node):
                if not isinstance(part, (ast.Name, ast.Attribute)) or not isinstance(part.ctx, ast.Load):
                    continue
                method = method_of(self.project, module, part) if isinstance(part, ast.Attribute) else None
                if method is not None:
                    receivers.add(method.receiver)
                    made = lookup(self.project, method.owner, "__init__")
                    for owner, function in [(method.owner, method.function), *([made] if made is not None else [])]:
                        self.follow(owner.module, function)
                elif part not in receivers:
                    for place in self._behind(module, part):
                        self.follow(*place)

    def _behind(self, module: Module, node: ast.Name | ast.Attribute) -> Iterator[Place]:
        """The code of the program that a name stands for."""
        definition = self.project.definition(module, node)
        if definition is not None:
            yield definition.module, definition.node
            return
        found = self._global(module, node)
        if found is not None:
            yield from self._statements(*found)
        name = module.qualified(node) or ""
        target = self.project.module_named(name, module) if name.strip(".") else None
        if target is not None and not isinstance(module.parent(node), ast.Attribute):  # getattr(models, name)
            yield from ((target, statement) for statement in target.tree.body if isinstance(statement, DEFINITIONS))

    def _global(self, module: Module, node: ast.AST) -> _Global | None:
        """The module and the name of a variable of a module."""
        if isinstance(node, ast.Name):
            holder = module.scope(node).lookup(node.id)
            if holder is module.analysis.root and any(isinstance(b.node, ast.Name) for b in holder.bindings[node.id]):
                return module, node.id
        head, _, last = (module.qualified(node) or "").rpartition(".")
        target = self.project.module_named(head or ".", module) if head or last else None
        return (target, last) if target is not None else None

    def _statements(self, module: Module, name: str) -> Iterator[Place]:
        """What gives a variable of a module its value, or enters something into it."""
        if (module.path, name) in self._globals:
            return
        self._globals.add((module.path, name))
        for statement in module.tree.body:
            plain = not isinstance(statement, (*DEFINITIONS, ast.Import, ast.ImportFrom))
            if plain and any(isinstance(part, ast.Name) and part.id == name for part in walk(statement)):
                yield module, statement
        for other in self.project.modules.values():
            if b"@" in other.source:
                decorated: list[ast.FunctionDef | ast.ClassDef] = [
                    *other.nodes(ast.FunctionDef),
                    *other.nodes(ast.ClassDef),
                ]
                for node in decorated:
                    if any(self._enters(other, d, module, name) for d in node.decorator_list):
                        yield other, node

    def _enters(self, module: Module, decorator: ast.expr, owner: Module, name: str) -> bool:
        """Whether a decorator may enter what it decorates into a variable of a module."""
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = self.project.definition(module, function)
        if found is not None:
            return found.module is owner and any(isinstance(n, ast.Name) and n.id == name for n in walk(found.node))
        while isinstance(function, ast.Attribute):
            function = function.value
            held = self._global(module, function)
            if held is not None and held[0] is owner and held[1] == name:
                return True
        return False
