"""The three variable partitioners of TensorFlow 1 become those of tf.distribute."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional, Union

from migrator.engine.rule import Rule
from migrator.resolve.calls import bind, call_of
from migrator.resolve.module import Module
from migrator.resolve.signatures import Signatures, carried_over
from migrator.rewrite import Replace
from migrator.vocabulary.diagnostics import Applicability, Diagnostic, Severity

from .symbols.tensorflow_names import tensorflow_root

Number = Union[int, float]


@dataclass(frozen=True)
class _Partitioner:
    """Parameters of one TF1 partitioner, and what each is called in TF2, in the order in which they are written."""

    new: str
    old: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    defaults: tuple[tuple[str, str], ...] = ()
    required: tuple[str, ...] = ()


_SLICE = "256 << 10"
PARTITIONERS = {
    "tensorflow.fixed_size_partitioner": _Partitioner(
        "FixedShardsPartitioner", ("num_shards", "axis"), (("num_shards", "num_shards"),), required=("num_shards",)
    ),
    "tensorflow.min_max_variable_partitioner": _Partitioner(
        "MinSizePartitioner",
        ("max_partitions", "axis", "min_slice_size", "bytes_per_string_element"),
        (
            ("min_slice_size", "min_shard_bytes"),
            ("max_partitions", "max_shards"),
            ("bytes_per_string_element", "bytes_per_string"),
        ),
        # TensorFlow 2.15 has the same defaults; written out, they stay what they were.
        (("max_partitions", "1"), ("min_slice_size", _SLICE)),
    ),
    "tensorflow.variable_axis_size_partitioner": _Partitioner(
        "MaxSizePartitioner",
        ("max_shard_bytes", "axis", "bytes_per_string_element", "max_shards"),
        (
            ("max_shard_bytes", "max_shard_bytes"),
            ("max_shards", "max_shards"),
            ("bytes_per_string_element", "bytes_per_string"),
        ),
        required=("max_shard_bytes",),
    ),
}
_INTERNAL = (
    "tensorflow.python.ops.partitioned_variables."  # where canned Estimators, and code like theirs, had them from
)
PARTITIONERS.update({_INTERNAL + name.rpartition(".")[2]: kind for name, kind in PARTITIONERS.items()})
_COUNTS = ("num_shards", "max_partitions", "max_shards")


class Partitioners(Rule):
    """Replace variable partitioners of TensorFlow 1 by those of `tf.distribute`.

    ## What it does
    Rewrites calls of `tf.fixed_size_partitioner`, `tf.min_max_variable_partitioner` and
    `tf.variable_axis_size_partitioner` to `FixedShardsPartitioner`, `MinSizePartitioner` and `MaxSizePartitioner` of
    `tf.distribute.experimental.partitioners`. All arguments are written as keywords, because the order differs.

    ## Why
    `tf.distribute.ParameterServerStrategy(variable_partitioner=...)` takes these. Copying positional arguments is
    silently wrong: the one argument of `min_max_variable_partitioner(4)` is a number of shards, that of
    `MinSizePartitioner(4)` is a number of bytes, and its variables are never split.

    ## Example
    ```python
    partitioner = tf.min_max_variable_partitioner(max_partitions=num_ps)
    ```
    becomes
    ```python
    partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(
        max_shards=max(1, num_ps), min_shard_bytes=256 << 10
    )
    ```
    (on one line).

    ## Fix safety
    Safe: both make the same shards. `max(1, n)` is written around a number that is not a literal, since TensorFlow 1
    takes the 0 parameter servers of a local run and TensorFlow 2 does not. An `axis` other than 0 makes the fix unsafe:
    TensorFlow 2 splits along the first axis only, which changes where values lie, not what they are. Arguments that
    TensorFlow 2 refuses, calls with `*args` or `**kwargs`, and partitioner functions that are passed on without a call
    are reported and left alone.
    """

    code = "EST101"
    name = "partitioners"
    needs_tensorflow_2 = True
    url = "https://www.tensorflow.org/tutorials/distribute/parameter_server_training#variable_sharding"
    symbols = tuple(PARTITIONERS)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each place that names a partitioner."""
        kind = PARTITIONERS[name]
        old = "tf." + name.rpartition(".")[2]
        new = f"tf.distribute.experimental.partitioners.{kind.new}"
        call = call_of(module, node)
        if call is None:
            message = f"{old} is passed on without being called; {new} takes other arguments, so call it here"
            yield self.diagnostic(module, node, message)
            return
        bound = bind(call, kind.old)
        if bound is None or not set(bound) <= set(kind.old) or not set(kind.required) <= set(bound):
            message = f"the arguments of {old} cannot be read here; write {new} with keywords"
            yield self.diagnostic(module, node, message)
            return
        refusal = _refusal(bound, kind)
        if refusal:
            yield self.diagnostic(module, node, f"{new} does not take {refusal}; {old} is left as it is")
            return
        found = tensorflow_root(module, node)
        if found is None:
            yield self.diagnostic(module, node, f"{old} is now {new}, but no name for TensorFlow is free here")
            return
        root, imports = found
        arguments = carried_over(module, call, _signatures(module, bound, kind))
        assert not isinstance(arguments, str)  # everything that it refuses was refused above
        changes = [*imports, Replace(node, f"{root}{new[len('tf') :]}"), *arguments]
        axis = bound.get("axis")
        if axis is None or _number(axis) == 0:
            message = f"{old} is now {new}"
            yield self.diagnostic(module, node, message, changes=changes, severity=Severity.INFO)
        else:
            what = module.segment(axis)
            message = f"{old} splits along axis {what}, {new} along axis 0 only: the layout changes, the values do not"
            yield self.diagnostic(module, node, message, changes=changes, applicability=Applicability.UNSAFE)


def _number(node: ast.expr) -> Optional[Number]:
    """Value of a literal number, also of arithmetic on literals such as ``64 << 20``; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (int, float)) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _number(node.operand)
        return None if value is None else -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        small = isinstance(left, int) and isinstance(right, int) and 0 <= right <= 64
        if small and isinstance(left, int) and isinstance(right, int):
            if isinstance(node.op, ast.LShift):
                return left << right
            if isinstance(node.op, ast.Pow) and abs(left) <= 1024:
                return int(left**right)
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _refusal(bound: dict[str, ast.expr], kind: _Partitioner) -> str:
    """The literal argument that the TF2 constructor refuses, as ``max_shards=0``, or an empty text."""
    for old, new in kind.names:
        node = bound.get(old)
        if node is None:
            continue
        if _is_none(node):
            # No limit is written as None for one of the three only.
            if (kind.new, old) == ("MaxSizePartitioner", "max_shards"):
                continue
            return f"{new}=None"
        if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float)):
            return f"{new}={node.value!r}"
        value = _number(node)
        if value == 0 and old == "max_shards":
            continue  # no limit, in both
        if value is not None and value < 1:
            return f"{new}={value}"
        if value is not None and isinstance(value, float) and old in _COUNTS:
            return f"{new}={value}"
    return ""


def _signatures(module: Module, bound: dict[str, ast.expr], kind: _Partitioner) -> Signatures:
    """How the arguments change. They keep their order, so that nothing is evaluated in another one."""
    wrap = {}
    for name in ("num_shards", "max_partitions"):
        node = bound.get(name)
        if node is not None and _number(node) is None and not _at_least_one(module, node):
            wrap[name] = "max(1, {})"
    names = dict(kind.names)
    defaults = {names[old]: text for old, text in kind.defaults}
    return Signatures(kind.old, tuple(names.values()), names, {"axis": ()}, wrap, {}, defaults, kind.old)


def _at_least_one(module: Module, node: ast.expr) -> bool:
    """Whether the program already writes ``max(1, n)``."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "max"):
        return False
    if module.is_bound("max", node):
        return False
    values = [_number(argument) for argument in node.args]
    return any(value is not None and value >= 1 for value in values)
