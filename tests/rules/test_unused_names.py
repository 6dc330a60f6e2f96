"""Imports and aliases that nothing uses and TensorFlow 2 does not have."""

from __future__ import annotations

import pytest

from tools import check, check_noop, check_transformed, rules_of

RULES = rules_of("symbols.unused_names")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import tensorflow as tf\nfrom tensorflow.contrib import layers\n", "import tensorflow as tf\n"),
        ("from tensorflow.contrib import rnn, slim\nslim.x\n", "from tensorflow.contrib import slim\nslim.x\n"),
        ("import tensorflow.contrib.slim as slim  # why\nx = 1\n", "x = 1\n"),
        ("from tensorflow.python.estimator.canned.head import _Head\nx = 1\n", "x = 1\n"),
        ("import tensorflow as tf\ngfile = tf.gfile\nx = 1\n", "import tensorflow as tf\nx = 1\n"),
        ("from tensorflow import gfile\nx = 1\n", "x = 1\n"),
        ("from tensorflow import exp, gfile, placeholder, to_float\nexp(1)\n", "from tensorflow import exp\nexp(1)\n"),
        ("def f():\n    from tensorflow.contrib import slim\n", "def f():\n    pass\n"),
        ("import tensorflow as tf\nlayers = tf.contrib.layers\n", "import tensorflow as tf\n"),
        ("import tensorflow as tf\ndense = tf.layers.dense\nx = 1\n", "import tensorflow as tf\nx = 1\n"),
        (
            "from tensorflow.estimator import ModeKeys\nimport os\nfrom helpers import ModeKeys\nModeKeys.TRAIN\n",
            "import os\nfrom helpers import ModeKeys\nModeKeys.TRAIN\n",
        ),
        (
            "from tensorflow.estimator import ModeKeys, RunConfig\nfrom helpers import ModeKeys\nModeKeys, RunConfig\n",
            "from tensorflow.estimator import RunConfig\nfrom helpers import ModeKeys\nModeKeys, RunConfig\n",
        ),
    ],
)
def test_removed(before: str, after: str) -> None:
    check_transformed(before, after, RULES)


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\nrelu = tf.nn.relu\nx = 1\n",
        "import tensorflow as tf\ndense = tf.compat.v1.layers.dense\nx = 1\n",
        "import tensorflow as tf\ndense = tf.layers.dense\ndense(1, 2)\n",
        "from tensorflow.contrib import layers\nlayers.flatten(x)\n",
        "from tensorflow.contrib import layers\n__all__ = ['layers']\n",
        "import tensorflow as tf\n",
        "from tensorflow import keras\n",
        "import tensorflow.compat.v1 as tf\n",
        "from tensorflow.python.ops import math_ops\n",
        "import tensorflow as tf\nk = tf.keras\n",
        "from tensorflow.estimator import ModeKeys\nx = ModeKeys.TRAIN\nfrom helpers import ModeKeys\n",
        "from helpers import ModeKeys\nfrom tensorflow.estimator import ModeKeys\nModeKeys.TRAIN\n",
        "from tensorflow.estimator import ModeKeys\nif x:\n    from helpers import ModeKeys\nModeKeys.TRAIN\n",
        "import tensorflow as tf\nlog = tf.log\n",
        "import tensorflow as tf\ngfile = tf.gfile\ngfile.Open(x)\n",
        "import tensorflow as tf\ngfile = tf.gfile\ngfile = 3\n",
        "import tensorflow as tf\nclass A:\n    gfile = tf.gfile\n",
        "try:\n    from tensorflow.contrib import slim\nexcept ImportError:\n    slim = None\n",
        "from tensorflow.contrib import (\n    rnn,  # cells\n    slim,\n)\nslim.x\n",
        "from tensorflow.contrib import slim\ndef f():\n    return slim.x\n",
        "from other import gfile\n",
    ],
)
def test_left_alone(source: str) -> None:
    check_noop(source, RULES)
    assert check(source, RULES) == []
