"""TensorFlow that a file has from another file, or from a function that imports it."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate_all, run

COMPAT = """\
try:
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
except ImportError:
    import tensorflow as tf
"""
MODEL = f"""

def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


estimator = tf.estimator.Estimator(model_fn)
"""


@pytest.mark.parametrize(
    ("line", "compat"),
    [
        ("from compat import tf", COMPAT),
        ("from compat import tf", "import tensorflow as tf\n"),
        ("from compat import T as tf", "import tensorflow as T\n"),
        ("from compat import np, tf", "import numpy as np\nimport tensorflow as tf\n"),
        ("from compat import *", COMPAT),
        ("from .compat import tf", COMPAT),
        ("from compat import load\n\ntf = load()", "def load():\n    import tensorflow as tf\n    return tf\n"),
        (
            "from compat import load\n\ntf = load()",
            'def load():\n    """Or None."""\n    try:\n        import tensorflow.compat.v1 as tf\n\n        return tf\n'
            "    except ImportError:\n        return None\n",
        ),
    ],
)
def test_programs_become_native(line: str, compat: str) -> None:
    text = migrate_all({"program.py": line + MODEL, "compat.py": compat})["program.py"]
    assert "\nimport tensorflow as tf\n" in "\n" + text and "tf.keras.layers.Dense(1)" in text
    assert ("from compat import np" in text) == ("np" in line) and "tf = load()" not in text


def test_through_several_files() -> None:
    files = {"compat.py": COMPAT, "common.py": "from compat import tf\n", "program.py": "from common import tf" + MODEL}
    assert "import tensorflow as tf" in migrate_all(files)["program.py"]


def test_through_a_file_that_is_imported_as_a_whole() -> None:
    model = MODEL.replace("    predictions", "    tf = compat.tf\n    predictions", 1).replace(
        "= tf.est", "= compat.tf.est"
    )
    text = migrate_all({"program.py": "import compat" + model, "compat.py": COMPAT})["program.py"]
    assert text.startswith("import compat\nimport tensorflow as tf\n") and "tf.keras.layers.Dense(1)" in text
    assert "compat.tf" not in text


def test_switches_come_along_where_graphs_stay() -> None:
    line = 'from compat import tf\n\ntf.Session().run(tf.placeholder(tf.float32, name="x"))\n'
    after = run({"program.py": line, "compat.py": COMPAT})["program.py"].after.decode()
    assert after.startswith("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n")


@pytest.mark.parametrize(
    ("line", "compat"),
    [
        ("from compat import tf", "import tensorflow as tf\ntf = patched(tf)\n"),
        ("from compat import tf", "import tensorflow.keras as tf\n"),
        ("from compat import tf", "import tensorflow as tf\nif OLD:\n    import torch as tf\n"),
        ("from compat import tf\ntf = patched(tf)", "import tensorflow as tf\n"),
        ("from compat import tf  # as there", "import tensorflow as tf\n"),
        ("from compat import (tf,  # as there\n    np)", "import numpy as np\nimport tensorflow as tf\n"),
        ("from elsewhere import tf", "import tensorflow as tf\n"),
        ("import compat\nimport numpy as tf\ny = compat.tf", "import tensorflow as tf\n"),
        ("import compat\ny = [compat.tf for tf in (1,)]", "import tensorflow as tf\n"),
        ("import compat\ncompat.tf = None", "import tensorflow as tf\n"),
        ("from compat import *\nimport numpy as tf", "import tensorflow as tf\n"),
        ("from compat import *", "import tensorflow as tf\n__all__ = ['x']\n"),
        ("from compat import load\n\ntf = load(1)", "def load(v):\n    import tensorflow as tf\n    return tf\n"),
        (
            "from compat import load\n\ntf = load()",
            "def load():\n    import tensorflow as tf\n    print(1)\n    return tf\n",
        ),
        ("from compat import load\n\ntf = load()", "@cache\ndef load():\n    import tensorflow as tf\n    return tf\n"),
        ("from compat import load\n\ntf = load()", "def load():\n    import tensorflow as tf\n    return tf.keras\n"),
    ],
)
def test_left_alone(line: str, compat: str) -> None:
    files = {"program.py": f"{line}\nx = tf.to_float(1)\n", "compat.py": compat}
    outcome = run(files)["program.py"]
    said = [d for d in outcome.applied if d.code == "EST009"]
    assert not said or "# as there" in line, outcome.after.decode()
