"""What a program says that keeps helpers around its training: the property that asked for them, and where."""

from __future__ import annotations

import pytest
from programs import model_fn, run, units

from migrator.report import assessment
from migrator.report.closing import units as lines

BODY = "predictions = tf.layers.dense(features, 1)"
MAKE = "estimator = tf.estimator.Estimator(model_fn, params={})\n"
TRAIN = "estimator.train(input_fn, steps=3)\n"
INPUT = "\n\ndef input_fn():\n    return tf.data.Dataset.from_tensors(([[1.0]], [[2.0]])).repeat()\n"


def program(after: str) -> str:
    return model_fn(BODY, before=INPUT, after=after)


def said(source: str, what: str) -> str:
    """The place of a piece of a program, as reports write it."""
    line = next(number for number, text in enumerate(source.splitlines(), 1) if what in text)
    return f"(program.py:{line}:{source.splitlines()[line - 1].index(what) + 1})"


@pytest.mark.parametrize(
    ("after", "reason", "at"),
    [
        (
            f"{MAKE}estimator.train(input_fn, steps=3, hooks=[tf.train.FinalOpsHook([])])\n",
            "tf.train.FinalOpsHook",
            "tf.train.FinalOpsHook",
        ),
        (
            f"{MAKE}{TRAIN}rows = estimator.predict(input_fn, yield_single_examples=False)\n",
            "`yield_single_examples` of predict",
            "estimator.predict",
        ),
        (f"{MAKE}estimator.train(input_fn)\n", "a training without an end", "estimator.train"),
        (
            "config = tf.estimator.RunConfig(model_dir='m')\nprint(config)\n"
            f"estimator = tf.estimator.Estimator(model_fn, params={{}}, config=config)\n{TRAIN}",
            "its configuration is used elsewhere",
            "print(config)",
        ),
        (
            "estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(eval_distribute=place))\n"
            f"{TRAIN}",
            "`eval_distribute` of its configuration",
            "place",
        ),
    ],
)
def test_the_property_is_named_with_its_place(after: str, reason: str, at: str) -> None:
    source = program(after)
    (unit,) = units(run(source, "auto"))
    assert unit.helpers == f"{reason} {said(source, at)}"


def test_a_plain_loop_keeps_none() -> None:
    (unit,) = units(run(program(f"{MAKE}{TRAIN}")))
    assert unit.helpers == ""


def test_a_program_that_stays_says_nothing_of_helpers() -> None:
    (unit,) = units(
        run(program(f"{MAKE}{TRAIN}estimator._session_config = 3\ntf.contrib.nothing(estimator)\n"), "auto")
    )
    assert unit.tier == "manual" and unit.helpers == ""


def test_the_summary_and_the_inventory_say_so() -> None:
    outcomes = run(program(f"{MAKE}estimator.train(input_fn)\n")).values()
    (line,) = lines(list(outcomes))
    assert "native; keeps helpers: a training without an end (line " in line.text
    (row,) = assessment.assess(list(outcomes))["helpers"]
    assert row["reason"] == "a training without an end" and row["programs"] == 1
