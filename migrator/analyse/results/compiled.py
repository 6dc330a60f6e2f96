"""What `compile` takes of the loss and the metrics, and what a rule may ask of the expression that computes one."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Protocol

from migrator.analyse.statements.flow import Leaf


@dataclass(frozen=True)
class CompiledLoss:
    """A loss of Keras, of labels and output, with its arguments."""

    short: str
    """``SparseCategoricalCrossentropy``, or a name that `compile` knows: ``mse``."""
    arguments: tuple[tuple[str, ast.expr], ...] = ()
    summed: bool = False
    """Whether the losses of the examples are added up, instead of their mean taken."""
    regularized: bool = False
    """Whether the terms of the layers' regularizers are added, as Keras does by itself."""
    leaves: frozenset[Leaf] = frozenset()
    """The statements whose place it takes."""

    def same(self, other: CompiledLoss) -> bool:
        """Whether both are one loss, whichever statements they come from."""
        return _key(self) == _key(other)


def _key(loss: CompiledLoss) -> tuple[object, ...]:
    return (loss.short, [(n, ast.dump(v)) for n, v in loss.arguments], loss.summed, loss.regularized)


@dataclass(frozen=True)
class CompiledMetric:
    """A metric of Keras, of labels and output, with its arguments."""

    short: str
    arguments: tuple[tuple[str, ast.expr], ...] = ()


class Reading(Protocol):
    """An expression of the program, at a statement; what is read behind names on the way is noted."""

    @property
    def node(self) -> ast.expr:
        """The expression."""

    def part(self, node: ast.expr) -> Reading:
        """A part of the expression."""

    def apart(self) -> Reading:
        """The same, whose readings are not noted here."""

    def behind(self) -> Reading:
        """The expression that gave a name its only value."""

    @property
    def function(self) -> str | None:
        """The qualified name of what is called."""

    def resolve(self, node: ast.expr) -> str | None:
        """The qualified name of a reference."""

    @property
    def is_output(self) -> bool:
        """Whether it is what `call` returns."""

    @property
    def output_has_last_axis(self) -> bool:
        """Whether the output is seen to be [n, k]: a dense layer has made it."""

    @property
    def output_may_be_flattened(self) -> bool:
        """Whether rows of the output may be those of a sequence, of which the labels have an axis of their own."""

    @property
    def is_exact(self) -> bool:
        """Whether the settings ask for what TensorFlow 1 computed to the last bit."""

    @property
    def is_labels(self) -> bool:
        """Whether it is the labels as the model_fn gets them."""

    @property
    def is_fixed(self) -> bool:
        """Whether it is known when the model is compiled, without what the model_fn computes."""

    @property
    def sums_regularizers(self) -> bool:
        """Whether it is the sum of all that Keras layers keep as losses."""

    def comes_from_activation(self) -> bool:
        """Whether the output may be that of an activation, through which losses of Keras look."""
