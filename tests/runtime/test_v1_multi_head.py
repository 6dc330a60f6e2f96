"""Heads with names, several heads, and those of TensorFlow 2, in the graph of a model_fn: as the Estimator has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.canned.heads import BinaryClassHead, MultiClassHead, RegressionHead
from migrator.runtime.canned.multi_label_head import MultiLabelHead
from migrator.runtime.canned.named_heads import named_head
from migrator.runtime.canned.regression_heads import logistic_regression_head, poisson_regression_head
from migrator.runtime.graph_contrib.v1_multi_head import MultiHead, create_head_spec
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
RANDOM = np.random.RandomState(0)
X, W = RANDOM.randn(24, 3).astype("float32"), RANDOM.uniform(0, 2, [24, 1]).astype("float32")
LABELS = {
    "binary": RANDOM.randint(0, 2, [24, 1]),
    "classes": RANDOM.randint(0, 3, [24, 1]),
    "labels": RANDOM.randint(0, 2, [24, 3]),
    "counts": RANDOM.randint(0, 5, [24, 1]).astype("float32"),
    "shares": RANDOM.rand(24, 1).astype("float32"),
    "numbers": X[:, :2] * 2 - 1,
}
MEAN = {"loss_reduction": "sum_over_batch_size"}


def old_heads() -> dict[str, Any]:
    """Heads of TensorFlow 2 by name."""
    e = tf.estimator
    return {
        "binary": e.BinaryClassHead("w", thresholds=[0.3, 0.6], name="binary"),
        "classes": e.MultiClassHead(3, name="classes"),
        "labels": e.MultiLabelHead(3, "w", [0.4], classes_for_class_based_metrics=[0, 2], name="labels"),
        "counts": e.PoissonRegressionHead(name="counts"),
        "shares": e.LogisticRegressionHead("w", name="shares"),
        "numbers": e.RegressionHead(2, "w", name="numbers"),
    }


def new_heads() -> dict[str, Any]:
    """The same as vendored ones."""
    heads = {
        "binary": BinaryClassHead("w", [0.3, 0.6], interpolate_auc=True, **MEAN),
        "classes": MultiClassHead(3, **MEAN),
        "labels": MultiLabelHead(
            3, "w", [0.4], classes_for_class_based_metrics=[0, 2], interpolate_auc=True, predict_classes=True, **MEAN
        ),
        "counts": poisson_regression_head(**MEAN),
        "shares": logistic_regression_head(weight_column="w", **MEAN),
        "numbers": RegressionHead("w", 2, **MEAN),
    }
    return {name: named_head(lambda head=head: head, name) for name, head in heads.items()}


def input_fn(names: tuple[str, ...]) -> tf.data.Dataset:
    labels = {name: LABELS[name] for name in names}
    one = labels if len(names) > 1 else labels[names[0]]
    return tf.data.Dataset.from_tensor_slices(({"x": X, "w": W}, one)).batch(5)


def arguments(features: Any, labels: Any, mode: str, units: int) -> dict[str, Any]:
    """Logits from a linear layer, and a train op."""
    kernel = v1.get_variable(
        "kernel", [3, units], initializer=v1.constant_initializer(np.linspace(-0.5, 0.5, 3 * units))
    )
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    return {
        "features": features,
        "mode": mode,
        "logits": features["x"] @ kernel,
        "labels": labels,
        "train_op_fn": lambda loss: optimizer.minimize(loss, v1.train.get_global_step()),
    }


@needs_estimators
@pytest.mark.parametrize(
    ("names", "weights"),
    [(("binary",), None), (("numbers", "binary"), [0.5, 2.0]), (tuple(LABELS), None)],
)
def test_as_in_tensorflow_2(tmp_path: Path, names: tuple[str, ...], weights: list[float] | None) -> None:
    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        heads = [old_heads()[name] for name in names]
        head = tf.estimator.MultiHead(heads, weights) if len(heads) > 1 else heads[0]
        return head.create_estimator_spec(**arguments(features, labels, mode, head.logits_dimension))

    def new_model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        heads = [new_heads()[name] for name in names]
        head = MultiHead(heads, weights) if len(heads) > 1 else heads[0]
        return create_head_spec(head, update_ops=(), **arguments(features, labels, mode, head.units))

    old = tf.estimator.Estimator(old_model_fn, str(tmp_path / "old")).train(lambda: input_fn(names), steps=4)
    model = train(graph_model(new_model_fn, str(tmp_path / "new")), lambda: input_fn(names), steps=4)
    np.testing.assert_allclose(model.tf1_variables["kernel"], old.get_variable_value("kernel"), rtol=1e-5)
    expected = {key: float(value) for key, value in old.evaluate(lambda: input_fn(names)).items()}
    results = {key: float(value) for key, value in evaluate(model, lambda: input_fn(names)).items()}
    assert results == pytest.approx(expected, rel=1e-5)
    rows, expected_rows = list(predict(model, lambda: input_fn(names))), list(old.predict(lambda: input_fn(names)))
    assert len(rows) == len(expected_rows) == len(X)
    for mine, theirs in zip(rows, expected_rows):
        assert set(mine) == set(theirs)
        for key in mine:
            if mine[key].dtype == np.float32:
                np.testing.assert_allclose(mine[key], theirs[key], rtol=1e-5, atol=1e-6, err_msg=str(key))
            else:
                assert list(mine[key]) == list(theirs[key])


def test_signatures_of_several_heads(tmp_path: Path) -> None:
    heads = new_heads()
    with tf.Graph().as_default():
        head = MultiHead([heads["numbers"], heads["binary"]])
        spec = create_head_spec(head, {}, "infer", {"numbers": tf.zeros([2, 2]), "binary": tf.zeros([2, 1])})
    assert set(spec.predictions) >= {("numbers", "predictions"), ("binary", "logistic")}
    outputs = dict(spec.export_outputs or {})
    assert outputs["serving_default"] == outputs["numbers"] == outputs["numbers/regression"]
    assert "numbers/predictions" in outputs["predict"] and "binary/classification" in outputs


@pytest.mark.parametrize(
    ("heads", "weights", "reason"),
    [
        ([], None, "needs heads"),
        ([RegressionHead()], None, "needs a name"),
        ([RegressionHead()], [1, 2], "1 heads and 2"),
    ],
)
def test_heads_that_do_not_fit(heads: list[Any], weights: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        MultiHead(heads, weights)


def test_several_heads_need_an_optimizer() -> None:
    head = MultiHead([named_head(RegressionHead, "a")])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="either an optimizer or a train_op_fn"):
        create_head_spec(head, {}, "train", {"a": tf.zeros([2, 1])}, {"a": tf.zeros([2, 1])})
