"""The lines that restore checkpoints where models are used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.resolve.module import Module
from migrator.rewrite import Insert, defined, rows
from migrator.vocabulary.diagnostics import Edit

from ..loop import Loop
from ..page import Page
from ..places import is_simple, line_above
from ..sources import Place
from ..use import Use
from ..writing.making import own_rates
from ..writing.names import Names
from ..writing.scopes import head_of
from .building import Building, restoring
from .order import is_followed


class Restores:
    """Writes those of one file."""

    def __init__(self, loop: Loop, page: Page, names: Names) -> None:
        self.page = page
        self.names = names
        every = (building for source in loop.sources for building in loop.built(source))
        self._late = [each for each in every if each.above is not None and each.place.module is page.module]
        newest = [each for each in self._late if isinstance(each.place, Use) and each.place.path is None]
        alike = len({each.kind for each in newest}) == 1
        self._shared = newest if len(newest) > 1 and alike else []
        self._name = page.unbound("restore")

    def function(self) -> Iterator[Edit]:
        """The function that restores the newest checkpoint of a model, where several places do."""
        if not self._shared:
            return
        first, unit = self._shared[0], self.page.unit
        built = first.made("model", "data", unit, "features", all(each.labelled for each in self._shared))
        rates = own_rates(self.names.loop, first.place.sources[0], "model")
        lines = [
            '"""Restores the newest checkpoint of a model, whose weights one batch of `data` makes before."""',
            "model, newest = checkpoints.checkpoint.model, checkpoints.latest_checkpoint",
            *restoring("checkpoints.checkpoint", "newest", built, unit, rates),
        ]
        made = defined(f"def {self._name}(checkpoints, data)", rows(lines))
        yield from self.page.change(
            Insert(made, before=head_of(self.page.module, first.place.at), above=True, apart=True)
        )

    def above(self, use: Use, model: str, data: str) -> tuple[ast.stmt | None, list[str]]:
        """The lines that restore the newest checkpoint above a use by whose `data` weights are made, and what is below them."""
        building = self._of(use)
        if building is None:
            return None, []
        checkpoints = self.names.checkpoints(use.sources[0], model)
        if building in self._shared:
            return building.above, [f"{self._name}({checkpoints}, {data})"]
        built = building.lines(model, data, self.page.unit)
        if use.path is not None and not _may_be_none(use, use.path):
            return building.above, built
        return building.above, self._newest(use, model, built)

    def begun(self, use: Use, model: str, data: str) -> list[str]:
        """The lines that give a model first values, as long as it has no checkpoint of its own."""
        loop, warm = self.names.loop, use.sources[0].warm is not None
        begin = f"{model}.{'warm_start' if warm else 'init_from_checkpoint'}({data})"
        first = next(each for each in loop.uses if set(each.sources) & set(use.sources))
        if not use.saves and use is first and not use.repeated:
            return [begin]
        newest = f"{self.names.checkpoints(use.sources[0], model)}.latest_checkpoint"
        test = f"not {newest}" if use.saves else f"not {model}.built"
        return [f"if {test}:", f"{self.page.unit}{begin}"]

    def traced(self, place: Place, model: str, functions: Iterable[str], table: str = "") -> list[str]:
        """The lines that restore it where the weights are made by what an export serves: functions, or those of a dict."""
        if self._of(place) is None:
            return []
        built = [f"{name}.get_concrete_function()  # makes the weights that are restored" for name in functions]
        if table:
            each = self.page.module.unused_name("function", place.at)
            traced = f"{self.page.unit}{each}.get_concrete_function()  # makes the weights that are restored"
            built = [f"for {each} in {table}.values():", traced]
        return built if place.path is not None else self._newest(place, model, built)

    def other(self, place: Place, model: str) -> tuple[list[str], list[str]]:
        """The lines above and below a place that reads another checkpoint than the newest one."""
        path, source = place.path, place.sources[0]
        if path is None or line_above(place.module, place.at) is None:
            return [], []
        checkpoints = self.names.checkpoints(source, model)
        checkpoint = f"{self.page.tf}.train.Checkpoint(model={model})"
        if place.saves:
            checkpoint = self.names.restored(source, model)
        restore = f"{checkpoint}.restore({self.page.text(path)}).assert_existing_objects_matched()"
        above = (
            [f"if {self.page.text(path)}:", f"{self.page.unit}{restore}"] if _may_be_none(place, path) else [restore]
        )
        if not is_followed(place, self.names.loop.readers(place)):
            return above, []
        return above, [f"{checkpoint}.restore({checkpoints}.latest_checkpoint)"]

    def _of(self, place: Place) -> Building | None:
        return next((building for building in self._late if building.place is place), None)

    def _newest(self, place: Place, model: str, built: Iterable[str]) -> list[str]:
        """The lines that restore the newest checkpoint behind those by which the weights are `built`."""
        source = place.sources[0]
        checkpoint, newest = (
            self.names.restored(source, model),
            f"{self.names.checkpoints(source, model)}.latest_checkpoint",
        )
        rates = own_rates(self.names.loop, source, model) if isinstance(place, Use) else ([], [])
        return restoring(checkpoint, newest, built, self.page.unit, rates)


def _may_be_none(place: Place, path: ast.expr) -> bool:
    """Whether a place may read the newest checkpoint after all."""
    return is_simple(path) and not _is_path(place.module, path)


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
