"""Evaluations and predictions from a checkpoint that is not the newest one: it is restored before, and the newest one behind."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

from .making import Names
from .page import Page
from .places import is_simple, line_above
from .uses import Use, is_followed


def restored(use: Use, uses: Collection[Use], model: str, page: Page, names: Names) -> Iterator[Edit]:
    """The lines around a use."""
    path, statement = use.path, line_above(use.module, use.call)
    if path is None or statement is None:
        return
    source = use.sources[0]
    checkpoints = names.checkpoints(source, model)
    checkpoint = f"{page.tf}.train.Checkpoint(model={model})"
    if use.saves:
        checkpoint = names.checkpoint(source) if names.loop.is_local(source) else f"{checkpoints}.checkpoint"
    restore = f"{checkpoint}.restore({page.text(path)}).assert_existing_objects_matched()"
    maybe = is_simple(path) and not _is_path(use.module, path)
    yield page.above(statement, [f"if {page.text(path)}:", f"{page.unit}{restore}"] if maybe else [restore])
    if is_followed(use, uses):
        newest = f"{checkpoint}.restore({checkpoints}.latest_checkpoint)"
        yield page.below(use.module.statement(use.call), [newest])


def _is_path(module: Module, node: ast.expr) -> bool:
    """Whether a name or a constant is seen to be a path."""
    if isinstance(node, ast.Constant):
        return True
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    target = bindings[0].node if len(bindings) == 1 else None
    owner = module.parent(target) if target is not None else None
    if isinstance(owner, (ast.For, ast.comprehension)):
        return owner.target is target
    return isinstance(owner, ast.Assign) and not isinstance(
        owner.value, (ast.Constant, ast.Name, ast.Attribute, ast.IfExp)
    )
