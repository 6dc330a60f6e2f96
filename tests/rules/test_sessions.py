"""Sessions beside an Estimator: those on a graph of their own stay, others stop the migration."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import model_fn, run, units
from test_bridge import PROGRAM, migrated


def program(helper: str) -> str:
    return PROGRAM.replace("def input_fn", helper + "\n\ndef input_fn")


INFO = """\
def info(path):
    with tf.Graph().as_default():
        size = tf.get_variable("size", initializer=3)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return sess.run(size)
"""
SPLIT = """\
def info(path):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32)
    with tf.Session(graph=graph, config=tf.ConfigProto()) as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(x, {x: 1.0})
"""


@pytest.mark.parametrize("helper", [INFO, SPLIT])
def test_sessions_on_a_graph_of_their_own_stay(helper: str) -> None:
    after, said, units = migrated(program(helper))
    assert units == ["bridge: --style bridge"], said
    function = after[after.index("def info") : after.index("def input_fn")]
    assert "tf.compat.v1.Session(" in function
    assert "tf.compat.v1.global_variables_initializer()" in function  # no model starts these variables
    assert not any("checkpoints" in text for text in said), said


def test_one_statement_may_open_both() -> None:
    one = "def info():\n    with tf.Graph().as_default(), tf.Session() as sess:\n        return sess.run(tf.constant(1))\n"
    after, _, units = migrated(program(one))
    assert units == ["bridge: --style bridge"]
    assert "with tf.Graph().as_default(), tf.compat.v1.Session() as sess:" in after


def test_a_saver_reads_what_tensorflow_1_wrote() -> None:
    helper = INFO.replace("            return", "            tf.train.Saver().restore(sess, path)\n            return")
    after, said, _ = migrated(program(helper))
    assert "tf.compat.v1.train.Saver().restore(sess, path)" in after
    assert any("reads checkpoints as TensorFlow 1 writes them" in text for text in said)


@pytest.mark.parametrize(
    ("helper", "reason"),
    [
        (INFO.replace("tf.Graph().as_default()", "tf.device('/cpu:0')"), "tf.Session works on the graph by itself"),
        (INFO.replace("tf.Graph()", "graphs[path]"), "tf.Session works on the graph by itself"),
        (SPLIT.replace("graph=graph", "graph=None"), "tf.Session works on the graph by itself"),
        (
            SPLIT.replace("graph = tf.Graph()", "graph = tf.get_default_graph()"),
            "tf.Session works on the graph by itself",
        ),
        ("with tf.Graph().as_default():\n    def f():\n        return tf.Session()\n", "tf.Session works on the graph"),
        ("with tf.Session() as session, tf.Graph().as_default():\n    pass\n", "tf.Session works on the graph"),
        ("def f():\n    return tf.train.MonitoredTrainingSession()\n", "tf.train.MonitoredTrainingSession works on"),
        (
            "import tensorflow_hub as hub\ndef net(x):\n    return hub.Module('m')(x)\n",
            "hub.KerasLayer is its successor",
        ),
    ],
)
def test_sessions_on_the_graph_of_nobody_are_refused(helper: str, reason: str) -> None:
    names = "".join(f"\nprint({name})\n" for name in re.findall(r"^def (\w+)", helper, re.MULTILINE))
    after, said, units = migrated(program(helper + names))
    assert units[0].startswith("manual: ") and any(reason in text for text in (*said, *units)), (said, units)
    assert "tf.estimator.Estimator(" in after


@pytest.mark.parametrize(
    ("helper", "kept"),
    [
        (
            "def f():\n    return tf.Session()\n",
            "`f` opens a session, and needs tf.compat.v1.disable_eager_execution()",
        ),
        (
            "import tensorflow_hub as hub\n\ndef net(x):\n    return hub.Module('m')(x)\n",
            "`net` keeps tensorflow_hub.Module",
        ),
    ],
)
def test_sessions_that_nothing_opens_stay(helper: str, kept: str) -> None:
    after, said, units = migrated(program(helper))
    assert units == ["bridge: --style bridge"]
    assert any(text.startswith(kept) for text in said), said
    assert helper[helper.index("def ") :].replace("tf.S", "tf.compat.v1.S") in after


def test_a_hub_module_on_a_graph_of_its_own_stays() -> None:
    helper = INFO.replace('tf.get_variable("size", initializer=3)', "hub.Module(path)(signature='info')")
    _, said, units = migrated("import tensorflow_hub as hub\n" + program(helper))
    assert units == ["bridge: --style bridge"], said


@pytest.mark.parametrize("style", ["native", "bridge", "auto"])
def test_a_hub_module_in_a_helper_of_another_file_is_refused(style: str) -> None:
    helper = "import tensorflow as tf\nimport tensorflow_hub as hub\n\n\ndef embed(x):\n    return hub.Module('m')(x)\n"
    plain = model_fn("predictions = tf.layers.dense(features['x'], 1)")
    files = {
        "program.py": "from text import embed\n" + plain.replace("dense(features['x']", "dense(embed(features['x'])"),
        "plain.py": plain,
        "text.py": helper,
    }
    outcomes = run(files, style=style)
    assert {unit.location.path: unit.tier for unit in units(outcomes)} == {
        "program.py": "manual",
        "plain.py": "bridge" if style == "bridge" else "native",
    }
    assert outcomes["text.py"].after.decode() == helper


LAYERS = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]])).repeat()


def show():
    with tf.Session() as sess:
        print(sess.run(tf.constant(1) + 2))


{call}tf.estimator.Estimator(model_fn).train(input_fn, steps=2)
"""


@pytest.mark.parametrize("call", ["show()\n", ""])
def test_a_session_that_makes_all_that_it_runs_gets_a_graph(call: str) -> None:
    outcome = run(LAYERS.replace("{call}", call))["program.py"]
    after = outcome.after.decode()
    assert ".fit(" in after and "    with tf.compat.v1.Session(graph=tf.Graph()) as sess:\n" in after


def test_a_session_that_runs_what_others_made_keeps_a_program_from_layers_too() -> None:
    text = LAYERS.replace("{call}", "show()\n").replace("tf.constant(1) + 2", "made_elsewhere")
    outcome = run(text)["program.py"]
    assert outcome.after.decode() == text
    assert any("tf.Session works on the graph by itself" in d.message for d in outcome.remaining)


def test_one_that_nothing_opens_does_not() -> None:
    outcome = run(LAYERS.replace("{call}", "").replace("tf.constant(1) + 2", "made_elsewhere"))["program.py"]
    assert ".fit(" in outcome.after.decode()
    assert any("opens a session" in d.message for d in outcome.remaining)
