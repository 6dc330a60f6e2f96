"""Attributes that say of a TPUEstimator how it exports."""

from __future__ import annotations

import pytest
from desugared import MODEL, below
from modelfn.programs import manual_reason

TPU = (
    "config = tf.contrib.tpu.RunConfig(model_dir='m', tpu_config=tf.contrib.tpu.TPUConfig(8))\n"
    "estimator = tf.contrib.tpu.TPUEstimator(model_fn, use_tpu=False, config=config, train_batch_size=2)\n"
)
TRAIN = "estimator.train(lambda params: make_input_fn(8, None)(), steps=20)\n"


def written(*lines: str) -> str:
    return MODEL.replace("return tf.estimator.EstimatorSpec(", "return tf.contrib.tpu.TPUEstimatorSpec(") + "".join(
        lines
    )


@pytest.mark.parametrize("name", ["_export_to_tpu", "_export_to_cpu"])
def test_it_goes(name: str) -> None:
    text = below(written(TPU, f"estimator.{name} = False\n", TRAIN))
    assert text == below(written(TPU, TRAIN)) and "_export" not in text


def test_in_a_branch() -> None:
    text = below(written(TPU, TRAIN, f"if export:\n    estimator._export_to_tpu = False  # not there\n    {TRAIN}"))
    assert "_export_to" not in text


@pytest.mark.parametrize(
    "line",
    [
        "estimator._export_to_tpu = shown\n",
        "estimator._export_to_tpu = False\nprint(estimator._export_to_tpu)\n",
        "estimator._export_signature = False\n",
        "if export:\n    estimator._export_to_tpu = False\n",
    ],
)
def test_others_stay(line: str) -> None:
    assert "of an Estimator is not migrated yet" in manual_reason(written(TPU, line, TRAIN))
