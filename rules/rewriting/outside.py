"""The edits of the code of a program outside of its model_fns."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.resolve.module import Module
from migrator.resolve.symbols import dotted
from migrator.resolve.text import Spans

from ..bridge.graph_code import GraphCode
from ..bridge.reached import reached
from ..canned.head_specs import head_reference, is_left_head
from ..canned.hyperparameters import hparams_reference, makes_hparams
from ..distribute import tpu
from ..estimator_calls.checkpoint_readers import (
    READERS,
    reader_reference,
    reading_modules,
)
from ..estimator_calls.derived_configs import derived_reference
from ..estimator_calls.driver import Driver
from ..estimator_calls.estimator_values import PREFIX
from ..estimator_calls.task_fields import configuration_edits, task_reference
from ..estimator_calls.variable_readers import OF_CANNED
from ..estimator_calls.warm_starts import start_reference
from ..hooks.hooks import hook_of
from ..inputs.data_files import data_files_reference
from ..inputs.lookup_tables import table_reference
from ..inputs.one_shot import for_graphs, one_shot_changes
from ..inputs.preprocessing_columns import ColumnEdits
from ..loop.loop import Loop, NotPlain
from ..model_fns.model_fns import (
    HandedOn,
    is_partial,
)
from ..program.groups import is_part
from ..program.unused_code import inside_unused, said_of_unused
from .loops import LoopRewrite
from .renaming import idle_imports, layer_changes, model_fn_changes, passes_on, value_changes

_REFERENCES = (
    task_reference,
    derived_reference,
    table_reference,
    data_files_reference,
    hparams_reference,
    head_reference,
    start_reference,
    reader_reference,
    tpu.reference,
)


class OutsideRewrite(LoopRewrite):
    """A rewrite of the files of a program, but for its models."""

    obstacles: Obstacles
    _columns: ColumnEdits
    _handed_on: HandedOn
    _unfolded: list[ast.expr]

    def _methods(self) -> None:
        """The edits of methods and properties of Estimators, wherever they are read."""
        for _, node, reason in self.estimators.lost:
            self.obstacles.found.append(Unsupported(f"an Estimator is not followed here: {reason}", node))
        for module, node in self.estimators.reads:
            self.at = module
            parent = module.parent(node)
            if isinstance(parent, ast.Attribute) and parent.value is node:
                text = module.segment(node) if dotted(node) is not None else ""
                with self.obstacles:
                    self._method(self._driver(module), node, parent, text)

    def _method(self, driver: Driver, node: ast.expr, attribute: ast.Attribute, text: str) -> None:
        """The edits of one method or property, of the Estimator `node`."""
        unread = attribute.attr in OF_CANNED and attribute.attr not in driver.readers
        if unread and isinstance(self.loop, NotPlain) and attribute.attr not in self.loop.reason:
            why = f"an Estimator that `fit` does not train is not migrated yet: {self.loop.reason}"
            raise Unsupported(f"`.{attribute.attr}` of {why}", attribute)
        driver.method(node, attribute, text)

    def _modules(self) -> list[Module]:
        """The modules of the program, and any other that an Estimator reaches."""
        found = set(self._drivers) | self.files() | {module.path for module in self.group}
        found |= {definition.module.path for definition in (*self.sublayers.found, *self.sublayers.outside())}
        found |= self._columns.modules(self.project, found)
        beside = [self.project.modules[path] for path in self._drivers if path not in {m.path for m in self.group}]
        used_there = {path for module in beside for path in self.project.readers.sources(module)}
        found |= {path for path in used_there if is_part(self.project.modules[path])}
        moving = [*self.model_fns, *self.sublayers.found]
        found |= {path for path, module in self.project.modules.items() if passes_on(module, self.project, moving)}
        used = reached(self.project, self.group, False)
        found |= {module.path for module in used if makes_hparams(module)}
        found |= {module.path for module in reading_modules(self.project, READERS) if module in used}
        return [self.project.modules[path] for path in sorted(found)]

    def _module(self, module: Module) -> None:
        """The edits of a module outside of its model_fns."""
        driver = self._driver(module)
        driver.awaited.clear()
        idle = self._helpers[module.path].unused
        shots, handled, left = one_shot_changes(module, idle)
        driver.change(*shots, *(for_graphs(module, made, self._helpers[module.path].tensorflow()) for made in left))
        driver.handled |= handled
        inside, sources = self._spans(module), self.loop.sources if isinstance(self.loop, Loop) else ()
        gone = {node for source in sources for node in source.settings.calls}
        with self.obstacles:
            driver.edits += self._columns.outside(module, driver, inside)
        self._unused_specs(module)
        for node, name in tpu.configurations_first(module.references()):
            if ".distribute." in name and not inside.hold(module.span(node)) and node not in gone:
                driver.strategy(node, name, self._helpers[module.path].tensorflow())
            if inside.hold(module.span(node)) or (node in driver.handled and not is_left_head(driver, node, name)):
                continue
            with self.obstacles:
                if any(known(driver, node, name) for known in _REFERENCES):
                    continue
                if hook_of(name) and not name.startswith(PREFIX) and idle.hold(module.span(node)):
                    continue  # TensorFlow 2 has it among what is old
                around = inside_unused(module, node, idle) if isinstance(self.loop, Loop) else None
                if around is not None and name.startswith(PREFIX):
                    driver.remark(node, said_of_unused(around, name))
                    continue
                if (name.startswith(PREFIX) or hook_of(name)) and not driver.reference(node, name):
                    raise Unsupported(f"tf.{name.split('.', 1)[1]} is not migrated yet", node)
        configuration_edits(driver, inside, self.obstacles)
        driver.change(*idle_imports(module, self._unfolded))
        for model in self.model_fns.values():
            driver.change(*model_fn_changes(model, self.project, module, self.constructions, inside, self._handed_on))
        made = {c.arguments["model_fn"] for c in self.constructions if c.module is module and "model_fn" in c.arguments}
        names = [n for n in self._names(module) if not any(is_part_of(module, n.target, node) for node in made)]
        driver.change(*names)
        calls = (module.span(node) for node in made if isinstance(node, ast.Call) and not is_partial(module, node))
        written = Spans([*inside, *calls])
        values = value_changes(self.sublayers, module)
        driver.change(*(value for value in values if not written.hold(module.span(value.target))))
        unused, bodies = self._helpers[module.path].unused, self._planned()
        for definition in self.sublayers.found:
            kept = definition in self.kept
            driver.change(*layer_changes(definition, self.sublayers, self.project, module, unused, bodies, kept))

    def _unused_specs(self, module: Module) -> None:
        """Model_fns that nothing names stay for graphs, as other code that nothing names does."""
        inside = self._spans(module)
        unused = Spans(span for span in self._helpers[module.path].unused if not inside.hold(span))
        specs = [module.span(node) for node, name in module.references() if name == SPEC]
        if not self.keeps_graphs and any(unused.hold(span) for span in specs):
            GraphCode(self.project, self._driver(module), self.obstacles, unused).specs()


def is_part_of(module: Module, node: ast.AST, outer: ast.AST) -> bool:
    """Whether a node is another one, or stands in it."""
    return node is outer or module.is_inside(node, outer)
