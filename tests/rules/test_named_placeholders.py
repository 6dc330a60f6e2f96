"""Placeholders that a name holds until a dict of features takes them."""

from __future__ import annotations

import ast
import importlib

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

named_placeholders = importlib.import_module("migrator.rules.exports.named_placeholders")
RAW = "tf.estimator.export.build_raw_serving_input_receiver_fn"


def expanded(body: str) -> str:
    """The statements of a file without its import, when the placeholders stand where they are read."""
    drafts = Drafts(Project({"program.py": Module("program.py", f"import tensorflow as tf\n{body}")}))
    named_placeholders.expand.expand(drafts, ["program.py"])
    return drafts.project.modules["program.py"].source.decode().partition("\n")[2]


@pytest.mark.parametrize("features", ["{{'x': {}}}", "features={{'x': {}}}"])
def test_a_placeholder_moves_into_the_dict(features: str) -> None:
    made = "tf.placeholder(tf.float32, [None, SIZE])"
    text = expanded(f"x = {made}\nfn = {RAW}({features.format('x')})\n")
    assert ast.unparse(ast.parse(text)) == ast.unparse(ast.parse(f"fn = {RAW}({features.format(made)})"))


def test_a_dict_that_a_name_holds() -> None:
    text = expanded(f"x = tf.placeholder(tf.float32)\nspec = {{'x': x}}\nfn = {RAW}(spec)\n")
    assert text == f"spec = {{'x': tf.placeholder(tf.float32)}}\nfn = {RAW}(spec)\n"


@pytest.mark.parametrize(
    "body",
    [
        f"x = tf.placeholder(tf.float32)\nfn = {RAW}({{'x': x}})\nprint(x)\n",
        f"x = tf.placeholder(tf.float32, size)\nsize = 3\nfn = {RAW}({{'x': x}})\n",
        f"x = tf.placeholder_with_default(1.0, [])\nfn = {RAW}({{'x': x}})\n",
        f"x = y = tf.placeholder(tf.float32)\nfn = {RAW}({{'x': x}})\n",
        "x = tf.placeholder(tf.float32)\nfn = other({'x': x})\n",
        f"if use:\n    x = tf.placeholder(tf.float32)\nfn = {RAW}({{'x': x}})\n",
    ],
)
def test_what_is_left(body: str) -> None:
    assert expanded(body) == body
