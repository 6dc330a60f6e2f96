"""The files of a program while it is rewritten: what collects the edits of each, and the models that are written into them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TypeVar

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.helperbodies import Sublayer
from migrator.emit.classwriter import LayerGenerator
from migrator.emit.generate import Generated, Generator
from migrator.emit.polishing.polish import polished
from migrator.emit.polishing.wording import reworded
from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.text import Spans
from migrator.rewrite import Change, Insert, Rename, Replace, definitions
from migrator.vocabulary.diagnostics import Edit

from ..estimator_calls.checkpoint_readers import (
    reader_edits,
)
from ..estimator_calls.driver import Driver
from ..estimator_calls.variable_readers import variable_readers
from ..inputs.preprocessing_columns import ColumnEdits
from ..model_fns.handed_names import name_changes
from ..model_fns.model_fns import (
    HandedOn,
    ModelFn,
    whole_span,
)
from .finishing import file_fixes
from .helpers import Helpers
from .import_roots import relative_prefix
from .renaming import value_changes
from .rewritten import Rewritten

T = TypeVar("T")


class FileRewrite(Rewritten):
    """A rewrite with what it writes into each file."""

    keeps_graphs = False
    """Whether model_fns stay, with the names of TensorFlow 1."""
    kept: frozenset[Definition] = frozenset()
    """The helpers that become layers and stay for code that nothing names."""
    _columns: ColumnEdits
    _handed_on: HandedOn

    def _home(self) -> str:
        """Where the helpers live, for every file that can import them from there: the folder of the first model_fn, or of the
        first Estimator where that is above it in one package."""
        folder = os.path.dirname(self.constructions[0].module.path)
        first = next(iter(self.model_fns), None)
        own = os.path.dirname(first.module.path) if first is not None else folder
        return folder if relative_prefix(self.project, own, folder) is not None else own

    def _driver(self, module: Module) -> Driver:
        if module.path not in self._drivers:
            helpers = Helpers(module, self.project, self._home(), self.module_of, self.keeps_graphs)
            self._helpers[module.path] = helpers
            readers = variable_readers(self.constructions, self.keeps_graphs)
            need, name = helpers.need, helpers.tensorflow
            self._drivers[module.path] = Driver(module, need, name, readers, self.project, self._driver)
        return self._drivers[module.path]

    def _renderer(self, module: Module) -> Renderer:
        """Writes parts of a file that outer edits move."""
        self._driver(module)
        return Renderer(module, self._base_edits(module))

    def _spans(self, module: Module, outside: bool = False) -> Spans:
        """The spans of the model_fns of a module, and of what is made for them; with the parts `outside` of them if asked."""
        layers = [found for found in self.sublayers.found if found not in self.kept]
        every = [*self.model_fns, *layers, *(self.sublayers.outside() if outside else ())]
        return Spans(whole_span(module, d.node) for d in every if d.module is module)

    def _names(self, module: Module) -> list[Rename]:
        """The names of a module that hold a model_fn, and are called by what it becomes."""
        return list(name_changes(module, self.project, self._handed_on, self.model_fns.values()))

    def _generate(self, model: ModelFn) -> None:
        module = model.definition.module
        helpers = self._helpers[module.path]
        assert model.plan is not None
        outer = module.parent(model.definition.node)
        plan, facts = model.plan, self._facts(model.plan)

        def generate(renderer: Renderer) -> Generated:
            need = functools.partial(helpers.need, at=outer)
            named = model.class_name, model.factory
            return Generator(plan, renderer, helpers.tensorflow(), *named, self._together, facts, need).generate()

        model.generated = self._rendered(module, generate)
        text = reworded(model.generated.text)
        text = polished(text, module, self.drafts.renamed)
        self._drivers[module.path].change(Replace(model.definition.node, definitions(text)))

    def _generate_layer(self, sublayer: Sublayer) -> None:
        module = sublayer.definition.module
        node = sublayer.definition.node
        if getattr(node, "decorator_list", []):
            raise Unsupported("a decorated helper makes layers", node)
        helpers, facts = self._helpers[module.path], self._facts()

        def generate(renderer: Renderer) -> str:
            body, tensorflow = sublayer.body, helpers.tensorflow()
            return LayerGenerator(body, renderer, tensorflow, sublayer.class_name, facts, helpers.need).generate()

        text = polished(self._rendered(module, generate), module, self.drafts.renamed)
        if sublayer.definition in self.kept:
            change: Change = Insert(definitions(text), before=node, above=True, apart=True)
        else:
            change = Replace(node, definitions(text))
        self._drivers[module.path].change(change)

    def _rendered(self, module: Module, generate: Callable[[Renderer], T]) -> T:
        """What is generated from a file with the edits of its single references."""
        try:
            edits = self._base_edits(module)
        except Unsupported:
            generate(Renderer(module, []))  # what stands in its way is why names stay, and is told instead
            raise
        return generate(Renderer(module, edits))

    def _base_edits(self, module: Module) -> list[Edit]:
        fixes = file_fixes(module, self._drivers[module.path], self._helpers[module.path], self._spans(module, True))
        columns = self._columns.of(module, self._drivers[module.path].need)
        own = [edit for fix in fixes for edit in fix.edits] + [edit for _, edits in columns for edit in edits]
        own += reader_edits(module, self._spans(module), self._drivers[module.path].need)
        return [*own, *module.cst.apply(value_changes(self.sublayers, module))]
