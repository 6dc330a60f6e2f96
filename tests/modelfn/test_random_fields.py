"""`tf.contrib.crf`: the vendored functions where the transitions are given."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

HEAD = "scores = features['x']\nlengths = features['z']\nw = tf.get_variable('transitions', [3, 3])\n"
END = """\
loss = tf.reduce_mean(-{})
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""


def test_likelihood_and_decoding() -> None:
    body = HEAD + "predictions, _ = tf.contrib.crf.crf_decode(scores, w, sequence_length=lengths)"
    likelihood = "tf.contrib.crf.crf_log_likelihood(scores, labels, lengths, w)[0]"
    text = migrate(model_fn(body, end=END.format(likelihood)))
    assert "predictions, _ = crf_decode(scores, self.transitions, sequence_length=lengths)" in method(text, "call")
    assert "-crf_log_likelihood(scores, y, lengths, self.transitions)[0]" in method(text, "compute_loss")


def test_other_import_styles() -> None:
    before = "import tensorflow as tf\nfrom tensorflow.contrib import crf\n"
    end = END.format("crf.crf_log_norm(scores, lengths, w)")
    text = migrate(model_fn(HEAD + "predictions = scores", end=end, before=before))
    assert "tensorflow.contrib" not in text and "crf_log_norm(" in text


@pytest.mark.parametrize(
    ("likelihood", "reason"),
    [
        ("tf.contrib.crf.crf_log_likelihood(scores, labels, lengths)[0]", "makes its own transitions"),
        ("tf.contrib.crf.crf_log_likelihood(scores, labels, lengths, None)[0]", "makes its own transitions"),
        ("tf.contrib.crf.crf_log_likelihood(*features['all'])[0]", "hidden behind *"),
        ("tf.contrib.crf.crf_multitag_sequence_score(scores, labels, lengths, w)", "crf_multitag_sequence_score"),
    ],
)
def test_left_alone(likelihood: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(HEAD + "predictions = scores", end=END.format(likelihood)))
