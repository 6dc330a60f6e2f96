"""Programs with a folder of checkpoints: settings of RunConfig at their places, and a second run that goes on."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined, migrate, run
from test_loop import MODEL, kept

TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"


def made(arguments: str, before: str = "", after: str = TRAIN) -> str:
    """What becomes of the code behind the functions."""
    made = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, {arguments})\n'
    text = migrate(MODEL + textwrap.dedent(before) + made + textwrap.dedent(after))
    return (
        text[text.index("    return model\n") + len("    return model\n") :].partition("return input_fn\n")[2].strip()
    )


HEAD = 'model = create_model(params={"units": 1})\n'
MANAGER = 'checkpoints = tf.train.CheckpointManager(checkpoint, "here", max_to_keep=5, checkpoint_name="model.ckpt")\n'
RESTORED = f"""{HEAD}checkpoint = tf.train.Checkpoint(model=model)
{MANAGER}if checkpoints.latest_checkpoint:
    for features, *_ in make_input_fn(8, None)().take(1):
        model(features)  # makes the weights that are restored
    model.optimizer.build(model.trainable_variables)
    checkpoint.restore(checkpoints.latest_checkpoint).assert_existing_objects_matched()  # else: migrate checkpoint
"""
FIT = 'callbacks=[tf.keras.callbacks.TensorBoard("here", update_freq=100)]'
SAVE = "checkpoints.save(model.optimizer.iterations)"


def test_a_folder_of_checkpoints() -> None:
    after = f"{RESTORED}model.fit(make_input_fn(8, None)().take(20), {FIT})\n{SAVE}"
    assert made('model_dir="here"') == after
    assert made("config=tf.estimator.RunConfig('here')".replace("'", '"')) == after


def test_the_folder_of_the_configuration_is_the_same_folder() -> None:
    before = 'config = tf.estimator.RunConfig(model_dir="here")\n'
    after = f"{RESTORED}model.fit(make_input_fn(8, None)().take(20), {FIT})\n{SAVE}"
    assert made("config=config, model_dir=config.model_dir", before) == after
    made_elsewhere = (
        'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, config=config, model_dir=other.model_dir)\n'
    )
    kept(TRAIN, MODEL + before + made_elsewhere)


def test_the_last_step_counts_those_of_earlier_runs() -> None:
    after = f"""{RESTORED}steps = 20 - model.optimizer.iterations.numpy()
if steps > 0:
    model.fit(make_input_fn(8, None)().take(steps), {FIT})
    {SAVE}"""
    assert made('model_dir="here"', after="estimator.train(make_input_fn(8, None), max_steps=20)\n") == after


def test_a_configuration_goes_where_it_is_used() -> None:
    before = """\
        config = tf.estimator.RunConfig(
            model_dir="here",
            tf_random_seed=3,  # as before
            save_checkpoints_steps=5,
            keep_checkpoint_max=0,
            save_summary_steps=7,
            log_step_count_steps=10)
        """
    text = made("config=config", before)
    assert text.startswith(f"# as before\ntf.keras.utils.set_random_seed(3)\n{HEAD}")
    assert "max_to_keep=None" in text and "update_freq=7" in text and "config" not in text
    assert (
        f"""
def save_checkpoint(batch, logs):
    if (batch + 1) % 5 == 0:
        {SAVE}


model.fit("""
        in text
    )
    assert text.endswith("\ncheckpoints.save(model.optimizer.iterations)")


def test_a_seed_alone_makes_no_checkpoints() -> None:
    text = made("config=tf.estimator.RunConfig(tf_random_seed=3)")
    assert text == f"tf.keras.utils.set_random_seed(3)\n{HEAD}model.fit(make_input_fn(8, None)().take(20))"


def test_a_program_that_draws_keeps_its_own_generators() -> None:
    before = "import numpy as np\n\nnp.random.seed(1)\n"
    assert "\ntf.random.set_seed(3)\n" in made("config=tf.estimator.RunConfig(tf_random_seed=3)", before)


def test_long_trainings_save_now_and_then() -> None:
    text = made('model_dir="here"', after="estimator.train(make_input_fn(8, None), steps=5000)\n")
    assert f"    if (batch + 1) % 1000 == 0:\n        {SAVE}\n" in text
    assert "LambdaCallback(on_train_batch_end=save_checkpoint)" in text


def test_a_function_of_the_program_keeps_its_name() -> None:
    train = "def save_checkpoint():\n    estimator.train(make_input_fn(8, None), steps=5000)\n\n\nsave_checkpoint()\n"
    text = made('model_dir="here"', after=train)
    assert "on_train_batch_end=save_checkpoint)" in text and "    def save_checkpoint(batch, logs):\n" in text
    call = "def train(save_checkpoint=print):\n    estimator.train(make_input_fn(8, None), steps=5000)\n\n\ntrain()\n"
    assert "on_train_batch_end=save_checkpoint_)" in made('model_dir="here"', after=call)


def test_no_saving_in_between_where_the_interval_is_the_training() -> None:
    before = "STEPS = load()\n"
    config = 'config=tf.estimator.RunConfig("here", save_checkpoints_steps=STEPS)'
    text = made(config, before, "estimator.train(make_input_fn(8, None), max_steps=STEPS)\n")
    assert "LambdaCallback" not in text and "steps = STEPS - model.optimizer.iterations.numpy()" in text


@pytest.mark.parametrize(
    "interval, summaries, grouped", [(1000, 100, True), (10, 100, False), (1000, 10, False), ("N", 100, False)]
)
def test_steps_are_grouped_where_callbacks_see_what_they_wait_for(interval: str, summaries: int, grouped: bool) -> None:
    config = f'tf.estimator.RunConfig("here", save_checkpoints_steps={interval}, save_summary_steps={summaries})'
    use = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, config={config})\n'
    text = migrate(MODEL + "N = 5\n" + use + "estimator.train(make_input_fn(8, None), steps=5000)\n")
    assert ("steps_per_execution=100" in text) is grouped


def test_the_folder_is_an_option_with_a_default() -> None:
    before = """\
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--model-dir", default="here")
        args = parser.parse_args()
        """
    assert "TensorBoard(args.model_dir, update_freq=100)" in made("model_dir=args.model_dir", before)


@pytest.mark.parametrize(
    "folder, before, after",
    [
        ("FOLDER or None", "FOLDER = load()\n", "FOLDER or tempfile.mkdtemp()"),
        ("args.model_dir", "args = load()\n", "args.model_dir or tempfile.mkdtemp()"),
        ("args.model_dir", 'parser.add_argument("--model_dir")\n', "args.model_dir or tempfile.mkdtemp()"),
        ("FOLDER if FOLDER else None", "FOLDER = load()\n", "(FOLDER if FOLDER else None) or tempfile.mkdtemp()"),
        ("args.model_dir", 'flags.mark_flag_as_required("model_dir")\n', "args.model_dir"),
        ("args.model_dir", 'parser.add_argument("--model_dir", required=True)\n', "args.model_dir"),
    ],
)
def test_a_folder_that_may_be_none_is_a_temporary_one(folder: str, before: str, after: str) -> None:
    made = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, model_dir={folder})\n'
    text = joined(migrate(MODEL + before + made + TRAIN))
    known = "." in after and "mkdtemp" not in after
    assert f"CheckpointManager(checkpoint, {after}, max_to_keep" in text
    assert f"TensorBoard({after if known else 'checkpoints.directory'}, update_freq=100)" in text
    assert ("import tempfile\n" in text) is not known


@pytest.mark.parametrize("folder, temporary", [('"here"', False), ("load()", True), ("None", True)])
def test_a_folder_that_a_function_gets(folder: str, temporary: bool) -> None:
    made = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, model_dir=folder)\n'
    work = textwrap.indent(made + TRAIN, "    ")
    text = migrate(MODEL + f"def work(folder):\n{work}\n\nwork({folder})\nwork('there')\n")
    assert ("folder or tempfile.mkdtemp()" in text) is temporary and "CheckpointManager(" in text


def test_a_folder_that_is_nothing() -> None:
    made = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, model_dir=FOLDER)\n'
    assert "checkpoint" not in migrate(MODEL + "FOLDER = None\n" + made + TRAIN)


def test_fields_of_the_configuration_are_written_where_they_are_read() -> None:
    before = 'FOLDER = "there"\nconfig = tf.estimator.RunConfig(FOLDER, save_checkpoints_steps=5)\n'
    after = made("config=config", before, TRAIN + "print(config.model_dir, config.save_checkpoints_steps)\n")
    assert after.endswith("\nprint(FOLDER, 5)") and "config" not in after


@pytest.mark.parametrize(
    "arguments, before",
    [
        ('model_dir="here", config=CONFIG', "CONFIG = load()\n"),
        ("config=config", 'config = tf.estimator.RunConfig("here")\nprint(config)\n'),
        ("config=config", 'config = tf.estimator.RunConfig("here")\nprint(config.task_id)\n'),
        ("config=config", 'config = tf.estimator.RunConfig("a" + load())\nprint(config.model_dir)\n'),
        ("config=config", 'name = "a"\nconfig = tf.estimator.RunConfig(name + "/b")\nname = "c"\n'),
        ("config=config", 'config = tf.estimator.RunConfig("here").replace(**load())\n'),
        ('config=tf.estimator.RunConfig("here", save_checkpoints_secs=None)', ""),
        ('config=tf.estimator.RunConfig("here", save_checkpoints_steps=None)', ""),
    ],
)
def test_what_is_not_understood_stays_with_helpers(arguments: str, before: str) -> None:
    made = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, {arguments})\n'
    kept(TRAIN, MODEL + before + made)


def test_an_estimator_in_the_line_of_another_statement_stays_with_helpers() -> None:
    kept(TRAIN, MODEL + 'if 1: estimator = tf.estimator.Estimator(model_fn, "here", params={"units": 1})\n')


def test_what_changes_is_said() -> None:
    use = 'estimator = tf.estimator.Estimator(model_fn, "here", params={"units": 1})\n'
    outcome = run(MODEL + use + "estimator.train(make_input_fn(8, None), steps=5000)\n")["program.py"]
    said = " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))
    assert "every 10 minutes; the program does so every 1000 steps now" in said


def test_data_of_an_unknown_number_are_waited_for() -> None:
    model = MODEL.replace(".batch(2)", ".filter(lambda x, y: True).batch(2).take(3)")
    text = migrate(model + 'estimator = tf.estimator.Estimator(model_fn, "here", params={"units": 1})\n' + TRAIN)
    assert "tf.control_dependencies(tf.nest.flatten(data" in text and "steps_per_epoch=20" in text


def test_data_without_an_end_go_on_for_a_number_of_steps() -> None:
    """`fit` stops by itself after these, so that it does not matter that nobody knows the number of batches."""
    model = MODEL.replace(".repeat(epochs)", ".repeat(epochs).filter(lambda x, y: True)")
    made = 'estimator = tf.estimator.Estimator(model_fn, "here", params={"units": 1})\n'
    text = migrate(f"{model}{made}estimator.train(make_input_fn(8, None), max_steps=7)\n")
    assert "steps_per_epoch=steps" in text


OPTION = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--every", type=int{more})
args = parser.parse_args()
"""


@pytest.mark.parametrize("more", ["", ", default=None"])
@pytest.mark.parametrize("name", ["save_checkpoints_steps", "save_summary_steps"])
@pytest.mark.parametrize("before", ["every = args.every\n", ""])
def test_a_number_of_steps_that_may_be_none_keeps_the_helpers(more: str, name: str, before: str) -> None:
    config = f"tf.estimator.RunConfig('here', {name}={'every' if before else 'args.every'})"
    made = f"estimator = tf.estimator.Estimator(model_fn, params={{'units': 1}}, config={config})\n"
    assert f"{name}=" in kept(TRAIN, MODEL + OPTION.format(more=more) + before + made)


@pytest.mark.parametrize("more", [", default=5", ", required=True"])
def test_a_number_of_steps_that_is_given_is_read_where_it_is_written(more: str) -> None:
    text = made("config=tf.estimator.RunConfig('here', save_checkpoints_steps=args.every)", OPTION.format(more=more))
    assert "% args.every == 0" in text


@pytest.mark.parametrize(
    "every",
    [
        "every = args.every if args.every else 5\n",
        "every = args.every if args.every is not None else 5\n",
        "every = 5\nif args.every:\n    every = args.every\n",
    ],
)
def test_a_number_of_steps_that_is_asked_for_is_none_nowhere(every: str) -> None:
    before = OPTION.format(more="") + every
    text = made("config=tf.estimator.RunConfig('here', save_checkpoints_steps=every)", before)
    assert "% every == 0" in text


def test_none_asks_for_no_limit_and_no_summaries_amid_an_epoch() -> None:
    config = (
        'tf.estimator.RunConfig("here", save_checkpoints_steps=10, save_summary_steps=None, keep_checkpoint_max=None)'
    )
    text = joined(
        migrate(
            MODEL + f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, config={config})\n' + TRAIN
        )
    )
    assert "max_to_keep=None" in text and "TensorBoard(" in text and "update_freq" not in text
