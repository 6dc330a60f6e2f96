"""One idiom that programs are written in, and what takes its place before a model_fn is taken apart."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module

F_co = TypeVar("F_co", bound=Callable[..., Any], covariant=True)
OfCall = Callable[[Drafts, Module, ast.Call], "list[Change]"]
"""Gives the changes for a call; none where it is something else. Raises Unsupported or Unprintable where it has to stay."""
OfFunction = Callable[[Drafts, Module, ast.FunctionDef], "list[Change]"]
"""Gives the changes for one place of a function; none if there is no more. Raises Unprintable."""
OfFiles = Callable[[Drafts, Sequence[str]], None]
"""Changes the drafts of the files at some paths."""

_EXAMPLE = re.compile(r"```python\n(.*?)```\s+becomes\s+```python\n(.*?)```", re.DOTALL)


class Desugaring(Generic[F_co]):
    """Decorates a function that rewrites one idiom. `Preparation` is given them in the order in which they are tried.

    The docstring of the function shows a program before and after. A test runs it, so it is exact.
    """

    def __init__(self, expand: F_co) -> None:
        self.expand = expand
        self.name = expand.__module__.rpartition(".")[2]
        self.__doc__ = expand.__doc__

    def examples(self) -> list[tuple[str, str]]:
        """The programs of the docstring, before and after."""
        return _EXAMPLE.findall(textwrap.dedent("    " + (self.__doc__ or "")))
