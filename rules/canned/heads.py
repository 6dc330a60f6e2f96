"""What the outputs of a canned Estimator mean: its head as data, with the loss, metrics and predictions that Keras has."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

Keys = frozenset[str]
_CURVE = "auc_precision_recall"
_LOSSES = {
    "binary": ("BinaryCrossentropy", "from_logits=True"),
    "classes": ("SparseCategoricalCrossentropy", "from_logits=True"),
    "labels": ("BinaryCrossentropy", "from_logits=True"),
    "numbers": ("MeanSquaredError", ""),
    "shares": ("BinaryCrossentropy", "from_logits=True"),
}
_MEANS = ("label/mean", "prediction/mean")
_GONE = {"binary": ("accuracy_baseline", *_MEANS), "numbers": _MEANS, "shares": _MEANS, "rates": _MEANS}
"""Metrics of an Estimator that few want, and that Keras has no name for."""
_PREDICTED = {
    "binary": "{tf}.sigmoid(y_pred)",
    "numbers": "y_pred",
    "shares": "{tf}.sigmoid(y_pred)",
    "rates": "{tf}.exp(y_pred)",
}
_PREDICTIONS = {
    "binary": {
        "logits": "logits",
        "logistic": "{tf}.sigmoid(logits)",
        "probabilities": "{tf}.sigmoid({tf}.concat([-logits, logits], axis=1))",
        "class_ids": "{tf}.cast(logits > 0, {tf}.int64)",
        "classes": "{tf}.strings.as_string(class_ids)",
    },
    "classes": {
        "logits": "logits",
        "probabilities": "{tf}.nn.softmax(logits)",
        "class_ids": "{tf}.argmax(logits, axis=1)[:, {tf}.newaxis]",
        "classes": "{tf}.strings.as_string(class_ids)",
    },
    "labels": {"logits": "logits", "probabilities": "{tf}.sigmoid(logits)"},
    "numbers": {"predictions": "super().predict_step(data)"},
    "shares": {"predictions": "{tf}.sigmoid(logits)", "logits": "logits"},
    "rates": {"predictions": "{tf}.exp(logits)", "logits": "logits"},
}
_REPEATED = {
    "binary": ("all_class_ids", "all_classes"),
    "classes": ("all_class_ids", "all_classes"),
    "labels": ("classes",),
}
"""What an Estimator tells of each example, though it is the same for all."""
_CLASSIFIED, _REGRESSED = "{model}.classify({features})", '{{"outputs": {model}({features})}}'
_SHARE, _RATE = ('{{"outputs": {tf}.%s({model}({features}))}}' % function for function in ("sigmoid", "exp"))
_BY_TEXT = {
    "binary": (
        ("serving_default", _CLASSIFIED),
        ("classification", _CLASSIFIED),
        ("regression", _SHARE),
    ),
    "classes": (("serving_default", _CLASSIFIED), ("classification", _CLASSIFIED)),
    "numbers": (("serving_default", _REGRESSED), ("regression", _REGRESSED)),
    "shares": (("serving_default", _SHARE), ("regression", _SHARE)),
    "rates": (("serving_default", _RATE), ("regression", _RATE)),
}
"""Signatures of SavedModels that are fed strings, beside the one for predictions."""
_WORDS = {"rates": "Logarithms of rates", "numbers": "Predictions"}


@dataclass(frozen=True)
class Head:
    """The head of a canned Estimator, of which everything is understood."""

    kind: str
    """``binary``, ``classes``, ``labels`` (any number of classes for an example), ``numbers``, ``shares`` or ``rates``."""
    units: int
    """Width of the output: classes, of which two have one logit, or numbers."""
    reduction: str
    """Of the losses of a batch: ``sum``, ``sum_over_batch_size``, ``sum_by_nonzero_weights`` or ``mean``."""
    interpolates: bool
    """Whether its precision-recall curves are those of Keras."""
    thresholds: tuple[float, ...] = ()
    """Of metrics beside the usual ones."""
    classes: tuple[int, ...] = ()
    """Those with metrics of their own."""
    name: str = ""
    """What the names of its metrics end with."""
    full_loss: bool = True
    """Whether a loss of rates has its constant term."""
    call: ast.Call | None = None
    """What makes it, where the Estimator has an argument for one."""
    statement: ast.Assign | None = None
    """What holds it, and goes."""

    @property
    def classifies(self) -> bool:
        """Whether its outputs are logits of classes."""
        return self.kind in ("binary", "classes", "labels")

    @property
    def summed(self) -> bool:
        """Whether the losses of a batch are added up, not averaged."""
        return self.reduction == "sum"

    @property
    def has_logits(self) -> bool:
        """Whether predictions are functions of its outputs."""
        return self.kind != "numbers"

    @property
    def sees_probabilities(self) -> bool:
        """Whether its metrics get probabilities, for which some have thresholds."""
        return bool(self.thresholds or self.classes)

    @property
    def words(self) -> str:
        """What its outputs are, in words."""
        return _WORDS.get(self.kind, "Logits")

    # -- the loss -----------------------------------------------------------------------------------------------------

    def loss(self, tf: str) -> Iterator[str]:
        """The arguments of `compile` for the loss."""
        if self.kind == "rates":
            yield "loss=poisson_loss"
            return
        name, told = _LOSSES[self.kind]
        given = ", ".join([*([told] if told else []), *(['reduction="sum"'] if self.summed else [])])
        yield f"loss={tf}.keras.losses.{name}({given})"
        if self.summed and self.units > 1 and self.kind in ("numbers", "shares"):
            yield f"loss_weights={float(self.units)}"  # as Keras has the mean of the losses of an example

    def beside(self, tf: str, wanted: Keys) -> Iterator[str]:
        """Functions and classes that the loss or the metrics need."""
        if self.kind == "rates":
            full = ", compute_full_loss=True" if self.full_loss else ""
            yield (
                "def poisson_loss(y_true, log_rates):\n"
                f"    return {tf}.nn.log_poisson_loss({tf}.cast(y_true, {tf}.float32), log_rates{full})"
            )
        if any(
            name.startswith("auc") and f"/{self._said(number)}" in name for number in self.classes for name in wanted
        ):
            yield (
                f"class ClassAUC({tf}.keras.metrics.AUC):\n"
                '    """The area below the curve of one class."""\n\n'
                "    def __init__(self, class_id, **kwargs):\n"
                "        super().__init__(**kwargs)\n"
                "        self.class_id = class_id\n\n"
                "    def update_state(self, y_true, y_pred, sample_weight=None):\n"
                "        own = slice(self.class_id, self.class_id + 1)\n"
                "        return super().update_state(y_true[:, own], y_pred[:, own], sample_weight)"
            )

    # -- metrics ------------------------------------------------------------------------------------------------------

    def metrics(self, tf: str) -> dict[str, str]:
        """The calls that make its metrics, by the names that an Estimator has."""
        made = dict(self._metrics(tf))
        if not self.interpolates:  # whose curve has straight lines
            made = {name: text for name, text in made.items() if not name.startswith(_CURVE)}
        return {self._named(name): text.replace("NAME", self._named(name)) for name, text in made.items()}

    def rare_metrics(self, tf: str) -> dict[str, str]:
        """Those that are there only if the program reads them."""
        predicted = _PREDICTED.get(self.kind, "").format(tf=tf)
        texts = {"label/mean": "y_true", "prediction/mean": "y_pred" if self.sees_probabilities else predicted}
        wrapped = f"{tf}.keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: "
        return {self._named(n): f'{wrapped}{texts[n]}, name="{self._named(n)}")' for n in _MEANS if n in self._gone()}

    def _gone(self) -> tuple[str, ...]:
        return _GONE.get(self.kind, ())

    def left_out(self) -> list[str]:
        """The names of metrics that an Estimator has besides."""
        curves = [_CURVE, *(f"{_CURVE}/{self._said(number)}" for number in self.classes)]
        curve = curves if self.kind in ("binary", "labels") and not self.interpolates else []
        return sorted(self._named(name) for name in (*self._gone(), *curve))

    def _named(self, name: str) -> str:
        return f"{name}/{self.name}" if self.name else name

    @staticmethod
    def _said(number: int) -> str:
        return f"class{number}"

    def _metrics(self, tf: str) -> Iterator[tuple[str, str]]:
        metrics = f"{tf}.keras.metrics."
        logits = "" if self.sees_probabilities else ", from_logits=True"
        if self.kind == "binary":
            zero = "" if self.sees_probabilities else "threshold=0.0"
            yield "accuracy", f'{metrics}BinaryAccuracy(name="NAME"{f", {zero}" if zero else ""})'
        if self.kind in ("binary", "labels"):
            yield "auc", f'{metrics}AUC(name="NAME"{logits})'
            yield _CURVE, f'{metrics}AUC(name="NAME", curve="PR"{logits})'
        if self.kind in ("binary", "labels", "shares"):
            yield "average_loss", f'{metrics}BinaryCrossentropy(name="NAME"{logits})'
        if self.kind == "binary":
            zero = "" if self.sees_probabilities else ", thresholds=0.0"
            yield "precision", f'{metrics}Precision(name="NAME"{zero})'
            yield "recall", f'{metrics}Recall(name="NAME"{zero})'
        if self.kind == "classes":
            yield "accuracy", f'{metrics}SparseCategoricalAccuracy(name="NAME")'
            yield "average_loss", f'{metrics}SparseCategoricalCrossentropy(name="NAME"{logits})'
        if self.kind == "numbers":
            yield "average_loss", f'{metrics}MeanSquaredError(name="NAME")'
        if self.kind == "rates":
            yield "average_loss", f'{metrics}MeanMetricWrapper(poisson_loss, name="NAME")'
        for threshold in self.thresholds:
            at = f"positive_threshold_{threshold:g}"
            yield f"accuracy/{at}", f'{metrics}BinaryAccuracy(name="NAME", threshold={threshold})'
            yield f"precision/{at}", f'{metrics}Precision(name="NAME", thresholds={threshold})'
            yield f"recall/{at}", f'{metrics}Recall(name="NAME", thresholds={threshold})'
        for number in self.classes:
            share = f"lambda y_true, y_pred: y_pred[:, {number} : {number + 1}]"
            yield (
                f"probability_mean/{self._said(number)}",
                f'{metrics}MeanMetricWrapper({share}, name="NAME")',
            )
            yield f"auc/{self._said(number)}", f'ClassAUC({number}, name="NAME")'
            yield f"{_CURVE}/{self._said(number)}", f'ClassAUC({number}, name="NAME", curve="PR")'

    # -- predictions --------------------------------------------------------------------------------------------------

    def predictions(self, tf: str) -> dict[str, str]:
        """The expressions of its predictions, by their names."""
        return {name: text.format(tf=tf) for name, text in _PREDICTIONS[self.kind].items()}

    @property
    def by_text(self) -> tuple[tuple[str, str], ...]:
        """Signatures that serve strings, by their names, each as a template of a model and its features."""
        return _BY_TEXT.get(self.kind, ())

    @property
    def repeated(self) -> list[str]:
        """Predictions that an Estimator has besides."""
        told = self.interpolates or self.kind != "labels"
        return list(_REPEATED.get(self.kind, ())) if told else []


def metrics_of(
    head: Head, read: Keys | None, named: Keys, more: Collection[str] = ()
) -> tuple[list[str], list[str]] | str:
    """Metrics that evaluations have, and those that they have no more; or why that does not do.

    `read` are those that the program reads; None: it may read any, if it has it among the texts that are `named` in it. It
    adds `more` itself.
    """
    known, rare = {**head.metrics("tf"), **dict.fromkeys(more, "")}, head.rare_metrics("tf")
    rare = {name: text for name, text in rare.items() if name not in known}
    if read is None:
        gone = [name for name in head.left_out() if name not in more and (name not in rare or name not in named)]
        missing = sorted(set(gone) & named)
        if missing:
            return f"`{missing[0]}` of an evaluation"
        return [*known, *(name for name in rare if name in named)], gone
    known |= rare
    missing = sorted(read - {"loss", "global_step", *known})
    return f"`{missing[0]}` of an evaluation" if missing else ([name for name in known if name in read], [])


def predictions_of(
    head: Head, read: Keys | None, named: Keys, more: Collection[str] = ()
) -> tuple[list[str], list[str]] | str:
    """What predictions hold, and what they do no more; the rest is as above."""
    known = [*head.predictions("tf"), *more]
    if read is None:
        missing = sorted(set(head.repeated) & named)
        return f"`{missing[0]}` of predictions" if missing else (list(known), head.repeated)
    missing = sorted(read - set(known))
    return f"`{missing[0]}` of predictions" if missing else ([name for name in known if name in read], [])
