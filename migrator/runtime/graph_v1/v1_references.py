"""What a variable of TensorFlow 1 was: a reference, whose value is that of the last assignment wherever it is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

WRITES = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "ResourceStridedSliceAssign")


def read_after_writes(fetches: Iterable[Any]) -> None:
    """Lets operations that wait for a write of a variable take the value that it left, also where it was read before.

    ``with tf.control_dependencies([first_step]): second.minimize(…)`` takes gradients through the weights that
    `first_step` has moved, at the activations of before: what a reference was read as, shared its memory. Variables of
    TensorFlow 2 are copied when they change under a reader.

    Args:
      fetches: tensors and operations that one step computes.
    """
    needed = reach([getattr(fetch, "op", fetch) for fetch in fetches], lambda op: [*sources(op), *op.control_inputs])
    writes: dict[Any, list[tf.Operation]] = {}
    for op in needed:
        if op.type.startswith(WRITES):
            writes.setdefault(op.inputs[0].ref(), []).append(op)
    later = {write: followers(write) for own in writes.values() for write in own}
    fresh: dict[Any, tf.Tensor] = {}
    for read in [op for op in needed if op.type == "ReadVariableOp" and op.inputs[0].ref() in writes]:
        own = writes[read.inputs[0].ref()]
        passed = {write for write in own if read not in later[write]}
        for user, index in list(users_of(read.outputs[0], needed)):
            before = [write for write in own if user in later[write] and user is not write]
            if passed.intersection(before):
                key = (read.inputs[0].ref(), *sorted(write.name for write in before))
                if key not in fresh:
                    with read.graph.as_default(), tf.control_dependencies(before):
                        fresh[key] = tf.raw_ops.ReadVariableOp(resource=read.inputs[0], dtype=read.outputs[0].dtype)
                user._update_input(index, fresh[key])


def users_of(value: tf.Tensor, needed: set[Any]) -> Iterator[tuple[tf.Operation, int]]:
    """The operations that take a value, and at which place: where one only hands it on, those behind it too."""
    for user in value.consumers():
        if user in needed:
            yield from ((user, index) for index, tensor in enumerate(user.inputs) if tensor is value)
            if user.type == "Identity":
                yield from users_of(user.outputs[0], needed)


def followers(op: tf.Operation) -> set[Any]:
    """`op`, and all operations that wait for it."""
    return reach([op], lambda one: [*readers(one), *one._control_outputs])


def reach(start: list[Any], following: Any) -> set[Any]:
    """`start`, and all operations that `following` leads to from there."""
    found, waiting = set(start), list(start)
    while waiting:
        new = set(following(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def sources(op: tf.Operation) -> list[tf.Operation]:
    """The operations whose results `op` takes."""
    return [tensor.op for tensor in op.inputs]


def readers(op: tf.Operation) -> list[tf.Operation]:
    """The operations that take results of `op`."""
    return [reader for tensor in op.outputs for reader in tensor.consumers()]
