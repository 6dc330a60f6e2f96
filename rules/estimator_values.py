"""Which expressions of a program are Estimators: followed through names, functions that return them, and parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator.module import Binding, Module
from migrator.project import Definition, Project

PREFIX = "tensorflow.estimator."
ESTIMATOR = PREFIX + "Estimator"
_RUNNERS = ("tensorflow.app.run", "tensorflow.compat.v1.app.run", "absl.app.run")


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
        self.makers: set[ast.AST] = set()
        """References to functions that return Estimators."""

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
        for where, reference in references_to(self.project, definition):
            self._maker(where, reference)

    def _maker(self, module: Module, node: ast.expr) -> None:
        """`node` is a function that returns an Estimator: follow what its calls return, wherever it is handed to."""
        if node in self.makers:
            return
        self.makers.add(node)
        parent = module.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            self.follow(module, parent)
            return
        call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
        if isinstance(call, ast.Call) and (module.resolve(call.func) or "").startswith(_RUNNERS):
            return  # what `main` returns, nobody reads
        loads: list[tuple[Module, ast.Name]] | None = None
        if isinstance(call, ast.Call):
            loads = self._parameter_loads(module, call, parent if isinstance(parent, ast.keyword) else node)
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            target = parent.targets[0]
            holder = module.scope(target).holder(target.id)
            if holder.kind != "class" and len(holder.bindings.get(target.id, [])) == 1:
                where = module.analysis.loads
                loads = [(module, n) for n, s in where if n.id == target.id and s.lookup(n.id) is holder]
        if loads is None:
            reason = "the function that makes it goes where it is not followed"
            self.values.lost.append((module, node, reason))
        for target_module, load in loads or ():
            self._maker(target_module, load)

    def _parameter_loads(
        self, module: Module, call: ast.Call, argument: ast.AST
    ) -> list[tuple[Module, ast.Name]] | None:
        """Where a function of the project reads the parameter that gets `argument`; None if that is not seen."""
        definition = self.project.definition(module, call.func)
        if definition is None or not isinstance(definition.node, ast.FunctionDef):
            return None
        args = definition.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        if isinstance(argument, ast.keyword):
            parameter = argument.arg
        else:
            position = next(i for i, a in enumerate(call.args) if a is argument)
            hidden = any(isinstance(a, ast.Starred) for a in call.args[:position])
            parameter = names[position] if position < len(names) and not hidden else None
        if parameter is None or parameter not in [*names, *(a.arg for a in args.kwonlyargs)]:
            return None
        scope = [
            (load, where.lookup(load.id)) for load, where in definition.module.analysis.loads if load.id == parameter
        ]
        held = [(load, holder) for load, holder in scope if holder is not None and holder.node is definition.node]
        if any(len(holder.bindings.get(parameter, [])) > 1 for _, holder in held):
            return None
        return [(definition.module, load) for load, _ in held]

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


def references_to(project: Project, definition: Definition) -> Iterator[tuple[Module, ast.expr]]:
    """Every expression of the project that stands for a function, in order."""
    for path in sorted(project.modules):
        module = project.modules[path]
        names = {e.name for e in module.imports if e.target.rpartition(".")[2] == definition.name} | {definition.name}
        found: list[ast.expr] = [node for node, _ in module.analysis.loads if node.id in names]
        if definition.name.encode() in module.source:
            found += [n for n in ast.walk(module.tree) if isinstance(n, ast.Attribute) and n.attr == definition.name]
        for node in found:
            if project.definition(module, node) == definition:
                yield module, node


def _is_train(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "train"
