"""What the analysis of a model_fn is told about TensorFlow, put together from the families."""

from __future__ import annotations

from migrator.analyse.function.translate import Translations
from migrator.analyse.statements.loggers import LOGGERS
from migrator.analyse.training.conditionalsteps import TAKEN

from ..canned import head_specs
from ..contrib import layers as contrib_layers
from ..distribute import horovod
from ..estimator_calls import checkpoint_readers
from ..estimator_calls.driver import TASK_FIELDS
from ..hooks.session_hooks import reads_step_before
from ..hooks.spec_hooks import EVALUATION_HOOKS, SPEC_HOOKS, own_hook
from ..hooks.spec_scaffolds import scaffold
from ..inputs import lookup_tables
from ..inputs.feature_columns import SEQUENCE_COLUMNS
from ..layers import products
from ..layers.graph_variables import VARIABLE
from ..layers.keras_layers import is_keras_object, is_phased
from ..layers.layer_classes import is_old_layer
from ..layers.layers import LayerTable
from ..losses_metrics import collections, losses, metrics, summaries
from ..losses_metrics.compiled_losses import compiled_loss
from ..losses_metrics.compiled_metrics import compiled_metric
from ..optimizers import contrib_optimizers, optimizer_classes, optimizers, schedules
from ..recurrent import cell_classes, crf, rnn
from ..symbols.compat_v1 import is_legacy
from ..symbols.symbol_rows import endpoints, find_row

# Callables whose result is a plain object, known when the model is built, if their arguments are.
_STATIC_PREFIXES = (
    "tensorflow.keras.regularizers.", "tensorflow.keras.initializers.", "tensorflow.keras.constraints.",
    "tensorflow.feature_column.", *SEQUENCE_COLUMNS, "tensorflow.initializers.",
    "tensorflow.io.gfile.", "tensorflow.gfile.", "tensorflow.logging.",
    "tensorflow.TensorShape", "tensorflow.dtypes.as_dtype", "tensorflow.as_dtype", "tensorflow.app.", "tensorflow.flags.",
    "tensorflow.contrib.layers.l2_regularizer", "tensorflow.contrib.layers.l1_regularizer",
    "tensorflow.contrib.layers.xavier_initializer", "tensorflow.contrib.layers.variance_scaling_initializer",
    "tensorflow.keras.layers.", "tensorflow.keras.models.", "tensorflow.keras.Sequential", "tensorflow.keras.optimizers.",
    "tensorflow.compat.", "tensorflow.errors.", "tensorflow.test.", "tensorflow.random.set_seed", "tensorflow.set_random_seed",
    "tensorflow.config.", "tensorflow.distribute.get_strategy",
)  # fmt: skip
_STATIC_SUFFIXES = ("_initializer", "_partitioner", "_regularizer", "Partitioner")
_STATIC = frozenset({"tensorflow.get_variable", "tensorflow.layers.Dense"})
_LOOKUPS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "nn.embedding_lookup", "nn.embedding_lookup_sparse", "nn.safe_embedding_lookup_sparse", "gather", "gather_nd",
        "contrib.layers.embed_sequence", "feature_column.input_layer", "keras.layers.Embedding", "nn.sampled_softmax_loss",
        "nn.nce_loss", "batch_gather", "keras.layers.DenseFeatures", "keras.experimental.SequenceFeatures",
        "contrib.feature_column.sequence_input_layer",
    )
)  # fmt: skip

_COLUMN_LOOKUPS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "feature_column.input_layer", "keras.layers.DenseFeatures", "keras.experimental.SequenceFeatures",
        "contrib.feature_column.sequence_input_layer",
    )
)  # fmt: skip

_SHARED_TABLE = "tensorflow.feature_column.shared_embeddings"
_SHARED_COLUMNS = frozenset(
    {
        _SHARED_TABLE,
        *(f"tensorflow.{family}.shared_embedding_columns" for family in ("feature_column", "contrib.layers")),
    }
)

# Names of the old families that stay, or that the rules of single symbols rewrite.
_ALLOWED = frozenset(
    f"tensorflow.{name}"
    for name in (
        "variable_scope", "control_dependencies", "fixed_size_partitioner", "min_max_variable_partitioner",
        "variable_axis_size_partitioner", "AUTO_REUSE", "train.Feature", "train.Features", "train.Example",
        "train.Int64List", "train.FloatList", "train.BytesList", "train.latest_checkpoint", "losses.Reduction",
    )
) | {
    f"tensorflow.contrib.{package}.{maker}"
    for package in ("layers", "slim")
    for maker in (
        "l2_regularizer", "l1_regularizer", "l1_l2_regularizer", "xavier_initializer", "xavier_initializer_conv2d",
        "variance_scaling_initializer",
    )
}  # fmt: skip


def is_static(name: str) -> bool:
    """Whether a call of this function with static arguments gives a plain object and no tensor."""
    if (
        name in _STATIC
        or name in checkpoint_readers.READERS
        or name in head_specs.EXPRESSIONS
        or name in rnn.CELLS
        or name.startswith(_STATIC_PREFIXES)
        or name.endswith(_STATIC_SUFFIXES)
    ):
        return True
    if name.startswith("tensorflow.layers."):
        return name.rsplit(".", 1)[1][:1].isupper()
    return ".ModeKeys" in name


def is_refused(name: str) -> bool:
    """Whether a name works on a graph, its collections or its variables, so that its use must be translated."""
    if name == _SHARED_TABLE:
        return True
    if name in _ALLOWED or not name.startswith("tensorflow.") or name.startswith(SEQUENCE_COLUMNS):
        return False
    short = name[len("tensorflow.") :]
    return not _only_moved(short) if short.startswith("contrib.") else is_legacy(short)


def _only_moved(short: str) -> bool:
    """Whether something of contrib is the same in TensorFlow 2, by another name."""
    row, extra = find_row(short) or (None, 0)
    return row is not None and row.reference and not extra and not is_legacy(row.to)


def is_old_only(name: str) -> bool:
    """Whether TensorFlow 2 has nothing by this name."""
    short = name[len("tensorflow.") :]
    return short in endpoints().gone or short in endpoints().moved


def needs_graph(name: str) -> bool:
    """Whether TensorFlow 2 has nothing by this name that works outside of a graph."""
    return is_old_only(name) or name == _SHARED_TABLE


def may_run_while_tracing(name: str | None, text: str) -> bool:
    """Whether a statement that calls this function may stand in `call`: messages and summaries."""
    if name is None:
        return text == "print"
    return name.startswith((*LOGGERS, "tensorflow.compat.v1.logging.")) or (
        name in summaries.EXPRESSIONS or name in ("tensorflow.print", "tensorflow.identity")
    )


def translations(features: str = "columns") -> Translations:
    """All families; `features` says what feature columns become."""
    return Translations(
        layers=LayerTable(features),
        expressions={
            **losses.EXPRESSIONS,
            **collections.EXPRESSIONS,
            **optimizers.EXPRESSIONS,
            **horovod.EXPRESSIONS,
            **rnn.EXPRESSIONS,
            **crf.EXPRESSIONS,
            **contrib_layers.EXPRESSIONS,
            **summaries.EXPRESSIONS,
            **lookup_tables.EXPRESSIONS,
            **head_specs.EXPRESSIONS,
            **products.EXPRESSIONS,
            **checkpoint_readers.EXPRESSIONS,
        },
        metrics=metrics.METRICS,
        metric_classes=metrics.is_keras_metric,
        metric_groups=frozenset({head_specs.METRICS}),
        served_whole=frozenset({head_specs.EXPORTS}),
        summaries=frozenset(summaries.EXPRESSIONS),
        training=optimizers.OPTIMIZERS | schedules.SCHEDULES | {TAKEN, horovod.OPTIMIZER},
        initialized=frozenset({VARIABLE}),
        made_once=lookup_tables.MAKERS,
        constants=frozenset({"tensorflow.constant", "tensorflow.convert_to_tensor"}),
        shaped=frozenset({"tensorflow.get_variable"}),
        steps=optimizers.STEPS,
        collections=collections.LossCollections(),
        variables=collections.VARIABLES,
        task_fields=TASK_FIELDS,
        optimizers=optimizers.OPTIMIZERS,
        rate_places=contrib_optimizers.RATE_PLACES,
        name_texts=contrib_optimizers.NAME_TEXTS,
        optimizer_bases=optimizer_classes.BASES,
        schedules=schedules.SCHEDULES,
        lookups=_LOOKUPS,
        column_lookups=_COLUMN_LOOKUPS,
        shared_columns=_SHARED_COLUMNS,
        static=is_static,
        compiled_loss=compiled_loss,
        compiled_metric=compiled_metric,
        refused=is_refused,
        old_only=needs_graph,
        effects=may_run_while_tracing,
        cells=rnn.CELLS,
        training_only=rnn.keep_probabilities,
        cell_bases=cell_classes.BASES,
        old_layers=is_old_layer,
        objects=is_keras_object,
        phased=is_phased,
        hooks=SPEC_HOOKS,
        evaluation_hooks=EVALUATION_HOOKS,
        own_hooks=own_hook,
        step_before=reads_step_before,
        scaffold=scaffold,
    )
