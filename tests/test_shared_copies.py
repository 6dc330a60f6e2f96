"""Programs that stay beside programs that move, in one folder."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run, units

from migrator.vocabulary.diagnostics import Outcome

NETWORK = """import tensorflow as tf


def tower(x, units):
    return tf.layers.dense(x, units)


def squeezed(x):
    return tf.to_float(x)
"""
BODY = ["predictions = {tower}(features['x'], 1)", LOSS, TRAIN_OP, SPEC]
MODEL_FN = "\n\ndef model_fn(features, labels, mode):\n" + "".join(f"    {line}\n" for line in BODY)
PROGRAM = "import tensorflow as tf\n{imports}\n" + MODEL_FN + "\n\nestimator = tf.estimator.Estimator(model_fn)\n"
TRAIN, STAY = "estimator.train(lambda: None, steps=1)\n", "estimator.mystery()\n"


def program(imports: str = "import network", tower: str = "network.tower", end: str = TRAIN) -> str:
    return PROGRAM.replace("{imports}", imports).replace("{tower}", tower) + end


def texts(outcomes: dict[str, Outcome]) -> dict[str, str]:
    return {path: outcome.after.decode() for path, outcome in outcomes.items()}


def tiers(outcomes: dict[str, Outcome]) -> dict[str, str]:
    return {unit.location.path: unit.tier for unit in units(outcomes)}


def said(outcomes: dict[str, Outcome]) -> list[str]:
    return [f"{d.location.path}: {d.message}" for o in outcomes.values() for d in o.remaining if d.code == "E016"]


def moved(files: dict[str, str]) -> dict[str, str]:
    """The texts after migration of `moves.py`, which a second run leaves as they are; all but `moves.py` stay."""
    outcomes = run(files)
    after = texts(outcomes)
    assert tiers(outcomes) == {"moves.py": "native", "stays.py": "manual"}
    assert {path: after[path] for path in files if path != "moves.py"} == {
        p: t for p, t in files.items() if p != "moves.py"
    }
    again = run(after)
    assert texts(again) == after and said(again) == []
    return after


def test_a_shared_file_is_copied_for_the_one_that_moves() -> None:
    files = {"network.py": NETWORK, "moves.py": program(), "stays.py": program(end=STAY)}
    after = moved(files)
    assert "class Tower(tf.keras.layers.Layer)" in after["network_tf2.py"]
    assert "import network_tf2 as network\n" in after["moves.py"] and "network.Tower(1)" in after["moves.py"]
    assert said(run(files)) == [
        "moves.py: imports copies of what a program needs that stays: network_tf2.py",
        "stays.py: stays with what it imports, so that it runs as before: network.py",
    ]
    assert run(files)["network_tf2.py"].status == "created"


@pytest.mark.parametrize(
    ("imports", "tower", "expected"),
    [
        ("import network as n", "n.tower", "import network_tf2 as n\n"),
        ("from network import tower", "tower", "from network_tf2 import Tower\n"),
        ("from network import *", "tower", "from network_tf2 import *\n"),
        ("from . import network", "network.tower", "from . import network_tf2 as network\n"),
        ("from .network import tower", "tower", "from .network_tf2 import Tower\n"),
    ],
)
def test_however_it_is_imported(imports: str, tower: str, expected: str) -> None:
    files = {"network.py": NETWORK, "moves.py": program(imports, tower), "stays.py": program(end=STAY)}
    assert expected in moved(files)["moves.py"]


@pytest.mark.parametrize(
    ("imports", "tower", "expected"),
    [
        ("import nets.network", "nets.network.tower", "import nets.network_tf2\n"),
        ("import nets.network as n", "n.tower", "import nets.network_tf2 as n\n"),
        ("from nets import network", "network.tower", "from nets import network_tf2 as network\n"),
        ("from nets.network import tower", "tower", "from nets.network_tf2 import Tower\n"),
    ],
)
def test_in_a_package(imports: str, tower: str, expected: str) -> None:
    stays = program("from nets.network import tower", "tower", STAY)
    files = {"nets/__init__.py": "", "nets/network.py": NETWORK, "moves.py": program(imports, tower), "stays.py": stays}
    assert expected in moved(files)["moves.py"]


def test_what_lies_between_is_copied_as_well_and_nothing_else() -> None:
    between = "import network\nimport plain\n\n\ndef tower(x, units):\n    return network.tower(x, units)\n"
    files = {
        "network.py": NETWORK,
        "plain.py": "import tensorflow as tf\n\nSIZE = tf.constant(3)\n",
        "between.py": between,
        "moves.py": program("import between", "between.tower"),
        "stays.py": program("import between", "between.tower", STAY),
    }
    after = moved(files)
    assert set(after) - set(files) == {"network_tf2.py", "between_tf2.py", "tf2_training.py"}
    assert "import network_tf2 as network\nimport plain\n" in after["between_tf2.py"]


def test_a_file_that_speaks_of_estimators_ties_no_programs_together() -> None:
    common = "import tensorflow as tf\n\n\ndef config():\n    return tf.estimator.RunConfig(tf_random_seed=3)\n"
    files = {
        "common.py": common,
        "moves.py": program("import common", "tf.layers.dense").replace("(model_fn)", "(model_fn, config=common.config())"),
        "stays.py": program("import common", "tf.layers.dense", STAY).replace("(model_fn)", "(model_fn, config=common.config())"),
    }  # fmt: skip
    after = moved(files)
    assert "import common_tf2 as common\n" in after["moves.py"]
    assert "return RunConfig(tf_random_seed=3)" in after["common_tf2.py"]


def test_files_that_both_can_use_are_not_copied() -> None:
    plain = "import tensorflow as tf\n\n\ndef double(x):\n    return tf.add(x, x)\n"
    files = {
        "plain.py": plain,
        "moves.py": program("import plain", "tf.layers.dense"),
        "stays.py": program("import plain", "tf.layers.dense", STAY),
    }
    assert set(moved(files)) - set(files) == {"tf2_training.py"} and said(run(files)) == []


@pytest.mark.parametrize(
    ("imports", "tower", "more"),
    [
        ("import network", "network.tower", {"network_tf2.py": "x = 1\n"}),
        ("import importlib\nnetwork = importlib.import_module('network')", "network.tower", {}),
        ("from nets import tower", "tower", {"nets/__init__.py": "from network import tower\n"}),
    ],
)
def test_all_stays_where_what_is_shared_cannot_be_copied(imports: str, tower: str, more: dict[str, str]) -> None:
    stays = program(imports if more else "import network", tower if more else "network.tower", STAY)
    files = {"network.py": NETWORK, "moves.py": program(imports, tower), "stays.py": stays, **more}
    outcomes = run(files, style="auto")
    assert set(texts(outcomes)) == set(files) and set(tiers(outcomes).values()) == {"manual"}
    assert said(outcomes) == ["moves.py: stays like stays.py: what both import cannot be copied under a name with _tf2"]


def test_programs_that_all_stay_are_as_before() -> None:
    files = {"network.py": NETWORK, "one.py": program(end=STAY), "two.py": program(end=STAY)}
    outcomes = run(files)
    assert set(texts(outcomes)) == set(files) and said(outcomes) == []
    assert {path: text for path, text in texts(outcomes).items() if path != "network.py"} == {
        path: text for path, text in files.items() if path != "network.py"
    }


PARTS = """import tensorflow.compat.v1 as tf


def table(rows):
    parts = tf.fixed_size_partitioner(2)
    return tf.get_variable("table", [rows, 4], initializer=tf.keras.initializers.Zeros(), partitioner=parts)
"""


def test_what_runs_on_tensorflow_2_alone_is_not_written_where_all_stay() -> None:
    contrib = "import tensorflow as tf\n\n\ndef start(): return tf.contrib.layers.xavier_initializer()\n"
    files = {"parts.py": PARTS, "contrib.py": contrib, "one.py": program("import parts, contrib", "parts.table", STAY)}
    assert texts(run(files)) == files
    alone = {"parts.py": PARTS.replace("compat.v1", "compat.v2"), "contrib.py": contrib, "one.py": program(end=STAY)}
    assert "GlorotUniform" in texts(run(alone))["contrib.py"]  # which no program imports


def test_a_program_that_one_that_stays_imports_moves_as_a_copy() -> None:
    run_alone = f"if __name__ == '__main__':\n    {TRAIN}"
    files = {
        "network.py": NETWORK,
        "moves.py": program(end=run_alone),
        "stays.py": "import moves\n" + program(end=STAY),
    }
    outcomes = run(files)
    after = texts(outcomes)
    assert {path: after[path] for path in files} == files
    assert "import network_tf2 as network\n" in after["moves_tf2.py"] and "network.Tower(1)" in after["moves_tf2.py"]
    assert tiers(outcomes) == {"moves.py": "manual", "moves_tf2.py": "native", "stays.py": "manual"}
    assert said(outcomes) == ["stays.py: stays with what it imports, so that it runs as before: moves.py, network.py"]
    assert texts(run(after)) == after


def test_a_file_that_is_no_program_by_itself_stays_with_the_one_that_imports_it() -> None:
    files = {"network.py": NETWORK, "moves.py": program(), "stays.py": "import moves\n" + program(end=STAY)}
    outcomes = run(files)
    assert set(texts(outcomes)) == set(files) and set(tiers(outcomes).values()) == {"manual"}
