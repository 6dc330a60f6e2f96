"""What the analysis of one function asks of the program around it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.translate import Layer, Value
    from migrator.analyse.layers.makers import Maker
    from migrator.analyse.training.optimizerclass import OptimizerClass
    from migrator.resolve.module import Module
    from migrator.resolve.project import Definition, Project


class Part(Protocol):
    """A helper that becomes a layer."""

    @property
    def definition(self) -> Definition: ...

    @property
    def calls(self) -> list[tuple[Module, ast.Call]]: ...


class Values(Protocol):
    """Functions as values."""

    @property
    def references(self) -> Mapping[ast.expr, object]:
        """References that become those of classes."""


class Parts(Protocol):
    """The parts of a program that models are made of: helpers, makers of cells, classes of layers and optimizers."""

    @property
    def project(self) -> Project: ...

    @property
    def updates_run(self) -> bool:
        """Whether the program runs UPDATE_OPS, without which moving statistics stand still."""

    @property
    def found(self) -> Mapping[Definition, Part]:
        """The helpers that become layers."""

    @property
    def values(self) -> Values: ...

    @property
    def layer_classes(self) -> Mapping[Definition, object]:
        """The program's own classes of layers that change."""

    collected: set[str]
    """Collections of losses that some model reads."""
    kept: set[str]
    """Those that layers add losses to."""
    still: dict[Definition, bool]
    """Whether moving statistics of Keras layers in a class stand still."""

    def definition(self, module: Module, call: ast.Call) -> Definition | None:
        """The helper that a call calls, if it makes layers; None for any other function."""

    def only_called(self, module: Module, function: ast.AST) -> set[str]:
        """Names that a function reads to call helpers that make layers, and for nothing else."""

    def makes_layers(self, definition: Definition) -> bool:
        """Whether a function makes layers or variables, itself or in what it calls."""

    def chosen(self, body: Body, call: ast.Call) -> Sequence[object]:
        """The helpers that a call may call through a value that stands for one of them."""

    def is_layer_class(self, module: Module, call: ast.Call) -> bool:
        """Whether a call makes a layer of one of the program's own classes."""

    def makes_cell(self, module: Module, call: ast.Call) -> bool:
        """Whether a call makes a recurrent cell, of the library or of one of the program's own classes."""

    def stand_still(self, definition: Definition) -> None:
        """Notes that nothing runs the updates of a class of layers."""

    def layer(self, body: Body, call: ast.Call) -> Layer | None:
        """How a call of a helper is split into making its layer and applying it. Raises Unsupported."""

    def inputs(self, body: Body, layer: Layer) -> list[tuple[str | None, Value]]:
        """The arguments of the call of a layer."""

    def is_numbered(self, body: Body, parameter: str) -> bool:
        """Whether a parameter of a helper is seen to be a number."""

    def maker(self, body: Body, call: ast.Call) -> Maker | None:
        """The function outside of a body that a call calls, if it makes recurrent cells."""

    def optimizer(self, module: Module, call: ast.Call) -> OptimizerClass | None:
        """The class of the program that makes the optimizer which a call gives. Raises Unsupported."""

    def note_classes(self, definition: Definition) -> None:
        """Remember the layer classes to rewrite."""
