"""The hooks that a call is given: whether all of them are seen and can be callbacks, and how they are written then."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.normalise.values.callers import given_by_callers
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.symbols import Binding
from migrator.rewrite import Replace, expr, given

from .hook_makers import makers_of
from .hooks import IN_GRAPH, hook_of, of_a_session, watch_names
from .logged_names import assigned_value
from .session_hooks import SessionHook, hook_class, reads_step_before

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

_EVALUATION = ("Estimator.evaluate", "tf.estimator.EvalSpec", "a InMemoryEvaluatorHook")


def migrate_hooks(driver: FileEdits, node: ast.expr, what: str) -> None:
    """Migrate the value of an argument `hooks` of `what`.

    Where the model_fn stays a graph, that calls the hooks, whatever they are. Elsewhere each must be seen to be made by a
    call that `hook_reference` migrates, or be of a class of the program that a callback can run. Raises Unsupported.
    """
    if driver.graph:
        if _only_callbacks(driver, node):
            return
        _wrap(driver, node, driver.need("graph_hooks", node), reads_step_before(driver.module))
        return
    if what == "Estimator.predict":
        raise Unsupported(f"`hooks` of {what} is not migrated yet", node)
    _Hooks(driver, what, node).migrate(driver.module, node)


def _only_callbacks(driver: FileEdits, node: ast.expr) -> bool:
    """Whether `hook_reference` makes callbacks of all hooks of a list that stands here."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        return False
    made = [assigned_value(driver.module, element) for element in node.elts]
    names = [hook_of(driver.module.resolve(call.func)) if isinstance(call, ast.Call) else None for call in made]
    return all(name is not None and name not in IN_GRAPH for name in names)


def _wrap(driver: FileEdits, node: ast.expr, function: str, reads_before: bool) -> None:
    """Writes `node` as the argument of a call."""
    held, behind = driver.module.cst.expression(node), given("steps_behind=1" if reads_before else "")
    driver.change(Replace(node, expr("{function}({held}, {behind})", function=function, held=held, behind=behind)))


def _is_asked(parent: ast.AST | None, load: ast.expr) -> bool:
    """Whether it is only asked if a list has anything in it."""
    return isinstance(parent, ast.UnaryOp) or (isinstance(parent, (ast.If, ast.IfExp)) and parent.test is load)


@dataclass
class _Hooks:
    """The hooks of one argument: a list, a choice or a sum of lists, a name that holds such lists, or what a function of
    the program returns, in whatever file."""

    driver: FileEdits
    what: str
    argument: ast.expr
    read: set[ast.expr] = field(default_factory=set)
    """Names that stand for lists of hooks here."""
    _seen: set[ast.expr] = field(default_factory=set)

    def migrate(self, module: Module, node: ast.expr) -> None:
        """Migrate a list of hooks. Raises Unsupported where not all hooks are seen."""
        if is_none(node) or node in self._seen:
            return
        self._seen.add(node)
        if isinstance(node, (ast.List, ast.Tuple)):
            for element in node.elts:
                if element not in self.driver.fed:  # of which what they feed is a dataset
                    self._hook(module, element, element)
        elif isinstance(node, (ast.IfExp, ast.BoolOp)):
            for value in (node.body, node.orelse) if isinstance(node, ast.IfExp) else node.values:
                self.migrate(module, value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self.migrate(module, node.left)
            self.migrate(module, node.right)
        elif isinstance(node, ast.Name):
            self._named(module, node)
        elif isinstance(node, ast.Call):
            for home, value in self._returned(module, node):
                self.migrate(home, value)
        else:
            raise self._unseen(node)

    def _hook(self, module: Module, hook: ast.expr | None, at: ast.expr) -> None:
        """One hook of a list; `at` is where it is named."""
        driver, evaluated = self.driver.beside(module), self.what in _EVALUATION
        made = assigned_value(module, hook)
        if not evaluated and isinstance(made, ast.Call) and hook_of(module.resolve(made.func)) is not None:
            return
        definition = hook_class(self.driver.project, module, made)
        if hook is None:
            raise self._unseen(at)
        if definition is None:
            for home, value in self._sources(module, made if made is not None else hook):
                if value not in self._seen:
                    self._seen.add(value)
                    self._hook(home, value, value)
            return
        owner = self.driver.beside(definition.module)
        assert isinstance(definition.node, ast.ClassDef) and isinstance(made, ast.Call)
        checked = SessionHook(definition.module, definition.node, made=made)
        checked.check(evaluated)
        if hook in driver.handled:  # one list of several trainings
            return
        owner.watched.update(checked.names)
        if checked.logs:
            given = next((k.value for k in made.keywords if k.arg == "tensors"), made.args[0] if made.args else None)
            watch_names(driver, given, made)
        owner.spell(checked.spelled())
        driver.handled.add(hook)
        before = checked.reads_step and reads_step_before(definition.module)
        _wrap(driver, hook, driver.need("HookCallback", hook), before)

    def _sources(self, module: Module, node: ast.expr) -> list[tuple[Module, ast.expr]]:
        """The expressions that make a hook which stands under a name, or comes from a function of the program."""
        if isinstance(node, ast.Call):
            reason = of_a_session(module.resolve(node.func))
            if reason is not None:
                raise Unsupported(reason, node)
            return self._returned(module, node)
        bindings = module.bindings(node) if isinstance(node, ast.Name) else []
        if isinstance(node, ast.Name) and len(bindings) == 1 and isinstance(bindings[0].node, ast.arg):
            return self._given(module, node, bindings[0])
        raise self._unseen(node)

    def _returned(self, module: Module, call: ast.Call) -> list[tuple[Module, ast.expr]]:
        """What the functions of the program return that a call may call."""
        makers = makers_of(self.driver.project, module, call)
        if makers is None:
            raise self._unseen(call)
        self.driver.hook_makers.append(makers)
        self.read.update(value for _, value in makers.returned)  # before one of them is followed
        return makers.returned

    def _given(self, module: Module, node: ast.Name, binding: Binding) -> list[tuple[Module, ast.expr]]:
        """What all callers of a function give for its parameter."""
        assert isinstance(binding.node, ast.arg)
        try:
            return given_by_callers(self.driver.project, module, binding.node)
        except Unsupported:
            raise self._unseen(node) from None

    def _named(self, module: Module, node: ast.Name) -> None:
        """A list that has a name: each value that the name gets, and all that is done with it."""
        self.read.add(node)
        bindings = module.bindings(node)
        for binding in bindings:
            if isinstance(binding.node, ast.arg):
                for home, value in self._given(module, node, binding):
                    self.migrate(home, value)
                continue
            statement = binding.node if isinstance(binding.node, ast.stmt) else module.statement(binding.node)
            if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                raise self._unseen(node)
            stored = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if statement.value is None or node.id not in [
                target.id for target in stored if isinstance(target, ast.Name)
            ]:
                raise self._unseen(node)
            if not self.read.intersection(stored):
                self.read.update(stored)
                self.migrate(module, statement.value)
        if not bindings:
            raise self._unseen(node)
        for load in module.loads_of(node.id, module.scope(node).lookup(node.id)):
            if load not in self.read:
                self._use(module, load)

    def _use(self, module: Module, load: ast.Name) -> None:
        """Only known hooks may be added to the list."""
        parent = module.parent(load)
        call = module.parent(parent) if isinstance(parent, ast.Attribute) else None
        if isinstance(parent, ast.Attribute):
            added = isinstance(call, ast.Call) and len(arguments(call)) == 1
            given = call.args[0] if isinstance(call, ast.Call) and added and call.args else None
            if parent.attr == "extend" and given is not None:
                self.migrate(module, given)
            else:
                self._hook(module, given if parent.attr == "append" else None, load)
        elif not (isinstance(parent, ast.keyword) and parent.arg == "hooks") and not _is_asked(parent, load):
            raise self._unseen(load)

    def _unseen(self, node: ast.expr) -> Unsupported:
        return Unsupported(f"`hooks` of {self.what} is not migrated yet", node)
