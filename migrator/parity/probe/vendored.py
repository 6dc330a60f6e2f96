"""Watches `evaluate`, `predict` and `read_input`, which take `(model, input_fn, ...)`, of modules of the new program.

Migrated programs have such functions beside them. What the first two return is what the user sees, and `predict` there
does not go through `Model.predict`.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import os
import sys
from collections.abc import Iterator
from typing import Any, Callable

from . import clusters, steps
from .recorded import batches
from .recorded.containers import stacked
from .replay import Replay


def install(replay: Any, root: str) -> None:
    """Wrap such functions as soon as a module below `root` has been imported."""
    original = builtins.__import__
    root = os.path.realpath(root) + os.sep
    known: set[str] = set()
    waiting: set[str] = set()

    def import_(name: str, *args: Any, **named: Any) -> Any:
        module = original(name, *args, **named)
        if len(sys.modules) != len(known):
            waiting.update(set(sys.modules) - known)
            known.update(waiting)
        for key in list(waiting):
            loaded = sys.modules.get(key)
            if not getattr(getattr(loaded, "__spec__", None), "_initializing", False):
                waiting.discard(key)
                file = getattr(loaded, "__file__", None)
                if isinstance(file, str) and key != "__main__" and os.path.realpath(file).startswith(root):
                    _wrap(replay, loaded)
        return module

    builtins.__import__ = import_


def _wrap(replay: Any, module: Any) -> None:
    wrappers = {"evaluate": _evaluate, "predict": _predict, "read_input": _read_input}
    for name, wrap in {**wrappers, "train_and_evaluate": _train_and_evaluate}.items():
        function = getattr(module, name, None)
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            if list(inspect.signature(function).parameters)[:2] in (["model", "input_fn"], ["model", "train_spec"]):
                setattr(module, name, wrap(replay, function))


def _evaluate(replay: Replay, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def evaluate(*args: Any, **named: Any) -> Any:
        given = inspect.signature(function).bind(*args, **named).arguments
        replay.evaluation_steps = given.get("steps")
        result = function(*args, **named)
        if isinstance(result, dict):
            metrics = {key: replay.writer.array(value) for key, value in result.items()}
            replay.writer.event("metrics", call=replay.calls["evaluate"], metrics=metrics, name=given.get("name") or "")
        return result

    return evaluate


def _predict(replay: Replay, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def predict(*args: Any, **named: Any) -> Iterator[Any]:
        given = inspect.signature(function).bind(*args, **named)
        given.apply_defaults()
        replay.calls["predict"] += 1
        call = replay.calls["predict"]
        replay.writer.event("begin", kind="predict", call=call)
        recorded = replay.call_batches.get(("predict", call))
        if recorded is not None:
            given.arguments["input_fn"] = _replayed_input(replay, call, recorded, given.arguments["input_fn"])
        single = bool(given.arguments.get("yield_single_examples", True))
        rows: list[Any] = []
        replay.open_predictions[call] = (rows, single)
        try:
            for row in function(*given.args, **given.kwargs):
                rows.append(row)
                yield row
        finally:
            close(replay, call)

    return predict


def close(replay: Replay, call: int) -> None:
    """Write what one `predict` has yielded."""
    if call in replay.open_predictions:
        rows, single = replay.open_predictions.pop(call)
        outputs = {key: replay.writer.array(value) for key, value in stacked(rows, single).items()}
        replay.writer.event("predictions", call=call, outputs=outputs, complete=True)


def _replayed_input(replay: Replay, call: int, recorded: list[Any], input_fn: Callable[..., Any]) -> Any:
    @functools.wraps(input_fn)
    def replayed(*args: Any, **named: Any) -> Any:
        own = input_fn(*args, **named)
        if not hasattr(own, "element_spec"):
            return own
        features = batches.split_spec(own.element_spec)[0]

        def generate() -> Any:
            return (replay.fit_batch(encoded, features, None) for encoded in recorded)

        return batches.replayed(generate, features, None, own, replay.watcher("predict", call))

    return replayed


def _read_input(replay: Replay, function: Callable[..., Any]) -> Callable[..., Any]:
    """Under a strategy recorded batches have to be there before the program shares its batches out to replicas."""

    @functools.wraps(function)
    def read_input(model: Any, input_fn: Any, mode: str) -> Any:
        own = function(model, input_fn, mode)
        kind = {"train": "train", "eval": "evaluate"}.get(mode)
        coordinated = steps.is_coordinated(model)
        if kind is None or (model.distribute_strategy.num_replicas_in_sync == 1 and not coordinated):
            return own
        if coordinated and (kind != "train" or replay.cluster.get("asynchronous")):
            return own
        call = replay.calls[kind] + 1
        features, labels, _ = batches.split_spec(own.element_spec)
        if kind == "train":
            stream = replay.stream_to_train(model, call)
            labels = replay.label_spec(stream.steps[0]["batch"], labels)
            generate = replay.training_batches(stream, features, labels, sentinel=True)
        else:
            recorded = replay.call_batches.get((kind, call))
            if recorded is None:
                return own
            labels = replay.label_spec(recorded[0], labels)
            replay.compare_length(own, replay.evaluation_steps, len(recorded), call)

            def generate() -> Any:
                return (replay.fit_batch(encoded, features, labels) for encoded in recorded)

        replay.fed[kind] = features
        if coordinated:
            path = os.path.join(replay.folder, "batches")
            return clusters.batches_from_file(path, generate(), features, labels)
        return batches.replayed(generate, features, labels, own, replay.watcher(kind, call))

    return read_input


def _train_and_evaluate(replay: Replay, function: Callable[..., Any]) -> Callable[..., Any]:
    if replay.cluster:
        hastened: Callable[..., Any] = clusters.hasten(function, replay.cluster["steps"])
        return hastened

    @functools.wraps(function)
    def train_and_evaluate(model: Any, train_spec: Any, eval_spec: Any, *args: Any, **named: Any) -> Any:
        if dataclasses.is_dataclass(eval_spec) and hasattr(eval_spec, "throttle_secs"):
            eval_spec = dataclasses.replace(eval_spec, throttle_secs=0)  # type: ignore[type-var]
        return function(model, train_spec, eval_spec, *args, **named)

    return train_and_evaluate
