"""Dimensions of static shapes lose their `value`; what merely looks like one keeps it."""

from __future__ import annotations

import textwrap

import pytest

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from tools import load

HEAD = "import tensorflow as tf\nx = tf.placeholder(tf.float32, [None, 3])\n"


def without_values(text: str) -> str:
    module = Module("program.py", HEAD + textwrap.dedent(text))
    fixes = load("symbols.dimensions").dimension_fixes(module)
    after = splice(module.source, [edit for fix in fixes for edit in fix.edits]).decode()
    return after[len(HEAD) :]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("size = x.shape[-1].value", "size = x.shape[-1]"),
        ("size = x.get_shape()[1].value * 2", "size = x.get_shape()[1] * 2"),
        ("size = int((x.shape[1]).value)", "size = int((x.shape[1]))"),
        ("size = (x.shape[1] .value)", "size = (x.shape[1])"),
        ("size = x.shape.with_rank(2)[1].value", "size = x.shape.with_rank(2)[1]"),
        ("size = x.shape[1:][0].value", "size = x.shape[1:][0]"),
        ("shape = x.get_shape()\nsize = shape[1].value", "shape = x.get_shape()\nsize = shape[1]"),
        ("size = x.shape[1]\nunits = size.value", "size = x.shape[1]\nunits = size"),
        ("sizes = [d.value for d in x.shape]", "sizes = [d for d in x.shape]"),
        ("rows, columns = x.shape\nsize = columns.value", "rows, columns = x.shape\nsize = columns"),
        ("for d in x.shape[1:]:\n    print(d.value)", "for d in x.shape[1:]:\n    print(d)"),
        (
            "def f(y):\n    if y.shape[0].value is None:\n        pass",
            "def f(y):\n    if y.shape[0] is None:\n        pass",
        ),
    ],
)
def test_dimensions(before: str, after: str) -> None:
    assert without_values(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "size = x.shape.dims[1].value",  # still dimensions in TensorFlow 2
        "size = cell.value",
        "size = x.shape.value",
        "size = x.shape[1:].value",
        "size = table[1].value",
        "size = x.get_shape(1)[1].value",
        "x.shape[1].value = 3",
        "def f(shape):\n    return shape[1].value",
        "shape = x.shape\nshape = other\nsize = shape[1].value",
        "for d in x.shape:\n    pass\nfor d in cells:\n    print(d.value)",
        "first, *rest = x.shape\nsize = first.value",
        "size = tf.shape[1].value",
        "a = b\nb = a\nsize = a.value",
    ],
)
def test_what_may_be_something_else_stays(text: str) -> None:
    assert without_values(text) == text


LAYER = "class Part({}):\n    def {}(self, shape):\n        return shape[-1].value"


@pytest.mark.parametrize("method", ["build", "compute_output_shape"])
@pytest.mark.parametrize("base", ["tf.layers.Layer", "tf.keras.layers.Layer", "tf.layers.Conv1D"])
def test_the_shape_that_a_layer_is_given(base: str, method: str) -> None:
    text = LAYER.format(base, method)
    assert without_values(text) == text.replace(".value", "")


@pytest.mark.parametrize(
    ("base", "method"), [("object", "build"), ("tf.layers.Layer", "call"), ("tf.train.Optimizer", "build")]
)
def test_what_other_methods_are_given_stays(base: str, method: str) -> None:
    text = LAYER.format(base, method)
    assert without_values(text) == text


def with_sizes(text: str) -> str:
    module = Module("program.py", HEAD + textwrap.dedent(text))
    after = splice(
        module.source, [edit for fix in load("symbols.dimensions").size_fixes(module) for edit in fix.edits]
    ).decode()
    return after[len(HEAD) :]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("size = x.get_shape().as_list()[-1]", "size = x.shape[-1]"),
        ("size = (x + x) .get_shape().as_list() [0] * 2", "size = (x + x).shape [0] * 2"),
        ("size = weights['out'].get_shape(\n).as_list()[1]", "size = weights['out'].shape[1]"),
        ("size = f(y.get_shape().as_list()[0]).get_shape().as_list()[1]", "size = f(y.shape[0]).shape[1]"),
    ],
)
def test_sizes(before: str, after: str) -> None:
    assert with_sizes(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "sizes = x.get_shape().as_list()",
        "sizes = x.get_shape().as_list()[1:]",
        "size = x.get_shape().as_list()[i]",
        "size = x.get_shape(1).as_list()[0]",
        "size = x.shape.as_list()[0]",
        "size = get_shape().as_list()[0]",
        "x.get_shape().as_list()[0] = 3",
        "size = x.get_shape()[0]",
    ],
)
def test_other_shapes_stay(text: str) -> None:
    assert with_sizes(text) == text
