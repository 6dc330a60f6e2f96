"""`tf.contrib.training.HParams` in the driver of a program."""

from __future__ import annotations

import textwrap

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
print(hparams.values())
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


READ = PROGRAM.replace("print(hparams.values())\n", "")


@pytest.mark.parametrize(
    ("imported", "name"),
    [
        ("import os", "tf.contrib.training.HParams"),
        ("from tensorflow.contrib.training import HParams", "HParams"),
        ("from tensorflow.contrib import training", "training.HParams"),
    ],
)
def test_a_namespace_stands_where_only_attributes_are_read(imported: str, name: str) -> None:
    text = migrate(READ.replace("IMPORT", imported).replace("HPARAMS", name))
    assert "hparams = types.SimpleNamespace(units=3)\n" in text and "HParams" not in text and "contrib" not in text
    assert "import types\n" in text and "tf.keras.layers.Dense(params.units)" in text


def test_a_namespace_is_imported_beside_another_types() -> None:
    text = migrate(READ.replace("IMPORT", "import types").replace("HPARAMS", "tf.contrib.training.HParams"))
    assert text.count("import types\n") == 1 and "types.SimpleNamespace(units=3)" in text
    text = migrate(READ.replace("IMPORT", "types = {}").replace("HPARAMS", "tf.contrib.training.HParams"))
    assert "from types import SimpleNamespace\n" in text and "hparams = SimpleNamespace(units=3)" in text


def test_a_namespace_may_be_kept_in_an_object_and_in_another_file() -> None:
    program = READ.replace("IMPORT", "import options").replace("HPARAMS(units=3)", "options.Options().hparams")
    options = """\
        import tensorflow as tf


        class Options:
            def __init__(self):
                self.hparams = tf.contrib.training.HParams(units=3)
        """
    files = migrate_all({PATH: program, "options.py": textwrap.dedent(options)})
    assert "self.hparams = types.SimpleNamespace(units=3)" in files["options.py"]


@pytest.mark.parametrize(
    "use",
    [
        "hparams.parse('units=4')",
        "hparams.set_hparam('units', 4)",
        "values = hparams.values()",
        "json.dumps(vars(hparams))",
        "print(hparams)",
        "text = f'{hparams}'",
        "assert 'units' in hparams",
        "pickle.dump(hparams, open('hparams', 'wb'))",
        "logging.info('%s', hparams)",
        "class Box: pass\nbox = Box()\nbox.hparams = hparams\nprint(box.hparams.values())",
        "def show(given):\n    print(given.to_json())\n\n\nshow(hparams)",
        "settings = {'hparams': hparams}\nprint(settings['hparams'].values())",
    ],
)
def test_whatever_else_is_asked_of_them_keeps_the_class(use: str) -> None:
    imports = "import json, logging, pickle\nimport options"
    program = READ.replace("IMPORT", imports).replace("HPARAMS", "tf.contrib.training.HParams")
    text = migrate(program.replace("estimator =", f"{use}\nestimator ="))
    assert "SimpleNamespace" not in text and "hparams = HParams(units=3)" in text


def test_a_model_fn_that_asks_for_more_keeps_the_class() -> None:
    program = READ.replace("IMPORT", "import os").replace("HPARAMS", "tf.contrib.training.HParams")
    program = program.replace("    loss =", "    print(params.values())\n    loss =")
    text = migrate(program)
    assert "SimpleNamespace" not in text and "hparams = HParams(units=3)" in text


@pytest.mark.parametrize(
    "use", ["assert isinstance(hparams, HPARAMS)", "other = HPARAMS(units=4)\nprint(other.values())"]
)
def test_annotations_and_objects_are_of_one_class(use: str) -> None:
    program = READ.replace("mode, params):", "mode, params: HPARAMS):").replace("estimator =", "USE\nestimator =")
    text = migrate(program.replace("USE\n", "").replace("IMPORT", "").replace("HPARAMS", "tf.contrib.training.HParams"))
    assert "HParams" not in text and "types.SimpleNamespace(units=3)" in text
    program = program.replace("USE", use).replace("IMPORT", "").replace("HPARAMS", "tf.contrib.training.HParams")
    assert "SimpleNamespace" not in migrate(program)
