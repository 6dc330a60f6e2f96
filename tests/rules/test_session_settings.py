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


def test_parts_that_stand_above_go_too() -> None:
    text = "options = tf.GPUOptions(allow_growth=True)\nsecond()\nsettings = tf.ConfigProto(gpu_options=options)\n"
    assert after(text) == "first()\nsecond()\n\n"
    inline = PROGRAM % "    options = tf.GPUOptions()"
    inline = inline.replace("session_config=settings", "session_config=tf.ConfigProto(gpu_options=options)")
    assert "GPUOptions" not in run(inline)["program.py"].after.decode()
    read = "options = tf.GPUOptions()\nshow(options)\nsettings = tf.ConfigProto(gpu_options=options)\n"
    assert "GPUOptions()\nshow(options)\n" in after(read)


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


LOOP = """\
FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("threads", 2, "Threads.")
tf.app.flags.DEFINE_integer("batch", 8, "Examples.")


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]]}, [[1.0]])).repeat().batch(FLAGS.batch)


%s
estimator.train(input_fn, steps=2)
"""
OF_LOOP = PROGRAM[: PROGRAM.index("def main")]
MAKES = "estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(session_config=%s))"


def dropped(text: str, word: str = "session_config") -> list[str]:
    """What is said of the settings of sessions, or of another `word`, where a program becomes `fit`."""
    outcome = run(OF_LOOP + LOOP % text)["program.py"]
    assert ".fit(" in outcome.after.decode() and "ConfigProto" not in outcome.after.decode()
    return [str(d) for d in outcome.remaining if word in d.message]


def test_what_takes_their_place_is_said_once() -> None:
    made = (
        "tf.ConfigProto(device_count={'GPU': 0, 'CPU': 2}, allow_soft_placement=True, inter_op_parallelism_threads=2)"
    )
    (told,) = dropped(MAKES % made)
    assert 'device_count: tf.config.set_visible_devices([], "GPU"); inter_op' in told
    assert "inter_op_parallelism_threads: tf.config.threading.set_inter_op_parallelism_threads" in told
    assert "intra" not in told and told.startswith("program.py:")


@pytest.mark.parametrize(
    ("settings", "written"),
    [
        ("settings = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)\n", []),
        (
            "settings = tf.ConfigProto(allow_soft_placement=FLAGS.soft)\nsettings.log_device_placement = True\n",
            ["tf.config.set_soft_device_placement(FLAGS.soft)", "tf.debugging.set_log_device_placement(True)"],
        ),
    ],
)
def test_where_ops_may_run_is_said_to_tensorflow_where_it_is_not_the_default(settings: str, written: list[str]) -> None:
    text = settings + MAKES % "settings"
    assert dropped(text) == []
    lines = run(OF_LOOP + LOOP % text)["program.py"].after.decode().splitlines()
    assert [line.strip() for line in lines if "_placement(" in line] == written


def test_options_that_nothing_reads_any_more_are_named() -> None:
    settings = "settings = tf.ConfigProto()\nsettings.intra_op_parallelism_threads = FLAGS.%s\n" + MAKES % "settings"
    (told,) = dropped(settings % "threads")
    assert "intra_op_parallelism_threads: tf.config.threading.set_intra_op_parallelism_threads" in told
    (idle,) = dropped(settings % "threads", "nothing reads")
    assert idle.endswith("nothing reads the option `threads` any more")
    assert dropped(settings % "batch", "nothing reads") == []


def test_nothing_is_said_where_there_are_none() -> None:
    outcome = run(OF_LOOP + LOOP % (MAKES % "None"))["program.py"]
    assert not any("session_config" in d.message for d in outcome.remaining)
