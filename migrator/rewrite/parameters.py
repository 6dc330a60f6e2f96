"""Other parameters for a function: each keeps its comments, and the head the way in which its lines are laid out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import libcst as cst

from .changes import Statement
from .templates import code

_DEFAULT = cst.MaybeSentinel.DEFAULT


def with_parameters(
    function: Statement,
    *,
    name: str | None = None,
    drop: Collection[str] = (),
    add: Sequence[str] = (),
    first: str | None = None,
    by_keyword: bool = False,
    instead: Sequence[str] | None = None,
    returns: bool = True,
) -> cst.FunctionDef:
    """A function with another head.

    Args:
      function: the function.
      name: its new name.
      drop: parameters that go, also those of ``*args`` and ``**kwargs``.
      add: new parameters behind the others, before ``**kwargs``; ``a``, ``a=None`` or ``**a``. One without a default is by
        keyword only where others have one.
      first: a new one before all others.
      by_keyword: whether they are so anyhow.
      instead: names that take the place of all parameters.
      returns: whether what it says to return stays.
    """
    if not isinstance(function, cst.FunctionDef):
        raise TypeError(f"a {type(function).__name__} has no parameters")
    head: dict[str, object] = {}
    if name is not None:
        head["name"] = function.name.with_changes(value=name)
    if not returns:
        head["returns"] = None
    params = function.params
    if instead is not None:
        params = cst.Parameters([_param(text) for text in instead])
        head["whitespace_before_params"] = cst.SimpleWhitespace("")
    for text in drop:
        params = _without(params, text)
    if add:
        params = _with(params, add, by_keyword)
    if first is not None:
        field = "posonly_params" if params.posonly_params else "params"
        params = params.with_changes(**{field: [_param(first), *getattr(params, field)]})
    if params is not function.params:
        head["params"] = params
    return function.with_changes(**head) if head else function


def _param(text: str) -> cst.Param:
    name, _, default = text.partition("=")
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Param(cst.Name(name), default=code(default), equal=equal) if default else cst.Param(cst.Name(name))


def _every(params: cst.Parameters) -> Iterator[tuple[str, cst.Param]]:
    """The named parameters, each with the field that it stands in."""
    for field in ("posonly_params", "params", "kwonly_params"):
        yield from ((field, param) for param in getattr(params, field))


def _without(params: cst.Parameters, name: str) -> cst.Parameters:
    for field, param in _every(params):
        if param.name.value == name:
            rest = [other for other in getattr(params, field) if other is not param]
            last = not params.star_kwarg and list(_every(params))[-1][1] is param
            gone: dict[str, object] = {field: rest}
            if field == "posonly_params" and not rest:
                gone["posonly_ind"] = _DEFAULT
            if field == "kwonly_params" and not rest and isinstance(params.star_arg, cst.ParamStar):
                gone["star_arg"] = _DEFAULT
            left = params.with_changes(**gone)
            return _ended(left, param) if last else left
    for field in ("star_arg", "star_kwarg"):
        starred = getattr(params, field)
        if isinstance(starred, cst.Param) and starred.name.value == name:
            star = cst.ParamStar() if field == "star_arg" and params.kwonly_params else _DEFAULT
            left = params.with_changes(**{field: star if field == "star_arg" else None})
            follows = field == "star_arg" and (params.kwonly_params or params.star_kwarg)
            return left if follows else _ended(left, starred)
    raise ValueError(f"there is no parameter {name}")


def _ended(params: cst.Parameters, like: cst.Param) -> cst.Parameters:
    """The parameters with what stands behind the last one as behind another."""
    for field in ("kwonly_params", "star_arg", "params", "posonly_ind"):
        found = getattr(params, field)
        last = found[-1] if isinstance(found, (list, tuple)) and found else found
        if isinstance(last, cst.Param):
            new = last.with_changes(comma=like.comma, whitespace_after_param=like.whitespace_after_param)
            return params.with_changes(**{field: new if last is found else [*found[:-1], new]})
        if isinstance(last, cst.ParamSlash):
            return params.with_changes(posonly_ind=last.with_changes(comma=like.comma))
    return params


def _with(params: cst.Parameters, names: Sequence[str], by_keyword: bool) -> cst.Parameters:
    new = [_param(name) for name in names if not name.startswith("**")]
    for name in names:
        if name.startswith("**"):
            params = _ended(params, cst.Param(cst.Name("_"))).with_changes(star_kwarg=_param(name[2:]))
    if not new:
        return params
    defaults = any(param.default is not None for _, param in _every(params))
    starred = bool(params.kwonly_params) or params.star_arg is not _DEFAULT
    needed = defaults and any(param.default is None for param in new)
    field = "kwonly_params" if by_keyword or starred or needed else "params"
    every = list(_every(params))
    if every and not params.star_kwarg and not isinstance(params.star_arg, cst.Param):
        where, last = every[-1]
        new[-1] = new[-1].with_changes(comma=last.comma, whitespace_after_param=last.whitespace_after_param)
        plain = last.with_changes(comma=_DEFAULT, whitespace_after_param=cst.SimpleWhitespace(""))
        params = params.with_changes(**{where: [*getattr(params, where)[:-1], plain]})
    return params.with_changes(**{field: [*getattr(params, field), *new]})
