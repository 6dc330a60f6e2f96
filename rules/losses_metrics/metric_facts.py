"""What each function of `tf.metrics` is in Keras: the class, and what has to be done to labels, predictions and weights first.

TensorFlow 1 treats them alike in all of its metrics: the last axis goes, where it has size one, from whichever of labels and
predictions has one axis more, weights get or lose one in the same way, and are then broadcast. Keras does most of this; what it
does not is said here by metric. `tests/runtime/test_metric_table.py` compares all of it with the kernels of TensorFlow 1.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

TAIL = "metrics_collections updates_collections name"
WEIGHTS = "sample_weight=weights"
_PAIR = f"labels predictions weights {TAIL}"
_UPDATE = f"labels predictions {WEIGHTS}"


class Cast(enum.Enum):
    """What TensorFlow 1 casts, and Keras does not."""

    NONE = ""
    TO_LABELS = "the predictions, to the type of the labels: 0.7 is 0 beside whole numbers, and true beside truths"
    TO_BOOL = "both: all that is not zero is positive, where Keras asks for more than a threshold of 0.5"


@dataclass(frozen=True)
class MetricFact:
    """One function of `tf.metrics`. `arguments` and `update` list parameters of it, as ``new=old`` or ``old`` (by place)."""

    keras: str
    """The class: of `tf.keras.metrics`, or a vendored one where a plus stands before it."""
    parameters: str = _PAIR
    arguments: str = ""
    """What the class is made with."""
    update: str = _UPDATE
    """What `update_state` gets."""
    cast: Cast = Cast.NONE
    squeezes: bool = True
    """Whether the class itself takes weights with predictions ``[batch, 1]`` beside labels ``[batch]``."""
    dtype: str = ""
    """What its variables have to be, where there are weights."""
    differs: str = ""
    """Where the class still differs, and nothing is done about it."""


def _counted(keras: str) -> MetricFact:
    return MetricFact(keras, cast=Cast.TO_BOOL, squeezes=False)


def _at_thresholds(keras: str) -> MetricFact:
    alone = "a list of one threshold gives a number, in TensorFlow 1 an array of one"
    parameters = f"labels predictions thresholds weights {TAIL}"
    return MetricFact(keras, parameters, "thresholds=thresholds", squeezes=False, differs=alone)


def _at_k(keras: str) -> MetricFact:
    return MetricFact(f"+{keras}", f"labels predictions k class_id weights {TAIL}", "k class_id=class_id")


def _at_top_k(keras: str) -> MetricFact:
    parameters = f"labels predictions_idx k class_id weights {TAIL}"  # k is for the name alone
    return MetricFact(f"+{keras}", parameters, "class_id=class_id", f"labels predictions_idx {WEIGHTS}")


def _near(keras: str, value: str) -> MetricFact:
    parameters = f"labels predictions {value} weights num_thresholds {TAIL}"
    return MetricFact(f"+{keras}", parameters, f"{value} num_thresholds=num_thresholds")


_COUNTS = {
    "precision": "Precision", "recall": "Recall", "true_positives": "TruePositives", "true_negatives": "TrueNegatives",
    "false_positives": "FalsePositives", "false_negatives": "FalseNegatives",
}  # fmt: skip
_CLASSES = f"labels predictions num_classes weights {TAIL}"
_VALUES = f"values weights {TAIL}"
_CURVE = (
    "labels predictions weights num_thresholds metrics_collections updates_collections curve name summation_method "
    "thresholds"
)
_AVERAGE_PRECISION = MetricFact("+AveragePrecisionAtK", f"labels predictions k weights {TAIL}", "k")

METRICS: dict[str, MetricFact] = {
    "accuracy": MetricFact("Accuracy", cast=Cast.TO_LABELS),
    "mean": MetricFact("Mean", _VALUES, update=f"values {WEIGHTS}"),
    "mean_tensor": MetricFact("MeanTensor", _VALUES, update=f"values {WEIGHTS}"),
    "root_mean_squared_error": MetricFact("RootMeanSquaredError"),
    "mean_relative_error": MetricFact(
        "+MeanRelativeError",
        f"labels predictions normalizer weights {TAIL}",
        update=f"labels predictions normalizer {WEIGHTS}",
    ),
    "mean_cosine_distance": MetricFact("+MeanCosineDistance", f"labels predictions dim weights {TAIL}", "dim"),
    # With Keras 3 the matrix is one of whole numbers otherwise, and so are its weights.
    "mean_iou": MetricFact("MeanIoU", _CLASSES, "num_classes", dtype="float32"),
    "mean_per_class_accuracy": MetricFact("+MeanPerClassAccuracy", _CLASSES, "num_classes"),
    "auc": MetricFact(
        "+RiemannAUC",
        _CURVE,
        "num_thresholds=num_thresholds curve=curve summation_method=summation_method thresholds=thresholds",
    ),
    **{short: _counted(keras) for short, keras in _COUNTS.items()},
    **{f"{short}_at_thresholds": _at_thresholds(keras) for short, keras in _COUNTS.items()},
    **{short: _at_k("PrecisionAtK") for short in ("precision_at_k", "sparse_precision_at_k")},
    "recall_at_k": _at_k("RecallAtK"),
    "precision_at_top_k": _at_top_k("PrecisionAtK"),
    "recall_at_top_k": _at_top_k("RecallAtK"),
    "average_precision_at_k": _AVERAGE_PRECISION,
    "sparse_average_precision_at_k": _AVERAGE_PRECISION,
    "sensitivity_at_specificity": _near("SensitivityNearSpecificity", "specificity"),
    "specificity_at_sensitivity": _near("SpecificityNearSensitivity", "sensitivity"),
}
"""By their names in `tf.metrics`; `percentage_below`, the mean of a comparison, is in metrics.py."""

AUC = MetricFact(
    "AUC",
    _CURVE,
    "num_thresholds=num_thresholds curve=curve thresholds=thresholds",
    squeezes=False,
    differs="predictions outside of [0, 1], which TensorFlow 1 takes where labels are truths; labels that are neither 0 nor 1; "
    "and where no label is positive it is 0, in TensorFlow 1 up to 1",
)
"""`auc` where it is seen to be of the ROC curve by trapezoids, or to interpolate the precision-recall curve with care."""

CONTRIB_METRICS: dict[str, MetricFact] = {
    "f1_score": MetricFact(
        "+BestF1Score", f"labels predictions weights num_thresholds {TAIL}", "num_thresholds=num_thresholds"
    ),
    "streaming_pearson_correlation": MetricFact("+PearsonCorrelation", f"predictions labels weights {TAIL}"),
}
"""Those of `tf.contrib.metrics` that are none of `tf.metrics` under another name; the others are in `rules/contrib/`."""

INNER_METRICS: dict[str, MetricFact] = {
    "_streaming_confusion_matrix": MetricFact(
        "+ConfusionMatrix", "labels predictions num_classes weights", "num_classes"
    ),
}
"""Those that TensorFlow makes others of, and programs as well: of `tensorflow.python.ops.metrics_impl`."""
