"""Default arguments by scope, as `tf.contrib.framework.arg_scope` gave them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any, Callable

ARGUMENT_SCOPES: list[Mapping[Any, Mapping[str, Any]]] = [{}]  # the innermost one last


@contextlib.contextmanager
def arg_scope(functions: Any, **defaults: Any) -> Iterator[Mapping[Any, Mapping[str, Any]]]:
    """Within it, calls of `functions` have `defaults` where they give no value of their own.

    `functions` are decorated by `add_arg_scope`; or they are a scope that an `arg_scope` gave before, which is entered
    again. Raises ValueError for other functions.
    """
    if isinstance(functions, Mapping):
        if defaults:
            raise ValueError("a scope that is entered again takes no arguments")
        scope = dict(functions)
    else:
        scope = dict(ARGUMENT_SCOPES[-1])
        for function in functions:
            if not hasattr(function, "takes_scope"):
                raise ValueError(f"{function} is not decorated with add_arg_scope")
            scope[function] = {**scope.get(function, {}), **defaults}
    ARGUMENT_SCOPES.append(scope)
    try:
        yield scope
    finally:
        ARGUMENT_SCOPES.pop()


def add_arg_scope(function: Callable[..., Any]) -> Any:
    """Decorates a function that takes defaults from `arg_scope`."""

    @functools.wraps(function)
    def with_defaults(*args: Any, **named: Any) -> Any:
        return function(*args, **{**ARGUMENT_SCOPES[-1].get(with_defaults, {}), **named})

    with_defaults.takes_scope = True  # type: ignore[attr-defined]
    return with_defaults
