"""RunConfigs, specs and exporters that a function makes, or a class of the program."""

from __future__ import annotations

import pytest
from desugared import MODEL, TRAIN, joined, plain
from modelfn.programs import HELPERS, migrate, migrate_all, run

MAKER = """def get_config(folder, steps=5):
    return tf.estimator.RunConfig(model_dir=folder, save_checkpoints_steps=steps)


"""
CLASS = '''class Config(tf.estimator.RunConfig):
    """What is the same in all of our programs."""

    def __init__(self, folder, steps=5, **kwargs):
        super(Config, self).__init__(model_dir=folder, save_checkpoints_steps=steps, **kwargs)


'''
ESTIMATOR = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, config=config)\n'


def main(config: str, after: str = "") -> str:
    """A function that makes a configuration, and trains with it."""
    body = f"config = {config}\n{ESTIMATOR}{TRAIN}{after}"
    return "def main():\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "\n\nmain()\n"


def check(text: str) -> None:
    """The configuration is used where its fields are, and nothing else is left of it."""
    assert 'CheckpointManager(checkpoint, "here"' in text and "(batch + 1) % 5 == 0" in text
    assert "onfig" not in text


@pytest.mark.parametrize(
    "maker",
    [
        MAKER,
        MAKER.replace("    return", "    config =").replace("steps)\n", "steps)\n    return config\n"),
        MAKER.replace(", save_checkpoints_steps=steps)", ").replace(save_checkpoints_steps=steps)"),
        MAKER.replace("    return", '    print("makes it")\n    config =').replace(
            ", save_checkpoints_steps=steps)\n",
            ")\n    config = config.replace(save_checkpoints_steps=steps)\n    return config\n",
        ),
    ],
)
def test_a_function(maker: str) -> None:
    text = plain(MODEL + maker + main('get_config("here")'))
    check(text)
    assert ("makes it" in maker) == ("makes it" in text)


def test_a_function_of_another_file() -> None:
    task = MODEL.replace("import tensorflow as tf\n", "import tensorflow as tf\nfrom settings import get_config\n", 1)
    files = {"settings.py": "import tensorflow as tf\n\n\n" + MAKER, "task.py": task + main('get_config("here")')}
    assert HELPERS not in run(files)
    after = migrate_all(files)
    check(joined(after["task.py"]))
    assert "def " not in after["settings.py"]


@pytest.mark.parametrize(
    ("maker", "after"),
    [
        (MAKER, "print(get_config('there'))"),  # a second one
        (MAKER, "call(get_config)"),
        (MAKER, "print(globals()['get_config'])"),
        (MAKER, "exec('get_config(1)')"),
        (MAKER.replace("def", "@cached\ndef"), ""),
        (MAKER.replace("    return", "    if folder is None:\n        return None\n    return"), ""),
        (MAKER.replace("    return", "    global COUNT\n    COUNT = 1\n    return"), ""),
    ],
)
def test_functions_that_stay(maker: str, after: str) -> None:
    text = migrate(MODEL + maker + main('get_config("here")', after))
    assert "def get_config(folder, steps=5):" in text and 'get_config("here")' in text


SETTINGS = """\
import tensorflow as tf

KEPT = 3


def get_config():
    return tf.estimator.RunConfig(keep_checkpoint_max=KEPT)


def get_train_spec(read, steps):
    return tf.estimator.TrainSpec(read, max_steps=steps)


def get_eval_spec(read, limit=None):
    return tf.estimator.EvalSpec(read, steps=limit)
"""
TASK = """
def main():
    config = get_config()
    estimator = tf.estimator.Estimator(model_fn, "here", config, {"units": 1})
    train_spec = get_train_spec(make_input_fn(8, None), 20)
    eval_spec = get_eval_spec(make_input_fn(4, 1))
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)


main()
"""
IMPORTS = "import tensorflow as tf\nfrom settings import get_config, get_eval_spec, get_train_spec\n"


def programs(task: str = TASK) -> dict[str, str]:
    """Two programs with the same settings."""
    text = MODEL.replace("import tensorflow as tf\n", IMPORTS, 1) + task
    return {"settings.py": SETTINGS, "one.py": text, "two.py": text}


def test_specs_of_several_programs() -> None:
    assert HELPERS not in run(programs())
    after = migrate_all(programs())
    for name in ("one.py", "two.py"):
        text = joined(after[name])
        assert "max_to_keep=KEPT" in text and "validation_data=make_input_fn(4, 1)()" in text and "_spec" not in text
    assert "def " not in after["settings.py"] and "KEPT = 3" in after["settings.py"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("train_spec = get_train_spec(", "train_spec = print or get_train_spec("),
        ("get_eval_spec(make_input_fn(4, 1))", "work(get_eval_spec)(make_input_fn(4, 1))"),
        ("    config = get_config()\n", "    config = get_config()\n    work(get_config())\n"),
    ],
)
def test_functions_of_several_programs_that_stay(old: str, new: str) -> None:
    after = {path: outcome.after.decode() for path, outcome in run(programs(TASK.replace(old, new)), "auto").items()}
    name = new.partition("get_")[2].partition("(")[0].rstrip(")")
    assert f"def get_{name}(" in after["settings.py"] and f"get_{name}" in after["one.py"]


def test_a_function_that_trains_stays() -> None:
    call = "tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(read), tf.estimator.EvalSpec(read))"
    work = f"def work(estimator, read):\n    return {call}\n\n\n"
    text = run(MODEL + work + main('tf.estimator.RunConfig("here")', "work(estimator, make_input_fn(8, 1))"), "auto")
    assert "def work(" in text["program.py"].after.decode()


@pytest.mark.parametrize(
    ("made", "made_with"),
    [
        (CLASS, 'Config("here")'),
        (CLASS, 'Config("here", keep_checkpoint_max=3)'),
        (CLASS, 'Config(steps=5, folder="here")'),
        (CLASS.replace("super(Config, self).", "super()."), 'Config("here")'),
        (CLASS.replace("super(Config, self).__init__(", "tf.estimator.RunConfig.__init__(self, "), 'Config("here")'),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
def test_a_class(made: str, made_with: str, inside: bool) -> None:
    use = main(made_with) if inside else f"config = {made_with}\n{ESTIMATOR}{TRAIN}"
    text = plain(MODEL + made + use)
    check(text)
    assert ("max_to_keep=3" in text) == ("keep_checkpoint_max" in made_with)


def test_a_class_of_another_file() -> None:
    task = MODEL.replace("import tensorflow as tf\n", "import tensorflow as tf\nfrom settings import Config\n", 1)
    files = {"settings.py": "import tensorflow as tf\n\n\n" + CLASS, "task.py": task + main('Config("here")')}
    assert HELPERS not in run(files)
    after = migrate_all(files)
    check(joined(after["task.py"]))
    assert "class " not in after["settings.py"]


@pytest.mark.parametrize(
    ("made", "after"),
    [
        (CLASS, "print(isinstance(config, Config))"),
        (CLASS.replace("        super", "        if folder:\n            self.folder = folder\n        super"), ""),
        (CLASS + "class Other(Config):\n    pass\n\n\n", ""),
        (CLASS.replace("steps, **kwargs)", "COUNT, **kwargs)") + "COUNT = 1\nCOUNT = 2\n", ""),
        (CLASS + "    def steps(self):\n        return 3\n\n\n", ""),
        (CLASS.replace("**kwargs)", "**{})"), ""),
        (CLASS, "Config(*ARGUMENTS)"),
        (CLASS.replace("=folder", "=f'{folder}/x'"), ""),
    ],
)
def test_classes_that_stay(made: str, after: str) -> None:
    outcomes = run(MODEL + made + main('Config("here")', after), style="auto")
    assert "class Config(" in outcomes["program.py"].after.decode()
