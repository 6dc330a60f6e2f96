"""Methods that hand on all that they are given come to name it.

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)

is ``__call__(self, features)``, which returns ``self.call(features)``, where `call` takes `features`.
"""

from __future__ import annotations

import ast

from migrator.normalise.draft.arguments import defaults, parameters
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.returns import sole_value
from migrator.normalise.objects.methods import method_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, code, with_parameters


def named_arguments(project: Project, module: Module, method: ast.FunctionDef) -> list[Change]:
    """The edits of a method that only hands ``*args`` and ``**kwargs`` on to another method of its object; else none."""
    call = sole_value(method)
    own = parameters(method)
    given = method.args
    if not isinstance(call, ast.Call) or len(own) != 1 or given.vararg is None or given.kwarg is None:
        return []
    called = ast.unparse(call.func)
    if ast.unparse(call) != f"{called}(*{given.vararg.arg}, **{given.kwarg.arg})":
        return []
    other = method_of(project, module, call.func)
    if other is None or other.kind != "plain" or ast.unparse(other.receiver) != own[0]:
        return []
    function, values = other.function, defaults(other.function)
    hidden = function.args.vararg or function.args.kwarg or function.args.kwonlyargs or function.args.posonlyargs
    if hidden or not all(isinstance(value, ast.Constant) for value in values.values()):
        return []
    names = parameters(function)[1:]
    if own[0] in names:
        return []
    texts = [f"{name}={ast.unparse(values[name])}" if name in values else name for name in names]
    head = with_parameters(module.cst.statement(method), instead=[*own, *texts])
    return Change.of(module, Replace(method, head), Replace(call, code(f"{called}({', '.join(names)})")))
