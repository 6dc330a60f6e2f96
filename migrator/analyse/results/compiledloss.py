"""The loss that `compile` takes, where it is the mean of a loss that Keras has of the labels and what `call` returns."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import format_call
from migrator.analyse.results.compiled import CompiledLoss
from migrator.analyse.results.opnames import op_name
from migrator.analyse.results.outputs import repr_key
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.training.clipping import with_clipping
from migrator.analyse.training.trainop import train_op
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.emit.modelwriter import ModelWriter

_KEPT_BY_KERAS = re.compile(r"regularizer|add_loss|mask_zero|\bMasking\b")
"""What makes Keras add to a loss that `compile` takes, or leave out a part of it."""
_MASKS = re.compile(r"mask_zero|\bMasking\b")


class ProgramReading:
    """An expression of the program, at a statement; what is read behind names on the way is noted."""

    def __init__(self, generator: ModelWriter, mode: str, node: ast.expr, at: Leaf, seen: set[Leaf]) -> None:
        self.generator, self.plan, self.mode = generator, generator.plan, mode
        self.node, self.at, self.seen = node, at, seen

    def part(self, node: ast.expr) -> ProgramReading:
        """A part of the expression."""
        return ProgramReading(self.generator, self.mode, node, self.at, self.seen)

    def apart(self) -> ProgramReading:
        """The same, whose readings are not noted here."""
        return ProgramReading(self.generator, self.mode, self.node, self.at, set())

    def behind(self) -> ProgramReading:
        """The expression that gave a name its only value."""
        found = self
        for _ in range(8):
            node = found.node
            if node in self.plan.opened_entries:
                found = found.part(self.plan.opened_entries[node])
                continue
            if not isinstance(node, ast.Name) or found.is_output or found.is_labels:
                break
            sources = self.plan.slicer.reaching(node.id, found.at.index, self.mode, found.at)
            made = sources[0].node if len(sources) == 1 and not sources[0].arms else None
            if not isinstance(made, ast.Assign) or len(made.targets) != 1 or not isinstance(made.targets[0], ast.Name):
                break
            self.seen.add(sources[0])
            found = ProgramReading(self.generator, self.mode, made.value, sources[0], self.seen)
        return found

    @property
    def function(self) -> str | None:
        """The qualified name of what is called."""
        return self.plan.module.resolve(self.node.func) if isinstance(self.node, ast.Call) else None

    def resolve(self, node: ast.expr) -> str | None:
        """The qualified name of a reference."""
        return self.plan.module.resolve(node)

    @property
    def is_output(self) -> bool:
        """Whether it is what `call` returns."""
        single = self.generator.single
        if single is None or not isinstance(self.node, ast.Name) or self.node.id != single.name:
            return False
        return set(self._sources()) <= set(self.plan.call_leaves)

    @property
    def output_has_last_axis(self) -> bool:
        """Whether the output is seen to be [n, k]: a dense layer has made it, or a part of a sum that it is."""
        single = self.generator.single
        return single is not None and self._has_last_axis(single.name, len(self.plan.flow.leaves), None)

    def _has_last_axis(self, name: str, index: int, at: Leaf | None, deep: int = 0) -> bool:
        """Whether what a name stands for at a statement is [n, k]."""
        made = self.plan.slicer.reaching(name, index, self.mode, at)
        value = made[0].node.value if len(made) == 1 and isinstance(made[0].node, ast.Assign) else None
        return value is not None and deep < 8 and self._is_of_rows(value, made[0], deep + 1)

    def _is_of_rows(self, node: ast.expr, at: Leaf, deep: int) -> bool:
        """Whether an expression is [n, k]: what is broadcast has as many axes as the part that has the most."""
        if isinstance(node, ast.Name):
            return self._has_last_axis(node.id, at.index, at, deep)
        if isinstance(node, ast.BinOp):
            return any(self._is_of_rows(part, at, deep) for part in (node.left, node.right))
        site = self.plan.site_of.get(id(node))
        return site is not None and site.layer.constructor.endswith(".keras.layers.Dense")

    @property
    def output_may_be_flattened(self) -> bool:
        """Whether rows of the output may be those of a sequence: ``tf.reshape(x, [-1, units])`` is on the way to it."""
        bodies: list[tuple[Body, list[ast.AST]]] = [(self.plan, [leaf.node for leaf in self.plan.call_leaves])]
        for body, nodes in bodies:  # which grows by the helpers
            if any(_flattens(body, child) for node in nodes for child in walk(node)):
                return True
            helpers = [site.layer.helper for site in body.sites]
            bodies += [(each, [each.function]) for each in helpers if each is not None]
        return False

    @property
    def is_exact(self) -> bool:
        """Whether the settings ask for what TensorFlow 1 computed to the last bit."""
        return self.generator.shared.facts.get("exact", False)

    @property
    def is_labels(self) -> bool:
        """Whether it is the labels as the model_fn gets them."""
        return isinstance(self.node, ast.Name) and self.node.id == self.plan.labels and not self._sources()

    @property
    def is_fixed(self) -> bool:
        """Whether it is known when the model is compiled, without what the model_fn computes."""
        local = any(self.plan.is_local(name) for name in reads(self.node))
        return not local and not self.plan.modes.mentions(self.node) and self.plan.times.of(self.node) is Time.STATIC

    @property
    def sums_regularizers(self) -> bool:
        """Whether it is the sum of all that Keras layers keep as losses."""
        text, tf = self._writer.text(self.node), self._writer.tf
        return text in (f"{tf}.add_n(self.losses)", f"{tf}.reduce_sum(self.losses)")

    def comes_from_activation(self) -> bool:
        """Whether the output may be that of an activation, through which losses of Keras look."""
        return self._writer.may_come_from(self.node, ("softmax", "sigmoid"))

    @property
    def _writer(self) -> Writer:
        return Writer(self.generator.shared, "loss", self.generator.names("loss"))

    def _sources(self) -> list[Leaf]:
        assert isinstance(self.node, ast.Name)
        return self.plan.slicer.reaching(self.node.id, self.at.index, self.mode, self.at)


def _flattens(body: Body, node: ast.AST) -> bool:
    """Whether a call makes rows of all but the last axis; a product is the size of an image, of which there is one a row."""
    if not isinstance(node, ast.Call) or body.module.resolve(node.func) != "tensorflow.reshape":
        return False
    shape = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "shape"), None)
    if not isinstance(shape, (ast.List, ast.Tuple)) or len(shape.elts) != 2 or ast.unparse(shape.elts[0]) != "-1":
        return False
    return not any(isinstance(part, ast.Mult) for part in walk(shape.elts[1]))


def compiled_loss(generator: ModelWriter) -> CompiledLoss | None:
    """The loss for `compile`; None where the program needs a method."""
    plan = generator.plan
    if (
        generator.single is None
        or plan.fed
        or generator.only_evaluates
        or generator.partial
        or not generator.losses
        or not _is_minimized(generator)
    ):
        return None
    found: list[CompiledLoss] = []
    for mode, node in generator.losses.items():
        seen: set[Leaf] = set()
        loss = plan.translations.compiled_loss(ProgramReading(generator, mode, node, plan.specs[mode].leaf, seen))
        if loss is None:
            return None
        found.append(replace(loss, leaves=frozenset(seen)))
    merged = replace(found[0], leaves=frozenset(leaf for loss in found for leaf in loss.leaves))
    if not all(loss.same(merged) for loss in found):
        return None
    calls = (node for leaf in merged.leaves for node in walk(leaf.node) if isinstance(node, ast.Call))
    if any(op_name(plan.module, call) in plan.translations.watched for call in calls):
        return None  # by whose name callbacks read it
    if any(leaf not in merged.leaves and not plan.is_static(leaf) for leaf in plan.loss_leaves):
        return None  # there is more in it: summaries, values that callbacks read
    if merged.summed and generator.shared.facts["distributed"]:
        return None  # Keras does not take the share of a replica in a sum
    return merged if merged.regularized or not _adds_losses(generator) else None


def _is_minimized(generator: ModelWriter) -> bool:
    """Whether one optimizer minimizes the loss, and nothing else happens in a step, but for what an optimizer clips by itself."""
    facts = generator.shared.facts
    try:
        training = train_op(generator.plan)
        if training is not None:
            training = with_clipping(generator.plan, training, alone=not facts["replicated"] and not facts["horovod"])
    except Unsupported:
        return False
    return training is None or training.plain


def _adds_losses(generator: ModelWriter) -> bool:
    """Whether Keras might add something to the loss that the program does not."""
    facts, sublayers = generator.shared.facts, generator.plan.sublayers
    if facts.get("regularized") or facts.get("regularized outside") or sublayers.kept:
        return True
    return any(_KEPT_BY_KERAS.search(module.text) for module in sublayers.project.modules.values())


def masks(generator: ModelWriter) -> bool:
    """Whether Keras might leave out a part of what is compared, which a layer of the program masks."""
    return any(_MASKS.search(module.text) for module in generator.plan.sublayers.project.modules.values())


def loss_text(loss: CompiledLoss, writer: Writer) -> str:
    """The argument `loss` of `compile`."""
    if loss.short.islower():
        return repr_key(loss.short)
    arguments: list[tuple[str | None, str]] = [(name, writer.text(value)) for name, value in loss.arguments]
    arguments += [("reduction", repr_key("sum"))] if loss.summed else []
    return format_call(f"{writer.tf}.keras.losses.{loss.short}", arguments)
