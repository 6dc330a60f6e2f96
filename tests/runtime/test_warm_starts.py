"""A canned model that starts with weights of a checkpoint, as an Estimator with `warm_start_from` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime import canned
from migrator.runtime.config import RunConfig
from migrator.runtime.optimizers import AdagradOptimizer
from migrator.runtime.training import evaluate, train
from migrator.runtime.variable_values import variable_value
from migrator.runtime.warm_start_settings import WarmStartSettings
from migrator.runtime.warm_starts import with_warm_start

fc, estimators = tf.feature_column, tf.compat.v1
HIDDEN = "dnn/hiddenlayer_0/kernel"
EMBEDDING = "dnn/input_from_feature_columns/input_layer/city_embedding/embedding_weights"
LAYERS = [HIDDEN, "dnn/hiddenlayer_0/bias", "dnn/logits/kernel", "dnn/logits/bias"]


def columns() -> list[Any]:
    city = fc.categorical_column_with_identity("city", 4)
    return [fc.numeric_column("age"), fc.embedding_column(city, 2)]


def input_fn() -> tf.data.Dataset:
    features = {"age": [[0.5], [1.5], [-1.0], [0.25]], "city": [0, 1, 3, 1]}
    return tf.data.Dataset.from_tensors((features, [1.0, 2.0, 3.0, -1.0])).repeat(3)


def model(folder: Path, units: int = 3, **named: Any) -> tf.keras.Model:
    named.setdefault("warm_start_from", None)
    return with_warm_start(
        canned.dnn_regressor,
        hidden_units=[units],
        feature_columns=columns(),
        optimizer=lambda: AdagradOptimizer(0.05),
        loss_reduction="sum",
        config=RunConfig(str(folder)),
        **named,
    )


def estimator(folder: Path, **named: Any) -> Any:
    return estimators.estimator.DNNRegressor([3], columns(), model_dir=str(folder), **named)


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_from_the_checkpoint_of_an_estimator(tmp_path: Path) -> None:
    estimator(tmp_path / "first").train(input_fn)
    first = str(tmp_path / "first")
    old = estimator(tmp_path / "old", warm_start_from=first)
    expected = old.evaluate(input_fn)
    old.train(input_fn)
    new = model(tmp_path / "new", warm_start_from=first)
    assert evaluate(new, input_fn) == pytest.approx(expected, rel=1e-5)
    train(new, input_fn)
    for name in [*LAYERS, EMBEDDING]:
        np.testing.assert_allclose(variable_value(new, name), old.get_variable_value(name), rtol=1e-5, atol=1e-7)
    assert variable_value(new, "global_step") == 3
    train(new, input_fn)  # goes on from its own checkpoint
    assert variable_value(new, "global_step") == 6


def test_from_a_checkpoint_of_its_own_kind(tmp_path: Path) -> None:
    first = model(tmp_path / "first")
    train(first, input_fn)
    settings = WarmStartSettings(str(tmp_path / "first"), ".*hiddenlayer_0", {HIDDEN: HIDDEN})
    second = model(tmp_path / "second", warm_start_from=settings)
    evaluate(second, input_fn)
    values = {v.name.partition("/")[2]: v.numpy() for v in second.trainable_variables}
    np.testing.assert_array_equal(values[f"{HIDDEN}:0"], variable_value(first, HIDDEN))
    assert not np.allclose(values["dnn/logits/kernel:0"], variable_value(first, "dnn/logits/kernel"))
    other = WarmStartSettings(str(tmp_path / "first"), ".*logits/bias", {"dnn/logits/bias": "dnn/hiddenlayer_0/bias"})
    with pytest.raises(ValueError, match="shape"):
        evaluate(model(tmp_path / "third", warm_start_from=other), input_fn)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vars_to_warm_start": ["dnn"]}, "must be one pattern"),
        ({"var_name_to_prev_var_name": {"dnn/logits/bias": "none"}}, "does not hold none"),
        ({"var_name_to_prev_var_name": {"none": "dnn/logits/bias"}}, "names that are not used: .'none'"),
    ],
)
def test_settings_that_fail(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    train(model(tmp_path / "first"), input_fn)
    with pytest.raises((TypeError, ValueError), match=message):
        settings = WarmStartSettings(str(tmp_path / "first"), **settings)
        train(model(tmp_path / "second", warm_start_from=settings), input_fn)
