"""Functions that return what parses examples, and those that stay as they are."""

from __future__ import annotations

import importlib

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

returned_receivers = importlib.import_module("migrator.rules.exports.returned_receivers")
PATH = "program.py"
PARSING = "tf.estimator.export.build_parsing_serving_input_receiver_fn"


def expanded(text: str) -> str:
    drafts = Drafts(Project({PATH: Module(PATH, text)}))
    returned_receivers.expand.expand(drafts, [PATH])
    return drafts.project.modules[PATH].text


def program(body: str, use: str) -> str:
    return f"import tensorflow as tf\n\n\ndef serving(spec):\n    {body}\n\n\n{use}\n"


def test_both_calls() -> None:
    use = "estimator.export_saved_model('a', serving(x))\nexporter = tf.estimator.LatestExporter('b', serving(y))"
    text = expanded(program(f"return {PARSING}(spec)", use))
    assert "    return spec\n" in text
    assert f"('a', {PARSING}(serving(x)))" in text and f"('b', {PARSING}(serving(y)))" in text


@pytest.mark.parametrize(
    ("body", "use"),
    [
        (f"return {PARSING}(spec)", "f = serving\nestimator.export_saved_model('a', serving(x))"),
        (f"return {PARSING}(spec, default_batch_size=3)", "estimator.export_saved_model('a', serving(x))"),
        (f"return {PARSING}(spec)()", "estimator.export_saved_model('a', serving)"),
        (f"return {PARSING}(spec) if spec else None", "estimator.export_saved_model('a', serving(x))"),
        (f"if spec:\n        return 1\n    return {PARSING}(spec)", "estimator.export_saved_model('a', serving(x))"),
        (f"return {PARSING}(spec)", "pass"),
    ],
    ids=["named", "batch", "called", "choice", "two returns", "unused"],
)
def test_left_alone(body: str, use: str) -> None:
    assert expanded(program(body, use)) == program(body, use)
