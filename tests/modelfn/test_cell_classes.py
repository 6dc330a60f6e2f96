"""Recurrent cells of the program's own."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

HEAD = "x = features['x']\n"
CELL = """
class Mixed(tf.nn.rnn_cell.RNNCell):
    def __init__(self, units, {parameters}):
        super(Mixed, self).__init__({given})
        self._units = units

    @property
    def state_size(self):
        return self._units

    @property
    def output_size(self):
        return self._units

    def call(self, inputs, state):
{body}
"""
DENSE = """
        with tf.variable_scope("mix"):
            new = tf.layers.dense(tf.concat([inputs, state], 1), self._units, activation=tf.tanh, name="dense")
        return new, new
"""
RUN = "outputs, state = tf.nn.dynamic_rnn({cell}, x, dtype=tf.float32)\npredictions = outputs\n"


def cell(body: str = DENSE, parameters: str = "reuse=None", given: str = "_reuse=reuse") -> str:
    return CELL.format(body=body.strip("\n"), parameters=parameters, given=given)


def test_layers_of_call_are_made_by_init() -> None:
    text = migrate(model_fn(HEAD + RUN.format(cell="Mixed(4)"), before=cell()))
    assert "class Mixed(OwnCell):" in text and "super(Mixed, self).__init__()" in text
    assert "self.mix = tf.keras.layers.Dense(self._units, activation=tf.tanh)\n" in text
    assert "new = self.mix(tf.concat([inputs, state], 1))" in text
    assert "= tf.keras.layers.RNN(Mixed(4), return_sequences=True)\n" in method(text, "__init__", of="Model")


BUILD = """
        return tf.nn.rnn_cell.LSTMStateTuple(state[0], state[1])

    def build(self, inputs_shape):
        self._kernel = self.add_variable("kernel", shape=[inputs_shape[1].value, self._units])
        self.built = True
"""


def test_weights_of_build_and_pairs_of_states() -> None:
    text = migrate(model_fn(HEAD + RUN.format(cell="Mixed(4)"), before=cell(BUILD)))
    assert 'self._kernel = self.add_weight(name="kernel", shape=[inputs_shape[1], self._units])' in text
    assert "return LSTMStateTuple(state[0], state[1])" in text


@pytest.mark.parametrize(
    "made",
    ["cells = tf.nn.rnn_cell.MultiRNNCell([Mixed(4), Mixed(3)])\n", "cells = Mixed(4)\n"],
)
def test_cells_that_a_name_holds(made: str) -> None:
    body = f"{HEAD}{made}start = cells.zero_state(tf.shape(x)[0], tf.float32)\n"
    body += "outputs, state = tf.nn.dynamic_rnn(cells, x, initial_state=start)\npredictions = outputs\n"
    text = migrate(model_fn(body, before=cell()))
    assert "zero_state(" in method(text, "call", of="Model") and "self.mixed" not in text


CALLED = cell().replace("def call(self, inputs, state)", "def __call__(self, inputs, state, scope=None)")
NO_CALL = "without a `call` of its own"
ENTERED = {
    'scope or "mix"': '"mix"',
    "scope or type(self).__name__": '"Mixed"',
    "scope or self.__class__.__name__": '"Mixed"',
    'scope, "mix"': '"mix"',
    'scope, default_name="mix"': '"mix"',
}


@pytest.mark.parametrize("scope", ENTERED)
def test_a_cell_with_a_call_of_the_first_versions(scope: str) -> None:
    own = CALLED.replace('variable_scope("mix")', f"variable_scope({scope})")
    plain = cell().replace('variable_scope("mix")', f"variable_scope({ENTERED[scope]})")
    before, after = (migrate(model_fn(HEAD + RUN.format(cell="Mixed(4)"), before=text)) for text in (own, plain))
    assert before == after and "    def call(self, inputs, state):\n" in before


def test_a_call_without_a_scope() -> None:
    text = migrate(model_fn(HEAD + RUN.format(cell="Mixed(4)"), before=CALLED.replace(", scope=None", "")))
    assert text == migrate(model_fn(HEAD + RUN.format(cell="Mixed(4)"), before=cell()))


@pytest.mark.parametrize(
    ("run", "own", "reason"),
    [
        ("Mixed(4, reuse=True)", cell(), "is told whether it shares its variables"),
        ("Mixed(4, True)", cell(), "is told whether it shares its variables"),
        ("Mixed(4)", cell(given="_reuse=True"), "told to share its variables"),
        ("Mixed(4, x)", cell(parameters="memory", given=""), "known only when data flow"),
        ("Mixed(4)", CALLED.replace("self._units, activation", "super().output_size, activation"), NO_CALL),
        ("Mixed(4)", CALLED.replace("scope=None", "scope"), NO_CALL),
        ("Mixed(4)", CALLED.replace("scope=None", "*more"), NO_CALL),
        ("Mixed(4)", CALLED.replace("return new", "scope = None\n        return new"), NO_CALL),
        ("Mixed(4)", f"{CALLED}\n\ndef step(cell, x, state):\n    return cell(x, state, 'scope')\n", NO_CALL),
        (
            "Mixed(4)",
            cell("        w = tf.get_variable('w', [4, 4])\n        return tf.matmul(inputs, w), state"),
            "a layer class makes variables of the graph",
        ),
    ],
)
def test_cells_that_are_left_alone(run: str, own: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(HEAD + RUN.format(cell=run), before=own))


@pytest.mark.parametrize("made", ["", "mixed = Mixed(4)\n"])
def test_a_scope_that_says_how_their_variables_begin(made: str) -> None:
    run = RUN.format(cell="mixed" if made else "Mixed(4)").replace("\n", "\n    ").rstrip(" ")
    body = f'{HEAD}{made}with tf.variable_scope("rnn", initializer=tf.zeros_initializer()):\n    {run}'
    assert "variable_scope(initializer=…)" in manual_reason(model_fn(body, before=cell()))
