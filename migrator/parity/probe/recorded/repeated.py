"""Gives a run of the old program the first weights and the batches of an earlier one, where chance would give it others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Optional

from . import session_values
from .store import Reader


class Earlier:
    """The recording of an earlier run, in `folder`."""

    def __init__(self, folder: str) -> None:
        self._reader = Reader(folder)
        self._starts: dict[int, dict[str, Any]] = {}
        for event in self._reader.of("variables"):
            values = {entry["name"]: entry["value"] for entry in event["variables"]}
            self._starts.setdefault(event["stream"], values)
        self._batches: dict[tuple[str, int], deque[list[Any]]] = {}
        for event in self._reader.events:
            if event["type"] in ("step", "batch"):
                batches = [event["batch"], *event.get("others", [])]
                self._batches.setdefault((event.get("kind", "train"), event["call"]), deque()).append(batches)

    def restore(self, session: Any, stream: int, prepared: Iterable[tuple[Any, Any, Any]]) -> None:
        """Give weights their first values; `prepared` has them with what assigns to them: a placeholder and an op."""
        known = self._starts.get(stream, {})
        for variable, place, assign in prepared:
            value = known.get(session_values.logical(variable)[0])
            if value is not None and list(variable.shape) == value["shape"]:
                session.run(assign, {place: self._reader.array(value)})

    def feed(self, kind: str, call: int, batches: Iterable[Any]) -> dict[Any, Any]:
        """The values of the next batch of a call for its tensors, a tree for each replica; none where there is no such batch,
        or where it cannot be fed."""
        waiting = self._batches.get((kind, call))
        if not waiting:
            return {}
        found: dict[Any, Any] = {}
        for tensors, encoded in zip(batches, waiting.popleft()):
            if not all(self._fed(*pair, found) for pair in zip(tensors, encoded)):
                return {}
        return found

    def ends(self, kind: str, call: int) -> bool:
        """Whether the earlier run went no further."""
        return not self._batches.get((kind, call))

    def _fed(self, tensors: Any, encoded: Any, found: dict[Any, Any]) -> bool:
        """Adds what is fed for a tree of tensors; whether all of it can be."""
        import tensorflow as tf

        if tensors is None or encoded is None:
            return tensors is None and encoded is None
        if isinstance(tensors, dict):
            inner = encoded.get("dict", {})
            return {str(key) for key in tensors} == set(inner) and all(
                self._fed(part, inner[str(key)], found) for key, part in tensors.items()
            )
        if isinstance(tensors, tf.SparseTensor):
            parts = [self._reader.array(part) for part in encoded.get("sparse", [])]
            return len(parts) == 3 and _add(found, tensors, tf.compat.v1.SparseTensorValue(*parts), tensors.values)
        if isinstance(tensors, (tuple, list)):
            listed = encoded.get("tuple", [])
            return len(listed) == len(tensors) and all(self._fed(*pair, found) for pair in zip(tensors, listed))
        return "at" in encoded and _add(found, tensors, self._reader.array(encoded), tensors)


def _add(found: dict[Any, Any], place: Any, value: Any, tensor: Any) -> bool:
    import tensorflow as tf

    dtype: Optional[Any] = getattr(tensor, "dtype", None)
    if not isinstance(tensor, tf.Tensor) or dtype == tf.bfloat16 or not tensor.graph.is_feedable(tensor):
        return False
    found[place] = value
    return True
