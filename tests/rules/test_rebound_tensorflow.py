"""``tf = tf.compat.v1`` under the import of TensorFlow."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn

from tools import check_noop, check_transformed, rules_of

RULES = rules_of("rebound_tensorflow")
IMPORT = "import tensorflow as tf\n"
USE = "tf.layers.dense(x, 1)\n"


@pytest.mark.parametrize(
    "lines",
    [
        "tf = tf.compat.v1\n",
        'if tf.__version__ >= "2.0":\n    tf = tf.compat.v1\n',
        "if hasattr(tf.compat, 'v1'):\n    tf = tf.compat.v1\n",
        "if not tf.VERSION.startswith('1.'):\n    tf = tf.compat.v1\n",
        "if parse(tf.__version__) >= parse('2'): tf = tf.compat.v1\n",
    ],
)
def test_one_import(lines: str) -> None:
    check_transformed(IMPORT + lines + USE, "import tensorflow.compat.v1 as tf\n" + USE, RULES)


def test_what_stands_between_stays() -> None:
    before = f"{IMPORT}import os\n\nprint(tf.__version__)\nif tf.__version__ > '2':\n    tf = tf.compat.v1\n{USE}"
    after = f"import tensorflow.compat.v1 as tf\nimport os\n\nprint(tf.__version__)\n{USE}"
    check_transformed(before, after, RULES)


def test_switches_stay() -> None:
    lines = "if tf.__version__ > '2':\n    tf = tf.compat.v1\n    tf.disable_v2_behavior()\n"
    after = f"import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n{USE}"
    check_transformed(IMPORT + lines + USE, after, RULES)


@pytest.mark.parametrize(
    "lines",
    [
        "keras = tf.keras\ntf = tf.compat.v1\n",  # that of TensorFlow 2
        "if FLAGS.old:\n    tf = tf.compat.v1\n",
        "if tf.__version__ > '2':\n    tf = tf.compat.v1\nelse:\n    import old\n",
        "if tf.__version__ > '2':\n    tf = tf.compat.v1\n    patch(tf)\n",
        "if tf.__version__ > '2':\n    if FLAGS.old:\n        tf = tf.compat.v1\n",
        "if tf.__version__ > '2':\n    # graphs\n    tf = tf.compat.v1\n",
        "tf = tf.compat.v2\n",
        "tf = tf.compat.v1\ntf = other\n",
        "def f():\n    global tf\n    tf = tf.compat.v1\n",
        "",
    ],
)
def test_left_alone(lines: str) -> None:
    check_noop(IMPORT + lines + USE, RULES)


def test_an_import_of_several_names_stays() -> None:
    check_noop(f"import os, tensorflow as tf\ntf = tf.compat.v1\n{USE}", RULES)


def test_a_program_is_migrated_in_one_go() -> None:
    source = model_fn('predictions = tf.layers.dense(features["x"], 1)')
    rebound = source.replace("import tensorflow as tf\n", f'{IMPORT}if tf.__version__ > "2":\n    tf = tf.compat.v1\n')
    assert rebound != source
    text = migrate(rebound)
    assert "class Model(tf.keras.Model)" in text
    assert text == migrate(source.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"))
