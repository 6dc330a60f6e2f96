"""What both sides write for TensorBoard is compared by folder, tag and step."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from migrator.parity.judge.compare import compare
from migrator.parity.judge.report import DIFFERENT, EQUAL, CaseReport
from migrator.parity.judge.summaries import ELSEWHERE, GOES_ON, NOT_WRITTEN, OF_MODEL, RENAMED, UNNAMED
from migrator.parity.probe.recorded import summaries
from migrator.parity.probe.recorded.store import Reader, Writer

Tags = dict[str, list[list[Any]]]
LOSS: Tags = {"loss": [[1, 0.5], [11, 0.25]]}


def judged(folder: Path, old: dict[str, Tags], new: dict[str, Tags], unnamed: str = "none") -> CaseReport:
    """The verdict on two programs with the same losses that wrote these tags to these folders; to those below `unnamed`
    since an Estimator had none."""
    for side, folders in (("old", old), ("new", new)):
        writer = Writer(str(folder / side))
        writer.event("step", stream=0, step=1, loss=1.0, batch=[None, None], others=[], sums={}, values={})
        for name, tags in folders.items():
            told = {"unnamed": True} if side == "old" and name.startswith(unnamed) else {}
            writer.event("summaries", folder=name, tags=tags, **told)
        writer.close()
    report = CaseReport("case")
    compare(report, Reader(str(folder / "old")), Reader(str(folder / "new")))
    assert report.verdict == (DIFFERENT if report.differences else EQUAL)
    return report


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LOSS, LOSS),
        (LOSS, {**LOSS, "more": [[1, 1.0]]}),  # what is written besides
        (LOSS, {"loss": [[1, 0.5 + 1e-6], [11, 0.25]]}),  # rounding
        ({"loss_1": LOSS["loss"]}, LOSS),  # as a graph names the second op of a name
        ({"digits/image/0": [[1, None]], "digits/image/1": [[1, None]]}, {"digits": [[1, None]]}),
        ({"kernel": [[1, None]]}, {"kernel": [[1, None]]}),  # a histogram
        ({**LOSS, "global_step/sec": [[11, 8.0]], "checkpoint_path": [[1, None]]}, LOSS),
        ({"loss": [[1, math.nan]]}, {"loss": [[1, math.nan]]}),
        ({"loss": [[1, 0.5], [1, 0.5]]}, {"loss": [[1, 0.5]]}),  # written again by a second training
        (
            {"loss": [[1, 0.5], [1, 0.7]]},
            {"loss": [[1, 0.5]]},
        ),  # by an evaluation of other data, which Keras writes nowhere
    ],
)
def test_equal(tmp_path: Path, old: Tags, new: Tags) -> None:
    report = judged(tmp_path, {"program/model": old}, {"program/model": new})
    assert not report.differences and not report.notes


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ({"program/model": {"cost": LOSS["loss"]}}, "model: loss: is missing in the new program"),
        ({"program/model": {"loss": [[1, 0.5]]}}, "model: loss: old at steps 1, 11; new at steps 1"),
        ({"program/model": {"loss": [[1, 0.5], [11, 0.26]]}}, "model: loss: step 11: old 0.25, new 0.26"),
        ({"program/model": {"loss": [[1, 0.5], [11, None]]}}, "model: loss: step 11: old 0.25, new no number"),
    ],
)
def test_different(tmp_path: Path, new: dict[str, Tags], expected: str) -> None:
    report = judged(tmp_path, {"program/model": LOSS}, new)
    assert [str(one) for one in report.differences] == [f"summaries: {expected}"]


def test_a_folder_that_is_missing_among_others(tmp_path: Path) -> None:
    report = judged(tmp_path, {"tmp/temporary 1": LOSS, "tmp/temporary 1/eval": LOSS}, {"tmp/temporary 1": LOSS})
    expected = "summaries: temporary 1/eval: loss: is missing in the new program"
    assert [str(one) for one in report.differences] == [expected]


def test_a_program_that_writes_elsewhere_is_not_judged(tmp_path: Path) -> None:
    report = judged(tmp_path, {"program/model": LOSS}, {"program/logs/train": LOSS})
    assert report.notes == [NOT_WRITTEN] and not report.differences


@pytest.mark.parametrize(
    ("new", "missing"), [("tmp/temporary 1", False), ("tmp/temporary 2", True), ("program/other", False)]
)
def test_a_folder_that_an_estimator_made_for_itself_is_judged_if_there_is_such_a_one(
    tmp_path: Path, new: str, missing: bool
) -> None:
    old = {"tmp/temporary 1": LOSS, "tmp/temporary 2": LOSS, "tmp/temporary 2/eval": LOSS, "program/other": LOSS}
    own = {"tmp/temporary 1": LOSS, "program/other": LOSS, new: LOSS}
    report = judged(tmp_path, old, own, "tmp/temporary 2")
    assert [one.where for one in report.differences] == (["temporary 2/eval: loss"] if missing else [])
    assert report.notes == ([] if missing else [UNNAMED])


def test_a_folder_that_a_program_made_is_judged(tmp_path: Path) -> None:
    report = judged(tmp_path, {"tmp/temporary 1": LOSS, "tmp/temporary 2": LOSS}, {"tmp/temporary 1": LOSS}, "tmp/x")
    assert len(report.differences) == 1


BOARD = {"m/train": {"epoch_loss": [[0, 0.5]]}, "m/validation": {"epoch_loss": [[0, 0.5]]}}


def test_what_an_estimator_writes_by_itself_is_written_by_a_callback(tmp_path: Path) -> None:
    old: dict[str, Tags] = {"m": {"loss_1": LOSS["loss"], "rate": [[1, 0.5]]}, "m/eval": LOSS, "m/eval_test": LOSS}
    report = judged(tmp_path, old, {"m": {"rate": [[1, 0.5]]}, **BOARD})
    assert report.notes == [ELSEWHERE] and not report.differences


@pytest.mark.parametrize("board", [{"keras": [[0, None]]}, {}])
def test_a_callback_of_keras_3_may_write_no_epochs(tmp_path: Path, board: Tags) -> None:
    old: dict[str, Tags] = {"m": {**LOSS, "rate": [[1, 0.5]]}, "m/eval": LOSS}
    new: dict[str, Tags] = {"m": {"rate": [[1, 0.5]]}, "m/train": board}
    report = judged(tmp_path, old, new)
    assert report.notes == [ELSEWHERE] and not report.differences


@pytest.mark.parametrize("tag", ["accuracy", "accuracy_1", "train_accuracy"])
def test_a_metric_of_the_training_is_written_by_a_callback(tmp_path: Path, tag: str) -> None:
    board: dict[str, Tags] = {"m/train": {"epoch_accuracy": [[0, 0.5]], "epoch_loss": [[0, 0.5]]}}
    report = judged(tmp_path, {"m": {tag: LOSS["loss"], "rate": [[1, 0.5]]}}, {"m": {"rate": [[1, 0.5]]}, **board})
    assert report.notes == [ELSEWHERE] and not report.differences


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ({"m": {"norm": [[1, 1.0]]}, **BOARD}, "summaries: m: rate: is missing in the new program"),
        ({"m": {"rate": [[0, 0.5]]}, **BOARD}, "summaries: m: rate: old at steps 1; new at steps 0"),
        (
            {"m": {"rate": [[1, 0.5]]}, "m/train": {"other": [[1, 1.0]]}},
            "summaries: m: loss: is missing in the new program",
        ),
    ],
)
def test_summaries_of_the_program_are_judged_beside_a_callback(
    tmp_path: Path, new: dict[str, Tags], expected: str
) -> None:
    report = judged(tmp_path, {"m": {**LOSS, "rate": [[1, 0.5]]}}, new)
    assert [str(one) for one in report.differences] == [expected]


def test_rates_of_epochs_are_not_those_of_steps(tmp_path: Path) -> None:
    """The callback of Keras writes the learning rate at the ends of epochs, asked or not."""
    board: dict[str, Tags] = {"m/train": {"epoch_learning_rate": [[0, 0.1]], "epoch_loss": [[0, 0.5]]}}
    old: dict[str, Tags] = {"m": {"learning_rate": [[1, 0.1]], "norm": [[1, 0.5]]}}
    report = judged(tmp_path, old, {"m": {"norm": [[1, 0.5]]}, **board})
    assert [str(one) for one in report.differences] == ["summaries: m: learning_rate: is missing in the new program"]


@pytest.mark.parametrize("tag", ["gen_loss", "train_loss", "regularization/loss", "gate_accuracy", "metrics/accuracy"])
def test_a_summary_of_the_program_that_ends_like_a_metric_is_judged(tmp_path: Path, tag: str) -> None:
    board: dict[str, Tags] = {"m/train": {"epoch_accuracy": [[0, 0.5]], "epoch_loss": [[0, 0.5]]}}
    report = judged(tmp_path, {"m": {tag: LOSS["loss"], "rate": [[1, 0.5]]}}, {"m": {"rate": [[1, 0.5]]}, **board})
    assert [str(one) for one in report.differences] == [f"summaries: m: {tag}: is missing in the new program"]


def test_nothing_is_said_of_programs_without_summaries(tmp_path: Path) -> None:
    assert not judged(tmp_path, {}, {"program/logs": LOSS}).notes


def test_a_summary_of_a_layer_that_is_missing(tmp_path: Path) -> None:
    layers: Tags = {"dnn/dnn/logits/activation": [[1, None]], "linear/bias": [[1, 0.0]]}
    report = judged(tmp_path, {"program/m": {**LOSS, **layers}}, {"program/m": {**LOSS, "linear/bias": [[1, 0.5]]}})
    assert [str(one) for one in report.differences] == [
        "summaries: m: dnn/dnn/logits/activation: is missing in the new program",
        "summaries: m: linear/bias: step 1: old 0, new 0.5",
    ]


def test_a_summary_of_a_layer_in_the_scope_of_the_model(tmp_path: Path) -> None:
    old: Tags = {"gate/mean": [[1, 0.5]], **LOSS}
    report = judged(tmp_path, {"model": old}, {"model": {"net/gate/mean": [[1, 0.5]], **LOSS}})
    assert not report.differences and report.notes == [OF_MODEL]
    report = judged(tmp_path / "other", {"model": old}, {"model": {"net/gate/mean": [[1, 0.7]], **LOSS}})
    assert [difference.where for difference in report.differences] == ["model: gate/mean"]
    assert judged(tmp_path / "deep", {"model": old}, {"model": {"a/b/gate/mean": [[1, 0.5]], **LOSS}}).differences


def test_event_files_of_both_versions_are_read(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    v1 = tf.compat.v1
    box = tmp_path / "box"
    with v1.Graph().as_default(), v1.summary.FileWriter(str(box / "tmp" / "tmpabcdefgh")) as old:
        for step in (1, 11):
            value = v1.Summary.Value(tag="loss", simple_value=step / 2)
            old.add_summary(v1.Summary(value=[value]), step)
    with tf.summary.create_file_writer(str(box / "program" / "model")).as_default():
        tf.summary.scalar("loss", 0.25, step=3)
        tf.summary.histogram("kernel", np.arange(4.0), step=3)
        tf.summary.text("words", "some", step=3)
    (box / "program" / "events.out.tfevents.broken").write_bytes(b"no record at all")
    writer = Writer(str(tmp_path / "recording"))
    summaries.record(writer, str(box), unnamed={"tmpabcdefgh"})
    summaries.record(writer, str(box), since=time.time() + 60)  # all of it came with the program
    writer.close()
    events = list(Reader(str(tmp_path / "recording")).of("summaries"))
    found = {event["folder"]: event["tags"] for event in events}
    assert [event["folder"] for event in events if event.get("unnamed")] == ["tmp/temporary 1"]
    assert found == {
        "tmp/temporary 1": {"loss": [[1, 0.5], [11, 5.5]]},
        "program/model": {"loss": [[3, 0.25]], "kernel": [[3, None]], "words": [[3, None]]},
    }


ZEROS = [[1, 0.5], [11, 0.25]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Dense/Dense/dense/Relu_0/zeros", "Dense/dense_0/zeros"),
        ("fc/BiasAdd_0", "fc/net"),  # the name of a tensor
        ("conv1/conv1/Relu/zeros", "conv1/net/zeros"),  # of an operation
        ("stack/concat_1/zeros", "stack/both/zeros"),
        ("conv1/conv1/pool/zeros", "conv1/net/zeros"),  # of an operation with a name, in a scope
        ("a/b/a/b/pool/zeros", "a/b/net/zeros"),
        ("a/both_0/zeros", "a/net/zeros_1"),  # the second one of its name
    ],
)
def test_tags_of_tensors_have_those_of_variables(tmp_path: Path, old: str, new: str) -> None:
    report = judged(tmp_path, {"m": {old: ZEROS, **LOSS}}, {"m": {new: ZEROS, **LOSS}})
    assert not report.differences and report.notes == [RENAMED]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"d/Relu_0/zeros": ZEROS}, {"d/net/zeros": [[1, 0.5], [11, 0.75]]}),  # other values
        ({"d/Relu_0/zeros": ZEROS}, {"d/net/zeros": ZEROS[:1]}),  # other steps
        ({"d/Relu_0/zeros": ZEROS}, {"d/net/ones": ZEROS}),  # another part of it
        ({"d/Relu_0/zeros": ZEROS, "e/Relu_0/zeros": ZEROS}, {"d/net/zeros": ZEROS}),  # one for two
        ({"d/Relu_0": ZEROS, "cost": ZEROS}, {"cost": ZEROS}),  # that of another tag
        ({"d/cost": ZEROS}, {"d/price": ZEROS}),  # no tensor
        ({"d/d/cost": ZEROS}, {"d/net/cost": [[1, 0.5], [11, 0.75]]}),
    ],
)
def test_tags_of_tensors_that_nothing_stands_for(tmp_path: Path, old: Tags, new: Tags) -> None:
    assert judged(tmp_path, {"m": old}, {"m": new}).differences


@pytest.mark.parametrize(
    ("new", "apart"),
    [
        ([1, 4, 7], False),
        ([1, 3, 5, 7], True),
        ([1], True),  # 4 and 7 are missing
        ([1, 4, 5, 7, 8], True),
    ],
)
def test_several_trainings_by_the_steps_of_all(tmp_path: Path, new: list[int], apart: bool) -> None:
    steps = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 5), (2, 6), (2, 7), (2, 8)]  # calls, each of which wrote every third
    for side, at in (("old", [1, 4, 5, 8]), ("new", new)):
        writer = Writer(str(tmp_path / side))
        for call, step in steps:
            fields: dict[str, Any] = {"batch": [None, None], "others": [], "sums": {}, "values": {}}
            writer.event("step", stream=0, call=call, step=step, loss=1.0, **fields)
        writer.event("summaries", folder="model", tags={"error": [[step, 0.1 * step] for step in at]})
        writer.close()
    report = CaseReport("case")
    compare(report, Reader(str(tmp_path / "old")), Reader(str(tmp_path / "new")))
    assert bool(report.differences) is apart
    assert (GOES_ON in report.notes) is not apart


@pytest.mark.parametrize(("reporter", "tag", "equal"), [
    ("head", "label/mean", True),
    ("head", "f1", False),  # of the program
    ("nobody", "label/mean", False),
])  # fmt: skip
def test_metrics_that_a_head_reports_unasked_may_be_missing(
    tmp_path: Path, reporter: str, tag: str, equal: bool
) -> None:
    for side, more in (("old", {tag: [[1, 0.5]]}), ("new", {})):
        writer = Writer(str(tmp_path / side))
        writer.event("step", stream=0, step=1, loss=1.0, batch=[None, None], others=[], sums={}, values={})
        writer.event(reporter, kind="evaluate", call=1)
        value = writer.array(np.float32(0.5))
        writer.event("metrics", call=1, stream=0, metrics=dict.fromkeys(["loss", *more], value), name="")
        writer.event("summaries", folder="program/model/eval", tags={**LOSS, **more})
        writer.close()
    report = CaseReport("case")
    compare(report, Reader(str(tmp_path / "old")), Reader(str(tmp_path / "new")))
    assert (not report.differences) is equal
