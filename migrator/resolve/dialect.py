"""Whether a name that exists in TF1 and in TF2 is meant as the one or the other.

A reference through ``compat.v1`` or ``compat.v2`` says so itself. For a plain ``import tensorflow as tf`` the other
names that the file uses decide: ``tf.placeholder`` exists only in TF1, ``tf.summary.create_file_writer`` only in TF2.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Module

_PRIVATE = re.compile(r"^tensorflow(?:_core)?\.python\.(?:framework|layers|ops|summary|training)\.")
"""Private modules, whose functions are those of TensorFlow 1 where TensorFlow 2 has others by these names."""
_VIA = re.compile(r"^tensorflow(?:_core)?\.(?:_api\.v[12]\.)?(?:compat|_api)\.(v[12])(?=\.|$)")

# Names of `tf.` that plain TF2 does not have; a trailing dot means every member.
V1_ONLY = (
    "contrib.", "app.", "flags.", "layers.", "logging.", "gfile.", "python_io.", "Session", "InteractiveSession",
    "placeholder", "get_variable", "variable_scope", "AUTO_REUSE", "ConfigProto", "GPUOptions", "GraphKeys",
    "get_collection", "add_to_collection", "get_default_graph", "reset_default_graph", "global_variables_initializer",
    "global_variables", "trainable_variables", "local_variables_initializer", "set_random_seed", "to_float", "to_int32",
    "to_int64", "to_double", "log", "parse_single_example", "parse_example", "FixedLenFeature", "VarLenFeature",
    "decode_csv", "decode_raw", "string_split", "string_to_number", "sparse_tensor_to_dense", "random_uniform",
    "random_normal", "truncated_normal", "random_shuffle", "truncated_normal_initializer", "assign", "assign_add",
    "assign_sub", "py_func", "Print", "div", "is_nan", "rsqrt", "Summary", "multinomial", "matching_files",
    "disable_v2_behavior", "disable_eager_execution", "enable_eager_execution", "get_variable_scope", "layers",
    "logging", "gfile", "flags", "app", "contrib",
    "summary.FileWriter", "summary.merge_all", "summary.merge", "feature_column.input_layer",
    "feature_column.linear_model", "feature_column.shared_embedding_columns", "estimator.inputs.",
    "losses.get_total_loss", "losses.get_regularization_loss",
    "losses.Reduction.MEAN", "losses.add_loss", "data.Iterator", "nn.dynamic_rnn", "nn.rnn_cell.", "nn.static_rnn",
    "nn.softmax_cross_entropy_with_logits_v2", "nn.xw_plus_b", "image.resize_images", "image.resize_bilinear",
    "random.set_random_seed", "fixed_size_partitioner", "min_max_variable_partitioner",
    "variable_axis_size_partitioner",
)  # fmt: skip

# Names of `tf.train` that plain TF2 has; all others are of TF1.
V2_TRAIN = frozenset(
    "BytesList Checkpoint CheckpointManager CheckpointOptions CheckpointView ClusterDef ClusterSpec Coordinator Example "
    "ExponentialMovingAverage Feature FeatureList FeatureLists Features FloatList Int64List JobDef SequenceExample ServerDef "
    "TrackableView checkpoints_iterator experimental get_checkpoint_state latest_checkpoint list_variables load_checkpoint "
    "load_variable".split()
)

# Names of `tf.` that TF1 does not have.
V2_ONLY = (
    "compat.v1.", "compat.v1", "summary.create_file_writer", "summary.record_if", "random.set_seed", "random.Generator",
    "config.run_functions_eagerly", "config.set_visible_devices", "config.list_physical_devices",
    "config.set_logical_device_configuration", "keras.optimizers.legacy.", "keras.optimizers.schedules.",
    "optimizers.", "data.AUTOTUNE", "distribute.MultiWorkerMirroredStrategy", "distribute.TPUStrategy",
    "distribute.ParameterServerStrategy", "distribute.coordinator.", "saved_model.save", "saved_model.load",
    "config.experimental_run_functions_eagerly", "config.run_functions_eagerly", "initializers.GlorotUniform",
    "metrics.Mean", "metrics.Accuracy", "losses.Loss", "losses.SparseCategoricalCrossentropy",
    "feature_column.shared_embeddings", "losses.CategoricalCrossentropy", "losses.BinaryCrossentropy", "losses.MeanSquaredError",
)  # fmt: skip

_V1_EXACT = frozenset("tensorflow." + name for name in V1_ONLY if not name.endswith("."))
_V1_PREFIX = tuple("tensorflow." + name for name in V1_ONLY if name.endswith("."))
_V2_EXACT = frozenset("tensorflow." + name for name in V2_ONLY if not name.endswith("."))
_V2_PREFIX = tuple("tensorflow." + name for name in V2_ONLY if name.endswith("."))
# tf.losses.mean_squared_error and tf.metrics.accuracy are functions in TF1; TF2 has both names too, but for Keras
# functions without the state that TF1 code relies on. Lower case is therefore a strong hint, not a proof.
_V1_FUNCTION = re.compile(r"^tensorflow\.(?:losses|metrics)\.[a-z]\w*$")


def reference_dialect(raw_names: Iterable[str]) -> str | None:
    """``v1`` or ``v2`` when the raw names of a reference go through ``compat``; None for a plain path.

    ``try: import tensorflow.compat.v1 as tf`` with a plain import in the other arm is TF1 code in both arms.
    """
    versions = {match.group(1) for match in map(_VIA.match, raw_names) if match}
    versions |= {"v1" for name in raw_names if _PRIVATE.match(name)}
    return versions.pop() if len(versions) == 1 else None


def module_dialect(module: Module) -> tuple[str | None, str]:
    """What a plain `import tensorflow as tf` of the module means, with the evidence as text."""
    if not module.mentions_tensorflow:
        return None, "the file does not import TensorFlow"
    v1: tuple[ast.AST, str] | None = None
    v1_hint: tuple[ast.AST, str] | None = None
    v2: tuple[ast.AST, str] | None = None
    for node, name in module.references():
        if not name.startswith("tensorflow."):
            continue
        raw = module.raw_names(node)
        if any(part in item for item in raw for part in ("tensorflow.compat.v1", "tensorflow._api.v1")):
            if v2 is None and module.segment(node).count("compat.v1"):
                v2 = (node, "tf.compat.v1")
            continue
        if reference_dialect(raw) is not None:
            continue
        if v1 is None and (_listed(name, _V1_EXACT, _V1_PREFIX) or _is_old_training(name)):
            v1 = (node, name)
        elif v1_hint is None and _V1_FUNCTION.match(name):
            v1_hint = (node, name)
        elif v2 is None and (_listed(name, _V2_EXACT, _V2_PREFIX)):
            v2 = (node, name)
    for entry in module.imports:
        if entry.target.startswith(("tensorflow.contrib", "tensorflow.python.estimator")):
            v1 = v1 or (entry.statement, entry.target)
    chosen = v1 or (None if v2 else v1_hint)
    if chosen is not None:
        line = module.location(chosen[0]).line
        return "v1", f"line {line} uses {_short(chosen[1])}, which only TensorFlow 1 has"
    if v2 is not None:
        line = module.location(v2[0]).line
        return "v2", f"line {line} uses {_short(v2[1])}, which only TensorFlow 2 has"
    beside = [e for e in module.imports if e.target == "tensorflow.compat.v1"]
    if beside and any(e.target == "tensorflow" for e in module.imports):
        names = ", ".join(sorted({e.name for e in beside}))
        if not any(e.name == b.name for e in module.imports if e.target == "tensorflow" for b in beside):
            return "v2", f"the file imports tensorflow.compat.v1 as {names} beside it"
    return None, "no name in the file tells TensorFlow 1 from TensorFlow 2"


def _is_old_training(name: str) -> bool:
    """Whether a name is one of `tf.train` that TensorFlow 2 does not have."""
    parts = name.split(".")
    return len(parts) > 2 and parts[1] == "train" and parts[2] not in V2_TRAIN


def _listed(name: str, exact: frozenset[str], prefixes: tuple[str, ...]) -> bool:
    if name in exact or name.startswith(prefixes):
        return True
    # tf.Session.reset and tf.AUTO_REUSE.x: members of a listed name count as well.
    return "." in name[11:] and name.rpartition(".")[0] in exact


def _short(name: str) -> str:
    return "tf." + name[len("tensorflow.") :] if name.startswith("tensorflow.") else name
