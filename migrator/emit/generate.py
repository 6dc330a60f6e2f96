"""Puts the generated class and its factory together."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.built import sizes_of
from migrator.analyse.results.absentfeatures import early_return, evaluated_keys, groups_rows
from migrator.analyse.results.compiledloss import compiled_loss
from migrator.analyse.results.compiledmetrics import compile_metrics, left_leaves
from migrator.analyse.results.derivedmetrics import DerivedMetric
from migrator.analyse.results.dictentries import open_entries
from migrator.analyse.results.exports import Exports, exports
from migrator.analyse.results.fedlabels import only_predicting, reads_only
from migrator.analyse.results.finalvalues import final_method
from migrator.analyse.results.metricreads import training_metrics
from migrator.analyse.results.metrics import MetricEntry, metric_entries
from migrator.analyse.results.outputs import boundary, outputs, single
from migrator.analyse.results.singleoutput import single_output
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.statements.slicing import surely
from migrator.analyse.training.clipping import with_clipping
from migrator.analyse.training.optimizernames import check_optimizer
from migrator.analyse.training.sums import names_of_sums
from migrator.analyse.training.trainop import TrainOp, train_op
from migrator.analyse.variables.scopes import variable_map
from migrator.analyse.variables.sharing import refuse_shared_variables
from migrator.analyse.variables.startvalues import start_method, table_rows
from migrator.emit.chain import chain_of
from migrator.emit.classwriter import tidy
from migrator.emit.factories.factory import factory
from migrator.emit.methods.callwriter import CallWriter
from migrator.emit.methods.lossmetrics import update_with_loss
from migrator.emit.methods.losswriter import loss_methods, loss_results
from migrator.emit.methods.metricwriter import conditions, metric_attributes, metrics_method, names_read
from migrator.emit.methods.predictwriter import picked_method, predict_method, returned_dict
from migrator.emit.methods.recording import (
    counted_evaluation,
    counted_step,
    logged_attributes,
    logged_step,
    recorded_attributes,
    recorded_step,
    silent_step,
)
from migrator.emit.methods.resultwriter import read_results, result_method
from migrator.emit.methods.servingwriter import serving_method, serving_methods
from migrator.emit.methods.trainstep import train_step_method
from migrator.emit.modelwriter import ModelWriter
from migrator.emit.writer import Writer
from migrator.rewrite import Row, code, defined, returned_at_once, rows, statements, text_of, trimmed


@dataclass
class Generated:
    """The text that takes the place of a model_fn."""

    text: str
    variables: tuple[tuple[str, str], ...] = ()
    chained: bool = False
    """Whether there is no class, as `Sequential` does."""


class Generator(ModelWriter):
    """Writes the class of a model and its factory."""

    def generate(self) -> Generated:
        """The class, a blank line or two, and the factory. Raises Unsupported, for the first of all obstacles."""
        generated = Generated("")
        self.shared.obstacles.found += self.plan.obstacles.found
        with self.shared.obstacles:
            generated = self._generated()
        self.shared.obstacles.refuse()
        return generated

    def _generated(self) -> Generated:
        """Methods that do not need each other are written even if something stands in the way of one."""
        plan, obstacles = self.plan, self.shared.obstacles
        self.single = single_output(plan)
        if self.single is not None:
            if isinstance(self.single.predictions, ast.Name):
                open_entries(plan, self.single.predictions.id)
            plan.keep_in_call(self.single.call)
        self.losses = loss_results(plan)
        self.partial = [ast.Name(name, ast.Load()) for name in plan.partial_losses]
        self.test_step: Sequence[Row] = []
        entries: list[MetricEntry] = []
        derived: list[DerivedMetric] = []
        with obstacles:
            entries, derived = self._entries()
            self._check_metrics()
        skip = {leaf for entry in entries for leaf in entry.leaves}.union(*(metric.skipped for metric in derived))
        metric_leaves = [leaf for leaf in plan.metric_leaves if leaf not in skip]
        loss_set = set(plan.loss_leaves)
        loss_again: set[Leaf] = set()
        self.needed: dict[str, list[str]] = {}
        for mode, result in self.losses.items():
            leaves = [leaf for leaf in plan.loss_leaves if mode in leaf.modes]
            results = [result, *(self.partial if mode == "train" else ())]
            self.needed[mode], again = boundary(plan, leaves, results, mode)
            loss_again |= again
        values = [*(value for entry in entries for value in entry.values), *conditions(entries)]
        self.evaluated = evaluated_keys(plan, metric_leaves, values)
        self.only_evaluates = not plan.metric_effects and groups_rows(plan, metric_leaves)
        metric_again: set[Leaf] = set()
        if entries:
            metric_names, metric_again = boundary(plan, metric_leaves, values, "eval")
            self.needed["eval"] = self.needed.get("eval", []) + metric_names
        facts = self.shared.facts
        served = exports(plan, facts["classified"]) if facts["exported"] else Exports([], [], [])
        self.needed["infer"] = served.names
        needed = list(dict.fromkeys(name for mode in self.needed for name in self.needed[mode]))
        if not needed and plan.field("infer", "predictions") is None:
            raise Unsupported("the loss uses nothing of the forward pass", plan.function)
        self.outputs = outputs(plan, needed) if self.single is None else single(self.single.name)
        self.compiled = compiled_loss(self)
        self.entries = entries
        compile_metrics(self, entries, derived)
        told = update_with_loss(self, plan.loss_leaves, {*metric_leaves, *metric_again}, entries)
        loss_leaves = self._not_built(loss_set | loss_again | told)
        metric_leaves = self._not_built({*left_leaves(self, metric_leaves, entries), *metric_again})

        training: TrainOp | None = None
        call: Sequence[Row] = []
        loss: Sequence[Row] = []
        metric: Sequence[Row] = []
        step: Sequence[Row] = []
        final: Sequence[Row] = []
        with obstacles:
            call = self._call()
        with obstacles:
            loss, self.test_step = loss_methods(self, loss_leaves)
        with obstacles:
            metric = metrics_method(self, metric_leaves, entries)
        computed = result_method(self, entries, derived)
        predict = picked_method(self) if self.single is None else predict_method(self, self.single)
        with obstacles:
            training, step = self._training()
        recorded = self.shared.facts["recorded"] and training is not None
        logged = plan.spec_hooks.in_logs and bool(plan.watched)
        with obstacles:
            step = logged_step(self, step) if logged else step
            step = counted_step(self, step) if self.shared.facts["uncounted"] and training is not None else step
        if self.shared.facts["evaluates_uncounted"] and (loss or metric):
            self.test_step = counted_evaluation(self, self.test_step)
        with obstacles:
            step = recorded_step(self, step) if recorded else step
            if recorded and self.shared.facts["validated"]:
                self.test_step = silent_step(self, self.test_step)
        serving = serving_methods(self, served) if self.shared.facts["plain"] else [serving_method(self, served)]
        start = start_method(self)
        with obstacles:
            final = final_method(self)
        used = {*plan.forward, *plan.loss_leaves, *plan.metric_leaves, *(s.leaf for s in plan.specs.values())}
        build = self.build(used)
        self.note_statics([build, call, loss, metric, computed, step, predict, *serving, start, final])
        attributes: list[Row] = []
        with obstacles:
            attributes += logged_attributes(self) if logged else []
            attributes += recorded_attributes(self) if recorded else []
        init = self.constructor(
            used, lambda writer: [*metric_attributes(self, entries, writer), *attributes], names_read(entries)
        )
        methods = [init, build, call, loss, step, self.test_step, metric, computed, predict, *serving, start, final]
        written = [self.whole([table_rows(self), *methods])]
        variables = (*variable_map(plan), *names_of_sums(plan))
        if self.shared.facts["plain"] and not self.shared.facts["addressed"]:  # by attributes of a class
            self.chain = chain_of(text_of(written, self.unit))
        if self.chain is not None:
            variables = tuple((name, self.chain.path(path)) for name, path in variables)
        above = [*written, *rows([""] if self.indent else ["", ""])] if self.chain is None else []
        text = text_of([*above, *factory(self, training)], self.unit, self.indent)
        refuse_shared_variables(plan)
        return Generated(tidy(text), variables, self.chain is not None)

    def _entries(self) -> tuple[list[MetricEntry], list[DerivedMetric]]:
        """The metrics, each with the attribute that holds it, and those that are computed from others."""
        plan = self.plan
        entries, derived = metric_entries(plan)
        known: dict[str, str] = {}
        """Attributes of metrics under conditions: those of one key, in arms of one condition, share theirs."""
        for entry in entries:
            entry.attribute = known.get(entry.key) or self._metric_attribute(entry.key, entry.loop is not None)
            known.update({entry.key: entry.attribute} if entry.arm is not None else {})
            for leaf in entry.leaves:
                alone = entry.loop is None and not _fills(leaf)
                for name in leaf.defs if alone and plan.metric_call(leaf) is entry.call else ():
                    self.shared.metrics[name] = f"self.{entry.attribute}.result()"
        self.shared.metrics.update(training_metrics(plan, entries))
        self.shared.metrics.update(read_results(plan, derived))
        return entries, derived

    def _training(self) -> tuple[TrainOp | None, Sequence[Row]]:
        """What the train op does, and the method that does it, if Keras does not."""
        training = train_op(self.plan)
        if training is None:
            return None, []
        for update in training.updates:
            check_optimizer(self.plan, update.optimizer, update.at, self.shared.class_name)
        facts = self.shared.facts
        facts["conditional"] = training.condition is not None and not training.pauses
        training = with_clipping(self.plan, training, alone=not facts["replicated"] and not facts["horovod"])
        step = train_step_method(self, training)
        if step and facts["horovod"]:
            reason = "the train op does more than to minimize the loss, which layers do on one worker of Horovod only"
            raise Unsupported(reason, training.updates[0].call)
        return training, step

    def _not_built(self, leaves: set[Leaf]) -> list[Leaf]:
        """Leaves without those whose values the model has from `__init__`, or that are copied where they are read."""
        static = {leaf for leaf in leaves if leaf.defs and self.plan.is_static(leaf)}
        return sorted(leaves - static, key=lambda leaf: leaf.index)

    def _check_metrics(self) -> None:
        """Refuse to write down metrics of the training that no evaluation has."""
        plan = self.plan
        for effect in plan.metric_effects:
            for leaf in plan.slicer.closure(plan.slicer.inputs(effect), effect.index, "train", effect):
                if plan.metric_call(leaf) is None:
                    continue
                if _fills(leaf):
                    raise Unsupported("a metric that is read from a dict is not migrated yet", leaf.node)
                if not leaf.defs <= set(self.shared.metrics):
                    raise Unsupported("a metric that is not among eval_metric_ops is not migrated yet", leaf.node)

    # -- methods ------------------------------------------------------------------------------------------------------

    def _call(self) -> Sequence[Row]:
        plan, out = self.plan, self.outputs
        sizes = sizes_of(plan) & set(plan.call_leaves)
        leaves = [leaf for leaf in plan.call_leaves if leaf not in {*out.dropped, *sizes} and not plan.is_static(leaf)]
        values: list[ast.AST] = [v for _, v in out.entries if not isinstance(v, str)]
        support = self.static_names([*leaves, *sizes], values) | sizes
        predicted = set().union(*(reads(v) for _, v in out.entries if isinstance(v, ast.AST)))
        predicted |= {out.single} if out.single else set()
        writer = CallWriter(self.shared, {}, plan.sites)

        def written(support: set[Leaf]) -> list[Row]:
            nonlocal writer
            writer = CallWriter(self.shared, self.names("call"), plan.sites)
            writer.leaves = sorted(set(leaves) | support, key=lambda leaf: leaf.index)
            writer.results = {mode: predicted | set(self.needed.get(mode, ())) for mode in plan.specs}
            writer.results["infer"] = self._predicted_names() | set(self.needed["infer"])
            writer.unbound = self._unbound(writer.leaves)
            test = early_return(plan, writer)
            if not test:
                return [*writer.rows(writer.leaves), *self._return(writer, out.entries)]
            end = plan.specs["infer"].leaf.index
            above = [leaf for leaf in writer.leaves if leaf.index < end]
            alone = only_predicting(plan, above)
            writer.alone, writer.end = set(alone), end
            first = writer.rows(above[: len(above) - len(alone)])
            early = [*trimmed(writer.rows(alone)), *self._return(writer, self.predicted_entries())]
            first += statements("if {test}:\n    {early}", test=code(test), early=early)
            rest = writer.rows([leaf for leaf in writer.leaves if leaf.index > end])
            entries = [(key, value) for key, value in out.entries if not reads_only(plan, value, writer.alone)]
            return [*first, *rows([""]), *trimmed(rest), *self._return(writer, entries)]

        body = written(self.lean(support, written))
        labels = f", {plan.labels}=None" if plan.fed else ""
        training = (
            ", training=False" if writer.uses_training or any(s.layer.asks_for_training for s in plan.sites) else ""
        )
        return [defined(f"def call(self, {plan.features}{labels}{training})", returned_at_once(trimmed(body)))]

    def _unbound(self, leaves: list[Leaf]) -> dict[str, set[Leaf]]:
        """Names that the loss or a metric may read under a condition, and that have no value without it."""
        names = [value for _, value in self.outputs.entries if isinstance(value, str)]
        raises = {leaf for leaf in self.plan.flow.leaves if isinstance(leaf.node, ast.Raise)}
        made = {name: {leaf for leaf in leaves if name in leaf.defs} for name in names}
        return {name: found for name, found in made.items() if found and not surely(found | raises)}

    def _predicted_names(self) -> set[str]:
        out = self.outputs
        names = {out.single} if out.single else set()
        for key, value in out.entries:
            if isinstance(value, ast.AST) and (out.predicted is None or key in out.predicted):
                names |= reads(value)
        return names

    def _return(self, writer: Writer, entries: list[tuple[str, ast.expr | str]]) -> list[Row]:
        out = self.outputs
        if out.merged is not None:
            merged = writer.names.get(out.merged, out.merged)
            if not entries:
                return writer.lines(f"return {merged}")
            extra = ", ".join(f"{key}: {writer.names.get(str(v), str(v))}" for key, v in entries)
            return writer.lines(f"return {{**{merged}, {extra}}}")
        if out.single is not None:
            return writer.lines(f"return {writer.names.get(out.single, out.single)}")
        if len(entries) == 1 and not entries[0][0]:
            return writer.lines(f"return {writer.text(entries[0][1])}")
        return returned_dict(
            writer, [(key, writer.names.get(v, v) if isinstance(v, str) else writer.text(v)) for key, v in entries]
        )

    def _metric_attribute(self, key: str, several: bool) -> str:
        base = re.sub(r"\W+", "_", key).strip("_").lower() or "metric"
        base = f"metric_{base}" if base[0].isdigit() else base
        base = f"{base}_metrics" if several and not base.endswith("metrics") else base
        if base in self.taken or base in self.kept.values() or base in self.plan.statics:
            base += "_metric"
        while base in self.taken:
            base += "_"
        self.taken.add(base)
        return base


def _fills(leaf: Leaf) -> bool:
    """Whether a statement gives a value to an entry of a dict, not to a name: ``metrics["mean"] = tf.metrics.mean(…)``."""
    return isinstance(leaf.node, ast.Assign) and isinstance(leaf.node.targets[0], ast.Subscript)
