"""Functions that fill a dict with what a SavedModel is fed, entry by entry."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import run
from test_loop_exports import EXPORT, HEAD, MAIN, migrated

DEEP = 'tf.placeholder(tf.float32, [None, 2], name="deep")'
WIDE = "tf.placeholder(tf.float32, [None, 3])"


def receiver(body: str) -> str:
    """A function that makes `features`."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    end = "    return tf.estimator.export.ServingInputReceiver(features, features)"
    return f"def serving_input_fn():\n{lines}\n{end}\n\n\n"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            f"""
            features = {{"wide": {WIDE}}}
            features["deep"] = {DEEP}
            """,
            """
            features = {"wide": tf.TensorSpec([None, 3], tf.float32, name="wide")}
            features["deep"] = tf.TensorSpec([None, 2], tf.float32, name="deep")
            """,
        ),
        (
            """
            features = {}
            for name, size in SIZES.items():
                features[name] = tf.placeholder(tf.float32, [None, size])
            """,
            """
            features = {}
            for name, size in SIZES.items():
                features[name] = tf.TensorSpec([None, size], tf.float32, name=name)
            """,
        ),
        (
            f"""
            features = {{name: {WIDE} for name in ("wide",)}}
            features.update({{name: tf.placeholder(tf.float32, [None, 2]) for name in ("deep",)}})
            """,
            """
            features = {name: tf.TensorSpec([None, 3], tf.float32, name=name) for name in ("wide",)}
            features.update({name: tf.TensorSpec([None, 2], tf.float32, name=name) for name in ("deep",)})
            """,
        ),
        (
            f"""
            features = {{"wide": {WIDE}}}
            deep = {DEEP}
            features[str("deep")] = deep
            """,
            """
            features = {"wide": tf.TensorSpec([None, 3], tf.float32, name="wide")}
            deep = tf.TensorSpec([None, 2], tf.float32, name=str("deep"))
            features[str("deep")] = deep
            """,
        ),
    ],
)
def test_entries_are_what_they_are_like(body: str, after: str) -> None:
    lines = textwrap.indent(textwrap.dedent(after).strip(), "    ")
    text = migrated(receiver(body))
    assert f"def serving_input_fn():\n{lines}\n    return features\n" in text
    assert "model.predict_step, input_signature=[serving_input_fn()])" in text


@pytest.mark.parametrize(
    "body",
    [
        f'features = {{"wide": {WIDE}}}\nfeatures["deep"] = features["other"] = {DEEP}',
        f'features = {{"wide": {WIDE}}}\nfeatures["deep"] = tf.zeros([1, 2])',
        f'features = {{"wide": {WIDE}, "deep": {DEEP}, "more": {DEEP}}}\ndel features["more"]',
        f'features = {{"wide": {WIDE}}}\nfeatures.update(deep={DEEP})',
        f'features = {{"wide": {WIDE}}}\nfeatures[["deep"].pop()] = {DEEP}',  # a key that is written twice
        f'features = dict([("wide", {WIDE})])\nfeatures["deep"] = {DEEP}',
        f'features = {{"wide": {WIDE}}}\nfeatures["deep"] = {DEEP}\nfeatures["deep"] += 1.0',
        f'other = {{"wide": {WIDE}}}\nfeatures = other\nother["deep"] = {DEEP}',
    ],
)
def test_what_stays(body: str) -> None:
    after = run(HEAD + receiver(body) + MAIN + EXPORT)["program.py"].after.decode()
    assert ".fit(" not in after
