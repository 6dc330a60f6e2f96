"""Experiments of `tf.contrib.learn` on TensorFlow 2.15: what they do with their Estimator."""

from __future__ import annotations

from typing import Any

import pytest

from migrator.parity.probe.tf1.experiments import Experiment, learn_runner, utils


class Estimator:
    """Notes what it is told to do."""

    model_dir = "m"

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def train(self, *given: Any, **named: Any) -> None:
        self.told.append(("train", *given, named))

    def evaluate(self, *given: Any, **named: Any) -> dict[str, float]:
        self.told.append(("evaluate", *given, named))
        return {"loss": 1.0}

    def export_saved_model(self, folder: str, *given: Any) -> str:
        self.told.append(("export", folder, *given))
        return folder


TRAINED = ("train", "train_fn", [], {"max_steps": 5, "saving_listeners": None})
EXPORTED = ("export", "m/export/Servo", "serve", None, False)


def run(schedule: str, **given: Any) -> list[tuple[Any, ...]]:
    """What an Experiment tells its Estimator."""
    estimator = Estimator()
    strategy = utils.make_export_strategy("serve")

    def experiment_fn(output_dir: str) -> Experiment:
        return Experiment(estimator, "train_fn", "eval_fn", train_steps=5, export_strategies=strategy, **given)

    learn_runner.run(experiment_fn, "m", schedule)
    return estimator.told


def test_one_of_both() -> None:
    assert run("train") == [TRAINED]
    assert run("evaluate", eval_steps=3) == [("evaluate", "eval_fn", 3, [], {"name": "one_pass"})]


def test_an_evaluation_at_the_end() -> None:
    expected = [TRAINED, ("evaluate", "eval_fn", 100, [], {"name": None}), EXPORTED]
    assert run("train_and_evaluate", min_eval_frequency=0) == expected
    assert run("local_run") == expected


def test_one_step_of_each() -> None:
    trained, evaluated, exported = run("test")
    assert trained[-1]["steps"] == 1 and evaluated[-1] == {"steps": 1, "name": "one_pass"} and exported == EXPORTED


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="non-existent task other"):
        run("other")
    with pytest.raises(ValueError, match="eval_metrics"):
        run("train", eval_metrics={})
    with pytest.raises(ValueError, match="one of"):
        learn_runner.run(Experiment)
