"""Public names of what programs import from the private modules of TensorFlow, such as `tensorflow.python.estimator`.

Only names that are the same object in both places are known here. Where TensorFlow 1 moved what a module holds, as it
moved Estimators to a package of their own, each of the places counts.
"""

from __future__ import annotations

import functools
import re

_ESTIMATOR = r"tensorflow(?:\.python\.estimator|_estimator\.python\.estimator)"
_TRAIN = (
    "SessionRunHook|SessionRunArgs|SessionRunContext|SessionRunValues|LoggingTensorHook|StopAtStepHook|CheckpointSaverHook|"
    "CheckpointSaverListener|StepCounterHook|NanTensorHook|NanLossDuringTrainingError|SummarySaverHook|GlobalStepWaiterHook|"
    "FinalOpsHook|FeedFnHook|ProfilerHook|SecondOrStepTimer|Scaffold|get_global_step|get_or_create_global_step"
)
_CELLS = "BasicLSTMCell|LSTMCell|GRUCell|BasicRNNCell|MultiRNNCell|DropoutWrapper|ResidualWrapper|DeviceWrapper|RNNCell"
_CONTRIB = (
    "layers|initializers|regularizers|optimizers|encoders|normalization|embedding_ops|utils|rnn|core_rnn|rnn_cell|core_rnn_cell|"
    "lstm_ops|gru_ops|fused_rnn_cell|tpu_config|tpu_estimator|tpu_optimizer|hparam|variables|arg_scope|metric_ops|loss_ops|"
    "weight_decay_optimizers|lazy_adam_optimizer|moving_average_optimizer|head|extenders|early_stopping|hooks|crf|experiment|"
    "run_config|mirrored_strategy|interleave_ops|batching|shuffle_ops|grouping"
)
"""Modules below ``tf.contrib.*.python`` whose functions and classes the package shows."""
_OPTIMIZERS = {
    "adadelta": "Adadelta", "adagrad": "Adagrad", "adagrad_da": "AdagradDA", "adam": "Adam", "ftrl": "Ftrl",
    "gradient_descent": "GradientDescent", "momentum": "Momentum", "proximal_adagrad": "ProximalAdagrad",
    "proximal_gradient_descent": "ProximalGradientDescent", "rmsprop": "RMSProp",
}  # fmt: skip
_DECAYS = (
    "cosine_decay|cosine_decay_restarts|exponential_decay|inverse_time_decay|linear_cosine_decay|natural_exp_decay|"
    "noisy_linear_cosine_decay|piecewise_constant|polynomial_decay"
)
_INITIALIZERS = (
    "(?:constant|glorot_normal|glorot_uniform|ones|orthogonal|random_normal|random_uniform|truncated_normal|"
    "uniform_unit_scaling|variance_scaling|zeros)_initializer"
)
_GRAPH = (
    "GraphKeys|add_to_collection|get_collection|control_dependencies|get_default_graph|name_scope|device|colocate_with"
)
_PLACES = [
    (
        rf"{_ESTIMATOR}\.(?:estimator|estimator_lib|model_fn|run_config|training|exporter|extenders|mode_keys)",
        "Estimator|EstimatorSpec|ModeKeys|RunConfig|TrainSpec|EvalSpec|train_and_evaluate|WarmStartSettings|VocabInfo|"
        "Exporter|FinalExporter|LatestExporter|BestExporter|add_metrics",
        "estimator",
    ),
    (
        rf"{_ESTIMATOR}\.export\.(?:export|export_output|export_lib)",
        "ServingInputReceiver|TensorServingInputReceiver|build_(?:raw|parsing)_serving_input_receiver_fn|"
        "(?:Predict|Classification|Regression|Eval)Output|ExportOutput",
        "estimator.export",
    ),
    (rf"{_ESTIMATOR}\.inputs\.(?:inputs|numpy_io|pandas_io)", "(?:numpy|pandas)_input_fn", "estimator.inputs"),
    (
        r"tensorflow\.python\.estimator\.canned\.(?:dnn|linear|dnn_linear_combined|baseline|boosted_trees)",
        "(?:DNN|Linear|DNNLinearCombined|Baseline|BoostedTrees)(?:Classifier|Regressor|Estimator)",
        "estimator",
    ),
    (
        r"tensorflow_estimator\.python\.estimator\.tpu\.(?:tpu_estimator|tpu_config)",
        "TPUEstimator|TPUEstimatorSpec|TPUConfig|RunConfig|InputPipelineConfig",
        "estimator.tpu",
    ),
    (
        r"tensorflow\.python\.training\."
        r"(?:session_run_hook|basic_session_run_hooks|monitored_session|training_util|training)",
        _TRAIN,
        "train",
    ),
    (r"tensorflow\.contrib\.learn", r"ModeKeys(?:\.\w+)?", "estimator"),
    (r"tensorflow\.contrib\.framework", "(?:get_|create_|get_or_create_|assert_)global_step", "train"),
    (r"tensorflow\.python\.ops\.rnn_cell(?:_impl)?", f"{_CELLS}|LSTMStateTuple", "nn.rnn_cell"),
    (r"tensorflow\.python\.ops\.rnn", "(?:bidirectional_)?dynamic_rnn|static_(?:bidirectional_)?rnn", "nn"),
    (
        r"tensorflow\.python\.summary\.summary",
        "scalar|histogram|image|audio|text|merge|merge_all|FileWriter",
        "summary",
    ),
    (r"tensorflow\.python\.ops\.losses\.(?:losses|losses_impl|util)", r"Reduction|[a-z]\w+", "losses"),
    (r"tensorflow\.python\.ops\.metrics(?:_impl)?", r"(?!metric_variable\b)[a-z]\w+", "metrics"),
    (
        r"tensorflow\.python\.ops\.(?:nn|nn_ops|nn_impl|embedding_ops)",
        "dropout|embedding_lookup(?:_sparse)?|safe_embedding_lookup_sparse|nce_loss|sampled_softmax_loss|"
        "(?:sparse_)?softmax_cross_entropy_with_logits|zero_fraction|l2_loss",
        "nn",
    ),
    (
        r"tensorflow\.python\.ops\.variable_scope",
        "AUTO_REUSE|get_variable|get_variable_scope|variable_scope",
        "",
    ),
    (r"tensorflow\.python\.framework\.ops", _GRAPH, ""),
    (r"tensorflow\.python\.ops\.init_ops", _INITIALIZERS, ""),
    (r"tensorflow\.python\.ops\.partitioned_variables", r"\w+_partitioner", ""),
    (r"tensorflow\.python\.ops\.gradients(?:_impl)?", "gradients", ""),
    (r"tensorflow\.python\.ops\.clip_ops", "clip_by_(?:global_norm|norm|value)|global_norm", ""),
    (r"tensorflow\.python\.ops\.state_ops", "assign|assign_add|assign_sub", ""),
    (r"tensorflow\.python\.ops\.control_flow_ops", "group|no_op|cond|while_loop", ""),
    *(
        (rf"tensorflow\.python\.training\.{module}", f"{name}Optimizer", "train")
        for module, name in _OPTIMIZERS.items()
    ),
    (r"tensorflow\.python\.training\.learning_rate_decay(?:_v1)?", _DECAYS, "train"),
    (r"tensorflow\.python\.training\.moving_averages", "ExponentialMovingAverage", "train"),
    (r"tensorflow\.python\.layers\.(?:core|convolutional|pooling|normalization|layers)", r"[A-Za-z]\w+", "layers"),
    (
        r"tensorflow\.python\.feature_column\.(?:feature_column|feature_column_lib)",
        r"\w+_column(?:_with_\w+)?|input_layer|linear_model|make_parse_example_spec",
        "feature_column",
    ),
]
"""Modules, what programs take from them, and the package that shows it."""
_KNOWN = [
    (re.compile(modules + "$"), re.compile(rf"{modules}\.({names})$"), f"tensorflow.{package}.".replace("..", "."))
    for modules, names, package in _PLACES
]
_INSIDE = re.compile(
    r"tensorflow\.contrib\.(layers|rnn|tpu|training|framework|metrics|losses|opt|estimator|crf|learn|distribute|data)\.python"
    rf"(?:\.(?:layers|ops|tpu|training|framework|losses|estimator|learn))?(?:\.(?:{_CONTRIB}))?"
    rf"\.(learn_runner\.run|(?!(?:{_CONTRIB}|ops|tpu|training|framework|losses|estimator|learn|learn_runner)$)\w+)$"
)


@functools.cache
def public(name: str) -> str:
    """The public name of an object, or `name` where none is known."""
    inside = _INSIDE.match(name)
    if inside is not None:
        name = f"tensorflow.contrib.{inside[1]}.{inside[2]}"
    for _, place, package in _KNOWN:
        found = place.match(name)
        if found is not None:
            return package + found[1]
    return name


@functools.cache
def is_private(name: str) -> bool:
    """Whether `name` is a private module that holds what another one shows, or something of it."""
    name = name.replace("tensorflow_core.", "tensorflow.", 1)  # as TensorFlow 1.15 names itself
    return public(name) != name or any(module.match(name) for module, _, _ in _KNOWN)
