"""The model_fns of a program: where they are, and what they become."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import is_none
from migrator.emit.generate import Generated
from migrator.normalise.values.possible_values import PossibleValues, handed, possible_values
from migrator.resolve.calls import prefixed
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import walk

from ..program.settled import returns_of

PARTIAL = "functools.partial"


@dataclass(eq=False)
class ModelFn:
    """A model_fn of the program and what it becomes."""

    definition: Definition
    class_name: str
    factory: str
    plan: Plan | None = None
    generated: Generated | None = None


@dataclass
class HandedOn:
    """The ways on which model_fns reach their Estimators: parameters, tables, and names with several values."""

    ways: list[PossibleValues] = field(default_factory=list)
    values: set[ast.expr] = field(default_factory=set)
    """Expressions at the beginnings of these ways, which name the model_fns."""

    def places(self, project: Project, module: Module, node: ast.expr) -> list[tuple[Module, ast.expr]]:
        """The expressions that name the model_fns which `node` may be, with their files."""
        way = handed(project, module, node, tables=True)  # what becomes of one model_fn of a table becomes of all
        if way is None:
            return [(module, node)]
        self.ways.append(way)
        self.values |= {value for _, value in way.values}
        return way.values

    def holders(self) -> list[tuple[Module, Scope, str]]:
        """The names that hold model_fns on these ways, with the scopes that bind them."""
        return list(dict.fromkeys(holder for way in self.ways for holder in way.holders))

    def check(self, project: Project) -> None:
        """Refuse to give another meaning to what is read for more than an Estimator."""
        read = {node for way in self.ways for node in way.read}
        for way in self.ways:
            for _, node in way.strangers(project, read):
                raise Unsupported("the model_fn is used for more than an Estimator", node)


def model_fn_behind(project: Project, module: Module, node: ast.expr, depth: int = 0) -> Definition | None:
    """The model_fn behind an expression: a function, or what a builder function returns."""
    if depth > 5:
        return None
    if isinstance(node, ast.Call):
        if module.resolve(node.func) == PARTIAL and node.args:
            return model_fn_behind(project, module, node.args[0], depth + 1)
        builder = project.definition(module, node.func)
        if builder is None or not isinstance(builder.node, ast.FunctionDef):
            return None
        own = returns_of(builder.module, builder.node)
        found = {model_fn_behind(project, builder.module, r.value, depth + 1) for r in own if r.value is not None}
        return found.pop() if len(found) == 1 else None
    definition = project.definition(module, node)
    if definition is None and isinstance(node, ast.Name):
        bindings = module.bindings(node)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.Name):
            statement = module.statement(bindings[0].node)
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                return model_fn_behind(project, module, statement.value, depth + 1)
    return definition


def why_not_found(project: Project, module: Module, node: ast.expr) -> str:
    """Why it is not seen which function an Estimator is made with."""
    stuck = possible_values(project, module, node).stuck
    return "the model_fn is not found" + (f": {stuck.reason}" if stuck is not None else "")


def refuse_unseen_module(module: Module, node: ast.expr) -> None:
    """Refuse a model_fn of a module of which nothing is known, as its name is made at run time. Raises Unsupported."""
    waiting: list[ast.expr] = [node]
    seen: set[ast.AST] = set()
    while waiting:
        for part in walk(waiting.pop()):
            if isinstance(part, ast.Call):
                imports = module.resolve(part.func) == "importlib.import_module" or _is_import(module, part.func)
                first = part.args[0] if part.args else None
                if imports and not isinstance(first, ast.Constant) and (first is None or prefixed(first) is None):
                    raise Unsupported("which module the model_fn is in is known at run time only: import it", part)
            bound = module.bindings(part) if isinstance(part, ast.Name) else []
            statement = (
                module.parent(bound[0].node) if len(bound) == 1 and isinstance(bound[0].node, ast.Name) else None
            )
            if isinstance(statement, ast.Assign) and statement not in seen:
                seen.add(statement)
                waiting.append(statement.value)


def _is_import(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__import__" and not module.bindings(node)


def plans_of(models: list[ModelFn], given: dict[str, ast.expr]) -> list[Plan]:
    """The plans of the model_fns that an Estimator may be made with, which are called alike. Raises Unsupported.

    They are told what it starts from; `given` are its arguments.
    """
    node, start = given["model_fn"], given.get("warm_start_from")
    plans = [model.plan for model in models if model.plan is not None]
    for plan in plans if not is_none(start) else ():
        plan.warm = start
    if len({"params" in plan.statics for plan in plans}) > 1:
        raise Unsupported("only some of the model_fns that this may be take params", node)
    return plans


def is_partial(module: Module, node: ast.Call) -> bool:
    """Whether a call is that of `functools.partial`."""
    return module.resolve(node.func) == PARTIAL


def check_partial(partial: ast.Call, plan: Plan) -> None:
    """Refuse a `functools.partial` that gives more than what is known when the model is built."""
    if len(partial.args) > 1:
        raise Unsupported("a partial model_fn with positional arguments is not followed", partial)
    for keyword in partial.keywords:
        if keyword.arg is None:
            raise Unsupported("a partial model_fn with ** is not followed", keyword.value)
        if keyword.arg not in plan.statics or keyword.arg in ("params", "config"):
            raise Unsupported(f"a partial model_fn that fixes `{keyword.arg}` is not followed", keyword.value)


def whole_span(module: Module, node: ast.AST) -> tuple[int, int]:
    """From the first decorator of a function to its end, with a comment behind it."""
    start, end = module.span(node)
    line = module.source[end:].split(b"\n", 1)[0]
    if line.lstrip().startswith(b"#"):
        end += len(line.rstrip())
    decorators = getattr(node, "decorator_list", [])
    if decorators:
        start = min(module.span(d)[0] - 1 for d in decorators)
    return start, end
