"""Canned models write the summaries that Estimators write of their layers: tags, steps, and values where no weight is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe.recorded import summaries
from migrator.runtime.canned import canned
from migrator.runtime.canned.heads import BinaryClassHead
from migrator.runtime.canned.named_heads import named_head
from migrator.runtime.optimizers.optimizers import AdagradOptimizer
from migrator.runtime.optimizers.regularized_optimizers import FtrlOptimizer
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.layer_summaries import when_recording
from migrator.runtime.training.training import evaluate, train

fc, v1 = tf.feature_column, tf.compat.v1
RANDOM = np.random.RandomState(2)
FEATURES = {
    "x": RANDOM.randn(40, 2).astype("float32"),
    "kind": RANDOM.randint(0, 5, 40),
    "weight": RANDOM.uniform(0.5, 2.0, 40).astype("float32"),
}
LABELS = RANDOM.randint(0, 2, 40)
KIND = fc.categorical_column_with_identity("kind", 5)
WIDE, DEEP = [KIND, fc.numeric_column("x", shape=2)], [fc.numeric_column("x", shape=2), fc.indicator_column(KIND)]
PAIR: dict[str, Any] = {"linear_feature_columns": WIDE, "dnn_feature_columns": DEEP, "dnn_hidden_units": [3]}
SETTINGS = {"save_summary_steps": 2, "log_step_count_steps": None}


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(8)


def written(folder: Path) -> dict[str, dict[int, Any]]:
    """What the event files of a folder hold, by tag and step; None for what is no scalar."""
    found: dict[str, dict[int, Any]] = {}
    for path in sorted(folder.glob("events*")):
        for event in v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                found.setdefault(value.tag, {})[event.step] = summaries._number(value)
    return found


def ftrl() -> Any:
    return FtrlOptimizer(0.2)


def adagrad() -> Any:
    return AdagradOptimizer(0.05)


Make = Callable[[Any], Any]
CASES: dict[str, tuple[Make, Make, bool]] = {  # the last says whether there is no network
    "linear": (
        lambda c: v1.estimator.LinearClassifier(WIDE, weight_column="weight", config=c),
        lambda c: canned.linear_classifier(WIDE, ftrl, "sum", weight_column="weight", config=c),
        True,
    ),
    "linear of three classes": (
        lambda c: v1.estimator.LinearClassifier(WIDE, n_classes=3, config=c),
        lambda c: canned.linear_classifier(WIDE, ftrl, "sum", 3, config=c),
        True,
    ),
    "averaged": (
        lambda c: v1.estimator.BaselineRegressor(loss_reduction="weighted_sum_over_batch_size", config=c),
        lambda c: canned.baseline_regressor(lambda: FtrlOptimizer(0.3), "sum_over_batch_size", config=c),
        True,
    ),
    "network": (
        lambda c: v1.estimator.DNNClassifier([3, 2], DEEP, dropout=0.1, batch_norm=True, config=c),
        lambda c: canned.dnn_classifier([3, 2], DEEP, adagrad, "sum", dropout=0.1, batch_norm=True, config=c),
        False,
    ),
    "both": (
        lambda c: v1.estimator.DNNLinearCombinedClassifier(**PAIR, config=c),
        lambda c: canned.dnn_linear_combined_classifier(
            "sum", linear_optimizer=ftrl, dnn_optimizer=adagrad, **PAIR, config=c
        ),
        False,
    ),
    "linear of TensorFlow 2": (
        lambda c: tf.estimator.LinearRegressor(WIDE, loss_reduction="sum", config=c),
        lambda c: canned.linear_regressor(WIDE, ftrl, "sum", summary_tags="v2", config=c),
        True,
    ),
    "both of TensorFlow 2": (
        lambda c: tf.estimator.DNNLinearCombinedClassifier(**PAIR, config=c),
        lambda c: canned.dnn_linear_combined_classifier(
            "sum_over_batch_size",
            linear_optimizer=ftrl,
            dnn_optimizer=adagrad,
            **PAIR,
            config=c,
            summary_tags="v2",
        ),
        False,
    ),
    "a head with a name": (
        lambda c: tf.estimator.LinearEstimator(tf.estimator.BinaryClassHead(name="won"), WIDE, config=c),
        lambda c: canned.linear_estimator(
            named_head(BinaryClassHead, name="won", loss_reduction="sum_over_batch_size"),
            WIDE,
            ftrl,
            config=c,
            summary_tags="v2",
        ),
        True,
    ),
}


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
@pytest.mark.parametrize("name", CASES)
def test_as_the_estimator(name: str, tmp_path: Path) -> None:
    make_old, make_new, same = CASES[name]
    make_old(v1.estimator.RunConfig(str(tmp_path / "old"), **SETTINGS)).train(input_fn)
    train(make_new(RunConfig(str(tmp_path / "new"), **SETTINGS)), input_fn)
    old, new = written(tmp_path / "old"), written(tmp_path / "new")
    assert {tag: sorted(series) for tag, series in old.items()} == {tag: sorted(series) for tag, series in new.items()}
    assert {1, 3, 5} == set(old["loss"])
    for tag, series in old.items() if same else ():
        if tag.endswith(("/bias", "/fraction_of_zero_weights")):
            continue  # read while the step is made: before or after the update
        for step, value in series.items():
            assert new[tag][step] == (value if value is None else pytest.approx(value, rel=1e-5, abs=1e-7)), (tag, step)


def test_only_trainings_write_them(tmp_path: Path) -> None:
    model = canned.dnn_classifier([3], DEEP, adagrad, "sum", config=RunConfig(str(tmp_path), save_summary_steps=0))
    train(model, input_fn)
    evaluate(model, input_fn)
    assert not any("dnn" in tag for folder in (tmp_path, tmp_path / "eval") for tag in written(folder))


def test_nothing_is_computed_where_nothing_is_written(tmp_path: Path) -> None:
    counted = tf.Variable(0)

    @tf.function
    def step(recording: tf.Tensor) -> None:
        with tf.summary.record_if(recording):
            when_recording(lambda: counted.assign_add(1))

    with tf.summary.create_file_writer(str(tmp_path)).as_default(0):
        for recording in (False, True, False):
            step(tf.constant(recording))
    assert counted.numpy() == 1
