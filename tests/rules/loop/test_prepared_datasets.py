"""Datasets of TensorFlow Datasets."""

from __future__ import annotations

import pytest
from test_datasets import Data, data_of

SPLIT = Data(True, counted=False)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return tfds.load('mnist', split='train').repeat()", Data(False)),
        ("return tfds.load('mnist', 'test', as_supervised=True).batch(8)", SPLIT),
        ("split = tfds.Split.TRAIN\n    return tfds.load(name='mnist', split=split)", SPLIT),
        ("return tfds.load('mnist')['train']", SPLIT),
        ("sets, info = tfds.load('mnist', with_info=True)\n    return sets['train'] if x else sets['test']", SPLIT),
        ("data, _ = tfds.load('mnist', split='train', with_info=True)\n    return data.map(f)", SPLIT),
        ("return tfds.load('mnist', split='train', batch_size=8)", Data(True, counted=False, even=False)),
        ("return tfds.load('mnist')", None),
        ("return tfds.load('mnist', split=['train', 'test'])", None),
        ("return tfds.load('mnist', split=chosen())", None),
        ("return tfds.load('mnist', split='train', with_info=x)", None),
        ("return tfds.load('mnist', split='train', **more)", None),
        ("return tfds.load('mnist', with_info=True)[0]", None),
        ("return tfds.builder('mnist')", None),
    ],
)
def test_what_is_loaded(body: str, expected: object) -> None:
    assert data_of(f"import tensorflow_datasets as tfds\ndef input_fn():\n    {body}\n") == expected
