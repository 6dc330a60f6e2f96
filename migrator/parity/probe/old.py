"""Records what an Estimator program computes: initial values, batches, losses, metrics, predictions, weights.

Watches `tf.estimator.Estimator`, of which canned estimators are subclasses, through its `_call_model_fn`: there the
tensors of a batch are known, and hooks can be added to the spec.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import clusters, dropout, exports, loads, program, randomness, seeds
from .recorded import (
    checkpoints,
    containers,
    exercised,
    gradients,
    nudge,
    ownstate,
    repeated,
    session_values,
    store,
    summaries,
)
from .tf1 import lookups, ordering  # fmt: skip

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


def _kind_of(estimator: Any) -> dict[str, bool]:
    """Whether a class of the library says what an Estimator reports, asked for or not."""
    canned = any(".canned." in base.__module__ for base in type(estimator).__mro__)
    return {"canned": True} if canned else {}


def _make_hook(recorder: Recorder, mode: str, stream: int, replicas: list[tuple[Any, Any, Any]], scaffold: Any) -> Any:
    """`replicas` has features, labels and loss of each replica; it is complete when the graph is."""
    import tensorflow as tf

    def loaded(mark: Any) -> dict[str, Any]:
        """What is recorded of the first value of a variable that is loaded."""
        if mark is None:
            return {}
        path, part = mark
        return {
            "from": recorder.redirect.place(path),
            **({} if part is None else {"part": recorder.writer.array(part)}),
        }

    class Hook(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
        """Fetches the batch with the step that uses it, and reads the variables after it."""

        def begin(self) -> None:
            every = tf.compat.v1.global_variables()
            slots = session_values.slot_names(every)
            self.variables = [v for v in every if session_values.logical(v)[0] not in slots]
            self.trainable = {session_values.logical(v)[0] for v in tf.compat.v1.trainable_variables()}
            self.global_step = tf.compat.v1.train.get_global_step()
            self.nudged = recorder.nudges.prepare(self.variables) if recorder.nudges and mode == "train" else []
            self.kind, self.call = recorder.stack[-1] if recorder.stack else (mode, 0)
            graph = tf.compat.v1.get_default_graph()
            self.gradients = gradients.sizes(graph) if not recorder.asynchronous else {}
            self.exercised = exercised.tensors(graph) if mode == "train" and not recorder.asynchronous else {}
            self.taken = 0

        def after_create_session(self, session: Any, coord: Any) -> None:
            if recorder.asynchronous and clusters.job() == "chief":  # before other trainers can have made a step
                self.record_start(session)

        def record_start(self, session: Any) -> None:
            if lookups.in_turn(session.graph):
                recorder.note(lookups.NOTE)
            values = session_values.read(session, self.variables)
            first = stream not in recorder.known
            waits = any(kind == "train" for kind, _ in recorder.stack[:-1])
            marks = recorder.loads.marks(session, scaffold, values, self.variables, waits) if first else {}
            listed = [
                {"name": n, "trainable": n in self.trainable, "value": recorder.writer.array(v), **loaded(marks.get(n))}
                for n, v in values.items()
            ]
            recorder.writer.event(
                "variables",
                stream=stream,
                kind=self.kind,
                call=self.call,
                variables=listed,
                filled=stream in recorder.filled,
            )
            recorder.known.add(stream)

        def before_run(self, run_context: Any) -> Any:
            if recorder.asynchronous:
                return tf.compat.v1.train.SessionRunArgs({"losses": [loss for _, _, loss in replicas]})
            if recorder.earlier and stream not in recorder.known:
                recorder.earlier.restore(run_context.session, stream, self.nudged)
            if recorder.nudges and self.nudged:
                recorder.nudges.apply(run_context.session, self.nudged)
            if stream not in recorder.known or (mode == "train" and not getattr(self, "started", False)):
                self.record_start(run_context.session)
            self.started = True
            batches = [{k: v for k, v in (("f", f), ("l", labels)) if v is not None} for f, labels, _ in replicas]
            fetches: dict[str, Any] = {"batches": batches}
            if mode == "train":
                fetches.update(
                    losses=[loss for _, _, loss in replicas], gradients=self.gradients, exercised=self.exercised
                )
            trees = [(features, labels) for features, labels, _ in replicas]
            feed = recorder.earlier.feed(self.kind, self.call, trees) if recorder.earlier else {}
            self.fed = bool(feed)
            return tf.compat.v1.train.SessionRunArgs(fetches, feed)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            tree, results = recorder.writer.tree, run_values.results
            if recorder.earlier and self.fed and recorder.earlier.ends(self.kind, self.call):
                run_context.request_stop()  # data that are fed do not end by themselves
            if recorder.asynchronous:
                self.record_loss(results["losses"], batch=[None, None], others=[], sums={}, values={})
                self.stop(run_context)
                return
            recorder.features = results["batches"][0].get("f")
            encoded, *others = [[tree(batch.get("f")), tree(batch.get("l"))] for batch in results["batches"]]
            if mode != "train":
                for batch in (encoded, *others):
                    recorder.writer.event("batch", kind=self.kind, call=self.call, stream=stream, batch=batch)
                return
            values = session_values.read(run_context.session, self.variables)
            kept = {}
            size = sum(np.asarray(value).nbytes for value in values.values())
            if size <= recorder.budget:
                recorder.budget -= size
                kept = {name: recorder.writer.array(value) for name, value in values.items()}
            sums = {name: store.checksums(value) for name, value in values.items()}
            sizes = {name: float(size) for name, size in results["gradients"].items()}
            done = {
                "gradients": sizes,
                **{key: np.asarray(value).item() for key, value in results["exercised"].items()},
            }
            self.record_loss(results["losses"], batch=encoded, others=others, sums=sums, values=kept, **done)
            recorder.progress.say(recorder.taken[stream], recorder.steps)
            self.stop(run_context)

        def stop(self, run_context: Any) -> None:
            if recorder.steps and self.taken >= recorder.steps:
                run_context.request_stop()

        def record_loss(self, losses: Any, **fields: Any) -> None:
            loss = float(np.mean([np.asarray(loss).reshape(-1)[0] for loss in losses]))
            self.taken += 1
            recorder.taken[stream] = recorder.taken.get(stream, 0) + 1
            event = {"stream": stream, "call": self.call, "step": recorder.taken[stream], "loss": loss}
            recorder.writer.event("step", **event, **fields)

        def end(self, session: Any) -> None:
            if mode == "train" and not recorder.asynchronous:
                values = session_values.read(session, self.variables)
                kept = {name: recorder.writer.array(value) for name, value in values.items()}
                recorder.writer.event("final", stream=stream, call=self.call, variables=kept)

    return Hook()


def install(recorder: Recorder, draws: randomness.Draws) -> None:
    """Wrap the Estimator base class of this TensorFlow; model_fns draw the numbers that `draws` gives to models."""
    import tensorflow as tf
    from tensorflow_estimator.python.estimator import estimator as module

    base: Any = module.Estimator
    call_model_fn, train, evaluate, evaluate_run, predict, init = (
        base._call_model_fn,
        base.train,
        base.evaluate,
        base._evaluate_run,
        base.predict,
        base.__init__,
    )

    within = threading.local()  # replicas are built in threads that take turns

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def watched_call_model_fn(self: Any, features: Any, labels: Any, mode: Any, config: Any) -> Any:
        # Not converted: strategies convert to AutoGraph what they call on replicas.
        if getattr(within, "model_fn", False):  # of an Estimator that another one extends
            return call_model_fn(self, features, labels, mode, config)
        graph = tf.compat.v1.get_default_graph()
        if graph.seed is None:  # so that a verdict can be had twice
            graph.seed = recorder.seed
        copy = [None if tree is None else containers.shallow(tree) for tree in (features, labels)]
        within.model_fn, within.head = True, False
        try:
            with draws.switched(True):
                spec = call_model_fn(self, features, labels, mode, config)
        finally:
            within.model_fn = False
        kind = {"train": "train", "eval": "evaluate", "infer": "predict"}.get(str(mode), "")
        exported = not kind or (kind == "predict" and [name for name, _ in recorder.stack[-1:]] != ["predict"])
        if within.head and not exported and kind != "train":
            recorder.writer.event("head", kind=kind, call=recorder.stack[-1][1])
        if exported or (kind != "train" and (recorder.cluster or recorder.free)):
            return spec  # nothing runs here; of a cluster, what its evaluator reports is compared
        if kind == "train" and ordering.read_step_first(spec):
            recorder.note(
                "the old program leaves open whether a step reads or assigns its number first: it reads first"
            )
        if kind == "train" and ordering.read_weights_first(spec):
            recorder.note(
                "the old program leaves open whether weights change before they are read: they are read first"
            )
        if kind == "train" and ordering.decay_with_data(spec) and recorder.taken.get(recorder.stream(self)):
            recorder.note(
                "the moments of looked-up tables decay once more in the step that finds no more data, in the old program "
                "alone: compared without that"
            )
        field = {"train": "training_hooks", "evaluate": "evaluation_hooks", "predict": "prediction_hooks"}[kind]
        if spec.scaffold is not None and spec.scaffold.init_fn is not None:
            recorder.filled.add(recorder.stream(self))
        replicas = recorder.replicas_of(graph, kind)
        replicas.append((copy[0], copy[1], spec.loss))
        recorder.loads.watch(spec.scaffold)
        hook = _make_hook(
            recorder, kind, recorder.stream(self), replicas, spec.scaffold
        )  # that of the first replica runs
        return spec._replace(**{field: tuple(getattr(spec, field) or ()) + (hook,)})

    def watched_train(self: Any, *args: Any, **named: Any) -> Any:
        stream = recorder.stream(self)
        call = recorder.begin("train")
        seed = store.seed_of(self.config)
        recorder.writer.event("begin", kind="train", call=call, stream=stream, seed=seed)
        if self.config.save_checkpoints_steps and not recorder.cluster and not recorder.steps:
            recorder.writer.event("cadence", folder=os.path.realpath(self.model_dir))
        try:
            return train(self, *args, **named)
        finally:
            recorder.end()

    def recorded_evaluation(self: Any, run: Any, *args: Any, **named: Any) -> Any:
        call = recorder.begin("evaluate")
        recorder.writer.event("begin", kind="evaluate", call=call, stream=recorder.stream(self), **_kind_of(self))
        recorder.progress.say(recorder.taken.get(recorder.stream(self), 0), recorder.steps, "evaluating")
        try:
            result = run(self, *args, **named)
        finally:
            recorder.end()
        metrics = {key: recorder.writer.array(value) for key, value in result.items()}
        name = None if run is evaluate_run else named.get("name", args[4] if len(args) > 4 else None) or ""
        recorder.writer.event("metrics", call=call, stream=recorder.stream(self), metrics=metrics, name=name)
        return result

    def watched_evaluate(self: Any, *args: Any, **named: Any) -> Any:
        return recorded_evaluation(self, evaluate, *args, **named)

    def watched_evaluate_run(self: Any, *args: Any, **named: Any) -> Any:
        if recorder.stack and recorder.stack[-1][0] == "evaluate":
            return evaluate_run(self, *args, **named)
        return recorded_evaluation(self, evaluate_run, *args, **named)  # of a hook, amid a training

    def watched_predict(self: Any, *args: Any, **named: Any) -> Iterator[Any]:
        call = recorder.begin("predict")
        recorder.end()
        chosen = bool(named.get("predict_keys", args[1] if len(args) > 1 else None))
        told = {**_kind_of(self), **({"chosen": True} if chosen else {})}
        recorder.writer.event("begin", kind="predict", call=call, stream=recorder.stream(self), **told)
        recorder.progress.say(recorder.taken.get(recorder.stream(self), 0), recorder.steps, "predicting")
        single = named.get("yield_single_examples", args[4] if len(args) > 4 else True)
        rows: list[Any] = []
        recorder.open_predictions[call] = (rows, bool(single))
        complete = False
        values = predict(self, *args, **named)
        try:
            while True:
                recorder.stack.append(("predict", call))  # the generator builds its graph at the first request
                try:
                    row = next(values)
                except StopIteration:
                    complete = True
                    return
                finally:
                    recorder.stack.pop()
                rows.append(row)
                yield row
        finally:
            recorder.close_prediction(call, complete)

    def watched_init(self: Any, *args: Any, **named: Any) -> None:
        make = tempfile.mkdtemp

        def mkdtemp(*args: Any, **named: Any) -> Any:
            folder = make(*args, **named)
            recorder.unnamed.add(os.path.basename(folder))
            return folder

        tempfile.mkdtemp = mkdtemp
        try:
            init(self, *args, **named)
        finally:
            tempfile.mkdtemp = make
        _own_folder(recorder, self)

    _watch_heads(within)
    base._call_model_fn, base.train, base.evaluate = watched_call_model_fn, watched_train, watched_evaluate
    base._evaluate_run, base.predict, base.__init__ = watched_evaluate_run, watched_predict, watched_init
    if recorder.free:
        program.redirect_exports(recorder.redirect, base)
    else:
        exports.watch_estimators(recorder, base)


def _watch_heads(within: threading.local) -> None:
    """Let `within.head` be true once a head has made a spec: it reports what it does whether or not the program asks for it."""
    from tensorflow_estimator.python.estimator.canned import head as canned
    from tensorflow_estimator.python.estimator.head import base_head

    for owner in (canned._Head, base_head.Head):

        def made(self: Any, *args: Any, _make: Any = owner.create_estimator_spec, **named: Any) -> Any:
            within.head = True
            return _make(self, *args, **named)

        owner.create_estimator_spec = made


def _own_folder(recorder: Recorder, estimator: Any) -> None:
    """Give the estimator an empty model_dir inside the sandbox."""
    import shutil

    given = str(estimator._model_dir)
    place = recorder.redirect.claim(given)
    if place != given:
        estimator._model_dir = place
        estimator._config = copy.copy(estimator._config)  # its own `replace` cannot copy every strategy
        estimator._config._model_dir = place
    full = os.path.abspath(place)
    if full not in recorder.folders and clusters.of_an_earlier_run(full, recorder.started):
        shutil.rmtree(full, ignore_errors=True)
        recorder.note(f"{given} held a checkpoint of an earlier run; both sides start without it")
        recorder.writer.event("emptied", path=os.path.relpath(full, recorder.redirect.sandbox))
    recorder.folders.add(full)


def _watch(recorder: Recorder, config: dict[str, Any]) -> None:
    """Record all that a replay needs, and let nothing depend on chance."""
    dropout.install(recorder.note)
    lookups.install()
    if config.get("mode") == "live":
        from . import shuffling

        shuffling.install(recorder.writer, estimators=True)
    gradients.install()
    exercised.install()
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
