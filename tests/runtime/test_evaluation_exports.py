"""When exporters export, and what they keep, against Estimator's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from line_program import create_model, input_fn, model_fn

from migrator.runtime.callbacks import exporters as new
from migrator.runtime.exports.serving import build_raw_serving_input_receiver_fn
from migrator.runtime.training.train_and_evaluate import EvalSpec, TrainSpec, train_and_evaluate


def specs(package: Any, exporters: Any, max_steps: int | None = 12) -> tuple[Any, Any]:
    train = package.TrainSpec(lambda: input_fn("train").take(12), max_steps=max_steps)
    return train, package.EvalSpec(lambda: input_fn("eval"), exporters=exporters, start_delay_secs=0, throttle_secs=0)


def old_run(folder: Path, exporters: Any, max_steps: int | None = 12) -> tuple[list[Any], list[str]]:
    """What each exporter gave for the last evaluation, and the folders of exports."""
    config = tf.estimator.RunConfig(save_checkpoints_steps=4, model_dir=str(folder))
    _, exports = tf.estimator.train_and_evaluate(
        tf.estimator.Estimator(model_fn, config=config), *specs(tf.estimator, exporters, max_steps)
    )
    return exports, sorted(os.listdir(folder / "export")) if (folder / "export").exists() else []


def new_run(folder: Path, exporters: Any, max_steps: int | None = 12) -> tuple[list[Any], list[str]]:
    class Package:
        TrainSpec = TrainSpec
        EvalSpec = EvalSpec

    model = create_model(folder)
    _, exports = train_and_evaluate(model, *specs(Package, exporters, max_steps))
    assert exports is not None
    return exports, sorted(os.listdir(folder / "export")) if (folder / "export").exists() else []


def receivers() -> tuple[Any, Any]:
    def old() -> Any:
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    return old, build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 3])})


@pytest.mark.parametrize("max_steps", [12, None])
def test_final_and_latest(tmp_path: Path, max_steps: int | None) -> None:
    old_fn, new_fn = receivers()
    package = tf.estimator
    old, old_folders = old_run(
        tmp_path / "old",
        [package.FinalExporter("final", old_fn), package.LatestExporter("latest", old_fn, exports_to_keep=2)],
        max_steps,
    )
    found, folders = new_run(
        tmp_path / "new",
        [new.FinalExporter("final", new_fn), new.LatestExporter("latest", new_fn, exports_to_keep=2)],
        max_steps,
    )
    assert [path is None for path in found] == [path is None for path in old] == [max_steps is None, False]
    assert folders == old_folders
    for name in folders:
        count = len(os.listdir(tmp_path / "old" / "export" / name))
        assert len(os.listdir(tmp_path / "new" / "export" / name)) == count == {"final": 1, "latest": 2}[name]


def test_best_exports_first_and_when_better(tmp_path: Path) -> None:
    old_fn, new_fn = receivers()

    def old_compare(best_eval_result: Any, current_eval_result: Any) -> bool:
        return bool(best_eval_result["loss"] < current_eval_result["loss"])

    for name, compare in (("smaller", None), ("larger", old_compare)):
        given = {} if compare is None else {"compare_fn": compare}
        old = tf.estimator.BestExporter("best", old_fn, exports_to_keep=None, **given)
        best = new.BestExporter("best", new_fn, exports_to_keep=None, **given)
        found, _ = new_run(tmp_path / name / "new", best)
        expected, _ = old_run(tmp_path / name / "old", old)
        assert [path is None for path in found] == [path is None for path in expected]
        exported = [len(os.listdir(tmp_path / name / side / "export" / "best")) for side in ("old", "new")]
        assert exported[0] == exported[1] == (3 if name == "smaller" else 1)


class Told:
    """An exporter of a program: what it is told, with the newest checkpoint by its step."""

    name = "told"

    def __init__(self) -> None:
        self.told: list[Any] = []

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
    ) -> str:
        step = checkpoint_path.rpartition("-")[2]
        self.told.append(
            (os.path.basename(export_path), step, round(float(eval_result["loss"]), 5), is_the_final_export)
        )
        return step


class OldTold(Told, tf.estimator.Exporter):
    """The same for an Estimator."""


@pytest.mark.parametrize("max_steps", [None, 6])
def test_an_exporter_of_the_program_is_told_the_same(tmp_path: Path, max_steps: int | None) -> None:
    old, now = OldTold(), Told()
    expected, _ = old_run(tmp_path / "old", old, max_steps)
    found, _ = new_run(tmp_path / "new", now, max_steps)
    assert list(found) == list(expected) and now.told == old.told and len(now.told) > 1


def test_refused() -> None:
    with pytest.raises(ValueError, match="exports_to_keep"):
        new.LatestExporter("latest", None, exports_to_keep=0)  # type: ignore[arg-type]
