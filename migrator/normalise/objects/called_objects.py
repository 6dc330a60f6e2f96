"""Whether objects of a class are called, ``layer(x)``, which runs its `__call__` without naming it."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project


def may_be_called(project: Project, owner: Definition) -> bool:
    """Whether an object of a class, or of one that derives from it, is called or gets to where that is not seen."""
    for each in (owner, *project.subclasses(owner)):
        for module in project.modules.values():
            for use in project.uses(each, module):
                if module.is_inside(use, owner.node) and module is owner.module:
                    continue
                outer = module.parent(use)
                if isinstance(outer, ast.ClassDef) and use in outer.bases:
                    continue
                if isinstance(outer, ast.Attribute):
                    continue  # `Layer.__init__`: what it says is a mention
                if not isinstance(outer, ast.Call) or outer.func is not use or _is_called(project, module, outer):
                    return True
    return False


def _is_called(project: Project, module: Module, made: ast.expr) -> bool:
    """Whether what stands for an object is called, or is more than the left side of a dot."""
    outer = module.parent(made)
    if isinstance(outer, ast.Attribute) or isinstance(outer, ast.Expr):
        return False
    target = outer.targets[0] if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else None
    if isinstance(target, ast.Name):
        scope = module.scope(target).holder(target.id)
        loads = [*module.loads_of(target.id, scope)]
        return any(not isinstance(module.parent(load), ast.Attribute) for load in loads)
    if isinstance(target, ast.Attribute):
        name = target.attr
        return any(
            node.attr == name and isinstance(node.ctx, ast.Load) and not isinstance(other.parent(node), ast.Attribute)
            for other in project.modules.values()
            if name.encode() in other.source
            for node in other.nodes(ast.Attribute)
        )
    return True
