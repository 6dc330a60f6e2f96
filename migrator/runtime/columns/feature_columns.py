"""Layers on `tf.feature_column`s, which TensorFlow 2 still has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.columns.table_variables import tensorflow_variable
from migrator.runtime.training.layer_summaries import when_recording, write_outputs


class ColumnTables(tf.__internal__.feature_column.StateManager):
    """Makes what feature columns look up weights of their layer, with Keras 2 and Keras 3."""

    def create_variable(self, feature_column: Any, name: str, use_resource: bool = True, **settings: Any) -> Any:
        weight = self._layer.add_weight(name=name, **settings)
        self._layer._track_trackable(weight, f"{feature_column.name}/{name}", overwrite=True)  # in checkpoints
        self._cols_to_vars_map[feature_column][name] = weight
        return weight

    def get_variable(self, feature_column: Any, name: str) -> Any:
        return tensorflow_variable(super().get_variable(feature_column, name))


class InputFeatures(tf.keras.layers.Layer):
    """``tf.compat.v1.feature_column.input_layer``: dense columns side by side, in the order of their names.

    Input: features by name. Output: float32 of shape ``[batch, width of all columns]``.
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None) -> None:
        super().__init__(trainable=trainable, name=name, autocast=False)  # float64 features are bucketized as they are
        columns = [feature_columns] if hasattr(feature_columns, "parse_example_spec") else feature_columns
        self.feature_columns = sorted(columns, key=lambda column: column.name)

    def build(self, input_shape: Any) -> None:
        self.tables = ColumnTables(self, self.trainable)
        for column in self.feature_columns:
            with tf.name_scope(column.name):
                column.create_state(self.tables)
        self.built = True

    def call(self, features: Any) -> tf.Tensor:
        cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
        numbers = [column.get_dense_tensor(cache, self.tables) for column in self.feature_columns]
        widths = [column.variable_shape.num_elements() for column in self.feature_columns]
        return tf.concat([tf.reshape(part, [-1, width]) for part, width in zip(numbers, widths)], axis=1)


class SequenceInputFeatures(InputFeatures):
    """``tf.contrib.feature_column.sequence_input_layer``: columns of sequences side by side, in the order of their names.

    Input: features by name. Output: float32 of shape ``[batch, time, width of all columns]``, and the lengths of the
    sequences, int64 of shape ``[batch]``, which must be the same in all columns.
    """

    def call(self, features: Any) -> tuple[tf.Tensor, tf.Tensor]:
        cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
        pairs = [column.get_sequence_dense_tensor(cache, self.tables) for column in self.feature_columns]
        parts, lengths = [], [pair.sequence_length for pair in pairs]
        for column, (steps, _) in zip(self.feature_columns, pairs):
            shape = [*tf.unstack(tf.shape(steps)[:2]), column.variable_shape.num_elements()]
            parts.append(tf.reshape(steps, shape))
        checks = [tf.debugging.assert_equal(other, lengths[0]) for other in lengths[1:]]
        with tf.control_dependencies([check for check in checks if check is not None]):
            return tf.concat(parts, axis=-1), tf.identity(lengths[0])


class LinearFeatures(InputFeatures):
    """``tf.compat.v1.feature_column.linear_model``: a weighted sum of columns, plus a bias.

    A categorical column has one row of weights per category, a dense one a row per number; all start at zero.

    Args:
        feature_columns: dense or categorical columns; the order does not matter.
        units: width of the output.
        sparse_combiner: how the weights of several categories of one example add up: ``sum``, ``mean`` or ``sqrtn``.

    Input: features by name. Output: float32 of shape ``[batch, units]``.
    """

    def __init__(
        self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum", name: str = "linear_model"
    ) -> None:
        super().__init__(feature_columns, name=name)
        self.units, self.sparse_combiner = units, sparse_combiner

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        for column in self.feature_columns:
            categorical = hasattr(column, "num_buckets")
            rows = column.num_buckets if categorical else column.variable_shape.num_elements()
            with tf.name_scope(column.name):
                self.tables.create_variable(column, "weights", shape=(rows, self.units), initializer="zeros")
        self.bias = self.add_weight(name="bias_weights", shape=(self.units,), initializer="zeros")

    def call(self, features: Any) -> tf.Tensor:
        cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
        sums = []
        for column in self.feature_columns:
            weights = self.tables.get_variable(column, "weights")
            if hasattr(column, "num_buckets"):
                ids, id_weights = column.get_sparse_tensors(cache, self.tables)
                shape = [tf.shape(ids)[0], -1]
                ids = tf.sparse.reshape(ids, shape)
                id_weights = None if id_weights is None else tf.sparse.reshape(id_weights, shape)
                sums.append(tf.nn.safe_embedding_lookup_sparse(weights, ids, id_weights, self.sparse_combiner))
            else:
                numbers = column.get_dense_tensor(cache, self.tables)
                sums.append(tf.reshape(numbers, [-1, weights.shape[0]]) @ weights)
        return sum(sums) + self.bias


class DenseNetwork(tf.keras.layers.Layer):
    """The network of ``estimator.DNNClassifier`` and its family.

    Args:
        units: width of the output.
        hidden_units: widths of the hidden layers.
        feature_columns: dense columns; they are concatenated in the order of their names.
        activation_fn: of the hidden layers.
        dropout: share of each hidden layer that is dropped in training; None: nothing.
        batch_norm: whether each hidden layer is normalized, behind its activation.
        summary_scope: what the tags of its summaries begin with, for the output of each layer in training.

    Input: features by name. Output: float32 of shape ``[batch, units]``.
    """

    def __init__(
        self,
        units: int,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        activation_fn: Callable[[tf.Tensor], tf.Tensor] | None = tf.nn.relu,
        dropout: float | None = None,
        batch_norm: bool = False,
        summary_scope: str = "dnn/dnn/",
        name: str = "dnn",
    ) -> None:
        super().__init__(name=name, autocast=False)
        self.summary_scope = summary_scope
        self.input_layer = InputFeatures(feature_columns, name="input_layer")
        self.hidden_layers = []
        for index, width in enumerate(hidden_units):
            layers = [tf.keras.layers.Dense(width, activation_fn, name=f"hiddenlayer_{index}")]
            if dropout is not None:
                layers.append(tf.keras.layers.Dropout(dropout))
            if batch_norm:
                layers.append(tf.keras.layers.BatchNormalization(momentum=0.999, name=f"batchnorm_{index}"))
            self.hidden_layers.append(layers)
        if batch_norm:  # else Keras 3 leaves their moving statistics out of checkpoints
            self.listed_layers = tf.train.Checkpoint(layers=[list(layers) for layers in self.hidden_layers])
        self.logits_layer = tf.keras.layers.Dense(units, name="logits")

    def call(self, features: Any, training: bool = False) -> tf.Tensor:
        net = self.input_layer(features)
        outputs = {}
        for index, layers in enumerate(self.hidden_layers):
            for layer in layers:
                net = layer(net, training=training)
            outputs[f"{self.summary_scope}hiddenlayer_{index}"] = net
        logits = outputs[f"{self.summary_scope}logits"] = self.logits_layer(net)
        if training:
            when_recording(lambda: write_outputs(outputs))
        return logits


class ConstantLogits(tf.keras.layers.Layer):
    """The model of ``estimator.BaselineClassifier`` and its family: the same logits for every example."""

    def __init__(self, units: int, name: str = "baseline") -> None:
        super().__init__(name=name, autocast=False)
        self.units = units

    def build(self, input_shape: Any) -> None:
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def call(self, features: Any) -> tf.Tensor:
        first = tf.nest.flatten(features)[0]
        batch_size = first.dense_shape[0] if isinstance(first, tf.SparseTensor) else tf.shape(first)[0]
        return self.bias * tf.ones([batch_size, self.units])
