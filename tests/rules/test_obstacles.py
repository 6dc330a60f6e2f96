"""All that stands in the way of a program is told at once, and nothing that only follows from something else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.engine import runner
from migrator.report import assessment, closing
from migrator.vocabulary.diagnostics import ProgramUnit
from migrator.vocabulary.settings import Settings

HEAD = """\
import tensorflow as tf

def model_fn(features, labels, mode):
    x = features["x"]
    logits = tf.layers.dense(x, 2)
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

estimator = tf.estimator.Estimator(model_fn, "model")
"""


def look(folder: Path, text: str) -> tuple[list[ProgramUnit], list[str]]:
    """The programs of a file, and what is left to its owner."""
    (folder / "task.py").write_text(text)
    outcomes = runner.run([str(folder / "task.py")], Settings())
    assert outcomes[0].status == "unchanged"
    units = [unit for outcome in outcomes for unit in outcome.units]
    said = [item.message for outcome in outcomes for item in outcome.remaining if item.code == "EST100"]
    return units, [text.replace("this Estimator program is left as it is: ", "") for text in said]


def test_what_stands_around_the_model_fn_is_gathered(tmp_path: Path) -> None:
    (unit,), said = look(
        tmp_path,
        HEAD
        + """\
estimator.train(lambda: None, saving_listeners=[listener])
make = tf.estimator.RunConfig
with tf.Session() as session:
    session.run(estimator.experimental_export_all_saved_models("out"))
""",
    )
    wanted = {
        "a listener of a CheckpointSaverHook is not seen": 11,
        "tf.estimator.RunConfig is not migrated yet": 12,
        "tf.Session works on the graph by itself": 13,
        "`.experimental_export_all_saved_models` of an Estimator is not migrated yet": 14,
    }
    assert {text.split(";")[0] for text in said} == set(wanted) and len(said) == 4
    assert unit.tier == "manual"
    assert {reason.rsplit("/", 1)[1] for reason in unit.reasons} == {f"task.py:{n})" for n in wanted.values()}


def test_what_stands_in_the_model_fn_is_gathered(tmp_path: Path) -> None:
    text = HEAD.replace("    loss =", "    tf.contrib.layers.maxout(x, 2)\n    feed(feed_dict={x: 1})\n    loss =")
    (unit,), said = look(tmp_path, text)
    assert [reason.split(" (")[0] for reason in unit.reasons] == [
        "a feed_dict has tensors as keys, which TensorFlow 2 does not take",
        "tf.contrib.layers.maxout is not migrated yet",
    ]
    assert len(said) == 2 and "Keras layers cannot hold it" in said[0] + said[1]


def test_a_program_in_the_bridge_says_all_that_keeps_it_there(tmp_path: Path) -> None:
    text = HEAD.replace(
        "train_op=train_op)",
        "train_op=train_op, scaffold=tf.train.Scaffold(init_fn=print), training_hooks=[tf.train.NanTensorHook(2 * loss)])",
    ).replace("x, 2)", "(lambda y: tf.layers.dense(y, 2))(x), 2)")
    (tmp_path / "task.py").write_text(text)
    outcomes = runner.run([str(tmp_path / "task.py")], Settings())
    (unit,) = outcomes[0].units
    assert unit.tier == "bridge" and [reason.split(" (")[0] for reason in unit.reasons] == [
        "`init_fn` of a Scaffold works on the graph",
        "a hook of an EstimatorSpec checks a tensor that is not the loss",
        "layers made in a lambda or a nested function are not migrated yet",
    ]
    assert unit.reasons[1].endswith("task.py:8)") and unit.reasons[2].endswith("task.py:5)")
    (short,), (long,) = (list(closing.units(outcomes, verbosity)) for verbosity in (0, 1))
    helpers = "; keeps helpers: nothing uses its Estimator"
    assert short.text.endswith(f"a Scaffold works on the graph (line 8); and 2 more reasons, with -v{helpers}")
    assert long.text.endswith(f"nested function are not migrated yet (line 5){helpers}")
    rows = assessment.assess(outcomes)["bridged"]
    assert [(row["programs"], row["alone"]) for row in rows] == [(1, 0)] * 3
    assert any("; never the only reason" in line.text for line in assessment.lines(outcomes))


@pytest.mark.parametrize(
    "line",
    [
        "wide = tf.estimator.LinearClassifier(columns, loss_reduction=REDUCTION)\n"
        "deep = tf.estimator.DNNClassifier([2], columns, optimizer=tf.train.AdagradOptimizer(1.0))",
        "settings = tf.estimator.WarmStartSettings(\n    'old',\n    vocabularies={'x': info})",
        "tf.contrib.layers.maxout(\n    tf.contrib.layers.maxout(x, 2), 2)",
    ],
)
def test_consequences_are_no_obstacles(tmp_path: Path, line: str) -> None:
    graph = HEAD.replace("train_op=train_op)", "train_op=train_op, scaffold=tf.train.Scaffold())")
    (unit, *_), said = look(tmp_path, graph + "columns = []\n" + line + "\n")
    assert unit.tier == "manual" and len(said) == 1 and unit.others == ()


MANY = """\
def model_fn(features, labels, mode):
    x = tf.layers.dense(features["x"], 4)
    y = tf.contrib.foo.bar(x)
    for units in (2, 3):
        y = tf.contrib.foo.baz(tf.layers.dense(y, units))
    logits = tf.layers.dense(y, 2)
    tf.contrib.quantize.create_training_graph()
    loss = tf.contrib.losses.absent(labels, logits)
    metrics = {"a": mean_of(labels)}
    train_op = tf.contrib.opt.ShampooOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
"""


def native(folder: Path, text: str) -> list[str]:
    """What keeps a program from Keras layers: each reason with its line."""
    (folder / "task.py").write_text(text)
    (outcome,) = runner.run([str(folder / "task.py")], Settings(style="native"))
    (unit,) = outcome.units
    assert unit.tier == "manual"
    return [re.sub(r" \(.*task\.py:(\d+)\)", r" \1", reason) for reason in unit.reasons]


def test_what_stands_in_each_method_is_gathered(tmp_path: Path) -> None:
    assert sorted(native(tmp_path, "import tensorflow as tf\n" + MANY + HEAD.split("\n\n")[-1])) == [
        "a statement that only has an effect is not migrated yet 8",
        "tf.contrib.foo.bar is not migrated yet 4",
        "tf.contrib.foo.baz is not migrated yet 6",
        "tf.contrib.losses.absent is not migrated yet 9",
        "tf.contrib.opt.ShampooOptimizer is not migrated yet 11",
        "the metric `a` is none that is known 10",
    ]


@pytest.mark.parametrize("number", [4, 6, 8, 9, 10, 11])
def test_one_obstacle_in_a_method_has_no_consequences(tmp_path: Path, number: int) -> None:
    plain = {
        4: "    y = x",
        6: "        y = tf.layers.dense(y, units)",
        8: "",
        9: "    loss = tf.losses.mean_squared_error(labels, logits)",
        10: "    metrics = {}",
        11: "    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())",
    }
    lines = ("import tensorflow as tf\n" + MANY + HEAD.split("\n\n")[-1]).split("\n")
    for line, text in plain.items():
        lines[line - 1] = lines[line - 1] if line == number else text
    assert [reason.rsplit(" ", 1)[1] for reason in native(tmp_path, "\n".join(lines))] == [str(number)]


def test_helpers_have_obstacles_too(tmp_path: Path) -> None:
    helper = "def part(x):\n    x = tf.contrib.foo.bar(x)\n    x = tf.layers.dense(x, 2)\n    return tf.contrib.foo.baz(x)\n\n"
    text = HEAD.replace("def model_fn", helper + "def model_fn").replace(
        "tf.layers.dense(x, 2)\n    loss", "part(x)\n    loss"
    )
    text = text.replace("labels, logits)", "labels, tf.contrib.foo.far(logits))")
    assert sorted(native(tmp_path, text)) == [
        "tf.contrib.foo.bar is not migrated yet 4",
        "tf.contrib.foo.baz is not migrated yet 6",
        "tf.contrib.foo.far is not migrated yet 11",
    ]


def test_what_many_model_fns_call_is_told_once(tmp_path: Path) -> None:
    spec = "    tf.contrib.quantize.create_eval_graph()\n    return tf.estimator.EstimatorSpec(mode, loss=loss)\n"
    shared = "import tensorflow as tf\n\ndef finish(loss, mode):\n" + spec
    loss = "    y = tf.layers.dense(features, 1)\n    loss = tf.losses.mean_squared_error(labels, y)\n"
    one, two = (
        f"def {name}(features, labels, mode):\n{loss}    return finish(loss, mode)\n" for name in ("one", "two")
    )
    made = "tf.estimator.Estimator(one).train(None)\ntf.estimator.Estimator(two).train(None)\n"
    found = native_of_many(tmp_path, shared + one + two + made)
    assert found == [["a statement that only has an effect is not migrated yet 4"]] * 2


def native_of_many(folder: Path, text: str) -> list[list[str]]:
    """What keeps each of several programs of a file from Keras layers."""
    (folder / "task.py").write_text(text)
    (outcome,) = runner.run([str(folder / "task.py")], Settings(style="native"))
    return [[re.sub(r" \(.*:(\d+)\)", r" \1", reason) for reason in unit.reasons] for unit in outcome.units]


def test_obstacles_are_gathered() -> None:
    obstacles = Obstacles()
    obstacles.refuse()
    with obstacles:
        raise Unsupported("one")
    with obstacles:
        raise Unsupported("two")
    with pytest.raises(Unsupported, match="one") as caught:
        obstacles.refuse()
    assert [other.reason for other in caught.value.others] == ["two"]


@pytest.mark.parametrize("before", [False, True])
def test_any_other_error_is_a_bug(before: bool) -> None:
    obstacles = Obstacles()
    with obstacles:
        if before:
            raise Unsupported("one")
    with pytest.raises(KeyError), obstacles:
        raise KeyError("a bug")


def test_a_kind_that_is_not_migrated_is_placed_where_it_is_made(tmp_path: Path) -> None:
    trees = 'trees = tf.estimator.BoostedTreesClassifier([], 1)\nother = tf.contrib.learn.DNNClassifier([], [1], "m")\n'
    (own, *units), said = look(tmp_path, HEAD + trees)
    assert own.tier == "manual" and [text.rsplit("/", 1)[1] for text in own.reasons] == ["task.py:11)", "task.py:12)"]
    assert [len(unit.reasons) for unit in units] == [1, 1] and len(said) == 3
    assert sum(text.endswith("task.py:11)") for text in said) == 1
