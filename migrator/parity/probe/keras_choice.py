"""Which Keras a program gets; decided before TensorFlow is imported."""

from __future__ import annotations

import os

KERAS = "TF_USE_LEGACY_KERAS"
_DISTRIBUTIONS = (
    *("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos", "tensorflow-rocm"),
    *("tf-nightly", "tf-nightly-cpu"),
)
"""Names under which TensorFlow is published."""


def choose_keras(side: str) -> None:
    """Programs that came from Estimators target Keras 2: on TF >= 2.16 that is tf_keras, where it is installed.

    The ``old`` program gets what its TensorFlow has.
    """
    from importlib import util

    if side == "old":
        return
    version = next(filter(None, map(_version_of, _DISTRIBUTIONS)), "2.15")
    if tuple(int(n) for n in version.split(".")[:2]) >= (2, 16) and util.find_spec("tf_keras") is not None:
        os.environ.setdefault(KERAS, "1")
    elif util.find_spec("tf_keras") is None:
        os.environ.pop(KERAS, None)  # importing Keras would fail


def _version_of(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
