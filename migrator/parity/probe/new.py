"""Runs the new program with the recorded initial values and batches, and records what it computes.

Watches the public methods of `tf.keras.Model`: `fit`, `train_on_batch`, `evaluate`, `predict`, `predict_on_batch`. The
program keeps its own steps, epochs, callbacks and checkpoints, so one step fewer, or weights not restored, is seen.
"""

from __future__ import annotations

import inspect
import json
import os
import shutil
import sys
import time
from typing import Any, Callable

import numpy as np

from . import betas, clusters, distributed, dropout, exports, free, program, randomness, seeds, steps, vendored
from .keras_choice import choose_keras
from .recorded import batches, checkpoints, containers, mapping, store, summaries
from .replay import Replay, Stream


def _arguments(function: Callable[..., Any], self: Any, args: Any, named: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, with ``**kwargs`` merged in."""
    bound = inspect.signature(function).bind(self, *args, **named)
    found = dict(bound.arguments)
    found.pop(next(iter(found)))
    for key in ("kwargs", "_"):
        found.update(found.pop(key, {}) if isinstance(found.get(key), dict) else {})
    found.pop("_use_cached_eval_dataset", None)  # the cached iterator would be the program's own
    return found


def install(replay: Replay) -> None:
    """Wrap `tf.keras.Model`, whichever Keras that is."""
    import tensorflow as tf

    base: Any = tf.keras.Model
    fit, evaluate, predict = base.fit, base.evaluate, base.predict
    predict_on_batch, train_on_batch = base.predict_on_batch, base.train_on_batch
    busy: list[str] = []
    steps.watch_gradients()
    if not replay.cluster:
        steps.compile_single_steps(base)
    distributed.watch_strategies()

    def ready(stream: Stream, model: Any, encoded: Any, features: Any, may_wait: bool = True) -> None:
        replay.adopt(stream, model, replay.conform.tree(encoded[0], features), may_wait)
        steps.record_losses(stream, model)

    def evaluate_again(model: Any, data: Any, limit: Any) -> Any:
        with steps.one_step_per_call(model):
            return evaluate(model, data, steps=limit, verbose=0, return_dict=True)

    def infer_spec(encoded: Any) -> Any:
        return _spec_of_recording(replay, encoded)

    def watched_fit(self: Any, *args: Any, **named: Any) -> Any:
        if "fit" in busy:
            return fit(self, *args, **named)
        given = _arguments(fit, self, args, named)
        call = replay.calls["train"] = replay.calls["train"] + 1
        stream = replay.stream_to_train(self, call)
        seed = {"seed": store.seed_of(self.run_config)} if hasattr(self, "run_config") else {}
        replay.writer.event("begin", kind="train", call=call, stream=stream.index, **seed)
        encoded = stream.steps[0]["batch"]
        if replay.cluster.get("asynchronous"):  # trainers race: only the start is made equal
            replay.adopt(stream, self, None)
            return fit(self, **given)
        if "train" in replay.fed:  # what the strategy shares out are recorded batches
            features = replay.fed.pop("train")
            ready(stream, self, encoded, features)
        else:
            own = distributed.shared_out(given.get("x"))
            if own is None:
                own = batches.own_dataset(
                    given.get("x"), given.get("y"), given.get("sample_weight"), given.get("batch_size")
                )
            spec = own.element_spec if own is not None else (infer_spec(encoded[0]), infer_spec(encoded[1]))
            features, labels, _ = batches.split_spec(spec)
            labels = replay.label_spec(encoded, labels)
            stream.counted = own is not None and own.cardinality() != tf.data.UNKNOWN_CARDINALITY
            _create_by_training(self, features, labels)
            ready(stream, self, encoded, features)
            generator = replay.training_batches(stream, features, labels, sentinel=own is not None)
            if steps.is_coordinated(self):
                path = os.path.join(replay.folder, "batches")
                given["x"] = clusters.batches_from_file(path, generator(), features, labels)
            else:
                replayed = batches.replayed(generator, features, labels, own, replay.watcher("train", call))
                given["x"] = distributed.shared_out_like(given.get("x"), replayed)
            for key in ("y", "sample_weight", "batch_size"):
                given.pop(key, None)
        given["callbacks"] = steps.callbacks(replay, stream, given.get("callbacks"))
        busy.append("fit")
        before = stream.taken
        try:
            with steps.one_step_per_call(self):
                return fit(self, **given)
        finally:
            busy.remove("fit")
            replay.finish(stream)
            taken = (stream.taken - before) * stream.replicas
            replay.writer.event("trained", stream=stream.index, call=call, batches=taken)

    def watched_train_on_batch(self: Any, *args: Any, **named: Any) -> Any:
        given = _arguments(train_on_batch, self, args, named)
        stream = replay.stream_to_train(self)
        encoded = stream.steps[min(stream.taken, len(stream.steps) - 1)]["batch"]
        features = batches.spec_of(given["x"])
        labels = replay.label_spec(encoded, None if given.get("y") is None else batches.spec_of(given["y"]))
        ready(stream, self, encoded, features, may_wait=False)
        fitted = batches.tensors(replay.fit_batch(encoded, features, labels))
        given["x"] = fitted[0]
        if labels is not None:
            given["y"] = fitted[1]
        result = train_on_batch(self, **given)
        replay.after_step(stream)
        replay.finish(stream)
        return result

    def watched_evaluate(self: Any, *args: Any, **named: Any) -> Any:
        if "evaluate" in busy:
            return evaluate(self, *args, **named)
        given = _arguments(evaluate, self, args, named)
        replay.calls["evaluate"] += 1
        call = replay.calls["evaluate"]
        replay.writer.event("begin", kind="evaluate", call=call)
        recorded, again = replay.call_batches.get(("evaluate", call)), None
        own, left = None, recorded is not None and "evaluate" not in replay.fed
        if recorded is not None and "evaluate" in replay.fed:
            again = given.get("x")
            _adopt_untrained(replay, self, "evaluate", call, recorded[0], replay.fed.pop("evaluate"))
        elif recorded is not None and not (steps.is_coordinated(self) and replay.cluster.get("asynchronous")):
            own = batches.own_dataset(
                given.get("x"), given.get("y"), given.get("sample_weight"), given.get("batch_size")
            )
            spec = own.element_spec if own is not None else tuple(infer_spec(part) for part in recorded[0])
            features, labels, _ = batches.split_spec(spec)
            labels = replay.label_spec(recorded[0], labels)
            _adopt_untrained(replay, self, "evaluate", call, recorded[0], features)

            def generate() -> Any:
                return (replay.fit_batch(encoded, features, labels) for encoded in recorded)

            if steps.is_coordinated(self):  # workers read them
                path = os.path.join(replay.folder, f"evaluation{call}")
                again = clusters.batches_from_file(path, generate(), features, labels).take(len(recorded))
                given["x"] = again
            else:
                again = batches.replayed(generate, features, labels, own, None)
                given["x"] = batches.replayed(generate, features, labels, own, replay.watcher("evaluate", call))
                if own is not None and own.cardinality() == len(recorded):
                    # A step at the end of data that are not counted adds to what does not depend on them.
                    counted = tf.data.experimental.assert_cardinality(len(recorded))
                    again, given["x"] = again.apply(counted), given["x"].apply(counted)
            for key in ("y", "sample_weight", "batch_size"):
                given.pop(key, None)
        replay.progress.say(max((s.taken for s in replay.streams), default=0), replay.limit, "evaluating")
        busy.append("evaluate")
        try:
            with steps.one_step_per_call(self):
                metrics = evaluate(self, **{**given, "return_dict": True})  # names: Keras 3 has others in its list
            result = metrics if given.get("return_dict") else steps.listed(metrics)
            if left and recorded is not None:  # data of which a generator keeps count are read once first
                replay.compare_length(own, given.get("steps"), len(recorded), call)
            if again is not None and getattr(self, "loss", None) and "loss" in metrics:
                metrics = {
                    **metrics,
                    "loss": _loss_of_batches(replay, self, call, metrics["loss"], again, given.get("steps"), evaluate),
                }
            if again is not None:
                replay.evaluate_with_old_weights(
                    call,
                    self,
                    metrics,
                    lambda: evaluate_again(self, again, given.get("steps")),
                )
        finally:
            busy.remove("evaluate")
        kept = {key: replay.writer.array(value) for key, value in metrics.items()}
        if getattr(self, "optimizer", None) is not None and "global_step" not in kept:
            kept["global_step"] = replay.writer.array(int(self.optimizer.iterations.numpy()))
        replay.writer.event("metrics", call=call, metrics=kept)
        return result

    def watched_predict(self: Any, *args: Any, **named: Any) -> Any:
        if "predict" in busy:
            return predict(self, *args, **named)
        given = _arguments(predict, self, args, named)
        replay.calls["predict"] += 1
        call = replay.calls["predict"]
        replay.writer.event("begin", kind="predict", call=call)
        recorded = replay.call_batches.get(("predict", call))
        if recorded is not None:
            own = batches.own_dataset(given.get("x"), None, None, given.get("batch_size"))
            spec = own.element_spec if own is not None else infer_spec(recorded[0][0])
            features = batches.split_spec(spec)[0]
            _adopt_untrained(replay, self, "predict", call, recorded[0], features)

            def generate() -> Any:
                return (replay.fit_batch(encoded, features, None) for encoded in recorded)

            given["x"] = batches.replayed(generate, features, None, own, replay.watcher("predict", call))
            given.pop("batch_size", None)
        replay.progress.say(max((s.taken for s in replay.streams), default=0), replay.limit, "predicting")
        busy.append("predict")
        try:
            with steps.one_step_per_call(self):
                result = predict(self, **given)
        finally:
            busy.remove("predict")
        _record_predictions(replay, call, result)
        return result

    def watched_predict_on_batch(self: Any, x: Any) -> Any:
        if "predict" in busy:
            return predict_on_batch(self, x)
        call = replay.calls["predict"]
        recorded = replay.call_batches.get(("predict", call), [])
        if not replay.outputs or len(replay.outputs) >= len(recorded):
            replay.outputs.clear()
            if call and ("predict", call + 1) not in replay.call_batches and not replay.complete.get(call, True):
                return predict_on_batch(self, x)  # the old program had stopped reading by then
            replay.calls["predict"] += 1
            call = replay.calls["predict"]
            replay.writer.event("begin", kind="predict", call=call)
            recorded = replay.call_batches.get(("predict", call), [])
        if recorded:
            features = batches.spec_of(x)
            encoded = recorded[len(replay.outputs)]
            _adopt_untrained(replay, self, "predict", call, encoded, features)
            watch = replay.watcher("predict", call)
            if watch is not None:
                watch(x)
            x = batches.tensors(replay.conform.tree(encoded[0], features))
        result = predict_on_batch(self, x)
        replay.outputs.append(_flat(result))
        rows = {key: containers.joined([np.asarray(part[key]) for part in replay.outputs]) for key in replay.outputs[0]}
        _record_predictions(replay, call, rows)
        return result

    base.fit, base.evaluate, base.predict = watched_fit, watched_evaluate, watched_predict
    base.predict_on_batch, base.train_on_batch = watched_predict_on_batch, watched_train_on_batch


def _loss_of_batches(
    replay: Replay,
    model: Any,
    call: int,
    loss: float,
    data: Any,
    limit: Any,
    evaluate: Callable[..., Any],
) -> float:
    """The loss of an evaluation as the mean over its batches, where that is the one of the old program; else as it is.

    Keras reports the mean over examples of a loss that `compile` was given: a shorter last batch counts less there. Batches
    behind the first `limit`, if there is one, do not count.
    """
    import tensorflow as tf

    recorded = replay.evaluated.get(call, (None, 0, {}))[2].get("loss")
    strategy = getattr(model, "distribute_strategy", None)
    together = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy) or not isinstance(data, tf.data.Dataset)
    if recorded is None or together or np.isclose(loss, wanted := float(replay.reader.array(recorded)), 1e-5):
        return loss
    if limit is not None:
        data = data.take(int(limit))
    single = (tf.data.Dataset.from_tensors(batch) for batch in data)
    mean = float(np.mean([evaluate(model, batch, verbose=0, return_dict=True)["loss"] for batch in single]))
    if not np.isclose(mean, wanted, 1e-4):
        return loss
    replay.note(
        f"evaluation {call}: the loss is {loss:.6g} as a mean over examples, which Keras reports, and {mean:.6g} as one over "
        "batches, as an Estimator has it: compared is the latter"
    )
    return mean


def _adopt_untrained(replay: Replay, model: Any, kind: str, call: int, encoded: Any, features: Any) -> None:
    """A program that only evaluates or predicts still gets the values that the old one had."""
    stream = replay.streams[replay.call_stream.get((kind, call), 0)]
    if stream.model is None and stream.first_kind != "train":
        replay.adopt(stream, model, replay.conform.tree(encoded[0], features))


def _create_by_training(model: Any, features: Any, labels: Any) -> None:
    """Let a model create the variables that only its trainings have: one that keeps the graphs of TensorFlow 1, and one
    whose `call` is told the labels."""
    import tensorflow as tf

    batch = (features,) if labels is None else (features, labels)
    if hasattr(model, "tf1_variables"):
        if not model.tf1_variables:
            tf.function(model.train_step).get_concrete_function(batch)
    elif labels is not None and "labels" in inspect.signature(model.call).parameters:
        tf.function(model.test_step).get_concrete_function(batch)


def _flat(result: Any) -> dict[str, Any]:
    """Outputs of a model by key, as `Estimator.predict` names them."""
    if isinstance(result, dict):
        flat = {}
        for key, value in result.items():
            nested = _flat(value)
            flat.update({key if inner == "output" else key + "/" + inner: part for inner, part in nested.items()})
        return flat
    if isinstance(result, (list, tuple)):
        return {str(index): np.asarray(value) for index, value in enumerate(result)}
    return {"output": np.asarray(result)}


def _record_predictions(replay: Replay, call: int, result: Any) -> None:
    outputs = {key: replay.writer.array(value) for key, value in _flat(result).items()}
    replay.writer.event("predictions", call=call, outputs=outputs, complete=True)


def _spec_of_recording(replay: Replay, encoded: Any) -> Any:
    """Specs made from a recorded batch, for programs whose input has none to ask for."""
    import tensorflow as tf

    if encoded is None:
        return None
    if "dict" in encoded:
        return {key: _spec_of_recording(replay, item) for key, item in encoded["dict"].items()}
    if "tuple" in encoded:
        return tuple(_spec_of_recording(replay, item) for item in encoded["tuple"])
    if "sparse" in encoded:
        _, values, shape = (replay.reader.array(part) for part in encoded["sparse"])
        return tf.SparseTensorSpec([None] * len(shape), tf.string if values.dtype == object else values.dtype)
    array = replay.reader.array(encoded)
    shape = [None] + list(array.shape[1:]) if array.ndim else []
    return tf.TensorSpec(shape, tf.string if array.dtype == object else array.dtype)


def main(config_path: str) -> int:
    """Run the new program that the configuration names, under replay; the exit status of the process."""
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    choose_keras("new")
    started = time.time()
    import tensorflow as tf
    import tensorflow.saved_model  # by which name Keras 3 imports it, and would get one that nobody watches

    keras = tf.keras.Model.__module__.split(".")[0]
    versions = {
        "python": sys.version.split()[0],
        "tensorflow": tf.__version__,
        "keras": "{} ({})".format(getattr(sys.modules[keras], "__version__", "?"), keras),
        "numpy": np.__version__,
    }
    if config.get("mode") == "free":
        return free.main(config, versions)
    replay = Replay(config)
    redirect = program.Redirect(config["sandbox"])
    for event in replay.reader.of("redirected"):
        redirect.prefixes += event["prefixes"]
    for event in replay.reader.of("emptied"):
        shutil.rmtree(os.path.join(config["sandbox"], event["path"]), ignore_errors=True)
    replay.writer.event("meta", side="new", versions=versions)
    dropout.install(replay.note)
    betas.install(replay.note)
    randomness.install(replay.note, active=True)
    if replay.live:
        from . import shuffling

        shuffling.install(replay.writer, estimators=False)
    replay.files.install()
    replay.initializers.install()
    if replay.cluster.get("watched", True):
        install(replay)
    vendored.install(replay, config["folder"])
    exports.watch_saves(replay)
    checkpoints.watch(replay.writer, config["sandbox"])
    seeds.begin(config.get("seed", 0))
    program.redirect_tensorflow(redirect)
    program.guard_deletions(redirect, replay.note)
    replay.progress.say(0, replay.limit, "starting")
    args = redirect.arguments(config["args"])
    try:
        program.run(
            config.get("entry", ""),
            config.get("module", ""),
            args,
            config["folder"],
            config.get("seed", 0),
            config["output"],
            config.get("cwd", ""),
        )
    except (mapping.MappingError, batches.InputMismatch) as error:
        replay.writer.event("mismatch", text=str(error))
        print(error, file=sys.stderr)
        return 4
    if "tensorflow_estimator.python.estimator.estimator" in sys.modules:
        replay.note("the new program still uses tf.estimator: what runs there is not compared")
    for call in sorted(replay.open_predictions):
        vendored.close(replay, call)
    exports.note_others(replay, config["sandbox"], started)
    if not replay.cluster:
        exports.record_kept(replay.writer, replay.exported)
        summaries.record(replay.writer, config["sandbox"], started)
    replay.writer.event("seeded", seeds=sorted(seeds.GIVEN))
    replay.writer.event("done")
    return 0
