"""`HParams` answers as that of TensorFlow 1.15, from which the expected values were taken."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from migrator.runtime.layers.hyperparameters import HParams


def made() -> HParams:
    return HParams(a=1, b=2.5, c="x", d=[1, 2], e=True, f=None)


def test_values_and_text() -> None:
    hparams = made()
    assert hparams.values() == {"a": 1, "b": 2.5, "c": "x", "d": [1, 2], "e": True, "f": None}
    assert str(hparams) == "a=1,b=2.5,c=x,d=[1, 2],e=True,f=None"
    assert repr(hparams) == "HParams([('a', 1), ('b', 2.5), ('c', 'x'), ('d', [1, 2]), ('e', True), ('f', None)])"
    assert hparams.to_json() == '{"a": 1, "b": 2.5, "c": "x", "d": [1, 2], "e": true, "f": null}'
    assert "a" in hparams and "q" not in hparams
    assert copy.deepcopy(hparams).values() == hparams.values()
    hparams.a = "raw"  # type: ignore[attr-defined]
    assert hparams.values()["a"] == "raw"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("a=3,b=4,c=y,d=[5, 6,7],e=false", {"a": 3, "b": 4.0, "c": "y", "d": [5, 6, 7], "e": False}),
        ("c=a b,e=1", {"c": "a b"}),
        ("d=[4]", {"d": [4]}),
        ("", {}),
    ],
)
def test_parsed(text: str, changed: dict[str, Any]) -> None:
    assert made().parse(text).values() == {**made().values(), **changed}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=3.5", "Could not parse hparam 'a' of type 'int' with value '3.5'"),
        ("e=2", "Could not parse hparam 'e' of type 'bool'"),
        ("zz=3", "Unknown hyperparameter type for zz"),
        ("d=4", "Must pass a list for multi-valued parameter: d"),
        ("a=[4]", "Must not pass a list for single-valued parameter: a"),
        ("a", "Malformed hyperparameter value: a"),
        ("a=1,a=2", "Multiple assignments to variable 'a' in a=1,a=2"),
    ],
)
def test_not_parsed(text: str, message: str) -> None:
    hparams = made()
    with pytest.raises(ValueError, match="^" + message.replace("[", "\\[")):
        hparams.parse(text)
    assert hparams.values() == made().values()


@pytest.mark.parametrize(
    "name_value", [("a", 4.0), ("a", "4"), ("a", True), ("c", 4), ("e", 1), ("e", "true"), ("b", "1")]
)
def test_another_type(name_value: tuple[str, Any]) -> None:
    with pytest.raises(ValueError, match="Could not cast hparam"):
        made().set_hparam(*name_value)


def test_set_added_and_removed() -> None:
    hparams = made()
    hparams.set_hparam("b", 4)
    hparams.set_hparam("f", 3)
    assert (hparams.get("b"), type(hparams.get("b")), hparams.get("f")) == (4.0, float, 3)
    assert hparams.override_from_dict({"a": 9}) is hparams and hparams.parse_json('{"a": 3}').get("a") == 3
    for name, value in (("a", 3), ("values", 3), ("g", [])):
        with pytest.raises(ValueError, match="reserved|cannot be empty"):
            hparams.add_hparam(name, value)
    with pytest.raises(KeyError):
        hparams.set_hparam("zz", 1)
    hparams.del_hparam("f")
    assert "f" not in hparams and not hasattr(hparams, "f")


def test_get() -> None:
    hparams = made()
    assert (hparams.get("q"), hparams.get("q", 4), hparams.get("a", 7), hparams.get("d", [7])) == (None, 4, 1, [1, 2])
    for name, default in (("a", "s"), ("a", [1]), ("d", 1)):
        with pytest.raises(ValueError):
            hparams.get(name, default)
