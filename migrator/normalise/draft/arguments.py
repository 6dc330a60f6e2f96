"""Which argument of a call goes to which parameter of a function of the program."""

from __future__ import annotations

import ast

from migrator.vocabulary.unsupported import Unsupported


def parameters(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Names of all parameters, in order."""
    args = function.args
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def defaults(function: ast.FunctionDef | ast.Lambda) -> dict[str, ast.expr]:
    """Default values by parameter."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    found = {a.arg: d for a, d in zip(positional[len(positional) - len(args.defaults) :], args.defaults)}
    found.update({a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults) if d is not None})
    return found


def given(function: ast.FunctionDef | ast.Lambda, call: ast.Call, skip: int = 0) -> dict[str, ast.expr]:
    """Arguments of `call` by parameter, without the first `skip` parameters. Raises Unsupported where they are hidden."""
    args = function.args
    if args.vararg or args.kwarg or any(isinstance(a, ast.Starred) for a in call.args):
        raise Unsupported("arguments are hidden behind * or **", call)
    if any(keyword.arg is None for keyword in call.keywords):
        raise Unsupported("arguments are hidden behind * or **", call)
    positional = [a.arg for a in (*args.posonlyargs, *args.args)][skip:]
    if len(call.args) > len(positional):
        raise Unsupported("too many arguments", call)
    bound = dict(zip(positional, call.args))
    known = parameters(function)[skip:]
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in known or keyword.arg in bound:
            raise Unsupported(f"the function has no argument `{keyword.arg}`, or it is given twice", call)
        bound[keyword.arg] = keyword.value
    missing = [name for name in known if name not in bound and name not in defaults(function)]
    if missing:
        raise Unsupported(f"the argument `{missing[0]}` is missing", call)
    return bound
