"""Records what an Estimator program computes: initial values, batches, losses, metrics, predictions, weights."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from . import clusters, dropout, exports, program, randomness, seeds
from .recorded import checkpoints, exercised, gradients, ownstate, summaries
from .tf1 import lookups, throttles
from .tf1.estimators import install
from .tf1.recorder import Recorder


def _watch(recorder: Recorder, config: dict[str, Any]) -> None:
    """Record all that a replay needs, and let nothing depend on chance."""
    dropout.install(recorder.note)
    lookups.install()
    throttles.install(recorder.note)
    if config.get("mode") == "live":
        from . import shuffling

        shuffling.install(recorder.writer, estimators=True)
    gradients.install()
    exercised.install()
    exercised.watch_choices(recorder.writer)
    recorder.loads.install()
    ownstate.install()
    checkpoints.watch(recorder.writer, config["sandbox"])
    install(recorder, randomness.install(recorder.note, active=False))


def main(config_path: str) -> int:
    """Run the old program that the configuration names, recorded; the exit status of the process."""
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    recorder = Recorder(config)
    import tensorflow as tf

    v1 = int(tf.__version__.split(".")[0]) < 2
    if not hasattr(getattr(tf.compat, "v1", tf), "estimator"):
        print(f"TensorFlow {tf.__version__} has no Estimator; the old side needs TensorFlow 1.15 to 2.15")
        return 3
    versions = {"python": sys.version.split()[0], "tensorflow": tf.__version__, "numpy": np.__version__}
    dialect = config.get("dialect", "auto")
    if not v1 and (dialect == "v1" or dialect == "auto"):
        from .tf1 import dialect as loader

        if dialect == "v1" or loader.written_for_v1(config["folder"], config["entry"] or config["module"] or ""):
            loader.install(config["folder"])
            versions["dialect"] = "tensorflow stands for tensorflow.compat.v1"
    recorder.writer.event("meta", side="old", versions=versions)
    if recorder.free:
        install(recorder, randomness.Draws(recorder.note, active=False))
    else:
        _watch(recorder, config)
    if recorder.cluster:
        clusters.hasten_estimators(recorder.cluster["steps"], recorder.cluster["mirrored"])
    seeds.shift(config.get("seed", 0))
    program.redirect_tensorflow(recorder.redirect)
    program.guard_deletions(recorder.redirect, recorder.note)
    recorder.progress.say(0, recorder.steps, "starting")
    program.run(
        config.get("entry", ""),
        config.get("module", ""),
        config["args"],
        config["folder"],
        config.get("seed", 0),
        config["output"],
        config.get("cwd", ""),
    )
    for call in sorted(recorder.open_predictions):
        recorder.close_prediction(call, False)
    if not recorder.cluster and not recorder.free:
        exports.record_kept(recorder.writer, recorder.exported)
        summaries.record(recorder.writer, config["sandbox"], recorder.started, recorder.unnamed)
    recorder.writer.event("redirected", prefixes=recorder.redirect.prefixes)
    recorder.writer.event("done")
    return 0
