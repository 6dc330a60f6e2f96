"""What the expressions of an input function may be, as far as `datasets.Reader` follows them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Union

from migrator.resolve.module import Module


@dataclass(frozen=True)
class Data:
    """A dataset."""

    ends: bool | None
    """None: that depends on what is known when the program runs."""
    counted: bool = True
    """Whether TensorFlow knows how many elements it has, without reading them."""
    even: bool = True
    """Whether all batches have the same shape, but for the number of their examples."""
    fixed: bool = True
    """Whether it has as many elements each time that it is read: what a function generates need not."""
    batch: bool = False
    """Whether it is one batch of tensors, which an Estimator reads again and again, and no dataset yet."""
    skipped: bool = False
    """Whether it leaves out as many elements as only the run knows: it may be empty."""


@dataclass(frozen=True)
class Known:
    """A value that the source says."""

    value: object


@dataclass(frozen=True)
class Count:
    """A number that an option of the program says."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function with what it was given already."""

    module: Module
    node: ast.FunctionDef | ast.Lambda
    around: Mapping[str, Value]
    given: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()

    def parameters(self) -> list[ast.arg]:
        """Those that are not given yet."""
        args = self.node.args
        left = [*args.posonlyargs, *args.args][len(self.given) :] + args.kwonlyargs
        return [arg for arg in left if arg.arg not in dict(self.named)]


@dataclass(frozen=True)
class Returns:
    """A function without parameters that returns a dataset: of a library, or one of several."""

    data: Data


@dataclass(frozen=True)
class Splits:
    """A dict of datasets: of one for training, and one for tests."""

    data: Data


@dataclass(frozen=True)
class Gathered:
    """What ``*args`` or ``**kwargs`` of a function stand for, and tuples."""

    places: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class Object:
    """An object of the program, with its attributes."""

    attributes: tuple[tuple[str, Value], ...]


Value = Union[Data, Known, Count, Function, Returns, Splits, Gathered, Object, None]
Env = dict[str, Value]


def is_whole(value: Value) -> bool:
    """Whether a value is a function that needs no more arguments."""
    return isinstance(value, Returns) or (isinstance(value, Function) and not value.parameters())


def either(one: Value, other: Value) -> Value:
    """What is true of both."""
    if isinstance(one, Data) and isinstance(other, Data):
        ends = one.ends if one.ends is other.ends else None
        both = Data(ends, one.counted and other.counted, one.even and other.even, one.fixed and other.fixed, one.batch)
        both = replace(both, skipped=one.skipped or other.skipped)
        return both if one.batch is other.batch else None
    if one is other or (isinstance(one, (Known, Count)) and one == other):
        return one
    return None
