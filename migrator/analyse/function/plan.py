"""What is known of one model_fn: its specs per mode, the layers it makes, and which statements belong to which phase."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.translate import Translations, Value, Writing
from migrator.analyse.statements.flow import Frame, Leaf

if TYPE_CHECKING:
    from migrator.analyse.function.parts import Parts
    from migrator.analyse.statements.conditions import Choice, Conditions
    from migrator.analyse.training.spec_hooks import SpecHooks
    from migrator.resolve.module import Module


@dataclass(frozen=True)
class Spec:
    """The EstimatorSpec that is returned in one mode."""

    leaf: Leaf
    fields: dict[str, ast.expr]


@dataclass(frozen=True)
class Rate:
    """The learning rate `value` of an optimizer that is made in the leaf `at`, and the leaves that compute it."""

    value: ast.expr
    at: Leaf
    leaves: tuple[Leaf, ...]
    schedule: str
    """Name of the class that computes it."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The control around the class: what is around the optimizer and around all leaves."""
        frames = self.at.frames
        for leaf in self.leaves:
            frames = tuple(frame for frame, other in zip(frames, leaf.frames) if frame == other)
        return tuple(frame for frame in frames if not isinstance(frame.node, ast.With)) if frames else ()


class Plan(Body):
    """Everything that the writer has to know about a model_fn."""

    spec_hooks: SpecHooks
    tainted: set[Leaf]
    """Statements that depend on the labels."""
    prediction_slice: set[Leaf]
    loss_slices: dict[str, set[Leaf]]
    metric_slice: set[Leaf]
    feeding: list[Leaf]
    """Statements that feed metrics of Keras."""
    partial_losses: dict[str, Leaf]
    fed: bool
    """Whether layers are applied to labels."""
    absent: list[str]
    """Features that only what follows the predictions looks up."""
    forward: list[Leaf]
    """What may be a part of the forward pass."""
    loss_leaves: list[Leaf]
    metric_leaves: list[Leaf]

    def __init__(self, module: Module, function: ast.FunctionDef, translations: Translations, sublayers: Parts) -> None:
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
        super().__init__(module, function, translations, sublayers, dynamic, statics, mode)
        self.features = features
        self.given_labels = labels
        self.warm: ast.expr | None = None
        """What an Estimator that is made with the model_fn starts from, if one does."""
        self.starting: set[Leaf] = set()
        """Statements that give weights the values of a checkpoint."""
        self.config_fields: list[tuple[Conditions, dict[str, Value]]] = []
        """Fields of the run configuration that the model_fn sets, and under which conditions."""
        self.averaged: dict[str, Choice] = {}
        """Modes in which averages take the place of the weights, and what says so."""
        self.obstacles = Obstacles()
        """What does not keep the rest of the model_fn from being written, so that all is known that stands in the way."""
        self.specs: dict[str, Spec] = {}
        self.rates: list[Rate] = []

    # -- structure ----------------------------------------------------------------------------------------------------

    def added(self, leaf: Leaf, writing: Writing) -> str | None:
        """The text of a statement that the program has in another form; None for its own."""
        return self.spec_hooks.text(leaf, writing) or super().added(leaf, writing)

    def counts(self, leaf: Leaf) -> bool:
        """Whether an effect is written: not what only runs in modes that have no spec (``raise ValueError(mode)``)."""
        seen = not isinstance(leaf.node, ast.Raise) or bool(leaf.modes & set(self.specs)) or bool(leaf.frames)
        return seen and leaf not in self.starting

    def followed(self, node: ast.expr, mode: str) -> tuple[ast.expr, Leaf | None]:
        """A spec field's expression, and the leaf that assigns it if a name stands between."""
        start = self.specs[mode].leaf
        found, at = self.followed_in(node, start, mode)
        assert found is not None
        return found, at if at is not start else None

    def schedule_of(self, name: str) -> str | None:
        """The first of the names of the learning rate, which the optimizer knows as its own, if a name is one of them."""
        if self.rates:
            return name if any(isinstance(r.value, ast.Name) and r.value.id == name for r in self.rates) else None
        return super().schedule_of(name)

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

    def keep_in_call(self, leaves: Iterable[Leaf]) -> None:
        """Let these statements be the forward pass, and the loss and the metrics compute for themselves what else they need."""
        chosen = set(leaves)
        self.call_leaves = self.ordered(chosen)
        self.loss_leaves = self.ordered(leaf for leaf in self.losses - chosen if not leaf.mode_only)
        self.metric_leaves = self.ordered(leaf for leaf in self.metric_slice - chosen if not leaf.mode_only)
