"""Specs and exporters of one name that a program makes again, as notebooks do from cell to cell."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop import MODEL

MADE = 'estimator = tf.estimator.Estimator(model_fn, model_dir="{}", params={{"units": 1}})\n'
SERVE = """def serve():
    received = {"x": tf.placeholder(tf.float32, [None, 1])}
    return tf.estimator.export.ServingInputReceiver(received, received)


"""
TRAIN = "train_spec = tf.estimator.TrainSpec(make_input_fn(8, None), max_steps={})\n"
EXPORT = 'exporter = tf.estimator.FinalExporter("{}", serve)\n'
EVALUATE = "eval_spec = tf.estimator.EvalSpec(make_input_fn(8, 1), exporters=exporter)\n"
RUN = "tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)\n"


def cell(steps: int, name: str) -> str:
    return MADE.format(name) + TRAIN.format(steps) + EXPORT.format(name) + EVALUATE + RUN


def test_each_call_has_its_own() -> None:
    program = MODEL + SERVE + cell(4, "one") + cell(6, "two")
    assert HELPERS not in run(program)
    text = joined(migrate(program))
    assert text.index("steps = 4 - ") < text.index('"export", "one"') < text.index("steps = 6 - ")
    assert (
        text.index("steps = 6 - ") < text.index('"export", "two"')
        and "EvalSpec(" not in text
        and "TrainSpec(" not in text
    )


@pytest.mark.parametrize(
    "program",
    [
        cell(4, "one") + "if estimator:\n    train_spec = None\n" + RUN,
        cell(4, "one") + "print(train_spec.max_steps)\n" + cell(6, "two"),
        cell(4, "one") + RUN + cell(6, "two"),
        cell(4, "one") + "print(exporter.name)\n" + cell(6, "two"),
        "for _ in range(2):\n    " + cell(4, "one").replace("\n", "\n    ") + "train_spec = None\n" + RUN,
    ],
)
def test_what_is_read_elsewhere_stays(program: str) -> None:
    text = run(MODEL + SERVE + program)["program.py"].after.decode()
    assert ".fit(" not in text
