"""Puts the generated class and its factory together."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from migrator.modelfn.callwriter import CallWriter
from migrator.modelfn.errors import Unsupported
from migrator.modelfn.factory import factory_lines
from migrator.modelfn.flow import Leaf
from migrator.modelfn.initwriter import InitWriter
from migrator.modelfn.metrics import MetricEntry, metric_entries
from migrator.modelfn.names import reads
from migrator.modelfn.outputs import Outputs, boundary, outputs, repr_key
from migrator.modelfn.plan import Plan
from migrator.modelfn.render import Renderer
from migrator.modelfn.scopes import variable_map
from migrator.modelfn.sites import RESERVED
from migrator.modelfn.translate import Time, format_call
from migrator.modelfn.writer import Shared, Writer, static_support


@dataclass
class Generated:
    """The text that takes the place of a model_fn."""

    text: str
    variables: tuple[tuple[str, str], ...] = ()


class Generator:
    """Writes one class. `class_name` and `factory` are free names of the module, `tf` its name for TensorFlow 2."""

    def __init__(self, plan: Plan, renderer: Renderer, tf: str, class_name: str, factory: str, looks_up: bool, need: Callable[[str], str]) -> None:
        self.plan = plan
        self.class_name = class_name
        self.factory = factory
        regularized = any(
            (name or "").endswith("regularizer") for site in plan.sites for name, _ in site.layer.arguments
        )
        scheduled = any(
            isinstance(n, ast.Call) and (plan.module.resolve(n.func) in plan.translations.schedules)
            for n in ast.walk(plan.function)
        )
        facts = {"sparse": looks_up, "regularized": regularized, "scheduled": scheduled}
        self.shared = Shared(plan, renderer, tf, facts, need)
        self.unit = self.shared.unit
        self.indent = " " * plan.function.col_offset
        self.taken = set(RESERVED) | {site.attribute for site in plan.sites}
        self.kept: dict[str, str] = {}
        self.read_statics: set[str] = set()

    def generate(self) -> Generated:
        """The class, a blank line or two, and the factory."""
        plan = self.plan
        mode = "train" if "train" in plan.specs else "eval"
        self.loss = plan.field(mode, "loss") or plan.field("eval", "loss")
        self._same_loss()
        entries = metric_entries(plan)
        skip = {leaf for entry in entries for leaf in entry.leaves}
        metric_leaves = [leaf for leaf in plan.metric_leaves if leaf not in skip]
        loss_set = set(plan.loss_leaves)
        results = [self.loss] if self.loss is not None else []
        loss_names, loss_again = boundary(plan, plan.loss_leaves, results, mode)
        values = [value for entry in entries for value in entry.values]
        metric_names: list[str] = []
        metric_again: set[Leaf] = set()
        if entries:
            metric_names, metric_again = boundary(plan, metric_leaves, values, "eval")
        needed = list(dict.fromkeys(loss_names + metric_names))
        if not needed and plan.field("infer", "predictions") is None:
            raise Unsupported("the loss uses nothing of the forward pass", plan.function)
        self.outputs = outputs(plan, needed)
        loss_leaves = sorted(loss_set | loss_again, key=lambda leaf: leaf.index)
        metric_leaves = sorted(set(metric_leaves) | metric_again, key=lambda leaf: leaf.index)

        call = self._call()
        loss = self._loss(loss_leaves)
        metric = self._metrics(metric_leaves, entries)
        init = self._init(entries)
        predict = self._predict_step()
        parts = [init, call, loss, metric, predict]
        head = self._head()
        body = "\n\n".join("\n".join(part) for part in parts if part)
        factory = factory_lines(self)
        blank = "\n\n\n" if not self.indent else "\n\n"
        text = "\n".join(head) + "\n" + body + blank + "\n".join(factory)
        return Generated(_tidy(text), variable_map(plan))

    def _same_loss(self) -> None:
        plan = self.plan
        train, evaluation = plan.field("train", "loss"), plan.field("eval", "loss")
        if train is None or evaluation is None:
            return
        same = ast.dump(train) == ast.dump(evaluation)
        rest = {m: s - set(plan.call_leaves) for m, s in plan.loss_slices.items()}
        if not same or rest["train"] != rest["eval"]:
            raise Unsupported("training and evaluation compute different losses", evaluation)

    # -- names --------------------------------------------------------------------------------------------------------

    def static_names(self, leaves: Iterable[Leaf], results: Iterable[ast.AST]) -> set[Leaf]:
        """Static leaves to repeat next to `leaves`; names that are kept on the model are noted in `kept`."""
        wanted: set[str] = set()
        for leaf in leaves:
            wanted |= self.plan.slicer.inputs(leaf)
        for result in results:
            wanted |= reads(result)
        support, kept = static_support(self.plan, wanted, self.plan.is_copied)
        for name in kept:
            self._keep(name)
        for leaf in support:
            wanted |= self.plan.slicer.inputs(leaf)
        self.read_statics |= wanted & set(self.plan.statics)
        return support

    def _keep(self, name: str) -> None:
        if name in self.kept:
            return
        for leaf in self.plan.definitions(name):
            for site in self.plan.sites_in(leaf):
                if site.layer.inputs is None and isinstance(leaf.node, ast.Assign) and leaf.node.value is site.call:
                    if site.loops:
                        raise Unsupported("variables made in a loop are not migrated yet", leaf.node)
                    self.kept[name] = site.attribute
                    return
            if leaf.loops:
                raise Unsupported(f"`{name}` is computed in a loop when the model is built", leaf.node)
        attribute = name if name not in self.taken else f"{name}_"
        self.taken.add(attribute)
        self.kept[name] = attribute

    def names(self, where: str) -> dict[str, str]:
        """How a method other than `__init__` writes the names of the model_fn."""
        found = {name: f"self.{attribute}" for name, attribute in self.kept.items()}
        found.update({name: f"self.{name}" for name in self.plan.statics})
        if "config" in found:
            found["config"] = "self.run_config"
        if where != "call":
            found[self.plan.features] = "x"
            if self.plan.labels is not None:
                found[self.plan.labels] = "y"
            found.update(self.outputs.names)
        return found

    # -- methods ------------------------------------------------------------------------------------------------------

    def _head(self) -> list[str]:
        lines = [f"{self.indent}class {self.class_name}({self.shared.tf}.keras.Model):"]
        if self.plan.docstring is not None:
            node = self.plan.function.body[0]
            lines += self.shared.renderer.statement(node, lambda n: None, self.indent + self.unit) + [""]
        return lines

    def _call(self) -> list[str]:
        plan, out = self.plan, self.outputs
        leaves = [leaf for leaf in plan.call_leaves if leaf not in out.dropped and not plan.is_static(leaf)]
        values: list[ast.AST] = [v for _, v in out.entries if not isinstance(v, str)]
        support = self.static_names(leaves, values)
        writer = CallWriter(self.shared, self.names("call"), plan.sites)
        writer.leaves = sorted(set(leaves) | support, key=lambda leaf: leaf.index)
        result_names = set().union(*(reads(v) if isinstance(v, ast.AST) else {v} for _, v in out.entries))
        result_names |= {out.single} if out.single else set()
        writer.results = {mode: set(result_names) for mode in plan.specs}
        writer.results["infer"] = self._predicted_names()
        indent = self.indent + self.unit * 2
        lines = writer.block(writer.leaves, indent)
        lines += self._return(writer, indent)
        head = f"{self.indent}{self.unit}def call(self, {plan.features}, training=False):"
        return [head, *_trimmed(lines)]

    def _predicted_names(self) -> set[str]:
        out = self.outputs
        names: set[str] = set()
        for key, value in out.entries:
            if out.predicted is None or key in out.predicted:
                names |= reads(value) if isinstance(value, ast.AST) else {value}
        return names | ({out.single} if out.single else set())

    def _return(self, writer: Writer, indent: str) -> list[str]:
        out = self.outputs
        if out.merged is not None:
            return [f"{indent}return {writer.names.get(out.merged, out.merged)}"]
        if out.single is not None:
            return [f"{indent}return {writer.names.get(out.single, out.single)}"]
        if len(out.entries) == 1 and not out.entries[0][0]:
            return [f"{indent}return {writer.text(out.entries[0][1])}"]
        pairs = [
            (key, writer.names.get(v, v) if isinstance(v, str) else writer.text(v)) for key, v in out.entries
        ]
        line = f"{indent}return {{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
        if len(line) <= 100 and "\n" not in line:
            return [line]
        return [f"{indent}return {{", *(f"{indent}{self.unit}{k}: {v}," for k, v in pairs), f"{indent}}}"]

    def _loss(self, leaves: list[Leaf]) -> list[str]:
        if self.loss is None:
            return []
        indent = self.indent + self.unit * 2
        support = self.static_names(leaves, [self.loss])
        writer = Writer(self.shared, "loss", self.names("loss"))
        every = sorted(set(leaves) | support, key=lambda leaf: leaf.index)
        self._check_guards(every)
        lines = self._prologue(writer, every, indent)
        lines += writer.block(every, indent)
        name = self.loss.id if isinstance(self.loss, ast.Name) and self.loss.id not in writer.names else None
        if name is None:
            lines.append(f"{indent}loss = {writer.text(self.loss)}")
            name = "loss"
        lines += [f"{indent}self.loss_metric.update_state({name})", f"{indent}return {name}"]
        head = f"{self.indent}{self.unit}def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):"
        return [head, *_trimmed(lines)]

    def _check_guards(self, leaves: list[Leaf]) -> None:
        for leaf in leaves:
            if not {"train", "eval"} & set(self.plan.specs) <= leaf.modes and not self.plan.is_static(leaf):
                raise Unsupported("the loss depends on the mode", leaf.node)

    def _prologue(self, writer: Writer, leaves: list[Leaf], indent: str) -> list[str]:
        """Names that the statements rebind begin with their value from outside."""
        lines = []
        for name in sorted({n for leaf in leaves for n in leaf.defs} & set(writer.names)):
            lines.append(f"{indent}{name} = {writer.names.pop(name)}")
        return lines

    def _metrics(self, leaves: list[Leaf], entries: list[MetricEntry]) -> list[str]:
        if not entries:
            return []
        indent = self.indent + self.unit * 2
        values = [value for entry in entries for value in entry.values]
        support = self.static_names(leaves, values)
        writer = Writer(self.shared, "metrics", self.names("metrics"))
        every = sorted(set(leaves) | support, key=lambda leaf: leaf.index)
        lines = self._prologue(writer, every, indent)
        lines += writer.block(every, indent)
        for entry in entries:
            entry.attribute = self._metric_attribute(entry.key)
            entry.metric = entry.translate(writer)
            update = [(n, writer.text(v)) for n, v in entry.metric.update]
            lines.append(f"{indent}{format_call(f'self.{entry.attribute}.update_state', update)}")
        lines.append(f"{indent}return self.get_metrics_result()")
        head = f"{self.indent}{self.unit}def compute_metrics(self, x, y, y_pred, sample_weight):"
        return [head, *_trimmed(lines)]

    def _metric_attribute(self, key: str) -> str:
        base = re.sub(r"\W+", "_", key).strip("_").lower() or "metric"
        base = f"metric_{base}" if base[0].isdigit() else base
        if base in self.taken or base in self.kept.values() or base in self.plan.statics:
            base += "_metric"
        while base in self.taken:
            base += "_"
        self.taken.add(base)
        return base

    def _init(self, entries: list[MetricEntry]) -> list[str]:
        plan = self.plan
        indent = self.indent + self.unit * 2
        emitted = set(plan.call_leaves) | set(plan.loss_leaves) | set(plan.metric_leaves)
        kept_leaves = {leaf for name in self.kept for leaf in plan.definitions(name)}
        sites = [s for s in plan.sites if s.leaf in emitted | kept_leaves]
        objects = {s.leaf for s in sites if isinstance(s.leaf.node, ast.Assign) and s.leaf.node.value is s.call}
        kept = {name: a for name, a in self.kept.items() if not set(plan.definitions(name)) <= objects}
        writer = InitWriter(self.shared, sites, kept, self._side_effects())
        writer.names.update({name: f"self.{a}" for name, a in self.kept.items()})
        body = writer.lines(indent)
        wanted = {n for leaf in writer.leaves for n in plan.slicer.inputs(leaf)}
        metrics = []
        for entry in entries:
            assert entry.metric is not None
            for _, value in entry.metric.arguments:
                wanted |= set() if isinstance(value, str) else reads(value)
            arguments = [(n, writer.text(v)) for n, v in entry.metric.arguments]
            name = [("name", repr_key(entry.key))]
            metrics.append(f"{indent}self.{entry.attribute} = {format_call(entry.metric.constructor, arguments + name)}")
        if self.loss is not None:
            batch_mean = self.shared.need("BatchMean")
            metrics.insert(0, f'{indent}self.loss_metric = {batch_mean}(name="loss")')
        self.init_statics = [s for s in plan.statics if s in wanted or s in self.read_statics]
        lines = [f"{indent}super().__init__()"]
        lines += [f"{indent}self.{s} = {s}" for s in self.init_statics if s in self.read_statics and s != "config"]
        head = f"{self.indent}{self.unit}def __init__(self{''.join(', ' + s for s in self.init_statics)}):"
        return [head, *lines, *_trimmed(body), *metrics]

    def _side_effects(self) -> list[Leaf]:
        """Statements that are there for what they do, not for a value: checks and messages that need no data."""
        plan = self.plan
        found: list[Leaf] = []
        for leaf in plan.flow.leaves:
            if isinstance(leaf.node, (ast.Assert, ast.Raise)) or (
                isinstance(leaf.node, ast.Expr) and not isinstance(leaf.node.value, ast.Constant)
            ):
                if leaf.defs:  # `values.append(x)` belongs to the values
                    continue
                heads = [plan.times.head(f) for f in leaf.frames]
                if max([plan.times.of(leaf.node), *heads]) is Time.STATIC:
                    found.append(leaf)
                else:
                    raise Unsupported("a statement that only has an effect is not migrated yet", leaf.node)
        return found

    def _predict_step(self) -> list[str]:
        out = self.outputs
        if out.predicted is None and out.predicted_single is None:
            return []
        indent = self.indent + self.unit * 2
        head = f"{self.indent}{self.unit}def predict_step(self, data):"
        if out.predicted_single is not None:
            return [head, f"{indent}return super().predict_step(data)[{out.predicted_single}]"]
        assert out.predicted is not None
        if len(out.predicted) == 1:
            key = out.predicted[0]
            return [head, f"{indent}return {{{key}: super().predict_step(data)[{key}]}}"]
        return [
            head,
            f"{indent}outputs = super().predict_step(data)",
            f"{indent}return {{key: outputs[key] for key in ({', '.join(out.predicted)})}}",
        ]


def _trimmed(lines: list[str]) -> list[str]:
    """Without blank lines at the beginning."""
    start = 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    return lines[start:]


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


__all__ = ["Generated", "Generator", "Outputs"]
