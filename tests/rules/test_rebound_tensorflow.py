"""``tf = tf.compat.v1`` under the import of TensorFlow."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn

from tools import check_noop, check_transformed, rules_of

RULES = rules_of("symbols.rebound_tensorflow")
IMPORT = "import tensorflow as tf\n"
USE = "tf.layers.dense(x, 1)\n"


@pytest.mark.parametrize(
    "lines",
    [
        "tf = tf.compat.v1\n",
        'if tf.__version__ >= "2.0":\n    tf = tf.compat.v1\n',
        'if tf.__version__ >= "2.0.0":\n    import tensorflow.compat.v1 as tf\n',
        "if tf.__version__ > '2':\n    from tensorflow.compat import v1 as tf\n",
        "if hasattr(tf.compat, 'v1'):\n    tf = tf.compat.v1\n",
        "if not tf.VERSION.startswith('1.'):\n    tf = tf.compat.v1\n",
        "if parse(tf.__version__) >= parse('2'): tf = tf.compat.v1\n",
        "try:\n    tf = tf.compat.v1\nexcept AttributeError:\n    pass\n",
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
        "try:\n    tf = tf.compat.v1\nexcept AttributeError:\n    OLD = True\n",
        "try:\n    tf = tf.compat.v1\nexcept Exception:\n    pass\n",
        "try:\n    tf = tf.compat.v1\n    patch(tf)\nexcept AttributeError:\n    pass\n",
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


def test_a_star_import_gives_tensorflow_no_name() -> None:
    head = "from tensorflow import *\nfrom tensorflow.compat.v1 import *\nimport tensorflow as tf\n"
    text = migrate(model_fn('predictions = tf.layers.dense(features["x"], 1)', before=head))
    assert "class Model(tf.keras.Model):" in text
    check_noop(head + USE, RULES)


@pytest.mark.parametrize("test", ["tf_.__version__ > '2'", "LooseVersion(tf_.__version__) >= LooseVersion('2.0')"])
def test_the_version_decides_between_two_imports(test: str) -> None:
    choice = f"if {test}:\n    import tensorflow.compat.v1 as tf\n    tf.disable_v2_behavior()\n"
    choice += "else:\n    import tensorflow as tf\n"
    head = "import tensorflow as tf_\n"
    after = f"{head}import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n{USE}"
    check_transformed(head + choice + USE, after, RULES)
    turned = choice.replace(f"if {test}", f"if not ({test})").split("else:\n")
    body = turned[0].split(":\n", 1)
    swapped = f"{body[0]}:\n{turned[1]}else:\n{body[1]}"
    check_transformed(head + swapped + USE, after, RULES)
    for other in (
        choice.replace(test, "FLAGS.old"),
        choice.replace("else:", "elif OLD:"),
        choice.replace("    tf.disable_v2_behavior()", "    patch(tf)"),
        choice.replace("    import tensorflow as tf\n", "    import tensorflow as other\n"),
        choice.replace("    import tensorflow as tf\n", "    # as it was\n    import tensorflow as tf\n"),
        choice + "tf = patched(tf)\n",
    ):
        check_noop(head + other + USE, RULES)
