"""The edits of one module around its model_fns, while they are collected."""

from __future__ import annotations

import abc
import ast
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Change, Replace, code
from migrator.vocabulary.diagnostics import Edit

if TYPE_CHECKING:
    from ..hooks.hook_makers import HookMakers

Need = Callable[[str, ast.AST], str]


class FileEdits(abc.ABC):
    """Collects the edits of one module. `need` asks for a vendored helper and gives its name in this file, `tensorflow`
    gives that of TensorFlow 2."""

    def __init__(
        self,
        module: Module,
        need: Need,
        tensorflow: Callable[[], str],
        readers: Mapping[str, str],
        project: Project,
        beside: Callable[[Module], FileEdits],
    ) -> None:
        self.module = module
        self.project = project
        self.beside = beside
        """The driver of another module of the program, or of this one."""
        self.need = need
        self.tensorflow = tensorflow
        self.exports = False
        self.plain = False
        """Whether the program trains by `fit` itself, so that no helper has its modes."""
        self.graph = False
        """Whether the model_fn stays a graph, which runs hooks as they are."""
        self.readers = readers
        """What reads variables by their names in TensorFlow 1, by method; empty where models do not have these."""
        self.early_strategy = ""
        """The helper that a RunConfig asks for the strategy of a cluster, where the program makes tensors before its model."""
        self.watched: dict[str, ast.expr] = {}
        """Names of ops whose values callbacks read, and where they say so."""
        self.unseen_names: list[Unsupported] = []
        """Why it is not seen what a hook logs."""
        self.hook_makers: list[HookMakers] = []
        """Functions whose hooks become callbacks."""
        self.edits: list[Edit] = []
        self.handled: set[ast.AST] = set()
        """References that these edits take care of."""
        self.awaited: set[ast.AST] = set()
        """References that edits are going to take care of, though none does so yet."""
        self.heads: set[ast.AST] = set()
        """References to heads that are gone, as a model of the program has what they say."""
        self.fed: set[ast.expr] = set()
        """Hooks that are gone, as what they feed is a dataset now."""
        self._spelled: set[ast.AST] = set()
        self.remarks: list[tuple[ast.AST, str]] = []

    def remark(self, node: ast.AST, text: str) -> None:
        """Note what the owner should know."""
        self.remarks.append((node, text))

    def change(self, *changes: Change) -> None:
        """Change nodes of the module."""
        self.edits += self.module.cst.apply(changes)

    def replace(self, node: ast.expr, text: str) -> None:
        """Write `text` instead of a reference."""
        self.handled.add(node)
        self.change(Replace(node, code(text) if "(" in text else text))

    def spell(self, references: Iterable[tuple[ast.expr, str]]) -> None:
        """Write references by the names that they have in ``tf.compat.v1``."""
        for node, name in references:
            if node not in self._spelled:
                self._spelled.add(node)
                self.replace(node, f"{self.tensorflow()}.compat.v1.{name}")

    @abc.abstractmethod
    def arguments(
        self,
        call: ast.Call,
        signature: str,
        kept: Iterable[str],
        what: str,
        neutral: Mapping[str, tuple[object, ...]] = MappingProxyType({}),
    ) -> None:
        """Drop what is empty or neutral, refuse the rest, name what moves."""

    @abc.abstractmethod
    def run_config_arguments(self, call: ast.Call, dropped: Mapping[str, str] = MappingProxyType({})) -> list[ast.expr]:
        """Migrate the arguments that a RunConfig gets; returns the values of those that go."""
