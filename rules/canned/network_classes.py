"""The Keras model that a canned Estimator becomes: its class, how it is compiled, what it predicts and evaluates."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping

from .networks import Network

Keys = frozenset[str]
_NOT_OF_KERAS = {
    "binary": frozenset({"accuracy_baseline", "label/mean", "prediction/mean"}),
    "classes": frozenset[str](),
    "numbers": frozenset({"label/mean", "prediction/mean"}),
}
"""Metrics of an Estimator that Keras has no name for."""
_INTERPOLATED = "auc_precision_recall"
_METRICS = {
    "binary": {
        "accuracy": 'BinaryAccuracy(name="accuracy", threshold=0.0)',
        "auc": 'AUC(name="auc", from_logits=True)',
        _INTERPOLATED: f'AUC(name="{_INTERPOLATED}", curve="PR", from_logits=True)',
        "average_loss": 'BinaryCrossentropy(name="average_loss", from_logits=True)',
        "precision": 'Precision(name="precision", thresholds=0.0)',
        "recall": 'Recall(name="recall", thresholds=0.0)',
    },
    "classes": {
        "accuracy": 'SparseCategoricalAccuracy(name="accuracy")',
        "average_loss": 'SparseCategoricalCrossentropy(name="average_loss", from_logits=True)',
    },
    "numbers": {"average_loss": 'MeanSquaredError(name="average_loss")'},
}
_LOSSES = {
    "binary": ("BinaryCrossentropy", "from_logits=True"),
    "classes": ("SparseCategoricalCrossentropy", "from_logits=True"),
    "numbers": ("MeanSquaredError", ""),
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
    "numbers": {"predictions": "super().predict_step(data)"},
}
_REPEATED = ("all_class_ids", "all_classes")
"""What an Estimator tells of each example, though it is the same for all."""


def head_of(network: Network) -> str:
    """What the output of a network is: ``binary``, ``classes`` or ``numbers``."""
    return "numbers" if not network.classifies else "binary" if network.units == 1 else "classes"


def metrics_of(network: Network, read: Keys | None) -> tuple[list[str], list[str]] | str:
    """Metrics that its evaluations have, and those that they have no more; or why that does not do.

    `read` are those that the program reads; None: it may read any.
    """
    head = head_of(network)
    known, gone = dict(_METRICS[head]), set(_NOT_OF_KERAS[head])
    if head == "binary" and network.construction.dialect == "v1":  # whose curve has straight lines
        gone.add(_INTERPOLATED)
        known.pop(_INTERPOLATED)
    if read is None:
        return list(known), sorted(gone)
    missing = sorted(read - {"loss", "global_step", *known})
    return f"`{missing[0]}` of an evaluation" if missing else ([name for name in known if name in read], [])


def predictions_of(network: Network, read: Keys | None) -> tuple[list[str], list[str]] | str:
    """What its predictions hold, and what they do no more; the rest is as above."""
    known = _PREDICTIONS[head_of(network)]
    if read is None:
        return list(known), list(_REPEATED) if network.classifies else []
    missing = sorted(read - set(known))
    return f"`{missing[0]}` of predictions" if missing else ([name for name in known if name in read], [])


class NetworkWriter:
    """Writes the model of one canned Estimator.

    Args:
      metrics, predictions: names of those that the program reads.
      tf: the file's name for TensorFlow.
    """

    def __init__(
        self, network: Network, name: str, metrics: Collection[str], predictions: Collection[str], tf: str
    ) -> None:
        self.network, self.name = network, name
        self.metrics, self.predictions = list(metrics), list(predictions)
        self.tf, self.layers = tf, f"{tf}.keras.layers"
        self.head = head_of(network)

    # -- the class ----------------------------------------------------------------------------------------------------

    def parts(self) -> list[str]:
        """The class, and what it needs beside it."""
        return [*self.beside(), "\n".join(self.lines())]

    def lines(self) -> list[str]:
        """Those of the class."""
        return [*self._class(), *self._losses(), *self._train_step(), *self._predict_step()]

    @property
    def _units(self) -> str:
        """The width of the output, in the constructor."""
        given = [name for name in ("n_classes", "label_dimension") if name in self.network.parameters]
        return given[0] if given else "1"

    def _class(self) -> Iterator[str]:
        network = self.network
        output = "Logits" if network.classifies else "Predictions"
        sums, layers = "a weighted sum of feature columns", "a network on feature columns"
        what = f"{sums} plus a network on others, each with an optimizer of its own" if network.combined else ""
        what = what or (layers if network.kind == "DNN" else sums)
        yield f"class {self.name}({self.tf}.keras.Model):"
        yield f'    """{output} [batch, {network.units}]: {what}."""'
        yield ""
        yield f"    def __init__(self, {', '.join(network.parameters)}):"
        yield "        super().__init__()"
        if network.kind != "DNN":
            yield from self._sum()
        if network.kind != "Linear":
            yield from self._network()
        if "label_vocabulary" in network.given:
            yield f"        self.class_ids = {self.layers}.StringLookup(vocabulary=label_vocabulary, num_oov_indices=0)"
            yield from ["        self.label_vocabulary = label_vocabulary"] if "classes" in self.predictions else []
        if "weight_column" in network.given:
            yield "        self.weight_column = weight_column"
        yield ""
        yield from self._call()

    def _sum(self) -> Iterator[str]:
        """The layers of a linear model."""
        combiner, columns = (self.network.argument(name, "linear") for name in ("sparse_combiner", "feature_columns"))
        units = "" if self._units == "1" else f", {self._units}"
        more = f", {combiner}" if combiner in self.network.given else ""
        yield f"        self.columns = [column_weights(column{units}{more}) for column in {columns}]"
        yield f'        self.bias = self.add_weight(name="bias", shape=[{self._units}], initializer="zeros")'

    def _network(self) -> Iterator[str]:
        """Layers on each other."""
        given, name = self.network.given, self.network.argument
        widths, columns = name("hidden_units", "dnn"), name("feature_columns", "dnn")
        function = name("activation_fn", "dnn")
        activation = function if function in given else '"relu"'
        dense = f"{self.layers}.Dense(units, activation={activation})"
        yield f"        self.input_layer = {self.layers}.DenseFeatures({columns})"
        yield f"        self.hidden_layers = [{dense} for units in {widths}]"
        if self.network.dropout:
            yield f"        self.dropout = {self.layers}.Dropout({self.network.dropout})"
        if self._normalized:
            yield f"        self.norms = [{self.layers}.BatchNormalization(momentum=0.999) for _ in {widths}]"
        named = f', name="{self._last}"' if self.network.combined else ""
        yield f"        self.{self._last} = {self.layers}.Dense({self._units}{named})"

    @property
    def _last(self) -> str:
        return "logits" if self.network.classifies or self.network.combined else "prediction"

    @property
    def _normalized(self) -> bool:
        given = self.network.given
        return "batch_norm" in given and bool(getattr(given["batch_norm"], "value", False))

    def _call(self) -> Iterator[str]:
        summed = f"{self.tf}.add_n([column(features) for column in self.columns]) + self.bias"
        if self.network.kind == "Linear":
            yield "    def call(self, features):"
            yield f"        return {summed}"
            return
        training = bool(self.network.dropout) or self._normalized
        yield f"    def call(self, features{', training=False' if training else ''}):"
        yield "        net = self.input_layer(features)"
        if self._normalized:
            yield "        for layer, norm in zip(self.hidden_layers, self.norms):"
        else:
            yield "        for layer in self.hidden_layers:"
        inner = "layer(net)"
        if self.network.dropout:
            inner = f"self.dropout({inner}, training=training)"
        yield f"            net = {f'norm({inner}, training=training)' if self._normalized else inner}"
        yield f"        return self.{self._last}(net){f' + {summed}' if self.network.combined else ''}"

    def _losses(self) -> Iterator[str]:
        """The methods that see labels as numbers, and the weights of examples."""
        given = self.network.given
        labels = "self.class_ids(y)" if "label_vocabulary" in given else "y"
        weights = "x[self.weight_column]" if "weight_column" in given else "sample_weight"
        for method in ("compute_loss", "compute_metrics") if (labels, weights) != ("y", "sample_weight") else ():
            yield ""
            yield f"    def {method}(self, x, y, y_pred, sample_weight):"
            yield f"        return super().{method}(x, {labels}, y_pred, {weights})"

    def _train_step(self) -> Iterator[str]:
        """The methods by which each part of a model has its optimizer."""
        if not self.network.combined:
            return
        text = f"""
            def compile(self, optimizer, linear_optimizer, **kwargs):
                super().compile(optimizer, **kwargs)
                self.linear_optimizer = linear_optimizer

            def train_step(self, data):
                x, y, sample_weight = {self.tf}.keras.utils.unpack_x_y_sample_weight(data)
                with {self.tf}.GradientTape() as tape:
                    y_pred = self(x, training=True)
                    loss = self.compute_loss(x, y, y_pred, sample_weight)
                linear = [self.bias, *(weight for column in self.columns for weight in column.trainable_variables)]
                network = [weight for weight in self.trainable_variables if all(weight is not other for other in linear)]
                gradients, linear_gradients = tape.gradient(loss, [network, linear])
                self.optimizer.apply_gradients(zip(gradients, network))
                self.linear_optimizer.apply_gradients(zip(linear_gradients, linear))
                return self.compute_metrics(x, y, y_pred, sample_weight)
        """
        yield from textwrap.indent(textwrap.dedent(text).rstrip(), "    ").split("\n")

    def _predict_step(self) -> Iterator[str]:
        """The method that makes predictions of the output."""
        if not self.predictions:
            return
        known = {name: text.format(tf=self.tf) for name, text in _PREDICTIONS[self.head].items()}
        yield ""
        yield "    def predict_step(self, data):"
        if self.head == "numbers":
            yield f'        return {{"predictions": {known["predictions"]}}}'
            return
        yield "        logits = super().predict_step(data)"
        if "classes" in self.predictions:
            yield f"        class_ids = {known['class_ids']}"
            known["class_ids"] = "class_ids"
            if "label_vocabulary" in self.network.given:
                known["classes"] = f"{self.tf}.gather(self.label_vocabulary, class_ids)"
        entries = [f'"{name}": {known[name]}' for name in self.predictions]
        if len(entries) == 1:
            yield f"        return {{{entries[0]}}}"
            return
        yield "        return {"
        yield from (f"            {entry}," for entry in entries)
        yield "        }"

    def beside(self) -> list[str]:
        """The function that it needs, if it does, of which a file has one."""
        return [self._columns()] if self.network.kind != "DNN" else []

    def _columns(self) -> str:
        """The function that makes the weights of a column."""
        units = "" if self._units == "1" else ", units"
        width = "1" if self._units == "1" else "units"
        combined = self.network.argument("sparse_combiner", "linear") in self.network.given
        more, combiner = (", combiner", "combiner") if combined else ("", '"sum"')
        embedding = (
            f"{self.tf}.feature_column.embedding_column(column, {width}, {combiner}, {self.tf}.zeros_initializer())"
        )
        dense = f'{self.layers}.Dense({width}, use_bias=False, kernel_initializer="zeros", name=column.name)'
        text = f'''\
            def column_weights(column{units}{more}):
                """A layer with a weight for each category of a column, or for each of its numbers."""
                if hasattr(column, "num_buckets"):
                    weights = {embedding}
                    return {self.layers}.DenseFeatures(weights, name=column.name)
                dense = {dense}
                return {self.tf}.keras.Sequential([{self.layers}.DenseFeatures(column), dense])
        '''
        return textwrap.dedent(text).rstrip()

    # -- how it is compiled -------------------------------------------------------------------------------------------

    def compiled(self, model: str, optimizers: Mapping[str, str], grouped: bool) -> str:
        """The statement that compiles the model of that name."""
        loss, told = _LOSSES[self.head]
        told = ", ".join([*([told] if told else []), *(['reduction="sum"'] if self.network.summed else [])])
        parts = [f"{name}={text}" for name, text in optimizers.items()]
        parts.append(f"loss={self.tf}.keras.losses.{loss}({told})")
        if self.metrics:
            metrics = ", ".join(f"{self.tf}.keras.metrics.{_METRICS[self.head][name]}" for name in self.metrics)
            parts.append(f"{'weighted_metrics' if 'weight_column' in self.network.given else 'metrics'}=[{metrics}]")
        if grouped:
            parts.append("steps_per_execution=100")
        return f"{model}.compile({', '.join(parts)})"
