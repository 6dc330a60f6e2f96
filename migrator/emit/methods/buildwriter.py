"""Writes `build`: the layers and weights whose sizes are those of the first input."""

from __future__ import annotations

import ast

from migrator.analyse.function.translate import Value
from migrator.analyse.layers.built import count_of, is_one_size, rank_of, shape_of, walked
from migrator.analyse.layers.site import Site
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import enumerated, targets
from migrator.analyse.statements.walks import Loop, static_parts, written_turns
from migrator.emit.expressions import Shared
from migrator.emit.methods.initwriter import InitWriter


class BuildWriter(InitWriter):
    """Writes `build`. `support` are the statements that it repeats."""

    def __init__(self, shared: Shared, sites: list[Site], support: set[Leaf], names: dict[str, str]) -> None:
        self._given = support
        super().__init__(shared, sites, {}, [])
        self.names.update(names)

    def _support(self, kept: set[str], extra: list[Leaf]) -> set[Leaf]:
        return self._given

    def transform(self, node: ast.AST) -> str | None:
        """Shapes of tensors are those that `build` is given."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and node.args:
            inner = node.args[0].value if isinstance(node.args[0], ast.Attribute) else node.args[0]
            if isinstance(inner, ast.Subscript) and shape_of(self.plan, inner.value, None) is not None:
                return self.text(node.args[0])
        found = next((text for what in (shape_of, rank_of, count_of) if (text := what(self.plan, node, None))), None)
        return super().transform(node) if found is None else found

    def loop(self, node: Loop, used: set[str]) -> str:
        """A loop of which nothing is known before counts the tensors of the first input, or their sizes."""
        if static_parts(node, self.plan.times.of) or written_turns(node) is not None:
            return super().loop(node, used)
        shapes, counter = walked(self.plan, node, None), enumerated(node)[0]
        if shapes is not None:
            counted = counter is not None and bool(targets(counter) & used)
            return f"{self.text(counter)} in range(len({shapes}))" if counter and counted else f"_ in {shapes}"
        return f"{self.text(node.target)} in {self.text(node.iter)}"

    def made_arguments(self, site: Site) -> list[tuple[str | None, str]]:
        """The arguments of a layer or a weight, whose shape is a list."""
        sizes = {name for name, value in site.layer.arguments if name == "shape" and is_one_size(self.plan, value)}
        made = super().made_arguments(site)
        return [(name, f"[{text}]" if site.layer.weight and name in sizes else text) for name, text in made]

    def _argument(self, value: Value) -> str:
        if not isinstance(value, str) and self.plan.times.of(value) > Time.MODE:
            return self.text(value)
        return super()._argument(value)
