"""Whether every name, attribute and parameter that may hold an Estimator holds nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.objects.methods import class_of
from migrator.normalise.values.decorated import takers
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.symbols import Binding
from migrator.resolve.syntax import walk

from ..estimator_calls.estimator_values import Construction, Values
from ..estimator_calls.following import Follower
from ..estimator_calls.value_paths import shape as shape_of
from ..optimizers.class_families import family
from .handed_modules import handed_modules

_TRAIN_AND_EVALUATE = "tensorflow.estimator.train_and_evaluate"
Shape = tuple[str, ...]
Doubt = tuple[Module, ast.AST, str]
_METHODS = frozenset(
    "train evaluate predict export_saved_model export_savedmodel experimental_export_all_saved_models "
    "latest_checkpoint get_variable_value get_variable_names eval_dir".split()
)


def estimator_values(project: Project, constructions: list[Construction]) -> Values:
    """Follow the made Estimators to all their uses."""
    follower = Follower(project, constructions)
    values = follower.run()
    checks = _Checks(follower)
    for doubts in (checks.names(), checks.members(), checks.parameters(), checks.returns(), checks.containers()):
        values.lost += doubts
    values.lost += [*checks.decorated(), *checks.strangers()]
    values.lost += handed_modules(project, checks.makers(), checks.globals())
    return values


class _Checks:
    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.project = follower.project

    def _followed(self, node: ast.AST | None, shape: Shape) -> bool:
        """Whether an expression holds an Estimator of that shape, or nothing yet."""
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return True
        if (node, shape) in self.follower.shapes or (node, shape) in self.follower.bound:
            return True
        return shape[:1] == ("element",) and _is_empty(node)

    def names(self) -> Iterator[Doubt]:
        """Names that stand for something else as well."""
        for (path, scope, name, shape), (module, node) in self.follower.names.items():
            if shape[:1] and shape[0].startswith("."):
                continue  # an object: its class says what its attribute is
            for binding in scope.bindings.get(name, []):
                if not self._binds(self.project.modules[path], binding, shape):
                    yield module, node, f"`{name}` stands for something else as well"
                    break

    def _binds(self, module: Module, binding: Binding, shape: Shape) -> bool:
        node = binding.node
        if binding.is_none or isinstance(node, (ast.Import, ast.ImportFrom)):
            return True
        if binding.alias is not None:
            return self._followed(binding.alias, shape)
        if isinstance(node, ast.NamedExpr):
            node = node.target
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return shape[:1] == ("call",)
        if isinstance(node, ast.arg):
            return any(key[1] == node.arg and key[3] == shape for key in self.follower.parameters)
        if self._followed(node, shape):
            return True
        parent = module.parent(node)
        return isinstance(parent, (ast.Assign, ast.AnnAssign)) and self._followed(parent.value, shape)

    def members(self) -> Iterator[Doubt]:
        """Attributes that are set to something else as well, and methods that return something else."""
        for (owner, name, shape), node in self.follower.members.items():
            for related in family(self.follower.project, owner):
                for store, value in _stores(related, name):
                    if (store, shape) not in self.follower.bound and not self._followed(value, shape):
                        yield related.module, store, f"`.{name}` stands for something else as well"
                assert isinstance(related.node, ast.ClassDef)
                for method in related.node.body:
                    if isinstance(method, ast.FunctionDef) and method.name == name and method is not node:
                        inner = shape[1:] if shape[:1] == ("call",) else shape
                        if (method, inner) not in self.follower.returning and returns_of(related.module, method):
                            yield related.module, method, f"another `{name}` returns something else"

    def parameters(self) -> Iterator[Doubt]:
        """Functions that get something else from another caller."""
        for (definition, parameter, skip, shape), _ in self.follower.parameters.items():
            if skip or (shape[:1] and shape[0].startswith(".")):
                continue
            function = definition.node
            assert isinstance(function, ast.FunctionDef)
            outer = definition.module.scope(definition.module.parent(function) or definition.module.tree)
            names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
            for module, reference in self.project.readers.of(definition.module, outer, function.name):
                call = module.parent(reference)
                if not isinstance(call, ast.Call) or call.func is not reference:
                    continue
                given = dict(zip(names, call.args))
                given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
                value = given.get(parameter)
                if value is not None and not self._followed(value, shape):
                    yield module, value, f"`{parameter}` of `{function.name}` stands for something else as well"

    def returns(self) -> Iterator[Doubt]:
        """Functions that return something else as well."""
        for (function, shape), module in list(self.follower.returning.items()):
            assert isinstance(function, ast.FunctionDef)
            for statement in returns_of(module, function):
                if not self._followed(statement.value, shape) and not _of_nothing(statement.value):
                    yield module, statement, f"`{function.name}` returns something else as well"

    def decorated(self) -> Iterator[Doubt]:
        """Functions that a decorator gets beside those that make Estimators, and may enter into the same table."""
        for (taker, shape), known in self.follower.decorated.items():
            if shape[1:2] and shape[1].startswith("."):
                continue  # a class: its objects have that attribute
            for module in self.project.modules.values() if known else ():
                for node in module.nodes(ast.FunctionDef) if b"@" in module.source else ():
                    assert isinstance(node, ast.FunctionDef)
                    other = Definition(module, node)
                    if node.decorator_list and other not in known and taker in takers(self.project, other):
                        yield module, node, f"`{taker.name}` decorates something else as well"

    def containers(self) -> Iterator[Doubt]:
        """Lists and dicts that hold something else as well."""
        for module, display, path, at in self.follower.mixed:
            shape = shape_of(path)
            if isinstance(display, (ast.List, ast.Tuple)):
                elements = list(display.elts)
            elif isinstance(display, ast.Dict):
                elements = list(display.values)
            else:
                elements = [k.value for k in display.keywords] if isinstance(display, ast.Call) else []
            if not all(self._followed(element, shape) for element in elements):
                yield module, at, "it is one of several values of different kinds"
        for module, value, path in self.follower.stored:
            shape = shape_of(path)
            if not self._followed(value, shape):
                yield module, value, "something else may stand in its place"

    def makers(self) -> set[tuple[str, str]]:
        """The functions of modules that make Estimators, with the paths of these."""
        made = self.follower.returning.items()
        return {(m.path, f.name) for (f, _), m in made if isinstance(f, ast.FunctionDef) and m.parent(f) is m.tree}

    def globals(self) -> set[tuple[str, str]]:
        """The names of modules that hold Estimators, with the paths of these."""
        return {(path, name) for path, scope, name, _ in self.follower.names if scope.kind == "module"}

    def strangers(self) -> Iterator[Doubt]:
        """Uses of an attribute's name, or of what a method of its name returns, on objects of which nothing is known."""
        names = {name for _, name, _ in self.follower.members}
        followed = {found for found, _ in self.follower.shapes}
        for module in self.project.modules.values() if names else ():
            for node in module.nodes(ast.Attribute):
                if node.attr not in names or node in followed or module.resolve(node) is not None:
                    continue
                call = module.parent(node)
                value = call if isinstance(call, ast.Call) and call.func is node else node
                if not any(_is_used(module, each) for each in (value, *_loads_of(module, value))):
                    continue
                if class_of(self.project, module, node.value)[0] is None:
                    yield module, node, f"of what object this is the `.{node.attr}` is not seen"


def _is_used(module: Module, node: ast.expr) -> bool:
    """Whether a value is used as an Estimator is."""
    parent = module.parent(node)
    if isinstance(parent, (ast.Call, ast.keyword)):
        call = parent if isinstance(parent, ast.Call) else module.parent(parent)
        return isinstance(call, ast.Call) and module.resolve(call.func) == _TRAIN_AND_EVALUATE
    return isinstance(parent, ast.Attribute) and parent.attr in _METHODS


def _loads_of(module: Module, value: ast.expr) -> list[ast.Name]:
    """The reads of the name that a value is assigned to."""
    statement = module.parent(value)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is value else None
    scope = module.scope(target) if isinstance(target, ast.Name) else None
    if scope is None or not isinstance(target, ast.Name):
        return []
    return [load for load in module.loads(target.id) if module.scope(load).lookup(target.id) is scope.lookup(target.id)]


def _stores(owner: Definition, name: str) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    """Where methods of a class set an attribute of their object, and to what."""
    module = owner.module
    for node in walk(owner.node):
        if not isinstance(node, ast.Attribute) or node.attr != name or isinstance(node.ctx, ast.Load):
            continue
        if not isinstance(node.value, ast.Name):
            continue
        parent = module.parent(node)
        yield node, parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else ast.Name("?")


def returns_of(module: Module, function: ast.FunctionDef) -> list[ast.Return]:
    """The returns of a function that have a value, without those of functions in it."""
    found = []
    for node in walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            owner = module.nearest(node, (ast.FunctionDef, ast.Lambda))
            if owner is function:
                found.append(node)
    return found


def _of_nothing(value: ast.expr | None) -> bool:
    """``None, None``."""
    return isinstance(value, ast.Tuple) and all(isinstance(e, ast.Constant) and e.value is None for e in value.elts)


def _is_empty(node: ast.AST) -> bool:
    """``[]``, ``{}``, ``dict()``, ``OrderedDict()``, also as the target of such an assignment."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.values
    return isinstance(node, ast.Call) and not node.args and not node.keywords
