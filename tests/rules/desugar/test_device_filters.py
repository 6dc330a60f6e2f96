"""Settings of sessions that only say with which machines these talk."""

from __future__ import annotations

import pytest
from desugared import MODEL, TRAIN
from modelfn.programs import HELPERS, migrate, run

FILTERS = """def session_config():
    \"\"\"Device filters.\"\"\"
    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task")
    if task and task["type"] == "worker":
        return tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % task["index"]])
    return None


"""
MAIN = """def main(folder):
    config = tf.estimator.RunConfig(folder, session_config=session_config())
    estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, config=config)
    TRAIN

main(load())
"""


def program(filters: str = FILTERS, main: str = MAIN) -> str:
    return "import json\nimport os\n" + MODEL + filters + main.replace("TRAIN", TRAIN)


def test_device_filters_go() -> None:
    outcomes = run(program())
    assert HELPERS not in outcomes
    text = migrate(program())
    assert "session_config" not in text and "TF_CONFIG" not in text and ".fit(" in text
    assert "which machines its sessions talk to" in str([d.message for o in outcomes.values() for d in o.remaining])


def test_device_filters_of_a_function_that_imports_go() -> None:
    text = migrate(program(FILTERS.replace("    task = ", "    import json\n    task = ")))
    assert "session_config" not in text and ".fit(" in text


def test_a_function_that_is_read_elsewhere_stays() -> None:
    assert "def session_config():" in migrate(program(main=MAIN + "print(session_config)\n"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tf.ConfigProto(device", "tf.ConfigProto(allow_soft_placement=True, device"),
        ("    return None\n", "    print(task)\n    return None\n"),
        ("    return None\n", "    return tf.ConfigProto()\n"),
        ("def session_config():", "def session_config(task=None):"),
        ("def session_config():", "@decorated\ndef session_config():"),
    ],
)
def test_functions_that_do_more_stay(old: str, new: str) -> None:
    assert "def session_config(" in migrate(program(FILTERS.replace(old, new)))
