"""Names of slots in checkpoints of TensorFlow 1."""

from __future__ import annotations

import pytest

from migrator.parity.probe.recorded.slots import StateError, children, is_state, slots


def test_slots_are_found_in_the_order_of_their_optimizer() -> None:
    names = ["w", "w/Adam", "w/Adam_1", "w/ExponentialMovingAverage", "w2", "w2/Adam"]
    assert slots("w", names, ["m", "v"]) == ["w/Adam", "w/Adam_1"]
    assert slots("w2", names, ["momentum"]) == ["w2/Adam"]


def test_slots_of_parts_and_of_canned_estimators() -> None:
    assert slots("a/w", ["a/w", "a/w/part_0/Ftrl", "a/w/part_0/Ftrl_1"], ["accum", "linear"]) == [
        "a/w/part_0/Ftrl",
        "a/w/part_0/Ftrl_1",
    ]
    assert slots("w", ["w", "w/t_0/Adagrad"], ["accumulator"]) == ["w/t_0/Adagrad"]


def test_slots_that_a_program_names_itself() -> None:
    assert slots("w", ["w", "w/adam_v", "w/adam_m"], ["m", "v"]) == ["w/adam_m", "w/adam_v"]
    assert slots("w", ["w", "w/opt_1", "w/opt_1_1"], ["m", "v"]) == ["w/opt_1", "w/opt_1_1"]


@pytest.mark.parametrize("found", [["w/Adam"], ["w/Adam", "w/Ftrl"], ["w/Adam", "w/Adam_1", "w/Adam_2"]])
def test_slots_of_another_optimizer(found: list[str]) -> None:
    with pytest.raises(StateError, match="the new optimizer keeps m, v for w"):
        slots("w", ["w", *found], ["m", "v"])


def test_a_variable_without_slots() -> None:
    assert slots("w", ["w", "x", "x/Adam"], ["m", "v"]) is None
    assert children("w", ["w", "w/a/b", "w2/Adam"]) == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("global_step", True), ("train/beta1_power", True), ("beta2_power_1", True),
        ("beta1_powers", False), ("a/w/Adam", True), ("a/w/ExponentialMovingAverage", True),
        ("a/w", False), ("a/bias", False), ("b/Adam", False),
    ],
)  # fmt: skip
def test_what_is_no_variable_of_the_model(name: str, expected: bool) -> None:
    names = {"global_step", "train/beta1_power", "a/w", "a/w/Adam", "a/w/ExponentialMovingAverage", "a/bias", "b/Adam"}
    assert is_state(name, names) is expected
