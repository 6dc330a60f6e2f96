"""Variables that a strategy keeps in parts are compared as one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from migrator.parity.probe.distributed import Parts, joined


def test_parts_of_variables_of_one_name_do_not_mix() -> None:
    """Two layers of one kind may each have a weight of one name."""
    names = ["table/part_0", "table/part_1", "bias", "table/part_0", "table/part_1", "table/part_2"]
    variables = [SimpleNamespace(name=name, shape=(3, 2), trainable=True) for name in names]
    first, bias, second = joined(variables, lambda variable: variable.name)
    assert isinstance(first, Parts) and isinstance(second, Parts)
    assert (first.name, first.shape, second.shape) == ("table", (6, 2), (9, 2))
    assert bias is variables[2]
    assert first.parts == variables[:2] and second.parts == variables[3:]


def test_parts_are_assigned_their_rows() -> None:
    given = []
    parts = [SimpleNamespace(shape=(n, 2), trainable=True, assign=given.append) for n in (2, 1)]
    Parts("table", parts).assign(np.arange(6).reshape(3, 2))
    assert [value.tolist() for value in given] == [[[0, 1], [2, 3]], [[4, 5]]]
