"""`CheckpointSaverHook` of a training, and the listeners of its checkpoints."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Change, Replace, with_parameters

from ..hooks.hooks import HOOKS, SAVING
from ..hooks.logged_names import assigned_value
from ..hooks.saver_listeners import SAVER_GONE, check_listeners, check_saver
from ..loop.settings import Settings

SAVES, LISTENER = "SaveCheckpoints", "SaveListener"
"""Helpers: a callback that saves, and the base class of those that it tells."""
_TOLD = ("before_save", "after_save", "end")


@dataclass(frozen=True)
class Saver:
    """When a training saves, and who is told."""

    names: tuple[ast.expr, ...] = ()
    """References to names of the library that go."""
    interval: dict[str, ast.expr] = field(default_factory=dict)
    """What takes the place of settings of the Estimator, by their names."""
    listeners: ast.expr | None = None
    saver: ast.expr | None = None
    """A Saver of its own, which goes."""

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere."""
        return (*self.interval.values(), *([self.listeners] if self.listeners is not None else []))


def saver_of(project: Project, module: Module, call: ast.Call, settings: Settings, estimator: ast.expr) -> Saver | str:
    """What such a hook says, or why it is not understood; `settings` are those of the Estimator."""
    try:
        given = {n: v for n, v in bind(call, HOOKS[SAVING].signature, SAVING).items() if not is_none(v)}
        saver = given.pop("saver", None)
        if saver is not None and not isinstance(saver, ast.Call):
            return "the Saver of a CheckpointSaverHook is not seen"
        check_saver(module, saver)
        listeners = listeners_of(project, module, given.pop("listeners", None))
    except Unsupported as problem:
        return problem.reason
    folder, often = (
        given.pop("checkpoint_dir", None),
        {n: given.pop(n) for n in ("save_steps", "save_secs") if n in given},
    )
    for name, value in given.items():
        if not (isinstance(value, ast.Constant) and value.value in SAVER_GONE[name]):
            return f"`{name}` of a {SAVING}"
    if folder is None or not _is_folder(folder, settings, estimator):
        return f"a {SAVING} with a folder of its own"
    if len(often) != 1:
        return f"a {SAVING} that does not say how often"
    names = [call.func, *([saver.func] if saver is not None else [])]
    interval = {name.replace("save_", "save_checkpoints_"): value for name, value in often.items()}
    return Saver(tuple(names), interval, listeners, saver)


def _is_folder(node: ast.expr, settings: Settings, estimator: ast.expr) -> bool:
    """Whether an expression is the folder of an Estimator, as it is written there, or read of it or of its configuration."""
    if settings.directory is None:
        return False
    read = isinstance(node, ast.Attribute) and node.attr == "model_dir" and ast.dump(node.value) == ast.dump(estimator)
    return read or node in [at for at, _ in settings.reads] or ast.dump(node) == ast.dump(settings.directory)


def listeners_of(project: Project, module: Module, node: ast.expr | None) -> ast.expr | None:
    """The listeners of checkpoints, None where there are none. Raises Unsupported where they are not seen."""
    if node is None or is_empty(node):
        return None
    check_listeners(module, node)
    if isinstance(node, ast.Name):
        raise Unsupported("listeners of checkpoints in a list with a name", node)
    for definition in definitions_of(module, node):
        _check(project, module, definition)
    return node


def definitions_of(module: Module, node: ast.expr) -> Iterator[ast.ClassDef]:
    """The classes of listeners."""
    assert isinstance(node, (ast.List, ast.Tuple))
    for element in node.elts:
        made = assigned_value(module, element)
        assert isinstance(made, ast.Call) and isinstance(made.func, ast.Name)
        definition = module.bindings(made.func)[0].node
        assert isinstance(definition, ast.ClassDef)
        yield definition


def _check(project: Project, module: Module, definition: ast.ClassDef) -> None:
    """Refuse what loses its session where somebody else gives one."""
    for other in project.modules.values():
        for node in other.nodes(ast.Attribute):
            if node.attr in _TOLD[:2]:
                raise Unsupported("a listener of checkpoints whose methods are called elsewhere", node)
    for part in definition.body:
        if isinstance(part, ast.FunctionDef) and part.name in _TOLD and part.args.defaults:
            raise Unsupported("a listener of checkpoints with defaults", part)


def listener_changes(module: Module, definition: ast.ClassDef, base: str) -> Iterator[Change]:
    """The class of a listener, of which no method gets a session."""
    yield Replace(definition.bases[0], base)
    for part in definition.body:
        if isinstance(part, ast.FunctionDef) and part.name in _TOLD:
            yield Replace(part, with_parameters(module.cst.statement(part), drop=[part.args.args[1].arg]))


def references_of(module: Module, definition: ast.ClassDef) -> list[ast.expr]:
    """References to the library that go with a class of listeners."""
    inside = set(walk(definition))
    return [node for node, _ in module.references() if node in inside and node in definition.bases]
