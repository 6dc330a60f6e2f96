"""Watches `tf.estimator.Estimator`, of which canned estimators are subclasses, through its `_call_model_fn`: there the
tensors of a batch are known, and hooks can be added to the spec."""

from __future__ import annotations

import copy
import os
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

from .. import clusters, exports, program, randomness
from ..recorded import containers, store
from . import ordering
from .recorder import Recorder
from .step_hook import make_hook


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
        hook = make_hook(
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
    """Give the estimator a model_dir inside the sandbox: an empty one, if the program is not to go on from what it holds."""
    import shutil

    given = str(estimator._model_dir)
    place = recorder.redirect.claim(given)
    if place != given:
        estimator._model_dir = place
        estimator._config = copy.copy(estimator._config)  # its own `replace` cannot copy every strategy
        estimator._config._model_dir = place
    full = os.path.abspath(place)
    if full not in recorder.folders and not recorder.resumed and clusters.of_an_earlier_run(full, recorder.started):
        shutil.rmtree(full, ignore_errors=True)
        recorder.note(f"{given} held a checkpoint of an earlier run; both sides start without it")
        recorder.writer.event("emptied", path=os.path.relpath(full, recorder.redirect.sandbox))
    recorder.folders.add(full)


def _kind_of(estimator: Any) -> dict[str, bool]:
    """Whether a class of the library says what an Estimator reports, asked for or not."""
    function = estimator._model_fn
    if getattr(function, "__module__", "").endswith(".extenders"):  # of `add_metrics`, which holds another Estimator
        held = dict(zip(function.__code__.co_freevars, function.__closure__))
        return _kind_of(held["estimator"].cell_contents) if "estimator" in held else {}
    canned = any(".canned." in base.__module__ for base in type(estimator).__mro__)
    return {"canned": True} if canned else {}
