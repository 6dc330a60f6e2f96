"""Classes derived from RunConfig whose objects hold more than its fields."""

from __future__ import annotations

import pytest
from desugared import ESTIMATOR, MODEL, plain
from modelfn.programs import HELPERS, migrate_all, run

FLAGS = "FLAGS = argparse.ArgumentParser().parse_args()\n"
CLASS = """class Config(tf.estimator.RunConfig):
    def __init__(self, count, rate=0.5, **kwargs):
        self.rate = rate
        super(Config, self).__init__(**kwargs)
        self._count = count + 1

    @property
    def count(self):
        \"\"\"How many.\"\"\"
        return self._count

    @property
    def double(self):
        return self._count * 2


"""
USE = f"""config = Config(8, model_dir="here")
{ESTIMATOR.replace("model_fn", "model_fn, config=config")}estimator.train(make_input_fn(8, None), steps=config.count)
"""


def test_fields_are_written_where_they_are_read() -> None:
    text = plain(MODEL + CLASS + USE + "print(config.double, config.rate, config._count)\n")
    assert "steps_per_epoch=8 + 1" in text or ".take(8 + 1)" in text
    assert "print((8 + 1) * 2, 0.5, 8 + 1)\n" in text and "Config" not in text


def test_what_an_option_says() -> None:
    use = USE.replace("Config(8", "Config(FLAGS.count").replace("config.count", "config.count - 1")
    text = plain(MODEL + CLASS + FLAGS + use)
    assert "FLAGS.count + 1 - 1" in text


def test_a_class_of_another_file() -> None:
    task = MODEL.replace("import tensorflow as tf\n", "import tensorflow as tf\nfrom settings import Config\n", 1)
    files = {"settings.py": "import tensorflow as tf\n\n\n" + CLASS, "task.py": task + USE}
    assert HELPERS not in run(files)
    after = migrate_all(files)
    assert "8 + 1" in after["task.py"] and "class " not in after["settings.py"]


def test_another_object_may_have_such_a_field() -> None:
    for flags in (FLAGS, "FLAGS = tf.app.flags.FLAGS\n"):
        assert "print(FLAGS.count)" in plain(MODEL + CLASS + flags + USE + "print(FLAGS.count)\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        return self._count * 2\n", "        print(self._count)\n        return self._count * 2\n"),
        ("        return self._count * 2\n", "        return self.model_dir\n"),
        ("    @property\n    def double(self):\n", "    def double(self):\n"),
        ("    def double(self):\n", "    def model_dir(self):\n"),
        ("self._count = count + 1", "self._count = self.rate"),
        ("self._count = count + 1", "self._session_config = count"),
        ("self._count = count + 1", "self._count = count\n        self._count += 1"),
        ("self._count = count + 1", "for self._count in range(count):\n            pass"),
        ("config = Config(8,", "config = Config(read(),"),
        ("steps=config.count", "steps=config.count)\nconfig.rate = 3\nprint(config.rate"),
        ("steps=config.count", "steps=getattr(config, 'count')"),
        ("steps=config.count", "steps=config.count)\nprint(estimator.config.count"),
        ("config = Config", "def show(config):\n    print(config.rate)\n\n\nconfig = Config"),
        ("config = Config(8,", "config = None\nconfig = Config(8,"),
    ],
)
def test_what_is_left(old: str, new: str) -> None:
    program = MODEL + CLASS + USE
    assert old in program
    assert "class Config(" in run(program.replace(old, new), style="auto")["program.py"].after.decode()


def test_values_that_change_are_left() -> None:
    use = USE.replace("Config(8", "Config(FLAGS.count").replace(ESTIMATOR[:9], "FLAGS.count = 3\nestimator", 1)
    assert "class Config(" in run(MODEL + CLASS + FLAGS + use, style="auto")["program.py"].after.decode()
