"""What is known while the new program runs: the recording, which model stands for which, and how far each one is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import distributed, program
from .recorded import averages, batches, mapping, store
from .recorded.drawn import Initializers
from .recorded.files import Files
from .recorded.first_values import FirstValues
from .recorded.slots import AVERAGE
from .tf1.recorder import FULL_STEP_BYTES


class Stream:
    """One model of the old program: its initial values and its training steps."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.variables: list[dict[str, Any]] = []
        self.averages: dict[str, Any] = {}
        """Where the moving averages of weights are at the end of the last training, by their names."""
        self.first_kind = ""
        self.steps: list[dict[str, Any]] = []
        self.model: Any = None
        self.taken = 0
        self.pairs: list[tuple[str, Any]] = []
        self.first_values: FirstValues | None = None
        self.replicas = 1
        self.coordinated = False
        self.counted = False
        """Whether Keras is given data whose number it knows, which replayed ones hide: it counts one step too many there."""
        self.counter: Any = None  # steps taken, by replica
        self.losses: Any = None  # by replica and step
        self.reported: Any = None  # the loss in the logs of the first step


class Replay:
    """The recording of the old side, and the recording of the new side that is being written."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._later: list[tuple[str, str]] = []
        self.reader = store.Reader(config["recording"])
        self.writer = store.Writer(config["output"])
        self.files = Files()
        self.initializers = Initializers()
        self.progress = program.Progress(config["progress"])
        self.live = config.get("mode") == "live"
        self.cluster: dict[str, Any] = config.get("cluster") or {}
        self.folder: str = config["output"]
        self.limit: int = config.get("steps") or 0
        self.explicit: list[tuple[str, str]] = [(a, b) for a, b in config.get("variables", ())]
        self.derived: list[list[tuple[str, str]]] = [[(a, b) for a, b in pairs] for pairs in config.get("derived", ())]
        self.notes: set[str] = set()
        self.conform = batches.Conform(self.reader, self.note)
        self.budget = FULL_STEP_BYTES
        self.calls = {"train": 0, "evaluate": 0, "predict": 0}
        self.outputs: list[dict[str, Any]] = []
        self.open_predictions: dict[int, tuple[list[Any], bool]] = {}
        self.exported: list[str] = []
        self.streams: list[Stream] = []
        self.call_batches: dict[tuple[str, int], list[Any]] = {}
        self.call_stream: dict[tuple[str, int], int] = {}
        self.complete: dict[int, bool] = {}
        self.fed: dict[str, Any] = {}
        """Specs of features, by ``train`` or ``evaluate``, where the program's input already gives recorded batches."""
        self.evaluation_steps: Any = None
        self.evaluated: dict[int, tuple[Stream, int, dict[str, Any]]] = {}
        for event in self.reader.events:
            self._read(event)

    def _read(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        if "stream" in event:
            while len(self.streams) <= event["stream"]:
                self.streams.append(Stream(len(self.streams)))
            stream = self.streams[event["stream"]]
        if kind == "variables" and not stream.variables:
            stream.variables, stream.first_kind = event["variables"], event["kind"]
        elif kind == "step":
            stream.steps.append(event)
        elif kind == "averages":
            stream.averages = event["variables"]
        elif kind == "batch":
            self.call_batches.setdefault((event["kind"], event["call"]), []).append(event["batch"])
        elif kind == "begin":
            self.call_stream[event["kind"], event["call"]] = event["stream"]
        elif kind == "metrics":
            self.evaluated[event["call"]] = (stream, len(stream.steps), event["metrics"])
        elif kind == "predictions":
            self.complete[event["call"]] = event["complete"]

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.add(text)
            self.writer.event("note", text=text)

    # Models and streams

    def stream_to_train(self, model: Any, call: int = 0) -> Stream:
        """The stream that `model` goes on with. Raises LookupError if the old program trained nothing more.

        A model that is new goes on with what the old program trained in the same `call`, the number of a training, if
        there is more of it: several models may be trained in turn, and built anew each time.
        """
        for stream in self.streams:
            if stream.model is model:
                return stream
        same = self.call_stream.get(("train", call))
        if same is not None and self.streams[same].taken < len(self.streams[same].steps):
            return self.streams[same]
        trained = [stream for stream in self.streams if stream.steps]
        for stream in trained:
            if stream.model is None:
                return stream
        for stream in trained:  # the program built its model anew, and should have restored it
            if stream.taken < len(stream.steps):
                return stream
        if trained:
            return trained[-1]
        raise LookupError("the new program trains a model; the old one trained none")

    def adopt(self, stream: Stream, model: Any, features: Any, may_wait: bool = False) -> None:
        """Build `model` on a batch, pair its variables with those of `stream`, and give them their initial values.

        `may_wait`: what is still to be loaded is left to `FirstValues.begin`.
        """
        if stream.model is model:
            return
        if not getattr(model, "tf1_variables", None) and features is not None:  # else they are there
            self._build(model, features)
        pairs = self._pair(stream, model)
        fresh = stream.model is None
        stream.model = model
        stream.pairs = [(pair.old.name, self._found[pair.new.key]) for pair in pairs]
        self.writer.event(
            "mapping",
            stream=stream.index,
            pairs=[[pair.old.name, pair.new.name, pair.how, list(pair.old.shape)] for pair in pairs],
        )
        if not fresh:
            return
        copies = copies_at_start(model)
        stream.first_values = FirstValues(self.reader, self.writer, stream.index, stream.variables)
        stream.first_values.give(stream.pairs, self.files, may_wait, self.initializers)
        for copy, variable in copies:
            copy.assign(variable)

    @staticmethod
    def _build(model: Any, features: Any) -> None:
        """Create the variables by a call that writes no summaries."""
        import tensorflow as tf

        strategy = getattr(model, "distribute_strategy", None)
        with strategy.scope() if strategy else contextlib.nullcontext(), tf.summary.record_if(False):
            model(batches.tensors(features))

    def _pair(self, stream: Stream, model: Any) -> list[mapping.Pair]:
        old = [
            mapping.Variable(item["name"], tuple(item["value"]["shape"]), item["trainable"], index)
            for index, item in enumerate(stream.variables)
        ]
        self._found = model_variables(model)
        new = [
            mapping.Variable(variable_name(v), tuple(int(n) for n in v.shape), bool(v.trainable), index)
            for index, v in enumerate(self._found)
        ]
        explicit = [pair for entry in self.explicit for pair in self._known(model, old, new, *entry, said=True)]
        taken = {id(variable) for pair in explicit for variable in pair}
        derived = [
            [pair for entry in entries for pair in self._known(model, old, new, *entry)] for entries in self.derived
        ]
        explicit += mapping.best_fitting([p for p in pairs if not taken & {*map(id, p)}] for pairs in derived)
        entries = [entry for entries in self.derived for entry in entries]
        # The first step makes their partners: sums of gradients, which begin at zero.
        self._later = [(name, path) for name, path in entries if path.endswith(".*") and not resolve(model, path)]
        later = {name for pattern, _ in self._later for name in mapping.expand(pattern, [v.name for v in old])}
        return mapping.match([v for v in old if v.trainable or v.name not in later], new, explicit)

    def _known(
        self,
        model: Any,
        old: list[mapping.Variable],
        new: list[mapping.Variable],
        pattern: str,
        path: str,
        said: bool = False,
    ) -> list[tuple[mapping.Variable, mapping.Variable]]:
        """The pairs that a pattern of names and an attribute path stand for; none where they fit different numbers of
        variables, which is noted where the user `said` them."""
        if pattern.endswith("/"):
            return pairs_of_layers(model, pattern, path, old, list(zip(new, self._found)), ordered=True)
        by_name = {variable.name: variable for variable in old}
        names, targets = mapping.expand(pattern, list(by_name)), resolve(model, path)
        if len(names) != len(targets):
            if targets and said:
                self.note(f"the map {pattern} -> {path} fits {len(names)} and {len(targets)} variables")
            return []
        return [
            (by_name[name], new[index])
            for name, target in zip(names, targets)
            for index, variable in enumerate(self._found)
            if variable is target or (isinstance(variable, distributed.Parts) and variable.holds(target))
        ]

    # Batches

    def training_batches(self, stream: Stream, features: Any, labels: Any, sentinel: bool) -> Any:
        """Generator function of the batches from the step that `stream` is at.

        After the last one it repeats it once if `sentinel`, to see whether the program wants more steps than recorded.
        """

        def generate() -> Iterator[Any]:
            position = stream.taken
            last = stream.steps[-1:] if sentinel and not self.limit else []
            for event in stream.steps[position:] + last:
                for batch in (event["batch"], *event["others"]):
                    yield self.fit_batch(batch, features, labels)

        return generate

    def fit_batch(self, encoded: Sequence[Any], features: Any, labels: Any) -> tuple[Any, ...]:
        fitted = (self.conform.tree(encoded[0], features),)
        return fitted if labels is None else fitted + (self.conform.tree(encoded[1], labels, "labels"),)

    def label_spec(self, encoded: Sequence[Any], labels: Any) -> Any:
        """Spec of the labels to replay: None where either side has none."""
        if labels is not None and encoded[1] is None:
            return None
        if labels is None and encoded[1] is not None:
            self.note("the old program has labels, the input of the new one yields none: they are not replayed")
        return labels

    # What the new side did

    def after_step(self, stream: Stream) -> None:
        """Record the steps that were taken since the last call."""
        total, losses = int(np.asarray(stream.counter)[0]), np.asarray(stream.losses).mean(axis=0)
        values = {name: distributed.value_of(variable) for name, variable in stream.pairs}
        while stream.taken < total:
            stream.taken += 1
            fields: dict[str, Any] = {"sums": {}, "values": {}}
            if stream.taken == total:  # with steps_per_execution > 1 the values between are not to be had
                fields["sums"] = {name: store.checksums(value) for name, value in values.items()}
                size = sum(value.nbytes for value in values.values())
                if size <= self.budget:
                    self.budget -= size
                    fields["values"] = {name: self.writer.array(value) for name, value in values.items()}
            if stream.taken == 1 and stream.reported is not None and np.isfinite(stream.reported.numpy()):
                fields["reported"] = float(stream.reported.numpy())
            loss = float(losses[min(stream.taken, len(losses)) - 1])
            self.writer.event(
                "step", stream=stream.index, call=self.calls["train"], step=stream.taken, loss=loss, **fields
            )
        self.progress.say(stream.taken, self.limit or len(stream.steps))

    def finish(self, stream: Stream) -> None:
        """Record the variables as they are at the end of a training call, those among them that its first step has made."""
        for pattern, path in list(self._later):
            names = mapping.expand(pattern, [item["name"] for item in stream.variables])
            made = resolve(stream.model, path) if stream.model is not None else []
            if made and len(made) == len(names):
                self._later.remove((pattern, path))
                weights = stream.model.trainable_variables
                stream.pairs += zip(names, mapping.as_partners(made, stream.variables, stream.pairs, weights))
                told = [[name, path, "map", list(each.shape)] for name, each in stream.pairs[-len(made) :]]
                self.writer.event("mapping", stream=stream.index, pairs=told)
        values = {name: self.writer.array(distributed.value_of(variable)) for name, variable in stream.pairs}
        self.writer.event("final", stream=stream.index, call=self.calls["train"], variables=values)
        if stream.averages and stream.taken >= len(stream.steps) and not stream.coordinated:
            wanted = {name: self.reader.array(reference) for name, reference in stream.averages.items()}
            values = {name: self.writer.array(value) for name, value in averages.held(wanted).items()}
            self.writer.event("averages", stream=stream.index, call=self.calls["train"], variables=values)

    def evaluate_with_old_weights(self, call: int, model: Any, metrics: dict[str, Any], run: Any) -> None:
        """Where a metric is not the recorded one, record it also as computed from the weights of the old program.

        Accuracy, AUC and their like count examples beyond thresholds: rounding alone moves an example across, and the
        metric jumps. With equal weights it must not. `run` evaluates again and returns the metrics.
        """
        stream, steps, recorded = self.evaluated.get(call, (None, 0, {}))
        if stream is None or stream.model is not model or not 0 < steps <= len(stream.steps):
            return
        values = stream.steps[steps - 1]["values"]
        apart = [
            key
            for key in set(recorded) & set(metrics)
            if key != "global_step" and not np.allclose(metrics[key], self.reader.array(recorded[key]), 1e-6, 1e-8)
        ]
        if not apart or any(name not in values for name, _ in stream.pairs):
            return
        mine = [(variable, distributed.value_of(variable)) for _, variable in stream.pairs]
        theirs = [
            self.reader.array(values[name]).reshape(value.shape) for (name, _), (_, value) in zip(stream.pairs, mine)
        ]
        if any(
            np.max(np.abs(a - b), initial=0) > 1e-4 * np.max(np.abs(a), initial=0) + 1e-7
            for a, (_, b) in zip(theirs, mine)
        ):
            return  # more than rounding: the weights themselves are wrong
        try:
            for (variable, _), value in zip(mine, theirs):
                variable.assign(value)
            again = run()
        finally:
            for variable, value in mine:
                variable.assign(value)
        kept = {key: self.writer.array(again[key]) for key in apart if key in again}
        self.writer.event("metrics_with_old_weights", call=call, metrics=kept)

    def compare_length(self, own: Any, steps: Any, recorded: int, call: int) -> None:
        """Note it where the new program would evaluate more batches than were recorded."""
        more = 0
        if steps is not None:
            more = int(steps) - recorded
        elif own is not None:
            more = sum(1 for _ in own.skip(recorded).take(1))
        if more > 0 and not (steps is not None and own is not None and own.cardinality().numpy() == recorded):
            self.writer.event("longer", kind="evaluate", call=call, recorded=recorded)

    def watcher(self, kind: str, call: int) -> Any:
        """In live mode: records each batch of the new program's own input."""
        if not self.live:
            return None

        def watch(batch: Any) -> None:
            parts = batch if type(batch) is tuple else (batch,)
            encoded = [self.writer.tree(part) for part in parts[:2]] + [None] * (2 - min(len(parts), 2))
            self.writer.event("own", kind=kind, call=call, batch=encoded)

        return watch


def model_variables(model: Any) -> list[Any]:
    """The variables of a model that are part of what it computes: no metrics, no seeds; in order of creation."""
    skipped = {id(v) for metric in model.metrics for v in metric.variables}
    found: list[Any] = []
    for variable in list(model.trainable_weights) + list(model.non_trainable_weights):
        name = variable_name(variable).lower()
        seed = "seed_generator" in name or "statevar" in name
        if id(variable) not in skipped and not seed and all(variable is not other for other in found):
            found.append(variable)
    return distributed.joined(found, variable_name)


def copies_at_start(model: Any) -> list[tuple[Any, Any]]:
    """The slots and moving averages of a graph that start as copies of their variables, with these."""
    known: dict[str, Any] = getattr(model, "tf1_variables", None) or {}
    found = []
    for name, copy in known.items():
        variable = known.get(name.rpartition("/")[0])
        if variable is not None and np.array_equal(copy.numpy(), variable.numpy()):
            if name.endswith("/" + AVERAGE) or np.ptp(variable.numpy()):  # zeros may be equal by chance
                found.append((copy, variable))
    return found


def variable_name(variable: Any) -> str:
    return str(getattr(variable, "path", None) or variable.name).split(":")[0]


def pairs_of_layers(
    model: Any,
    pattern: str,
    path: str,
    old: Sequence[mapping.Variable],
    new: Sequence[tuple[mapping.Variable, Any]],
    ordered: bool,
) -> list[tuple[mapping.Variable, mapping.Variable]]:
    """The pairs of the variables of some scopes and those of the layers that a path leads to; `new` has each with what it is."""
    scopes, layers = mapping.folders(pattern, [variable.name for variable in old]), resolve(model, path)
    pairs = []
    for scope, layer in zip(scopes, layers) if len(scopes) == len(layers) else ():
        held = {id(weight) for weight in layer.weights}
        pairs += mapping.inside(scope, old, [named for named, weight in new if id(weight) in held], ordered)
    return pairs


def resolve(root: Any, path: str) -> list[Any]:
    """What an attribute path such as ``deep.mlp.*.kernel`` leads to; ``*`` is every item of a list or dict, in order."""
    found = [root]
    for part in path.replace("[", ".").replace("]", "").split("."):
        following: list[Any] = []
        for item in found:
            if part == "*":
                following += list(item.values()) if hasattr(item, "values") else list(item)
            elif part.lstrip("-").isdigit():
                following.append(item[int(part)])
            elif hasattr(item, part):
                following.append(getattr(item, part))
            elif hasattr(item, "keys") and part.strip("'\"") in item:
                following.append(item[part.strip("'\"")])
        found = following
    return found
