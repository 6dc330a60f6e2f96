"""What the old side knows while its program runs, and where it is written."""

from __future__ import annotations

import time
import weakref
from typing import Any

from .. import loads, program
from ..recorded import containers, nudge, repeated, store

FULL_STEP_BYTES = 50_000_000
"""Values of variables after each step are kept whole until this much is written; checksums are kept always."""


class Recorder:
    """What is known while the old program runs; one per process."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.writer = store.Writer(config["output"])
        self.progress = program.Progress(config["progress"])
        self.steps: int = config.get("steps") or 0
        self.cluster: dict[str, Any] = config.get("cluster") or {}
        self.started: float = self.cluster.get("started") or time.time()
        self.free = config.get("mode") == "free"
        self.asynchronous = self.free or bool(self.cluster.get("asynchronous"))
        """Whether only losses and metrics are recorded."""
        self.seed: int = self.cluster.get("seed") or 1 + config.get("seed", 0)
        self.nudges = nudge.Nudges(config["nudge"]) if config.get("nudge") else None
        self.earlier = repeated.Earlier(config["earlier"]) if config.get("earlier") else None
        self.resumed = bool(config.get("resumed"))
        """Whether the program is to go on from what an earlier run of it has left."""
        self.redirect = program.Redirect(config["sandbox"])
        self.streams: dict[str, int] = {}
        """The number of the newest model of each folder."""
        self.estimators: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.models = 0
        self.taken: dict[int, int] = {}
        self.calls = {"train": 0, "evaluate": 0, "predict": 0}
        self.stack: list[tuple[str, int]] = []
        self.known: set[int] = set()
        self.filled: set[int] = set()
        """Models whose Scaffold has an `init_fn`."""
        self.notes: set[str] = set()
        self.budget = FULL_STEP_BYTES
        self.folders: set[str] = set()
        self.unnamed: set[str] = set()
        """Names of folders that Estimators made for themselves."""
        self.exported: list[str] = []
        self.open_predictions: dict[int, tuple[list[Any], bool]] = {}
        self.features: Any = None
        self.loads = loads.Loads()
        self.replicas: tuple[Any, str, list[tuple[Any, Any, Any]]] = (None, "", [])

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.add(text)
            self.writer.event("note", text=text)

    def stream(self, estimator: Any) -> int:
        """Number of the model: estimators that share a model_dir are one, until what one has trained is deleted there."""
        if estimator not in self.estimators:
            folder = str(estimator.model_dir)
            number = self.streams.get(folder)
            if number is None or (self.taken.get(number) and not self.cluster and not _saved(folder)):
                number = self.streams[folder] = self.models
                self.models += 1
            self.estimators[estimator] = number
        return self.estimators[estimator]

    def replicas_of(self, graph: Any, kind: str) -> list[tuple[Any, Any, Any]]:
        """Where the replicas of a model_fn that is being called put their tensors."""
        if self.replicas[:2] != (graph, kind):
            self.replicas = (graph, kind, [])
        return self.replicas[2]

    def begin(self, kind: str) -> int:
        self.calls[kind] += 1
        self.stack.append((kind, self.calls[kind]))
        return self.calls[kind]

    def end(self) -> None:
        self.stack.pop()

    def close_prediction(self, call: int, complete: bool) -> None:
        """Write what one `predict` has yielded; `complete` if the program took it to its end."""
        if call in self.open_predictions:
            rows, single = self.open_predictions.pop(call)
            outputs = {key: self.writer.array(value) for key, value in containers.stacked(rows, single).items()}
            self.writer.event("predictions", call=call, outputs=outputs, complete=complete)


def _saved(folder: str) -> bool:
    """Whether there is a checkpoint."""
    import tensorflow as tf

    return tf.train.latest_checkpoint(folder) is not None
