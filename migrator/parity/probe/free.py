"""Runs the new program as its owner would, and records what it says of itself: losses of trainings, metrics of evaluations."""

from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np

from . import program, seeds, steps, vendored
from .recorded import store


class Free:
    """What is known while the new program runs freely; `vendored` wraps functions for it as for a `Replay`."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.writer = store.Writer(config["output"])
        self.progress = program.Progress(config["progress"])
        self.limit: int = config.get("steps") or 0
        self.taken = 0
        self.calls = {"train": 0, "evaluate": 0, "predict": 0}
        self.cluster: dict[str, Any] = {}
        self.call_batches: dict[tuple[str, int], list[Any]] = {}
        self.fed: dict[str, Any] = {}
        self.open_predictions: dict[int, tuple[list[Any], bool]] = {}
        self.evaluation_steps: Any = None

    def note(self, text: str) -> None:
        """Write a note for the report."""
        self.writer.event("note", text=text)


def install(free: Free) -> None:
    """Watch `fit` and `evaluate` of `tf.keras.Model`."""
    import tensorflow as tf

    base: Any = tf.keras.Model
    fit, evaluate = base.fit, base.evaluate
    busy: list[str] = []

    class Losses(tf.keras.callbacks.Callback):  # type: ignore[misc]
        """Logs hold means of an epoch so far; what is recorded are those of the steps between."""

        trained = 0

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.seen, self.total = 0, 0.0

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            taken, total = batch + 1 - self.seen, (batch + 1) * float((logs or {}).get("loss", np.nan))
            free.taken += taken
            free.writer.event("step", stream=0, step=free.taken, loss=(total - self.total) / taken, steps=taken)
            self.seen, self.total = batch + 1, total
            free.progress.say(free.taken, free.limit)
            self.trained += taken
            if free.limit and self.trained >= free.limit:
                self.model.stop_training = True

    def watched_fit(self: Any, *args: Any, **named: Any) -> Any:
        if "fit" in busy:
            return fit(self, *args, **named)
        given = named.get("callbacks")
        if given is None or isinstance(given, (list, tuple)):
            named["callbacks"] = [*(given or ()), Losses()]
        elif hasattr(given, "append"):  # a CallbackList
            given.append(Losses())
        else:
            named["callbacks"] = [given, Losses()]
        busy.append("fit")
        try:
            with steps.one_step_per_call(self):
                return fit(self, *args, **named)
        finally:
            busy.remove("fit")

    def watched_evaluate(self: Any, *args: Any, **named: Any) -> Any:
        if "evaluate" in busy:
            return evaluate(self, *args, **named)
        free.calls["evaluate"] += 1
        free.progress.say(free.taken, free.limit, "evaluating")
        busy.append("evaluate")
        try:
            metrics = evaluate(self, *args, **{**named, "return_dict": True})
        finally:
            busy.remove("evaluate")
        kept = {key: free.writer.array(value) for key, value in metrics.items()}
        free.writer.event("metrics", call=free.calls["evaluate"], metrics=kept)
        return metrics if named.get("return_dict") else steps.listed(metrics)

    base.fit, base.evaluate = watched_fit, watched_evaluate


def main(config: dict[str, Any], versions: dict[str, str]) -> int:
    """Run the new program that the configuration names; the exit status of the process."""
    free = Free(config)
    redirect = program.Redirect(config["sandbox"])
    reader = store.Reader(config["recording"])
    for event in reader.of("redirected"):
        redirect.prefixes += event["prefixes"]
    for event in reader.of("emptied"):
        shutil.rmtree(os.path.join(config["sandbox"], event["path"]), ignore_errors=True)
    free.writer.event("meta", side="new", versions=versions)
    install(free)
    vendored.install(free, config["folder"])
    seeds.begin(config["seed"])
    program.redirect_tensorflow(redirect)
    program.guard_deletions(redirect, free.note)
    free.progress.say(0, free.limit, "starting")
    args = redirect.arguments(config["args"])
    program.run(
        config.get("entry", ""),
        config.get("module", ""),
        args,
        config["folder"],
        config["seed"],
        config["output"],
        config.get("cwd", ""),
    )
    free.writer.event("done")
    return 0
