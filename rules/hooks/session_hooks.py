"""Hooks that a program writes itself: which of them a callback can run, as nothing in them needs a session."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.opnames import short_name
from migrator.normalise.values.attributes import stored
from migrator.normalise.values.possible_values import text_of
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

from .logging_ends import logs_at_end

_STEPS = ("tensorflow.train.get_global_step", "tensorflow.train.get_or_create_global_step")
_FAMILIES = ("tensorflow.train.", "tensorflow.estimator.")
LOGGING = "LoggingTensorHook"
_PROTOCOL = ("SessionRunHook", LOGGING, "SessionRunArgs", "SecondOrStepTimer")
_ALLOWED = (*(family + name for family in _FAMILIES for name in _PROTOCOL), *_STEPS)
_ALLOWED_FAMILIES = ("tensorflow.logging.", "tensorflow.gfile.")
_GRAPH = "tensorflow.get_default_graph"
_BY_NAME = frozenset({"getattr", "setattr", "delattr", "vars", "eval", "exec"})
_VARIABLE_KINDS = frozenset({"tensorflow.disable_v2_behavior", "tensorflow.disable_resource_variables"})
# Parameters of each method that a callback has no value for, and what may be read of the others.
_METHODS: dict[str, tuple[str, ...]] = {
    "begin": (),
    "after_create_session": ("", ""),
    "before_run": ("request_stop",),
    "after_run": ("request_stop", "results"),
    "end": ("",),
}


def _is(name: str | None, short: str) -> bool:
    return name in [family + short for family in _FAMILIES]


def is_of_protocol(name: str) -> bool:
    """Whether a name is one that classes of hooks are written with."""
    return name in _ALLOWED and not name.endswith(LOGGING)


def reads_step_before(module: Module) -> bool:
    """Whether a fetch of the global step beside a train op gave its value before the step.

    So it does for the variables that TensorFlow 2 makes (measured with 2.15); those of TensorFlow 1, also in TensorFlow 2
    after `disable_v2_behavior`, give the value after it.
    """
    return has_resources(module)


def has_resources(module: Module) -> bool:
    """Whether the variables of a program are resources, as those of TensorFlow 2 are, and no references."""
    v2 = module.module_dialect == "v2" or any(
        entry.target.startswith("tensorflow.compat.v1") for entry in module.imports
    )
    return v2 and not any(name in _VARIABLE_KINDS for _, name in module.references())


def hook_class(project: Project, module: Module, made: ast.expr | None, logs: bool = True) -> Definition | None:
    """The class of the program that a call makes an object of, if it derives from `SessionRunHook`; or, where it may be one
    that `logs`, from `LoggingTensorHook`."""
    found = project.definition(module, made.func) if isinstance(made, ast.Call) else None
    node = found.node if found is not None else None
    if found is None or not isinstance(node, ast.ClassDef) or len(node.bases) != 1:
        return None
    base = found.module.resolve(node.bases[0])
    plain = not node.keywords and not node.decorator_list
    return found if plain and (_is(base, "SessionRunHook") or (logs and _is(base, LOGGING))) else None


class SessionHook:
    """One such class. `check` refuses what a callback cannot keep; `names` and `reads_step` say what it fetches."""

    def __init__(
        self,
        module: Module,
        definition: ast.ClassDef,
        given_tensors: bool = False,
        made: ast.Call | None = None,
        sees_names: bool = False,
        reads_session: bool = False,
        project: Project | None = None,
    ) -> None:
        self.module, self.project = module, project
        self.definition = definition
        self.given_tensors = given_tensors
        """Whether what it is made from may be tensors, for whose names they are exchanged."""
        self.sees_names = sees_names
        """Whether it may look tensors of the graph up by their names: a callback reads them elsewhere."""
        self.reads_session = reads_session
        """Whether it may ask a session for the global step: a callback asks the optimizer."""
        self.session_reads: dict[ast.Call, ast.expr] = {}
        """Where it does, and what stands for the step."""
        self.tensors: dict[str, str] = {}
        """Parameters that are fetched, by the attribute that holds them."""
        self.methods = {part.name: part for part in definition.body if isinstance(part, ast.FunctionDef)}
        self.names: dict[str, ast.expr] = {}
        self.reads_step = False
        self.steps: set[ast.AST] = set()
        self.step_attributes: set[str] = set()
        self.looked_up: dict[str, str] = {}
        """Names of tensors that `begin` looks up in the graph, by the attribute that holds them."""
        self.lookups: set[ast.stmt] = set()
        """The statements of `begin` that do so."""
        self.logs = _is(module.resolve(definition.bases[0]), LOGGING)
        """Whether it is a LoggingTensorHook with more to it."""
        self.idle = logs_at_end(module, definition, made) if self.logs else frozenset()
        """What never runs: the branches for values that are logged at the end, which nothing asks for."""

    def check(self, evaluated: bool) -> None:
        """Raise `Unsupported` where the hook needs a session, or cannot be seen not to need one.

        `evaluated` hooks run in evaluations, which a callback cannot stop.
        """
        for part in self.definition.body:
            if not isinstance(part, (ast.FunctionDef, ast.Assign, ast.Expr, ast.Pass)):
                raise Unsupported("this part of a hook is not migrated yet", part)
            if isinstance(part, ast.FunctionDef) and part.decorator_list:
                raise Unsupported("a method of a hook with a decorator is not migrated yet", part)
            if isinstance(part, ast.FunctionDef) and [argument.arg for argument in part.args.args[:1]] != ["self"]:
                raise Unsupported("a method of a hook whose first parameter is not `self` is not migrated yet", part)
        for name in ("after_create_session", "end") if self.reads_session else ():
            if name in self.methods:
                self._session(self.methods[name])
        for name, allowed in _METHODS.items():
            if name in self.methods:
                self._parameters(self.methods[name], allowed)
        if "before_run" in self.methods:
            if self.logs:
                raise Unsupported(
                    "a LoggingTensorHook with a `before_run` of its own is not migrated yet", self.definition
                )
            self._before_run(self.methods["before_run"])
        if self.logs:
            self._step_of_logger()
        self._references()
        if evaluated:
            for node in walk(self.definition):
                if isinstance(node, ast.Attribute) and node.attr == "request_stop":
                    raise Unsupported("a hook that stops an evaluation is not migrated yet", node)
            for node in self.names.values():
                raise Unsupported("a tensor that a hook of an evaluation fetches is not migrated yet", node)

    def spelled(self) -> Iterator[tuple[ast.expr, str]]:
        """References to what only `tf.compat.v1` has, and their names there."""
        inside = {id(node) for node in walk(self.definition)}
        for node, name in self.module.references():
            if id(node) in inside and name in _ALLOWED:
                yield node, f"train.{name.rpartition('.')[2]}"

    def _parameters(self, method: ast.FunctionDef, allowed: tuple[str, ...]) -> None:
        """Of the context only `request_stop` is there, of the values only `results`, of a session nothing."""
        given = method.args
        if len(given.args) != len(allowed) + 1 or given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
            raise Unsupported(f"`{method.name}` of a hook with other parameters is not migrated yet", method)
        for argument, attribute in zip(given.args[1:], allowed):
            for node in walk(method):
                if isinstance(node, ast.Name) and node.id == argument.arg and id(node) not in self.idle:
                    parent = self.module.parent(node)
                    if parent is not None and self.module.parent(parent) in self.session_reads:
                        continue
                    if not attribute or not isinstance(parent, ast.Attribute) or parent.attr != attribute:
                        raise Unsupported(
                            f"a hook that uses its `{argument.arg}` in this way is not migrated yet", node
                        )

    def _session(self, method: ast.FunctionDef) -> None:
        """Note where a method asks its session for the global step: ``session.run(tf.train.get_global_step())``."""
        given = [argument.arg for argument in method.args.args[1:2]]
        for call in (node for node in walk(method) if isinstance(node, ast.Call)):
            function, asked = call.func, arguments(call)
            runs = (
                isinstance(function, ast.Attribute) and function.attr == "run" and isinstance(function.value, ast.Name)
            )
            if not runs or [ast.unparse(function.value)] != given or len(asked) != 1:  # type: ignore[attr-defined]
                continue
            step = asked[0].value if isinstance(asked[0], ast.keyword) else asked[0]
            if isinstance(step, ast.Call) and self.module.resolve(step.func) in _STEPS and not arguments(step):
                self.steps.add(step.func)
            elif isinstance(step, ast.Attribute) and self._own(step) and self._holds_step(step):
                self._attribute(step)
            else:
                continue
            self.session_reads[call] = step

    def _holds_step(self, node: ast.Attribute) -> bool:
        """Whether `begin` sets an attribute to the global step."""
        begin = self.methods.get("begin")
        stores = [n for n in self._attributes(self.module.tree) if n.attr == node.attr and isinstance(n.ctx, ast.Store)]
        values = [stored(self.module, store) for store in stores]
        known = all(
            isinstance(v, ast.Call) and self.module.resolve(v.func) in _STEPS and not arguments(v) for v in values
        )
        return (
            bool(stores) and known and all(self.module.is_inside(store, begin) for store in stores if begin is not None)
        )

    def _before_run(self, method: ast.FunctionDef) -> None:
        """What is fetched must be seen. Where data end, Keras may begin one step more or less than a session, so what
        this method notes must not be read later than in `after_run`."""
        for node in walk(method):
            if isinstance(node, ast.Return) and node.value is not None:
                self._returned(node.value)
            elif isinstance(node, (ast.Delete, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.NamedExpr)):
                raise Unsupported("this part of `before_run` of a hook is not migrated yet", node)
            elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                if not self._own(node):
                    raise Unsupported("what `before_run` of a hook changes is not followed", node)
                assert isinstance(node, ast.Attribute)
                self._noted(node)
            elif isinstance(node, ast.Call) and isinstance(self.module.parent(node), ast.Expr):
                if not (self.module.resolve(node.func) or "").startswith("tensorflow.logging."):
                    raise Unsupported("what `before_run` of a hook changes is not followed", node)
            elif isinstance(node, ast.Call) and self._touches_self(node):
                raise Unsupported("what `before_run` of a hook changes is not followed", node)

    def _touches_self(self, call: ast.Call) -> bool:
        """Whether a call, other than that of `SessionRunArgs`, is given the hook or anything in it."""
        if _is(self.module.resolve(call.func), "SessionRunArgs"):
            return False
        return any(isinstance(node, ast.Name) and node.id == "self" for node in walk(call))

    def _noted(self, stored: ast.Attribute) -> None:
        begin = self.methods.get("begin")
        fresh = begin is not None and any(
            self._own(n) and n.attr == stored.attr and isinstance(self.module.parent(n), ast.Assign)
            for n in self._attributes(begin)
            if isinstance(n.ctx, ast.Store)
        )
        near = [self.methods[name] for name in ("before_run", "after_run") if name in self.methods]
        inside = {id(node) for method in near for node in walk(method)}
        for node in self._attributes(self.module.tree):
            if node.attr == stored.attr and isinstance(node.ctx, ast.Load) and id(node) not in inside:
                raise Unsupported(f"`{stored.attr}`, which `before_run` of a hook sets, is read elsewhere", node)
        before = list(self._attributes(self.methods["before_run"]))
        grows = isinstance(self.module.parent(stored), ast.AugAssign) or any(
            n.attr == stored.attr and isinstance(n.ctx, ast.Load) for n in before
        )
        if grows and not fresh:
            raise Unsupported(f"`{stored.attr}`, which `before_run` of a hook counts, is not set in `begin`", stored)

    def _returned(self, value: ast.expr) -> None:
        if isinstance(value, ast.Constant) and value.value is None:
            return
        if isinstance(value, ast.Call) and _is(self.module.resolve(value.func), "SessionRunArgs"):
            given = arguments(value)
            first = given[0] if len(given) == 1 else None
            if isinstance(first, ast.keyword) and first.arg == "fetches":
                self._fetched(first.value)
                return
            if isinstance(first, ast.expr) and not isinstance(first, ast.Starred):
                self._fetched(first)
                return
        raise Unsupported("what `before_run` of a hook returns is not migrated yet", value)

    def _fetched(self, node: ast.expr) -> None:
        """Refuse what is neither a name, nor the global step, nor a structure of these."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.names[short_name(node.value)] = node
        elif isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
            for value in node.values:
                self._fetched(value)
        elif isinstance(node, (ast.List, ast.Tuple)):
            for value in node.elts:
                self._fetched(value)
        elif isinstance(node, ast.Call) and self.module.resolve(node.func) in _STEPS and not arguments(node):
            self.steps.add(node.func)
            self.reads_step = True
        elif isinstance(node, ast.Attribute) and self._own(node):
            self._attribute(node)
        else:
            raise Unsupported("what a hook fetches is not seen", node)

    def _attribute(self, node: ast.Attribute) -> None:
        """``self._global_step``, which holds the global step and nothing else, or a tensor that the hook is given."""
        stores = [n for n in self._attributes(self.module.tree) if n.attr == node.attr and isinstance(n.ctx, ast.Store)]
        parameter = self._parameter(stores) if self.given_tensors else None
        if parameter is not None:
            self.tensors[node.attr] = parameter
            return
        if self.sees_names and len(stores) == 1 and self._looked_up(stores[0], node.attr):
            return
        for store in stores:
            statement = self.module.parent(store)
            value = statement.value if isinstance(statement, ast.Assign) and statement.targets == [store] else None
            if not isinstance(value, ast.Call) or self.module.resolve(value.func) not in _STEPS or arguments(value):
                raise Unsupported("what a hook fetches is not seen", node)
            method = self.module.parent(statement) if isinstance(statement, ast.Assign) else None
            if method is not self.methods.get("begin"):
                raise Unsupported("the global step of a hook is not set in `begin`", store)
            self.steps.add(value.func)
        if not stores:
            raise Unsupported("what a hook fetches is not seen", node)
        self.reads_step = True
        self.step_attributes.add(node.attr)

    def _looked_up(self, store: ast.Attribute, attribute: str) -> bool:
        """Whether `begin` gives an attribute a tensor of the graph by its name, and to nothing else."""
        statement, begin = self.module.parent(store), self.methods.get("begin")
        value = statement.value if isinstance(statement, ast.Assign) and statement.targets == [store] else None
        method = value.func if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords else None
        if not isinstance(method, ast.Attribute) or method.attr != "get_tensor_by_name" or begin is None:
            return False
        assert isinstance(value, ast.Call) and isinstance(statement, ast.Assign)
        name, graph = value.args[0], method.value
        held = self.module.assignment(graph)
        made = graph if held is None else held.value
        known = isinstance(made, ast.Call) and self.module.resolve(made.func) == _GRAPH and not arguments(made)
        inside = all(each is None or self.module.parent(each) is begin for each in (held, statement))
        text = getattr(name, "value", None) if self.project is None else text_of(self.project, self.module, name)
        if not known or not inside or not isinstance(text, str):
            return False
        short = short_name(text)
        self.names[short], self.looked_up[attribute] = name, short
        self.lookups.update(each for each in (held, statement) if each is not None)
        return True

    def _step_of_logger(self) -> None:
        """A LoggingTensorHook may add the global step to what it fetches: ``self._current_tensors[…] = self._step``."""
        begin = self.methods.get("begin")
        for store in self._attributes(begin) if begin is not None else ():
            statement = self.module.statement(store) if isinstance(store.ctx, ast.Store) else None
            value = statement.value if isinstance(statement, ast.Assign) and statement.targets == [store] else None
            if isinstance(value, ast.Call) and self.module.resolve(value.func) in _STEPS and self._own(store):
                self.steps.add(value.func)
                self.reads_step = True
                self.step_attributes.add(store.attr)

    def _parameter(self, stores: list[ast.Attribute]) -> str | None:
        """The parameter of `__init__` that an attribute is set to, if that is all that is done with both."""
        init = self.methods.get("__init__")
        statement = self.module.statement(stores[0]) if len(stores) == 1 else None
        if init is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        value = stored(self.module, stores[0])
        name = value.id if isinstance(value, ast.Name) else None
        loads = [n for n in walk(init) if isinstance(n, ast.Name) and n.id == name]
        known = name in [argument.arg for argument in (*init.args.args[1:], *init.args.kwonlyargs)]
        return name if known and loads == [value] and self.module.parent(statement) is init else None

    def _references(self) -> None:
        """Of TensorFlow, only what needs no graph; the global step only where it is fetched."""
        for node in walk(self.definition):
            held = isinstance(node, ast.Attribute) and (
                node.attr in self.step_attributes or node.attr in self.tensors or node.attr in self.looked_up
            )
            if held and isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                parent = self.module.parent(node)
                compared = isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Is, ast.IsNot))
                if not compared and not self._is_fetch(node):
                    what = "the tensor of the global step" if node.attr in self.step_attributes else "a tensor"
                    raise Unsupported(f"a hook that computes with {what} is not migrated yet", node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                if node.id in _BY_NAME:
                    raise Unsupported(f"a hook that calls `{node.id}` is not followed", node)
                for binding in self.module.bindings(node):
                    if isinstance(binding.node, ast.FunctionDef) and self._reaches_tensorflow(binding.node):
                        raise Unsupported(
                            "a hook that calls a function which uses TensorFlow is not migrated yet", node
                        )
        inside = {id(node) for node in walk(self.definition)}
        for node, name in self.module.references():
            if id(node) not in inside or not name.startswith("tensorflow"):
                continue
            if name in _STEPS and node not in self.steps:
                raise Unsupported("a hook that computes with the tensor of the global step is not migrated yet", node)
            if name == _GRAPH and self.module.statement(node) in self.lookups:
                continue
            if name not in _ALLOWED and not name.startswith(_ALLOWED_FAMILIES):
                raise Unsupported(f"a hook that uses tf.{name.split('.', 1)[-1]} is not migrated yet", node)

    def _is_fetch(self, node: ast.AST) -> bool:
        parent = self.module.parent(node)
        if parent in self.session_reads:
            return True
        if self.logs and isinstance(parent, ast.Attribute):
            return parent.attr == "name"
        if self.logs and isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Subscript):
            table = parent.targets[0].value
            return isinstance(table, ast.Attribute) and self._own(table) and table.attr == "_current_tensors"
        while isinstance(parent, (ast.keyword, ast.Dict, ast.List, ast.Tuple)):
            parent = self.module.parent(parent)
        return isinstance(parent, ast.Call) and _is(self.module.resolve(parent.func), "SessionRunArgs")

    def _reaches_tensorflow(self, function: ast.FunctionDef) -> bool:
        inside = {id(node) for node in walk(function)}
        return any(id(node) in inside and name.startswith("tensorflow") for node, name in self.module.references())

    @staticmethod
    def _own(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"

    @staticmethod
    def _attributes(tree: ast.AST) -> Iterator[ast.Attribute]:
        return (node for node in walk(tree) if isinstance(node, ast.Attribute))
