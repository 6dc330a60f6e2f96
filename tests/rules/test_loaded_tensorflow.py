"""TensorFlow that a call imports."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate_all

from tools import check, check_noop, check_transformed, rules_of

RULES = rules_of("symbols.loaded_tensorflow")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import importlib\n\ntf = importlib.import_module('tensorflow')\n", "import importlib\n\nimport tensorflow as tf\n"),
        ("import importlib as i\n\ntf = i.import_module('tensorflow')\n", "import importlib as i\n\nimport tensorflow as tf\n"),
        ("tf = __import__('tensorflow')\nimport os\n", "import tensorflow as tf\nimport os\n"),
        ("tensorflow = __import__('tensorflow')\n", "import tensorflow\n"),
        ("tf = __import__('tensorflow.compat.v1')\n", "import tensorflow as tf\n"),
        (
            "from importlib import import_module\n\ntf = import_module('tensorflow.compat.v1')\n",
            "from importlib import import_module\n\nimport tensorflow.compat.v1 as tf\n",
        ),
        (
            "def f():\n    global tf\n    tf = __import__('tensorflow')\n",
            "def f():\n    global tf\n    import tensorflow as tf\n",
        ),
        (
            "try:\n    tf = __import__('tensorflow')\nexcept ImportError:\n    tf = None\n",
            "try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\n",
        ),
        (
            "import pytest\n\ntf = pytest.importorskip('tensorflow', minversion='1.13')\n",
            "import pytest\n\npytest.importorskip('tensorflow', minversion='1.13')\nimport tensorflow as tf\n",
        ),
    ],
)  # fmt: skip
def test_becomes_a_statement(before: str, after: str) -> None:
    check_transformed(before, after, RULES)


@pytest.mark.parametrize(
    "source",
    [
        "np = __import__('numpy')\n",
        "import importlib\nimportlib.import_module('tensorflow')\n",
        "import importlib\nt = importlib.import_module('tensorflow_datasets')\n",
        "import importlib\nt = importlib.import_module(NAME)\n",
        "import importlib\nt = importlib.util.find_spec('tensorflow')\n",
        "def __import__(name):\n    return name\n\ntf = __import__('tensorflow')\n",
        "import logging\nlog = logging.getLogger('tensorflow')\n",
        "INSTALL = ['tensorflow', 'numpy']\n",
    ],
)
def test_left_alone(source: str) -> None:
    check_noop(source, RULES)
    assert check(source, RULES) == []


@pytest.mark.parametrize(
    "line",
    [
        "x = importlib.import_module('tensorflow').placeholder",
        "self.tf = importlib.import_module('tensorflow')",
        "tf, np = __import__('tensorflow'), __import__('numpy')",
        "tf = __import__('tensorflow', fromlist=['keras'])",
        "tf = importlib.import_module('.layers', package='tensorflow')",
        "name = 'tensorflow'; tf = importlib.import_module(name)",
        "tf = importlib.import_module('tensorflow.' + NAME)",
        "tf = LazyLoader('tf', globals(), 'tensorflow')",
        "tf = lazy.LazyLoader('tf', globals(), 'tensorflow')",
        "tf = __import__('tensorflow')  if NEW else None",
        "tf = pytest.importorskip('tensorflow') if NEW else None",
    ],
)
def test_what_is_not_followed_is_told(line: str) -> None:
    source = f"import importlib\nimport pytest\n\n{line}\n"
    check_noop(source, RULES)
    (said,) = check(source, RULES)
    assert said.fix is None and "what reads it stays as it is" in said.message and said.location.line == 4


def test_a_program_is_followed() -> None:
    body = "".join(
        f"    {line}\n" for line in ["predictions = tf.layers.dense(features['x'], 1)", LOSS, TRAIN_OP, SPEC]
    )
    program = (
        f"def model_fn(features, labels, mode):\n{body}\n\ntf.estimator.Estimator(model_fn).train(read, steps=1)\n"
    )
    for line in ("tf = __import__('tensorflow')", "import importlib\n\ntf = importlib.import_module('tensorflow')"):
        after = migrate_all({"program.py": f"{line}\nfrom data import read\n\n\n{program}"})["program.py"]
        assert "import tensorflow as tf\n" in after and "tf.keras.layers.Dense(1)" in after
