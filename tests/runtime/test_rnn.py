"""The recurrent cells and loops against TensorFlow 1's, with the same weights: outputs, states, gradients."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import nn_ops

from migrator.parity.probe import dropout
from migrator.parity.probe.recorded.mapping import Variable, match, normalise
from migrator.runtime.layers import rnn, rnn_cells, rnn_whole

v1 = tf.compat.v1
old = v1.nn.rnn_cell
random = np.random.RandomState(0)
INPUTS = random.randn(4, 5, 3).astype("float32")
LENGTHS = np.array([5, 2, 0, 3])
START = random.randn(4, 6).astype("float32")

CELLS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "basic LSTM": (lambda: old.BasicLSTMCell(6), lambda: rnn_cells.LSTMCell(6)),
    "LSTM": (
        lambda: old.LSTMCell(6, forget_bias=0.5, activation=tf.nn.relu),
        lambda: rnn_cells.LSTMCell(6, forget_bias=0.5, activation=tf.nn.relu),
    ),
    "LSTM with peepholes": (
        lambda: old.LSTMCell(6, use_peepholes=True, forget_bias=0.5),
        lambda: rnn_cells.PeepholeLSTMCell(6, forget_bias=0.5),
    ),
    "stack with peepholes": (
        lambda: old.MultiRNNCell([old.LSTMCell(4, use_peepholes=True, activation=tf.nn.relu), old.LSTMCell(6)]),
        lambda: tf.keras.layers.StackedRNNCells(
            [rnn_cells.PeepholeLSTMCell(4, activation=tf.nn.relu), rnn_cells.LSTMCell(6)]
        ),
    ),
    "GRU": (lambda: old.GRUCell(6), lambda: rnn_cells.GRUCell(6)),
    "RNN": (lambda: old.BasicRNNCell(6), lambda: rnn_cells.BasicRNNCell(6)),
    "stack": (
        lambda: old.MultiRNNCell([old.LSTMCell(4), old.GRUCell(6)]),
        lambda: tf.keras.layers.StackedRNNCells([rnn_cells.LSTMCell(4), rnn_cells.GRUCell(6)]),
    ),
    "stack of LSTMs": (
        lambda: old.MultiRNNCell([old.LSTMCell(4, forget_bias=0.2), old.BasicLSTMCell(6)]),
        lambda: tf.keras.layers.StackedRNNCells([rnn_cells.LSTMCell(4, forget_bias=0.2), rnn_cells.LSTMCell(6)]),
    ),
}


def squares(results: Any) -> Any:
    return tf.add_n([tf.reduce_sum(tf.square(part)) for part in tf.nest.flatten(results)])


def run_v1(build: Callable[[], Any]) -> tuple[list[Any], list[Any], list[Any], list[str]]:
    """Results, gradients, weights and their names in a TensorFlow 1 graph."""
    with tf.Graph().as_default(), v1.Session() as session:
        results = build()
        variables = v1.trainable_variables()
        gradients = tf.gradients(squares(results), variables)
        session.run([v.assign(np.random.RandomState(i).randn(*v.shape) * 0.3) for i, v in enumerate(variables)])
        found = session.run((tf.nest.flatten(results), gradients, variables))
        return (*found, [v.op.name for v in variables])


def check(build: Callable[[], Any], layer: Any, *args: Any, **kwargs: Any) -> None:
    results, gradients, weights, names = run_v1(build)
    layer(*args, **kwargs)
    assert [normalise(w.name)[-1] for w in layer.weights] == [normalise(n)[-1] for n in names]
    layer.set_weights(weights)

    @tf.function
    def graph() -> Any:
        with tf.GradientTape() as tape:
            new = layer(*args, **kwargs)
            loss = squares(new)
        return tf.nest.flatten(new), tape.gradient(loss, layer.trainable_weights)

    new_results, new_gradients = graph()
    for one, other in zip([*new_results, *new_gradients], [*results, *gradients]):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert len(new_results) == len(results) and len(new_gradients) == len(gradients)


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["whole", "lengths"])
@pytest.mark.parametrize("kind", CELLS)
def test_dynamic_rnn(kind: str, lengths: Any) -> None:
    make_old, make_new = CELLS[kind]
    check(
        lambda: v1.nn.dynamic_rnn(make_old(), INPUTS, sequence_length=lengths, dtype=tf.float32),
        rnn.DynamicRNN(make_new()),
        tf.constant(INPUTS),
        sequence_length=lengths,
    )


def test_time_major_and_initial_state() -> None:
    by_time = INPUTS.transpose(1, 0, 2)
    check(
        lambda: v1.nn.dynamic_rnn(
            old.GRUCell(6), tf.constant(by_time), LENGTHS, initial_state=tf.constant(START), time_major=True
        ),
        rnn.DynamicRNN(rnn_cells.GRUCell(6), time_major=True),
        tf.constant(by_time),
        sequence_length=LENGTHS,
        initial_state=tf.constant(START),
    )


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["whole", "lengths"])
@pytest.mark.parametrize("reverse", [False, True])
def test_lstm_over_whole_sequences(reverse: bool, lengths: Any) -> None:
    by_time = INPUTS.transpose(1, 0, 2)

    def backwards(values: Any) -> Any:
        if not reverse:
            return values
        return tf.reverse(values, [0]) if lengths is None else tf.reverse_sequence(values, lengths, 0, 1)

    def before() -> Any:
        cell = old.LSTMCell(6, forget_bias=0.5)
        values = backwards(tf.constant(by_time))
        outputs, state = v1.nn.dynamic_rnn(cell, values, lengths, dtype=tf.float32, time_major=True)
        return backwards(outputs), state

    layer = rnn_whole.FusedLSTM(6, forget_bias=0.5)
    check(
        before,
        rnn_whole.TimeReversedRNN(layer) if reverse else layer,
        tf.constant(by_time),
        sequence_length=lengths,
    )


def test_lstm_with_a_limit_of_the_memory() -> None:
    by_time = INPUTS.transpose(1, 0, 2)

    def before() -> Any:
        cell = old.LSTMCell(6, cell_clip=0.2)
        return v1.nn.dynamic_rnn(cell, tf.constant(by_time), dtype=tf.float32, time_major=True)

    results, _, weights, _ = run_v1(before)
    layer = rnn_whole.FusedLSTM(6, cell_clip=0.2)
    layer(tf.constant(by_time))
    layer.set_weights(weights)
    for one, other in zip(tf.nest.flatten(layer(tf.constant(by_time))), results):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_lstm_from_an_initial_state() -> None:
    start = tf.constant(START)

    def before() -> Any:
        state = old.LSTMStateTuple(tf.constant(START), tf.constant(2 * START))
        return v1.nn.dynamic_rnn(old.LSTMCell(6), INPUTS, LENGTHS, initial_state=state)

    given = rnn.LSTMStateTuple(start, 2 * start)
    layer = rnn.DynamicRNN(rnn_cells.LSTMCell(6))
    check(before, layer, tf.constant(INPUTS), sequence_length=LENGTHS, initial_state=given)


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["whole", "lengths"])
def test_bidirectional(lengths: Any) -> None:
    check(
        lambda: v1.nn.bidirectional_dynamic_rnn(
            old.LSTMCell(6), old.LSTMCell(4), INPUTS, sequence_length=lengths, dtype=tf.float32
        ),
        rnn.BidirectionalRNN(rnn_cells.LSTMCell(6), rnn_cells.LSTMCell(4)),
        tf.constant(INPUTS),
        sequence_length=lengths,
    )


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["whole", "lengths"])
def test_bidirectional_over_time(lengths: Any) -> None:
    by_time = INPUTS.transpose(1, 0, 2)
    check(
        lambda: v1.nn.bidirectional_dynamic_rnn(
            old.LSTMCell(6),
            old.GRUCell(4),
            tf.constant(by_time),
            sequence_length=lengths,
            dtype=tf.float32,
            time_major=True,
        ),
        rnn.BidirectionalRNN(rnn_cells.LSTMCell(6), rnn_cells.GRUCell(4), time_major=True),
        tf.constant(by_time),
        sequence_length=lengths,
    )


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["whole", "lengths"])
def test_static_rnn(lengths: Any) -> None:
    check(
        lambda: v1.nn.static_rnn(
            old.BasicLSTMCell(6), tf.unstack(INPUTS, axis=1), sequence_length=lengths, dtype=tf.float32
        ),
        rnn.StaticRNN(rnn_cells.LSTMCell(6)),
        tf.unstack(INPUTS, axis=1),
        sequence_length=lengths,
    )


@pytest.mark.parametrize("kind", CELLS)
def test_variables_have_the_old_shapes_and_first_biases_and_names_that_tell_them_apart(kind: str) -> None:
    make_old, make_new = CELLS[kind]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.nn.dynamic_rnn(make_old(), INPUTS, dtype=tf.float32)
        session.run(v1.global_variables_initializer())
        before = [(v.op.name, session.run(v)) for v in v1.trainable_variables()]
    layer = rnn.DynamicRNN(make_new(), name="rnn")
    layer(tf.constant(INPUTS))
    names = [Variable(name, value.shape, key=index) for index, (name, value) in enumerate(before)]
    pairs = match(names, [Variable(w.name, tuple(w.shape), key=i) for i, w in enumerate(layer.weights)], ordered=False)
    assert [pair.old.key for pair in pairs] == [pair.new.key for pair in pairs]
    for (name, value), weight in zip(before, layer.weights):
        if name.endswith("bias"):
            np.testing.assert_array_equal(weight.numpy(), value)


@pytest.fixture
def equal_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks that depend on the shape only, as in the comparisons of programs."""
    monkeypatch.setattr(nn_ops, "_dropout", nn_ops._dropout)  # put back afterwards
    dropout.install(lambda note: None)


@pytest.mark.usefixtures("equal_masks")
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_dropout_in_training(kind: str) -> None:
    make_old, make_new = CELLS[kind]
    keep = {"input_keep_prob": 0.9, "output_keep_prob": 0.7, "state_keep_prob": 0.8}
    check(
        lambda: v1.nn.dynamic_rnn(
            old.MultiRNNCell([old.DropoutWrapper(make_old(), **keep), old.ResidualWrapper(old.GRUCell(6))]),
            INPUTS,
            sequence_length=LENGTHS,
            dtype=tf.float32,
        ),
        Trained(
            tf.keras.layers.StackedRNNCells(
                [rnn_cells.DropoutWrapper(make_new(), **keep), rnn_cells.ResidualWrapper(rnn_cells.GRUCell(6))]
            )
        ),
        tf.constant(INPUTS),
        training=True,
    )


class Trained(tf.keras.layers.Layer):
    """Hands the phase to the cells as a model does: through the call."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.rnn = rnn.DynamicRNN(cell)

    def call(self, inputs: Any, training: bool = False) -> Any:
        return self.rnn(inputs, sequence_length=LENGTHS)


def test_dropout_outside_of_training() -> None:
    inputs = tf.constant(INPUTS)
    for_training = Trained(rnn_cells.DropoutWrapper(rnn_cells.GRUCell(6), output_keep_prob=0.5))
    outputs, _ = for_training(inputs)
    assert not np.any(outputs.numpy()[0] == 0.0)
    assert np.any(for_training(inputs, training=True)[0].numpy()[0] == 0.0)
    always = Trained(rnn_cells.DropoutWrapper(rnn_cells.GRUCell(6), output_keep_prob=0.5, only_in_training=False))
    assert np.any(always(inputs)[0].numpy()[0] == 0.0)


def test_losses_see_no_mask() -> None:
    """They count all steps, as in TensorFlow 1."""
    outputs, _ = rnn.DynamicRNN(rnn_cells.GRUCell(6))(tf.constant(INPUTS), sequence_length=LENGTHS)
    scores = tf.keras.layers.Dense(1)(outputs)
    loss = tf.keras.losses.MeanSquaredError()(tf.zeros_like(scores), scores)
    np.testing.assert_allclose(loss, np.mean(np.square(scores)), rtol=1e-6)


def test_zero_state_and_its_fields() -> None:
    state = rnn.zero_state(rnn_cells.LSTMCell(6), 4)
    assert state.c.shape == state.h.shape == (4, 6)
    stack = tf.keras.layers.StackedRNNCells([rnn_cells.DropoutWrapper(rnn_cells.LSTMCell(3)), rnn_cells.GRUCell(2)])
    first, second = rnn.zero_state(stack, 4, tf.float32)
    assert first.h.shape == (4, 3) and second.shape == (4, 2)


def test_kernels_start_as_the_scope_says_each_by_itself() -> None:
    cells = [
        rnn_cells.LSTMCell(3),
        rnn_cells.DropoutWrapper(rnn_cells.LSTMCell(3), 0.5),
        rnn_cells.LSTMCell(3, initializer="zeros"),
    ]
    layer = rnn.DynamicRNN(
        tf.keras.layers.StackedRNNCells(cells), initializer=tf.keras.initializers.RandomUniform(5.0, 6.0)
    )
    layer(INPUTS)
    first, second, own = (cell.kernel.numpy() for cell in (cells[0], cells[1].cell, cells[2]))
    assert first.min() >= 5.0 and second.min() >= 5.0 and not own.any() and not np.isin(first, second).any()
    both = rnn.BidirectionalRNN(
        rnn_cells.GRUCell(3), rnn_cells.GRUCell(3), initializer=tf.keras.initializers.Constant(2.0)
    )
    both(INPUTS)
    assert sorted({float(value) for weight in both.get_weights() for value in weight.flat}) == [0.0, 1.0, 2.0]
