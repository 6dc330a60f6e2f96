"""What is read of an Estimator beside its training: folder, parameters, checkpoints, and the step of an evaluation."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop import MODEL

SAVING = """\
estimator = tf.estimator.Estimator(model_fn, {folder}, params={params})
estimator.train(make_input_fn(8, None), steps=8)
"""
READ = "make_input_fn(8, 1)"


def loop(before: str, folder: str = '"here"', params: str = '{"units": 1}') -> str:
    """What becomes of the code behind the training, without line breaks at brackets."""
    before = MODEL + "FOLDER, PARAMS = load()\n" + SAVING.format(folder=folder, params=params) + textwrap.dedent(before)
    assert HELPERS not in run(before)
    saved = "checkpoints.save(model.optimizer.iterations)\n"
    return joined(migrate(before)).partition(saved)[2].replace(",\n)", ")")


@pytest.mark.parametrize(
    "read, after",
    [
        ("estimator.model_dir", '"here"'),
        ("estimator.latest_checkpoint()", "checkpoints.latest_checkpoint"),
        ('make_input_fn(estimator.model_dir + "/data")', 'make_input_fn("here" + "/data")'),
    ],
)
def test_the_folder_of_checkpoints(read: str, after: str) -> None:
    assert loop(f"print({read})\n") == f"print({after})\n"


@pytest.mark.parametrize(
    ("read", "after"),
    [
        (
            "os.makedirs(estimator.eval_dir(), exist_ok=True)",
            'os.makedirs(os.path.join("here", "eval"), exist_ok=True)',
        ),
        ("tf.gfile.MakeDirs(estimator.eval_dir('dev'))", 'tf.io.gfile.makedirs(os.path.join("here", "eval_dev"))'),
        (
            "pathlib.Path(estimator.eval_dir(name=None)).mkdir(parents=True)",
            'pathlib.Path(os.path.join("here", "eval")).mkdir(parents=True)',
        ),
    ],
)
def test_the_folder_of_evaluations_is_made(read: str, after: str) -> None:
    program = MODEL.replace("import tensorflow", "import os\nimport pathlib\n\nimport tensorflow", 1)
    text = migrate(program + SAVING.format(folder='"here"', params='{"units": 1}') + read + "\n")
    assert text.endswith(after + "\n") and "model.fit(" in text


@pytest.mark.parametrize("read", ["files = os.listdir(estimator.eval_dir())", "print(estimator.eval_dir())"])
def test_the_folder_of_evaluations_is_looked_into(read: str) -> None:
    program = MODEL + SAVING.format(folder='"here"', params='{"units": 1}') + read + "\n"
    assert "model.fit(" not in migrate(program)


def test_a_folder_that_may_be_temporary_is_that_of_its_checkpoints() -> None:
    assert loop("print(estimator.model_dir)\n", "FOLDER") == "print(checkpoints.directory)\n"


def test_parameters() -> None:
    assert loop('print(estimator.params["units"])\n', params="PARAMS") == 'print(PARAMS["units"])\n'


def test_the_step_of_an_evaluation() -> None:
    before = f"result = estimator.evaluate({READ})\nprint(result['global_step'], result['loss'])\n"
    after = "print(model.optimizer.iterations.numpy(), result['loss'])\n"
    assert loop(before) == f"result = model.evaluate({READ}(), return_dict=True)\n{after}"


def test_the_step_of_one_of_several_evaluations_with_a_name() -> None:
    again = f"result = estimator.evaluate({READ})\nprint(result['loss'])\n"
    after = f"result = model.evaluate({READ}(), return_dict=True)\n"
    first = f"{after}print(model.optimizer.iterations.numpy())\n"
    assert loop(f"result = estimator.evaluate({READ})\nprint(result['global_step'])\n{again}") == (
        f"{first}{after}print(result['loss'])\n"
    )


RESTORE = "checkpoint.restore({}).assert_existing_objects_matched()\n"
NEWEST = "checkpoint.restore(checkpoints.latest_checkpoint)\n"
EVALUATE = f"print(model.evaluate({READ}(), return_dict=True))\n"


def test_an_evaluation_of_another_checkpoint() -> None:
    before = f"print(estimator.evaluate({READ}, checkpoint_path='one'))\n"
    assert loop(before) == RESTORE.format("'one'") + EVALUATE


def test_the_newest_weights_come_back_for_what_follows() -> None:
    more = f"print(estimator.evaluate({READ}))\n"
    before = f"print(estimator.evaluate({READ}, checkpoint_path='one'))\n{more}"
    assert loop(before) == RESTORE.format("'one'") + EVALUATE + NEWEST + EVALUATE


def test_predictions_of_another_checkpoint() -> None:
    before = f"for p in estimator.predict({READ}, checkpoint_path=FOLDER):\n    print(p['score'])\nestimator.evaluate({READ})\n"
    after = f"""\
if FOLDER:
    checkpoint.restore(FOLDER).assert_existing_objects_matched()
for score in model.predict({READ}(), verbose=0)['score']:
    print(score)
{NEWEST}model.evaluate({READ}())
"""
    assert loop(before) == after


def test_each_checkpoint_in_turn() -> None:
    before = f"for path in load():\n    print(estimator.evaluate({READ}, checkpoint_path=path))\n"
    assert loop(before) == f"for path in load():\n    {RESTORE.format('path')}    {EVALUATE}"


def test_a_checkpoint_without_a_folder() -> None:
    estimator = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1})\n'
    text = migrate(MODEL + estimator + f"print(estimator.evaluate({READ}, checkpoint_path='one'))\n")
    restore = "tf.train.Checkpoint(model=model).restore('one').assert_existing_objects_matched()\n"
    assert text.endswith(restore + EVALUATE)


@pytest.mark.parametrize(
    "after",
    [
        f"result = estimator.evaluate({READ})\nestimator.train({READ}, steps=4)\nprint(result['global_step'])\n",
        f"result = estimator.evaluate({READ}, checkpoint_path='one')\nprint(result['global_step'])\nestimator.evaluate({READ})\n",
        f"result = estimator.evaluate({READ})\nprint(result[KEY], 'global_step')\n",
        f"values = [estimator.evaluate({READ}, checkpoint_path=path) for path in load()]\n",
        f"def one():\n    return estimator.evaluate({READ}, checkpoint_path='one')\n\n\none()\nestimator.evaluate({READ})\n",
        "print(estimator.params)\n",
        "print(estimator.config)\n",
        "names = estimator.get_variable_names()\n",
        "print(estimator.get_variable_value('dense/gamma'))\n",
    ],
)
def test_what_is_not_understood_stays_with_helpers(after: str) -> None:
    before = MODEL + SAVING.format(folder='"here"', params='{"units": 1}') + after
    assert ".fit(" not in run(before)["program.py"].after.decode()


def test_a_folder_that_no_name_stands_for_stays_with_helpers() -> None:
    estimator = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1})\n'
    text = run(MODEL + estimator + f"estimator.train({READ})\nprint(estimator.model_dir)\n")[
        "program.py"
    ].after.decode()
    assert ".fit(" not in text
