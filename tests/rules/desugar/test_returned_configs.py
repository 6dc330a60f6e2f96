"""RunConfigs that a function makes, or a class of the program."""

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
        (CLASS.replace("        super", "        self.folder = folder\n        super"), ""),
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
