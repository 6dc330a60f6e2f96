"""Writes `compute_loss`, and `test_step` where evaluation computes another loss than training."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.plan import Plan
from migrator.analyse.layers.site import Site
from migrator.analyse.results.fedlabels import given_labels
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.variables.variables import chosen_by_attributes
from migrator.emit.expressions import Shared
from migrator.emit.methods.callwriter import CallWriter
from migrator.emit.methods.lossmetrics import updates
from migrator.emit.methods.prologue import prologue
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, code, defined, given, rows, statements, trimmed

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter


def loss_results(plan: Plan) -> dict[str, ast.expr]:
    """The loss of each EstimatorSpec that has one, by mode."""
    found = {mode: plan.field(mode, "loss") for mode in ("train", "eval")}
    return {mode: node for mode, node in found.items() if node is not None}


class LossWriter(CallWriter):
    """The statements of the loss, those of one mode under a test of `training`."""

    def __init__(
        self,
        shared: Shared,
        names: dict[str, str],
        sites: list[Site],
        results: dict[str, ast.expr],
        others: Iterable[str] = (),
    ) -> None:
        super().__init__(shared, names, sites)
        self.where = "loss"
        self.modes = frozenset(results)
        self.results = {mode: shared.plan.reads(node) for mode, node in results.items()}
        self.results["train"] = self.results.get("train", set()) | set(others)
        self.others = bool(others)
        """Whether optimizers have losses of their own."""
        self.lacks_others = False
        """Whether evaluations cannot compute all of these."""
        self._fed: set[Leaf] | None = None

    def transform(self, node: ast.AST) -> str | None:
        """Variables that are chosen by names which Keras does not give them are listed by the attributes that hold them."""
        chosen = (
            chosen_by_attributes(self.plan, self.shared.class_name, node) if isinstance(node, ast.ListComp) else None
        )
        return super().transform(node) if chosen is None else chosen

    def guard(self, leaf: Leaf) -> str | None:
        """The test that a statement needs. Summaries need none: they are written in training only."""
        if self.others and "eval" in self.modes and "eval" not in leaf.modes and self._reads_training(leaf):
            self.lacks_others = True
            return "training"
        if "eval" in self.modes and "eval" not in leaf.modes and leaf in self._fed_in_training():
            return "training"
        missing = {mode for mode in self.modes - leaf.guard if self._read_in(leaf, mode)}
        if not missing or not leaf.defs:
            return None
        return "training" if "train" in leaf.guard else "not training"

    def _fed_in_training(self) -> set[Leaf]:
        """The statements that need a feature which only trainings are seen to look up: evaluations may be fed without it."""
        if self._fed is None:
            plan, leaves = self.plan, self.plan.flow.leaves
            features = plan.features if isinstance(plan, Plan) else None
            known = set().union(*(_looked_up(features, leaf) for leaf in leaves if "eval" in leaf.modes))
            own = [leaf for leaf in self.leaves if "eval" not in leaf.modes]
            self._fed = {leaf for leaf in own if _looked_up(features, leaf) - known}
            for leaf in sorted(own, key=lambda leaf: leaf.index) if self._fed else ():
                needed = plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, "train", leaf)
                if needed & self._fed:
                    self._fed.add(leaf)
        return self._fed

    def _reads_training(self, leaf: Leaf) -> bool:
        """Whether a statement needs what the forward pass computes in training alone."""
        plan = self.plan
        needed = plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, "train", leaf) - set(self.leaves)
        return any("eval" not in other.modes and not plan.is_static(other) for other in needed)

    def _mode_text(self, table: dict[str, bool], node: ast.AST) -> str:
        on = {mode for mode in self.modes if table[mode]}
        if on == self.modes or not on:
            return str(bool(on))
        return self.training_text("train" in on, node)

    def result(self, results: dict[str, ast.expr]) -> str:
        """The text of the loss."""
        texts = {mode: self.text(node) for mode, node in results.items()}
        if len(set(texts.values())) == 1:
            return texts.popitem()[1]
        self.reads_training = True
        return f"{texts['train']} if training else {texts['eval']}"


def _looked_up(features: str | None, leaf: Leaf) -> set[str]:
    """The keys of features that a statement looks up."""
    subscripts = [node for node in walk(leaf.node) if isinstance(node, ast.Subscript)]
    keys = [s.slice for s in subscripts if isinstance(s.value, ast.Name) and s.value.id == features]
    return {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def loss_methods(generator: ModelWriter, leaves: list[Leaf]) -> tuple[Sequence[Row], Sequence[Row]]:
    """`compute_loss`, and `test_step` where it is needed; nothing where `compile` takes the loss."""
    plan, shared = generator.plan, generator.shared
    if not generator.losses or generator.compiled is not None:
        return [], []
    entries = [entry for entry in generator.entries if entry.with_loss]
    results = [*generator.losses.values(), *generator.partial, *(value for entry in entries for value in entry.values)]
    support = generator.static_names(leaves, results)
    carried = plan.ordered({leaf for entry in entries for leaf in entry.leaves})

    def written(support: set[Leaf]) -> tuple[LossWriter, list[Row], str]:
        writer = LossWriter(shared, generator.names("loss"), plan.sites, generator.losses, plan.partial_losses)
        writer.leaves = sorted(set(leaves) | support, key=lambda leaf: leaf.index)
        body = [*prologue(writer, writer.leaves), *writer.rows(writer.leaves)]
        name = result = writer.result(generator.losses)
        if not name.isidentifier() and not generator.partial:
            body += writer.lines(f"loss = {result}")
            name = "loss"
        return writer, body, name

    def draft(support: set[Leaf]) -> list[Row]:
        writer, body, name = written(support)
        return [*body, *writer.lines(name, *plan.partial_losses, *updates(entries, writer))]

    writer, body, name = written(generator.lean(support, draft))
    if generator.partial:
        step = test_step_method(generator, writer.uses_training) if writer.uses_training or plan.fed else []
        return losses_methods(generator, writer, trimmed(body), name), step
    facts = shared.facts
    share = f" / {shared.tf}.distribute.get_strategy().num_replicas_in_sync"
    share = share if facts["plain"] and facts["distributed"] else ""
    update: Sequence[Row] = statements("self.loss_metric.update_state({loss})", loss=name)
    update = [*update, *writer.comments(carried), *writer.lines(*updates(entries, writer))]
    if facts["plain"] and facts["recorded"]:  # so that no XLA is between a step and the end of the data
        update = statements(
            """
            with {tf}.control_dependencies([{loss}]):  # else Keras 3 counts a batch where the data end
                {update}
            """,
            tf=shared.tf,
            loss=name,
            update=update,
        )
    step = test_step_method(generator, writer.uses_training) if writer.uses_training or plan.fed else []
    training = ", training=True" if writer.uses_training else ""
    head = f"def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None{training})"
    return [defined(head, [*trimmed(body), *update, *rows([f"return {name}{share}"])])], step


def test_step_method(generator: ModelWriter, training: bool) -> Sequence[Row]:
    """Keras does not tell `compute_loss` that it evaluates, nor gives the model the labels; this does."""
    return statements(
        """
        def test_step(self, data):
            x, y, sample_weight = {tf}.keras.utils.unpack_x_y_sample_weight(data)
            y_pred = self(x, {labels}, training=False)
            self.compute_loss(x, y, y_pred, sample_weight, {training})
            return self.compute_metrics(x, y, y_pred, sample_weight)
        """,
        tf=generator.shared.tf,
        labels=given(given_labels(generator)),
        training=given("training=False" if training else ""),
    )


def losses_methods(generator: ModelWriter, writer: LossWriter, body: list[Row], result: str) -> Sequence[Row]:
    """`compute_losses` and `compute_loss` of a model whose optimizers have a loss each. `body` computes all of them."""
    plan, tells = generator.plan, writer.uses_training
    if not result.isidentifier():
        body, result = [*body, *writer.lines(f"loss = {result}")], "loss"
    pairs = [("loss", result), *((name, writer.names.get(name, name)) for name in plan.partial_losses)]
    entries = ", ".join(f'"{key}": {text}' for key, text in pairs)
    flag, read = (", training=True", ", training") if tells else ("", "")
    alone = (
        statements('if not training:\n    return {{"loss": {result}}}', result=result) if writer.lacks_others else []
    )
    computed = statements(
        """
        {body}
        self.loss_metric.update_state({result})
        {alone}
        return {losses}
        """,
        body=trimmed(body),
        result=result,
        alone=alone,
        losses=code(f"{{{entries}}}"),
    )
    head = f"def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None{flag})"
    whole = rows([f'return self.compute_losses(x, y, y_pred{read})["loss"]'])
    return [defined(f"def compute_losses(self, x, y, y_pred{flag})", computed), *rows([""]), defined(head, whole)]
