"""Where the name of a variable goes inside an optimizer class: any use but a search of patterns is refused."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.loggers import LOGGERS
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.resolve.syntax import walk

OUTPUT = "^(.*):\\d+$"
"""Cuts the number of the output off a name."""
_SEARCHES = ("re.search", "re.match")


def check_uses(own: OptimizerClass, method: ast.FunctionDef) -> None:
    """Follow the names of variables from `method` through the class. Raises Unsupported for a use that is not followed."""
    names = [n for n in walk(method) if isinstance(n, ast.Attribute) and n.attr == "name"]
    _Uses(own).run(list(names))


class _Uses:
    def __init__(self, own: OptimizerClass) -> None:
        self.own = own
        self.seen: set[ast.AST] = set()
        self.waiting: list[ast.expr] = []

    def run(self, start: list[ast.expr]) -> None:
        self.waiting = start
        while self.waiting:
            node = self.waiting.pop()
            if node not in self.seen:
                self.seen.add(node)
                self._follow(node)

    def _follow(self, node: ast.expr) -> None:
        module = self.own.module
        parent = module.parent(node)
        if isinstance(parent, ast.keyword):
            parent = module.parent(parent)
        if isinstance(parent, (ast.Subscript, ast.BinOp)):
            self.waiting.append(parent)
        elif isinstance(parent, ast.Assign) and all(isinstance(t, ast.Name) for t in parent.targets):
            for target in parent.targets:
                self._loads(parent, ast.unparse(target))
        elif isinstance(parent, ast.Return):
            self._returned(parent)
        elif isinstance(parent, ast.Call) and node is not parent.func:
            self._argument(parent, node)
        else:
            raise Unsupported("what an optimizer does with the names of variables is not followed", node)

    def _argument(self, call: ast.Call, node: ast.expr) -> None:
        name = self.own.module.resolve(call.func) or ""
        if name == "tensorflow.get_variable" or name.startswith(LOGGERS):
            return
        if name in _SEARCHES and len(call.args) == 2 and call.args[1] is node:
            pattern, parent = call.args[0], self.own.module.parent(call)
            if isinstance(pattern, ast.Constant) and pattern.value == OUTPUT and isinstance(parent, ast.Assign):
                for attribute in self._reads(parent, ast.unparse(parent.targets[0])):
                    group = self.own.module.parent(attribute)
                    if isinstance(group, ast.Attribute) and group.attr == "group":
                        made = self.own.module.parent(group)
                        assert isinstance(made, ast.Call)
                        self.waiting.append(made)
            return
        method = self._method(call)
        if method is None:
            raise Unsupported("what an optimizer does with the names of variables is not followed", call)
        parameters = [a.arg for a in method.args.args][1:]
        given = [*zip(parameters, call.args), *((k.arg, k.value) for k in call.keywords)]
        for parameter, value in given:
            if value is node and parameter is not None:
                self._loads(method, parameter)

    def _method(self, call: ast.Call) -> ast.FunctionDef | None:
        """The method of the class that ``self.method(…)`` calls."""
        function = call.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return None
        return self.own.method(function.attr) if function.value.id == "self" else None

    def _returned(self, statement: ast.Return) -> None:
        """The calls of a method that gives a name back."""
        function = self._function(statement)
        for node in walk(self.own.node):
            if isinstance(node, ast.Call) and self._method(node) is function:
                self.waiting.append(node)

    def _loads(self, inside: ast.AST, name: str) -> None:
        self.waiting += self._reads(inside, name)

    def _reads(self, inside: ast.AST, name: str) -> list[ast.expr]:
        """Where the method around a node reads a local name."""
        function = inside if isinstance(inside, ast.FunctionDef) else self._function(inside)
        return [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]

    def _function(self, node: ast.AST) -> ast.FunctionDef:
        return next(a for a in self.own.module.ancestors(node) if isinstance(a, ast.FunctionDef))
