"""Each function of `tf.metrics`, as it is written, against its kernel: types and shapes of labels, shapes of weights, edges."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from modelfn.programs import LOSS, TRAIN_OP, method, migrate, model_fn

from migrator.runtime.losses_metrics import mean_errors, metrics, metrics_contrib

RANDOM = np.random.RandomState(0)
SPEC = 'return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops={"m": %s})'
SIZES = (7, 3)
N, COLUMN, SCALAR = (None,), (None, 1), ()
SHAPES = {"[n]": N, "[n, 1]": COLUMN}
LABELS = ("int64", "float32", "bool")
WEIGHTS: dict[str, tuple[str, Any]] = {
    **{"none": ("", None), "[n]": ("float32", N), "[n, 1]": ("float32", COLUMN), "scalar": ("float32", SCALAR)},
    **{"int [n]": ("int32", N), "zero [n]": ("float32", N)},
}
V1 = types.SimpleNamespace(metrics=tf.compat.v1.metrics, int64=tf.int64, cast=tf.cast)

DIFFER_WITHOUT_POSITIVE_LABELS = ("auc(labels, predictions",)
"""Of which the owner of a program is told so."""

Given = dict[str, Any]  # labels, predictions and weights: arrays of one batch, or what a graph has for them
Variant = tuple[str, ...]

# What is called, types of labels (most shapes are tried with that one) and predictions, and how many variants the kernel takes.
PAIRS: list[tuple[str, str, str, int]] = [
    *(("accuracy(labels, predictions", "int64", kind, 29) for kind in ("float32", "int64", "bool")),
    *(
        (f"{name}(labels, predictions", "int64", kind, 29)
        for name in ("precision", "recall")
        for kind in ("float32", "int64", "bool")
    ),
    *(
        (f"{name}(labels, predictions", "int64", "int64", 29)
        for name in ("true_positives", "true_negatives", "false_positives", "false_negatives")
    ),
    *(
        (f"{name}_at_thresholds(labels, predictions, [0.3, 0.6]", "int64", "float32", 29)
        for name in ("precision", "recall", "true_positives", "true_negatives", "false_positives", "false_negatives")
    ),
    ("auc(labels, predictions", "int64", "float32", 29),
    ("auc(labels, predictions, curve='PR'", "int64", "float32", 29),
    ("auc(labels, predictions, curve='PR', summation_method='careful_interpolation'", "int64", "float32", 29),
    ("sensitivity_at_specificity(labels, predictions, 0.4", "int64", "float32", 29),
    ("specificity_at_sensitivity(labels, predictions, 0.4", "int64", "float32", 29),
    ("mean_squared_error(labels, predictions", "float32", "float32", 17),
    ("mean_absolute_error(labels, predictions", "float32", "float32", 17),
    ("root_mean_squared_error(labels, predictions", "float32", "float32", 17),
    ("mean_relative_error(labels, predictions, labels + 0.5", "float32", "float32", 17),
    ("mean(predictions", "int64", "float32", 29),
    ("mean(labels", "int64", "float32", 29),
    ("percentage_below(predictions, 0.5", "int64", "float32", 29),
    *(("mean_iou(labels, predictions, 2", "int64", kind, 16) for kind in ("float32", "int64")),
    ("mean_per_class_accuracy(labels, predictions, 2", "int64", "int64", 29),
]


def drawn(kind: str, shape: tuple[Any, ...], size: int) -> np.ndarray:
    """Values of a type: probabilities, or zeros and ones."""
    full = tuple(size if axis is None else axis for axis in shape)
    return RANDOM.uniform(0.0, 1.0, full).astype(kind) if kind == "float32" else RANDOM.randint(0, 2, full).astype(kind)


def batches(labelled: str, predictions: str) -> list[Given]:
    """Batches that hold every input of every variant; the values are the same whatever their shape."""
    found = []
    for size in SIZES:
        given: Given = {}
        labels, values = RANDOM.randint(0, 2, size), drawn(predictions, N, size)
        weights = RANDOM.choice([0.0, 1.0, 2.0, 3.0], size)
        for name, shape in SHAPES.items():
            full = tuple(size if axis is None else axis for axis in shape)
            for kind in LABELS:
                given[f"{kind} {name}"] = labels.astype(kind).reshape(full)
            given[f"predictions {name}"] = values.reshape(full)
        for label in (0, 1):
            given[f"only {label}"] = np.full(size, label, labelled)
        for name, (kind, shape) in WEIGHTS.items():
            if kind:
                full = tuple(size if axis is None else axis for axis in shape)
                values = np.zeros(size) if name == "zero [n]" else weights if shape else np.array(2.0)
                given[f"weights {name}"] = values.astype(kind).reshape(full)
        found.append(given)
    return found


def variants(labelled: str) -> list[Variant]:
    """Which input stands for labels, predictions and weights; the last of them are edges."""
    shapes = [("[n]", "[n]"), ("[n, 1]", "[n]"), ("[n]", "[n, 1]"), ("[n, 1]", "[n, 1]")]
    found = [
        (f"{kind} {labels}", f"predictions {predictions}", f"weights {weights}")
        for kind in LABELS
        for labels, predictions in (shapes if kind == labelled else shapes[:2])
        for weights in ("none", "[n]", "[n, 1]")
    ]
    found += [(f"{labelled} [n]", "predictions [n]", f"weights {name}") for name in ("scalar", "int [n]", "zero [n]")]
    return [*found, *((f"only {label}", "predictions [n]", "weights none") for label in (0, 1))]


def specs(given: Given) -> dict[str, Any]:
    """What a graph knows of the inputs: all but the size of a batch."""
    shapes = {"scalar": SCALAR, "[n, 1]": COLUMN}
    return {
        name: tf.TensorSpec(next((s for end, s in shapes.items() if name.endswith(end)), N), value.dtype)
        for name, value in given.items()
    }


def called(head: str, weights: str) -> str:
    return f"{head})" if weights == "weights none" else f"{head}, weights=features['w'])"


def run_old(head: str, data: list[Given], tried: list[Variant]) -> dict[Variant, tuple[np.ndarray, np.ndarray]]:
    """What the kernels report, for those of the variants that they take."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True  # takes longer than the kernels
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        inputs = {n: tf.compat.v1.placeholder(spec.dtype, spec.shape) for n, spec in specs(data[0]).items()}
        built = {}
        for variant in tried:
            labels, predictions, weights = (inputs.get(name) for name in variant)
            scope = {"tf": V1, "features": {"w": weights}, "labels": labels, "predictions": predictions}
            try:
                built[variant] = eval(f"tf.metrics.{called(head, variant[2])}", scope)
            except (ValueError, TypeError):
                continue
        session.run(tf.compat.v1.local_variables_initializer())
        values = {variant: value for variant, (value, _) in built.items()}
        without = session.run(values)
        for given in data:
            fed = {inputs[name]: array for name, array in given.items()}
            try:
                session.run([update.op for _, update in built.values()], fed)
            except tf.errors.InvalidArgumentError as problem:
                raise AssertionError(f"{head}: {problem}") from problem
        return {variant: (without[variant], value) for variant, value in session.run(values).items()}


def written(head: str, weights: str) -> tuple[str, str]:
    """How the metric is made, and the method that updates it."""
    call = f"tf.metrics.{called(head, weights)}"
    # Outputs of any rank, as these are: of outputs [n, k] some metrics move to `compile`, for which [n] would be wrong.
    body = "predictions = tf.reshape(tf.layers.dense(features['x'], 3), features['shape'])"
    text = migrate(model_fn(body, end=f"{LOSS}\n{TRAIN_OP}\n{SPEC % call}"))
    compiled = re.search(r"metrics=\[(.*)\]", text)
    if compiled is not None:  # Keras gives it labels and output as they are
        return (
            f"self.m = {compiled[1]}",
            "def compute_metrics(self, x, y, y_pred, sample_weight): self.m.update_state(y, y_pred)",
        )
    made = next(line for line in method(text, "__init__").splitlines() if "self.m = " in line)
    return made.strip(), method(text, "compute_metrics")


def run_new(head: str, data: list[Given], tried: list[Variant]) -> dict[Variant, tuple[np.ndarray, np.ndarray]]:
    """What the migrated metric reports, in a graph that does not know the size of a batch."""
    models: dict[Variant, tuple[Any, Callable[..., Any]]] = {}
    texts = {kind: written(head, kind) for kind in ("weights none", "weights [n]")}
    for variant in tried:
        made, update = texts["weights none" if variant[2] == "weights none" else "weights [n]"]
        scope: dict[str, Any] = {"tf": tf, **vars(metrics_contrib), **vars(metrics), **vars(mean_errors)}
        model = types.SimpleNamespace(get_metrics_result=lambda: None)
        exec(made, scope, {"self": model})
        exec(update, scope)
        models[variant] = model, scope["compute_metrics"]

    def step(given: Given) -> None:
        for (labels, predictions, weights), (model, update) in models.items():
            try:
                update(model, {"w": given.get(weights)}, given[labels], given[predictions], None)
            except Exception as problem:
                raise AssertionError(f"{labels}, {predictions}, {weights}: {problem}") from problem

    without = {variant: np.asarray(model.m.result()) for variant, (model, _) in models.items()}
    compiled = tf.function(step, autograph=False, input_signature=[specs(data[0])])
    for given in data:
        compiled({name: tf.constant(value) for name, value in given.items()})
    return {variant: (without[variant], np.asarray(model.m.result())) for variant, (model, _) in models.items()}


def differing(expected: np.ndarray, found: np.ndarray) -> bool:
    """Whether values differ; an array of one number is that number."""
    alike = np.squeeze(found).shape == np.squeeze(expected).shape
    return not alike or not np.allclose(np.squeeze(found), np.squeeze(expected), rtol=2e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize(("head", "labelled", "kind", "taken"), PAIRS, ids=str)
def test_as_the_kernel(head: str, labelled: str, kind: str, taken: int) -> None:
    data = batches(labelled, kind)
    old = run_old(head, data, variants(labelled))
    new = run_new(head, data, list(old))
    problems = [
        f"{', '.join(variant)}, {when}: {found} instead of {value}"
        for variant in old
        for when, value, found in zip(("no batch", "all batches"), old[variant], new[variant])
        if differing(value, found) and not (variant[0] == "only 0" and head in DIFFER_WITHOUT_POSITIVE_LABELS)
    ]
    assert not problems, "\n".join([head, *problems])
    assert len(old) == taken
