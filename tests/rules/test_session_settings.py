"""Settings of sessions go with the argument of RunConfig that they were made for; where anything else reads them, they stay."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run

PROGRAM = f"""\
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def main():
    first()
%s
    config = tf.estimator.RunConfig(session_config=settings, save_summary_steps=5)
    estimator = tf.estimator.Estimator(model_fn, config=config)
"""
PLAIN = """
# How sessions run.
settings = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions(allow_growth=True))
settings.gpu_options.allow_growth = True
"""


def after(text: str) -> str:
    """What stands in `main` above the Estimator after migration."""
    source = PROGRAM % textwrap.indent(text, "    ")
    found = run(source)["program.py"].after.decode()
    assert "RunConfig(save_summary_steps=5)" in found
    return textwrap.dedent(found[found.index("    first()") : found.index("    config = ")])


@pytest.mark.parametrize("style", ["native", "bridge"])
def test_a_paragraph_goes_whole(style: str) -> None:
    found = run(PROGRAM % textwrap.indent(PLAIN, "    "), style=style)["program.py"].after.decode()
    assert "    first()\n\n    config = RunConfig(save_summary_steps=5)\n" in found


def test_statements_between_others_go_alone() -> None:
    text = "count = 2  # kept\nsettings = tf.ConfigProto(intra_op_parallelism_threads=count)\nsecond()"
    assert after(text) == "first()\ncount = 2  # kept\nsecond()\n"
    text = "settings = tf.ConfigProto()\nsecond()\nsettings.allow_soft_placement = True\n"
    assert after(text) == "first()\nsecond()\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "settings = tf.ConfigProto()\nshow(settings)\n",
        "settings = tf.ConfigProto()\nif first():\n    settings.allow_soft_placement = True\n",
        "settings = tf.ConfigProto(device_count=devices())\n",
        "settings = tf.ConfigProto()\nsettings.gpu_options.visible_device_list = str(first())\n",
        "settings = make_settings()\n",
        "settings = None\nsettings = tf.ConfigProto()\n",
        "settings = tf.ConfigProto()\nsettings.device_count.update(CPU=1)\n",
    ],
)
def test_what_may_do_more_stays(text: str) -> None:
    assert after(text).replace("tf.compat.v1.", "tf.") == f"first()\n{text}\n"
