"""Programs that read flags before `app.run` parsed them, and programs that do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

HEAD = (
    "import tensorflow as tf\n\nflags = tf.app.flags\nFLAGS = flags.FLAGS\nflags.DEFINE_integer('steps', 3, '')\n\n\n"
)
MAIN = "def main(_):\n    print(FLAGS.steps)\n\n\n"
START = "if __name__ == '__main__':\n"


def migrated(files: dict[str, str]) -> dict[str, str]:
    """The files after migration, which a second run leaves as they are."""
    after = _once(files)
    assert _once(after) == after
    return after


def _once(files: dict[str, str]) -> dict[str, str]:
    sources = [decode(path, text.encode()) for path, text in files.items()]
    return {outcome.path: outcome.after.decode() for outcome in migrate_component(sources, Settings())}


EARLY = {
    "in the guard": {
        "task.py": HEAD + MAIN + START + "    if FLAGS.steps:\n        print('steps')\n    tf.app.run(main)\n"
    },
    "when imported": {"task.py": HEAD + MAIN + "STEPS = FLAGS.steps\ntf.app.run()\n"},
    "in a class": {"task.py": HEAD + MAIN + "class Sizes:\n    steps = FLAGS.steps\n\n\ntf.app.run()\n"},
    "as a default": {"task.py": HEAD + MAIN + "def f(steps=FLAGS.steps):\n    return steps\n\n\ntf.app.run()\n"},
    "by a function": {"task.py": HEAD + MAIN + "def f():\n    return FLAGS.steps\n\n\nX = f()\ntf.app.run()\n"},
    "by another name": {
        "task.py": HEAD
        + MAIN
        + "def f():\n    return FLAGS.steps\n\n\nKINDS = {'f': f}\nX = KINDS['f']()\ntf.app.run()\n"
    },
    "by an object": {
        "task.py": HEAD
        + MAIN
        + "class C:\n    def __init__(self):\n        self.x = FLAGS.steps\n\n\nX = C()\ntf.app.run()\n"
    },
    "given on": {"task.py": HEAD + MAIN + "def f(given):\n    return given.steps\n\n\nX = f(FLAGS)\ntf.app.run()\n"},
    "without app.run": {"task.py": HEAD + MAIN + START + "    main(None)\n"},
    "in another file": {
        "config.py": HEAD + "def steps():\n    return FLAGS.steps\n",
        "task.py": "import tensorflow as tf\n\nimport config\n\n\n"
        f"def main(_):\n    print(config.FLAGS.steps)\n\n\n{START}    print(config.steps())\n    tf.app.run()\n",
    },
    "of another file": {
        "config.py": HEAD,
        "task.py": "import tensorflow as tf\n\nfrom config import FLAGS\n\nSTEPS = FLAGS.steps\n\n\n"
        f"def main(_):\n    print(STEPS)\n\n\n{START}    tf.app.run()\n",
    },
    "by one of two programs": {
        "config.py": HEAD,
        "one.py": f"import tensorflow as tf\nfrom config import FLAGS\n\n\n{MAIN}{START}    tf.app.run()\n",
        "two.py": f"import tensorflow as tf\nfrom config import FLAGS\n\n\n{MAIN}{START}    main(None)\n",
    },
}
LATE = {
    "in main": {"task.py": HEAD + MAIN + START + "    tf.app.run()\n"},
    "in what main calls": {
        "model.py": HEAD + "def steps():\n    return FLAGS.steps\n",
        "task.py": f"import tensorflow as tf\n\nimport model\n\n\ndef main(_):\n    print(model.steps())\n\n\n{START}"
        "    tf.app.run(main)\n",
    },
    "registered": {
        "task.py": HEAD + "def f():\n    return FLAGS.steps\n\n\nKINDS = {'f': f}\n\n\n" + MAIN + "tf.app.run(main)\n"
    },
    "required": {"task.py": HEAD + MAIN + START + "    flags.mark_flag_as_required('steps')\n    tf.app.run()\n"},
    "set": {
        "task.py": HEAD + MAIN + START + "    FLAGS.steps = 4\n    FLAGS.set_default('steps', 5)\n    tf.app.run()\n"
    },
}


@pytest.mark.parametrize("name", EARLY)
def test_flags_that_may_be_read_early_parse_themselves(name: str) -> None:
    for path, text in migrated(EARLY[name]).items():
        before = EARLY[name][path]
        if "tf.app.flags" in before:
            assert "flags = tf.compat.v1.flags" in text, path
        if "tf.app.run" in before:
            assert "from absl import app\n" in text and "known_only=True" in text, path


@pytest.mark.parametrize("name", LATE)
def test_other_flags_are_those_of_absl(name: str) -> None:
    texts = migrated(LATE[name]).values()
    assert not any("compat.v1" in text for text in texts)
    assert sum("from absl import flags\n" in text for text in texts) >= 1


def test_flags_that_no_file_at_hand_parses() -> None:
    """Who calls this file is not known."""
    assert "tf.compat.v1.flags" in migrated({"config.py": HEAD + "def f():\n    return FLAGS.steps\n"})["config.py"]


def test_flags_that_are_only_defined() -> None:
    text = migrated({"config.py": "import tensorflow as tf\n\ntf.flags.DEFINE_integer('steps', 3, '')\n"})["config.py"]
    assert text == "from absl import flags\nimport tensorflow as tf\n\nflags.DEFINE_integer('steps', 3, '')\n"


def test_programs_run_as_before(tmp_path: Path) -> None:
    """Also with flags that nobody defined: the migrated programs fail where the old ones failed, and nowhere else."""
    pytest.importorskip("tensorflow")
    for number, files in enumerate([*EARLY.values(), *LATE.values()]):
        for side, texts in (("before", files), ("after", migrated(files))):
            folder = tmp_path / side / str(number)
            folder.mkdir(parents=True)
            for path, text in texts.items():
                (folder / path).write_text(text)
    script = Path(__file__).with_name("flag_programs.py")
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    assert results["before"] == results["after"]
    assert {result[0] for result in results["before"].values()} == {"0", "1"}
    assert len(results["before"]) == 3 * (len(EARLY) + len(LATE) + 1)
