"""The order in which one step of a TensorFlow 1 graph reads and writes variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from migrator.runtime.graph_v1.v1_references import WRITES, followers, reach, readers, sources

CALLS = ("If", "While", "Case", "PartitionedCall", "StatefulPartitionedCall")


def order_writes(fetches: Iterable[Any], batch: Iterable[tf.Tensor]) -> None:
    """Lets a step write variables only when its batch is there, and when it has read what it reads of them.

    A session of TensorFlow 1 was free to assign the global step before or after the learning rate had read it, where the
    program did not order the two. Reads that come after a write by a control dependency of the program stay there.

    Args:
      fetches: tensors and operations that one step computes.
      batch: inputs of the step.
    """
    needed = reach([getattr(fetch, "op", fetch) for fetch in fetches], lambda op: [*sources(op), *op.control_inputs])
    writes = [(op, op.inputs[0].ref()) for op in needed if op.type.startswith(WRITES)]
    read_by: dict[Any, list[Any]] = {variable: [] for _, variable in writes}
    for op in needed:
        for tensor in op.inputs:
            if tensor.ref() in read_by and not op.type.startswith(WRITES):
                # That a branch or loop has run does not say that it has read; that its results are used, does.
                read_by[tensor.ref()] += needed & set(readers(op)) if op.type in CALLS else [op]
    order_updates(writes, read_by)
    arrived = [tensor.op for tensor in batch]
    for write, variable in writes:
        later = followers(write)
        write._add_control_inputs([*arrived, *(read for read in read_by[variable] if read not in later)])


def order_updates(writes: Iterable[tuple[Any, Any]], read_by: dict[Any, list[Any]]) -> None:
    """Lets an update of a variable begin with what the one made before it has written, where a step has several: of the
    moving average of a normalization that is applied twice.

    Args:
      writes: operations that write, each with the variable.
      read_by: operations that read each of the variables.
    """
    by_variable: dict[Any, list[Any]] = {}
    for write, variable in writes:
        by_variable.setdefault(variable, []).append(write)
    for variable, several in by_variable.items():
        if len(several) < 2:
            continue
        place = {op: number for number, op in enumerate(several[0].graph.get_operations())}
        several = sorted((write for write in several if write in place), key=place.__getitem__)
        for before, after in zip(several, several[1:]):
            between = {op for op in read_by[variable] if op in place and place[before] < place[op] < place[after]}
            for read in between & reach([after], sources):
                read._add_control_input(before)
