"""Where in a value an Estimator is found: in the value itself, in an element, an attribute, or in what a call returns."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Optional

from migrator.resolve.module import Module


@dataclass(frozen=True)
class Step:
    """One step from a value to what it holds."""

    kind: str
    """``element``, ``attribute`` or ``call``."""
    key: object = None
    """Index or key of an element, None for any of them; name of an attribute."""
    display: Optional[ast.expr] = None
    """The list, tuple or dict that was written out: its other elements may be something else."""


Path = tuple[Step, ...]
"""From a value to the Estimator in it; empty for an Estimator itself."""

CALL = Step("call")
ANY = Step("element")


def attribute(name: str) -> Step:
    """The step to an attribute of an object."""
    return Step("attribute", name)


def shape(path: Path) -> tuple[str, ...]:
    """A path without the places where its containers were written."""
    return tuple(f".{step.key}" if step.kind == "attribute" else step.kind for step in path)


def of_instance(path: Path) -> bool:
    """Whether the value is an object, or a class, that keeps an Estimator."""
    names = [step.kind for step in path if step.kind != "call"]
    return names[:1] == ["attribute"]


def gives_keys(module: Module, node: ast.expr) -> bool:
    """Whether what is read one by one is a dict, of which these are the keys."""
    held: list[ast.AST | None] = [node]
    if isinstance(node, ast.Name):
        held = [module.parent(each.node) if each.node is not None else None for each in module.bindings(node)]
        held = [each.value if isinstance(each, ast.Assign) and len(each.targets) == 1 else None for each in held]
    return bool(held) and all(
        isinstance(each, (ast.Dict, ast.DictComp))
        or isinstance(each, ast.Call)
        and isinstance(each.func, ast.Name)
        and each.func.id == "dict"
        and not module.bindings(each.func)
        for each in held
    )
