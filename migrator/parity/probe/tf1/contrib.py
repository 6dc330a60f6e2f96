"""`tf.contrib` of TensorFlow 1 on TensorFlow 2.15, as far as a maintained package has the same code.

`tf_slim` is contrib.layers and contrib.slim under a new name; a few more symbols only moved. The rest is an error that
names the symbol, never something that is merely similar.
"""

from __future__ import annotations

import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

from ..vendored_source import runtime

# contrib module -> places to look in, in order; a place is a module that can be imported, or a dotted name below it.
_PLACES = {
    "layers": ("tf_slim", "tf_slim.layers", "tf_slim.layers.layers"),
    "slim": ("tf_slim", "tf_slim.layers"),
    "framework": ("tf_slim", "tf_slim.ops.variables", "tensorflow.compat.v1.train", "tensorflow.compat.v1"),
    "losses": ("tf_slim.losses",),
    "metrics": ("tf_slim.metrics",),
    "rnn": ("tensorflow.compat.v1.nn.rnn_cell", "tensorflow.compat.v1.nn"),
    "data": ("tensorflow.compat.v1.data.experimental",),
    "signal": ("tensorflow.signal",),
    "distribute": ("tensorflow.compat.v1.distribute", "tensorflow.compat.v1.distribute.experimental"),
    "feature_column": ("tensorflow.compat.v1.feature_column",),
    "estimator": ("tensorflow.compat.v1.estimator.experimental", "tensorflow.compat.v1.estimator"),
    "lookup": ("tensorflow.python.ops.lookup_ops",),
    "summary": ("tensorflow.python.ops.summary_ops_v2",),
    "tpu": ("tensorflow.compat.v1.estimator.tpu", "tensorflow.compat.v1.tpu"),
    "cluster_resolver": ("tensorflow.compat.v1.distribute.cluster_resolver",),
    "eager": ("tensorflow.compat.v1",),
    "keras": ("tensorflow.compat.v1.keras",),
}

# Names that a place has, but with another meaning than contrib's.
_NOT_EQUAL = {
    "estimator": {"LinearSDCA", "KMeans", "RNNClassifier", "RNNEstimator"},
    "summary": set(),
    "framework": {"load_variable_slot_initializer"},
}


class Contrib(types.ModuleType):
    """`tensorflow.contrib`: its modules are made when they are asked for."""

    def __init__(self) -> None:
        super().__init__("tensorflow.contrib")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = _Part(name)
        setattr(self, name, module)
        return module


class _Part(types.ModuleType):
    def __init__(self, part: str) -> None:
        super().__init__("tensorflow.contrib." + part)
        self.__dict__["_part"] = part

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if (self._part, name) in _OWN:
            return _OWN[self._part, name]()
        if name == "python":
            return _Inside(self)
        needs_slim = False
        if name not in _NOT_EQUAL.get(self._part, ()):
            for place in _PLACES.get(self._part, ()):
                try:
                    found = _lookup(place, name)
                except ImportError:
                    needs_slim = needs_slim or place.startswith("tf_slim")
                    continue
                if found is not None:
                    return found
        symbol = f"tf.contrib.{self._part}.{name}"
        if needs_slim:
            raise AttributeError(f"{symbol} needs the package tf_slim beside TensorFlow 2: pip install tf_slim")
        raise AttributeError(
            f"{symbol} has no equal in TensorFlow 2 or tf_slim; give the old side a TensorFlow 1.15 interpreter: "
            "--old-python PATH"
        )


class _Inside(types.ModuleType):
    """A module below ``tf.contrib.training.python``: what the public module has, wherever it was defined."""

    def __init__(self, part: _Part) -> None:
        super().__init__(part.__name__ + ".python")
        self.__dict__["_part"] = part

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._part, name)
        except AttributeError:
            if name.startswith("__") or not name.islower():
                raise
            return self  # a module further inside, such as `training.hparam`


def _module(name: str) -> Any:
    """A module. tf_slim looks for three names where TensorFlow 2.15 does not have them."""
    if name.startswith("tf_slim"):
        import tensorflow as tf
        from tensorflow.python.framework import ops

        for moved in ("Tensor", "IndexedSlices"):
            if not hasattr(ops, moved):
                setattr(ops, moved, getattr(tf, moved))
        layers = importlib.import_module("tf_slim.layers.layers")
        layers.normalization_layers = types.SimpleNamespace(  # type: ignore[attr-defined]
            BatchNormalization=tf.compat.v1.layers.BatchNormalization
        )
    return importlib.import_module(name)


def _lookup(place: str, name: str) -> Any:
    if place.startswith("tensorflow.compat.v1"):
        import tensorflow as tf

        target: Any = tf.compat.v1
        for part in place.split(".")[3:]:
            target = getattr(target, part)
    else:
        target = _module(place)
    found = getattr(target, name, None)
    if found is None:
        try:
            found = importlib.import_module(place + "." + name)  # such as contrib.slim.nets
        except ImportError:
            if not place.startswith("tf_slim") and not place.startswith("tensorflow"):
                raise
    return found


def _batch_and_drop_remainder() -> Any:
    return lambda batch_size: lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def _nest() -> Any:
    import tensorflow as tf

    return tf.nest


def _table_from_tensor(name: str) -> Any:
    """With the parameter name of contrib: `mapping`."""
    from tensorflow.python.ops import lookup_ops

    def table_from_tensor(mapping: Any, *args: Any, **named: Any) -> Any:
        return getattr(lookup_ops, name)(mapping, *args, **named)

    return table_from_tensor


def _clip_gradients_by_norm() -> Any:
    from .clipping import clip_gradients_by_norm

    return clip_gradients_by_norm


def _sequences(name: str) -> Any:
    from . import sequences

    return getattr(sequences, name)


def _forward_features() -> Any:
    from .forwarding import forward_features

    return forward_features


def _experiments(name: str) -> Any:
    from . import experiments

    return getattr(experiments, name)


def _head(name: str) -> Callable[[], Any]:
    """With the reduction of contrib's heads."""

    def contrib_head() -> Any:
        import tensorflow as tf

        heads = _module("tensorflow_estimator.python.estimator.canned.head")
        reduction = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE
        return functools.partial(getattr(heads, name), loss_reduction=reduction)

    return contrib_head


def _poisson_head() -> Any:
    def poisson_regression_head(*given: Any, compute_full_loss: bool = True, **named: Any) -> Any:
        import tensorflow as tf

        def loss_fn(labels: Any, logits: Any) -> Any:
            return tf.nn.log_poisson_loss(labels, logits, compute_full_loss)

        return _head("_regression_head")()(*given, loss_fn=loss_fn, inverse_link_fn=tf.exp, **named)

    return poisson_regression_head


def _logistic_head() -> Any:
    def logistic_regression_head(*given: Any, **named: Any) -> Any:
        import tensorflow as tf

        heads = _module("tensorflow_estimator.python.estimator.canned.head")

        def loss_fn(labels: Any, logits: Any) -> Any:
            labels = heads._assert_range(labels, n_classes=2, message="Labels must be in range [0, 1]")
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        return _head("_regression_head")()(*given, loss_fn=loss_fn, inverse_link_fn=tf.sigmoid, **named)

    return logistic_regression_head


def _run_config() -> Any:
    """Takes and ignores what is about the session alone."""

    def run_config(*, master: Any = None, evaluation_master: Any = "", num_cores: int = 0, **named: Any) -> Any:
        import tensorflow as tf

        for name in ("log_device_placement", "gpu_memory_fraction"):
            named.pop(name, None)
        return tf.compat.v1.estimator.RunConfig(**named)

    return run_config


def _of(module: str, name: str) -> Callable[[], Any]:
    """What a module defines, which is imported when it is asked for."""
    return lambda: getattr(_module(module), name)


def _vendored(module: str, name: str) -> Callable[[], Any]:
    """What the migrated program has too: it is not made of TensorFlow's code of that name."""
    return lambda: getattr(runtime(module), name)


@functools.lru_cache(None)
def _lazy_adam() -> Any:
    """As in migrated programs, which have resources only, and for the references that old programs may have."""
    made: Any = runtime("v1_lazy_adam").GraphLazyAdamOptimizer

    class LazyAdamOptimizer(made):  # type: ignore[misc]
        def _apply_sparse(self, grad: Any, var: Any) -> Any:
            return self._resource_apply_sparse(grad.values, var, grad.indices)

    return LazyAdamOptimizer


def _crf(name: str) -> Any:
    from . import crf

    return getattr(crf, name)


def _predictor() -> Any:
    from . import predictors

    return predictors.SavedModelPredictor


_CRF = (
    "crf_log_likelihood crf_sequence_score crf_unary_score crf_binary_score crf_log_norm crf_decode viterbi_decode"
).split()
_OWN: dict[tuple[str, str], Callable[[], Any]] = {
    ("estimator", "clip_gradients_by_norm"): _clip_gradients_by_norm,
    ("estimator", "add_metrics"): _of("tensorflow_estimator.python.estimator.extenders", "add_metrics"),
    ("estimator", "forward_features"): _forward_features,
    **{
        ("feature_column", name): functools.partial(_sequences, name)
        for name in ("sequence_input_layer", "sequence_numeric_column")
    },
    ("seq2seq", "sequence_loss"): functools.partial(_sequences, "sequence_loss"),
    ("layers", "embed_sequence"): _vendored("v1_contrib_layers", "contrib_embed_sequence"),
    ("estimator", "multi_class_head"): _head("_multi_class_head_with_softmax_cross_entropy_loss"),
    ("estimator", "binary_classification_head"): _head("_binary_logistic_head_with_sigmoid_cross_entropy_loss"),
    ("estimator", "regression_head"): _head("_regression_head"),
    ("estimator", "poisson_regression_head"): _poisson_head,
    ("estimator", "logistic_regression_head"): _logistic_head,
    ("learn", "RunConfig"): _run_config,
    **{
        ("learn", name): functools.partial(_experiments, name)
        for name in "Experiment learn_runner make_export_strategy saved_model_export_utils utils ModeKeys".split()
    },
    ("lookup", "index_table_from_tensor"): functools.partial(_table_from_tensor, "index_table_from_tensor"),
    ("lookup", "index_to_string_table_from_tensor"): functools.partial(
        _table_from_tensor, "index_to_string_table_from_tensor"
    ),
    ("layers", "optimize_loss"): _of("tf_slim.layers.optimizers", "optimize_loss"),
    ("summary", "all_summary_ops"): _of("tensorflow.python.ops.summary_ops_v2", "all_v2_summary_ops"),
    ("training", "create_train_op"): _of("tf_slim.training.training", "create_train_op"),
    ("opt", "LazyAdamOptimizer"): _lazy_adam,
    ("training", "HParams"): _vendored("hyperparameters", "HParams"),
    ("data", "batch_and_drop_remainder"): _batch_and_drop_remainder,
    ("framework", "nest"): _nest,
    ("predictor", "from_saved_model"): _predictor,
    **{("crf", name): functools.partial(_crf, name) for name in _CRF},
    **{("rnn", name): _vendored("v1_fused_rnn", name) for name in ("LSTMBlockFusedCell", "TimeReversedFusedRNN")},
    ("rnn", "LSTMBlockCell"): _vendored("v1_contrib_rnn", "lstm_block_cell"),
    ("rnn", "stack_bidirectional_dynamic_rnn"): _vendored("v1_contrib_rnn", "stack_bidirectional_dynamic_rnn"),
}
