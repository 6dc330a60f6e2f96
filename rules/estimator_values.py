"""Which expressions of a program are Estimators: followed through names, functions that return them, and parameters."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrator.module import Binding, Module
from migrator.project import Definition, Project

PREFIX = "tensorflow.estimator."
ESTIMATOR = PREFIX + "Estimator"


@dataclass(eq=False)
class Construction:
    """One `Estimator(…)` call, or a call that makes another kind of Estimator."""

    module: Module
    call: ast.Call
    arguments: dict[str, ast.expr]
    """Of `Estimator`, by parameter."""
    name: str = ESTIMATOR
    """Qualified name of what is called."""
    dialect: str = "v1"
    """``v1`` or ``v2``: the TensorFlow whose class it is, where they differ."""
    dialect_reason: str = ""
    """Why, as a phrase."""
    tpu: bool = False
    """Whether it is a TPUEstimator."""


@dataclass
class Values:
    """All Estimators of a project: where they are made, and each place that reads one."""

    constructions: list[Construction] = field(default_factory=list)
    reads: list[tuple[Module, ast.expr]] = field(default_factory=list)
    """Expressions whose value is an Estimator, constructions included."""
    lost: list[tuple[Module, ast.AST, str]] = field(default_factory=list)
    """Estimators that go where they are not followed: stored in an attribute, a list, an unknown function."""


def estimator_values(project: Project, constructions: list[Construction]) -> Values:
    """Follow the made Estimators to all their uses."""
    return _Follower(project, constructions).run()


class _Follower:
    def __init__(self, project: Project, constructions: list[Construction]) -> None:
        self.project = project
        self.values = Values(constructions)
        self.seen: set[ast.AST] = set()
        self.functions: set[Definition] = set()
        self.calls_of: dict[Definition, list[tuple[Module, ast.Call]]] | None = None

    def run(self) -> Values:
        for construction in self.values.constructions:
            self.follow(construction.module, construction.call)
        return self.values

    def follow(self, module: Module, node: ast.expr) -> None:
        """`node` is an Estimator: note it, and see where it goes."""
        if node in self.seen:
            return
        self.seen.add(node)
        self.values.reads.append((module, node))
        parent = module.parent(node)
        if isinstance(parent, ast.Attribute) and parent.value is node:
            call = module.parent(parent)
            if parent.attr == "train" and isinstance(call, ast.Call) and call.func is parent:
                self.follow(module, call)  # train() returns the Estimator
            return
        if isinstance(parent, ast.Return):
            self._returned(module, parent)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in targets:
                self._assigned(module, target, node)
        elif isinstance(parent, ast.Call) and node in parent.args:
            self._passed(module, parent, node, position=parent.args.index(node))
        elif isinstance(parent, ast.keyword):
            call = module.parent(parent)
            assert isinstance(call, ast.Call) or isinstance(call, ast.ClassDef)
            if isinstance(call, ast.Call):
                self._passed(module, call, node, keyword=parent.arg)
        elif isinstance(parent, ast.IfExp) and node is not parent.test:
            self.follow(module, parent)
        elif isinstance(parent, ast.Lambda) and isinstance(node, ast.Call) and _is_train(node):
            return  # the value of `lambda: estimator.train(f)` is of no interest
        elif not isinstance(parent, ast.Expr):
            self.values.lost.append((module, node, "it is stored where it is not followed"))

    def _assigned(self, module: Module, target: ast.expr, node: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            self.values.lost.append((module, node, "it is kept in an attribute or a container"))
            return
        scope = module.scope(target).holder(target.id)
        if scope.kind == "class":
            self.values.lost.append((module, node, "it is kept in a class attribute"))
            return
        others = [b for b in scope.bindings.get(target.id, []) if not b.is_none and not self._is_estimator(module, b)]
        if others:
            self.values.lost.append((module, node, f"`{target.id}` stands for something else as well"))
            return
        if scope.kind == "module" and self._exported(module, target.id):
            self.values.lost.append((module, node, f"`{target.id}` is imported by another file"))
            return
        for name, where in module.analysis.loads:
            if name.id == target.id and where.lookup(name.id) is scope:
                self.follow(module, name)

    def _is_estimator(self, module: Module, binding: Binding) -> bool:
        """Whether a binding of a name binds an Estimator that was seen already or will be."""
        if binding.alias is not None:
            return binding.alias in self.seen
        if not isinstance(binding.node, ast.Name):
            return False
        statement = module.statement(binding.node)
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.expr):
            return False
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "train":
            value = value.func.value
        if value in self.seen or any(c.call is value for c in self.values.constructions):
            return True
        return isinstance(value, (ast.Call, ast.Name, ast.IfExp)) and value in self.values_of_functions(module, value)

    def values_of_functions(self, module: Module, value: ast.expr) -> list[ast.expr]:
        """`value`, if it calls a function that returns Estimators."""
        if isinstance(value, ast.Call):
            definition = self.project.definition(module, value.func)
            if definition is not None and definition in self.functions:
                return [value]
        return []

    def _exported(self, module: Module, name: str) -> bool:
        for other in self.project.modules.values():
            if other is module:
                continue
            for entry in other.imports:
                head, _, last = entry.target.rpartition(".")
                if last == name and head.strip(".") and self.project.module_named(head, other) is module:
                    return True
        return False

    def _returned(self, module: Module, statement: ast.Return) -> None:
        function = next((a for a in module.ancestors(statement) if isinstance(a, (ast.FunctionDef, ast.Lambda))), None)
        if not isinstance(function, ast.FunctionDef):
            return
        if isinstance(module.parent(function), ast.ClassDef):
            self.values.lost.append((module, function, "a method returns it"))
            return
        definition = Definition(module, function)
        if definition in self.functions:
            return
        self.functions.add(definition)
        for where, call in self._calls().get(definition, []):
            self.follow(where, call)

    def _passed(
        self, module: Module, call: ast.Call, node: ast.expr, position: int = 0, keyword: str | None = None
    ) -> None:
        name = module.resolve(call.func)
        if name is not None and name.startswith("tensorflow."):
            return  # looked at by the rule that knows the function
        definition = self.project.definition(module, call.func)
        if definition is None or not isinstance(definition.node, ast.FunctionDef):
            self.values.lost.append((module, node, "it is handed to a function that is not seen"))
            return
        args = definition.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        parameter = keyword if keyword is not None else names[position] if position < len(names) else None
        if parameter is None or parameter not in [*names, *(a.arg for a in args.kwonlyargs)]:
            self.values.lost.append((module, node, "it is handed on through * or **"))
            return
        target = definition.module
        for load, where in target.analysis.loads:
            holder = where.lookup(load.id) if load.id == parameter else None
            if holder is not None and holder.node is definition.node:
                self.follow(target, load)

    def _calls(self) -> dict[Definition, list[tuple[Module, ast.Call]]]:
        if self.calls_of is None:
            self.calls_of = {}
            for module, call in self.project.calls():
                definition = self.project.definition(module, call.func)
                if definition is not None:
                    self.calls_of.setdefault(definition, []).append((module, call))
        return self.calls_of


def _is_train(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "train"
