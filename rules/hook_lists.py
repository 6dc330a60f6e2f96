"""The hooks that a call is given: whether all of them are seen and can be callbacks, and how they are written then."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.calls import arguments
from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import is_none

from .hooks import IN_GRAPH, hook_of
from .logged_names import assigned_value
from .session_hooks import SessionHook, hook_class, reads_step_before

if TYPE_CHECKING:
    from .driver import Driver

_EVALUATION = ("Estimator.evaluate", "tf.estimator.EvalSpec", "a InMemoryEvaluatorHook")


def migrate_hooks(driver: Driver, node: ast.expr, what: str) -> None:
    """Migrate the value of an argument `hooks` of `what`.

    Where the model_fn stays a graph, that calls the hooks, whatever they are. Elsewhere each must be seen to be made by a
    call that `hook_reference` migrates, or be of a class of the program that a callback can run. Raises Unsupported.
    """
    if driver.graph:
        if _only_callbacks(driver, node):
            return
        behind = ", steps_behind=1" if reads_step_before(driver.module) else ""
        _wrap(driver, node, driver.need("graph_hooks", node), behind)
        return
    if what == "Estimator.predict":
        raise Unsupported(f"`hooks` of {what} is not migrated yet", node)
    _Hooks(driver, what).migrate(node)


def _only_callbacks(driver: Driver, node: ast.expr) -> bool:
    """Whether `hook_reference` makes callbacks of all hooks of a list that stands here."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        return False
    made = [assigned_value(driver.module, element) for element in node.elts]
    names = [hook_of(driver.module.resolve(call.func)) if isinstance(call, ast.Call) else None for call in made]
    return all(name is not None and name not in IN_GRAPH for name in names)


def _migrate_hook(driver: Driver, hook: ast.expr | None, at: ast.expr, what: str) -> None:
    """One hook of a list; `at` is where it is named."""
    module, evaluated = driver.module, what in _EVALUATION
    made = assigned_value(module, hook)
    if not evaluated and isinstance(made, ast.Call) and hook_of(module.resolve(made.func)) is not None:
        return
    definition = hook_class(module, made)
    if definition is None or hook is None:
        raise Unsupported(f"`hooks` of {what} is not migrated yet", at)
    checked = SessionHook(module, definition)
    checked.check(evaluated)
    if hook in driver.handled:  # one list of several trainings
        return
    driver.watched.update(checked.names)
    driver.spell(checked.spelled())
    driver.handled.add(hook)
    before = checked.reads_step and reads_step_before(module)
    _wrap(driver, hook, driver.need("HookCallback", hook), ", steps_behind=1" if before else "")


def _wrap(driver: Driver, node: ast.expr, function: str, more: str = "") -> None:
    """Writes `node` as the argument of a call."""
    start, end = driver.module.span(node)
    driver.edits.append(driver.module.insert(start, f"{function}("))
    driver.edits.append(driver.module.insert(end, f"{more})"))


@dataclass
class _Hooks:
    """The hooks of one argument: a list, a choice or a sum of lists, or a name that holds such lists."""

    driver: Driver
    what: str
    read: set[ast.expr] = field(default_factory=set)
    """Names that stand for lists of hooks here."""

    def migrate(self, node: ast.expr) -> None:
        """Raises Unsupported where not all hooks are seen."""
        if is_none(node):
            return
        if isinstance(node, (ast.List, ast.Tuple)):
            for element in node.elts:
                _migrate_hook(self.driver, element, element, self.what)
        elif isinstance(node, (ast.IfExp, ast.BoolOp)):
            for value in (node.body, node.orelse) if isinstance(node, ast.IfExp) else node.values:
                self.migrate(value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self.migrate(node.left)
            self.migrate(node.right)
        elif isinstance(node, ast.Name):
            self._named(node)
        else:
            raise self._unseen(node)

    def _named(self, node: ast.Name) -> None:
        """A list that has a name: each value that the name gets, and all that is done with it."""
        self.read.add(node)
        module = self.driver.module
        bindings = module.bindings(node)
        for binding in bindings:
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
                self.migrate(statement.value)
        if not bindings:
            raise self._unseen(node)
        for load in module.loads_of(node.id, module.scope(node).lookup(node.id)):
            if load not in self.read:
                self._use(load)

    def _use(self, load: ast.Name) -> None:
        """Only known hooks may be added to the list."""
        module = self.driver.module
        parent = module.parent(load)
        call = module.parent(parent) if isinstance(parent, ast.Attribute) else None
        if isinstance(parent, ast.Attribute):
            added = isinstance(call, ast.Call) and len(arguments(call)) == 1
            given = call.args[0] if isinstance(call, ast.Call) and added and call.args else None
            if parent.attr == "extend" and given is not None:
                self.migrate(given)
            else:
                _migrate_hook(self.driver, given if parent.attr == "append" else None, load, self.what)
        elif not (isinstance(parent, ast.keyword) and parent.arg == "hooks"):
            raise self._unseen(load)

    def _unseen(self, node: ast.expr) -> Unsupported:
        return Unsupported(f"`hooks` of {self.what} is not migrated yet", node)
