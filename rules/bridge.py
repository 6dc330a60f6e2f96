"""The bridge: a program whose model_fn native cannot hold keeps it, as a TF1 graph inside a Keras model.

The model_fn and its helpers change in names only: what TensorFlow 2 lacks becomes `tf.compat.v1.X`. All else of the
program, such as input, training loop and configuration, moves as in any other program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from migrator.diagnostics import Edit, Fix, ProgramUnit
from migrator.modelfn.errors import Unsupported
from migrator.modelfn.plan import SPEC, SPEC_FIELDS
from migrator.modelfn.translate import bind
from migrator.module import Module
from migrator.preparing.draft import Drafts

from . import tpu, warm_starts
from .compat_v1 import SWITCHES
from .contrib_graphs import contrib_edits, contrib_helper
from .dimensions import dimension_fixes
from .driver import Driver
from .estimator_values import ESTIMATOR, Construction
from .exporters import OUTPUTS, export_output
from .finishing import touches, within
from .graph_heads import OPTIMIZERS, rewrite_heads
from .graph_specs import GraphSpecs
from .helpers import Helpers
from .model_fns import model_fn_behind
from .prediction_hooks import predicts_with_hooks
from .reached import reached
from .rewrite import ProgramRewrite
from .sessions import session_reference
from .strategies import trains_on_tpu
from .symbolic_inputs import refuse_symbolic_inputs
from .tensorflow_names import tensorflow_root, via_version_1_import
from .translations import is_old_only, is_refused
from .variable_objects import variable_fixes

# Tables that a program fills as it runs: Estimators keep their entries in checkpoints, for all modes.
_FILLED = ("tensorflow.lookup.experimental.MutableHashTable", "tensorflow.lookup.experimental.DenseHashTable")

# What runs in a graph under another name.
_HELPERS = {
    "tensorflow.train.init_from_checkpoint": "init_graph_from_checkpoint",
    "tensorflow.train.list_variables": "list_variables",
    "tensorflow.train.load_variable": "load_variable",
    "tensorflow.feature_column.shared_embedding_columns": "graph_shared_embedding_columns",
    **dict.fromkeys(OPTIMIZERS, "get_optimizer_instance"),
}

# Names of variable scopes, which native translates wherever they stand.
_SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.AUTO_REUSE"})


class BridgeRewrite(ProgramRewrite):
    """A rewrite that keeps the model_fns; `reasons` say what stands in the way of the native tier, and where."""

    keeps_graphs = True

    def __init__(
        self, drafts: Drafts, group: list[Module], constructions: list[Construction], reasons: list[str]
    ) -> None:
        super().__init__(drafts, group, constructions)
        self.reasons = reasons

    @property
    def first(self) -> Construction:
        """The first Estimator that has a model_fn."""
        return next(c for c in self.constructions if c.name == ESTIMATOR)

    def class_names(self) -> list[str]:
        """The one class that runs all model_fns, and the functions that make other models."""
        return ["a GraphModel around its model_fn", *super().class_names()]

    def units(self) -> Iterator[ProgramUnit]:
        """One unit for each Estimator."""
        yield from super().units()
        files = tuple(sorted(self._drivers))
        for construction in self.constructions:
            if construction.name != ESTIMATOR:
                continue
            node = construction.arguments["model_fn"]
            location = construction.module.location(construction.call)
            reason, others = self.reasons[0], tuple(self.reasons[1:])
            yield ProgramUnit(construction.module.segment(node), location, "bridge", reason, files, others=others)

    def _rewrite(self) -> None:
        obstacles = self.obstacles
        for construction in self.constructions:
            self.at = construction.module
            if construction.name != ESTIMATOR:
                continue
            with obstacles:
                if "model_fn" not in construction.arguments:
                    raise Unsupported("the arguments of Estimator are not seen", construction.call)
                driver = self._driver(construction.module)
                if (at := trains_on_tpu(self.project.modules.values())) is not None:
                    raise Unsupported("a model_fn that stays a graph does not train on TPUs", at)
                if construction.tpu:
                    tpu.construction(driver, construction.call, construction.arguments)
                else:
                    warm_starts.graph_model(driver, construction.call, construction.arguments)
        obstacles.refuse()
        self._methods()
        reached = self._reached()
        with obstacles:
            refuse_symbolic_inputs(reached)
        beside = [c for c in self.constructions if c.name != ESTIMATOR]
        with obstacles:
            self._others.rewrite_beside(beside, reached)
        for construction in beside:
            self._driver(construction.module).handled.add(construction.call.func)
        for module in reached:
            self.at = module
            driver = self._driver(module)
            with obstacles:
                self._specs(module, driver)
            self._module(module)
            self._edits[module.path] = self._finished(module, driver, self._helpers[module.path])
        obstacles.refuse()
        self._check_watched()

    def _specs(self, module: Module, driver: Driver) -> None:
        """What functions of a module that return an EstimatorSpec say, and what they call."""
        specs = GraphSpecs(module, driver)
        specs.check(self.obstacles)
        with self.obstacles:
            rewrite_heads(self.project, driver)
        for node, name in module.references():
            with self.obstacles:
                specs.reference(node, name)
                warm_starts.settings_reference(driver, node, name)
                if name == SPEC:
                    self._spec(module, driver, node)
                elif name in _HELPERS and isinstance(module.parent(node), ast.Call):
                    driver.replace(node, driver.need(_HELPERS[name], node))
                elif helper := contrib_helper(module, node, name):
                    driver.replace(node, driver.need(helper, node))
                elif name.startswith(OUTPUTS):
                    export_output(driver, node, name)
                elif node not in driver.handled:
                    tpu.reference(driver, node, name)

    def _driver(self, module: Module) -> Driver:
        driver = super()._driver(module)
        if not driver.graph and self._predicts_with_hooks:
            driver.readers = {**driver.readers, "predict": "predict_with_hooks"}
        driver.graph = True
        return driver

    @cached_property
    def _predicts_with_hooks(self) -> bool:
        return predicts_with_hooks(self.project)

    def _reached(self) -> list[Module]:
        """The modules of the program, with those of a model_fn that its Estimator gets from elsewhere."""
        start = [*self.group, *(self.project.modules[path] for path in self._drivers)]
        own = [c for c in self.constructions if c.name == ESTIMATOR]
        handed = any(model_fn_behind(self.project, c.module, c.arguments["model_fn"]) is None for c in own)
        return reached(self.project, start, handed)

    def _spec(self, module: Module, driver: Driver, node: ast.expr) -> None:
        """``tf.estimator.EstimatorSpec(…)`` becomes the vendored tuple of the same name."""
        call = module.parent(node)
        if isinstance(call, ast.Call) and call.func is node:
            bind(call, SPEC_FIELDS, "EstimatorSpec")
        driver.replace(node, driver.need("EstimatorSpec", node))

    def _base_edits(self, module: Module) -> list[Edit]:
        return [edit for fix in _fixes(module) for edit in fix.edits]

    def _finished(self, module: Module, driver: Driver, helpers: Helpers) -> list[Edit]:
        own = list(dict.fromkeys(driver.edits))
        switches = [node for node, name in module.references() if name[len("tensorflow.") :] in SWITCHES]
        own += [module.delete_statement(module.statement(node)) for node in switches]
        for fix in _fixes(module):
            if not any(touches((edit.start, edit.end), own) for edit in fix.edits):
                own += [edit for edit in fix.edits if edit not in own]
        for node, name in module.references():
            with self.obstacles:
                own += self._left(module, driver, own, node, name)
        return own + helpers.import_edits()

    def _left(self, module: Module, driver: Driver, own: list[Edit], node: ast.expr, name: str) -> list[Edit]:
        """The edits of a name that nothing else rewrote. Raises Unsupported."""
        if name in _FILLED:
            raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} keeps its entries in checkpoints", node)
        session_reference(driver, node, name)
        if node in driver.handled or within(module.span(node), [(edit.start, edit.end) for edit in own]):
            return []
        if name.startswith("tensorflow.contrib."):
            moved = contrib_edits(module, node, name)
            if moved is None:
                raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} is not migrated yet", node)
            return moved
        old = is_refused(name) or name in _SCOPES
        return self._old_name(module, node, name) if old and not via_version_1_import(module, node) else []

    @staticmethod
    def _old_name(module: Module, node: ast.expr, name: str) -> list[Edit]:
        if module.dialect(node) == "v2" and not is_old_only(name):
            return []
        found = tensorflow_root(module, node)
        if found is None:
            raise Unsupported("the file has no name for TensorFlow as a whole", node)
        root, edits = found
        return [*edits, module.edit(node, f"{root}.compat.v1.{name[len('tensorflow.') :]}")]


def _fixes(module: Module) -> list[Fix]:
    return [*module.fixes, *dimension_fixes(module), *variable_fixes(module)]
