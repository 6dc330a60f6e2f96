"""Canned models train, evaluate and predict as the Estimators do, with all their files: one of each family.

Each argument of each of them is in `test_canned_arguments.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.canned import canned
from migrator.runtime.checkpoints.variable_values import variable_names, variable_value
from migrator.runtime.cluster import canned as cluster_canned
from migrator.runtime.exports.exporting import export_saved_model
from migrator.runtime.exports.serving import build_parsing_serving_input_receiver_fn
from migrator.runtime.optimizers.optimizers import AdagradOptimizer
from migrator.runtime.optimizers.regularized_optimizers import FtrlOptimizer
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

pytestmark = [
    pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator"),
]
fc = tf.feature_column
STEPS, BATCH_SIZE = 10, 16
RANDOM = np.random.RandomState(11)
SIZE = STEPS * BATCH_SIZE
FEATURES = {
    "age": RANDOM.uniform(18, 80, SIZE),
    "hours": RANDOM.randn(SIZE, 1).astype("float32"),
    "school": RANDOM.choice(["hs", "ba", "phd", "?"], SIZE),
    "city": RANDOM.choice([f"city{i}" for i in range(30)], SIZE),
    "room": RANDOM.randint(0, 7, SIZE),
    "weight": RANDOM.choice([0.0, 0.5, 2.0], SIZE).astype("float32"),
}
BINARY, CLASSES = RANDOM.randint(0, 2, SIZE), RANDOM.randint(0, 3, SIZE)
NAMES = RANDOM.choice(["x", "y", "z"], SIZE)
NUMBER, NUMBERS = RANDOM.randn(SIZE).astype("float32"), RANDOM.randn(SIZE, 2).astype("float32")


def columns() -> tuple[list[Any], list[Any]]:
    """Columns of the linear part and of the network."""
    age = fc.bucketized_column(fc.numeric_column("age"), [25, 40, 60])
    hours = fc.numeric_column("hours", normalizer_fn=lambda x: (x - 0.1) / 2.0)
    school = fc.categorical_column_with_vocabulary_list("school", ["hs", "ba", "phd"])
    room = fc.categorical_column_with_identity("room", 5, default_value=0)
    city = fc.categorical_column_with_hash_bucket("city", 10)
    both = fc.crossed_column([age, "city"], 20)
    embedded = [fc.embedding_column(city, 3), fc.embedding_column(both, 2, combiner="sum")]
    return [hours, age, school, city, both, room], [hours, age, fc.indicator_column(school), *embedded]


WIDE, DEEP = columns()
BOTH = {"linear_feature_columns": WIDE, "dnn_feature_columns": DEEP, "dnn_hidden_units": [8, 4]}
v1, legacy = tf.compat.v1, tf.keras.optimizers.legacy
Make = Callable[[Any], Any]

CASES: dict[str, tuple[Make, Make, Any]] = {
    "dnn_classifier_batch_norm": (
        lambda c: v1.estimator.DNNClassifier(
            [8, 4], DEEP, n_classes=3, batch_norm=True, activation_fn=tf.nn.tanh, config=c
        ),
        lambda c: canned.dnn_classifier(
            [8, 4], DEEP, AdagradOptimizer(0.05), "sum", 3, batch_norm=True, activation_fn=tf.nn.tanh, config=c
        ),
        CLASSES,
    ),
    "dnn_regressor_weighted": (
        lambda c: v1.estimator.DNNRegressor(
            [8], DEEP, label_dimension=2, weight_column="weight", optimizer="Adagrad", config=c
        ),
        lambda c: canned.dnn_regressor([8], DEEP, AdagradOptimizer(0.05), "sum", 2, "weight", config=c),
        NUMBERS,
    ),
    "linear_classifier_vocabulary": (
        lambda c: v1.estimator.LinearClassifier(
            WIDE, n_classes=3, label_vocabulary=["x", "y", "z"], loss_reduction="weighted_sum_over_batch_size", config=c
        ),
        lambda c: canned.linear_classifier(
            WIDE, FtrlOptimizer(0.2), "sum_over_batch_size", 3, None, ["x", "y", "z"], config=c
        ),
        NAMES,
    ),
    "combined_classifier": (
        lambda c: v1.estimator.DNNLinearCombinedClassifier(**BOTH, config=c),
        lambda c: canned.dnn_linear_combined_classifier(
            "sum", **BOTH, linear_optimizer=FtrlOptimizer(0.005), dnn_optimizer=AdagradOptimizer(0.001), config=c
        ),
        BINARY,
    ),
    "combined_regressor_of_tensorflow_2": (
        lambda c: tf.estimator.DNNLinearCombinedRegressor(**BOTH, batch_norm=True, config=c),
        lambda c: canned.dnn_linear_combined_regressor(
            "sum_over_batch_size",
            **BOTH,
            linear_optimizer=legacy.Ftrl(0.005),
            dnn_optimizer=legacy.Adagrad(0.001),
            batch_norm=True,
            config=c,
        ),
        NUMBER,
    ),
}


def losses(directory: Path) -> list[float]:
    """Losses by step from the event files; Estimators write histograms as well."""
    found: dict[int, float] = {}
    for path in sorted(directory.glob("events*")):
        for record in tf.data.TFRecordDataset(str(path)):
            event = v1.Event.FromString(record.numpy())
            values = [value.simple_value for value in event.summary.value if value.tag == "loss"]
            if values:
                found[event.step] = values[0]
    return [found[step] for step in sorted(found)]


def paired(model: tf.keras.Model, names: dict[str, list[int]]) -> dict[str, tf.Variable]:
    """Variables by the names that the Estimator gave them: equal but for scopes that hold nothing else."""
    pairs = {}
    for variable in model.variables:
        parts = variable.name.split(":")[0].split("/")
        found = [
            name
            for name, shape in names.items()
            if name.split("/")[-1] == parts[-1] and parts[-2] in name.split("/") and shape == variable.shape.as_list()
        ]
        if len(found) == 1 and (variable.trainable or "moving" in parts[-1]):
            pairs[found[0]] = variable
    assert {id(v) for v in model.trainable_variables} <= {id(v) for v in pairs.values()}
    return pairs


@pytest.mark.parametrize(
    "name", ["dnn_classifier_batch_norm", "linear_classifier_vocabulary", "combined_regressor_of_tensorflow_2"]
)
def test_same_losses_weights_metrics_and_predictions(name: str, tmp_path: Path) -> None:
    make_old, make_new, labels = CASES[name]

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices((dict(FEATURES), labels)).batch(BATCH_SIZE)

    old_dir, new_dir = tmp_path / "old", tmp_path / "new"
    config = tf.estimator.RunConfig(str(old_dir), tf_random_seed=5, save_summary_steps=1, log_step_count_steps=None)
    estimator = make_old(config)
    estimator.train(input_fn, steps=STEPS)
    expected_metrics, expected_rows = estimator.evaluate(input_fn), list(estimator.predict(input_fn))
    first, last = (tf.train.load_checkpoint(str(old_dir / f"model.ckpt-{step}")) for step in (0, STEPS))

    model = make_new(RunConfig(str(new_dir), save_summary_steps=1, log_step_count_steps=None))
    model.run_state.run.create_variables(input_fn().element_spec, training=False)  # by what will be evaluated
    pairs = paired(model, first.get_variable_to_shape_map())
    for old_name, variable in pairs.items():
        variable.assign(first.get_tensor(old_name))
    train(model, input_fn, steps=STEPS)

    np.testing.assert_allclose(losses(new_dir), losses(old_dir), rtol=1e-5)
    for old_name, variable in pairs.items():  # within 1e-5 of the largest
        expected = last.get_tensor(old_name)
        np.testing.assert_allclose(variable, expected, rtol=0, atol=1e-5 * np.abs(expected).max(), err_msg=old_name)
    slots = ("Adagrad", "Ftrl")
    names = sorted(name for name in estimator.get_variable_names() if not any(slot in name for slot in slots))
    assert variable_names(model) == names
    for old_name in names:
        expected = estimator.get_variable_value(old_name)
        np.testing.assert_allclose(variable_value(model, old_name), expected, rtol=1e-5, atol=1e-5, err_msg=old_name)
    assert evaluate(model, input_fn) == pytest.approx(expected_metrics, rel=1e-5, abs=1e-7)
    rows = list(predict(model, input_fn))
    assert len(rows) == len(expected_rows) and set(rows[0]) == set(expected_rows[0])
    for key, value in expected_rows[0].items():
        old_values, new_values = (np.array([row[key] for row in some]) for some in (expected_rows, rows))
        assert new_values.dtype == old_values.dtype and new_values.shape == old_values.shape
        if value.dtype == object:
            assert new_values.tolist() == old_values.tolist()
        else:
            np.testing.assert_allclose(new_values, old_values, rtol=1e-5, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("name", ["combined_classifier", "linear_classifier_vocabulary", "dnn_regressor_weighted"])
def test_same_signatures(name: str, tmp_path: Path) -> None:
    make_old, make_new, labels = CASES[name]
    spec = fc.make_parse_example_spec([*WIDE, *DEEP])

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices((dict(FEATURES), labels)).batch(BATCH_SIZE)

    estimator = make_old(tf.estimator.RunConfig(str(tmp_path / "old")))
    estimator.train(input_fn, steps=1)
    receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    exported = estimator.export_saved_model(str(tmp_path / "export_old"), receiver_fn)
    old = tf.saved_model.load(exported.decode())
    expected = {
        key: (
            {**f.structured_input_signature[1]},
            {n: (t.dtype, t.shape.as_list()) for n, t in f.structured_outputs.items()},
        )
        for key, f in old.signatures.items()
    }
    model = make_new(RunConfig(str(tmp_path / "new")))
    train(model, input_fn, steps=1)
    exported = export_saved_model(model, str(tmp_path / "export_new"), build_parsing_serving_input_receiver_fn(spec))
    new = tf.saved_model.load(exported.decode())
    assert set(new.signatures) == set(expected)
    features = {key: tf.train.Feature(int64_list=tf.train.Int64List(value=[3])) for key in ("room",)}
    features["age"] = tf.train.Feature(float_list=tf.train.FloatList(value=[33.0]))
    features["hours"] = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))
    for key in ("school", "city"):
        features[key] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"hs"]))
    example = tf.constant([tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()])
    for key, (inputs, outputs) in expected.items():
        function = new.signatures[key]
        assert set(function.structured_input_signature[1]) == set(inputs)
        result = function(**{next(iter(inputs)): example})
        assert {n: t.dtype for n, t in result.items()} == {n: dtype for n, (dtype, _) in outputs.items()}
        assert all(len(t.shape) == len(outputs[n][1]) for n, t in result.items())


@pytest.mark.parametrize(
    ("make", "labels", "message"),
    [
        (
            lambda c: canned.baseline_classifier(FtrlOptimizer(0.3), "sum", 3, config=c),
            [3, 0],
            "Labels must be < n_classes|label value of 3",
        ),
        (lambda c: canned.baseline_classifier(FtrlOptimizer(0.3), "sum", 3, config=c), [0.5, 0], "must be integers"),
        (lambda c: canned.baseline_classifier(FtrlOptimizer(0.3), "sum", config=c), [-1, 0], "Labels must be >= 0"),
        (
            lambda c: canned.baseline_classifier(FtrlOptimizer(0.3), "sum", 2, None, ["a", "b"], config=c),
            ["a", "c"],
            "not in the vocabulary",
        ),
        (
            lambda c: canned.baseline_regressor(FtrlOptimizer(0.3), "sum", 2, config=c),
            [1.0, 2.0],
            "must have 2 numbers",
        ),
        (lambda c: canned.baseline_regressor(FtrlOptimizer(0.3), "max", config=c), [1.0, 2.0], "'max' is unknown"),
    ],
)
def test_bad_labels_and_reductions_fail(make: Make, labels: Any, message: str, tmp_path: Path) -> None:
    model = make(RunConfig(str(tmp_path)))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        train(model, lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, labels)), steps=1)


def test_combined_models_want_columns_and_units() -> None:
    with pytest.raises(ValueError, match="Give linear_feature_columns or dnn_feature_columns"):
        canned.dnn_linear_combined_regressor("sum")
    with pytest.raises(ValueError, match="dnn_hidden_units must be given"):
        canned.dnn_linear_combined_regressor("sum", dnn_feature_columns=DEEP, dnn_optimizer=AdagradOptimizer(0.1))


def test_values_are_read_from_checkpoints(tmp_path: Path) -> None:
    model = canned.baseline_regressor(FtrlOptimizer(0.3), "sum", model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="no checkpoint"):
        variable_names(model)
    train(model, lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0])), steps=3.0)
    fresh = canned.baseline_regressor(FtrlOptimizer(0.3), "sum", model_dir=str(tmp_path))
    assert variable_names(fresh) == ["baseline/bias", "global_step"]
    assert variable_value(fresh, "global_step") == 1
    with pytest.raises(KeyError, match="other"):
        variable_value(fresh, "other")


@pytest.mark.parametrize(("servers", "parts"), [(0, 1), (1, 1), (2, 2), (3, 3), (9, 4)])
def test_parameter_servers_share_large_tables(servers: int, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the partitioner of canned Estimators makes of 256 MiB, and of as many bytes as no other server gets."""
    given: list[Any] = []

    def make_strategy(variable_partitioner: Any) -> Any:
        given.append(variable_partitioner)
        return tf.distribute.get_strategy()

    cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": [f"c:{n}" for n in range(servers)]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}}))
    monkeypatch.setattr(cluster_canned, "make_strategy", make_strategy)
    monkeypatch.setattr(canned, "compile_canned", cluster_canned.compile_canned)
    canned.baseline_regressor(AdagradOptimizer(0.1), "sum")
    old = v1.min_max_variable_partitioner(max_partitions=max(1, servers), min_slice_size=64 << 20)
    for rows, wanted in ((1 << 22, parts), (1 << 20, 1), (100, 1)):
        size = {"shape": tf.TensorShape([rows, 16]), "dtype": tf.float32}
        assert given[0](**size)[0] == old(**size)[0] == wanted
