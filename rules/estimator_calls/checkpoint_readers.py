"""What reads checkpoints by the names of variables, and which models keep these names for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, format_call
from migrator.analyse.variables.startvalues import ROOTS
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.text import Spans
from migrator.rewrite import Replace
from migrator.vocabulary.diagnostics import Edit

from ..bridge.reached import reached

if TYPE_CHECKING:
    from .driver import Driver

_PARAMETERS = ("ckpt_dir_or_file", "name")
_WORDS = re.compile(rb"list_variables|load_variable|load_checkpoint|NewCheckpointReader|init_from_checkpoint")
_MAKERS = re.compile(rb"get_variable|layers\b|slim\b|[Cc]ell\b")
"""Words of code that makes variables."""

READERS = {
    f"tensorflow.{package}.{name}": name
    for package in ("train", "contrib.framework")
    for name in ("list_variables", "load_variable", "load_checkpoint")
}
READERS["tensorflow.train.NewCheckpointReader"] = "load_checkpoint"
"""Vendored functions, which find the names in checkpoints of TensorFlow 1 and of migrated models alike."""


def _read(call: ast.Call, writing: Writing) -> str:
    """What a model_fn reads of a checkpoint, in the code of the model."""
    _check(call)
    name = READERS[writing.resolve(call.func) or ""]
    given: list[tuple[str | None, str]] = [(None, writing.text(argument)) for argument in call.args]
    given += [(keyword.arg, writing.text(keyword.value)) for keyword in call.keywords]
    return format_call(writing.need(name), given)


EXPRESSIONS: dict[str, Expression] = {name: _read for name in READERS if ".contrib." in name}
"""Those that TensorFlow 2 has not."""


def _check(call: ast.Call) -> None:
    for keyword in call.keywords:
        if keyword.arg not in _PARAMETERS:
            raise Unsupported(
                f"`{keyword.arg or '**'}` says from where a checkpoint is read: give it by its place", call
            )


def reader_edits(module: Module, inside: Spans, need: Callable[[str, ast.AST], str]) -> Iterator[Edit]:
    """The edits of references in model_fns, which lie `inside`. Raises Unsupported."""
    for node, name in module.references() if _WORDS.search(module.source) else ():
        if name in READERS and inside.hold(module.span(node)):
            call = module.parent(node)
            if isinstance(call, ast.Call) and call.func is node:
                _check(call)
            yield from module.cst.apply([Replace(node, need(READERS[name], node))])


def reader_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate a reference to a function that reads a checkpoint; whether it is one. Raises Unsupported."""
    if name not in READERS:
        return False
    call = driver.module.parent(node)
    if isinstance(call, ast.Call) and call.func is node:
        _check(call)
    driver.replace(node, driver.need(READERS[name], node))
    return True


def reading_modules(project: Project, names: Collection[str]) -> list[Module]:
    """The modules that call one of these functions."""
    found = (module for module in project.modules.values() if _WORDS.search(module.source))
    return [module for module in found if any(name in names for _, name in module.references())]


def reads_beside(module: Module, inside: Spans) -> bool:
    """Whether a module reads variables of a checkpoint outside of the code in `inside`, of a path that may be any."""
    for node, name in module.references() if _WORDS.search(module.source) else ():
        call = module.parent(node) if name in READERS and not inside.hold(module.span(node)) else None
        if (
            isinstance(call, ast.Call)
            and call.func is node
            and not any(isinstance(a, ast.Constant) for a in call.args[:1])
        ):
            return True
    return False


def read_elsewhere(project: Project, program: Collection[Module]) -> bool:
    """Whether another program gives variables of its own, which are made by code of this one, values of checkpoints."""
    own = reached(project, program, False)
    paths = {module.path for module in own}
    makers = {module.path for module in own if _MAKERS.search(module.source)}
    starting = [module for module in reading_modules(project, ROOTS) if module.path not in paths]
    return any(makers & {module.path for module in reached(project, [each], True)} for each in starting)
