"""Tags of summaries that read the names of tensors in the graph."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import PATH, manual_reason, method, migrate, model_fn, run

HELPER = """
def add_summary(tag, value):
    tf.summary.scalar("{}/zeros".format(tag), tf.math.zero_fraction(value))
    tf.summary.histogram("{}/activation".format(tag), value)


def activation_summary(x):
    tensor_name = re.sub("tower_[0-9]*/", "", x.op.name)
    tf.summary.histogram(tensor_name + "/activations", x)


"""


def tags(body: str, before: str = HELPER) -> list[str]:
    """The tags that `call` writes, as source text."""
    net = f'net = features["x"]\n{body}\npredictions = tf.layers.dense(net, 3)'
    text = migrate(model_fn(net, before="import re\n\n" + before))
    return re.findall(r"tf\.summary\.\w+\(\s*((?:[^,()]|\([^()]*\))*),", method(text, "call", "Model"))


LAYER = "net = tf.layers.dense(net, {})\n"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("add_summary(net.name, net)", ['"net/zeros"', '"net/activation"']),
        ('with tf.name_scope("a"):\n    add_summary(net.name, net)', ['"a/net/zeros"', '"a/net/activation"']),
        ("activation_summary(net)", ['"net/activations"']),
        ("tf.summary.histogram(net.op.name, net)", ['"net"']),
        ('tf.summary.histogram(net.name.split(":")[0] + "/out", net)', ['"net/out"']),
        ("tf.summary.histogram(net.name[:-2], net)", ['"net"']),
        ('tf.summary.histogram(net.name.replace(":", "_"), net)', ['"net"']),
        ('tf.summary.histogram("%s/out" % net.op.name, values=net)', ['"net/out"']),
        ('tf.summary.histogram(f"{net.op.name}/out", net)', ['"net/out"']),
        (
            "tf.summary.histogram(net.name, net)\nnet = 2 * net\ntf.summary.histogram(net.name, net)",
            ['"net"', '"net_1"'],
        ),
    ],
)
def test_a_tag_takes_the_name_of_the_variable(body: str, wanted: list[str]) -> None:
    assert tags(body) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("for i, n in enumerate([4, 5]):\n    {}    {}", ['"net_%d/zeros" % i', '"net_%d/activation" % i']),
        ("for n in params['sizes']:\n    {}    {}", ['"net_%d/zeros" % i', '"net_%d/activation" % i']),
        (
            "for n in [4, 5]:\n    {}    {}    net = tf.nn.relu(net)\n    {}",
            ['"net_%d/zeros" % i', '"net_%d/activation" % i', '"net_2_%d/zeros" % i', '"net_2_%d/activation" % i'],
        ),
    ],
)
def test_turns_of_a_loop_have_tags_of_their_own(body: str, wanted: list[str]) -> None:
    summary = "add_summary(net.name, net)\n"
    found = tags(body.format("net = tf.layers.dense(net, n)\n", summary, summary))
    assert found == wanted


def test_a_loop_gets_a_counter() -> None:
    body = 'net = features["x"]\nfor n in params["sizes"]:\n    net = tf.layers.dense(net, n)\n    add_summary(net.name, net)'
    text = migrate(model_fn(f"{body}\npredictions = tf.layers.dense(net, 3)", before=HELPER))
    assert "for i, dense in enumerate(self.dense_layers):" in text


def test_a_tag_that_a_loop_puts_together() -> None:
    body = "for i in range(2):\n    net = tf.layers.dense(net, 4)\n    add_summary('block{}'.format(i), net)"
    assert tags(body) == ['"block%s/zeros" % i', '"block%s/activation" % i']


def test_a_message_tells_the_tag() -> None:
    source = model_fn(
        'net = features["x"]\nadd_summary(net.name, net)\npredictions = tf.layers.dense(net, 3)', before=HELPER
    )
    said = [d.message for d in run(source)[PATH].remaining]
    assert any('this summary is called "net/activation" now, after its variable' in text for text in said)


@pytest.mark.parametrize(
    "body",
    [
        "tf.summary.histogram(net.name, 2 * features['w'])",  # another tensor than the one that is shown
        "while go(net):\n    net = tf.layers.dense(net, 4)\n    tf.summary.histogram(net.name, net)",
        "name = net.name\nprint(sorted(name))\ntf.summary.histogram(name, net)",  # read elsewhere
        "tf.summary.histogram(clean(net.name), net)",
        'tf.summary.histogram(max(net.name, "b"), net)',
    ],
)
def test_left_alone(body: str) -> None:
    source = model_fn(f'net = features["x"] * 2.0\n{body}\npredictions = tf.layers.dense(net, 3)', before=HELPER)
    assert manual_reason(source)


TABLE = """
def mlp(net, units):
    for n in units:
        net = tf.layers.dense(net, n)
        add_summary(net.name, net)
    return net


def deep(net, params):
    return mlp(net, params["units"])


def wide(net, params):
    return mlp(2.0 * net, params["units"])


MODELS = {"deep": deep, "wide": wide}


"""


def test_networks_out_of_a_table() -> None:
    body = 'predictions = MODELS[params["model"]](features["x"], params)'
    text = migrate(model_fn(body, before=HELPER.replace("activation_summary", "other") + TABLE))
    assert '"net_%d/zeros" % i' in method(text, "call", "Mlp")


def test_a_network_that_a_model_goes_through_twice() -> None:
    body = 'net = features["x"]\npredictions = deep(net, params) - wide(net, params)'
    assert "called again" in manual_reason(model_fn(body, before=HELPER + TABLE.partition("MODELS")[0]))


GRADIENTS = """
loss = tf.losses.mean_squared_error(labels, predictions)
optimizer = tf.train.AdamOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
for gradient, variable in pairs:
    {use}
train_op = optimizer.apply_gradients(pairs, global_step=tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
BY_NAME = "predictions = tf.layers.dense(features['x'], 1)"


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ('variable.op.name + "/grad"', "variable_path(variable).rpartition(':')[0] + \"/grad\""),
        ('"%s/grad" % variable.name', '"%s/grad" % variable_path(variable)'),
    ],
)
def test_gradients_by_the_names_of_their_variables(tag: str, written: str) -> None:
    text = migrate(model_fn(BY_NAME, end=GRADIENTS.format(use=f"tf.summary.histogram({tag}, gradient)")))
    assert f"tf.summary.histogram({written}, gradient)" in method(text, "train_step")


@pytest.mark.parametrize("use", ["tf.summary.scalar('norm', len(variable.name))", "print(variable.name)"])
def test_names_of_variables_elsewhere_are_left_alone(use: str) -> None:
    assert "names of variables" in manual_reason(model_fn(BY_NAME, end=GRADIENTS.format(use=use)))


@pytest.mark.parametrize(("tag", "told"), [('variable.op.name + "/grad"', True), ('"all/grad"', False)])
def test_tags_that_become_others_are_told(tag: str, told: bool) -> None:
    source = model_fn(BY_NAME, end=GRADIENTS.format(use=f"tf.summary.histogram({tag}, gradient)"))
    said = [each.message for outcome in run(source).values() for each in outcome.remaining]
    assert any("the names that Keras gives variables" in message for message in said) is told


def test_names_of_weights_that_may_be_the_same_are_left_alone() -> None:
    body = "predictions = tf.matmul(features['x'], tf.get_variable('w', [3, 1]))"
    end = GRADIENTS.format(use="tf.summary.histogram(variable.name, gradient)")
    assert "names of variables" in manual_reason(model_fn(body, end=end))
