"""Reasons for names of `tf.compat.v1` that stay."""

from __future__ import annotations

from importlib import import_module

import pytest

from migrator.vocabulary.diagnostics import Severity
from tools import check

RULES = [import_module("migrator.rules.symbols.kept_names").KeptName()]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('tf.compat.v1.string_split(x, ",")', "tf.compat.v1.string_split stays: tf.strings.split keeps empty parts"),
        ('tf.compat.v1.flags.DEFINE_string("a", "", "")', "tf.compat.v1.flags.DEFINE_string stays: flags of absl"),
        ("tf.compat.v1.logging.set_verbosity(20)", "absl counts levels of logging otherwise"),
        ("tf.compat.v1.image.resize_bilinear(x, [2, 2])", "tf.image.resize samples at the centres of pixels"),
    ],
)
def test_they_are_told_of(line: str, reason: str) -> None:
    (found,) = check(f"import tensorflow as tf\n{line}\n", RULES)
    assert reason in found.message and found.severity is Severity.INFO and found.fix is None


def test_once_for_a_file() -> None:
    lines = "tf.compat.v1.string_split(x)\ntf.compat.v1.flags.DEFINE_string('a')\ntf.compat.v1.flags.FLAGS\n"
    assert len(check("import tensorflow as tf\n" + lines + lines, RULES)) == 2


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\ntf.string_split(x)\n",  # of TensorFlow 1, which other rules look at
        "import tensorflow.compat.v1 as tf\ntf.string_split(x)\n",
        "import tensorflow as tf\ntf.compat.v1.train.Saver()\n",
        "import tensorflow as tf\ntf.strings.split(x)\n",
    ],
)
def test_others_are_not(source: str) -> None:
    assert not check(source, RULES)
