"""Programs with annotated names become what they would be without the annotations."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from modelfn.programs import PATH, manual_reason, method, migrate, run

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = [
    "classifiers/digits_cnn",
    "ctr/esmm",
    "ctr/two_optimizers",
    "model_fn/objects",
    "training/warm_start",
    "canned/housing",
]


class _Bare(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return node if node.value is None else ast.Assign([node.target], node.value, lineno=node.lineno)


def bare(text: str) -> str:
    return ast.unparse(_Bare().visit(ast.parse(text)))


def annotated(text: str) -> str:
    """Every first assignment of a local name with an annotation."""
    lines, places = text.split("\n"), set()
    for function in [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]:
        seen = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        inner = {
            id(n)
            for f in ast.walk(function)
            if isinstance(f, ast.FunctionDef) and f is not function
            for n in ast.walk(f)
        }
        for node in sorted((n for n in ast.walk(function) if isinstance(n, ast.Assign)), key=lambda n: n.lineno):
            target = node.targets[0]
            if (
                id(node) not in inner
                and isinstance(target, ast.Name)
                and len(node.targets) == 1
                and target.id not in seen
            ):
                seen.add(target.id)
                places.add((target.end_lineno or 0, target.end_col_offset or 0))
    for line, column in sorted(places, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + ": object" + lines[line - 1][column:]
    return "\n".join(lines)


@pytest.mark.parametrize("case", CASES)
def test_annotations_change_nothing(case: str) -> None:
    before = (FIXTURES / case / "before.py").read_text()
    assert annotated(before).count(": object = ") > 10
    plain, after = run(before, "auto")[PATH], run(annotated(before), "auto")[PATH]
    assert [(u.tier, u.reason) for u in after.units] == [(u.tier, u.reason) for u in plain.units]
    assert bare(after.after.decode()) == bare(plain.after.decode())


PROGRAM = """\
from typing import Any, Dict, Optional

import tensorflow as tf


def make_optimizer(rate: float) -> tf.train.Optimizer:
    optimizer: tf.train.Optimizer = tf.train.AdamOptimizer(rate)
    return optimizer


def model_fn(features: Dict[str, tf.Tensor], labels: Optional[tf.Tensor], mode: tf.estimator.ModeKeys,
             params: tf.contrib.training.HParams) -> tf.estimator.EstimatorSpec:
    step: tf.Variable
    step = tf.train.get_global_step()
    logits: tf.Tensor = tf.layers.dense(features["x"], 1)
    predictions: Dict[str, tf.Tensor] = {"y": logits}
    loss: tf.Tensor = tf.losses.mean_squared_error(labels, logits)
    optimizer: tf.train.Optimizer = make_optimizer(params.rate)
    train_op: tf.Operation = optimizer.minimize(loss, step)
    spec: tf.estimator.EstimatorSpec = tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)
    return spec


def serving() -> tf.estimator.export.ServingInputReceiver:
    x: tf.Tensor = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def run(estimator: tf.estimator.Estimator, spec: "Optional[tf.estimator.EvalSpec]" = None,
        other: Optional[tf.estimator.EvalSpec] = None, exporter: Optional[tf.estimator.Exporter] = None) -> Dict[str, Any]:
    estimator.train(F, steps=3)
    result: Dict[str, Any] = estimator.evaluate(F, steps=1)
    return result


class Job:
    estimator: tf.estimator.Estimator

    def __init__(self) -> None:
        config: tf.estimator.RunConfig = tf.estimator.RunConfig(tf_random_seed=1)
        params: tf.contrib.training.HParams = tf.contrib.training.HParams(rate=0.1)
        self.estimator: tf.estimator.Estimator = tf.estimator.Estimator(model_fn, config=config, params=params)

    def go(self) -> None:
        print(run(self.estimator))
        self.estimator.export_saved_model("out", serving)


job: Job = Job()
job.go()
"""


def test_annotations_speak_of_what_stands_there_now() -> None:
    text = migrate(PROGRAM)
    assert (
        "    optimizer: tf.keras.optimizers.Optimizer = tf.keras.optimizers.Adam(params.rate, epsilon=1e-8)\n" in text
    )
    assert "def serving() -> ServingInputReceiver:\n" in text
    assert "    estimator: tf.keras.Model,\n" in text or "(estimator: tf.keras.Model," in text
    assert "other: Optional[EvalSpec] = None," in text and "exporter: Optional[LatestExporter] = None" in text
    assert "    estimator: tf.keras.Model\n" in text
    assert "config: RunConfig = RunConfig(tf_random_seed=1)" in text
    assert "params: types.SimpleNamespace = types.SimpleNamespace(rate=0.1)" in text
    assert "self.estimator: tf.keras.Model = create_model(config=config, params=params)" in text
    assert '{"y": logits}' in method(text, "predict_step") and "return self." in method(text, "call")
    assert "tf.estimator" not in text.replace('"Optional[tf.estimator.EvalSpec]"', "")


def test_the_bridge_speaks_of_its_own_classes() -> None:
    text = run(PROGRAM, "bridge")[PATH].after.decode()
    assert "    spec: EstimatorSpec = EstimatorSpec(mode, predictions, loss, train_op)\n" in text
    assert "def make_optimizer(rate: float) -> tf.compat.v1.train.Optimizer:\n" in text
    assert "    estimator: tf.keras.Model,\n" in text or "(estimator: tf.keras.Model," in text


def test_what_has_no_match_is_refused() -> None:
    annotation = "tf.estimator.Head"
    program = PROGRAM.replace(
        "class Job:\n", f"def other(value: {annotation}) -> None:  # HERE\n    pass\n\n\nclass Job:\n"
    )
    assert f"{annotation} is not migrated yet" in manual_reason(program)


def test_classes_keep_their_fields() -> None:
    text = "import dataclasses\nimport tensorflow as tf\n\n\n@dataclasses.dataclass\nclass A:\n    x: int = 3\n"
    assert run(text, "auto")[PATH].after.decode() == text
