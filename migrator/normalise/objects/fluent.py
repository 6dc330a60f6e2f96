"""Methods that return their object, called on what makes it: ``net = Net(options).build(features)``."""

from __future__ import annotations

import ast

from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.objects.methods import method_of_new
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, expr, statements


def made_apart(project: Project, module: Module, made: ast.Call) -> list[Change]:
    """The edits that make two statements of it, ``net = Net(options)`` and ``net.build(features)``; none for other calls."""
    function = module.parent(made)
    call = module.parent(function) if isinstance(function, ast.Attribute) else None
    statement = module.parent(call) if isinstance(call, ast.Call) and call.func is function else None
    if not isinstance(statement, ast.Assign) or module.indent(statement) is None or len(statement.targets) != 1:
        return []
    assert isinstance(call, ast.Call) and isinstance(function, ast.Attribute)
    target, found = statement.targets[0], method_of_new(project, module, call)
    if not isinstance(target, ast.Name) or found is None or not _returns_itself(found[1]):
        return []
    if any(is_name(node, target.id) for node in walk(call)):
        return []
    name, first = target.id, module.cst.expression(made)
    then = module.cst.call(call).with_changes(func=expr(f"{name}.{function.attr}"))
    both = statements("{name} = {first}\n{then}", name=name, first=first, then=then)
    return Change.of(module, Replace(statement, both))


def _returns_itself(method: ast.FunctionDef) -> bool:
    """Whether a method ends by returning its object, and returns nothing else."""
    nodes, returns = list(walk(method)), own_returns(method)
    if method.decorator_list or not method.args.args or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in nodes):
        return False
    own = method.args.args[0].arg
    kept = all(isinstance(n.ctx, ast.Load) for n in nodes if isinstance(n, ast.Name) and n.id == own)
    same = all(each.value is not None and is_name(each.value, own) for each in returns)
    return kept and same and bool(returns) and returns[-1] is method.body[-1]
