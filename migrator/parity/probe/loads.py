"""Which variables of the old side begin with values of a checkpoint: by the ops that give them these, or by the values."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import distributed
from .recorded import session_values
from .recorded.files import Files, Source

_RESTORES = {"Restore", "RestoreSlice", "RestoreV2"}
_REMAPS = {"LoadAndRemapMatrix"}
_ASSIGNS = {"Assign", "AssignVariableOp"}
_DRAWS = ("Random", "TruncatedNormal", "Multinomial")
"""Parts of the names of operations that draw numbers, stateless ones too."""
_OF_KERAS = os.path.join("keras", "keras_model.ckpt")
"""Where `model_to_estimator` puts the first weights of its model, wherever those are from."""
INIT_FN = "fills by the init_fn of a Scaffold"


class Loads:
    """What the old program loads, as far as it has come; one per process."""

    def __init__(self) -> None:
        self.files = Files()
        self.restored: weakref.WeakKeyDictionary[Any, dict[str, str]] = weakref.WeakKeyDictionary()
        """By graph: where a `Saver` has taken the variables of these names from."""
        self.saved: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
        """By graph: the checkpoints that hold its values, as it has written them itself."""
        self.filled: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
        """By graph: variables to which the `init_fn` of a Scaffold has given other values, which it did not draw."""

    def install(self) -> None:
        """Watch what reads files, and savers."""
        import tensorflow as tf

        self.files.install()
        saver: Any = tf.compat.v1.train.Saver
        restore, save = saver.restore, saver.save

        def watched(self_: Any, session: Any, save_path: Any) -> Any:
            result = restore(self_, session, save_path)
            if session is not None:
                names = dict.fromkeys(_saved(self_), os.fsdecode(save_path))
                self.restored.setdefault(session.graph, {}).update(names)
            return result

        def watched_save(self_: Any, session: Any, *arguments: Any, **named: Any) -> Any:
            path = save(self_, session, *arguments, **named)
            if path:
                self.saved.setdefault(session.graph, set()).add(os.fsdecode(path))
            return path

        saver.restore, saver.save = watched, watched_save

    def watch(self, scaffold: Any) -> None:
        """See what the `init_fn` of a Scaffold changes."""
        init_fn = getattr(scaffold, "_init_fn", None)
        if init_fn is None:
            return

        def watched(session: Any) -> Any:
            variables = _own(session.graph)
            before = _values(session, variables)
            with _drawn(session, variables) as drawn:
                result = init_fn(session)
            after = _values(session, variables)
            changed = {name for name in before if name in after and not np.array_equal(before[name], after[name])}
            self.filled.setdefault(session.graph, set()).update(changed - drawn)
            return result

        scaffold._init_fn = watched

    def marks(
        self, session: Any, scaffold: Any, values: Mapping[str, Any], variables: Collection[Any], waits: bool
    ) -> dict[str, tuple[str, Any]]:
        """Which of the first `values` of a graph's `variables` are loaded.

        Where a training `waits` for this evaluation, what that has just saved is not.

        Returns, by their names, what they are loaded from, and a mask of the part that is; None if all is.
        """
        graph = session.graph
        found: dict[str, tuple[str, Any]] = {}
        for name, source in self._by_ops(variables, scaffold).items():
            if name not in values or source.path.endswith(_OF_KERAS):
                continue
            part = self.files.part(values[name], [source])[1] if source.tensor else None
            if part is not None or not source.tensor:
                found[name] = (source.path, part)
        found.update((name, (INIT_FN, None)) for name in self.filled.get(graph, ()))
        written = set().union(*self.saved.values()) if waits else set()
        restored = self.restored.get(graph, {}).items()
        found.update((name, (path, None)) for name, path in restored if path not in written)
        elsewhere = [path for other, names in self.restored.items() if other is not graph for path in names.values()]
        known = [*self.files.read, *(Source(path) for path in dict.fromkeys(elsewhere))]
        known = [s for s in known if not s.path.endswith(_OF_KERAS) and s.path not in written]
        for name, value in values.items() if known else ():
            if name not in found:
                path, part = self.files.whole(value, known), None
                if not path:
                    path, part = self.files.part(value, known)
                if path:
                    found[name] = (path, part)
        return {name: mark for name, mark in found.items() if name in values}

    @staticmethod
    def _by_ops(variables: Iterable[Any], scaffold: Any) -> dict[str, Source]:
        """The variables to which the ops that initialize a graph assign what they read from a checkpoint.

        A source without the name of a tensor gives a variable all its values.
        """
        import tensorflow as tf

        roots = [part.initializer for variable in variables for part in distributed.components(variable)]
        roots += [getattr(part, "_initializer_op", None) for part in variables]  # that of all copies on replicas
        roots.append(getattr(scaffold, "_init_op", None))
        found = {}
        for name, ops in _assigned([root for root in roots if root is not None], variables):
            for op in ops:
                if op.type in _RESTORES | _REMAPS:
                    path, tensor = (tf.get_static_value(part) for part in list(op.inputs)[:2])
                    whole = op.type in _RESTORES
                    text = "a checkpoint" if path is None else os.fsdecode(np.asarray(path).reshape(-1)[0])
                    found[name] = Source(text, "" if whole or tensor is None else os.fsdecode(tensor.item()))
        return found


def _own(graph: Any) -> list[Any]:
    """The variables of a graph but those of its optimizers."""
    import tensorflow as tf

    with graph.as_default():
        every = tf.compat.v1.global_variables()
        slots = session_values.slot_names(every)
    return [variable for variable in every if session_values.logical(variable)[0] not in slots]


def _values(session: Any, variables: list[Any]) -> dict[str, Any]:
    """Their values; none where some are not initialized."""
    import tensorflow as tf

    try:
        return session_values.read(session, variables)
    except tf.errors.FailedPreconditionError:
        return {}


@contextlib.contextmanager
def _drawn(session: Any, variables: list[Any]) -> Iterator[set[str]]:
    """Collects the names of variables to which runs of `session` assign random numbers."""
    run = session.run
    found: set[str] = set()

    def watched(fetches: Any, feed_dict: Any = None, **named: Any) -> Any:
        import tensorflow as tf

        flat = [session.graph.as_graph_element(part, allow_tensor=True) for part in tf.nest.flatten(fetches)]
        fed = [str(getattr(key, "name", key)) for key in feed_dict or ()]
        for name, ops in _assigned(flat, variables, fed):
            if any(draw in op.type for op in ops for draw in _DRAWS):
                found.add(name)
        return run(fetches, feed_dict, **named)

    session.run = watched
    try:
        yield found
    finally:
        del session.run


def _assigned(
    roots: Iterable[Any], variables: Iterable[Any], fed: Collection[str] = ()
) -> Iterator[tuple[str, set[Any]]]:
    """For each op that assigns a variable before `roots`: its name, and the ops that its value is computed by.

    `fed` are names of tensors that are not computed.
    """
    names = {}
    for variable in variables:
        for part in distributed.components(variable):
            names[part.op] = session_values.logical(variable)[0]
    for op in _before([getattr(root, "op", root) for root in roots], fed):
        if op.type in _ASSIGNS and op.inputs[0].op in names and op.inputs[1].name not in fed:
            yield names[op.inputs[0].op], _before([op.inputs[1].op], fed)


def _before(waiting: list[Any], fed: Collection[str]) -> set[Any]:
    """`waiting`, and all operations that run before these where `fed` tensors are not computed."""
    found = set(waiting)
    while waiting:
        op = waiting.pop()
        new = {tensor.op for tensor in op.inputs if tensor.name not in fed} | set(op.control_inputs)
        waiting += new - found
        found |= new
    return found


def _saved(saver: Any) -> list[str]:
    """The names of the variables that a `Saver` restores."""
    listed = saver._var_list
    flat: list[Any] = []
    for item in listed.values() if isinstance(listed, dict) else listed or ():
        # A name that a variable of several replicas lacks is one of its value, which would add an op to a finished graph.
        parts = vars(item).get("_variable_list") if hasattr(item, "__dict__") else None
        flat += item if isinstance(item, (list, tuple)) else parts or [item]
    return [session_values.logical(item)[0] for item in flat if hasattr(item, "op") and hasattr(item, "shape")]
