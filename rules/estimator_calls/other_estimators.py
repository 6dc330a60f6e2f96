"""Estimators without a model_fn: canned ones, and those that are made of a Keras model."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from migrator.analyse.function.errors import Unsupported
from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.resolve.text import within
from migrator.vocabulary.diagnostics import Edit

from ..canned import canned
from ..canned.canned import CANNED
from ..canned.canned_optimizers import OptimizerArguments, mentions
from ..canned.extenders import extend
from ..inputs.feature_columns import shared_columns
from . import keras_estimator, warm_starts
from .driver import Driver
from .estimator_values import ESTIMATOR, PREFIX, Construction
from .keras_estimator import MODEL_TO_ESTIMATOR


class OtherEstimators:
    """Rewrites the Estimators of one program that have no model_fn, each with the function that makes it now."""

    def __init__(
        self,
        project: Project,
        group: list[Module],
        driver: Callable[[Module], Driver],
        renderer: Callable[[Module], Renderer],
        features: str,
        several: bool | None,
        chosen: Mapping[str, bool],
    ) -> None:
        self.project, self.group, self.features, self.several = project, group, features, several
        self.driver, self.renderer, self.chosen = driver, renderer, chosen
        self.made: list[tuple[Construction, str]] = []

    def claim(self, constructions: list[Construction]) -> None:
        """Take over what the rewrites are going to replace, before any of them asks what becomes of the file: each may
        be rewritten together with what the next one takes. Raises Unsupported."""
        every, constructions = constructions, [c for c in constructions if c.name != ESTIMATOR]
        if constructions:
            extend(self.project, self.group, every, self.driver)
        for construction in constructions:
            self.driver(construction.module).handled.update(canned.replaced(construction))
        shared = len(constructions) == len(every) and self.features == "columns"  # a model_fn may have several layers
        for module in self.group if constructions else ():
            self.driver(module).handled.update(mentions(module))
            self.driver(module).awaited.update(n for n, name in module.references() if name.startswith(PREFIX))
            for node, name in module.references():
                warm_starts.canned_settings(self.driver(module), node, name)
                if shared:
                    shared_columns(self.driver(module), node, name, all(c.dialect == "v1" for c in constructions))
        if any(construction.name in CANNED for construction in constructions) and self._may_be_distributed():
            for module in self.group:
                self.driver(module).early_strategy = "canned_strategy"

    def _may_be_distributed(self) -> bool:
        """Whether the program calls what trains on clusters."""
        return bool(self.several) and any(
            name == f"{PREFIX}train_and_evaluate" for module in self.group for _, name in module.references()
        )

    def optimizers(self, construction: Construction, plain: bool = False) -> OptimizerArguments:
        """What rewrites the optimizers of an Estimator, for `fit` of a model of the program if `plain`."""
        return OptimizerArguments(
            self.project,
            construction.dialect,
            lambda where, name, at: self.driver(where).need(name, at if at is not None else where.tree),
            lambda where: self.driver(where).tensorflow(),
            self.renderer,
            construction.module,
            self.chosen,
            plain,
        )

    def rewrite(self, construction: Construction) -> list[Edit]:
        """The edits of one construction, which are given to the drivers as well. Raises Unsupported."""
        driver = self.driver(construction.module)
        driver.handled.add(construction.call.func)
        optimizers = self.optimizers(construction)
        if construction.name == MODEL_TO_ESTIMATOR:
            edits = keras_estimator.rewrite(construction, driver.need, driver.remark)
            for other in self.group:
                edits += keras_estimator.compile_edits(other, construction.dialect, optimizers)
            self.made.append((construction, "configure_keras_model"))
        else:
            edits = canned.rewrite(construction, optimizers, driver.need, driver.remark)
            self.made.append((construction, CANNED[construction.name].factory))
        for edit in edits:
            self.driver(self.project.modules[edit.path]).edits.append(edit)
        return edits

    def keep_model(self, construction: Construction) -> None:
        """The edits of the calls of `compile`, where the Keras model of an Estimator is trained by `fit`. Raises Unsupported."""
        optimizers = self.optimizers(construction, plain=True)
        for module in self.group:
            self.driver(module).edits += keras_estimator.compile_edits(module, construction.dialect, optimizers)
        self.driver(construction.module).remark(construction.call, keras_estimator.COPIED)
        self.made.append((construction, "fit"))

    def rewrite_beside(self, constructions: list[Construction], modules: Iterable[Module]) -> None:
        """Like `rewrite`, where model_fns of `modules` stay as they are: takes over nothing but what it replaces.

        Raises Unsupported, also where something else reads an optimizer that becomes another one.
        """
        own = {construction.call for construction in constructions}
        modules = list(modules)
        for construction in constructions:
            for edit in self.rewrite(construction):
                module = self.project.modules[edit.path]
                span = (edit.start, edit.end)
                inside = [node for node, _ in module.references() if within(module.span(node), [span])]
                self.driver(module).handled.update(inside)
                calls = [module.span(call) for call in own if module.parent(call) is not None]
                if construction.name in CANNED and not within(span, calls):
                    _check_alone(module, span, own, modules)


def _check_alone(module: Module, span: tuple[int, int], own: set[ast.Call], modules: list[Module]) -> None:
    """Refuse a change of a named value, or of a function, that something else than the Estimators in `own` takes."""
    statement = _definition_around(module, span)
    for other in modules if statement is not None else ():
        for node in walk(other.tree):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
            if name not in _names(statement) or not isinstance(getattr(node, "ctx", None), ast.Load):
                continue
            if not any(parent is statement or parent in own for parent in other.ancestors(node)):
                raise Unsupported(f"`{name}` goes to a canned Estimator, and is read for something else", node)


def _definition_around(module: Module, span: tuple[int, int]) -> ast.stmt | None:
    """The innermost assignment or function around a place."""
    kinds = (ast.Assign, ast.AnnAssign, ast.FunctionDef)
    found = [node for node in walk(module.tree) if isinstance(node, kinds) and within(span, [module.span(node)])]
    return found[-1] if found else None  # `walk` goes down


def _names(statement: ast.stmt | None) -> set[str]:
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {n.id for target in targets if target is not None for n in walk(target) if isinstance(n, ast.Name)}
