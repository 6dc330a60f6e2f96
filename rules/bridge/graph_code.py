"""What becomes of code that runs in a graph of TensorFlow 1: it stays, and names change that TensorFlow 2 lacks or has anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.specs import SPEC, SPEC_FIELDS
from migrator.analyse.function.translate import bind
from migrator.resolve.project import Project
from migrator.resolve.text import Spans
from migrator.rewrite import Replace
from migrator.vocabulary.diagnostics import Edit, Fix

from ..distribute import tpu
from ..estimator_calls import warm_starts
from ..estimator_calls.checkpoint_readers import READERS
from ..estimator_calls.driver import Driver
from ..estimator_calls.exporters import OUTPUTS, export_output
from ..estimator_calls.sessions import session_reference
from ..model_fns.translations import is_old_only, is_refused
from ..program.unused_code import inside_unused, said_of_unused, unused_spans
from ..symbols.compat_v1 import is_legacy
from ..symbols.dimensions import dimension_fixes
from ..symbols.tensorflow_names import tensorflow_root, via_version_1_import
from .contrib_graphs import contrib_edits, contrib_helper, runs_on_gpus_only
from .graph_heads import OPTIMIZERS, rewrite_heads
from .graph_optimizers import rewrite_optimizer_classes
from .graph_specs import GraphSpecs
from .variable_objects import variable_fixes

# Tables that a program fills as it runs: Estimators keep their entries in checkpoints, for all modes.
_DECODING = (
    "has no match in TensorFlow 2: tf.nn.dynamic_rnn trains a decoder on the embedded targets, as TrainingHelper does"
)
_FILLED = ("tensorflow.lookup.experimental.MutableHashTable", "tensorflow.lookup.experimental.DenseHashTable")

_SHARED_COLUMNS = "tensorflow.feature_column.shared_embedding_columns"
_EXAMPLE_SPEC = "tensorflow.feature_column.make_parse_example_spec"
"""That of TensorFlow 2 takes no columns that share a table in graphs."""

# What runs in a graph under another name.
_HELPERS = {
    "tensorflow.train.init_from_checkpoint": "init_graph_from_checkpoint",
    **READERS,
    _SHARED_COLUMNS: "graph_shared_embedding_columns",
    **dict.fromkeys(OPTIMIZERS, "get_optimizer_instance"),
}

# Names of variable scopes, which native translates wherever they stand.
_SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.AUTO_REUSE"})


class GraphCode:
    """The code of one module that runs in graphs: all of it, whose import of ``tensorflow.compat.v1`` stays, or what lies in
    `spans`, where that becomes one of TensorFlow itself."""

    def __init__(self, project: Project, driver: Driver, obstacles: Obstacles, spans: Spans | None = None) -> None:
        self.project, self.driver, self.obstacles = project, driver, obstacles
        self.module = driver.module
        self.spans = spans

    def _references(self) -> Iterator[tuple[ast.expr, str]]:
        for node, name in self.module.references():
            if self.spans is None or self.spans.hold(self.module.span(node)):
                yield node, name

    def specs(self) -> None:
        """What functions that return an EstimatorSpec say, and what they call."""
        driver, module = self.driver, self.module
        specs = GraphSpecs(module, driver, self.spans)
        specs.check(self.obstacles)
        with self.obstacles:
            rewrite_heads(self.project, driver, self.spans)
        with self.obstacles:
            rewrite_optimizer_classes(self.project, driver, self.spans)
        for node, name in self._references():
            with self.obstacles:
                specs.reference(node, name)
                warm_starts.settings_reference(driver, node, name)
                if name == SPEC:
                    self._spec(node)
                elif name in _HELPERS and isinstance(module.parent(node), ast.Call):
                    driver.replace(node, driver.need(_HELPERS[name], node))
                elif name == _EXAMPLE_SPEC and self._shares_tables and isinstance(module.parent(node), ast.Call):
                    driver.replace(node, driver.need("graph_make_parse_example_spec", node))
                elif helper := contrib_helper(module, node, name):
                    driver.replace(node, driver.need(helper, node))
                elif name.startswith(OUTPUTS):
                    export_output(driver, node, name)
                elif node not in driver.handled:
                    tpu.reference(driver, node, name)

    def _spec(self, node: ast.expr) -> None:
        """``tf.estimator.EstimatorSpec(…)`` becomes the vendored tuple of the same name."""
        call = self.module.parent(node)
        if isinstance(call, ast.Call) and call.func is node:
            bind(call, SPEC_FIELDS, "EstimatorSpec")
        self.driver.replace(node, self.driver.need("EstimatorSpec", node))

    def fixes(self) -> list[Fix]:
        """Rewrites of single references."""
        return [*self.module.fixes, *dimension_fixes(self.module), *self.objects()]

    def objects(self) -> list[Fix]:
        """Rewrites of what only graphs have."""
        fixes, spans = variable_fixes(self.module), self.spans
        return [fix for fix in fixes if spans is None or all(spans.hold((e.start, e.end)) for e in fix.edits)]

    def left(self, taken: Spans) -> list[Edit]:
        """The edits of names that lie in none of the `taken` places, which grow by these. What stands in the way goes to the
        obstacles."""
        found: list[Edit] = []
        for node, name in self._references():
            before = len(self.obstacles.found)
            with self.obstacles:
                edits = self._left(taken, node, name)
                found += edits
                for edit in edits:
                    taken.add((edit.start, edit.end))
            if len(self.obstacles.found) > before and (function := self._unused(node)) is not None:
                del self.obstacles.found[before:]
                self.driver.remark(node, said_of_unused(function, name))
        return found

    def _unused(self, node: ast.expr) -> ast.FunctionDef | None:
        return inside_unused(self.module, node, unused_spans(self.project.modules.values(), self.module))

    def _left(self, taken: Spans, node: ast.expr, name: str) -> list[Edit]:
        module = self.module
        if name in _FILLED:
            raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} keeps its entries in checkpoints", node)
        try:
            session_reference(self.driver, node, name)
        except Unsupported:
            function = self._unused(node)
            if function is None:
                raise
            self.driver.remark(node, said_of_unused(function, name))
        if node in self.driver.handled or taken.hold(module.span(node)):
            return []
        if name.startswith("tensorflow.contrib."):
            moved = contrib_edits(module, node, name)
            if moved is None and runs_on_gpus_only(module, node, name):
                return []  # the rule of names that TensorFlow 2 lacks tells of it
            if moved is None:
                decodes = name.startswith("tensorflow.contrib.seq2seq.")
                reason = _DECODING if decodes else "is not migrated yet"
                raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} {reason}", node)
            return moved
        if via_version_1_import(module, node):
            if self.spans is not None and is_legacy(name[len("tensorflow.") :]):
                self.driver.spell([(node, name[len("tensorflow.") :])])
            return []
        return self._old_name(node, name) if is_refused(name) or name in _SCOPES else []

    @cached_property
    def _shares_tables(self) -> bool:
        """Whether the program has columns with one table, which stay those of TensorFlow 1."""
        modules = self.project.modules.values()
        return any(name == _SHARED_COLUMNS for module in modules for _, name in module.references())

    def _old_name(self, node: ast.expr, name: str) -> list[Edit]:
        if self.module.dialect(node) == "v2" and not is_old_only(name):
            return []
        found = tensorflow_root(self.module, node)
        if found is None:
            raise Unsupported("the file has no name for TensorFlow as a whole", node)
        root, imports = found
        return self.module.cst.apply([*imports, Replace(node, f"{root}.compat.v1.{name[len('tensorflow.') :]}")])
