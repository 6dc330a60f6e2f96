"""Files that speak of Estimators but hold no program: parts of a library, or of a program whose Estimator is elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Optional

from migrator.analyse.statements.modes import mode_of_symbol
from migrator.emit.polishing.polish import quoted
from migrator.engine.rule import ProgramRule
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace
from migrator.vocabulary.diagnostics import Diagnostic, Location, Severity

from ..bridge.reached import reached
from ..symbols.compat_v1 import rename_edits
from ..symbols.tensorflow_names import root_name
from .groups import speaks_of_estimators

_MODE_KEYS = "tensorflow.estimator.ModeKeys"
_MAKERS = (b"Estimator(", b"Classifier(", b"Regressor(", b"Spec(")
"""Calls that make an Estimator or something for one, though nothing tells where the name comes from."""


def library_files(
    rule: ProgramRule, project: Project, group: Iterable[Module], made: Mapping[str, Location]
) -> Iterator[Diagnostic]:
    """What to do with each file of a group of which none makes an Estimator; `made` has where other files make one."""
    yield from mode_files(rule, group)
    for module in group:
        stays = next(((node, name) for node, name in _used(module) if _mode(module, node, name) is None), None)
        if stays is not None:
            node, name = stays
            short = name.replace("tensorflow", "tf", 1)
            near = next((made[m.path] for m in reached(project, [module], True) if m.path in made), None)
            if near is None:
                reason = "no Estimator is made in the given files that share it; give migrate all files of the program"
            else:
                reason = f"what it has to do with the Estimator of {near.line_text} is not seen"
            yield rule.diagnostic(module, node, f"{short} is left as it is: {reason}")


def mode_files(rule: ProgramRule, group: Iterable[Module]) -> Iterator[Diagnostic]:
    """In files that ask for nothing but the mode, `ModeKeys` become strings, which Estimators understand as well."""
    for module in group:
        if is_mode_file(module):
            used = _used(module)
            modes = {node: quoted(f'"{mode}"', module) for node, name in used if (mode := _mode(module, node, name))}
            if modes:
                message = "TensorFlow 2 has no ModeKeys: they are the strings train, eval and infer"
                changes = [Replace(node, mode) for node, mode in modes.items()]
                leaves = _leaves(module, modes) if len(modes) == len(used) else None
                yield rule.diagnostic(
                    module, used[0][0], message, changes=changes, severity=Severity.INFO, leaves=leaves
                )


def _leaves(module: Module, modes: Collection[ast.expr]) -> Optional[list[Diagnostic]]:
    """What there is to say about a file once its modes are strings: that its import stays as it is, and why."""
    if any("\n" in module.segment(node) for node in modes):
        return None  # lines move
    found = rename_edits(module, excused=modes.__contains__)
    if len(found) != 1 or found[0].fix is not None:
        return None
    others = [node for node, _ in module.references() if node not in modes]
    read = {root_name(node).id for node in others}
    return found if all(root_name(node).id in read for node in modes) else None


def becomes_string(module: Module, node: ast.expr, name: str) -> bool:
    """Whether a reference is to a mode that `mode_files` writes as a string."""
    return ".ModeKeys." in name and bool(_mode(module, node, name)) and is_mode_file(module)


def is_mode_file(module: Module) -> bool:
    """Whether a file knows of Estimators nothing but the names of the modes."""
    return all(_mode(module, node, name) is not None for node, name in _used(module))


def holds_no_program(module: Module) -> bool:
    """Whether a file is seen to know of nothing but the modes, without a look at what it imports."""
    return bool(_used(module)) and is_mode_file(module) and not any(word in module.source for word in _MAKERS)


def _used(module: Module) -> list[tuple[ast.expr, str]]:
    found: Optional[list[tuple[ast.expr, str]]] = module.memo.get("names of estimators")
    if found is None:
        found = [(node, name) for node, name in module.references() if speaks_of_estimators(name)]
        module.memo["names of estimators"] = found
    return found


def _mode(module: Module, node: ast.expr, name: str) -> Optional[str]:
    """The mode that a reference becomes, empty for an alias and what reads it; None for anything but a mode."""
    parent = module.parent(node)
    if name == _MODE_KEYS:  # UnusedNames takes an alias away that nothing reads
        return "" if isinstance(parent, ast.Assign) and parent in module.tree.body else None
    mode = mode_of_symbol(name)
    if mode is None or isinstance(node, ast.Name):
        return mode and ""
    if isinstance(parent, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops):
        return None  # Python warns of `is` with a literal
    if module.nearest(node, ast.JoinedStr) is not None:
        return None  # no room for quotes
    return mode
