"""The body of a helper function that makes layers, with what its parameters are for, and the class that it becomes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.placing import place
from migrator.analyse.function.roles import parameters
from migrator.analyse.function.study import find_layers, study
from migrator.analyse.function.translate import Translations
from migrator.analyse.layers.embeddings import find_embeddings
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.effects import effects
from migrator.analyse.statements.modes import ALL_MODES
from migrator.analyse.statements.slicing import Closure
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.layers.sublayers import Sublayers
    from migrator.resolve.module import Module


class HelperBody(Body):
    """A helper function with the roles of its parameters."""

    early_returns = True
    is_helper = True

    def __init__(
        self, definition: Definition, translations: Translations, sublayers: Sublayers, roles: dict[str, str]
    ) -> None:
        node = definition.node
        assert isinstance(node, ast.FunctionDef)

        def having(role: str) -> list[str]:
            return [name for name, given in roles.items() if given == role]

        mode, training = having("mode"), having("training")
        if len(mode) + len(training) > 1:
            raise Unsupported("a helper that gets the mode twice is not followed", node)

        def analyse() -> None:
            alone = mode[0] if mode else None, training[0] if training else None
            given = _weights_first(definition, translations, having("dynamic")), having("static")
            super(HelperBody, self).__init__(definition.module, node, translations, sublayers, *given, *alone)
            study(self)

        analyse()
        self.replaced = frozenset(name for name in having("static") if self.times.name(name) is not Time.STATIC)
        """Parameters that are plain values, in the place of which the helper puts what it computes."""
        if self.replaced:
            roles.update(dict.fromkeys(self.replaced, "dynamic"))
            analyse()
        self.roles = roles
        find_layers(self)
        find_embeddings(self, set())
        self.takes_training = bool(mode or training) or any(s.layer.trains for s in self.sites)
        returns = [leaf for leaf in self.flow.leaves if isinstance(leaf.node, ast.Return)]
        if not returns or self.flow.falls_through:
            raise Unsupported("a helper that makes layers does not return a value on every way", definition.node)
        needed = {mode: Closure(self.slicer, mode) for mode in ALL_MODES}
        call = set(returns).union(*(needed[mode].of(leaf) for leaf in returns for mode in leaf.modes))
        for leaf in effects(self):
            place(self, leaf, call, call, set())
        self.call_leaves = self.ordered(leaf for leaf in call if not leaf.mode_only)
        self.collections.check_kept(self.call_leaves)


def _weights_first(definition: Definition, translations: Translations, inputs: list[str]) -> list[str]:
    """The tensors that a helper gets; first the one whose shape all its weights ask for, as `build` knows the first of them."""
    module, function = definition.module, definition.node
    assert isinstance(function, ast.FunctionDef)
    calls = (node for node in walk(function) if isinstance(node, ast.Call))
    made = [call for call in calls if (module.resolve(call.func) or "") in translations.layers]
    parts: list[ast.AST] = [
        part for call in made for part in (*call.args, *(keyword.value for keyword in call.keywords))
    ]
    names = [module.assignment(node) for part in parts for node in walk(part) if isinstance(node, ast.Name)]
    parts += [held.value for held in names if held is not None and module.is_inside(held, function)]
    shapes = [
        n for part in parts for n in walk(part) if isinstance(n, ast.Attribute) and n.attr in ("shape", "get_shape")
    ]
    asked = {n.value.id for n in shapes if isinstance(n.value, ast.Name)} & set(inputs)
    if len(asked) != 1 or function.args.defaults or function.args.kwonlyargs:
        return inputs
    return sorted(inputs, key=lambda name: name not in asked)


@dataclass
class Sublayer:
    """One helper function and the class that it becomes."""

    definition: Definition
    body: HelperBody
    class_name: str
    calls: list[tuple[Module, ast.Call]] = field(default_factory=list)
    given: list[tuple[Body, str, ast.expr]] = field(default_factory=list)
    """What its calls give: the body around each, parameter and value."""

    @property
    def parameters(self) -> list[str]:
        """The parameters of the function in the order in which the class takes them."""
        inputs = self.body.dynamic
        return [name for name in parameters(self.definition) if name not in inputs] + list(inputs)
