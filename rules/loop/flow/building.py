"""What makes the weights of a model before a checkpoint is restored: Keras 2 compares those with it that are there, and Keras 3
restores no others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Optional

from migrator.analyse.statements.loggers import LOGGERS
from migrator.analyse.statements.names import binds
from migrator.normalise.draft.returns import own_nodes
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import place_of, walk

from ..inputs import given_parts
from ..places import acts, has_its_line, line_above, moves
from ..sources import Place, Source
from ..use import Use

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_TELLS = (*LOGGERS, "tensorflow.compat.v1.logging.")
_DEEP = 4


@dataclass(frozen=True)
class Building:
    """The use whose data make the weights of a model."""

    use: Use
    above: Optional[ast.stmt]
    """The statement above which the checkpoint is restored, as the data are known there alone; None: where the model is made."""

    def lines(self, model: str, data: str, unit: str) -> list[str]:
        """The lines that make the weights of a `model` by one batch of `data`."""
        weights, read = self.use.sources[0].weights, f"{data}.take(1)"
        assert weights is not None
        labelled = weights.labelled and self.use.method != "predict"
        held = self.use.module.unused_name("features", self.use.call)
        each = f"{held}, *_ in {read}" if labelled else f"{held} in {read}.map(lambda features, *_: features)"
        slots = [f"{model}.optimizer.build({model}.trainable_variables)"] if weights.stepped else []
        return [f"for {each}:", f"{unit}{model}({held})  # makes the weights that are restored", *slots]


def building_of(project: Project, source: Source, places: Collection[Place]) -> Optional[Building]:
    """The first use of a model that surely comes behind the call which makes it; `places` are all that may need its weights.

    None where there is no such use, and where reading its data draws random numbers that the training would draw.
    """
    module = source.module
    if source.weights is None or source.settings.directory is None or source.settings.tpu.use is not None:
        return None
    made, mine = module.statement(source.construction.call), [place for place in places if source in place.sources]
    block = block_of(module, made)
    straight = [p for p in mine if isinstance(p, Use) and _entered(module, p, block) is not None]
    first = min(straight, key=lambda use: module.span(use.at), default=None)
    above = _entered(module, first, block) if first is not None else None
    if first is None or above is None or first.sources != (source,) or _draws(project, first):
        return None
    if _is_known(module, made, first, above):
        return Building(first, None)
    room = module.nearest(made, ast.FunctionDef)
    near = all(p.module is module and p.by_name and module.nearest(p.at, ast.FunctionDef) is room for p in mine)
    alone = (
        line_above(module, first.call) is not None
        if above is module.statement(first.call)
        else has_its_line(module, above)
    )
    return (
        Building(first, above) if near and alone and all(place_of(p.at) >= place_of(first.at) for p in mine) else None
    )


def _entered(module: Module, use: Use, block: Sequence[ast.AST]) -> Optional[ast.stmt]:
    """The statement of a block that surely comes to a use, or is a loop over it that makes nothing of its data."""
    if use.module is not module or module.nearest(use.call, ast.Lambda) is not module.nearest(block[0], ast.Lambda):
        return None
    outer = statement = module.statement(use.call)
    while outer not in block:
        inner, parent = outer, module.parent(outer)
        if not isinstance(parent, (ast.For, ast.With)) or inner not in parent.body:
            return None
        outer = parent
    return None if outer is not statement and _read(use) & binds(outer) else outer


def _read(use: Use) -> set[str]:
    """The names of which the data of a use are made."""
    return {node.id for value in _values(use) for node in walk(value) if isinstance(node, ast.Name)}


def _values(use: Use) -> list[ast.expr]:
    """The expressions of the program of which the data of a use are made."""
    values = [*use.input.parts(use.module), *given_parts(use.input.given)]
    return [value for value in values if hasattr(value, "lineno")]


def _is_known(module: Module, made: ast.stmt, use: Use, last: ast.stmt) -> bool:
    """Whether the data of a use are the same behind a statement above that one which comes to the use."""
    block = block_of(module, made)
    between = [each for each in block[block.index(made) + 1 : block.index(last)] if isinstance(each, ast.stmt)]
    inner = list(own_nodes(between))
    read = _read(use)
    if any(isinstance(node, _LEAVES) for node in inner) or any(read & binds(each) for each in between):
        return False
    if any(acts(module, node) and not _tells(module, node) and node is not use.call for node in inner):
        return False
    return moves(module, made, last, _values(use))


def _tells(module: Module, node: ast.AST) -> bool:
    """Whether a call only says something."""
    function = node.func if isinstance(node, ast.Call) else None
    printed = isinstance(function, ast.Name) and function.id == "print" and not module.bindings(function)
    return printed or (isinstance(function, ast.expr) and (module.resolve(function) or "").startswith(_TELLS))


def _draws(project: Project, use: Use) -> bool:
    """Whether the input function of a use may draw from generators that the program shares."""
    seen: set[ast.AST] = set()

    def of(module: Module, node: ast.AST, depth: int) -> bool:
        if depth > _DEEP:
            return True
        for part in walk(node):
            if not isinstance(part, (ast.Name, ast.Attribute)) or not isinstance(part.ctx, ast.Load):
                continue
            if is_shared_generator(module.resolve(part) or ""):
                return True
            found = project.definition(module, part)
            if found is not None and found.node not in seen:
                seen.add(found.node)
                if of(found.module, found.node, depth + 1):
                    return True
        return False

    return any(of(use.module, part, 0) for part in use.input.parts(use.module))


def is_shared_generator(name: str) -> bool:
    """Whether a function is one of the generators that a whole process shares."""
    own = name.endswith((".RandomState", ".default_rng", ".Random", ".SystemRandom"))
    return name.startswith(("numpy.random.", "random.")) and not own
