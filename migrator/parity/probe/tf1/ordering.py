"""Lets each training step of the old program read the global step before it assigns it.

``tf.group(train_op, [global_step.assign(global_step + 1)])``, as in BERT, leaves it to chance whether the learning rate
is that of the old step or of the new one: two recordings of such a program differ. Migrated programs read first. So it
is with weights that an optimizer changes by more than its own update, and with those that the loss reads where no gradient
needs the value: the last term of ``exp(-s) * loss + s``.
"""

from __future__ import annotations

from typing import Any

READ = ("Identity", "ReadVariableOp")
HOOKS_READ = "global_step_read_op_cache"
"""Where TensorFlow keeps the value of the step by which hooks count, as `SummarySaverHook` does."""
WRITE = ("Assign", "Apply", "Scatter", "ResourceApply", "ResourceScatter", "ResourceSparseApply", "SparseApply")


def read_step_first(spec: Any) -> bool:
    """Order the operations of a training spec that nothing orders; whether there were some."""
    import tensorflow as tf

    step = tf.compat.v1.train.get_global_step()
    if step is None or spec.train_op is None:
        return False
    needed = _needed(spec)
    # Where hooks read, TensorFlow itself leaves it open, in each program: nothing to tell about this one.
    _order([read.op for read in tf.compat.v1.get_collection(HOOKS_READ)], _writes(step, needed))
    return _read_first(step, needed)


def read_weights_first(spec: Any) -> bool:
    """The same for weights: `AdamWOptimizer` of tf.contrib, for one, lets them decay while the gradients are computed. And for
    counters of the program: ``local_step.assign(local_step + 1)`` beside what asks whether a step is due."""
    import tensorflow as tf

    if spec.train_op is None or tf.distribute.has_strategy():
        return False
    needed = _needed(spec)
    step, every = tf.compat.v1.train.get_global_step(), tf.compat.v1.global_variables()
    counters = [each for each in every if each.dtype.base_dtype.is_integer and not each.shape.rank and each is not step]
    found = [_read_first(each, needed) for each in (*tf.compat.v1.trainable_variables(), *counters)]  # each of them
    return any(found)


def decay_with_data(spec: Any) -> bool:
    """Let moments that decay before rows are added to them, as for looked-up tables, wait for the loss; whether some did not.

    The step that finds no more data fails, but decays them once more, as they need none: a training that goes on from there, an
    epoch later, differs from one that has all data at once.
    """
    import tensorflow as tf

    if spec.train_op is None or tf.distribute.has_strategy():
        return False
    needed, found = _needed(spec), False
    trainable = {id(variable) for variable in tf.compat.v1.trainable_variables()}
    for variable in (each for each in tf.compat.v1.global_variables() if id(each) not in trainable):
        writes = _writes(variable, needed)
        whole = [op for op in writes if op.type.startswith("Assign")]
        if whole and len(whole) < len(writes):  # the others scatter rows
            found |= _order([spec.loss.op], whole)
    return found


def _needed(spec: Any) -> set[Any]:
    """The operations of a training step."""
    return _before([getattr(part, "op", part) for part in (spec.train_op, spec.loss)])


def _read_first(variable: Any, needed: set[Any]) -> bool:
    writes = _writes(variable, needed)
    taking = [op for op in _taking(variable, needed) if op not in writes]
    return _order(_users(taking, needed), writes) if writes else False


def _taking(variable: Any, needed: set[Any]) -> list[Any]:
    """The operations that take a variable itself."""
    handle = getattr(variable, "handle", None)
    handle = variable.op.outputs[0] if handle is None else handle
    return [op for op in handle.consumers() if op in needed]


def _writes(variable: Any, needed: set[Any]) -> list[Any]:
    return [op for op in _taking(variable, needed) if op.type.startswith(WRITE)]


def _order(reads: list[Any], writes: list[Any]) -> bool:
    """Let writes wait for reads where neither waits for the other; whether there were some."""
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
