"""FeedFnHook: the input_fn that it feeds becomes one that makes a dataset of what is fed, and the hook goes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code, expr

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

_HOOKS = frozenset(f"tensorflow.{family}.FeedFnHook" for family in ("train", "estimator"))
_PLACEHOLDER = "tensorflow.placeholder"
_PLAIN = (ast.Name, ast.Attribute)


def is_fed(module: Module, node: ast.expr) -> bool:
    """Whether a reference to FeedFnHook makes a hook that `feed_edits` knows to take out of the list of a training."""
    call = module.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return False
    element: ast.AST = call
    statement = module.parent(call)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0]
        loads = module.loads_of(name.id, module.scope(name))
        if len(loads) != 1 or len(module.bindings(loads[0])) != 1:
            return False
        element = loads[0]
    listed = module.parent(element)
    keyword = module.parent(listed) if isinstance(listed, ast.List) else None
    outer = module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "hooks" else None
    return isinstance(outer, ast.Call) and _feed(call) is not None and _input(outer) is not None


def take_fed(driver: FileEdits, call: ast.Call, hooks: ast.expr) -> bool:
    """Wrap the input_fn of a call that is given `hooks`, and take those that feed it out of their list.

    Returns whether the list has no other.
    """
    module, given = driver.module, _input(call)
    gone: set[ast.expr] = set()
    for element in hooks.elts if isinstance(hooks, ast.List) else ():
        assigned = module.assignment(element) if isinstance(element, ast.Name) else None
        made = assigned.value if assigned is not None else element
        if not isinstance(made, ast.Call) or module.resolve(made.func) not in _HOOKS or not is_fed(module, made.func):
            continue
        feed = _feed(made)
        assert feed is not None and given is not None
        name = module.segment(feed if element is made else element)
        text = f"{driver.need('fed_input', call)}({module.segment(given)}, {name})"
        driver.change(Replace(given, code(text, module.indent(module.statement(given)) or "")))
        if element is not made:
            driver.change(Replace(made, module.cst.expression(feed)))
        driver.handled.update(walk(made))
        gone.add(element)
    if not gone or not isinstance(hooks, ast.List):
        return False
    for node, found in module.references():
        if found == _PLACEHOLDER and node not in driver.handled:
            driver.replace(node, f"{driver.tensorflow()}.compat.v1.placeholder".replace(".compat.v2.compat", ".compat"))
    driver.fed |= gone
    kept = [element for element in hooks.elts if element not in gone]
    if kept:
        driver.change(Replace(hooks, expr("[{kept}]", kept=[module.cst.expression(element) for element in kept])))
    return not kept


def _feed(made: ast.Call) -> ast.expr | None:
    """The function that a FeedFnHook is given, by its name."""
    values = [*made.args, *(keyword.value for keyword in made.keywords if keyword.arg == "feed_fn")]
    known = len(values) == 1 == len(made.args) + len(made.keywords)
    return values[0] if known and isinstance(values[0], _PLAIN) else None


def _input(call: ast.Call) -> ast.expr | None:
    """The input_fn of a training or an evaluation, by its name."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "input_fn"] or call.args[:1]
    return given[0] if given and isinstance(given[0], _PLAIN) else None
