"""Initializers are judged by what they drew: never wrongly called different, and found where there is enough to see."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

from migrator.parity.judge.initial_values import compare_initial_values, same_distribution
from migrator.parity.probe.recorded.drawn import Initializers, of_graph
from migrator.parity.probe.recorded.store import SAMPLED, Reader, Writer, sample

Draw = Callable[[np.random.RandomState, int], Any]


def truncated(random: np.random.RandomState, size: int) -> Any:
    values = random.randn(4 * size + 20)
    return values[abs(values) < 2][:size]


def orthogonal(random: np.random.RandomState, size: int) -> Any:
    side = int(size**0.5) + 2
    return np.linalg.qr(random.randn(side, side))[0].reshape(-1)


DRAWS: dict[str, Draw] = {
    "normal": lambda random, size: random.randn(size) * 0.1,
    "uniform": lambda random, size: random.uniform(-0.1, 0.1, size),
    "truncated normal": truncated,
    "orthogonal": orthogonal,
    "heavy tails": lambda random, size: random.laplace(size=size),
    "skewed": lambda random, size: np.exp(random.randn(size)),
    "zero": lambda random, size: np.zeros(size),
}


@pytest.mark.parametrize("draw", list(DRAWS))
def test_draws_of_one_initializer_are_the_same(draw: str) -> None:
    random = np.random.RandomState(1)
    for _ in range(300):
        size = int(2 ** random.uniform(0, 13))
        old, new = (DRAWS[draw](random, size) for _ in range(2))
        assert same_distribution(old, new)


def times(factor: float, draw: str = "normal") -> Draw:
    return lambda random, size: factor * DRAWS[draw](random, size)


@pytest.mark.parametrize(
    ("old", "new", "size"),
    [
        ("normal", times(0), 2),
        ("zero", lambda random, size: np.ones(size), 1),
        ("zero", lambda random, size: np.ones(size), 5),
        ("zero", "normal", 1),
        ("normal", lambda random, size: 0.5 + DRAWS["normal"](random, size), 16),
        ("normal", times(10), 32),
        ("truncated normal", times(0.5, "truncated normal"), 256),
        ("uniform", times(1.2, "uniform"), 512),
        ("uniform", times(1.1, "uniform"), 1024),
        ("truncated normal", times(1.1, "truncated normal"), 8192),
        ("uniform", times(3**-0.5), 2048),
        ("truncated normal", times(8.8), 16384),
        ("normal", lambda random, size: abs(DRAWS["normal"](random, size)), 256),
    ],
)
def test_other_initializers_are_found(old: str, new: str | Draw, size: int) -> None:
    random = np.random.RandomState(1)
    other = DRAWS[new] if isinstance(new, str) else new
    for _ in range(20):
        a, b = DRAWS[old](random, size), other(random, size)
        assert not same_distribution(a, b) and not same_distribution(b, a)


def test_equal_values_are_the_same_whatever_they_are() -> None:
    values = np.array([0.0, 0.0, 1.0, 1.0, 7.0] * 10, np.float32)
    assert same_distribution(values, values.copy())
    assert same_distribution(np.array([0.3]), np.array([0.7]))  # one draw each says nothing


@pytest.mark.parametrize("filled", [False, True])
def test_variables_of_a_recording(tmp_path: Path, filled: bool) -> None:
    values = {
        "w": (np.zeros(4, np.float32), np.ones(4, np.float32)),
        "step": (np.zeros(2, np.int64), np.ones(2, np.int64)),
    }
    readers = []
    for index, side in enumerate(("old", "new")):
        writer = Writer(str(tmp_path / side))
        kept = {name: writer.array(pair[index]) for name, pair in values.items()}
        if side == "old":
            listed = [{"name": name, "value": value, "trainable": True} for name, value in kept.items()]
            writer.event("variables", stream=0, kind="train", variables=listed, filled=filled)
        else:
            writer.event("initial", stream=0, variables=kept)
        writer.close()
        readers.append(Reader(str(tmp_path / side)))
    text = "initial values: model 1, w: initial values are of another distribution: old all 0, new all 1"
    assert [str(one) for one in compare_initial_values("model 1, ", 0, *readers)] == ([] if filled else [text])
    assert compare_initial_values("", 1, *readers) == []


@pytest.mark.parametrize(
    ("factor", "more", "differs"),
    [
        (1.0, 1.0, False),
        (1.4, 1.4, True),  # too little to be seen in 32 values
        (1.4, None, False),
        (1.0, 9.0, False),  # not where the first values come from
    ],
)
def test_small_variables_are_told_by_what_is_drawn_again(
    tmp_path: Path, factor: float, more: float | None, differs: bool
) -> None:
    random = np.random.RandomState(0)
    values = [random.randn(32).astype(np.float32), factor * random.randn(32).astype(np.float32)]
    old, new = Writer(str(tmp_path / "old")), Writer(str(tmp_path / "new"))
    entry = {"name": "w", "value": old.array(values[0]), "drawn": old.array(random.randn(4096).astype(np.float32))}
    old.event("variables", stream=0, kind="train", variables=[{**entry, "trainable": True}])
    drawn = {} if more is None else {"w": new.array(more * random.randn(4096).astype(np.float32))}
    new.event("initial", stream=0, variables={"w": new.array(values[1])}, drawn=drawn)
    old.close(), new.close()
    found = compare_initial_values("", 0, Reader(str(tmp_path / "old")), Reader(str(tmp_path / "new")))
    assert len(found) == differs


@pytest.mark.parity
def test_graphs_draw_their_initial_values_again() -> None:
    v1 = pytest.importorskip("tensorflow").compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        names = {"normal": v1.random_normal_initializer(), "ones": v1.ones_initializer(), "one": v1.ones_initializer()}
        made = {name: v1.get_variable(name, [1 if name == "one" else 8, 1], initializer=i) for name, i in names.items()}
        made["large"] = v1.get_variable("large", [5000])
        session.run(v1.global_variables_initializer())
        first = session.run(made["normal"])
        found = of_graph(session, made)
        assert list(found) == ["normal"] and found["normal"].size == 512 and 0.8 < found["normal"].std() < 1.2
        assert np.array_equal(session.run(made["normal"]), first)


@pytest.mark.parity
def test_layers_draw_their_initial_values_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tf = pytest.importorskip("tensorflow")
    keras = tf.keras
    monkeypatch.setattr(keras.layers.Layer, "add_weight", keras.layers.Layer.add_weight)
    initializers = Initializers()
    initializers.install()
    dense = keras.layers.Dense(8, kernel_initializer="lecun_uniform")
    dense.build([None, 4])
    limit = (3 / 4) ** 0.5
    drawn = initializers.drawn(dense.kernel, dense.kernel.numpy())
    assert drawn.size == 2048 and 0.99 * limit < drawn.max() <= limit
    assert initializers.drawn(dense.bias, dense.bias.numpy()) is None, "always the same"
    tf.function(lambda: initializers._note(dense.bias, dense.kernel_initializer))()
    assert initializers.drawn(dense.bias, dense.bias.numpy()) is not None, (
        "also where a model is traced before it is called"
    )
    dense.kernel.assign(2 * dense.kernel)
    assert initializers.drawn(dense.kernel, dense.kernel.numpy()) is None, "no value of the initializer"


A, B = np.arange(6, dtype=np.float32), np.arange(6, dtype=np.float32)[::-1].copy()


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        ({"v": A, "w": B}, {"v": B, "w": B}, True),
        ({"v": A, "w": B}, {"v": B[:4].reshape(2, 2), "w": B[:5]}, True),  # of other shapes
        ({"v": A, "w": B}, {"v": A, "w": B}, False),
        ({"v": A, "w": A}, {"v": B, "w": B}, False),  # as the old program does
        ({"v": A, "w": B}, {"v": A[:3], "w": A[:3]}, False),  # too few
        ({"v": A, "w": B}, {"v": np.ones(6, np.float32), "w": np.ones(6, np.float32)}, False),  # nothing drawn
    ],
)
def test_variables_that_start_alike(tmp_path: Path, old: dict[str, Any], new: dict[str, Any], alike: bool) -> None:
    writer = Writer(str(tmp_path / "old"))
    listed = [{"name": name, "value": writer.array(value), "trainable": True} for name, value in old.items()]
    writer.event("variables", stream=0, kind="train", variables=listed)
    writer.close()
    writer = Writer(str(tmp_path / "new"))
    writer.event("initial", stream=0, variables={name: writer.array(value) for name, value in new.items()})
    writer.close()
    found = compare_initial_values("", 0, Reader(str(tmp_path / "old")), Reader(str(tmp_path / "new")))
    text = "initial values: w: initial values are those of v, which the old program draws anew"
    assert (text in [str(one) for one in found]) == alike


def test_samples_of_equal_arrays_are_equal() -> None:
    values = np.arange(3 * SAMPLED, dtype=np.float32).reshape(3, -1)
    assert sample(values).shape == (SAMPLED,)
    np.testing.assert_array_equal(sample(values), sample(values.reshape(-1).copy()))
    np.testing.assert_array_equal(sample(values[0]), values[0])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"seed": 3}, {"seed": 3}, []),
        ({"seed": None}, {"seed": None}, []),
        ({"seed": 3}, {}, []),  # a program without a RunConfig
        ({}, {"seed": 3}, []),  # a recording of an earlier version
        ({"seed": 3}, {"seed": None}, ["initial values: tf_random_seed of the RunConfig: old 3, new None"]),
    ],
)
def test_seeds(tmp_path: Path, old: dict[str, Any], new: dict[str, Any], expected: list[str]) -> None:
    for side, seed in (("old", old), ("new", new)):
        writer = Writer(str(tmp_path / side))
        writer.event("begin", kind="predict", call=1)
        writer.event("begin", kind="train", call=1, stream=0, **seed)
        writer.close()
    found = compare_initial_values("", 0, Reader(str(tmp_path / "old")), Reader(str(tmp_path / "new")))
    assert [str(difference) for difference in found] == expected
