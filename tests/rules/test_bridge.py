"""Programs whose model_fn stays as it is: what changes in them, and what is refused."""

from __future__ import annotations

import textwrap

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf

def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [1.0]))

def model_fn(features, labels, mode):
    w = tf.Variable(2.0)
    prediction = tf.square(w * features["x"][:, 0])
    loss = tf.losses.mean_squared_error(labels, prediction)
    train_op = tf.train.FtrlOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, prediction, loss, train_op)

estimator = tf.estimator.Estimator(model_fn, "/tmp/model", params=None)
estimator.train(input_fn, steps=3)
"""


def migrated(text: str, style: str = "bridge", **others: str) -> tuple[str, list[str], list[str]]:
    """The program after the run, what was said about it, and the tier of each unit with its reason."""
    files = {"program.py": text, **{f"{name}.py": other for name, other in others.items()}}
    sources = [decode(path, textwrap.dedent(content).encode()) for path, content in files.items()]
    outcomes = {outcome.path: outcome for outcome in migrate_component(sources, Settings(style=style))}
    outcome = outcomes["program.py"]
    units = [f"{unit.tier}: {unit.reason}" for unit in outcome.units]
    said = [diagnostic.message for diagnostic in outcome.remaining]
    return "\n".join(outcomes[path].after.decode() for path in files), said, units


def test_only_names_change_in_a_model_fn() -> None:
    text, _, units = migrated(PROGRAM)
    body = text[text.index("def model_fn") : text.index("model =")]
    assert body.splitlines()[1:] == [
        "    w = tf.compat.v1.Variable(2.0)",
        '    prediction = tf.square(w * features["x"][:, 0])',
        "    loss = tf.compat.v1.losses.mean_squared_error(labels, prediction)",
        "    train_op = tf.compat.v1.train.FtrlOptimizer(0.1).minimize(loss, tf.compat.v1.train.get_global_step())",
        "    return EstimatorSpec(mode, prediction, loss, train_op)",
        "",
    ]
    assert "model = GraphModel(model_fn)" in text
    assert "model.fit(input_fn().take(3), " in text
    assert units == ["bridge: --style bridge"]


def test_tables_that_the_program_fills_are_refused() -> None:
    table = "table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, '', '$')"
    text, said, units = migrated(PROGRAM.replace("w = tf", f"{table}; w = tf"))
    assert "tf.lookup.experimental.DenseHashTable keeps its entries in checkpoints" in units[0]
    assert "tf.estimator.Estimator" in text


def test_one_helper_file_for_a_script_and_a_package_beside_it() -> None:
    head, tail = PROGRAM.split("def model_fn")
    body, use = tail.split("estimator = ")
    model = "def make():\n    def model_fn" + body.strip().replace("\n", "\n    ") + "\n    return model_fn\n"
    use = "from cnn import model\n\nestimator = " + use.replace("(model_fn,", "(model.make(),")
    files = {
        "p/main.py": head + use,
        "p/cnn/__init__.py": "",
        "p/cnn/model.py": "import tensorflow as tf\n\n\n" + model,
    }
    sources = [decode(path, text.encode()) for path, text in files.items()]
    outcomes = {outcome.path: outcome for outcome in migrate_component(sources, Settings(style="bridge"))}
    assert sorted(set(outcomes) - set(files)) == ["p/tf2_training.py"]
    assert "\nfrom tf2_training import EstimatorSpec\n" in outcomes["p/cnn/model.py"].after.decode()


def test_the_report_says_why_it_is_not_native() -> None:
    text = PROGRAM.replace("w = tf.Variable(2.0)", "w = tf.get_default_graph().unique_name('w')")
    _, _, units = migrated(text, "auto")
    assert len(units) == 1 and units[0].startswith("bridge: ") and "program.py:7" in units[0]


def test_native_goes_before_and_can_be_asked_for() -> None:
    simple = PROGRAM.replace("w = tf.Variable(2.0)", "w = tf.get_variable('w', [])")
    assert migrated(simple, "auto")[2] == ["native: "]
    text, _, units = migrated(PROGRAM.replace("tf.Variable(2.0)", "tf.Variable(2)"), "native")
    assert units[0].startswith("manual: ") and "tf.estimator.Estimator" in text


def test_switches_to_graph_mode_go() -> None:
    text, _, _ = migrated(PROGRAM.replace("def input_fn", "tf.disable_v2_behavior()\n\ndef input_fn", 1))
    assert "disable_v2_behavior" not in text


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ("PredictOutput(prediction)", "prediction"),
        ('PredictOutput(outputs={"p": prediction})', '{"p": prediction}'),
        ("PredictOutput(prediction\n        + 1)", "(prediction\n        + 1)"),
        ("ClassificationOutput(classes=prediction)", "ClassificationOutput(classes=prediction)"),
        ("RegressionOutput(prediction)", "RegressionOutput(prediction)"),
    ],
)
def test_what_is_exported(given: str, becomes: str) -> None:
    exports = f"    exports = tf.estimator.export.{given}\n    return"
    spec = 'train_op, export_outputs={"p": exports})'
    text, _, _ = migrated(PROGRAM.replace("    return tf.e", f"{exports} tf.e").replace("train_op)", spec))
    assert f"    exports = {becomes}\n" in text
    assert 'train_op, export_outputs={"p": exports})' in text


@pytest.mark.parametrize("given", ["PredictOutput", "PredictOutput()", "PredictOutput(**values)"])
def test_what_is_exported_and_not_seen_is_left(given: str) -> None:
    text = PROGRAM.replace("    return tf.e", f"    make = tf.estimator.export.{given}\n    return tf.e")
    assert migrated(text)[0] == text


def test_an_import_of_version_1_stays() -> None:
    old = PROGRAM.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    text, _, _ = migrated(old)
    assert "import tensorflow.compat.v1 as tf" in text and "tf.losses.mean_squared_error(labels" in text
    assert "tf.compat.v1.losses" not in text and "GraphModel(model_fn" in text


def test_placeholders_of_a_receiver_keep_their_name_of_version_1() -> None:
    receiver = (
        "\n\ndef receiver():\n    x = tf.placeholder(tf.float32, [None, 2])\n"
        "    return tf.estimator.export.ServingInputReceiver({'x': x}, {'x': x})\n\n\n"
        "estimator.export_saved_model('folder', receiver)\n"
    )
    old = PROGRAM + receiver
    assert "    x = tf.compat.v1.placeholder(tf.float32, [None, 2])\n" in migrated(old)[0]
    text, _, _ = migrated(old.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"))
    assert "    x = tf.placeholder(tf.float32, [None, 2])\n" in text and "compat.v2.compat" not in text


def test_helpers_in_other_files_follow() -> None:
    text, _, units = migrated(
        PROGRAM.replace("tf.square(w *", "helpers.net(w *").replace(
            "import tensorflow", "import helpers\nimport tensorflow"
        ),
        helpers="import tensorflow as tf\n\ndef net(x):\n    return tf.layers.dense(x[:, None], 1)[:, 0]\n",
    )
    assert "return tf.compat.v1.layers.dense(x[:, None], 1)[:, 0]" in text and units[0].startswith("bridge")


def test_migrating_again_changes_nothing() -> None:
    text, _, _ = migrated(PROGRAM)
    (again, *_) = migrate_component([decode("program.py", text.encode())], Settings())
    assert again.status == "unchanged"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("tf.square(", "tf.contrib.layers.instance_norm(", "tf.contrib.layers.instance_norm"),
        ("    w =", "    tf.Session().run(features)\n    w =", "tf.Session"),
        ("(model_fn,", "(*arguments,", "arguments"),
    ],
)
def test_left_alone(old: str, new: str, reason: str) -> None:
    text = PROGRAM.replace(old, new)
    after, said, units = migrated(text)
    assert after == text and units[0].startswith("manual: ")
    assert any(reason in message for message in said), said


@pytest.mark.parametrize(
    ("hooks", "written"),
    [
        ("[tf.train.LoggingTensorHook(['loss'], 5)]", "[tf.compat.v1.train.LoggingTensorHook(['loss'], 5)]"),
        ("[tf.train.StopAtStepHook(9), Hook()]", "[StopAtStep(9), Hook()]"),
        ("make_hooks()", "make_hooks()"),
        ("HOOKS", "HOOKS"),
        ("[tf.train.NanTensorHook('x')] + more", "[tf.compat.v1.train.NanTensorHook('x')] + more"),
    ],
)
def test_hooks_of_the_training_loop_reach_the_graph(hooks: str, written: str) -> None:
    for old, new in [
        ("estimator.train(input_fn, hooks={})", "train(estimator, input_fn, callbacks={})"),
        ("estimator.train(input_fn, {}, 7)", "train(estimator, input_fn, callbacks={}, steps=7)"),
        ("estimator.evaluate(input_fn, 3, {})", "evaluate(estimator, input_fn, 3, callbacks={})"),
        ("tf.estimator.EvalSpec(input_fn, hooks={})", "EvalSpec(input_fn, callbacks={})"),
        ("tf.estimator.TrainSpec(input_fn, 9, {})", "TrainSpec(input_fn, 9, callbacks={})"),
    ]:
        text, _, units = migrated(PROGRAM.replace("estimator.train(input_fn, steps=3)", old.format(hooks)))
        assert new.format(f"graph_hooks({written})") in text
        assert units == ["bridge: --style bridge"]


def test_hooks_see_the_global_step_that_they_saw() -> None:
    text = PROGRAM.replace("steps=3", "hooks=make()")
    behind = text.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    assert "callbacks=graph_hooks(make()))" in migrated(text)[0]
    assert "callbacks=graph_hooks(make(), steps_behind=1))" in migrated(behind)[0]
    switched = behind.replace("\n\ndef input_fn", "\ntf.disable_v2_behavior()\n\ndef input_fn")
    assert "callbacks=graph_hooks(make()))" in migrated(switched)[0]


@pytest.mark.parametrize("given", ["[loss], {x: 1}", "[loss], feed_dict={x: 1}", "options=tf.RunOptions(), fetches=1"])
def test_hooks_that_change_what_runs(given: str) -> None:
    text = PROGRAM.replace("steps=3", f"hooks=[make(tf.train.SessionRunArgs({given}))]")
    after, said, _ = migrated(text)
    assert after == text and any("a hook that gives" in message for message in said), said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("estimator.get_variable_names()", "get_variable_names(estimator)"),
        ("estimator.get_variable_value('w')", "get_variable_value(estimator, 'w')"),
        ("estimator.get_variable_value(name=n + ':0')", "get_variable_value(estimator, name=n + ':0')"),
    ],
)
def test_variables_by_their_old_names(old: str, new: str) -> None:
    assert f"v = {new}\n" in migrated(PROGRAM.replace("estimator.train(input_fn, steps=3)", f"v = {old}"))[0]


def test_variables_of_a_canned_estimator_have_other_names() -> None:
    canned = "e = tf.estimator.LinearRegressor([])\nprint(e.get_variable_names())\n"
    after, said, _ = migrated(PROGRAM + canned)
    assert after == PROGRAM + canned and any("`.get_variable_names` of an Est" in message for message in said)


SPEC = "train_op = tf.train"


def given_to_spec(line: str, given: str) -> str:
    """The program with what a line makes given to its spec."""
    return PROGRAM.replace(SPEC, f"{line}\n    {SPEC}").replace("loss, train_op)", f"loss, train_op, {given})")


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("hook = tf.train.NanTensorHook(loss)", "hook = tf.compat.v1.train.NanTensorHook(loss)"),
        ("hook = tf.estimator.NanTensorHook(loss)", "hook = tf.compat.v1.train.NanTensorHook(loss)"),
        ("hook = tf.train.StopAtStepHook(5)", "hook = tf.compat.v1.train.StopAtStepHook(5)"),
        ("hook = tf.train.StepCounterHook(5)", "hook = StepCounterHook(5)"),
        ("s = tf.train.Scaffold(init_fn=f)", "s = tf.compat.v1.train.Scaffold(init_fn=f)"),
        (
            "s = tf.train.Scaffold(local_init_op=tf.local_variables_initializer())",
            "s = tf.compat.v1.train.Scaffold(local_init_op=tf.no_op())",
        ),
        (
            "s = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2))",
            "s = tf.compat.v1.train.Scaffold(saver=tf.compat.v1.train.Saver(max_to_keep=2))",
        ),
    ],
)
def test_hooks_and_scaffold_of_a_spec_stay(line: str, written: str) -> None:
    given = "training_hooks=[hook]" if line.startswith("hook") else "scaffold=s"
    text, _, units = migrated(given_to_spec(line, given))
    assert f"    {written}\n" in text
    assert units == ["bridge: --style bridge"]


def test_a_hook_of_the_training_loop_becomes_a_callback() -> None:
    text, _, _ = migrated(PROGRAM.replace("steps=3", "hooks=[tf.train.StopAtStepHook(5)]"))
    assert "train(estimator, input_fn, callbacks=[StopAtStep(5)])" in text


def test_a_profiler_is_a_callback_where_it_is_seen_to_be_of_a_training() -> None:
    hook = "[tf.train.ProfilerHook(5), tf.train.StepCounterHook(5)]"
    text, said, _ = migrated(PROGRAM.replace("steps=3", f"hooks={hook}"))
    assert "callbacks=graph_hooks([StepProfiler(5), StepCounterHook(5)])" in text
    assert any("the profile is for TensorBoard now" in message for message in said)
    for before in (
        PROGRAM.replace("def input_fn", "def make_hook():\n    return tf.train.ProfilerHook(5)\n\ndef input_fn", 1),
        given_to_spec("hook = tf.train.ProfilerHook(5)", "training_hooks=[hook]"),
    ):
        after, said, _ = migrated(before)
        assert after == before
        assert any("a ProfilerHook that is not given to a training" in message for message in said)


def test_a_hook_class_of_the_program_stays() -> None:
    text, _, _ = migrated(
        PROGRAM.replace("def input_fn", "class Hook(tf.estimator.SessionRunHook):\n    pass\n\ndef input_fn")
    )
    assert "class Hook(tf.compat.v1.train.SessionRunHook):" in text


def test_a_hook_class_with_a_saver_is_refused() -> None:
    hook = (
        "class Hook(tf.train.SessionRunHook):\n    def begin(self):\n        self._saver = tf.train.Saver(AVERAGES)\n\n"
    )
    text = PROGRAM.replace("def input_fn", hook + "def input_fn")
    after, said, _ = migrated(text)
    assert after == text and any("a hook with a Saver of its own" in message for message in said)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("s = tf.train.Scaffold(saver=tf.train.Saver([w]))", "some variables only"),
        ("s = tf.train.Scaffold(saver=make_saver())", "the Saver of a Scaffold is not seen"),
        ("s = tf.train.Scaffold(ready_op=loss)", "`ready_op` of a Scaffold"),
        ("s = tf.train.Scaffold(init_fn=lambda s, session: session.run(w, feed_dict={w: 1}))", "a feed_dict"),
    ],
)
def test_scaffolds_that_are_refused(line: str, reason: str) -> None:
    text = PROGRAM.replace(SPEC, f"{line}\n    {SPEC}")
    after, said, _ = migrated(text)
    assert after == text
    assert any(reason in message for message in said), said


TPU = """\
import tensorflow as tf

def model_fn(features, labels, mode, params):
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))
    return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=labels, train_op=optimizer.minimize(labels))

config = tf.contrib.tpu.RunConfig(tf.contrib.tpu.TPUConfig(100), master="grpc://x", model_dir="m")
estimator = tf.contrib.tpu.TPUEstimator(model_fn, None, config, {"a": 1}, False, 8)
"""


def test_a_tpu_estimator_without_a_tpu() -> None:
    text, said, units = migrated(TPU, "auto")
    assert "    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)\n" in text
    assert "return tpu_spec(mode=mode, loss=labels" in text
    assert 'config = RunConfig(model_dir="m")' in text
    assert 'model_dir=None, config=config, params={"a": 1}, use_tpu=False, train_batch_size=8)' in text
    assert units[0].startswith("bridge") and any("it describes a TPU" in message for message in said)


@pytest.mark.parametrize(
    ("branch", "kept"),
    [
        ("if params['use_tpu']:\n        ", ""),
        ("if params.get('use_tpu'):\n        ", "    if params.get('use_tpu'):\n        pass\n"),
        ("if not params:\n        print()\n    elif params['a']:\n        ", "    elif params['a']:\n        pass\n"),
    ],
)
def test_a_branch_for_the_tpu_goes_with_its_only_statement(branch: str, kept: str) -> None:
    optimizer = "    optimizer = tf.train.AdamOptimizer(0.1)\n    "
    shard = "optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)\n"
    text = TPU.replace("    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))\n", "{}")
    text, _, _ = migrated(text.replace("{}", optimizer + branch + shard))
    body = text[text.index("    optimizer = ") : text.index("    return tpu_spec")]
    assert kept in body and body.endswith(kept or "AdamOptimizer(0.1)\n")


def test_dimensions_and_checkpoints_of_a_graph() -> None:
    old = PROGRAM.replace("w = tf.Variable(2.0)", "w = tf.Variable(2.0 * features['x'].shape[1].value)")
    text, _, _ = migrated(old.replace("    loss =", "    print(tf.train.list_variables('/tmp/old'))\n    loss ="))
    assert "w = tf.compat.v1.Variable(2.0 * features['x'].shape[1])" in text
    assert "print(list_variables('/tmp/old'))" in text


@pytest.mark.parametrize(
    ("old", "new"), [("False, 8", "True, 8"), (", False, 8", ""), ("AdamOptimizer(0.1)", "unknown.x")]
)
def test_a_program_for_a_tpu_is_left_alone(old: str, new: str) -> None:
    text = TPU.replace(old, new)
    if "unknown" in new:
        text = text.replace("tf.train.unknown.x", "tf.contrib.tpu.shard")
    after, _, units = migrated(text, "auto")
    assert after == text and units[0].startswith("manual")


def test_optimize_loss_of_contrib_is_vendored() -> None:
    new = 'tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.1, "Adam", clip_gradients=1.0)'
    text, _, units = migrated(
        PROGRAM.replace("tf.train.FtrlOptimizer(0.1).minimize(loss, tf.train.get_global_step())", new)
    )
    assert 'optimize_loss(loss, tf.compat.v1.train.get_global_step(), 0.1, "Adam", clip_gradients=1.0)' in text
    assert units[0].startswith("bridge: ")


@pytest.mark.parametrize(
    ("old", "new"),
    [("tf.contrib.training.", "create_train_op"), ("tf.contrib.slim.learning.", "slim_create_train_op")],
)
def test_create_train_op_is_vendored(old: str, new: str) -> None:
    made = "create_train_op(loss, tf.train.AdamOptimizer(0.1))"
    minimized = "tf.train.FtrlOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
    text, _, _ = migrated(PROGRAM.replace(minimized, old + made))
    assert f"{new}(loss, tf.compat.v1.train.AdamOptimizer(0.1))" in text


def test_a_mention_of_optimize_loss_is_of_the_vendored_one() -> None:
    text, _, _ = migrated(PROGRAM.replace("w = tf.V", "f = tf.contrib.layers.optimize_loss\n    w = tf.V"), "bridge")
    assert "    f = optimize_loss\n" in text


RUN_LOOP = """\
import tensorflow as tf

def run(model_function, input_fn):
    estimator = tf.estimator.Estimator(model_function)
    estimator.train(input_fn, steps=3)
"""
CALLER = """\
import tensorflow as tf
import {loop}
import network

def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, network.net(features["x"])[:, 0])
    train_op = tf.train.FtrlOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, None, loss, train_op)

{loop}.run(model_fn, None)
"""
NETWORK = "import tensorflow as tf\n\ndef net(x):\n    return tf.layers.dense(x, 1)\n"


def test_a_model_fn_that_is_handed_to_a_training_loop_is_migrated_with_what_it_imports() -> None:
    text, _, units = migrated(RUN_LOOP, "auto", main=CALLER.format(loop="program"), network=NETWORK)
    assert units[0].startswith("bridge: ")
    assert "graph_model(model_function)" in text and "tf.compat.v1.losses.mean_squared_error" in text
    assert "return EstimatorSpec(mode, None, loss, train_op)" in text and "tf.compat.v1.layers.dense(x, 1)" in text


def test_callers_of_a_program_with_a_model_fn_of_its_own_are_left_alone() -> None:
    other = "import program\nimport tensorflow as tf\n\ndef old(x):\n    return tf.layers.dense(x, 1)\n"
    text, _, units = migrated(PROGRAM, "bridge", other=other)
    assert units[0].startswith("bridge: ") and "return tf.layers.dense(x, 1)" in text


KERAS = PROGRAM.replace("    w = tf.Variable(2.0)\n", "    w = network(features)\n")


@pytest.mark.parametrize(
    "body",
    [
        "net = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])",
        "net = tf.keras.Sequential()\n    net.add(tf.keras.layers.Dense(1, input_dim=1))",
        "i = tf.keras.Input((1,))\n    net = tf.keras.Model(i, i)",
        "net = tf.keras.applications.ResNet50()",
    ],
)
def test_a_keras_model_with_an_input_does_not_go_into_a_graph(body: str) -> None:
    text = KERAS.replace(
        "def model_fn", f"def network(features):\n    {body}\n    return net(features)\n\ndef model_fn"
    )
    after, said, units = migrated(text)
    assert after == textwrap.dedent(text)
    assert any("a Keras model with an input of its own does not go into a graph" in message for message in said)


@pytest.mark.parametrize(
    "body",
    [
        "net = tf.keras.Sequential([tf.keras.layers.Dense(1)])",
        "net = tf.keras.layers.Dense(1, input_shape=(1,))",
    ],
)
def test_other_keras_layers_go_into_a_graph(body: str) -> None:
    text = KERAS.replace(
        "def model_fn", f"def network(features):\n    {body}\n    return net(features)\n\ndef model_fn"
    )
    assert migrated(text)[2][0].startswith("bridge")


def test_keras_models_beside_the_graph_have_inputs() -> None:
    text = f"{PROGRAM}\ndef other():\n    return tf.keras.Model(tf.keras.Input((1,)), None)\n"
    assert migrated(text)[2][0].startswith("bridge")


def test_one_helper_file_for_the_folders_of_a_package() -> None:
    head, tail = PROGRAM.split("def model_fn")
    body, use = tail.split("estimator = ")
    files = {
        "p/__init__.py": "",
        "p/train.py": head + "from .models import model_fn\n\nestimator = " + use,
        "p/models/__init__.py": "from .towers import model_fn\n",  # does not mention TensorFlow
        "p/models/towers.py": "import tensorflow as tf\nfrom ..settings import RATE\n\n\ndef model_fn" + body,
        "p/settings.py": "RATE = 0.1\n",
    }
    sources = [decode(path, text.encode()) for path, text in files.items()]
    outcomes = {outcome.path: outcome for outcome in migrate_component(sources, Settings(style="bridge"))}
    assert {unit.tier for outcome in outcomes.values() for unit in outcome.units} == {"bridge"}
    assert sorted(set(outcomes) - set(files)) == ["p/tf2_training.py"]
    assert "from ..tf2_training import" in outcomes["p/models/towers.py"].after.decode()
    assert "from .tf2_training import" in outcomes["p/train.py"].after.decode()


def test_a_folder_beside_that_no_relative_import_leads_out_of_has_its_own_helpers() -> None:
    head, tail = PROGRAM.split("def model_fn")
    body, use = tail.split("estimator = ")
    files = {
        "p/train.py": head + "from .models.towers import model_fn\n\nestimator = " + use,
        "q/train.py": head + "from models import towers\n\nestimator = " + use.replace("(model_fn", "(towers.model_fn"),
        "p/models/towers.py": "import tensorflow as tf\n\n\ndef model_fn" + body,
        "q/models/towers.py": "import tensorflow as tf\n\n\ndef model_fn" + body,
    }
    ours = {path: text for path, text in files.items() if path.startswith("p/")}
    outcomes = {
        outcome.path: outcome
        for outcome in migrate_component([decode(p, t.encode()) for p, t in ours.items()], Settings(style="bridge"))
    }
    assert sorted(set(outcomes) - set(ours)) == ["p/tf2_training.py"]  # the import from above shows the package
    others = {path: text for path, text in files.items() if path.startswith("q/")}
    sources = [decode(path, text.encode()) for path, text in others.items()]
    outcomes = {outcome.path: outcome for outcome in migrate_component(sources, Settings(style="bridge"))}
    assert "from ..tf2_training" not in outcomes["q/models/towers.py"].after.decode()
