"""The parts of benchmarks/training.py that train nothing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("training_benchmark", ROOT / "benchmarks" / "training.py")
assert _spec is not None and _spec.loader is not None
training = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = training  # dataclasses look their module up
_spec.loader.exec_module(training)

PLAIN = """\
import tensorflow as tf

seen = open("seen", "w")


def noted(i):
    tf.py_function(lambda i: print(int(i), end="", file=seen, flush=True), [i], [])
    return tf.ones([1, 1]), tf.ones([1, 1])


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), "kept", max_to_keep=1)
model.fit(tf.data.Dataset.range(5).map(noted).take(2), callbacks=[tf.keras.callbacks.Callback()])
manager.save()
"""


def test_the_rate_leaves_the_first_steps_out() -> None:
    marks = [(1, 10.0, 5.0), (20, 11.0, 6.0), (60, 13.0, 7.0), (100, 15.0, 7.6)]
    assert training.rates(marks) == (20.0, pytest.approx(50.0))


def test_groups_of_steps_count_as_what_they_are() -> None:
    assert training.rates([(50, 1.0, 1.0), (100, 2.0, 1.5)]) == (50.0, 100.0)


@pytest.mark.parametrize("marks", [[], [(100, 1.0, 1.0)], [(100, 1.0, 1.0), (100, 1.0, 1.0)]])
def test_no_rate_of_too_few_marks(marks: list[tuple[int, float, float]]) -> None:
    with pytest.raises(ValueError, match="too few steps"):
        training.rates(marks)


def test_ratios_are_those_of_the_rounds() -> None:
    old = [training.Run(10.0, 20.0, 300.0), training.Run(20.0, 40.0, 310.0), training.Run(40.0, 40.0, 330.0)]
    new = [training.Run(20.0, 10.0, 400.0), training.Run(10.0, 80.0, 410.0), training.Run(60.0, 60.0, 390.0)]
    found = training.compared("a/b", old, new)
    assert (found.ratio, found.cpu_ratio) == (1.5, 1.5)
    assert found.old == training.Run(20.0, 40.0, 310.0) and found.new == training.Run(20.0, 60.0, 400.0)


def test_the_table_ends_with_the_medians() -> None:
    run = training.Run(100.0, 50.0, 512.3)
    found = [training.Comparison(f"case/{ratio}", run, run, ratio, 2 * ratio) for ratio in (1.0, 3.0, 2.0)]
    lines = training.table(found).splitlines()
    assert lines[2] == "| case/1.0 | 100 | 100 | 1.00 | 2.00 | 512 | 512 |"
    assert lines[-1] == "| median |  |  | 2.00 | 4.00 |  |  |"
    assert len({line.count("|") for line in lines}) == 1


def test_only_datasets_are_repeated() -> None:
    class Dataset:
        def repeat(self) -> str:
            return "endless"

        def batch(self) -> None:
            raise AssertionError

    assert training.repeated(Dataset()) == "endless"
    assert training.repeated((1, 2)) == (1, 2)


@pytest.mark.parametrize("case", training.CASES)
def test_cases_are_copied_with_their_helpers(case: str, tmp_path: Path) -> None:
    old, new, _ = training.sides(case, tmp_path, 1000)
    assert old.exists() and new.exists() and not (old.parent / "tf2_training.py").exists()
    imported = any("\nfrom tf2_training import " in path.read_text() for path in new.parent.rglob("*.py"))
    assert imported == (new.parent / "tf2_training.py").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("train(data, steps=20)", "train(data, steps=1000)"),
        ("TrainSpec(data, max_steps=20)", "TrainSpec(data, max_steps=1000)"),
        (
            "add_argument('--train_steps', default=30, type=int)",
            "add_argument('--train_steps', default=1000, type=int)",
        ),
        ("RunConfig(save_checkpoints_steps=20)", "RunConfig(save_checkpoints_steps=20)"),
        ("exponential_decay(0.1, step, decay_steps=10)", "exponential_decay(0.1, step, decay_steps=10)"),
    ],
)
def test_trainings_are_made_longer(before: str, after: str) -> None:
    assert training.lengthened(before, 1000) == after


def test_a_training_by_fit_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "program.py").write_text(PLAIN)
    run = training.measure("new", tmp_path / "program.py", [], 10)
    assert run.rate > 0 and run.cpu > 0 and run.peak > 0
    assert (tmp_path / "seen").read_text().startswith("0123401234")


def test_a_program_that_does_not_train_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "program.py").write_text("print('never trains')\n")
    (tmp_path / "tf2_training.py").write_text("train = read_input = configure = RunConfig = None\n")
    with pytest.raises(RuntimeError, match="did not train"):
        training.measure("new", tmp_path / "program.py", [], 10)
