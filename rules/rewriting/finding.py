"""Finds the functions that the Estimators of a program may be made with."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Definition

from ..estimator_calls.estimator_values import Construction
from ..model_fns.model_fns import HandedOn, ModelFn, model_fn_behind, why_not_found
from ..model_fns.model_names import names_of
from ..model_fns.subjects import subject


class ModelFnFinder:
    """The model_fns of a program, each with the names of what it becomes.

    `reserved` are names that no class may have and `found` has the model_fns by their definitions; both grow.
    """

    def __init__(
        self,
        drafts: Drafts,
        constructions: list[Construction],
        reserved: set[str],
        handed_on: HandedOn,
        found: dict[Definition, ModelFn],
    ) -> None:
        self.drafts, self.constructions, self.reserved = drafts, constructions, reserved
        self.handed_on, self.found = handed_on, found
        self.project = drafts.project

    def of(self, construction: Construction) -> list[ModelFn]:
        """The model_fns that an Estimator may be made with: one, if it is not handed on through a parameter or a table.

        Raises Unsupported.
        """
        node = construction.arguments.get("model_fn")
        if node is None:
            raise Unsupported("an Estimator without model_fn", construction.call)
        places = self.handed_on.places(self.project, construction.module, node)
        given = [(each, each.arguments.get("model_fn")) for each in self.constructions]
        alike = [each for each, other in given if len(places) == 1 and other is not None and _same(other, node)]
        return list(dict.fromkeys(self._model_fn(module, value, alike) for module, value in places))

    def _model_fn(self, module: Module, node: ast.expr, constructions: list[Construction]) -> ModelFn:
        definition = model_fn_behind(self.project, module, node)
        if definition is None or not isinstance(definition.node, ast.FunctionDef):
            raise Unsupported(self.drafts.obstacle(module, node) or why_not_found(self.project, module, node), node)
        if definition not in self.found:
            self.found[definition] = self._named(definition, constructions)
        return self.found[definition]

    def _named(self, definition: Definition, constructions: list[Construction]) -> ModelFn:
        module = definition.module
        about = subject(self.project, definition, constructions, self.drafts.owner(definition))
        origin = self.drafts.model_class(definition)
        kept = (module.path, definition.name) in self.drafts.in_place
        names = names_of(definition.name, module.path, module.bound_names, self.reserved, origin, about, kept)
        self.reserved.update(names)
        return ModelFn(definition, *names)


def _same(node: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(node) == ast.unparse(other)
