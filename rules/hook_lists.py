"""The hooks that a call is given: whether all of them are seen and can be callbacks, and how they are written then."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.calls import arguments
from migrator.modelfn.errors import Unsupported

from .hooks import IN_GRAPH, hook_of
from .logged_names import assigned_value
from .session_hooks import SessionHook, hook_class, reads_step_before

if TYPE_CHECKING:
    from .driver import Driver

_EVALUATION = ("Estimator.evaluate", "tf.estimator.EvalSpec")


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
    value = assigned_value(driver.module, node)
    if not isinstance(value, (ast.List, ast.Tuple)):
        raise Unsupported(f"`hooks` of {what} is not migrated yet", node)
    if isinstance(node, ast.Name):
        _check_uses(driver, node, what)
    for element in value.elts:
        _migrate_hook(driver, element, element, what)


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


def _check_uses(driver: Driver, node: ast.Name, what: str) -> None:
    """A list of hooks that has a name: only known hooks may be appended to it."""
    module = driver.module
    scope = module.scope(node).lookup(node.id)
    for load in module.loads_of(node.id, scope):
        parent = module.parent(load)
        call = module.parent(parent) if isinstance(parent, ast.Attribute) else None
        if isinstance(parent, ast.Attribute):
            appended = isinstance(call, ast.Call) and parent.attr == "append" and len(arguments(call)) == 1
            given = call.args[0] if isinstance(call, ast.Call) and appended and call.args else None
            _migrate_hook(driver, given, load, what)
        elif load is not node and not (isinstance(parent, ast.keyword) and parent.arg == "hooks"):
            raise Unsupported(f"`hooks` of {what} is not migrated yet", load)
