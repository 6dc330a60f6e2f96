"""`CheckpointSaverHook` with its listeners: what a callback that saves can keep of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr

from .hooks import ANY, HOOKS, SAVING, hook_of
from .logged_names import assigned_value

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

LISTENER = "CheckpointSaverListener"
_FAMILIES = ("tensorflow.train.", "tensorflow.estimator.")
_ALLOWED = ("tensorflow.logging.", "tensorflow.gfile.", "tensorflow.io.gfile.", "tensorflow.estimator.")
SAVER_GONE: dict[str, tuple[object, ...]] = {"saver": (), "scaffold": (), "checkpoint_basename": ("model.ckpt",)}
_METHODS = {"begin": 0, "before_save": 2, "after_save": 2, "end": 2}


def check_listeners(module: Module, node: ast.expr | None) -> list[tuple[ast.expr, str]]:
    """References of the classes of listeners to names that only ``tf.compat.v1`` has, with these names.

    Raises Unsupported where a listener is not seen, or needs the session.
    """
    if node is None or is_empty(node):
        return []
    value = assigned_value(module, node)
    if not isinstance(value, (ast.List, ast.Tuple)):
        raise Unsupported("the listeners of a CheckpointSaverHook are not seen", node)
    if isinstance(node, ast.Name) and len(module.loads_of(node.id, module.scope(node).lookup(node.id))) > 1:
        raise Unsupported("the listeners of a CheckpointSaverHook are not seen", node)
    found: list[tuple[ast.expr, str]] = []
    for element in value.elts:
        made = assigned_value(module, element)
        bindings = module.bindings(made.func) if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else []
        definition = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(definition, ast.ClassDef) or len(definition.bases) != 1:
            raise Unsupported("a listener of a CheckpointSaverHook is not seen", element)
        base = module.resolve(definition.bases[0])
        if base not in [family + LISTENER for family in _FAMILIES]:
            raise Unsupported("a listener of a CheckpointSaverHook is not seen", element)
        _check_class(module, definition)
        found.append((definition.bases[0], f"train.{LISTENER}"))
    return found


def _check_class(module: Module, definition: ast.ClassDef) -> None:
    """Refuse what a listener does with the session, or with the graph."""
    for part in definition.body:
        if not isinstance(part, ast.FunctionDef) or part.name not in _METHODS:
            continue
        parameters = [argument.arg for argument in part.args.args]
        given = part.args.vararg or part.args.kwarg or part.args.kwonlyargs or part.decorator_list
        if len(parameters) != _METHODS[part.name] + 1 or given:
            raise Unsupported(f"`{part.name}` of a listener with other parameters is not migrated yet", part)
        for node in walk(part):
            if isinstance(node, ast.Name) and len(parameters) > 1 and node.id == parameters[1]:
                raise Unsupported(f"a listener that uses its `{node.id}` is not migrated yet", node)
    inside = {id(node) for node in walk(definition)}
    for node, name in module.references():
        if id(node) in inside and node not in definition.bases and name.startswith("tensorflow"):
            if not name.startswith(_ALLOWED):
                raise Unsupported(f"a listener that uses tf.{name.split('.', 1)[-1]} is not migrated yet", node)


def check_saver(module: Module, node: ast.expr | None) -> bool:
    """Whether a hook has a Saver of its own, which goes. Raises Unsupported if that holds some variables only."""
    if node is None or is_none(node):
        return False
    made = assigned_value(module, node)
    if not isinstance(made, ast.Call) or module.resolve(made.func) != "tensorflow.train.Saver":
        raise Unsupported("the Saver of a CheckpointSaverHook is not seen", node)
    if (
        made.args
        and not is_none(made.args[0])
        or any(k.arg == "var_list" and not is_none(k.value) for k in made.keywords)
    ):
        raise Unsupported("a CheckpointSaverHook that saves some variables only is not migrated yet", node)
    return True


def saver_reference(driver: FileEdits, node: ast.expr, name: str) -> bool:
    """Migrate one reference to a CheckpointSaverHook outside of a model_fn; False if it is none."""
    call = driver.module.parent(node)
    if hook_of(name) != SAVING or not isinstance(call, ast.Call) or call.func is not node:
        return False
    signature = HOOKS[SAVING].signature
    given = bind(call, signature, SAVING)
    driver.spell(check_listeners(driver.module, given.get("listeners")))
    if check_saver(driver.module, given.get("saver")):
        text = "the Saver of the hook no longer writes checkpoints: RunConfig says how many are kept"
        driver.remark(given["saver"], text)
    driver.replace(node, driver.need(HOOKS[SAVING].callback, node))
    kept = [n for n in signature.split() if n not in SAVER_GONE]
    driver.arguments(call, signature, kept, f"a {SAVING}", {**SAVER_GONE, "saver": ANY})
    return True


def migrate_listeners(driver: FileEdits, node: ast.expr, what: str) -> None:
    """Migrate the value of an argument `saving_listeners`, which is that of `callbacks` afterwards."""
    call = driver.module.parent(node)
    call = driver.module.parent(call) if isinstance(call, ast.keyword) else call
    if isinstance(call, ast.Call) and any(keyword.arg == "hooks" for keyword in call.keywords):
        raise Unsupported(f"`saving_listeners` beside `hooks` of {what} is not migrated yet", node)
    driver.spell(check_listeners(driver.module, node))
    held, callback = driver.module.cst.expression(node), driver.need(HOOKS[SAVING].callback, node)
    driver.change(Replace(node, expr("[{callback}(listeners={held})]", callback=callback, held=held)))
