"""Several Estimators in a program, and those that are made in one place and used in another."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, joined, migrate, migrate_all, run
from test_loop import ESTIMATOR, MODEL

ESTIMATE = 'tf.estimator.Estimator(model_fn, params={"units": 1})'
SAVING = 'tf.estimator.Estimator(model_fn, {folder}, params={{"units": 1}})'
CREATE = 'create_model(params={"units": 1})'


def loop(before: str) -> str:
    """What becomes of the code behind the functions, without line breaks at brackets."""
    before = MODEL + textwrap.dedent(before)
    assert HELPERS not in run(before)
    text = joined(migrate(before))
    return text[text.index("return input_fn") + len("return input_fn") :].strip().replace(",\n)", ")") + "\n"


def saving(folder: str) -> str:
    return SAVING.format(folder=folder)


def manager(name: str, folder: str) -> str:
    return f'tf.train.CheckpointManager({name}, {folder}, max_to_keep=5, checkpoint_name="model.ckpt")'


def test_each_by_its_name() -> None:
    before = f"""
    first = {ESTIMATE}
    second = {ESTIMATE}
    first.train(make_input_fn(8, None), max_steps=20)
    second.train(make_input_fn(8, None), max_steps=20)
    print(second.evaluate(make_input_fn(8, 1)))
    """
    after = f"""\
first = {CREATE}
second = {CREATE}
first.fit(make_input_fn(8, None)().take(20))
second.fit(make_input_fn(8, None)().take(20))
print(second.evaluate(make_input_fn(8, 1)(), return_dict=True))
"""
    assert loop(before) == after


def test_each_has_its_folder_of_checkpoints() -> None:
    text = loop(f"""
    first = {saving('"one"')}
    second = {saving('"two"')}
    first.train(make_input_fn(8, None), steps=20)
    second.train(make_input_fn(8, None), steps=20)
    """)
    for name, folder in (("first", '"one"'), ("second", '"two"')):
        assert f"{name}_checkpoint = tf.train.Checkpoint(model={name})\n" in text
        assert f"{name}_checkpoints = {manager(f'{name}_checkpoint', folder)}\n" in text
        assert f"\n{name}_checkpoints.save({name}.optimizer.iterations)\n" in text
        assert f"TensorBoard({folder}, update_freq=100)" in text


def test_the_folder_of_one_in_that_of_another() -> None:
    first, second = saving('"one"'), saving('first.model_dir + "/two"')
    text = loop(f"""
    first = {first}
    second = {second}
    first.train(make_input_fn(8, None), steps=20)
    second.train(make_input_fn(8, None), steps=20)
    """)
    assert 'tf.train.CheckpointManager(second_checkpoint, "one" + "/two", max_to_keep=5' in text


def test_one_configuration_for_several() -> None:
    text = loop("""
    config = tf.estimator.RunConfig(tf_random_seed=3)
    first = tf.estimator.Estimator(model_fn, None, config, {"units": 1})
    second = tf.estimator.Estimator(model_fn, None, config, {"units": 2})
    first.train(make_input_fn(8, 1))
    second.train(make_input_fn(8, 1))
    """)
    assert text.startswith("tf.keras.utils.set_random_seed(3)\nfirst = create_model(") and text.count("seed") == 1


@pytest.mark.parametrize(
    "before, after",
    [
        (
            f"estimators = [{ESTIMATE} for _ in range(2)]\nfor each in estimators:\n    each.train(make_input_fn(8, 1))\n",
            f"estimators = [{CREATE} for _ in range(2)]\nfor each in estimators:\n    each.fit(make_input_fn(8, 1)())\n",
        ),
        (
            f'models = {{"a": {ESTIMATE}}}\nprint(models["a"].evaluate(make_input_fn(8, 1))["loss"])\n',
            f'models = {{"a": {CREATE}}}\nprint(models["a"].evaluate(make_input_fn(8, 1)(), return_dict=True)["loss"])\n',
        ),
        (f"{ESTIMATE}.train(make_input_fn(8, 1))\n", f"{CREATE}.fit(make_input_fn(8, 1)())\n"),
        (
            f"def work(estimator):\n    estimator.train(make_input_fn(8, 1))\n\n\nwork({ESTIMATE})\n",
            f"def work(estimator):\n    estimator.fit(make_input_fn(8, 1)())\n\n\nwork({CREATE})\n",
        ),
        (
            f"for _ in range(2):\n    estimator = {ESTIMATE}\n    estimator.train(make_input_fn(8, None), max_steps=4)\n",
            f"for _ in range(2):\n    model = {CREATE}\n    model.fit(make_input_fn(8, None)().take(4))\n",
        ),
    ],
)
def test_estimators_that_travel(before: str, after: str) -> None:
    assert loop(before) == after


def test_a_function_that_makes_them() -> None:
    made = saving('"models/" + name')
    text = loop(f"""
    def make(name):
        return {made}


    def work(estimator, count):
        estimator.train(make_input_fn(8, None), max_steps=count)


    for name in "ab":
        work(make(name), 10)
    """)
    held = manager("checkpoint", '"models/" + name')
    restore = "estimator.checkpoints.checkpoint.restore(estimator.checkpoints.latest_checkpoint)"
    assert text.startswith(f"""\
def make(name):
    model = {CREATE}
    checkpoint = tf.train.Checkpoint(model=model)
    model.checkpoints = {held}
    return model


def work(estimator, count):
    if estimator.checkpoints.latest_checkpoint:
        for features, *_ in make_input_fn(8, None)().take(1):
            estimator(features)  # makes the weights that are restored
        estimator.optimizer.build(estimator.trainable_variables)
        {restore}.assert_existing_objects_matched()  # else: migrate checkpoint
    steps = count - estimator.optimizer.iterations.numpy()
    if steps > 0:
        def save_checkpoint(batch, logs):
            if (batch + 1) % 1000 == 0:
                estimator.checkpoints.save(estimator.optimizer.iterations)

        estimator.fit(make_input_fn(8, None)().take(steps), callbacks=[""")
    assert "TensorBoard(estimator.checkpoints.directory, update_freq=100)" in text
    assert "\n        estimator.checkpoints.save(estimator.optimizer.iterations)\n" in text


TRAINER = """
class Base:
    def __init__(self, config):
        self.config = config
        self.estimator = self.build()

    def build(self):
        config = tf.estimator.RunConfig("here", save_checkpoints_steps={every})
        return tf.estimator.Estimator(model_fn, config=config, params={{"units": 1}})

    def run(self):
        self.estimator.train(make_input_fn(8, None), steps=20)


class Trainer({base}):
    pass


Trainer(load()).run()
"""


@pytest.mark.parametrize("every", ["self.config['every']", "self.config.get('every', 10)", "self.config.every"])
def test_settings_that_methods_read_of_their_object(every: str) -> None:
    text = loop(TRAINER.format(every=every, base="Base"))
    assert f"            if (batch + 1) % {every} == 0:\n".replace("'", '"') in text.replace("'", '"')


@pytest.mark.parametrize(
    ("every", "more"),
    [
        ("self.config['every']", "Base(load()).config['every'] = 3\n"),
        ("self.config['every']", "Base(load()).config.update(every=3)\n"),
        ("self.config.every", "Base(load()).config.every = 3\n"),
        ("self.config.get(KEY, 10)", ""),
        ("self.config()", ""),
    ],
)
def test_settings_of_an_object_that_may_change(every: str, more: str) -> None:
    files = run(MODEL + 'KEY = "every"\n' + TRAINER.format(every=every, base="Base") + more)
    text = files["program.py"].after.decode()
    assert f".save_checkpoints_steps = {every}\n" in text
    assert "% self.estimator.save_checkpoints_steps == 0:\n" in text


def test_an_attribute() -> None:
    made = saving('"models/" + folder')
    text = loop(f"""
    class Trainer:
        def __init__(self, folder):
            self.estimator = {made}

        def run(self):
            self.estimator.train(make_input_fn(8, None), steps=20)


    Trainer("here").run()
    """)
    held = manager("checkpoint", '"models/" + folder')
    assert f"        self.estimator.checkpoints = {held}\n" in text
    assert "        self.estimator.checkpoints.save(self.estimator.optimizer.iterations)\n" in text


def test_one_name_for_either() -> None:
    text = loop(f"""
    if make_input_fn:
        estimator = {saving('"one"')}
    else:
        estimator = {saving('"two"')}
    estimator.train(make_input_fn(8, None), steps=20)
    """)
    assert text.count("\n    checkpoints = ") == 2 and "TensorBoard(checkpoints.directory, update_freq=100)" in text


def test_an_estimator_of_another_file() -> None:
    task = "from program import estimator, make_input_fn\n\nestimator.train(make_input_fn(8, 1), steps=3)\n"
    files = migrate_all({"program.py": MODEL + ESTIMATOR, "task.py": task})
    assert "estimator.fit(make_input_fn(8, 1)().take(3))" in files["task.py"] and HELPERS not in files


@pytest.mark.parametrize(
    "before",
    [
        # The second would have to read, at each use, what the first one saved.
        f"one, two = {saving('FOLDER')}, {saving('FOLDER')}\none.train(make_input_fn(8, 1))\n"
        "print(two.evaluate(make_input_fn(8, 1)))\n",
        f"one = {saving('FOLDER')}\ntwo = {saving('FOLDER')}\none.train(make_input_fn(8, 1))\n"
        "print(two.evaluate(make_input_fn(8, 1)))\n",
        f"models = [{saving('FOLDER')}]\nmodels[0].train(make_input_fn(8, 1))\n",
        f"for one in [{ESTIMATE}, load()]:\n    one.train(make_input_fn(8, 1))\n",
        f"one = {saving('FOLDER')}\nfor each in [one, {ESTIMATE}]:\n    each.train(make_input_fn(8, 1))\n",
        f"models = [{ESTIMATE}]\nmodels[0].train(make_input_fn(8, None), max_steps=4)\n",
        # Settings that are not known where the Estimator is used.
        "def make(every):\n    config = tf.estimator.RunConfig('here', save_summary_steps=every)\n"
        '    return tf.estimator.Estimator(model_fn, config=config, params={"units": 1})\n\n\n'
        "make(5).train(make_input_fn(8, 1))\n",
    ],
)
def test_what_is_not_understood_stays_with_helpers(before: str) -> None:
    files = run(MODEL + 'FOLDER = "here"\n' + before)
    assert ".fit(" not in files["program.py"].after.decode()


def test_a_model_with_rows_of_another_kind() -> None:
    chosen = """
    def train(wide):
        if wide:
            estimator = tf.estimator.Estimator(model_fn, "here", params={"units": 1})
        else:
            layers = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            layers.compile("sgd", "mse")
            estimator = tf.keras.estimator.model_to_estimator(layers, model_dir="here")
        estimator.train(make_input_fn(8, None), steps=20)
        print(estimator.evaluate(make_input_fn(8, 1)))
    """
    assert "fit(make_input_fn(8, None)().take(20)" in loop(chosen)
    predicting = textwrap.dedent(chosen) + "    print(list(estimator.predict(make_input_fn(8, 1))))\n"
    assert HELPERS in run(MODEL + predicting)
