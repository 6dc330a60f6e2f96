"""`tf.contrib.training.HParams` in the driver of a program."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, TRAIN_OP, manual_reason, migrate, migrate_all, run

PROGRAM = f"""import tensorflow as tf
IMPORT


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], params.units)
    loss = tf.losses.mean_squared_error(labels, predictions)
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)


hparams = HPARAMS(units=3)
estimator = tf.estimator.Estimator(model_fn, params=hparams)
"""


@pytest.mark.parametrize(
    ("imported", "name"),
    [
        ("import os", "tf.contrib.training.HParams"),
        ("from tensorflow.contrib.training import HParams", "HParams"),
        ("from tensorflow.contrib import training", "training.HParams"),
        ("from tensorflow.contrib.training.python.training import hparam", "hparam.HParams"),
        ("from tensorflow.contrib.training.python.training.hparam import HParams as H", "H"),
    ],
)
def test_it_is_vendored(imported: str, name: str) -> None:
    text = migrate(PROGRAM.replace("IMPORT", imported).replace("HPARAMS", name))
    assert "hparams = HParams(units=3)\n" in text and "contrib" not in text
    assert "from tf2_cluster import configure_distributed, make_strategy\n" in text
    assert "from tf2_training import HParams\n" in text
    assert "tf.keras.layers.Dense(params.units)" in text


def test_it_may_stand_in_another_file() -> None:
    program = PROGRAM.replace("IMPORT", "import options").replace("HPARAMS(units=3)", "options.hparams()")
    options = "import tensorflow as tf\n\n\ndef hparams():\n    return tf.contrib.training.HParams(units=3)\n"
    files = migrate_all({PATH: program, "options.py": options})
    assert files["options.py"].endswith("    return HParams(units=3)\n") and "contrib" not in files["options.py"]


def test_what_else_the_module_has_is_refused() -> None:
    program = PROGRAM.replace("IMPORT", "from tensorflow.contrib import training").replace(
        "HPARAMS", "training.HParams"
    )
    assert "contrib.training" in manual_reason(f"{program}batch = training.bucket(1)\n")


def test_outside_of_programs_it_stays() -> None:
    (outcome,) = run("import tensorflow as tf\nhparams = tf.contrib.training.HParams(a=1)\n").values()
    assert outcome.status == "unchanged" and "dataclass" in outcome.remaining[0].message
