"""Lists that loops fill with variables: read after the loop, while it fills them, and for the sizes of others."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

TIED = """
x = features["x"]
weights = []
for i in range(2):
    with tf.variable_scope("encoder_%d" % i):
        W = tf.get_variable("W", [{first}, {second}])
        weights.append(W)
        x = tf.matmul(x, W)
for i, W in enumerate(reversed(weights)):
    with tf.variable_scope("decoder_%d" % i):
        b = tf.get_variable("b", [W.get_shape().as_list()[0]])
        x = tf.matmul(x, tf.transpose(W)) + b
predictions = x
"""
IN_TURN = """
x = features["x"]
weights = []
for i, units in enumerate(params["units"]):
    weights.append(tf.get_variable("w%d" % i, [units]))
    x = x * weights[-1]
    x = x + weights[i]
"""


def test_weights_that_are_used_again() -> None:
    text = migrate(model_fn(TIED.format(first='params["units"][i]', second='params["units"][i + 1]')))
    init, call = joined(method(text, "__init__", "Model")), method(text, "call", "Model")
    assert "for i, W in enumerate(reversed(self.weights_))" in init and "shape=[W.shape[0]]" in init
    assert 'name="encoder_%d_W" % i' in init and 'name="decoder_%d_b" % i' in init
    assert "self.weights_.append(self.encoder_w_variables[-1])" in init
    assert "for W, b in zip(reversed(self.weights_), self.decoder_b_variables):" in call


def test_weights_that_are_used_again_and_are_as_wide_as_the_input() -> None:
    body = "units = [int(features['x'].shape[1])] + params['units']\n"
    text = migrate(model_fn(body + TIED.format(first="units[i]", second="units[i + 1]")))
    build, call = joined(method(text, "build", "Model")), method(text, "call", "Model")
    assert "    weights = []\n" in build and "weights.append(self.encoder_w_variables[-1])" in build
    assert "for i, W in enumerate(reversed(weights))" in build
    assert "W = " not in call and "b = b" not in call and "units" not in call
    assert "for W, b in zip(reversed(weights), self.decoder_b_variables):" in call


def test_the_shape_of_a_feature_is_no_reason_to_read_it_in_build() -> None:
    body = """
    x = features["x"]
    units = [x.shape[1].value] + params["units"]
    net = x
    for i in range(2):
        net = tf.matmul(net, tf.get_variable("w%d" % i, [units[i], units[i + 1]]))
    predictions = net
    """
    build = method(migrate(model_fn(body)), "build", "Model")
    assert 'units = [input_shape["x"][1]] + self.params["units"]' in build and "    x = " not in build


def test_a_list_that_is_read_while_it_is_filled() -> None:
    call = method(assert_same(model_fn(f"{IN_TURN}predictions = x * weights[0]"), units=[4, 3]), "call", "Model")
    assert "weights = []\n" in call and "weights.append(w)\n" in call and "x = x * weights[-1]\n" in call


def test_two_lists_that_are_made_at_once() -> None:
    body = IN_TURN.replace("weights = []", "weights, spare = [], []").replace(
        "    x = x + ", "    spare.append(x)\n    x = x + "
    )
    assert "weights, spare = [], []\n" in assert_same(model_fn(f"{body}predictions = x"), units=[4, 3])


def test_the_number_of_weights_makes_others() -> None:
    body = """
    for i in range(len(weights)):
        x = x * tf.get_variable("v%d" % i, [params["units"][i]])
    predictions = x
    """
    text = assert_same(model_fn(IN_TURN + "\n".join(line[4:] for line in body.splitlines())), units=[4, 3])
    init = joined(method(text, "__init__", "Model"))
    assert "weights.append(self.w_variables[-1])\n" in init


@pytest.mark.parametrize(
    "line",
    [
        "    weights.append(x)",
        "    weights.extend([x])",
        "    weights[0] = tf.get_variable('v%d' % i, [units])",
        "    weights = weights + [x]",
    ],
)
def test_lists_of_more_than_weights_are_left_alone(line: str) -> None:
    body = IN_TURN.rstrip("\n") + f"\n{line}\npredictions = x * weights[0]"
    try:
        manual_reason(model_fn(body))
    except AssertionError:  # what is no list of weights alone is a list of tensors
        assert_same(model_fn(body), units=[4, 3])


def test_weights_of_some_turns_that_a_dict_holds() -> None:
    text = joined(
        migrate(
            model_fn(
                """
                tables = {}
                for a in params["fields"]:
                    for b in params["fields"]:
                        if a != b:
                            tables[a + b] = tf.get_variable("%s_for_%s" % (a, b), [20, 4])
                predictions = tf.reduce_sum(tf.nn.embedding_lookup(tables["xy"], features["x"]), 1)
                """
            )
        )
    )
    assert 'self.tables[a + b] = self.add_weight(name="%s_for_%s" % (a, b), shape=[20, 4])' in text
    assert ".append(None)" not in text
