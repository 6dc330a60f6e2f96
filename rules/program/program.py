"""The rule that migrates whole Estimator programs."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Union

from migrator.engine.rule import ProgramRule
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Location, ProgramUnit, Severity

from ..estimator_calls.estimator_values import Construction
from .attempts import Attempts, started
from .estimators import estimators_in, is_called, not_yet
from .graph_tests import GraphTests
from .groups import program_groups
from .library import holds_no_program, is_mode_file, library_files, mode_files
from .shared_programs import Results, Sharing, is_native, sharing_code

if TYPE_CHECKING:
    from migrator.resolve.project import Project
    from migrator.vocabulary.settings import Settings


class EstimatorProgram(ProgramRule):
    """Turn an Estimator program into a Keras model that is trained with `Model.fit`.

    ## What it does
    Each model_fn becomes a `keras.Model`: layers and variables are made in `__init__`, the tensor statements become `call`,
    the loss `compute_loss`, `eval_metric_ops` become Keras metrics, and `train_op` the optimizer that a factory function
    compiles the model with. `Estimator(...)` becomes a call of that factory. Where all uses of the Estimators are seen, `train`,
    `evaluate` and `predict` become `fit`, `evaluate` and `predict` of the model, `train_and_evaluate` becomes `fit` with
    `validation_data`, and settings go where they are used; under a strategy of the program, or in a cluster of `TF_CONFIG` by a
    `make_strategy()` that is written into the program, if the data are seen to be endless or counted. Else they, `RunConfig`,
    `TrainSpec` and `EvalSpec` become small functions and dataclasses of the same name, copied into `tf2_training.py` beside the
    program, those for several devices and machines into `tf2_cluster.py`. All files of a program change together, or none does.
    In files of a library that make no Estimator, `ModeKeys` become the strings that they are; whatever else speaks of Estimators
    stays.

    Helpers for clusters and several devices come along where the program may train there; `--strategy` gives them to others,
    too. It may not if it calls `train`, `evaluate` or `predict` itself, never `train_and_evaluate`, which alone starts the
    servers of `TF_CONFIG`, and names no strategy, cluster, partitioner, TPU or Horovod; nor if it names none of these and
    `train_and_evaluate` becomes `fit`, which a message says.

    ## Why
    `tf.estimator` is gone since TensorFlow 2.16.

    ## Example
    ```python
    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        loss = tf.losses.mean_squared_error(labels, logits)
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices(examples).repeat().batch(32), steps=100)
    ```
    becomes
    ```python
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.logits = tf.keras.layers.Dense(1)
            self.loss_metric = tf.keras.metrics.Mean(name="loss")

        def call(self, features, training=False):
            logits = self.logits(features["x"])
            return logits

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            loss = tf.reduce_mean(tf.math.squared_difference(y_pred, tf.cast(y, tf.float32)))
            self.loss_metric.update_state(loss)
            return loss

    def create_model():
        model = Model()
        model.compile(optimizer=tf.keras.optimizers.Adam(0.01, epsilon=1e-8))
        return model

    model = create_model()
    model.fit(tf.data.Dataset.from_tensor_slices(examples).repeat().batch(32).take(100))
    ```

    ## Fix safety
    Safe: each default that differs is written out, and what could train differently is refused with the reason and the
    line. The order of random numbers (initial values, dropout, shuffling) differs between TensorFlow versions.
    """

    code = "EST100"
    name = "estimator-program"
    words = ("stimator", "contrib.learn", "contrib import learn")

    @classmethod
    def looks_around(cls, module: Module) -> bool:
        """A file that knows no more than the names of the modes is the same in any program that cannot reach it."""
        return not is_mode_file(module)

    def check_program(self, project: Project, settings: Settings) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """One fix for each group of files that share Estimators; one unit for each Estimator."""
        tests = GraphTests(project)
        project = tests.project
        programs: list[list[Module]] = []
        begun: list[Drafts] = []
        libraries: list[list[Module]] = []
        made: dict[str, Location] = {}
        for group in program_groups(project):
            if not any(module.path in project.editable for module in group):
                continue
            if all(holds_no_program(module) for module in group):
                libraries.append(group)
                continue
            drafts = started(project, group)
            constructions = estimators_in(drafts, group)
            made.update({c.module.path: drafts.location(c.module, c.call) for c in constructions})
            called = functools.partial(is_called, drafts.project)
            other = [x for module in group for x in not_yet(drafts, drafts.project.modules[module.path])]
            other = [x for x in other if not constructions or called(x[0], x[1])]
            if constructions and not any(c.module.path in project.editable for c in constructions):
                yield self._elsewhere(drafts, group, constructions[0])
                yield from mode_files(self, group)
            elif other:
                yield from self._left(drafts, group, constructions, other)
            elif constructions:
                programs.append(group)
                begun.append(drafts)
            else:
                libraries.append(group)
        moved: set[str] = set()
        results = list(self._programs(project, programs, begun, settings))
        for result in results:
            if isinstance(result, Diagnostic) and result.fix is not None:
                moved.update(edit.path for edit in result.fix.edits)
        yield from results
        yield from tests.broken(self, results)
        for group in libraries:
            yield from library_files(self, project, [module for module in group if module.path not in moved], made)

    def _programs(
        self, project: Project, programs: list[list[Module]], begun: list[Drafts], settings: Settings
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """All programs, each native only if no other one misses what its fix takes away; `begun` are their drafts."""
        attempts = (Attempts(self).program(project, *each, settings) for each in zip(programs, begun))
        results = [list(attempt) for attempt in attempts]
        if settings.style != "bridge":
            self._join(project, programs, results, replace(settings, style="native"))
        sharing = Sharing(project, results)
        while conflicts := list(sharing.conflicts()):  # each takes a program out of the native ones
            for number, reason in conflicts:
                results[number] = list(
                    Attempts(self).program(project, programs[number], begun[number], settings, reason)
                )
            sharing = Sharing(project, results)
        yield from sharing.merged(results)

    def _join(self, project: Project, programs: list[list[Module]], results: list[Results], settings: Settings) -> None:
        """Makes one of programs that share code, where not all are native side by side, but are native together.

        What one takes apart, such as a function that makes the train op, has to stay as long as the other calls it.
        """
        apart = {number for number, _ in Sharing(project, results).conflicts()}
        for numbers in sharing_code(project, programs):
            if apart.isdisjoint(numbers) and all(is_native(results[number]) for number in numbers):
                continue
            group = sorted({m.path: m for number in numbers for m in programs[number]}.values(), key=lambda m: m.path)
            together = list(Attempts(self).program(project, group, started(project, group), settings))
            if is_native(together):
                first, *others = numbers
                programs[first], results[first] = group, together
                for number in reversed(others):
                    del programs[number], results[number]
                return self._join(project, programs, results, settings)

    def _elsewhere(self, drafts: Drafts, group: list[Module], construction: Construction) -> ProgramUnit:
        """A program that is worked on where its Estimator is made: it is too large to move as a whole."""
        reason = "its files are too many to be looked at as a whole"
        files = tuple(module.path for module in group if not is_mode_file(module))
        location = drafts.location(construction.module, construction.call)
        return ProgramUnit("Estimator", location, "manual", reason, files)

    def _left(
        self,
        drafts: Drafts,
        group: list[Module],
        constructions: list[Construction],
        other: list[tuple[Module, ast.expr, str]],
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """What is left as it is, with the reason: one unit for each Estimator."""
        files = tuple(module.path for module in group if not is_mode_file(module))
        yield from mode_files(self, group)
        found = [f"{reason} ({drafts.location(module, node).line_text})" for module, node, reason in other]
        places = [(module, node, reason, [own]) for (module, node, reason), own in zip(other, found)]
        places += [(c.module, c.call, found[0], found) for c in constructions]
        for module, node, said, reasons in places:
            location = drafts.location(module, node)
            message = f"this Estimator program is left as it is: {said}"
            yield Diagnostic(self.code, message, location, None, Severity.WARNING, self.name, self.url)
            name = module.segment(node.func if isinstance(node, ast.Call) else node)
            reason, *others = dict.fromkeys(reasons)
            blocked = tuple(sorted({where.path for where, _, _ in other}))
            yield ProgramUnit(name, location, "manual", reason, files, others=tuple(others), blocked=blocked)
