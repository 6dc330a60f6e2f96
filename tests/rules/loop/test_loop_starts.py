"""`tf.train.init_from_checkpoint` in a model_fn: the model begins with these values where it is used first."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, migrate, run
from test_loop import MODEL, kept

START = 'tf.train.init_from_checkpoint("old/model.ckpt", {"/": "/"})'
STARTS = MODEL.replace("    loss = ", f"    {START}\n    loss = ", 1)
MADE = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1})\n'
SAVED = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, model_dir="here")\n'
TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"
EVALUATE = "print(estimator.evaluate(make_input_fn(4, 1)))\n"


def made(after: str = TRAIN, estimator: str = MADE, before: str = "") -> str:
    """What becomes of the code behind the functions, without line breaks at brackets."""
    assert START in STARTS
    text = joined(migrate(STARTS + before + estimator + after))
    return text[text.index('model = create_model(params={"units": 1})') :].strip()


def test_the_method_makes_the_weights_first() -> None:
    text = migrate(STARTS + MADE + TRAIN)
    start = text.partition("def init_from_checkpoint(self, data):\n")[2].partition("\n\n")[0]
    lines = [line.strip() for line in start.splitlines()]
    assert lines[1:] == [
        "create_weights(self, data.element_spec)",
        'init_from_checkpoint(self, "old/model.ckpt", {"/": "/"})',
    ]


def test_a_model_that_is_new_begins_with_them() -> None:
    assert made() == (
        'model = create_model(params={"units": 1})\ndata = make_input_fn(8, None)()\n'
        "model.init_from_checkpoint(data)\nmodel.fit(data.take(20))"
    )


def test_its_own_checkpoint_comes_first() -> None:
    text = made(estimator=SAVED)
    assert "checkpoint.tf1_names = NamesInCheckpoint(model, checkpoint)\n" in text
    lines = "if not checkpoints.latest_checkpoint:\n    model.init_from_checkpoint(data)\n"
    assert f"data = make_input_fn(8, None)()\n{lines}model.fit(data.take(20)" in text
    assert text.count("init_from_checkpoint") == 1


def test_what_follows_a_training_has_its_values() -> None:
    text = made(TRAIN + EVALUATE)
    assert text.count("init_from_checkpoint") == 1 and "model.evaluate(make_input_fn(4, 1)(), return_dict=True)" in text


@pytest.mark.parametrize("test", ["if TRAIN:\n    {}else:\n    {}", "if TRAIN:\n    {}if EVALUATE:\n    {}"])
def test_a_training_that_need_not_be(test: str) -> None:
    text = made(test.format(TRAIN, EVALUATE), SAVED, "TRAIN = EVALUATE = True\n")
    assert text.count("    if not checkpoints.latest_checkpoint:\n        model.init_from_checkpoint(data)\n") == 2
    assert "model.evaluate(data, return_dict=True)" in text


def test_an_evaluation_alone() -> None:
    assert "data = make_input_fn(4, 1)()\nmodel.init_from_checkpoint(data)\nprint(model.evaluate(data" in made(EVALUATE)


def test_a_loop_begins_once() -> None:
    text = made(f"for _ in range(3):\n    {TRAIN}")
    assert "    if not model.built:\n        model.init_from_checkpoint(data)\n" in text


def test_what_keeps_the_helpers() -> None:
    kept("", STARTS + MADE + "print([estimator.evaluate(make_input_fn(n, 1)) for n in (1, 2)])\n")


def test_a_program_that_another_one_begins_with_keeps_its_names() -> None:
    network = "import tensorflow as tf\n\n\ndef network(x):\n    return tf.layers.dense(x, 1)\n"
    first = MODEL.replace('tf.layers.dense(features["x"], params["units"])', 'net.network(features["x"])')
    first = first.replace("import tensorflow as tf\n", "import tensorflow as tf\n\nimport net\n", 1) + SAVED + TRAIN
    second = first.replace(
        "    loss = ", "    tf.train.init_from_checkpoint('here', {'dense/': 'dense/'})\n    loss = ", 1
    )
    files = {"net.py": network, "first.py": first, "second.py": second.replace('"here")', '"there")')}
    outcomes = run(files)
    assert "keep_names(model)" in outcomes["first.py"].after.decode()
    assert "model.init_from_checkpoint(data)" in outcomes["second.py"].after.decode()
    alone = run({name: text for name, text in files.items() if name != "second.py"})
    assert "model.fit(" in alone["first.py"].after.decode()


def test_each_of_two_models_begins_with_them() -> None:
    other = 'other = tf.estimator.Estimator(model_fn, params={"units": 1})\n'
    text = made(other + TRAIN + TRAIN.replace("estimator", "other", 1))
    for model in ("model", "other"):
        assert (
            f"data = make_input_fn(8, None)()\n{model}.init_from_checkpoint(data)\n{model}.fit(data.take(20))" in text
        )


def test_a_model_whose_values_another_one_may_begin_with() -> None:
    """Names are kept by the model that does not start from a checkpoint, too: another one may start from its own."""
    function = MODEL[MODEL.index("def model_fn") : MODEL.index("def make_input_fn")].replace("model_fn", "other_fn")
    other = 'other = tf.estimator.Estimator(other_fn, params={"units": 1}, model_dir="there")\n'
    uses = TRAIN.replace("estimator", "other") + TRAIN
    text = migrate(STARTS + function + SAVED + other + uses)
    assert text.count("NamesInCheckpoint(") == 2 and text.count("tf1_names = {") == 2
    assert text.count("init_from_checkpoint(data)") == 1 and ".fit(" in text


WARM = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, model_dir="here", warm_start_from=START)\n'
SETTINGS = 'START = tf.estimator.WarmStartSettings("old", "dense.*")\n'


def warm(program: str) -> str:
    text = joined(migrate(MODEL + program))
    return text[text.index("START = ") :].strip()


def test_what_a_model_is_to_start_from_is_a_part_of_it() -> None:
    text = warm(SETTINGS + WARM + TRAIN + EVALUATE)
    assert text.startswith('START = WarmStartSettings("old", "dense.*")\n')
    made = 'model = create_model(params={"units": 1})\nmodel.warm_start = WarmStart(model, START)\ncheckpoint = '
    assert made in text and "checkpoint.tf1_names = NamesInCheckpoint(model, checkpoint)\n" in text
    begun = "data = make_input_fn(8, None)()\nif not checkpoints.latest_checkpoint:\n    model.warm_start(data)\n"
    assert begun in text and text.count("warm_start(data)") == 1


def test_a_start_without_a_folder() -> None:
    text = warm('START = "old"\n' + WARM.replace(', model_dir="here"', "") + TRAIN)
    assert "data = make_input_fn(8, None)()\nmodel.warm_start(data)\nmodel.fit(data.take(20))" in text


def test_each_model_that_a_function_makes_starts_for_itself() -> None:
    make = f"def make(folder):\n    return {WARM.partition(' = ')[2].replace(chr(34) + 'here' + chr(34), 'folder')}\n\n"
    uses = "".join(f'{n} = make("{n}")\n{TRAIN.replace("estimator", n)}' for n in ("one", "two"))
    text = warm(f'START = "old"\n\n\n{make}{uses}')
    for name in ("one", "two"):
        assert f"if not {name}.checkpoints.latest_checkpoint:\n    {name}.warm_start(data)\n" in text


def test_no_start_is_none() -> None:
    assert "warm_start" not in migrate(MODEL + WARM.replace("START", "None") + TRAIN)


@pytest.mark.parametrize(
    "program",
    [
        SETTINGS
        + WARM.replace("estimator = ", "estimators = [").replace(")\n", ")]\n")
        + "estimators[0]."
        + TRAIN[10:],
        SETTINGS + WARM + "print([estimator.evaluate(make_input_fn(n, 1)) for n in (1, 2)])\n",
    ],
)
def test_starts_that_keep_the_helpers(program: str) -> None:
    assert ".fit(" not in run(MODEL + program)["program.py"].after.decode()
