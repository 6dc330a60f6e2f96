"""A configuration that a function gets for the Estimator which it makes: the folder of the checkpoints takes its place."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from typing import Optional

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import reaching
from migrator.rewrite import Rename

from ..values import given_to

_STATEMENTS = (ast.Assign, ast.Return, ast.Expr)
"""What is not written anew as a part of something else."""


@dataclass(frozen=True)
class Handed:
    """The parameter of a function, as what calls of it give."""

    parameter: ast.arg
    name: str
    """What the parameter is called where it is the folder."""
    given: tuple[ast.Name, ...]
    """The name of the configuration in all calls of the function."""
    reads: tuple[ast.AST, ...]
    """What is read of the parameter, beside what makes Estimators."""
    keywords: tuple[ast.keyword, ...]
    """Those by which calls give it."""

    @property
    def renamed(self) -> list[Rename]:
        """The changes of its name."""
        return [Rename(self.parameter, self.name), *(Rename(keyword, self.name) for keyword in self.keywords)]


def handed(
    project: Project, module: Module, node: ast.Name, made_of: Collection[Optional[ast.expr]]
) -> Optional[Handed]:
    """The parameter that a name is, where all calls give it one configuration of this file.

    Args:
      project: the program.
      module: the file that makes the Estimator.
      node: what the Estimator is given as its configuration.
      made_of: what all Estimators are given so.
    """
    bindings = module.bindings(node)
    parameter = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(parameter, ast.arg) or parameter.annotation is not None:
        return None
    given, keywords = [], []
    for where, value in given_to(project, module, node):
        outer = module.parent(value) if where is module and isinstance(value, ast.Name) else None
        if isinstance(outer, ast.keyword) and isinstance(module.parent(module.parent(outer) or outer), _STATEMENTS):
            keywords.append(outer)
        elif not isinstance(outer, ast.Call):
            return None
        assert isinstance(value, ast.Name)
        given.append(value)
    if not given or len({reaching(module, value) for value in given}) > 1:
        return None
    loads = module.loads_of(node.id, module.scope(node).lookup(node.id))
    read = [module.parent(load) for load in loads if load not in made_of]
    taken = "model_dir" in module.scope(node).bindings
    name = module.unused_name("model_dir", node) if taken else "model_dir"
    return Handed(parameter, name, tuple(given), tuple(outer for outer in read if outer is not None), tuple(keywords))
