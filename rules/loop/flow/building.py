"""What makes the weights of a model before a checkpoint is restored: Keras 2 compares those with it that are there, and Keras 3
restores no others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Optional

from migrator.analyse.statements.loggers import LOGGERS
from migrator.analyse.statements.names import binds
from migrator.normalise.draft.returns import own_nodes
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import place_of, walk

from ...exports.exports import Export
from ..inputs import given_parts
from ..places import acts, has_its_line, is_simple, line_above, moves
from ..sources import Place, Source
from ..use import Use
from .weights import Weights

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_TELLS = (*LOGGERS, "tensorflow.compat.v1.logging.")
_DEEP = 4


@dataclass(frozen=True)
class Building:
    """A place by which the weights of a model are made: a use by its data, an export by what it serves."""

    place: Use | Export
    above: Optional[ast.stmt]
    """The statement above which the checkpoint is restored, as the data are known there alone; None: where the model is made."""

    @property
    def kind(self) -> tuple[object, ...]:
        """What else its lines depend on: whether the optimizer is made, whether a TPU may be used, and learning rates."""
        return self.has_slots and self._weights.slots, self._on_tpu, self.place.sources[0].rates

    @property
    def whole(self) -> bool:
        """Whether all weights are made, and not only those that predictions read."""
        return not (self._weights.partial and _predicts(self.place))

    @property
    def labelled(self) -> bool:
        """Whether the data are pairs of features and labels."""
        return self._weights.labelled and isinstance(self.place, Use) and self.place.method != "predict"

    def lines(self, model: str, data: str, unit: str) -> list[str]:
        """The lines that make the weights of a `model` by one batch of `data`."""
        held = self.place.module.unused_name("features", self.place.at)
        return self.made(model, data, unit, held, self.labelled)

    def made(self, model: str, data: str, unit: str, held: str, labelled: bool) -> list[str]:
        """The same for data that need not be its own: the variable `held` gets the features."""
        read = f"{data}.take(1)"
        each = f"{held}, *_ in {read}" if labelled else f"{held} in {read}.map(lambda features, *_: features)"
        slots = [self._weights.slots.format(model=model)] if self.has_slots else []
        lines = [f"for {each}:", f"{unit}{model}({held})  # makes the weights that are restored", *slots]
        return (
            [f"with {model}.distribute_strategy.scope():", *(f"{unit}{line}" for line in lines)]
            if self._on_tpu
            else lines
        )

    @property
    def has_slots(self) -> bool:
        """Whether the optimizer is made, too, by which Keras 3 restores layers in lists. Exports make no more than they serve."""
        return self._weights.stepped and self.whole and isinstance(self.place, Use)

    @property
    def _on_tpu(self) -> bool:
        return self.place.sources[0].settings.tpu.use is not None

    @property
    def _weights(self) -> Weights:
        weights = self.place.sources[0].weights
        assert weights is not None
        return weights


def restoring(
    checkpoint: str, newest: str, built: Iterable[str], unit: str, rates: tuple[list[str], list[str]] = ([], [])
) -> list[str]:
    """The lines that restore the newest checkpoint, if there is one, behind those by which the weights are `built`, and between
    those that keep the `rates` of the run."""
    # One of an Estimator would else be passed over; the traceback shows the line with its comment.
    restore = f"{checkpoint}.restore({newest}).assert_existing_objects_matched()  # else: migrate checkpoint"
    return [f"if {newest}:", *(f"{unit}{line}" for line in (*built, *rates[0], restore, *rates[1]))]


def buildings_of(project: Project, source: Source, places: Collection[Place]) -> tuple[Building, ...]:
    """The places that make the weights of a model before a checkpoint is restored; `places` are all that may need them.

    It is one where a use surely comes behind the call that makes the model. Else they are all that come first where they
    stand, as in the branches of an ``if``: each restores the newest checkpoint, as an Estimator did. None where another place
    is not behind one of them, and where reading the data draws random numbers that the training would draw.
    """
    if source.weights is None or source.settings.directory is None:
        return ()
    mine = [place for place in places if source in place.sources]
    early = _where_made(project, source, mine)
    if early is not None:
        return (early,)
    found: list[Building] = []
    for place in sorted(mine, key=lambda place: (place.module.path, place_of(place.at))):
        if any(_is_behind(place, other) and (other.whole or _predicts(place)) for other in found):
            continue
        building = _where_used(project, source, place)
        if building is None:
            return ()
        found.append(building)
    return tuple(found)


def _predicts(place: Place) -> bool:
    """Whether a place reads what predictions do, and nothing else."""
    return isinstance(place, Export) or (isinstance(place, Use) and place.method == "predict")


def _where_made(project: Project, source: Source, places: Iterable[Place]) -> Optional[Building]:
    """The first use that surely comes behind the call which makes a model, where its data are the same there."""
    module = source.module
    made = module.statement(source.construction.call)
    block = block_of(module, made)
    straight = [p for p in places if isinstance(p, Use) and _entered(module, p, block) is not None]
    first = min(straight, key=lambda use: module.span(use.at), default=None)
    last = _entered(module, first, block) if first is not None else None
    if first is None or last is None or first.sources != (source,) or _draws(project, first):
        return None
    building = Building(first, None)
    return building if building.whole and _is_known(module, made, first, last) else None


def _where_used(project: Project, source: Source, place: Place) -> Optional[Building]:
    """The same directly above a place, or above the loops around it that make nothing of its data."""
    module = place.module
    if place.sources != (source,) or not is_simple(place.receiver) or line_above(module, place.at) is None:
        return None
    above = module.statement(place.at)
    if isinstance(place, Export):
        return Building(place, above) if has_its_line(module, above) else None
    if not isinstance(place, Use) or _draws(project, place):
        return None
    read = _read(place) | {node.id for node in walk(place.receiver) if isinstance(node, ast.Name)}
    while isinstance(loop := module.parent(above), ast.For) and above in loop.body and not read & binds(loop):
        above = loop
    return Building(place, above) if has_its_line(module, above) else None


def _is_behind(place: Place, building: Building) -> bool:
    """Whether a place reads the same model as another one, behind the statement above which that restores a checkpoint."""
    module, above = place.module, building.above
    if module is not building.place.module or above is None:
        return False
    block = block_of(module, above)
    below = block[block.index(above) :]
    around = next((outer for outer in (place.at, *module.ancestors(place.at)) if outer in below), None)
    if around is None:
        return False
    if place.by_name and building.place.by_name:
        return True
    between = (node for each in below[: below.index(around)] for node in walk(each))
    text = ast.unparse(place.receiver)
    again = any(isinstance(getattr(n, "ctx", None), ast.Store) and ast.unparse(n) == text for n in between)
    return text == ast.unparse(building.place.receiver) and not again


def _entered(module: Module, use: Use, block: Sequence[ast.AST]) -> Optional[ast.stmt]:
    """The statement of a block that surely comes to a use, or is a loop over it that makes nothing of its data."""
    if use.module is not module or line_above(module, use.call) is None:
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
