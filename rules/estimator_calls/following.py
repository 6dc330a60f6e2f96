"""Follows Estimators from where they are made: through names, attributes, containers, parameters and what functions return.

A value is followed together with the path to the Estimator in it (see `value_paths`), so `MODELS = {"wide": make_wide}`,
`self.estimator = …` and `return estimator, spec` are all one case. What is not understood is noted as lost.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import deque

from migrator.analyse.statements.loggers import is_message
from migrator.normalise.objects.methods import class_of, lookup, method_of
from migrator.normalise.values.decorated import gives_back, takers
from migrator.normalise.values.possible_values import functions
from migrator.resolve.calls import fills_text
from migrator.resolve.chosen_members import readers_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.symbols import Scope

from ..optimizers.class_families import family, method_of_base
from .estimator_values import EXTENDERS, Construction, Values
from .value_paths import ANY, CALL, Path, Step, attribute, gives_keys, of_instance, shape

_DEEP = 6
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRANSPARENT = frozenset({"staticmethod", "classmethod", "abc.abstractmethod", "abstractmethod"})
_CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.wraps"})
_PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property"})
_HARMLESS = frozenset({"print", "str", "repr", "type", "id", "len", "bool", "callable", "hasattr", "isinstance"})
_SAME = frozenset({"list", "tuple", "reversed", "sorted", "iter", "dict"})
_RUNNERS = frozenset({"tensorflow.app.run", "absl.app.run"})


class Follower:
    """`run` fills `values`; what it found on the way serves the checks in `settled`."""

    def __init__(self, project: Project, constructions: list[Construction], limit: int = sys.maxsize) -> None:
        self.project = project
        self._limit = limit
        self.values = Values(constructions)
        self.shapes: set[tuple[ast.AST, tuple[str, ...]]] = set()
        """Every expression that was followed, with the shape of its path."""
        self.bound: set[tuple[ast.AST, tuple[str, ...]]] = set()
        """Every target that such a value was bound to."""
        self.names: dict[tuple[str, Scope, str, tuple[str, ...]], tuple[Module, ast.AST]] = {}
        """Names that hold one, by file, scope, name and shape, and where they are bound first."""
        self.parameters: dict[tuple[Definition, str, int, tuple[str, ...]], ast.AST] = {}
        self.members: dict[tuple[Definition, str, tuple[str, ...]], ast.AST] = {}
        self.returning: dict[tuple[ast.AST, tuple[str, ...]], Module] = {}
        self.decorated: dict[tuple[Definition, tuple[str, ...]], set[Definition]] = {}
        """What each decorator is given, by the shape of its path."""
        self.exhausted = False
        """Whether there were more than `limit` places to follow, and so not all were."""
        self.mixed: list[tuple[Module, ast.expr, Path, ast.AST]] = []
        """Containers of which any element may be read: all must be of one kind."""
        self.stored: list[tuple[Module, ast.expr, Path]] = []
        """What is put into such containers later."""
        self._seen: set[tuple[ast.AST, Path]] = set()
        self._waiting: deque[tuple[Module, ast.expr, Path]] = deque()

    def run(self) -> Values:
        """Follow all Estimators to their uses."""
        for construction in self.values.constructions:
            self.follow(construction.module, construction.call, ())
        while self._waiting:
            self._uses(*self._waiting.popleft())
        return self.values

    def follow(self, module: Module, node: ast.expr, path: Path) -> None:
        """`node` holds an Estimator at `path`: note it, and see later where it goes."""
        if self.exhausted or (node, path) in self._seen:
            return
        self.exhausted = len(self._seen) >= self._limit
        self._seen.add((node, path))
        self.shapes.add((node, shape(path)))
        if not path:
            self.values.reads.append((module, node))
        if len(path) > _DEEP:
            self.lose(module, node, path, "it lies too deep in other values")
        else:
            self._waiting.append((module, node, path))

    def follow_result(self, module: Module, function: ast.expr) -> None:
        """What `function` stands for returns an Estimator."""
        self.follow(module, function, (CALL,))

    def lose(self, module: Module, node: ast.AST, path: Path, reason: str) -> None:
        """Note that an Estimator goes out of sight; an object that keeps one may go where it likes."""
        if path[:1] == (CALL,):
            reason = "the function that makes it goes where it is not followed"
        if not of_instance(path):
            self.values.lost.append((module, node, reason))

    # -- one expression -----------------------------------------------------------------------------------------------

    def _uses(self, module: Module, node: ast.expr, path: Path) -> None:
        parent = module.parent(node)
        if isinstance(parent, ast.Attribute):
            self._attribute(module, parent, path)
        elif isinstance(parent, ast.Subscript) and parent.value is node:
            self._subscript(module, parent, node, path)
        elif isinstance(parent, ast.Call) and parent.func is node:
            if path[:1] == (CALL,):
                self.follow(module, parent, path[1:])
        elif isinstance(parent, ast.Call):
            self._passed(module, parent, node, path, position=parent.args.index(node))
        elif isinstance(parent, ast.keyword):
            call = module.parent(parent)
            if isinstance(call, ast.Call):
                self._passed(module, call, node, path, keyword=parent.arg)
        elif isinstance(parent, ast.Return):
            self._returned(module, parent, path)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                self.bind(module, target, path, node)
        elif isinstance(parent, ast.NamedExpr):
            self.bind(module, parent.target, path, node)
            self.follow(module, parent, path)
        elif isinstance(parent, (ast.Tuple, ast.List)):
            self.follow(module, parent, (Step("element", parent.elts.index(node), parent), *path))
        elif isinstance(parent, ast.Dict) and node in parent.values:
            key = parent.keys[parent.values.index(node)]
            constant = key.value if isinstance(key, ast.Constant) else None
            self.follow(module, parent, (Step("element", constant, parent), *path))
        elif isinstance(parent, (ast.ListComp, ast.GeneratorExp)) and parent.elt is node:
            self.follow(module, parent, (ANY, *path))
        elif isinstance(parent, ast.DictComp) and parent.value is node:
            self.follow(module, parent, (ANY, *path))
        elif isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
            if path and path[0].kind == "element" and not gives_keys(module, node):
                self.bind(module, parent.target, self._any_element(module, node, path), node)
        elif isinstance(parent, ast.BoolOp):
            self._either(module, parent, parent.values, path)
        elif isinstance(parent, ast.IfExp) and node is not parent.test:
            self._either(module, parent, [parent.body, parent.orelse], path)
        elif isinstance(parent, ast.Lambda):
            train = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "train"
            if not train:  # whose value is of no interest
                self.follow(module, parent, (CALL, *path))
        elif isinstance(parent, (ast.FunctionDef, ast.ClassDef)) and path[:1] == (CALL,):
            return  # a decorator, which `_decorated` looks at
        elif not isinstance(
            parent, (ast.Expr, ast.If, ast.While, ast.IfExp, ast.Compare, ast.FormattedValue, ast.Delete)
        ):
            if not (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)) and not fills_text(parent):
                self.lose(module, node, path, "it is stored where it is not followed")

    def _either(self, module: Module, parent: ast.expr, values: list[ast.expr], path: Path) -> None:
        """One of `values` is what `parent` stands for, unless only its truth is asked for."""
        user = module.parent(parent)
        if isinstance(user, (ast.Expr, ast.While, ast.If)) or getattr(user, "test", None) is parent:
            return
        self.stored += [(module, value, path) for value in values]
        self.follow(module, parent, path)

    def _attribute(self, module: Module, parent: ast.Attribute, path: Path) -> None:
        call = module.parent(parent)
        called = call if isinstance(call, ast.Call) and call.func is parent else None
        if not path:
            if parent.attr == "train" and called is not None:
                self.follow(module, called, ())  # train() returns the Estimator
            return
        first, rest = path[0], path[1:]
        if first.kind == "attribute" and parent.attr == first.key and isinstance(parent.ctx, ast.Load):
            self.follow(module, parent, rest)
        elif first.kind == "call" and path[1:2] and path[1].kind == "attribute" and parent.attr == path[1].key:
            if isinstance(parent.ctx, ast.Load):  # `Trainer.estimator`, or a method by way of its class
                self.follow(module, parent, path[2:])
        elif first.kind == "element" and called is not None:
            if parent.attr in ("values", "copy"):
                self.follow(module, called, (ANY, *self._any_element(module, parent, path)))
            elif parent.attr == "items":
                self.follow(module, called, (ANY, Step("element", 1), *self._any_element(module, parent, path)))
            elif parent.attr in ("get", "pop"):
                self.follow(module, called, self._any_element(module, parent, path))
                if parent.attr == "get":
                    self.stored += [(module, value, rest) for value in called.args[1:]]
            elif parent.attr in ("append", "insert"):
                self.stored += [(module, value, rest) for value in called.args[-1:]]
            elif parent.attr not in ("keys", "clear", "index", "remove", "reverse"):
                self.lose(module, parent, path, f"its container is used by `.{parent.attr}`")

    def _subscript(self, module: Module, parent: ast.Subscript, node: ast.expr, path: Path) -> None:
        if not path or path[0].kind != "element":
            return
        if isinstance(parent.ctx, ast.Store):
            statement = module.parent(parent)
            if isinstance(statement, ast.Assign):
                self.stored.append((module, statement.value, path[1:]))
        elif isinstance(parent.slice, ast.Slice):
            self.follow(module, parent, (ANY, *self._any_element(module, node, path)))
        elif isinstance(parent.slice, ast.Constant) and path[0].display is not None:
            if path[0].key in (parent.slice.value, None):
                self.follow(module, parent, path[1:])
        elif isinstance(parent.ctx, ast.Load):
            self.follow(module, parent, self._any_element(module, node, path))

    def _any_element(self, module: Module, at: ast.AST, path: Path) -> Path:
        """The path in an element of a container that is not known; all of its elements have to agree then."""
        display = path[0].display
        if display is not None:
            self.mixed.append((module, display, path[1:], at))
        return path[1:]

    # -- targets ------------------------------------------------------------------------------------------------------

    def bind(self, module: Module, target: ast.expr, path: Path, node: ast.AST) -> None:
        """A target gets a value."""
        self.bound.add((target, shape(path)))
        if isinstance(target, ast.Name):
            self._name(module, target, path, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not path or path[0].kind != "element":
                self.lose(module, node, path, "it is unpacked")
                return
            for index, inner in enumerate(target.elts):
                if isinstance(inner, ast.Starred):
                    self.lose(module, node, path, "it is unpacked with *")
                elif path[0].key in (index, None):
                    self.bind(module, inner, path[1:], node)
        elif isinstance(target, ast.Attribute):
            owner, _ = class_of(self.project, module, target.value)
            if owner is None:
                self.lose(module, node, path, "it is kept in an attribute of an object whose class is not seen")
            else:
                self.member(owner, target.attr, path, node)
        elif isinstance(target, ast.Subscript):
            self._into(module, target.value, path, node)
        else:
            self.lose(module, node, path, "it is stored where it is not followed")

    def _into(self, module: Module, container: ast.expr, path: Path, node: ast.AST) -> None:
        """A value is put into a container that exists."""
        if isinstance(container, (ast.Name, ast.Attribute)):
            self.bind(module, container, (ANY, *path), node)
        else:
            self.lose(module, node, path, "it is kept in a container that is not followed")

    def _name(self, module: Module, target: ast.Name, path: Path, node: ast.AST) -> None:
        here = module.scope(target)
        scope = here.holder(target.id) if isinstance(target.ctx, ast.Store) else here.lookup(target.id)
        if scope is None:
            self.lose(module, node, path, f"where `{target.id}` is bound is not seen")
        elif scope.kind == "class" and isinstance(scope.node, ast.ClassDef):
            self.member(Definition(module, scope.node), target.id, path, node)
        else:
            self.names.setdefault((module.path, scope, target.id, shape(path)), (module, node))
            for where, load in readers_of(self.project, module, scope, target.id):
                self.follow(where, load, path)

    def member(self, owner: Definition, name: str, path: Path, node: ast.AST) -> None:
        """Objects of a class keep an Estimator in an attribute, or return one from a method."""
        key = (owner, name, shape(path))
        if key in self.members:
            return
        self.members[key] = node
        whole = (attribute(name), *path)
        for related in family(self.project, owner):
            assert isinstance(related.node, ast.ClassDef)
            for method in related.node.body:
                if isinstance(method, ast.FunctionDef) and method.args.args and not _is_static(method):
                    for load in related.module.loads_of_parameter(method.args.args[0].arg, method):
                        self.follow(related.module, load, whole)
            scope = related.module.scope(related.module.parent(related.node) or related.node)
            for where, reference in self.project.readers.of(related.module, scope, related.name):
                self.follow(where, reference, (CALL, *whole))
            self._decorated(related, (CALL, *whole))

    # -- functions ----------------------------------------------------------------------------------------------------

    def _returned(self, module: Module, statement: ast.Return, path: Path) -> None:
        function = module.nearest(statement, _FUNCTIONS)
        if not isinstance(function, ast.FunctionDef) or (function, shape(path)) in self.returning:
            return
        self.returning[function, shape(path)] = module
        decorators = [self._decorator(module, node) for node in function.decorator_list]
        owner, here = module.parent(function), Definition(module, function)
        if isinstance(owner, ast.ClassDef):
            known = _TRANSPARENT | _PROPERTIES | _CACHES
            if not all(name in known for name in decorators):
                self.lose(module, function, path, "a decorated method returns it")
            step = () if any(name in _PROPERTIES for name in decorators) else (CALL,)
            self.member(Definition(module, owner), function.name, (*step, *path), function)
            return
        scope = module.scope(owner if owner is not None else module.tree)
        readers = list(readers_of(self.project, module, scope.holder(function.name), function.name))
        if readers and not (all(name in _CACHES for name in decorators) or gives_back(self.project, here)):
            self.lose(module, function, path, "a decorated function returns it")
        self._decorated(here, (CALL, *path))
        for where, reference in readers:
            self.follow(where, reference, (CALL, *path))

    def _decorated(self, decorated: Definition, path: Path) -> None:
        """Decorators of the program get a class or a function, and may keep it."""
        for taker in takers(self.project, decorated):
            self.decorated.setdefault((taker, shape(path)), set()).add(decorated)
            self._parameter(decorated.module, taker, decorated.node, path, 0, None)

    @staticmethod
    def _decorator(module: Module, node: ast.expr) -> str:
        node = node.func if isinstance(node, ast.Call) else node
        return module.resolve(node) or (node.id if isinstance(node, ast.Name) else "")

    def _passed(
        self, module: Module, call: ast.Call, node: ast.expr, path: Path, position: int = 0, keyword: str | None = None
    ) -> None:
        name = module.resolve(call.func)
        if name in _RUNNERS or (name is not None and name.startswith("tensorflow.") and not path):
            if name in EXTENDERS:
                self.follow(module, call, ())
            return  # looked at by the rule that knows the function
        if is_message(module, call) or fills_text(call):
            return
        if name == "functools.partial" and (position or keyword):
            function = call.args[0] if call.args else None
            definition = None if function is None else self.project.definition(module, function)
            self._parameter(module, definition, node, path, position - 1, keyword)
            return
        if name == "functools.partial":
            self.follow(module, call, path)
            return
        if isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id) and not module.bindings(call.func):
            self._built_in(module, call, node, path, position, keyword)
            return
        definition = self.project.definition(module, call.func)
        skip = 0
        if definition is not None and isinstance(definition.node, ast.ClassDef):
            initializer = lookup(self.project, definition, "__init__")
            if initializer is None:
                self._field(module, call, definition, node, path, position, keyword)
                return
            definition, skip = Definition(initializer[0].module, initializer[1]), 1
        elif definition is None:
            method = method_of(self.project, module, call.func) or method_of_base(self.project, module, call.func)
            if method is not None:
                definition = (
                    Definition(method[0], method[1])
                    if isinstance(method, tuple)
                    else Definition(method.module, method.function)
                )
                skip = 0 if _is_static(definition.node) else 1
            elif isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "insert"):
                self._into(module, call.func.value, path, node)
                return
            elif chosen := functions(self.project, module, call.func):  # `ACTIONS[name](estimator)`
                for each in chosen:
                    self._parameter(module, each, node, path, position, keyword)
                return
        self._parameter(module, definition, node, path, position + skip, keyword, skip)

    def _built_in(
        self, module: Module, call: ast.Call, node: ast.expr, path: Path, position: int, keyword: str | None
    ) -> None:
        assert isinstance(call.func, ast.Name)
        name = call.func.id
        if name != "dict" and gives_keys(module, node) and path and path[0].kind == "element":
            return
        if name == "dict" and keyword is not None:
            self.follow(module, call, (Step("element", keyword, call), *path))
        elif name in _SAME and path and path[0].kind == "element" and not any(k.arg == "key" for k in call.keywords):
            self.follow(module, call, path)
        elif name == "enumerate" and path and path[0].kind == "element":
            self.follow(module, call, (ANY, Step("element", 1), *self._any_element(module, node, path)))
        elif name == "zip" and path and path[0].kind == "element":
            self.follow(module, call, (ANY, Step("element", position), *self._any_element(module, node, path)))
        elif name == "next" and path and path[0].kind == "element":
            self.follow(module, call, self._any_element(module, node, path))
        elif name not in _HARMLESS:
            self.lose(module, node, path, "it is handed to a function that is not seen")

    def _field(
        self,
        module: Module,
        call: ast.Call,
        owner: Definition,
        node: ast.expr,
        path: Path,
        position: int,
        keyword: str | None,
    ) -> None:
        """An argument of a dataclass or a NamedTuple becomes an attribute."""
        assert isinstance(owner.node, ast.ClassDef)
        fields = [
            s.target.id for s in owner.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
        ]
        name = keyword if keyword is not None else fields[position] if position < len(fields) else None
        if name not in fields:
            self.lose(module, node, path, "it is handed to a class that is not seen")
            return
        self.member(owner, str(name), path, node)

    def _parameter(
        self,
        module: Module,
        definition: Definition | None,
        node: ast.AST,
        path: Path,
        position: int,
        keyword: str | None,
        skip: int = 0,
    ) -> None:
        if definition is None or not isinstance(definition.node, ast.FunctionDef):
            self.lose(module, node, path, "it is handed to a function that is not seen")
            return
        args = definition.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        parameter = keyword if keyword is not None else names[position] if position < len(names) else None
        if parameter is None or parameter not in [*names, *(a.arg for a in args.kwonlyargs)]:
            self.lose(module, node, path, "it is handed on through * or **")
            return
        self.parameters.setdefault((definition, parameter, skip, shape(path)), node)
        for load in definition.module.loads_of_parameter(parameter, definition.node):
            self.follow(definition.module, load, path)


def _is_static(function: ast.AST) -> bool:
    decorators = getattr(function, "decorator_list", [])
    return any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in decorators)
