"""Compares what both sides wrote for TensorBoard: the tags in each folder, their steps, and the values of scalars."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from migrator.parity.judge.distances import close
from migrator.parity.judge.drift import Drift
from migrator.parity.judge.phrases import folder_text, steps_text
from migrator.parity.judge.report import CaseReport, Difference, Tolerance
from migrator.parity.probe.recorded.store import Reader

NOT_WRITTEN = "not compared: summaries, as the new program writes none to the folders of the old one"
UNNAMED = "not compared: summaries in a folder that an Estimator made for itself, where the new program writes none"
ELSEWHERE = (
    "not compared: summaries of losses, metrics and evaluations, "
    "which TensorBoard of Keras writes to `train` and `validation`"
)
RENAMED = (
    "summaries that were called after tensors of the graph are called after variables in the new program: compared with the "
    "values of those"
)
OF_MODEL = "summaries of layers begin with the name of the model in the new program: compared with those"
GOES_ON = (
    "summaries of several trainings: an Estimator began anew with the first step of each, where the new program counts the "
    "steps of all of them: compared at the steps that both have"
)
OF_EPOCHS = "learning_rate"
"""What that callback writes of itself, at the ends of epochs alone: no match for the rates of steps that a program writes."""
_OF_TENSOR = re.compile(
    r"^(?:.*/)?(?:[^/]+_0|(?:[A-Z][A-Za-z0-9]*|add|concat|mul|stack|sub)(?:_\d+)?)(?P<rest>/[^/]+)?$"
)
"""Tags with the name of a tensor or an operation: ``Dense/dense/Relu_0/activation`` and ``conv1/Relu/activation``."""
_OF_SCOPE = re.compile(r"^(?P<scope>.+)/(?P=scope)/[^/]+(?P<rest>/[^/]+)?$")
"""Tags in a scope that say it again, with the name of an operation in it: ``conv1/conv1/pool/sparsity``."""
_UNLIKE = re.compile(
    r"(^|/)(global_step/sec|examples/sec|checkpoint_path)$|fraction_(over_\d+_)?of_\d+_full$|^(graph|queue)/"
)
"""Tags whose values depend on time, or that only an Estimator has."""
_KIND = re.compile(r"/(image|audio)(/\d+)?$")
"""What the summary ops of TensorFlow 1 add to a tag, and those of TensorFlow 2 do not."""
_COPY = re.compile(r"_\d+$")
"""What a graph adds to a tag if another op has its name."""


def compare_summaries(
    report: CaseReport, old: Reader, new: Reader, drift: Drift, unasked: Collection[str] = ()
) -> list[Difference]:
    """The differences. What the new side writes besides is none, nor that it leaves out `unasked` metrics of evaluations."""
    left, right = ({event["folder"]: event["tags"] for event in side.of("summaries")} for side in (old, new))
    known = set(map(_temporary, right))
    passing = {f for f in left if f in _unnamed(old) and _temporary(f) not in known}
    if passing and set(left) - passing:
        report.notes.append(UNNAMED)
        left = {folder: tags for folder, tags in left.items() if folder not in passing}
    if left and not set(left) & set(right):
        report.notes.append(NOT_WRITTEN)
        return []
    found = []
    boards, trainings = dict(_boards(right)), list(_trainings(old))
    for folder, tags in left.items():
        others = right.get(folder, {})
        renamed = _renamed(tags, others, report.tolerance)
        report.notes += [RENAMED] if renamed and RENAMED not in report.notes else []
        for tag, series in tags.items():
            if tag in renamed:
                continue
            if _UNLIKE.search(tag) or (tag in unasked and tag not in others and _is_of_evaluations(folder)):
                continue
            inside = _inside_of_model(tag, others)
            if inside is not None:
                report.notes += [OF_MODEL] if OF_MODEL not in report.notes else []
            if inside is None and _partner(tag, others) is None and _is_elsewhere(folder, tag, boards):
                report.notes += [ELSEWHERE] if ELSEWHERE not in report.notes else []
                continue
            partner = _partner(tag, others) if inside is None else inside
            if partner is not None and any(_goes_on(series, partner, *each) for each in trainings):
                report.notes += [GOES_ON] if GOES_ON not in report.notes else []
                series, partner = _at_same_steps(series, partner), _at_same_steps(partner, series)
            message = _apart(series, partner, report.tolerance)
            where = f"{folder_text(folder)}: {tag}"
            if message and not (message.startswith("step ") and where in drift.summaries):
                found.append(Difference("summaries", where, message))
    return found


def _unnamed(old: Reader) -> set[str]:
    """Folders that Estimators made for themselves, as the program named none."""
    return {event["folder"] for event in old.of("summaries") if event.get("unnamed")}


def _temporary(folder: str) -> str:
    """The temporary folder that one is in, if it is in one."""
    parts = folder.split("/")
    return next(("/".join(parts[: at + 1]) for at, part in enumerate(parts) if part.startswith("temporary ")), folder)


def _trainings(old: Reader) -> Iterator[tuple[list[int], int]]:
    """The first steps of the trainings of each model that has several, and its last step."""
    steps = [event for event in old.of("step") if "call" in event]
    for stream in dict.fromkeys(event["stream"] for event in steps):
        own = [event for event in steps if event["stream"] == stream]
        first = {event["call"]: event["step"] for event in reversed(own)}
        if len(first) > 1:
            yield sorted(first.values()), own[-1]["step"]


def _goes_on(old: list[Any], new: list[Any], first: list[int], last: int) -> bool:
    """Whether one side wrote every so many steps of each training, and the other one as many steps of all of them."""
    ours, theirs = ({step for step, _ in series} for series in (old, new))
    every = max(min(theirs - {1}, default=last + 1) - 1, 1)
    anew = {s for start, end in zip(first, [*first[1:], last + 1]) for s in range(start, end, every)}
    return ours != theirs and ours == anew and theirs == set(range(1, last + 1, every))


def _at_same_steps(series: list[Any], other: list[Any]) -> list[Any]:
    steps = {step for step, _ in other}
    return [pair for pair in series if pair[0] in steps]


def _boards(written: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, set[str]]]:
    """Folders for which the callback of Keras writes to one below, with the names of the loss and of metrics."""
    for folder, tags in written.items():
        above, _, name = folder.rpartition("/")
        shown = {tag.partition("_")[2] for tag in tags if tag.startswith(("epoch_", "batch_"))}
        if name == "train" and (shown or not set(tags) - {"keras"}):  # that of Keras 3 may leave epochs out
            yield above, shown - {OF_EPOCHS} | {"loss"}


def _is_of_evaluations(folder: str) -> bool:
    """Whether an Estimator wrote the metrics of its evaluations there."""
    name = folder.rpartition("/")[2]
    return name == "eval" or name.startswith("eval_")


def _is_elsewhere(folder: str, tag: str, boards: Mapping[str, set[str]]) -> bool:
    """Whether the callback of Keras writes under other names what an Estimator wrote: ``train_accuracy``, if the metric is
    ``accuracy``. Other tags with that at their ends are the program's own: ``gen_loss``, ``gate_accuracy``."""
    above = folder.rpartition("/")[0]
    evaluated = above in boards and _is_of_evaluations(folder)
    plain = _COPY.sub("", tag)
    return (
        evaluated
        or plain in boards.get(folder, ())
        or plain.removeprefix("train_") in boards.get(folder, set()) - {"loss"}
    )


def _renamed(old: Mapping[str, Any], new: Mapping[str, Any], tolerance: Tolerance) -> set[str]:
    """Tags of tensors that the new side does not have, and has under names of its own: each with all the steps and values."""
    found = set[str]()
    own = [tag for tag in new if all(_partner(other, {tag: True}) is None for other in old)]
    for tag, series in old.items():
        tensor = _OF_TENSOR.match(tag) or _OF_SCOPE.match(tag)
        if tensor is None or _partner(tag, new) is not None or _UNLIKE.search(tag):
            continue
        for other in own:
            if _COPY.sub("", other).endswith(tensor["rest"] or "") and _apart(series, new[other], tolerance) == "":
                own.remove(other)
                found.add(tag)
                break
    return found


def _partner(tag: str, others: Mapping[str, Any]) -> Any:
    plain = _KIND.sub("", tag)
    for name in (tag, plain, _COPY.sub("", tag), _COPY.sub("", plain)):
        if name in others:
            return others[name]
    return None


def _inside_of_model(tag: str, others: Mapping[str, Any]) -> Any:
    """What the new side has of a tag of a layer, before which Keras puts the name of the model; None if it has the tag itself."""
    if "/" not in tag or _partner(tag, others) is not None:
        return None
    names = {other.partition("/")[0] for other in others}
    found = [each for name in names if (each := _partner(f"{name}/{tag}", others)) is not None]
    return found[0] if len(found) == 1 else None


def _apart(old: list[Any], new: list[Any] | None, tolerance: Tolerance) -> str:
    """How two series of steps and values differ; empty if they do not."""
    if new is None:
        return "is missing in the new program"
    ours, theirs = dict(map(tuple, old)), dict(map(tuple, new))
    if ours.keys() != theirs.keys():
        return f"old at steps {steps_text(ours)}; new at steps {steps_text(theirs)}"
    wide = Tolerance(tolerance.array_rtol, tolerance.atol)
    for step, value in sorted(ours.items()):
        other = theirs[step]
        if value is None or (value != value and other != other):
            continue
        earlier = [each for at, each in old if at == step and each is not None]  # as of two evaluations at one step
        if other is not None and any(close(each, other, wide) for each in earlier):
            continue
        if other is None or not close(value, other, wide):
            shown = "no number" if other is None else f"{other:.9g}"
            return f"step {step}: old {value:.9g}, new {shown}"
    return ""
