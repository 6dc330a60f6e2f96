"""What signatures of SavedModels compute, recorded of one and repeated with another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from migrator.parity.judge.compare import compare
from migrator.parity.judge.drift import Again
from migrator.parity.judge.report import DIFFERENT, EQUAL, CaseReport
from migrator.parity.probe import exports
from migrator.parity.probe.recorded.store import Reader, Writer

tf = pytest.importorskip("tensorflow")

X = np.arange(15, dtype=np.float32).reshape(5, 3)
FEATURES = {"x": X, "word": np.array([b"a", b"b", b"c", b"d", b"e"])}


def saved(folder: Path, weight: float, kind: str, output: str = "y") -> str:
    """A SavedModel of a graph that multiplies: ``raw`` floats, ``parsed`` examples, ``lines`` of a table."""

    def computed(x: Any) -> Any:
        return {output: tf.reduce_sum(tf.cast(x, tf.float32), -1) * weight}

    def parsed(examples: Any) -> Any:
        spec = {"x": tf.io.FixedLenFeature([3], tf.float32), "word": tf.io.VarLenFeature(tf.string)}
        spec["none"] = tf.io.FixedLenFeature([2], tf.int64)
        found = tf.io.parse_example(examples, spec)
        words = tf.strings.length(tf.sparse.to_dense(found["word"]))
        return computed(
            tf.concat([found["x"], tf.cast(words + tf.cast(found["none"][:, :1], tf.int32), tf.float32)], 1)
        )

    def lines(rows: Any) -> Any:
        number, _, other = tf.io.decode_csv(rows[:, tf.newaxis], [[0], [""], [0.0]])
        return computed(tf.concat([tf.cast(number, tf.float32), other], 1))

    def words(x: Any) -> Any:
        return {output: tf.strings.length(x)}

    function, spec = {
        "raw": (computed, tf.TensorSpec([None, 3], tf.float32, "x")),
        "reshaped": (computed, tf.TensorSpec([2, 3, 1], tf.float64, "x")),
        "alone": (computed, tf.TensorSpec([None, 3], tf.float32, "z")),
        "parsed": (parsed, tf.TensorSpec([None], tf.string, "examples")),
        "lines": (lines, tf.TensorSpec([None], tf.string, "rows")),
        "words": (words, tf.TensorSpec([None], tf.string, "other")),
    }[kind]
    path = str(folder / f"{kind}{weight}{output}")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        placeholder = tf.compat.v1.placeholder(spec.dtype, spec.shape)
        outputs = function(placeholder)
        tf.compat.v1.saved_model.simple_save(session, path, {spec.name: placeholder}, outputs)
    return path


def compared(folder: Path, old: str, new: str, features: Any = None) -> tuple[CaseReport, list[str]]:
    """The verdict on two SavedModels, and the notes of the old side."""
    notes: list[str] = []
    for side in ("old", "new"):
        writer = Writer(str(folder / side))
        writer.event("meta", side=side, versions={})
        writer.event("step", stream=0, step=1, loss=1.0, sums={}, values={})
        if side == "old":
            exports.record(writer, 1, old.encode(), FEATURES if features is None else features, notes.append)
        else:
            reader = Reader(str(folder / "old"))
            exports.repeat(writer, reader, list(reader.of("export")), 1, new)
        writer.close()
    report = CaseReport("case")
    compare(report, Reader(str(folder / "old")), Reader(str(folder / "new")))
    return report, notes


@pytest.mark.parametrize("kind", ["raw", "reshaped", "parsed", "lines"])
def test_another_weight_is_seen(tmp_path: Path, kind: str) -> None:
    first, same, other = (saved(tmp_path / name, weight, kind) for name, weight in (("a", 2.0), ("b", 2.0), ("c", 2.1)))
    report, notes = compared(tmp_path / "equal", first, same)
    assert report.verdict == EQUAL and len(report.exports) == 1 and not notes
    assert report.exports[0].shape == ((2, 3) if kind == "reshaped" else (4,))
    report, _ = compared(tmp_path / "other", first, other)
    assert (
        report.verdict == DIFFERENT
        and report.differences[0].where == f"export to {exports.folder_of(first)}, serving_default"
    )


def test_a_feature_without_a_name_is_fed_as_it_is(tmp_path: Path) -> None:
    report, notes = compared(tmp_path, saved(tmp_path, 2.0, "alone"), saved(tmp_path, 3.0, "alone"), X)
    assert report.verdict == DIFFERENT and not notes


@pytest.mark.parametrize(
    ("kind", "features", "reason"),
    [
        ("alone", None, "its input z is not among the features of the model"),
        ("words", None, "its input other is not among the features of the model"),
        ("raw", {"x": FEATURES["word"]}, "its input x has another type or shape than the feature of the model"),
        ("raw", {"x": X[:, :2]}, "its input x has another type or shape than the feature of the model"),
        ("parsed", X, "the features of the model have no names"),
        ("parsed", {"x": X[:, :2]}, "it does not run: InvalidArgumentError"),
    ],
)
def test_values_that_are_not_compared_are_noted(tmp_path: Path, kind: str, features: Any, reason: str) -> None:
    report, notes = compared(tmp_path, saved(tmp_path, 2.0, kind), saved(tmp_path, 3.0, kind), features)
    assert report.verdict == EQUAL and len(notes) == 1 and reason in notes[0]


def test_names_of_outputs_are_compared(tmp_path: Path) -> None:
    report, _ = compared(tmp_path, saved(tmp_path, 2.0, "raw"), saved(tmp_path, 2.0, "raw", "z"))
    assert report.differences[0].message == "outputs: old y: float32; new z: float32"
    report, _ = compared(tmp_path / "inputs", saved(tmp_path, 2.5, "raw"), saved(tmp_path, 2.5, "alone"))
    assert report.differences[0].message == "inputs: old x: float32; new z: float32"


def recordings(folder: Path, old: list[dict[str, Any]], new: list[dict[str, Any]], others: bool = False) -> CaseReport:
    """The verdict on exports that are written by hand."""
    for side, events in (("old", old), ("new", new)):
        writer = Writer(str(folder / side))
        writer.event("step", stream=0, step=1, loss=1.0, sums={}, values={})
        for call, event in enumerate(events, 1):
            writer.event("export", **{"call": call, "folder": "best", **event})
        if side == "new":
            writer.event("saved models", found=others)
        writer.close()
    report = CaseReport("case")
    compare(report, Reader(str(folder / "old")), Reader(str(folder / "new")))
    return report


NONE: dict[str, Any] = {"signatures": {}}
ONE: dict[str, Any] = {"signatures": {"predict": {"inputs": {}, "outputs": {}, "values": {}}}}
OTHER: dict[str, Any] = {**ONE, "folder": "latest"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([ONE, OTHER], [ONE], "exports: export to latest: is missing in the new program"),
        ([ONE], [OTHER, ONE], "exports: export to latest: is missing in the old program"),
        ([ONE], [NONE], "exports: export to best: the signature 'predict' is missing in the new program"),
        ([ONE, ONE], [ONE, NONE], "exports: export to best 2: the signature 'predict' is missing in the new program"),
        ([ONE], [{**NONE, "problem": "it does not run: E"}], "exports: export to best: it does not run: E"),
        ([ONE], [NONE, ONE], ""),
        ([ONE], [OTHER], ""),
        ([{**NONE, "problem": "E"}], [ONE], ""),
        ([ONE], [ONE], ""),
    ],
)
def test_what_is_missing_is_a_difference(tmp_path: Path, old: Any, new: Any, said: str) -> None:
    assert [str(difference) for difference in recordings(tmp_path, old, new).differences] == ([said] if said else [])


@pytest.mark.parametrize("default", [3.0, None])
def test_an_old_program_that_ran_again_has_values_of_its_own(tmp_path: Path, default: Any) -> None:
    path = parsing(tmp_path / "model", "lines", default)
    for side in ("old", "again"):
        writer = Writer(str(tmp_path / side))
        writer.event("step", stream=0, step=1, loss=1.0, sums={}, values={})
        exports.record(writer, 1, path.encode(), FEATURES, print)
        writer.close()
    report = CaseReport("case")
    compare(report, Reader(str(tmp_path / "old")), Again(str(tmp_path / "again")))
    assert report.verdict == EQUAL and len(report.exports) == 1


def test_what_is_the_same_for_all_examples_may_be_left_out(tmp_path: Path) -> None:
    def verdict(folder: Path, canned: bool, headed: bool = False) -> CaseReport:
        for side, outputs in (("old", {"logits": "float32", "all_classes": "string"}), ("new", {"logits": "float32"})):
            writer = Writer(str(folder / side))
            writer.event("begin", kind="train", call=1, **({"canned": True} if canned and side == "old" else {}))
            if headed and side == "old":
                writer.event("head", kind="predict", call=1)
            writer.event("step", stream=0, step=1, loss=1.0, sums={}, values={})
            told = {"predict": {"inputs": {}, "outputs": outputs, "values": {}}}
            writer.event("export", call=1, folder="best", signatures=told)
            writer.close()
        report = CaseReport("case")
        compare(report, Reader(str(folder / "old")), Reader(str(folder / "new")))
        return report

    report = verdict(tmp_path / "canned", True)
    assert report.verdict == EQUAL and "also gives all_classes; the new program does not" in report.notes[0]
    assert verdict(tmp_path / "head", False, headed=True).verdict == EQUAL
    assert verdict(tmp_path / "own", False).verdict == DIFFERENT


def test_a_new_program_that_exports_in_another_way_is_noted(tmp_path: Path) -> None:
    report = recordings(tmp_path, [ONE], [], others=True)
    assert report.verdict == EQUAL and "tf.saved_model.save" in report.notes[0]


def test_a_new_program_that_exports_nothing_is_another_one(tmp_path: Path) -> None:
    report = recordings(tmp_path, [ONE, OTHER], [])
    assert report.verdict == DIFFERENT
    assert str(report.differences[0]) == "exports: export to best, latest: the new program writes no SavedModel"


def test_the_last_exports_to_a_folder_are_compared(tmp_path: Path) -> None:
    report = recordings(tmp_path, [ONE, OTHER], [OTHER, ONE, ONE])
    assert report.verdict == EQUAL
    assert report.notes[0] == "export to best: old 1 times, new 2 times; the last ones are compared"


def kept(folder: Path, side: str, made: int, left: dict[int, str], name: str = "best") -> None:
    """Records a run that wrote `made` exports and left some, by number, with a word in a file beside each."""
    paths = [folder / side / name / str(number) for number in range(made)]
    for number, word in left.items():
        (paths[number] / "assets.extra" / "more").mkdir(parents=True)
        (paths[number] / "assets.extra" / "more" / "words.txt").write_text(word)
    writer = Writer(str(folder / side / "recording"))
    writer.event("step", stream=0, step=1, loss=1.0, sums={}, values={})
    exports.record_kept(writer, [str(path) for path in paths])
    writer.close()


@pytest.mark.parametrize(
    ("made", "left", "name", "said"),
    [
        (4, {2: "a", 3: "a"}, "best", ""),
        (4, {2: "a", 3: "a"}, "other", ""),  # the only folder on both sides
        (4, {3: "a"}, "best", "kept at the end: old number 3, 4 of 4; new number 4 of 4"),
        (4, {}, "best", "kept at the end: old number 3, 4 of 4; new none of 4"),
        (4, {0: "a", 3: "a"}, "best", "kept at the end: old number 3, 4 of 4; new number 1, 4 of 4"),
        (4, {1: "a", 2: "a", 3: "a"}, "best", "kept at the end: old number 3, 4 of 4; new number 2, 3, 4 of 4"),
        (4, {2: "a", 3: "b"}, "best", "the file more/words.txt beside the model differs"),
        (5, {3: "a", 4: "a"}, "best", ""),  # counted from the newest on
        (1, {0: "a"}, "best", ""),
    ],
)
def test_what_is_left_of_exports_is_compared(
    tmp_path: Path, made: int, left: dict[int, str], name: str, said: str
) -> None:
    kept(tmp_path, "old", 4, {2: "a", 3: "a"})
    kept(tmp_path, "new", made, left, name)
    report = CaseReport("case")
    compare(report, *(Reader(str(tmp_path / side / "recording")) for side in ("old", "new")))
    assert [d.message for d in report.differences] == ([said] if said else [])


def test_a_file_beside_the_model_on_one_side(tmp_path: Path) -> None:
    kept(tmp_path, "old", 1, {0: "a"})
    kept(tmp_path, "new", 1, {0: "a"})
    (tmp_path / "new" / "best" / "0" / "assets.extra" / "one").write_text("")
    exports.record_kept(writer := Writer(str(tmp_path / "again")), [str(tmp_path / "new" / "best" / "0")])
    writer.close()
    report = CaseReport("case")
    compare(report, Reader(str(tmp_path / "old" / "recording")), Again(str(tmp_path / "again")))
    assert "the file one beside the model is on one side only" in [d.message for d in report.differences]


def parsing(folder: Path, kind: str, default: Any, method: str = "tensorflow/serving/predict") -> str:
    """A SavedModel that parses two numbers, the second one with a default, if any, out of ``lines`` or ``examples``."""
    path, v1 = str(folder), tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        placeholder = v1.placeholder(tf.string, [None])
        if kind == "lines":
            first, second = tf.io.decode_csv(
                placeholder, [tf.zeros([0]), tf.zeros([0]) if default is None else [default]]
            )
        else:
            spec = {"x": tf.io.FixedLenFeature([3], tf.float32), "z": tf.io.FixedLenFeature([], tf.float32, default)}
            parsed = tf.io.parse_example(placeholder, spec)
            first, second = parsed["x"][:, 0], parsed["z"]
        info = v1.saved_model.build_tensor_info
        signature = v1.saved_model.build_signature_def(
            {"rows": info(placeholder)}, {"y": info(first / 2 + second)}, method
        )
        builder = v1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()
    return path


@pytest.mark.parametrize("kind", ["lines", "examples"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (3.0, 3.0, ""),
        (None, None, ""),
        (float("nan"), float("nan"), ""),
        (3.0, 4.0, "without the fields that have defaults: y differs by 1"),
        (3.0, None, "without the fields that have defaults, if any, it fails in the new program alone"),
    ],
)
def test_defaults_of_what_is_parsed_are_compared(tmp_path: Path, kind: str, old: Any, new: Any, said: str) -> None:
    report, notes = compared(tmp_path, parsing(tmp_path / "a", kind, old), parsing(tmp_path / "b", kind, new))
    assert [said in each.message for each in report.differences] == [True] * bool(said) and not notes
    assert len(report.exports) == 1


@pytest.mark.parametrize("method", ["predict", "classify"])
def test_what_a_server_is_asked_for_is_compared(tmp_path: Path, method: str) -> None:
    readers = []
    for side, name in (("old", "predict"), ("new", method)):
        path = parsing(tmp_path / side / "best" / "1", "lines", 1.0, f"tensorflow/serving/{name}")
        writer = Writer(str(tmp_path / side / "recording"))
        writer.event("step", stream=0, step=1, loss=1.0, sums={}, values={})
        exports.record_kept(writer, [path])
        writer.close()
        readers.append(Reader(str(tmp_path / side / "recording")))
    report = CaseReport("case")
    compare(report, *readers)
    said = (
        "exports: export to best, serving_default: "
        "the method name: old tensorflow/serving/predict, new tensorflow/serving/classify"
    )
    assert [str(each) for each in report.differences] == [said] * (method == "classify")
