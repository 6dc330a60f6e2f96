"""Attributes of an object that have the names of parameters of a model_fn: ``self.params``, ``self.config``."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

PARAMS = "params"
RESERVED = frozenset({PARAMS, "config", "features", "labels", "mode", "model_dir"})
"""What an Estimator gives a model_fn, or the function that makes the model has for itself."""
_BEFORE_PARAMS = 3


def params_of(project: Project, module: Module, node: ast.expr) -> ast.Call | None:
    """The call that makes an Estimator of a model_fn `node` without any params, which may be given some; None otherwise."""
    parent = module.parent(node)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not (module.resolve(call.func) or "").endswith(".Estimator"):
        return None
    known = all(k.arg not in (None, PARAMS) for k in call.keywords) and len(call.args) <= _BEFORE_PARAMS
    plain = known and not any(isinstance(argument, ast.Starred) for argument in call.args)
    return call if plain and not _inputs_take_params(project) else None


def _inputs_take_params(project: Project) -> bool:
    """Whether an input_fn may ask for the params of its Estimator, which are none so far."""
    for module in project.modules.values():
        for node in walk(module.tree) if b"params" in module.source else ():
            if isinstance(node, (ast.FunctionDef, ast.Lambda)) and getattr(node, "name", "") != "__init__":
                names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if PARAMS in names and "features" not in names and len(names) <= 1 + (names[:1] == ["self"]):
                    return True
    return False
