"""Each canned Estimator with each of its arguments, migrated from its text: ten steps, weights, metrics, predictions.

Both sides run in this process without files: the model_fn of the Estimator in a graph, the Keras model in functions.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from modelfn.programs import PATH, run, units
from tensorflow.python.ops import nn_ops

from migrator.parity.probe import dropout
from migrator.parity.probe.tf1.contrib import Contrib
from migrator.vendor.vendoring import FILE_NAMES

pytestmark = [
    pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator"),
]
v1 = tf.compat.v1
CANNED = importlib.import_module("migrator.rules.canned.canned").CANNED
V1, V2 = "import tensorflow.compat.v1 as tf\n", "import tensorflow as tf\n"
STEPS, BATCH_SIZE = 10, 6
SIZE = STEPS * BATCH_SIZE
RANDOM = np.random.RandomState(3)
FEATURES = {
    "age": RANDOM.uniform(18, 80, SIZE),
    "hours": RANDOM.randn(SIZE, 1).astype("float32"),
    "near": RANDOM.randint(0, 4, SIZE),
    "far": RANDOM.randint(0, 4, (SIZE, 2)),
    "strength": RANDOM.uniform(0.5, 2.0, (SIZE, 2)).astype("float32"),
    "tags": RANDOM.choice(["", "red", "green", "blue", "?"], (SIZE, 3)),
    "weight": RANDOM.choice([0.0, 0.5, 2.0], SIZE).astype("float32"),
}
LABELS: dict[str, Any] = {
    "binary": RANDOM.randint(0, 2, SIZE),
    "classes": RANDOM.randint(0, 3, SIZE),
    "names": RANDOM.choice(["x", "y", "z"], SIZE),
    "answers": RANDOM.choice(["no", "yes"], SIZE),
    "number": RANDOM.randn(SIZE).astype("float32"),
    "numbers": RANDOM.randn(SIZE, 2).astype("float32"),
    "share": RANDOM.uniform(0, 1, (SIZE, 1)).astype("float32"),
    "several": RANDOM.randint(0, 2, (SIZE, 3)),
    "sparse": RANDOM.randint(0, 3, (SIZE, 2)),
    "count": RANDOM.poisson(2.0, SIZE),
}
LABELS["truths"] = LABELS["binary"] == 1
LABELS["heads"] = {"win": LABELS["binary"], "goals": LABELS["numbers"]}
COLUMNS = """
fc = tf.feature_column
hours, age = fc.numeric_column("hours"), fc.bucketized_column(fc.numeric_column("age"), [25, 40, 60])
tags = fc.categorical_column_with_vocabulary_list("tags", ["red", "green", "blue"])
WIDE, DEEP = [age, tags, hours], [hours, fc.embedding_column(tags, 2), fc.indicator_column(age)]
"""
MORE_COLUMNS = """
near, far = fc.categorical_column_with_identity("near", 4), fc.categorical_column_with_identity("far", 4)
strong = fc.weighted_categorical_column(far, "strength")
crossed = fc.crossed_column([age, "near", "far"], 9, hash_key=5)
listed = tf.feature_column.categorical_column_with_vocabulary_file("tags", FILE, 3, num_oov_buckets=1)
ODD, DENSE = [strong, crossed, listed], [fc.embedding_column(listed, 2, "sqrtn"), fc.indicator_column(crossed)]
"""
SHARED = "[*DENSE, *fc.shared_embedding_columns([near, strong], 2, 'sum', tf.keras.initializers.Constant(0.5), max_norm=1.2)]"
PAIR = "linear_feature_columns=WIDE, dnn_feature_columns=DEEP, dnn_hidden_units=[4]"
DECAY = "tf.train.exponential_decay(0.1, tf.train.get_global_step(), 3, 0.5)"
LEGACY = "tf.keras.optimizers.legacy"
MULTI_LABEL = """tf.estimator.MultiLabelHead(
    3, "weight", [0.3, 0.6], label_vocabulary=["x", "y", "z"], classes_for_class_based_metrics=["x", "z"])"""
SEVERAL = """tf.estimator.MultiHead([
    tf.estimator.BinaryClassHead("weight", name="win"), tf.estimator.RegressionHead(2, name="goals")], [1.0, 0.5])"""
TRAINED = {  # and the labels
    V1: [
        ("DNNClassifier([4, 3], DEEP, dropout=0.3, batch_norm=True)", "binary"),
        ("DNNClassifier([4], DEEP, optimizer='RMSProp', activation_fn=tf.nn.elu, n_classes=3)", "classes"),
        ("DNNRegressor([4], DEEP, optimizer='SGD', loss_reduction=tf.losses.Reduction.MEAN)", "number"),
        (
            "DNNRegressor([4], DEEP, optimizer='Ftrl', input_layer_partitioner=tf.min_max_variable_partitioner(2))",
            "number",
        ),
        ("DNNRegressor([4], DEEP, optimizer=tf.train.MomentumOptimizer(0.01, 0.9), activation_fn=None)", "number"),
        (
            "DNNRegressor([4], DEEP, optimizer=tf.contrib.estimator.clip_gradients_by_norm("
            "tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01), 0.5))",
            "number",
        ),
        (f"DNNRegressor([4], DEEP, optimizer=lambda: tf.train.AdamOptimizer({DECAY}))", "number"),
        ("LinearClassifier(WIDE, optimizer=tf.train.FtrlOptimizer(0.1, -0.5, 0.1, 0.1, 0.2))", "truths"),
        ("LinearRegressor(WIDE, optimizer=tf.train.RMSPropOptimizer(0.05, momentum=0.5))", "number"),
        ("LinearRegressor(WIDE, optimizer=tf.train.AdadeltaOptimizer(0.5), partitioner=None)", "number"),
        (f"DNNLinearCombinedRegressor({PAIR}, linear_optimizer='SGD', dnn_dropout=0.2, batch_norm=True)", "number"),
    ],
    V2: [
        ("DNNClassifier([4], DEEP, optimizer='Adam', dropout=0.3, batch_norm=True, n_classes=3)", "classes"),
        ("DNNRegressor([4], DEEP, optimizer='RMSProp', loss_reduction=tf.keras.losses.Reduction.SUM)", "number"),
        (f"DNNRegressor([4], DEEP, optimizer=lambda: {LEGACY}.Adam(0.02), activation_fn='tanh')", "number"),
        ("LinearRegressor(WIDE, optimizer='Adagrad', sparse_combiner='sqrtn')", "number"),
        (f"DNNLinearCombinedClassifier({PAIR}, n_classes=3)", "classes"),
        (f"DNNLinearCombinedRegressor({PAIR}, linear_optimizer={LEGACY}.Ftrl(0.1), dnn_optimizer='SGD')", "number"),
        ("LinearClassifier(WIDE, loss_reduction=tf.keras.losses.Reduction.AUTO)", "binary"),
    ],
}
EVALUATED = {
    V1: [
        ("DNNClassifier([4], DEEP, n_classes=3, label_vocabulary=['x', 'y', 'z'], weight_column='weight')", "names"),
        ("LinearClassifier(WIDE, label_vocabulary=['no', 'yes'], sparse_combiner='mean')", "answers"),
        ("LinearClassifier(WIDE, weight_column=fc.numeric_column('weight'), n_classes=3)", "classes"),
        (
            "LinearClassifier(WIDE, loss_reduction=tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, weight_column='weight')",
            "share",
        ),
        ("LinearRegressor(WIDE, label_dimension=2, weight_column='weight', sparse_combiner='sqrtn')", "numbers"),
        ("DNNRegressor([4], DEEP, weight_column='weight', loss_reduction='weighted_sum_over_batch_size')", "number"),
        ("BaselineClassifier(optimizer='Adam', weight_column='weight', label_vocabulary=['no', 'yes'])", "answers"),
        (
            f"DNNLinearCombinedEstimator(tf.contrib.estimator.binary_classification_head('weight', [0.3, 0.6]), {PAIR})",
            "binary",
        ),
        ("LinearEstimator(tf.contrib.estimator.regression_head('weight', 2, inverse_link_fn=tf.exp), WIDE)", "numbers"),
        ("BaselineEstimator(tf.contrib.estimator.multi_class_head(3, loss_reduction='weighted_sum'))", "classes"),
        ("LinearEstimator(tf.contrib.estimator.binary_classification_head(name='win'), WIDE)", "binary"),
        ("DNNRegressor([4], DEEP, label_dimension=2)", "numbers"),
        (
            f"DNNLinearCombinedClassifier({PAIR}, dnn_activation_fn=tf.nn.tanh, linear_sparse_combiner='mean', n_classes=3, "
            "label_vocabulary=['x', 'y', 'z'], weight_column='weight', loss_reduction=tf.losses.Reduction.MEAN, "
            "input_layer_partitioner=tf.min_max_variable_partitioner(2))",
            "names",
        ),
        (
            f"DNNLinearCombinedRegressor({PAIR}, label_dimension=2, weight_column='weight', dnn_optimizer='Adam')",
            "numbers",
        ),
        (
            "BaselineRegressor(label_dimension=2, weight_column='weight', loss_reduction=tf.losses.Reduction.MEAN)",
            "numbers",
        ),
        ("BaselineClassifier(n_classes=3)", "classes"),
        ("LinearRegressor(WIDE, partitioner=tf.min_max_variable_partitioner(2))", "number"),
    ],
    V2: [
        ("DNNClassifier([4], DEEP, n_classes=3, label_vocabulary=['x', 'y', 'z'], weight_column='weight')", "names"),
        ("LinearClassifier(WIDE, label_vocabulary=['no', 'yes'], weight_column='weight')", "answers"),
        ("LinearRegressor(WIDE, label_dimension=2, weight_column='weight')", "numbers"),
        ("BaselineClassifier(weight_column='weight', n_classes=3)", "classes"),
        ("BaselineRegressor(optimizer='Adam')", "number"),
        ("BaselineRegressor(label_dimension=2, loss_reduction=tf.keras.losses.Reduction.SUM)", "numbers"),
        ("BaselineClassifier(label_vocabulary=['no', 'yes'])", "answers"),
        ("LinearClassifier(WIDE, n_classes=3)", "classes"),
        ("DNNRegressor([4], DEEP, label_dimension=2)", "numbers"),
        (
            f"DNNLinearCombinedClassifier({PAIR}, dnn_activation_fn=tf.nn.tanh, dnn_dropout=0.2, batch_norm=True, n_classes=3, "
            "linear_sparse_combiner='mean', label_vocabulary=['x', 'y', 'z'], weight_column='weight', "
            "loss_reduction=tf.keras.losses.Reduction.SUM)",
            "names",
        ),
        (f"DNNLinearCombinedRegressor({PAIR}, label_dimension=2)", "numbers"),
        ("DNNEstimator(tf.estimator.MultiClassHead(3, weight_column='weight'), [4], DEEP)", "classes"),
        ("DNNEstimator(tf.estimator.PoissonRegressionHead(), [4], DEEP)", "count"),
        ("LinearEstimator(tf.estimator.BinaryClassHead('weight', [0.3], name='win'), WIDE)", "binary"),
        ("LinearEstimator(tf.estimator.LogisticRegressionHead('weight'), WIDE)", "share"),
        (f"DNNEstimator({MULTI_LABEL}, [4], DEEP)", "several"),
        (f"DNNEstimator({SEVERAL}, [4], DEEP)", "heads"),
        (f"DNNLinearCombinedEstimator({SEVERAL.replace(', [1.0, 0.5]', '')}, {PAIR})", "heads"),
        ("DNNEstimator(tf.estimator.MultiLabelHead(3, classes_for_class_based_metrics=[1]), [4], DEEP)", "sparse"),
    ],
}
CELLS = [
    pytest.param(head, *cell, table is EVALUATED, id=f"{'v1' if head == V1 else 'v2'}-{cell[0]}")
    for table in (TRAINED, EVALUATED)
    for head, cells in table.items()
    for cell in cells
]


@pytest.mark.parametrize("dialect", [V1, V2])
def test_every_argument_is_in_the_table(dialect: str) -> None:
    """But for those that say where a model is kept or starts, which have tests of their own."""
    elsewhere = {"model_dir", "config", "warm_start_from", "head", "hidden_units", "feature_columns"}
    if dialect == V2:  # which has no partitioners
        elsewhere |= {"input_layer_partitioner", "partitioner"}
    calls = [call for table in (TRAINED, EVALUATED) for call, _ in table[dialect]]
    for name, kind in CANNED.items():
        family = next(
            f for f in ("DNNLinearCombined", "DNN", "Linear", "Baseline") if name.rpartition(".")[2].startswith(f)
        )
        given = [call for call in calls if call.startswith(family) and (family != "DNN" or "Linear" not in call[:9])]
        for argument in set(kind.signature.split()) - elsewhere:
            assert any(f"{argument}=" in call for call in given), (family, argument)


@pytest.fixture(autouse=True)
def same_surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Masks of dropout that depend on nothing but the shape, and what is left of `tf.contrib`."""
    monkeypatch.setattr(v1, "contrib", Contrib(), raising=False)
    monkeypatch.setattr(nn_ops, "_dropout", nn_ops._dropout)
    dropout.install(lambda note: None)
    yield
    v1.reset_default_graph()


def batches(call: str, labels: str) -> tf.data.Dataset:
    """Ten batches. Baselines get one feature: with several, those of TensorFlow 2 take a batch to make their variable."""
    names = ["hours", "weight"][: 1 + ("weight" in call)] if call.startswith("Baseline") else list(FEATURES)
    features = {name: FEATURES[name] for name in names}
    data = tf.data.Dataset.from_tensor_slices((features, LABELS[labels])).batch(BATCH_SIZE)
    return data if labels != "sparse" else data.map(lambda x, y: (x, tf.sparse.from_dense(y)))


class Old:
    """What an Estimator does in ten steps and an evaluation."""

    def __init__(self, estimator: Any, data: Callable[[], tf.data.Dataset], evaluated: bool) -> None:
        self.model_fn, self.config, self.data = estimator.model_fn, estimator.config, data
        self.train()
        if evaluated:
            self.evaluate()

    def spec(self, mode: str) -> Any:
        v1.train.create_global_step()
        features, labels = v1.data.make_one_shot_iterator(self.data()).get_next()
        return self.model_fn(features, labels, mode, self.config)

    def session(self) -> Any:
        session = v1.Session()
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
        return session

    def train(self) -> None:
        with tf.Graph().as_default():
            v1.set_random_seed(7)
            spec = self.spec("train")
            variables = {variable.op.name: variable for variable in v1.global_variables()}
            with self.session() as session:
                self.first = session.run(variables)
                self.losses = [session.run([spec.loss, spec.train_op])[0] for _ in range(STEPS)]
                self.last = session.run(variables)

    def evaluate(self) -> None:
        with tf.Graph().as_default():
            spec = self.spec("eval")
            updates = {name: update for name, (_, update) in spec.eval_metric_ops.items()}
            values = {name: value for name, (value, _) in spec.eval_metric_ops.items()}
            with self.session() as session:
                for variable in v1.global_variables():
                    variable.load(self.last[variable.op.name], session)
                rows = [session.run([spec.predictions, spec.loss, updates]) for _ in range(STEPS)]
                self.metrics = {**session.run(values), "loss": np.mean([loss for _, loss, _ in rows])}
                self.rows = [predictions for predictions, _, _ in rows]


def migrated(text: str) -> dict[str, Any]:
    """The names of a program after migration, run with the helpers that were written for it."""
    outcomes = run(text, exact=True)
    assert all(unit.tier == "native" for unit in units(outcomes)), [unit.reason for unit in units(outcomes)]
    found: dict[str, Any] = {}
    files = [name for name in (*FILE_NAMES, PATH) if name in outcomes]
    try:
        for name in files:
            module = sys.modules[name[:-3]] = types.ModuleType(name[:-3])
            exec(compile(outcomes[name].after, name, "exec", dont_inherit=True), vars(module))
            found.update(vars(module))
    finally:
        for name in files:
            sys.modules.pop(name[:-3], None)
    return found


def paired(model: tf.keras.Model, old: dict[str, Any]) -> dict[str, tf.Variable]:
    """Variables by the names that the Estimator gave them: equal but for scopes that hold nothing else."""
    pairs = {}
    for variable in model.variables:
        scope, last = ["", *variable.name.split(":")[0].split("/")][-2:]
        found = []
        for name, value in old.items():
            scopes = name.replace("/part_0", "").split("/")
            named = scopes[-1] == last and scope in scopes
            found += [name] if named and value.shape == tuple(variable.shape) else []
        if len(found) == 1 and (variable.trainable or "moving" in last):
            pairs[found[0]] = variable
    assert {id(v) for v in model.trainable_variables} <= {id(v) for v in pairs.values()}
    return pairs


@pytest.mark.parametrize(("head", "call", "labels", "evaluated"), CELLS)
def test_same_losses_weights_and_metrics(head: str, call: str, labels: str, evaluated: bool, tmp_path: Path) -> None:
    same_training(
        f"{head}{COLUMNS}e = tf.estimator.{call[:-1]}, model_dir={str(tmp_path)!r})\n", call, labels, evaluated
    )


@pytest.mark.parametrize(
    ("head", "call"),
    [
        (V1, f"DNNRegressor([4], {SHARED})"),
        (V2, "DNNRegressor([4], DENSE)"),
        (V1, "LinearRegressor(ODD, sparse_combiner='mean')"),
        (V2, "LinearRegressor(ODD)"),
    ],
)
def test_columns(head: str, call: str, tmp_path: Path) -> None:
    vocabulary = tmp_path / "tags.txt"
    vocabulary.write_text("red\ngreen\nblue\n")
    columns = f"{COLUMNS}{MORE_COLUMNS.replace('FILE', repr(str(vocabulary)))}"
    same_training(f"{head}{columns}e = tf.estimator.{call[:-1]}, model_dir={str(tmp_path)!r})\n", call, "number", False)


def same_training(text: str, call: str, labels: str, evaluated: bool) -> None:
    before: dict[str, Any] = {}
    with tf.Graph().as_default():  # where TensorFlow 1 makes columns that share a table
        exec(compile(text, PATH, "exec", dont_inherit=True), before)
    old = Old(before["e"], lambda: batches(call, labels), evaluated)

    model = migrated(text)["e"]
    data = list(batches(call, labels))
    model(data[0][0])
    pairs = paired(model, old.first)
    for name, variable in pairs.items():
        variable.assign(old.first[name])
    losses, step = [], tf.function(model.train_step)
    for batch in data:
        model.reset_metrics()
        losses.append(float(step(batch)["loss"]))
    np.testing.assert_allclose(losses, old.losses, rtol=1e-5)
    for name, variable in pairs.items():  # within 1e-5 of the largest
        expected = old.last[name]
        np.testing.assert_allclose(variable, expected, rtol=0, atol=1e-5 * np.abs(expected).max(), err_msg=name)
    if evaluated:
        same_evaluation(model, data, old)


def same_evaluation(model: tf.keras.Model, data: list[Any], old: Old) -> None:
    model.reset_metrics()
    test, predict = tf.function(model.test_step), tf.function(model)
    for batch, expected in zip(data, old.rows):
        results, rows = test(batch), predict(batch[0])
        assert set(rows) == set(expected)
        for key, value in expected.items():
            assert rows[key].shape == value.shape
            if value.dtype == object:
                assert rows[key].numpy().tolist() == value.tolist()
            else:
                assert rows[key].dtype == value.dtype
                np.testing.assert_allclose(rows[key], value, rtol=1e-5, atol=1e-6, err_msg=key)
    metrics = {name: float(value) for name, value in results.items()}
    assert metrics == pytest.approx({name: float(value) for name, value in old.metrics.items()}, rel=1e-5, abs=1e-7)
