"""Losses that programs put into collections of the graph; the numbers are those of tests/runtime."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

HELPER = """
def block(x, units, decay):
    with tf.variable_scope("block") as scope:
        kernel = tf.get_variable("kernel", [x.shape[1], units])
        if decay > 0:
            tf.add_to_collection("losses", decay * tf.nn.l2_loss(kernel))
        return tf.nn.relu(tf.matmul(x, kernel), name=scope.name)
"""
BODY = """
hidden = block(features["x"], 4, params["decay"])
predictions = tf.layers.dense(hidden, 1, name="out")
"""
OWN = 'tf.add_to_collection("losses", tf.reduce_mean(tf.square(labels - predictions)))\n'
TOTAL = 'loss = tf.add_n(tf.get_collection("losses"), name="total")\n'
END = (
    OWN
    + TOTAL
    + """
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
)


def program(body: str = BODY, end: str = END, before: str = HELPER) -> str:
    return model_fn(body, end=end, before=before)


def test_a_helper_keeps_its_losses_as_a_layer() -> None:
    text = migrate(program())
    assert "        if self.decay > 0:\n            self.add_loss(self.decay * tf.nn.l2_loss(self.kernel))\n" in text
    assert 'loss = tf.add_n([collected_loss, *self.losses], name="total")' in method(text, "compute_loss")


def test_a_name_of_the_loss_stays() -> None:
    before = HELPER.replace(
        "tf.add_to_collection(", "penalty = decay * tf.nn.l2_loss(kernel)\n            tf.add_to_collection("
    )
    text = migrate(program(before=before.replace('"losses", decay * tf.nn.l2_loss(kernel)', '"losses", penalty')))
    assert "            penalty = self.decay * tf.nn.l2_loss(self.kernel)\n            self.add_loss(penalty)\n" in text


def test_the_model_keeps_losses_of_conditions_and_loops() -> None:
    body = BODY + 'for scale in params["scales"]:\n    tf.add_to_collection("losses", scale * tf.nn.l2_loss(hidden))\n'
    text = migrate(program(body))
    loop = '    for scale in self.params["scales"]:\n        self.add_loss(scale * tf.nn.l2_loss(hidden))\n'
    assert loop in method(text, "call", of="Model")


def test_regularization_losses_that_a_helper_adds_are_those_of_keras() -> None:
    before = HELPER.replace('"losses"', "tf.GraphKeys.REGULARIZATION_LOSSES")
    total = "loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.losses.get_regularization_loss()\n"
    text = migrate(program(before=before, end=END.replace(OWN, "").replace(TOTAL, total)))
    assert "self.add_loss(self.decay" in text and "+ tf.reduce_sum(self.losses)" in text


def test_apply_regularization_is_a_sum_of_terms() -> None:
    before = HELPER.replace(
        'tf.add_to_collection("losses", decay * tf.nn.l2_loss(kernel))',
        "penalty = tf.contrib.layers.apply_regularization(tf.contrib.layers.l2_regularizer(decay), [kernel])\n"
        '            tf.add_to_collection("losses", penalty)',
    )
    text = migrate(program(before=before))
    assert "penalty = tf.keras.regularizers.L2(self.decay / 2)(self.kernel)\n            self.add_loss(penalty)" in text
    assert "REGULARIZATION" not in text


def test_what_nobody_collects_goes() -> None:
    text = migrate(
        program(before=HELPER.replace("        return", '        tf.add_to_collection("seen", kernel)\n        return'))
    )
    assert "seen" not in text and "add_loss" in text


@pytest.mark.parametrize(
    ("body", "before", "reason"),
    [
        pytest.param(
            BODY + 'tf.add_to_collection("seen", hidden)\nhooks = [tf.get_collection(name) for name in ["seen"]]\n',
            HELPER,
            "a statement that only has an effect",
            id="read by a name that is computed",
        ),
        pytest.param(
            BODY.replace("1, name", "1, kernel_regularizer=tf.keras.regularizers.L2(0.1), name"),
            HELPER,
            "layers keep losses of several collections, of which one is read",
            id="regularizers are no part of the collection",
        ),
        pytest.param(
            BODY
            + 'for scale in params["scales"]:\n    tf.add_to_collection("losses", scale * tf.reduce_mean(labels))\n',
            HELPER,
            "a loss is collected under a condition or in a loop",
            id="of labels, in a loop",
        ),
        pytest.param(
            BODY + "tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, tf.no_op())\n",
            HELPER,
            "a statement that only has an effect",
            id="a collection that TensorFlow reads",
        ),
    ],
)
def test_refused(body: str, before: str, reason: str) -> None:
    assert reason in manual_reason(program(body, before=before))


def test_a_layer_that_the_forward_pass_does_not_need() -> None:
    body = BODY.replace("hidden = block", "aside = block").replace("(hidden, 1", '(features["x"], 1')
    assert "the forward pass does not need it" in manual_reason(program(body))
