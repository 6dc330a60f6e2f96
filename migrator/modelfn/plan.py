"""The analysis of one model_fn: its specs per mode, the layers it makes, and which statements belong to which phase."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.modelfn.absentfeatures import absent_keys, without_absent
from migrator.modelfn.averages import restores_averages
from migrator.modelfn.bindingtime import Time
from migrator.modelfn.body import Body
from migrator.modelfn.conditions import Conditions, check_static, choices
from migrator.modelfn.errors import Obstacles, Unsupported
from migrator.modelfn.fedlabels import check_order, is_fed
from migrator.modelfn.flow import Closure, Leaf
from migrator.modelfn.metricobjects import feeding_leaves
from migrator.modelfn.modes import ALL_MODES, MODES
from migrator.modelfn.names import reads
from migrator.modelfn.objects import holder
from migrator.modelfn.partiallosses import partial_losses
from migrator.modelfn.placing import place
from migrator.modelfn.rates import find_rates
from migrator.modelfn.spec_hooks import FIELDS, SpecHooks
from migrator.modelfn.startvalues import starting_leaves
from migrator.modelfn.translate import Translations, Value, Writing, bind, is_none
from migrator.syntax import walk

if TYPE_CHECKING:
    from migrator.modelfn.sublayers import Sublayers
    from migrator.module import Module

SPEC = "tensorflow.estimator.EstimatorSpec"
_DOUBLE = frozenset({"tensorflow.float64", "tensorflow.double", "tensorflow.to_double"})
SPEC_FIELDS = (
    "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks scaffold "
    "evaluation_hooks prediction_hooks"
)


@dataclass(frozen=True)
class Spec:
    """The EstimatorSpec that is returned in one mode."""

    leaf: Leaf
    fields: dict[str, ast.expr]


class Plan(Body):
    """Everything that the writer has to know about a model_fn."""

    def __init__(
        self, module: Module, function: ast.FunctionDef, translations: Translations, sublayers: Sublayers
    ) -> None:
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        if function.args.vararg or function.args.kwarg:
            raise Unsupported("a model_fn with *args or **kwargs is not followed", function)
        if function.decorator_list:
            raise Unsupported("a decorated model_fn is not migrated", function.decorator_list[0])
        if not names or names[0] in ("self", "cls"):
            raise Unsupported("a model_fn that is a method is not migrated yet", function)
        features = "features" if "features" in names else names[0]
        labels = "labels" if "labels" in names else None
        mode = "mode" if "mode" in names else None
        statics = [n for n in names if n not in (features, labels, mode)]
        dynamic = [n for n in (features, labels) if n is not None]
        self.warm: ast.expr | None = None
        """What an Estimator that is made with the model_fn starts from, if one does."""
        self.starting: set[Leaf] = set()
        """Statements that give weights the values of a checkpoint."""
        self.opened = _spec_names(module, function)
        super().__init__(module, function, translations, sublayers, dynamic, statics, mode)
        self.features = features
        self.labels = labels
        with self.obstacles:
            self.spec_hooks.check()
            for conditions, _ in self.config_fields:
                check_static(self, conditions, "a Scaffold")
        with self.obstacles:
            self.find_layers()
        self.obstacles.refuse()
        with self.obstacles:
            self.starting |= starting_leaves(self)
        with self.obstacles:
            self.rates = find_rates(self)
            self._check_rates()
        self.obstacles.refuse()
        self.tainted = self.tainted_leaves()
        self._slices()

    # -- structure ----------------------------------------------------------------------------------------------------

    def extend_flow(self) -> None:
        """Read the specs, and let the tensors of their hooks become statements."""
        self.config_fields: list[tuple[Conditions, dict[str, Value]]] = []
        """Fields of the run configuration that the model_fn sets, and under which conditions."""
        self.averaged: dict[str, ast.expr] = {}
        """Modes in which averages take the place of the weights, and what says so."""
        self.obstacles = Obstacles()
        """What does not keep the rest of the model_fn from being written, so that all is known that stands in the way."""
        self.specs: dict[str, Spec] = {}
        with self.obstacles:
            self.specs = self._specs()
        self.spec_hooks = SpecHooks(self, self.obstacles)
        self.watched = self.spec_hooks.watched

    def added(self, leaf: Leaf, writing: Writing) -> str | None:
        """The text of a statement that the program has in another form; None for its own."""
        return self.spec_hooks.text(leaf, writing) or super().added(leaf, writing)

    def _specs(self) -> dict[str, Spec]:
        found: dict[str, Spec] = {}
        for leaf in self.flow.leaves:
            if not isinstance(leaf.node, ast.Return):
                continue
            for mode in sorted(leaf.modes):
                call, at = self.followed_in(leaf.node.value, leaf, mode)
                if not isinstance(call, ast.Call) or self.module.resolve(call.func) != SPEC:
                    raise Unsupported("the returned value is not seen to be an EstimatorSpec", leaf.node)
                fields = bind(call, SPEC_FIELDS, "EstimatorSpec")
                for name in list(fields):
                    if name == "scaffold":
                        with self.obstacles:
                            self._scaffolds(fields.pop(name), at, mode)
                        continue
                    value = self.followed_in(fields[name], at, mode)[0]
                    if is_none(value) or FIELDS.get(name, mode) != mode:
                        del fields[name]
                found.setdefault(mode, Spec(at, fields))
        if self.flow.falls_through:
            missing = ", ".join(m for m in MODES if m in self.flow.falls_through)
            if not found:
                raise Unsupported("no EstimatorSpec is returned", self.function)
            for mode in MODES:
                if mode in self.flow.falls_through and mode in found:
                    raise Unsupported(f"the function may end without a spec in mode {missing}", self.function)
        if "train" not in found and "eval" not in found:
            raise Unsupported("no EstimatorSpec with a loss is returned", self.function)
        return found

    def _scaffolds(self, node: ast.expr, at: Leaf, mode: str) -> None:
        """Keep what the Scaffold of the training says, or one of several; the others say nothing that matters."""
        for choice in choices(self, node, at, mode, "a Scaffold"):
            if is_none(choice.node):
                continue
            if restores_averages(self, choice.node, choice.at, mode):
                if choice.conditions:
                    raise Unsupported("averages take the place of the weights under a condition", choice.node)
                self.averaged[mode] = choice.node
                continue
            found = self._scaffold(choice.node, choice.at, mode)
            if mode == "train" and found:
                self.config_fields.append((choice.conditions, found))

    def _scaffold(self, node: ast.expr, at: Leaf, mode: str) -> dict[str, Value]:
        """Fields of the run configuration that a Scaffold sets. Raises Unsupported."""
        return self.translations.scaffold(
            node, self.module.resolve, lambda part: self.followed_in(part, at, mode)[0] or part
        )

    def effects(self) -> list[Leaf]:
        """Statements for their effect, without what only runs in modes that have no spec (``raise ValueError(mode)``)."""
        return [
            leaf
            for leaf in super().effects()
            if (not isinstance(leaf.node, ast.Raise) or leaf.modes & set(self.specs) or leaf.frames)
            and leaf not in self.starting
        ]

    def followed(self, node: ast.expr, mode: str) -> tuple[ast.expr, Leaf | None]:
        """A spec field's expression, and the leaf that assigns it if a name stands between."""
        start = self.specs[mode].leaf
        found, at = self.followed_in(node, start, mode)
        assert found is not None
        return found, at if at is not start else None

    def is_schedule(self, name: str) -> bool:
        """Whether a name is the learning rate, which the optimizer knows as its own."""
        if self.rates:
            return any(isinstance(rate.value, ast.Name) and rate.value.id == name for rate in self.rates)
        return super().is_schedule(name)

    def _check_rates(self) -> None:
        """Refuse to read a learning rate elsewhere before it has its last value."""
        computing = {leaf for rate in self.rates for leaf in (*rate.leaves, rate.at)}
        final: dict[str, set[Leaf]] = {}
        for rate in self.rates:
            if isinstance(rate.value, ast.Name):
                name = rate.value.id
                final.setdefault(name, set()).update(self.slicer.reaching(name, rate.at.index, "train", rate.at))
        for leaf in self.flow.leaves:
            for name in final if "train" in leaf.modes and leaf not in computing else ():
                if name in self.slicer.inputs(leaf):
                    if set(self.slicer.reaching(name, leaf.index, "train", leaf)) != final[name]:
                        raise Unsupported("the learning rate is read before it has its last value", leaf.node)

    # -- phases -------------------------------------------------------------------------------------------------------

    def field(self, mode: str, name: str) -> ast.expr | None:
        """An argument of the EstimatorSpec of `mode`."""
        spec = self.specs.get(mode)
        return spec.fields.get(name) if spec is not None else None

    def slice_of(self, node: ast.expr | None, mode: str) -> set[Leaf]:
        """Leaves that a spec field depends on."""
        if node is None:
            return set()
        leaf = self.specs[mode].leaf
        return self.slicer.closure(self.reads(node), leaf.index, mode, leaf)

    def _slices_after(self) -> None:
        """What the losses and the metrics depend on."""
        self.loss_slices = {m: self.slice_of(self.field(m, "loss"), m) for m in ("train", "eval") if m in self.specs}
        self.metric_slice = self.slice_of(self.field("eval", "eval_metric_ops"), "eval")
        self.feeding = feeding_leaves(self)
        for leaf in self.feeding:
            self.metric_slice |= self.slicer.closure(self.slicer.inputs(leaf), leaf.index, "eval", leaf)
        self.partial_losses = partial_losses(self)
        if "train" in self.loss_slices:
            for name, leaf in self.partial_losses.items():
                self.loss_slices["train"] |= self.slicer.closure({name}, leaf.index, "train", leaf)

    def drop_unread(self) -> None:
        """Forget what the losses and the metrics do not read any more."""
        effects = self.losses.difference(*self.loss_slices.values())
        self._slices_after()
        self.losses = effects.union(*self.loss_slices.values())
        for leaf in effects:
            inputs = {name for name in self.slicer.inputs(leaf) if not self.is_schedule(name)}
            for mode in leaf.modes:
                self.losses |= self.slicer.closure(inputs, leaf.index, mode, leaf)

    def _slices(self) -> None:
        self.prediction_slice = self.slice_of(self.field("infer", "predictions"), "infer")
        self._slices_after()
        self.gradients -= set(self.prediction_slice).union(self.metric_slice, *self.loss_slices.values())
        wrong = next((leaf for leaf in self.prediction_slice if leaf in self.tainted), None)
        if wrong is not None:
            raise Unsupported("predictions depend on the labels", wrong.node)
        outside = set(self.metric_slice).union(*self.loss_slices.values())
        call = set(self.prediction_slice)
        making = {site.leaf for site in self.sites}
        self.fed = is_fed(self)
        objects = {name for name in map(holder, self.sites) if name is not None}
        making |= {leaf for leaf in outside if _calls_any(leaf, objects)}
        needed = {mode: Closure(self.slicer, mode) for mode in ALL_MODES}
        for leaf in outside:
            if leaf in making and (self.fed or leaf not in self.tainted):
                call |= {leaf}.union(*(needed[mode].of(leaf) for mode in leaf.modes))
        self._with_all_modes(call)
        losses = set().union(*self.loss_slices.values())
        if losses & self.tainted:
            shared = losses & set(self.metric_slice)
            call |= self._shared_forward(without_absent(self, shared if self.fed else shared - self.tainted))
        for leaf in self.effects():
            if leaf in self.feeding:
                continue
            with self.obstacles:
                place(self, leaf, call, losses, self.tainted)
        self.losses = losses
        """The statements that the losses need, and those that are there for their effect beside them."""
        self.forward = self.ordered(leaf for leaf in call if not leaf.mode_only)
        """What may be a part of the forward pass."""
        self.keep_in_call(self.forward)
        self.collections.check_kept(self.call_leaves)
        check_order(self)
        self.absent = absent_keys(self)
        """Features that only what follows the predictions looks up."""
        with self.obstacles:
            self._check_precision()

    def keep_in_call(self, leaves: Iterable[Leaf]) -> None:
        """Let these statements be the forward pass, and the loss and the metrics compute for themselves what else they need."""
        chosen = set(leaves)
        self.call_leaves = self.ordered(chosen)
        self.loss_leaves = self.ordered(leaf for leaf in self.losses - chosen if not leaf.mode_only)
        self.metric_leaves = self.ordered(leaf for leaf in self.metric_slice - chosen if not leaf.mode_only)

    def _check_precision(self) -> None:
        """Refuse a loss in double precision, which the layers of TensorFlow 1 have where their inputs do, and Keras's not."""
        for leaf in self.loss_leaves:
            for node in walk(leaf.node):
                if isinstance(node, ast.Attribute) and self.module.resolve(node) in _DOUBLE:
                    raise Unsupported("a loss in double precision, where Keras layers are in single precision", node)

    def _with_all_modes(self, call: set[Leaf]) -> None:
        """Add to the forward pass what it needs in training and evaluation only: ``if training: x = tf.nn.dropout(x)``."""
        read: dict[str, set[Leaf]] = {"eval": set(self.metric_slice)}
        for mode, leaves in self.loss_slices.items():
            read[mode] = read.get(mode, set()) | leaves
        closures = {mode: Closure(self.slicer, mode) for mode in read}
        stack = list(call)
        while stack:
            leaf = stack.pop()
            for which in sorted(leaf.modes & set(read)):
                if leaf in read[which]:
                    needed = closures[which].of(leaf) - call
                    call |= needed
                    stack += needed

    def _shared_forward(self, leaves: set[Leaf]) -> set[Leaf]:
        """Of what both the loss and the metrics need of the features, the part that reads weights."""
        found: set[Leaf] = set()
        for leaf in leaves:
            needed = {leaf}
            for mode in leaf.modes:
                needed |= self.slicer.closure(self.slicer.inputs(leaf), leaf.index, mode, leaf)
            if any(self.sites_in(other) for other in needed) and self.time(leaf) is Time.DYNAMIC:
                found |= needed
        return found


def _spec_names(module: Module, function: ast.FunctionDef) -> frozenset[str]:
    """Names that hooks and Scaffolds of specs are read from."""
    specs = (n for n in walk(function) if isinstance(n, ast.Call) and module.resolve(n.func) == SPEC)
    given = [k.value for call in specs for k in call.keywords if k.arg in FIELDS or k.arg == "scaffold"]
    return frozenset(name for value in given for name in reads(value))


def _calls_any(leaf: Leaf, names: set[str]) -> bool:
    """Whether a statement applies a layer that is held by one of the names."""
    calls = (node.func for node in walk(leaf.node) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id in names for function in calls)
