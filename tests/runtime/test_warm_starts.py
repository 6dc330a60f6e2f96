"""A canned model that starts with weights of a checkpoint, as an Estimator with `warm_start_from` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.canned import canned
from migrator.runtime.checkpoints.variable_values import estimator_name, variable_value
from migrator.runtime.checkpoints.warm_start_settings import WarmStartSettings
from migrator.runtime.checkpoints.warm_start_vocabularies import VocabInfo
from migrator.runtime.checkpoints.warm_starts import with_warm_start
from migrator.runtime.optimizers.optimizers import AdagradOptimizer
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import evaluate, train

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
    settings = WarmStartSettings(str(tmp_path / "first"), ".*hiddenlayer_0", None, {HIDDEN: HIDDEN})
    second = model(tmp_path / "second", warm_start_from=settings)
    evaluate(second, input_fn)
    values = {v.name.partition("/")[2]: v.numpy() for v in second.trainable_variables}
    np.testing.assert_array_equal(values[f"{HIDDEN}:0"], variable_value(first, HIDDEN))
    assert not np.allclose(values["dnn/logits/kernel:0"], variable_value(first, "dnn/logits/kernel"))
    other = WarmStartSettings(
        str(tmp_path / "first"), ".*logits/bias", None, {"dnn/logits/bias": "dnn/hiddenlayer_0/bias"}
    )
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


def test_vocabularies_that_differ(tmp_path: Path) -> None:
    """`VocabInfo.moved` against the kernel that `tf.train.warm_start` runs."""
    old_words, new_words = tmp_path / "old.txt", tmp_path / "new.txt"
    old_words.write_text("a\nb\nc\nd\n")
    new_words.write_text("d\ne\na\nf\nc\ng\n")
    value = np.arange(12, dtype=np.float32).reshape(4, 3)
    for axis, buckets, size in ((0, 2, 3), (0, 0, -1), (1, 1, -1)):
        saved, checkpoint = value if axis == 0 else np.ascontiguousarray(value.T), str(tmp_path / f"{axis}{buckets}")
        info = [str(new_words), 5, buckets, str(old_words), size, lambda shape, **_: tf.fill(shape, 0.5), axis]
        with tf.Graph().as_default(), estimators.Session() as session:
            table = estimators.get_variable("table", initializer=saved, use_resource=True)
            session.run(table.initializer)
            estimators.train.Saver().save(session, checkpoint)
        with tf.Graph().as_default(), estimators.Session() as session:
            shape = [5 + buckets, 3] if axis == 0 else [3, 5 + buckets]
            table = estimators.get_variable("table", shape, use_resource=True)
            old_info = estimators.train.VocabInfo(*info)
            estimators.train.warm_start(checkpoint, var_name_to_vocab_info={"table": old_info})
            session.run(table.initializer)
            expected = session.run(table)
        np.testing.assert_array_equal(VocabInfo(*info).moved(saved), expected)
    with pytest.raises(ValueError, match="new.txt has fewer than 7 words"):
        VocabInfo(str(new_words), 7, 0, str(old_words)).moved(value)


def test_only_variables_with_a_vocabulary(tmp_path: Path) -> None:
    first = model(tmp_path / "first")
    train(first, input_fn)
    words, others = tmp_path / "words.txt", tmp_path / "others.txt"
    words.write_text("a\nb\nc\nd\n")
    others.write_text("d\nc\nb\nx\n")
    info = {EMBEDDING: VocabInfo(str(others), 4, 0, str(words))}
    second = model(tmp_path / "second", warm_start_from=WarmStartSettings(str(tmp_path / "first"), None, info))
    evaluate(second, input_fn)
    values = {estimator_name(v.name.partition(":")[0]): v.numpy() for v in second.trainable_variables}
    old = variable_value(first, EMBEDDING)
    np.testing.assert_array_equal(values[EMBEDDING], [old[3], old[2], old[1], [0, 0]])
    assert not np.allclose(values[HIDDEN], variable_value(first, HIDDEN))
    unknown = WarmStartSettings(str(tmp_path / "first"), ".*", {"none": info[EMBEDDING]})
    with pytest.raises(ValueError, match="var_name_to_vocab_info has names that are not used: .'none'"):
        evaluate(model(tmp_path / "third", warm_start_from=unknown), input_fn)
