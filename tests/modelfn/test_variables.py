"""Losses over `tf.trainable_variables()`: the same variables are chosen, or the program is left alone."""

from __future__ import annotations

import pytest
from modelfn.programs import SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn

LAYERS = """
with tf.variable_scope("body"):
    net = tf.layers.dense(features["x"], 3, name="first")
    net = tf.layers.batch_normalization(net)
predictions = tf.layers.dense(net, 1)
"""


def program(penalty: str, body: str = LAYERS, before: str = "") -> str:
    end = f"""
{penalty}
loss = tf.reduce_mean(tf.square(labels - predictions)) + penalty
{TRAIN_OP}
{SPEC}
"""
    return model_fn(body, end=end, before=before)


@pytest.mark.parametrize(
    "penalty",
    [
        "penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])",
        "penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.name])",
        "penalty = sum(tf.nn.l2_loss(v) for v in tf.trainable_variables() if not v.name.endswith('bias:0'))",
        "names = ['bias', 'gamma']\n"
        "penalty = sum(tf.nn.l2_loss(v) for v in tf.trainable_variables() if not any(n in v.name for n in names))",
        "tvars = tf.trainable_variables()\npenalty = tf.add_n([tf.nn.l2_loss(v) for v in tvars if 'kernel' in v.name])",
        """
penalty = 0.0
for v in tf.trainable_variables():
    if "batch_normalization" not in v.name:
        penalty += 0.1 * tf.nn.l2_loss(v)
""",
        """
def keep(name):
    return "batch_normalization" not in name and "bias" not in name

penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if keep(v.name)])
""",
    ],
)
def test_the_loss_reads_the_variables_of_the_model(penalty: str) -> None:
    text = migrate(program(penalty))
    loss = method(text, "compute_loss").replace("variable_path(v)", "v.name")
    assert penalty.strip().replace("tf.trainable_variables()", "self.trainable_variables") in loss.replace(
        "\n    ", "\n"
    )
    assert "penalty" not in method(text, "call")


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("'bias' not in v.name", "v.name"),
        ("v.name.endswith('bias:0')", "variable_path(v)"),  # the name in Keras 3 is `bias`
        ("'dense' not in v.name", "variable_path(v)"),
        ("'dense' in v.name and 'bias' not in v.name", "variable_path(v)"),  # in one way all over a list
    ],
)
def test_names_have_the_layers_around_them_where_a_test_needs_these(test: str, name: str) -> None:
    text = migrate(program(f"penalty = sum(tf.nn.l2_loss(v) for v in tf.trainable_variables() if {test})"))
    assert f" if {test.replace('v.name', name)}" in method(text, "compute_loss")


def test_a_filter_of_the_module_stays_where_it_is() -> None:
    before = """\
        import tensorflow as tf


        def keep(v):
            return 'bias' not in v
        """
    penalty = "penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if keep(v.name)])"
    text = migrate(program(penalty, before=before))
    assert "for v in self.trainable_variables if keep(v.name)" in text


@pytest.mark.parametrize("shown", ["tf.logging.info('%s', v.name)", "print('name ' + v.name.split(':')[0], v.shape)"])
def test_a_name_that_is_only_shown_says_nothing_of_the_choice(shown: str) -> None:
    penalty = f"penalty = 0.0\nfor v in tf.trainable_variables():\n    {shown}\n    penalty += tf.nn.l2_loss(v)"
    body = "net = tf.layers.dense(features['x'], 3)\npredictions = tf.layers.dense(net, 1)"
    text = migrate(program(penalty, body))
    assert "for v in self.trainable_variables:" in text and "v.name" in text and "variable_path" not in text


LIST = "penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if {}])  # HERE"


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("'body' in v.name", "body/first/kernel:0 and model/first/kernel:0"),
        ("'model' not in v.name", "Keras may name them otherwise"),
        ("v.name.startswith('first')", "what is asked of the name of a variable is not followed"),
        ("v.name.split('/')[-1] != 'bias:0'", "what is asked of the name"),
        ("params['skip'] not in v.name", "a name that is not a literal"),
        ("keep(v.name)", "what is asked of the name"),
        ("print(v.name) or v.name.split('/')", "what is asked of the name"),
        ("'bias' not in v.op.name", "no `op` in TensorFlow 2"),
    ],
)
def test_other_choices_are_left_alone(condition: str, reason: str) -> None:
    assert reason in manual_reason(program(LIST.format(condition)))


@pytest.mark.parametrize(
    ("penalty", "reason"),
    [
        ("penalty = penalty_of(tf.trainable_variables())  # HERE", "handed to a function"),
        ("penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables(SCOPE)])  # HERE", "not a literal"),
    ],
)
def test_other_uses_are_left_alone(penalty: str, reason: str) -> None:
    assert reason in manual_reason(program(penalty))


def test_a_list_that_lacks_later_variables_is_left_alone() -> None:
    body = f"penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])  # HERE\n{LAYERS}"
    assert "before all of them are made" in manual_reason(program("", body))


def test_predictions_from_the_list_are_left_alone() -> None:
    body = f"{LAYERS}\nsize = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])\npredictions = predictions + size"
    assert "outside of the loss" in manual_reason(program("penalty = 0.0", body))
