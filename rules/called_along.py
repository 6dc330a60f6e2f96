"""Code in files that a rewrite leaves as they are, which the new model still calls: it must not need a graph.

What the model calls by name is followed into layers; what it gets through a table or from another function is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.modelfn.errors import Unsupported
from migrator.module import Module
from migrator.project import Definition, Project
from migrator.syntax import walk

from .estimator_values import Construction
from .finishing import touches, within
from .translations import is_refused, needs_graph

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Place = tuple[Module, ast.AST]
_Global = tuple[Module, str]


def check_called(
    project: Project, bodies: Iterable[Definition], constructions: list[Construction], rewritten: Iterable[Module]
) -> None:
    """Follow the names in `bodies`, and in the params of the Estimators, through the files that are not `rewritten`.

    Raises Unsupported at a name of TensorFlow 1 that works on a graph.
    """
    done = {module.path for module in rewritten}
    if all(path in done or not module.mentions_tensorflow for path, module in project.modules.items()):
        return
    follower = _Follower(project, done)
    for body in bodies:
        follower.follow(body.module, body.node)
    for construction in constructions:
        if "params" in construction.arguments:
            follower.follow(construction.module, construction.arguments["params"])
    follower.run()


class _Follower:
    def __init__(self, project: Project, rewritten: set[str]) -> None:
        self.project = project
        self.rewritten = rewritten
        self._seen: set[ast.AST] = set()
        self._globals: set[tuple[str, str]] = set()
        self._waiting: list[_Place] = []

    def follow(self, module: Module, node: ast.AST) -> None:
        """Look at a function, class, statement or expression, and at what it names."""
        if node not in self._seen:
            self._seen.add(node)
            self._waiting.append((module, node))

    def run(self) -> None:
        """Look at everything there is to follow. Raises Unsupported."""
        while self._waiting:
            module, node = self._waiting.pop(0)
            if module.path not in self.rewritten:
                _check(module, node)
            for part in walk(node):
                if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                    for place in self._behind(module, part):
                        self.follow(*place)

    def _behind(self, module: Module, node: ast.Name | ast.Attribute) -> Iterator[_Place]:
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
            yield from ((target, statement) for statement in target.tree.body if isinstance(statement, _DEFINITIONS))

    def _global(self, module: Module, node: ast.AST) -> _Global | None:
        """The module and the name of a variable of a module."""
        if isinstance(node, ast.Name):
            holder = module.scope(node).lookup(node.id)
            if holder is module.analysis.root and any(isinstance(b.node, ast.Name) for b in holder.bindings[node.id]):
                return module, node.id
        head, _, last = (module.qualified(node) or "").rpartition(".")
        target = self.project.module_named(head or ".", module) if head or last else None
        return (target, last) if target is not None else None

    def _statements(self, module: Module, name: str) -> Iterator[_Place]:
        """What gives a variable of a module its value, or enters something into it."""
        if (module.path, name) in self._globals:
            return
        self._globals.add((module.path, name))
        for statement in module.tree.body:
            plain = not isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom))
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


def _check(module: Module, node: ast.AST) -> None:
    """Refuse names that work on a graph and that no rule rewrites by itself."""
    if not isinstance(node, (ast.expr, ast.stmt)):
        return
    inside = [module.span(node)]
    edits = [edit for fix in module.fixes for edit in fix.edits]
    for reference, name in module.references():
        span = module.span(reference)
        if not is_refused(name) or not within(span, inside) or touches(span, edits):
            continue
        if module.dialect(reference) != "v2" or needs_graph(name):
            short = name.replace("tensorflow", "tf", 1)
            raise Unsupported(f"{short} is in code that does not move with the model_fn", reference)
