"""Random numbers of models are the same on both sides; those of initial values and of the input stay random."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.data.ops import structured_function
from tensorflow.python.ops import gen_candidate_sampling_ops, gen_random_ops

from migrator.parity.probe import randomness
from migrator.parity.probe.tf1 import sampling

v1 = tf.compat.v1


@pytest.fixture
def notes() -> Iterator[list[str]]:
    """What is noted while the operations are patched."""
    modules = (gen_candidate_sampling_ops, gen_random_ops)
    before = [dict(vars(module)) for module in modules]
    init = structured_function.StructuredFunctionWrapper.__init__
    said: list[str] = []
    randomness.install(said.append, active=True)
    yield said
    for module, names in zip(modules, before):
        vars(module).update(names)
    structured_function.StructuredFunctionWrapper.__init__ = init


def draws() -> dict[str, tf.Tensor]:
    classes, weights, biases = tf.constant([[3], [1]], tf.int64), tf.ones([20, 4]) * 0.1, tf.zeros([20])
    return {
        "normal": tf.random.normal([2, 3], 1.0, 0.5),
        "truncated": tf.random.truncated_normal([2, 3]),
        "uniform": tf.random.uniform([2], -1.0, 1.0),
        "whole": tf.random.uniform([50], 2, 7, tf.int32),
        "drawn": tf.random.categorical(tf.zeros([2, 5]), 3),
        "order": tf.random.shuffle(tf.range(9)),
        "sampled": tf.nn.sampled_softmax_loss(weights, biases, classes, tf.ones([2, 4]), 5, 20),
        "contrast": tf.nn.nce_loss(weights, biases, classes, tf.ones([2, 4]), 5, 20),
    }


def test_draws_of_models_depend_on_their_shape_alone(notes: list[str]) -> None:
    first = tf.function(draws)()
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(5)
        tensors = draws()
        second, third = session.run(tensors), session.run(tensors)
    for name, value in first.items():
        np.testing.assert_array_equal(value.numpy(), second[name], name)
        np.testing.assert_array_equal(second[name], third[name], name)
    assert sorted(second["order"]) == list(range(9)) != list(second["order"])
    assert set(second["whole"]) <= set(range(2, 7)) and len(set(second["whole"])) > 2
    assert np.std(second["normal"]) > 0.1 and np.abs(second["truncated"]).max() < 2
    assert notes == [randomness.NOTE]


def test_initial_values_input_and_what_is_computed_at_once_stay_random(notes: list[str]) -> None:
    assert (tf.random.normal([4]).numpy() != tf.random.normal([4]).numpy()).any()
    values = [value.numpy().tolist() for value in tf.data.Dataset.range(3).map(lambda _: tf.random.uniform([4]))]
    assert values[0] != values[1] != values[2]
    with tf.Graph().as_default(), v1.Session() as session:
        initializer = v1.truncated_normal_initializer()
        variables = [v1.get_variable(name, [3], initializer=initializer) for name in "ab"]
        session.run(v1.global_variables_initializer())
        one, other = session.run(variables)
    assert (one != other).any() and not notes


def test_what_cannot_be_made_equal_is_noted(notes: list[str]) -> None:
    tf.function(lambda: tf.random.gamma([2], 1.0))()
    assert notes == ["random numbers of `random_gamma` are not made equal: what depends on them may differ"]


@pytest.mark.parametrize("name", sorted(sampling.SAMPLERS))
def test_expected_counts_are_those_of_the_kernel(name: str) -> None:
    classes = tf.constant([[0, 7], [3, 9]], tf.int64)
    frequencies = {"unigrams": [float(n + 1) for n in range(10)], "distortion": 0.75} if "unigram" in name else {}
    kernel = getattr(gen_candidate_sampling_ops, name)
    expected = kernel(classes, 2, 200, False, 10, seed=1, seed2=2, **frequencies)
    found = sampling.SAMPLERS[name](classes, 2, 200, False, 10, **frequencies)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)
    shares = [np.bincount(sides[0].numpy(), minlength=10) / 200 for sides in (found, expected)]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.15)
    candidates, counts, own = sampling.SAMPLERS[name](classes, 2, 6, True, 10, **frequencies)
    assert len(set(candidates.numpy())) == 6 and 0 < counts.numpy().min() and own.numpy().max() < 1
    tries = sampling.draw(np.full(10, 0.1), 6, True)[1]
    assert tries > 6  # as the kernel draws until they differ: 1 - (1 - p)^tries
    if name == "uniform_candidate_sampler":
        np.testing.assert_allclose(own, 1 - 0.9**tries, rtol=1e-5)


def test_too_few_classes() -> None:
    with pytest.raises(ValueError, match="6 different candidates of 5 classes"):
        sampling.draw(np.full(5, 0.2), 6, True)
