"""The Keras model that a canned Estimator becomes: its class, how it is compiled, what it predicts and evaluates."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping

from migrator.analyse.layers.statistics import LISTED

from ..networks import WEIGHTS, Network
from .steps import training

_SHARES = {
    "mean": "weights",
    "sum_by_nonzero_weights": "{tf}.cast(weights != 0, {tf}.float32)",
}
"""What the mean of a batch is by, for reductions that Keras has not."""
_SHAPED = {"BinaryCrossentropy", "MeanMetricWrapper"}
"""Metrics that take labels as they are where Keras 3 gives others the shape of predictions."""
_WORDS = {
    "DNN": "a network on feature columns",
    "Linear": "a weighted sum of feature columns",
    "DNNLinearCombined": "a weighted sum of feature columns plus a network on others, each with an optimizer of its own",
    "Baseline": "the same for all examples",
}


class NetworkWriter:
    """Writes the model of one canned Estimator.

    Args:
      metrics, predictions: names of those that the program reads.
      tf: the file's name for TensorFlow.
      classifies: whether SavedModels of it that are fed strings give classes and scores.
      mixed: whether its file has weighted sums of several kinds.
      named: whether the program reads its weights by the names of an Estimator.
      uncounted: whether one of several trainings may reach the end of data of an unknown number.
      built: whether both its optimizers are made before a checkpoint is restored.
      listed: what checkpoints of Keras 3 do not hold of layers in lists: `WEIGHTS`, `STATISTICS`.
      need: says how its file calls a helper, once it imports it.
    """

    def __init__(
        self,
        network: Network,
        name: str,
        metrics: Collection[str],
        predictions: Collection[str],
        tf: str,
        classifies: bool = False,
        mixed: bool = False,
        named: bool = False,
        uncounted: bool = False,
        built: bool = False,
        listed: Collection[str] = (),
        need: Callable[[str], str] = str,
    ) -> None:
        self.mixed, self.named, self.uncounted = mixed, named, uncounted
        self.built, self.listed, self.need = built, listed, need
        self.network, self.name = network, name
        self.classifies = classifies and network.head.kind in ("binary", "classes")
        self.metrics, self.predictions = list(metrics), list(predictions)
        self.tf, self.layers = tf, f"{tf}.keras.layers"
        self.head = network.head

    # -- the class ----------------------------------------------------------------------------------------------------

    def parts(self) -> list[str]:
        """The class, and what it needs beside it."""
        return [*self.beside(), "\n".join(self.lines())]

    def lines(self) -> list[str]:
        """Those of the class."""
        more = [*self._classify(), *self._named_weights()]
        trained = training(self.network, self.tf, self.uncounted, self.built)
        return [*self._class(), *self._losses(), *trained, *self._predict_step(), *more]

    @property
    def _units(self) -> str:
        """The width of the output, in the constructor."""
        given = [name for name in ("n_classes", "label_dimension") if name in self.network.parameters]
        return given[0] if given else "1"

    def _class(self) -> Iterator[str]:
        network = self.network
        yield f"class {self.name}({self.tf}.keras.Model):"
        words = _WORDS[network.kind].replace("feature columns", "features" if network.numbers else "feature columns")
        yield f'    """{self.head.words} [batch, {self.head.units}]: {words}."""'
        yield ""
        yield f"    def __init__({', '.join(['self', *network.parameters])}):"
        yield "        super().__init__()"
        if self.network.sums:
            yield from self._sum()
        if network.kind == "Baseline":
            yield self._bias
        if self.network.has_layers:
            yield from self._network()
        if listed := ", ".join(f"{name}=list(self.{name})" for name in self._lists()):
            yield f"        {LISTED}"
            yield f"        self.listed_layers = {self.tf}.train.Checkpoint({listed})"
        if "label_vocabulary" in network.given:
            yield f"        self.class_ids = {self.layers}.StringLookup(vocabulary=label_vocabulary, num_oov_indices=0)"
            if "classes" in self.predictions or self.classifies:
                yield "        self.label_vocabulary = label_vocabulary"
        if "weight_column" in network.given:
            yield "        self.weight_column = weight_column"
        yield ""
        yield from self._call()

    def _lists(self) -> Iterator[str]:
        """The attributes with lists of layers that checkpoints do not hold."""
        if WEIGHTS in self.listed and self.network.sums and not self.network.preprocessed:
            yield "columns"
        if WEIGHTS in self.listed and self.network.has_layers:
            yield "hidden_layers"
        if self.listed and self.network.has_layers and self._normalized:
            yield "norms"

    def _sum(self) -> Iterator[str]:
        """The layers of a linear model."""
        combiner, columns = (self.network.argument(name, "linear") for name in ("sparse_combiner", "feature_columns"))
        units = "" if self._units == "1" else f", {self._units}"
        if self.network.preprocessed:
            more = f", sparse_combiner={combiner}" if combiner in self.network.given else ""
            yield f"        self.linear_model = {self.need('LinearColumns')}({columns}{units}{more})"
            return
        if self.network.numbers:
            weights = f'{self.layers}.Dense({self._units}, use_bias=False, kernel_initializer="zeros", name=name)'
            yield f"        self.columns = [{weights} for name in {columns}]"
            yield self._bias
            return
        keyword = "combiner=" if self.mixed and not units else ""
        more = f", {keyword}{combiner}" if combiner in self.network.given else ""
        yield f"        self.columns = [column_weights(column{units}{more}) for column in {columns}]"
        yield self._bias

    @property
    def _bias(self) -> str:
        return f'        self.bias = self.add_weight(name="bias", shape=[{self._units}], initializer="zeros")'

    def _network(self) -> Iterator[str]:
        """Layers on each other."""
        given, name = self.network.given, self.network.argument
        widths, columns = name("hidden_units", "dnn"), name("feature_columns", "dnn")
        function = name("activation_fn", "dnn")
        activation = function if function in given else '"relu"'
        dense = f"{self.layers}.Dense(units, activation={activation})"
        if self.network.numbers:
            yield f"        self.feature_names = sorted({columns})"
        else:
            features = self.need("DenseFeatures" if self.network.preprocessed else "InputFeatures")
            yield f"        self.input_layer = {features}({columns})"
        yield f"        self.hidden_layers = [{dense} for units in {widths}]"
        if self.network.dropout:
            yield f"        self.dropout = {self.layers}.Dropout({self.network.dropout})"
        if self._normalized:
            yield f"        self.norms = [{self.layers}.BatchNormalization(momentum=0.999) for _ in {widths}]"
        named = f', name="{self.network.last}"' if self.network.combined else ""
        yield f"        self.{self.network.last} = {self.layers}.Dense({self._units}{named})"

    @property
    def _normalized(self) -> bool:
        given = self.network.given
        return "batch_norm" in given and bool(getattr(given["batch_norm"], "value", False))

    def _call(self) -> Iterator[str]:
        summed = f"{self.tf}.add_n([column(features) for column in self.columns]) + self.bias"
        above = ""
        if self.network.preprocessed:
            summed = "self.linear_model(features)"
        elif self.network.numbers:
            above = f"        sums = [column({self._number('column.name')}) for column in self.columns]"
            summed = f"{self.tf}.add_n(sums) + self.bias"
        if not self.network.has_layers:
            yield "    def call(self, features):"
            if self.network.sums:
                yield from [above] if above else []
                yield f"        return {summed}"
                return
            yield f"        batch_size = {self.tf}.shape({self.tf}.nest.flatten(features)[0])[0]"
            yield f"        return {self.tf}.tile(self.bias[{self.tf}.newaxis], [batch_size, 1])"
            return
        training = bool(self.network.dropout) or self._normalized
        yield f"    def call(self, features{', training=False' if training else ''}):"
        if self.network.numbers:
            yield f"        numbers = [{self._number('name')} for name in self.feature_names]"
            yield f"        net = {self.tf}.concat(numbers, axis=1)"
        else:
            yield "        net = self.input_layer(features)"
        if self._normalized:
            yield "        for layer, norm in zip(self.hidden_layers, self.norms):"
        else:
            yield "        for layer in self.hidden_layers:"
        inner = "layer(net)"
        if self.network.dropout:
            inner = f"self.dropout({inner}, training=training)"
        yield f"            net = {f'norm({inner}, training=training)' if self._normalized else inner}"
        if self.network.combined and above:
            yield above
        yield f"        return self.{self.network.last}(net){f' + {summed}' if self.network.combined else ''}"

    def _number(self, name: str) -> str:
        """A feature of numbers, of shape ``[batch, 1]``."""
        return f"{self.tf}.cast({self.tf}.reshape(features[{name}], [-1, 1]), {self.tf}.float32)"

    def _losses(self) -> Iterator[str]:
        """The methods that see labels as numbers, the weights of examples, and probabilities."""
        given, weighted = self.network.given, "weight_column" in self.network.given
        labels = "self.class_ids(y)" if "label_vocabulary" in given else "y"
        weights = "x[self.weight_column]" if weighted else "sample_weight"
        predicted = f"{self.tf}.sigmoid(y_pred)" if self.head.sees_probabilities else "y_pred"
        texts = {**self.head.metrics(self.tf), **self.head.rare_metrics(self.tf)}
        own = texts.keys() & set(self.metrics)
        shares, of_loss = list(self._shares()), weights
        if shares:
            of_loss = "weights"
        head = "(self, x, y, y_pred, sample_weight):"
        if labels != "y" or weighted:
            yield from ["", f"    def compute_loss{head}", *shares]
            yield f"        return super().compute_loss(x, {labels}, y_pred, {of_loss})"
        if self.head.units == 1 and _SHAPED & {texts[name].partition("(")[0].rpartition(".")[2] for name in own}:
            labels = f"{self.tf}.reshape({labels}, [-1, 1])"  # these of Keras 3 want the shape of what is predicted
        if labels != "y" or weighted or predicted != "y_pred":
            yield from ["", f"    def compute_metrics{head}"]
            yield f"        return super().compute_metrics(x, {labels}, {predicted}, {weights})"

    def _shares(self) -> Iterator[str]:
        """Statements that make the weights of a batch such that its loss is a mean by them."""
        if "weight_column" not in self.network.given or self.head.reduction not in _SHARES:
            return
        yield f"        weights = {self.tf}.cast(x[self.weight_column], {self.tf}.float32)"
        mean = f"{self.tf}.reduce_mean({_SHARES[self.head.reduction].format(tf=self.tf)})"
        yield f"        weights = {self.tf}.math.divide_no_nan(weights, {mean})"

    def _predict_step(self) -> Iterator[str]:
        """The method that makes predictions of the output."""
        if not self.predictions:
            return
        known = self.head.predictions(self.tf)
        yield ""
        yield "    def predict_step(self, data):"
        forwarded = {name: f"x[{key}]" for name, key in self.network.forwarded.items() if name in self.predictions}
        if forwarded:
            yield f"        x, _, _ = {self.tf}.keras.utils.unpack_x_y_sample_weight(data)"
        if self.head.has_logits:
            yield "        logits = super().predict_step(data)"
        if "classes" in self.predictions:
            yield f"        class_ids = {known['class_ids']}"
            known["class_ids"] = "class_ids"
            if "label_vocabulary" in self.network.given:
                known["classes"] = f"{self.tf}.gather(self.label_vocabulary, class_ids)"
        entries = [f'"{name}": {known[name]}' for name in self.predictions if name not in forwarded]
        entries += [f"{self.network.forwarded[name]}: {text}" for name, text in forwarded.items()]
        if len(entries) == 1:
            yield f"        return {{{entries[0]}}}"
            return
        yield "        return {"
        yield from (f"            {entry}," for entry in entries)
        yield "        }"

    def _classify(self) -> Iterator[str]:
        """The method that gives all classes with their scores."""
        if not self.classifies:
            return
        names = f"{self.tf}.strings.as_string({self.tf}.range(scores.shape[1]))"
        names = "self.label_vocabulary" if "label_vocabulary" in self.network.given else names
        yield ""
        yield "    def classify(self, features):"
        yield "        logits = self(features)"
        yield f"        scores = {self.head.predictions(self.tf)['probabilities']}"
        yield f"        classes = {self.tf}.tile([{names}], [{self.tf}.shape(scores)[0], 1])"
        yield '        return {"classes": classes, "scores": scores}'

    def _named_weights(self) -> Iterator[str]:
        """The method that gives weights the names of an Estimator."""
        if not self.named:
            return
        yield from [
            "",
            "    def named_weights(self):",
            '        """The weights, by the names that an Estimator gave them."""',
        ]
        if not self.network.sums:
            yield '        return {"baseline/bias": self.bias}'
            return
        yield "        weights = {"
        yield '            f"linear/linear_model/{column.name}/weights": column.weights[0] for column in self.columns'
        yield "        }"
        yield '        return {**weights, "linear/linear_model/bias_weights": self.bias}'

    def beside(self) -> list[str]:
        """The functions and classes that it needs, each of which a file has once."""
        plain = self.network.preprocessed or self.network.numbers
        own = [self._columns()] if self.network.sums and not plain else []
        scaled = (_scaled(text)[0] for text in self.network.more_metrics.values() if _scaled(text)[1])
        classes = [self._scaled_metric(name) for name in dict.fromkeys(scaled)]
        return [*own, *classes, *self.head.beside(self.tf, frozenset(self.metrics))]

    def _scaled_metric(self, name: str) -> str:
        """The class of a metric of values times a constant."""
        text = f'''\
            class Scaled{name}({self.tf}.keras.metrics.{name}):
                """That of values times `scale`."""

                def __init__(self, scale, name):
                    super().__init__(name=name)
                    self.scale = scale

                def update_state(self, y_true, y_pred, sample_weight=None):
                    return super().update_state(y_true * self.scale, y_pred * self.scale, sample_weight)
        '''
        return textwrap.dedent(text).rstrip()

    def _added_metric(self, text: str) -> str:
        """What makes a metric that the program adds."""
        name, scale = _scaled(text)
        made = f"{self.tf}.keras.metrics.{text}"
        return f"Scaled{name}({scale}, {text.partition('(')[2].rpartition(')')[0]})" if scale else made

    @property
    def sum_kind(self) -> tuple[bool, bool]:
        """Whether its weighted sum has several outputs, and a way to sum up of its own."""
        return self._units != "1", self.network.argument("sparse_combiner", "linear") in self.network.given

    def _columns(self) -> str:
        """The function that makes the weights of a column."""
        units, combined = self.sum_kind
        width = "units" if units or self.mixed else "1"
        combiner = "combiner" if combined or self.mixed else '"sum"'
        given = f"{', units' if units else ''}{', combiner' if combined else ''}"
        given = ', units=1, combiner="sum"' if self.mixed else given
        embedding = (
            f"{self.tf}.feature_column.embedding_column(column, {width}, {combiner}, {self.tf}.zeros_initializer())"
        )
        dense = f'{self.layers}.Dense({width}, use_bias=False, kernel_initializer="zeros", name=column.name)'
        text = f'''\
            def column_weights(column{given}):
                """A layer with a weight for each category of a column, or for each of its numbers."""
                if hasattr(column, "num_buckets"):
                    weights = {embedding}
                    return {self.need("InputFeatures")}(weights, name=column.name)
                dense = {dense}
                return {self.tf}.keras.Sequential([{self.need("InputFeatures")}(column), dense], name=column.name)
        '''
        return textwrap.dedent(text).rstrip()

    # -- how it is compiled -------------------------------------------------------------------------------------------

    def compiled(self, model: str, optimizers: Mapping[str, str], together: int) -> str:
        """The statement that compiles the model of that name."""
        parts = [f"{name}={text}" for name, text in optimizers.items()]
        parts += self.head.loss(self.tf)
        known, more = {**self.head.metrics(self.tf), **self.head.rare_metrics(self.tf)}, self.network.more_metrics
        own = [known[name] for name in self.metrics if name not in more]
        added = [self._added_metric(more[name]) for name in self.metrics if name in more]
        weighted = "weight_column" in self.network.given  # of which those know nothing that a program adds
        every = {"weighted_metrics": own, "metrics": added} if weighted else {"metrics": [*own, *added]}
        parts += [f"{argument}=[{', '.join(metrics)}]" for argument, metrics in every.items() if metrics]
        if together == 1:
            return f"{model}.compile({', '.join(parts)})"
        lines = "\n    ".join(f"{part}," for part in [*parts, f"steps_per_execution={together}"])
        return f"{model}.compile(\n    {lines}  # steps in a call: for speed alone\n)"


def _scaled(text: str) -> tuple[str, str]:
    """The class of a metric that the program adds, and the constant that its values are multiplied by, if they are."""
    call, _, scale = text.partition(") * ")
    return call.partition("(")[0], scale
