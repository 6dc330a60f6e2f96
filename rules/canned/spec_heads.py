"""The heads whose `create_estimator_spec` a program calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.project import Project

from .canned_heads import CONTRIB, HEADS, head_arguments, of_tensorflow_2

METHOD = "create_estimator_spec"
_PLAIN = '"sum_over_batch_size"'


@dataclass(frozen=True)
class SpecHeads:
    """The heads of a program, each of which may make a spec."""

    names: list[ast.expr | None]
    """What they are called; None for one without a name."""
    new: bool
    """Whether these are heads of TensorFlow 2, which run no update ops but those that they are given."""
    reduced: ast.AST | None
    """One whose loss is no mean over the batch: it writes summaries that those of TensorFlow 2 do not."""


def heads_of_specs(project: Project, call: ast.Call) -> SpecHeads:
    """The heads of a program with a `call` of it. Raises Unsupported for those that are not known, or of several kinds."""
    names: list[ast.expr | None] = []
    kinds, reduced = set[bool](), None
    for module in project.modules.values():
        if any(function.name == METHOD for function in module.nodes(ast.FunctionDef)):
            raise Unsupported("a head of the program's own makes the EstimatorSpec", call)
        for node, name in module.references():
            if name not in HEADS and not (name.startswith(CONTRIB) and name.endswith("_head")):
                continue
            made = module.parent(node)
            if name not in HEADS or not isinstance(made, ast.Call):
                raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} is not migrated yet", node)
            try:
                given = dict(head_arguments(made, name, module.resolve)[1])
            except Unsupported as problem:
                raise Unsupported(problem.reason, made) from problem
            name_of_head = given.get("name")
            names.append(name_of_head if isinstance(name_of_head, ast.expr) else None)
            if names[-1] is not None and any(k.arg == "regularization_losses" for k in call.keywords):
                raise Unsupported("a head with a name in a model_fn with `regularization_losses`", made)
            if given["loss_reduction"] != _PLAIN:
                reduced = made
            kinds.add(of_tensorflow_2(name))
    if not names:
        raise Unsupported("the head that makes the EstimatorSpec is not seen", call)
    if len(kinds) > 1:
        raise Unsupported("heads of both TensorFlows make the EstimatorSpecs", call)
    return SpecHeads(names, True in kinds, reduced)
