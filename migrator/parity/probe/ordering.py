"""Lets each training step of the old program read the global step before it assigns it.

``tf.group(train_op, [global_step.assign(global_step + 1)])``, as in BERT, leaves it to chance whether the learning rate
is that of the old step or of the new one: two recordings of such a program differ. Migrated programs read first. So it
is with weights that an optimizer changes by more than its own update, and with those that the loss reads where no gradient
needs the value: the last term of ``exp(-s) * loss + s``.
"""

from __future__ import annotations

from typing import Any

READ = ("Identity", "ReadVariableOp")
WRITE = ("Assign", "Apply", "Scatter", "ResourceApply", "ResourceScatter", "ResourceSparseApply", "SparseApply")


def read_step_first(spec: Any) -> bool:
    """Order the operations of a training spec that nothing orders; whether there were some."""
    import tensorflow as tf

    step = tf.compat.v1.train.get_global_step()
    if step is None or spec.train_op is None:
        return False
    return _read_first(step, _needed(spec))


def read_weights_first(spec: Any) -> bool:
    """The same for weights: `AdamWOptimizer` of tf.contrib, for one, lets them decay while the gradients are computed."""
    import tensorflow as tf

    if spec.train_op is None or tf.distribute.has_strategy():
        return False
    needed = _needed(spec)
    found = [_read_first(variable, needed) for variable in tf.compat.v1.trainable_variables()]  # each of them
    return any(found)


def _needed(spec: Any) -> set[Any]:
    """The operations of a training step."""
    return _before([getattr(part, "op", part) for part in (spec.train_op, spec.loss)])


def _read_first(variable: Any, needed: set[Any]) -> bool:
    handle = getattr(variable, "handle", None)
    handle = variable.op.outputs[0] if handle is None else handle
    taking = [op for op in handle.consumers() if op in needed]
    writes = [op for op in taking if op.type.startswith(WRITE)]
    reads = _users([op for op in taking if op not in writes], needed) if writes else []
    found = False
    for write in writes:
        known = _before([write])
        for read in reads:
            if read not in known and _is_plain(read) and _is_plain(write) and write not in _before([read]):
                write._add_control_input(read)
                found = True
    return found


def _is_plain(op: Any) -> bool:
    """Whether an operation stands outside of loops and conditions, which others cannot wait for."""
    return op._get_control_flow_context() is None


def _users(waiting: list[Any], needed: set[Any]) -> list[Any]:
    """The operations that use a value of the step: where one only hands it on, as it does a reference, those behind."""
    found: list[Any] = []
    while waiting:
        op = waiting.pop()
        if op.type in READ:
            waiting += [user for tensor in op.outputs for user in tensor.consumers() if user in needed]
        elif op not in found:
            found.append(op)
    return found


def _before(waiting: list[Any]) -> set[Any]:
    """`waiting`, and all operations that run before these."""
    found = set(waiting)
    while waiting:
        op = waiting.pop()
        new = {tensor.op for tensor in op.inputs} | set(op.control_inputs)
        waiting += new - found
        found |= new
    return found
