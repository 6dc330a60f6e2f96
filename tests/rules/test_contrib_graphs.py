"""`tf.contrib` in a model_fn that stays a graph."""

from __future__ import annotations

import textwrap

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf
{imports}

def input_fn():
    return tf.data.Dataset.from_tensors(({{"x": [[1.0]]}}, [1.0]))

def model_fn(features, labels, mode):
    x = features["x"]
    tf.get_default_graph()
    y = {network}
    loss = tf.losses.mean_squared_error(labels, y[:, 0])
    train_op = tf.train.FtrlOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, y, loss, train_op)

estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=3)
"""


def migrated(imports: str, network: str) -> tuple[str, str]:
    """The program after the run, and the tier with its reason."""
    text = PROGRAM.format(imports=imports, network=textwrap.dedent(network))
    (outcome, *_) = migrate_component([decode("program.py", text.encode())], Settings(style="bridge"))
    (unit,) = outcome.units
    return outcome.after.decode(), f"{unit.tier}: {unit.reason}"


@pytest.mark.parametrize(
    ("imports", "network", "becomes"),
    [
        ("slim = tf.contrib.slim", "slim.conv2d(x, 3, 1)", "contrib_conv2d(x, 3, 1)"),
        ("import tensorflow.contrib.slim as slim", "slim.fully_connected(x, 3)", "contrib_fully_connected(x, 3)"),
        ("from tensorflow.contrib import layers", "layers.linear(x, 3)", "contrib_linear(x, 3)"),
        ("from tensorflow.contrib.layers import convolution2d as conv", "conv(x, 3, 1)", "contrib_conv2d(x, 3, 1)"),
        ("", "tf.contrib.layers.fully_connected(x, 1, normalizer_fn=tf.contrib.layers.batch_norm)",
         "contrib_fully_connected(x, 1, normalizer_fn=contrib_batch_norm)"),
        ("", "tf.contrib.crf.crf_decode(x, w, n)[0]", "crf_decode(x, w, n)[0]"),
        ("", "tf.contrib.layers.dense_to_sparse(x, 1)", "dense_to_sparse(x, 1)"),
        ("", "tf.contrib.crf.crf_log_likelihood(x, t, n)[0]", "crf_log_likelihood_of_scope(x, t, n)[0]"),
        ("", "tf.contrib.crf.crf_log_likelihood(x, t, n, None)[0]", "crf_log_likelihood_of_scope(x, t, n, None)[0]"),
        ("", "tf.contrib.crf.crf_log_likelihood(x, t, n, w)[0]", "crf_log_likelihood(x, t, n, w)[0]"),
        ("", "tf.contrib.crf.crf_log_likelihood(x, t, n, transition_params=w)[0]",
         "crf_log_likelihood(x, t, n, transition_params=w)[0]"),
        ("from tensorflow.contrib import rnn", "rnn.DropoutWrapper(rnn.LSTMCell(3), 0.5)",
         "tf.compat.v1.nn.rnn_cell.DropoutWrapper(tf.compat.v1.nn.rnn_cell.LSTMCell(3), 0.5)"),
        ("", "tf.contrib.rnn.LSTMBlockFusedCell(3)(x)", "LSTMBlockFusedCell(3)(x)"),
        ("", "tf.contrib.rnn.stack_bidirectional_dynamic_rnn([tf.contrib.rnn.LSTMBlockCell(3)], c, x)",
         "stack_bidirectional_dynamic_rnn([lstm_block_cell(3)], c, x)"),
        ("slim = tf.contrib.slim", "slim.separable_convolution2d(x, 3, 1)", "contrib_separable_conv2d(x, 3, 1)"),
        ("", "tf.contrib.opt.LazyAdamOptimizer(0.1).minimize(x)", "GraphLazyAdamOptimizer(0.1).minimize(x)"),
        ("slim = tf.contrib.slim", "slim.softmax(x)", "tf.nn.softmax(x)"),
        ("slim = tf.contrib.slim", "slim.softmax(x, scope='Predictions')", "tf.nn.softmax(x)"),
        ("", "tf.contrib.summary.scalar('x', tensor=x, step=1)", "tf.summary.scalar('x', data=x, step=1)"),
        ("", "[tf.contrib.summary.histogram('x', x), tf.contrib.summary.all_summary_ops()]",
         "[tf.summary.histogram('x', x), tf.compat.v1.summary.all_v2_summary_ops()]"),
        ("", "tf.contrib.summary.create_file_writer('logs', max_queue=3)",
         "tf.summary.create_file_writer('logs', max_queue=3)"),
        ("", "[tf.contrib.summary.always_record_summaries(), tf.contrib.summary.never_record_summaries()]",
         "[tf.summary.record_if(True), tf.summary.record_if(False)]"),
        ("", "tf.contrib.summary.record_summaries_every_n_global_steps(n + 1)",
         "tf.summary.record_if(tf.equal(tf.compat.v1.train.get_or_create_global_step() % (n + 1), 0))"),
        ("", "tf.contrib.summary.record_summaries_every_n_global_steps(100, global_step=step[0])",
         "tf.summary.record_if(tf.equal(step[0] % 100, 0))"),
        ("", "tf.contrib.metrics.streaming_pearson_correlation(x, t, weights=w)[0]",
         "streaming_pearson_correlation(x, t, weights=w)[0]"),
        ("from tensorflow.contrib import metrics", "metrics.streaming_covariance(x, t)[0]",
         "streaming_covariance(x, t)[0]"),
    ],
)  # fmt: skip
def test_what_stands_for_contrib(imports: str, network: str, becomes: str) -> None:
    text, tier = migrated(imports, network)
    assert tier.startswith("bridge")
    assert f"    y = {becomes}\n" in text
    assert "tf.contrib" not in text and "tensorflow.contrib" not in text


@pytest.mark.parametrize(
    "network",
    [
        "tf.contrib.cudnn_rnn.CudnnLSTM(1, 3)(x) if gpu else tf.contrib.layers.linear(x, 3)",
        "tf.contrib.layers.linear(x, 3)\n    if gpu:\n        y = tf.contrib.cudnn_rnn.CudnnLSTM(1, 3)(x)",
    ],
)
def test_layers_for_gpus_only_stay_under_conditions(network: str) -> None:
    text, tier = migrated("", network)
    assert tier.startswith("bridge") and "tf.contrib.cudnn_rnn.CudnnLSTM(1, 3)" in text and "contrib_linear" in text


def test_a_name_of_the_function_hides_the_helper() -> None:
    text, _ = migrated("def contrib_linear(x):\n    return x", "tf.contrib.layers.linear(contrib_linear(x), 3)")
    assert "y = tf2_training.contrib_linear(contrib_linear(x), 3)" in text and "import tf2_training" in text


@pytest.mark.parametrize(
    ("imports", "network", "reason"),
    [
        ("", "tf.contrib.layers.maxout(x, 2)", "tf.contrib.layers.maxout is not migrated yet"),
        (
            "",
            "tf.contrib.seq2seq.TrainingHelper(x, [1])",
            "tf.contrib.seq2seq.TrainingHelper has no match in TensorFlow 2: "
            "tf.nn.dynamic_rnn trains a decoder on the embedded targets, as TrainingHelper does",
        ),
        ("", "tf.contrib.crf.CrfForwardRnnCell(x)", "tf.contrib.crf.CrfForwardRnnCell is not migrated yet"),
        ("slim = tf.contrib.slim", "build(slim, x)", "tf.contrib.slim is not migrated yet"),
        ("slim = tf.contrib.slim", "getattr(slim, name)(x)", "tf.contrib.slim is not migrated yet"),
        ("", "tf.contrib.cudnn_rnn.CudnnLSTM(1, 3)(x)", "tf.contrib.cudnn_rnn.CudnnLSTM is not migrated yet"),
        ("", "tf.contrib.rnn.AttentionCellWrapper(x)", "tf.contrib.rnn.AttentionCellWrapper is not migrated yet"),
        ("", "tf.contrib.summary.scalar('x', x, 'family')", "tf.contrib.summary.scalar is not migrated yet"),
        ("", "tf.contrib.summary.scalar('x', x, family='f')", "tf.contrib.summary.scalar is not migrated yet"),
        ("", "list(map(tf.contrib.summary.scalar, x, y))", "tf.contrib.summary.scalar is not migrated yet"),
        ("", "tf.contrib.summary.image('x', x, step=1)", "tf.contrib.summary.image is not migrated yet"),
        (
            "",
            "tf.contrib.summary.record_summaries_every_n_global_steps(100, tf.cast(x, tf.int64))",
            "tf.contrib.summary.record_summaries_every_n_global_steps is not migrated yet",
        ),
        ("", "tf.contrib.opt.NadamOptimizer(0.1)", "tf.contrib.opt.NadamOptimizer is not migrated yet"),
        ("", "tf.contrib.layers.softmax(x, None)", "tf.contrib.layers.softmax is not migrated yet"),
        ("", "tf.contrib.cudnn_rnn.CudnnLSTM(1, 2)(x)", "tf.contrib.cudnn_rnn.CudnnLSTM is not migrated yet"),
    ],
)
def test_what_is_not_known_is_refused(imports: str, network: str, reason: str) -> None:
    text, tier = migrated(imports, network)
    assert tier == f"manual: {reason} (program.py:10)"
    assert "tf.contrib" in text and "tf.estimator.EstimatorSpec" in text
