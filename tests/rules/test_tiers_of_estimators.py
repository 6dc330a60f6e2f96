"""Programs of several Estimators: one whose model_fn layers cannot hold does not keep the others from becoming layers."""

from __future__ import annotations

import ast

import pytest
from modelfn.programs import LOSS, PATH, SPEC, TRAIN_OP, run, units

HEAD = "import tensorflow as tf\n\n\n"
DENSE = "predictions = tf.layers.dense(features['x'], 1)"
AVERAGE = "train_op = tf.group(train_op, tf.train.ExponentialMovingAverage(0.9).apply([tf.trainable_variables()[0]]))"
REASON = "averages of something else"


def function(name: str, *statements: str, body: str = DENSE) -> str:
    lines = [body, LOSS, TRAIN_OP, *statements, SPEC]
    return f"def {name}(features, labels, mode):\n" + "".join(f"    {line}\n" for line in lines) + "\n\n"


PLAIN = function("plain_fn")
KEPT = function("kept_fn", AVERAGE)
MADE = "a = tf.estimator.Estimator(plain_fn)\nb = tf.estimator.Estimator(kept_fn)\n"


def tiers(files: str | dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Tier of each model_fn, and the files afterwards, which a second run leaves as they are."""
    outcomes = run(files, "auto")
    assert not [d for o in outcomes.values() for d in o.remaining if d.code.startswith("E0") or "bug" in d.message]
    after = {path: outcome.after.decode() for path, outcome in outcomes.items()}
    for text in after.values():
        ast.parse(text)
    assert {path: outcome.after.decode() for path, outcome in run(after, "auto").items()} == after
    return {unit.name: unit.tier for unit in units(outcomes)}, after


def both(source: str) -> dict[str, str]:
    return tiers(source)[0]


def test_each_model_fn_has_a_tier_of_its_own() -> None:
    found, files = tiers(HEAD + PLAIN + KEPT + MADE)
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    text = files[PATH]
    assert "class PlainModel(tf.keras.Model)" in text and "def plain_fn" not in text
    assert "def kept_fn(features, labels, mode):" in text and "tf.compat.v1.layers.dense" in text
    assert "a = create_plain_model()\nb = graph_model(kept_fn)\n" in text


def test_the_reason_stands_at_the_one_that_stays() -> None:
    found = {unit.name: unit for unit in units(run(HEAD + PLAIN + KEPT + MADE, "auto"))}
    assert REASON in found["kept_fn"].reason and not found["plain_fn"].reason
    assert found["plain_fn"].variables and not found["kept_fn"].variables


def test_version_1_is_imported_no_more() -> None:
    before = (HEAD + PLAIN + KEPT + MADE).replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    found, files = tiers(before)
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    assert "import tensorflow as tf\n" in files[PATH] and "import tensorflow.compat.v1" not in files[PATH]
    assert "tf.compat.v1.train.GradientDescentOptimizer" in files[PATH]
    assert "tf.compat.v1.trainable_variables()[0]" in files[PATH]


def test_a_loop_over_both_is_followed() -> None:
    loop = "for e in (a, b):\n    e.train(lambda: None, steps=1)\n    print(e.evaluate(lambda: None))\n"
    found, files = tiers(HEAD + PLAIN + KEPT + MADE + loop)
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    assert "train(e, lambda: None, steps=1)" in files[PATH] and "evaluate(e, lambda: None)" in files[PATH]


def test_a_helper_that_makes_specs_serves_both() -> None:
    spec = (
        "def spec(mode, predictions, labels):\n"
        f"    {LOSS}\n    {TRAIN_OP}\n    {SPEC}\n\n\n"
        f"def plain_fn(features, labels, mode):\n    {DENSE}\n    return spec(mode, predictions, labels)\n\n\n"
        f"def kept_fn(features, labels, mode):\n    {DENSE}\n"
        "    tf.get_variable_scope().set_initializer(None)\n    return spec(mode, predictions, labels)\n\n\n"
    )
    found, files = tiers(HEAD + spec + MADE)
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    assert "def spec(mode, predictions, labels):" in files[PATH] and "return spec(" in files[PATH]
    assert files[PATH].count("tf.compat.v1.train.GradientDescentOptimizer") == 1


def test_a_layer_of_both_keeps_both_as_graphs() -> None:
    tower = "def tower(x):\n    return tf.layers.dense(tf.layers.dense(x, 2), 1)\n\n\n"
    use = "predictions = tower(features['x'])"
    source = HEAD + tower + function("plain_fn", body=use) + function("kept_fn", AVERAGE, body=use) + MADE
    assert both(source) == {"plain_fn": "bridge", "kept_fn": "bridge"}


def test_an_obstacle_in_what_both_call_keeps_both() -> None:
    helper = f"def step(loss):\n    {TRAIN_OP}\n    {AVERAGE}\n    return train_op\n\n\n"
    source = HEAD + helper + (PLAIN + KEPT.replace(f"    {AVERAGE}\n", "")).replace(TRAIN_OP, "train_op = step(loss)")
    assert both(source + MADE) == {"plain_fn": "bridge", "kept_fn": "bridge"}


def test_a_plain_function_serves_both() -> None:
    helper = "def scaled(x):\n    return tf.log(x)\n\n\n"
    use = "predictions = tf.layers.dense(scaled(features['x']), 1)"
    found, files = tiers(HEAD + helper + function("plain_fn", body=use) + function("kept_fn", AVERAGE, body=use) + MADE)
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    assert "return tf.math.log(x)" in files[PATH]


def test_one_model_fn_of_two_estimators_has_one_tier() -> None:
    names = "c = tf.estimator.Estimator(plain_fn)\nprint(c.get_variable_names())\n"
    source = HEAD + PLAIN + "a = tf.estimator.Estimator(plain_fn)\n" + names
    assert {unit.tier for unit in units(run(source, "auto"))} == {"bridge"}


def test_names_of_variables_are_asked_of_the_one_that_stays() -> None:
    found, files = tiers(HEAD + PLAIN + KEPT + MADE + "print(b.get_variable_names())\n")
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    assert "print(get_variable_names(b))" in files[PATH]


def test_names_of_variables_of_either_keep_both() -> None:
    loop = "for e in (a, b):\n    print(e.get_variable_names())\n"
    assert both(HEAD + PLAIN + KEPT + MADE + loop) == {"plain_fn": "bridge", "kept_fn": "bridge"}


@pytest.mark.parametrize(
    "hooks",
    [
        "b.train(lambda: None, hooks=[tf.train.StopAtStepHook(2)])\n",
        "for e in (a, b):\n    e.train(lambda: None, hooks=[tf.train.StopAtStepHook(2)])\n",
        "tf.estimator.TrainSpec(lambda: None, hooks=[tf.train.StopAtStepHook(2)])\n",
    ],
)
def test_hooks_keep_both(hooks: str) -> None:
    assert both(HEAD + PLAIN + KEPT + MADE + hooks) == {"plain_fn": "bridge", "kept_fn": "bridge"}


def test_hooks_of_the_one_that_moves_are_callbacks() -> None:
    found, files = tiers(HEAD + PLAIN + KEPT + MADE + "a.train(lambda: None, hooks=[tf.train.StopAtStepHook(2)])\n")
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    assert "train(a, lambda: None, callbacks=[StopAtStep(2)])" in files[PATH]


def test_an_obstacle_outside_of_model_fns_keeps_both() -> None:
    source = HEAD + PLAIN + KEPT + MADE + "a.train(lambda: None, hooks=[make_hook()])\n"
    assert "native" not in both(source).values()


def test_methods_of_one_class_have_tiers_of_their_own() -> None:
    body = "\n\n".join(
        f"    def {name}(self, features, labels, mode):\n" + "".join(f"        {line}\n" for line in lines)
        for name, lines in (
            ("plain_fn", [DENSE, LOSS, TRAIN_OP, SPEC]),
            ("kept_fn", [DENSE, LOSS, TRAIN_OP, AVERAGE, SPEC]),
        )
    )
    made = (
        "\n\ntrainer = Trainer()\na = tf.estimator.Estimator(trainer.plain_fn)\n"
        "b = tf.estimator.Estimator(trainer.kept_fn)\n"
    )
    found, files = tiers(HEAD + "class Trainer:\n" + body + made)
    assert sorted(found.values()) == ["bridge", "native"]
    assert "graph_model(trainer.kept_fn)" in files[PATH] and "def plain_fn" not in files[PATH]


def test_files_of_their_own() -> None:
    main = f"import plain\nimport kept\n\n{HEAD}{MADE}".replace("plain_fn", "plain.plain_fn")
    main = main.replace("kept_fn", "kept.kept_fn")
    found, files = tiers({"main.py": main, "plain.py": HEAD + PLAIN, "kept.py": HEAD + KEPT})
    assert found == {"plain_fn": "native", "kept.kept_fn": "bridge"}
    assert "class PlainModel" in files["plain.py"] and "tf.compat.v1.layers.dense" in files["kept.py"]
    assert "a = plain.create_plain_model()\nb = graph_model(kept.kept_fn)\n" in files["main.py"]


def test_style_native_leaves_all_as_it_is() -> None:
    source = HEAD + PLAIN + KEPT + MADE
    assert {unit.tier for unit in units(run(source, "native"))} == {"manual"}


def test_style_bridge_keeps_both() -> None:
    assert {unit.tier for unit in units(run(HEAD + PLAIN + KEPT + MADE, "bridge"))} == {"bridge"}


def test_hooks_of_a_spec_stay_in_its_graph() -> None:
    hook = "hooks = [tf.train.LoggingTensorHook({'l': loss}, every_n_iter=1)]"
    kept = KEPT.replace("    return", f"    {hook}\n    return").replace(
        "train_op=train_op)", "train_op=train_op, training_hooks=hooks)"
    )
    found, files = tiers(HEAD + PLAIN + kept + MADE)
    assert found == {"plain_fn": "native", "kept_fn": "bridge"}
    assert "tf.compat.v1.train.LoggingTensorHook" in files[PATH]


def test_what_starts_from_a_checkpoint_finds_the_names_of_the_others_there() -> None:
    start = "tf.train.init_from_checkpoint('plain', {'dense/': 'dense/'})"
    starting = function("kept_fn", body=f"{DENSE}\n    {start}")
    found, files = tiers(HEAD + PLAIN + starting + MADE)
    assert found == {"plain_fn": "native", "kept_fn": "native"}
    assert files[PATH].count("tf1_names = {") == 2
    assert "    return keep_names(model)\n" in files[PATH]
    assert "    return begin_with(model, model.init_from_checkpoint)\n" in files[PATH]
    canned = "tf.estimator.LinearRegressor([tf.feature_column.numeric_column('x')])\n"  # of other names
    made = MADE.splitlines(keepends=True)[1] + canned
    assert both(HEAD + starting + made)["kept_fn"] == "bridge"


def test_without_a_reader_there_are_no_names() -> None:
    found, files = tiers(HEAD + PLAIN + MADE.splitlines(keepends=True)[0] + "print(tf.train.latest_checkpoint('x'))\n")
    assert found == {"plain_fn": "native"} and "tf1_names" not in files[PATH] and "keep_names" not in files[PATH]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("tf.train.list_variables(a.model_dir)", "list_variables(a.run_config.model_dir)"),
        ("tf.train.load_variable(a.model_dir, 'dense/bias')", "load_variable(a.run_config.model_dir, 'dense/bias')"),
        ("tf.train.load_checkpoint(a.latest_checkpoint()).has_tensor('x')", "load_checkpoint(tf.train.latest"),
        ("tf.train.NewCheckpointReader(path)", "load_checkpoint(path)"),
        ("tf.contrib.framework.list_variables(path)", "list_variables(path)"),
    ],
)
def test_code_that_reads_the_checkpoint_does_so_by_names(call: str, text: str) -> None:
    found, files = tiers(HEAD + PLAIN + "path = 'x'\n" + MADE.splitlines(keepends=True)[0] + call + "\n")
    assert found == {"plain_fn": "native"}
    assert (
        f"\n{text}" in files[PATH]
        and "tf1_names = {" in files[PATH]
        and "    return keep_names(model)\n" in files[PATH]
    )


def test_names_that_are_not_known_are_none_for_readers() -> None:
    body = "predictions = tf.keras.layers.Dense(1)(features['x'])"
    made = "a = tf.estimator.Estimator(plain_fn)\nprint(tf.train.list_variables(a.model_dir))\n"
    found, files = tiers(HEAD + function("plain_fn", body=body) + made)
    assert found == {"plain_fn": "native"} and "tf1_names = {" not in files[PATH]


def test_a_value_of_one_file_is_read_without_names() -> None:
    made = "a = tf.estimator.Estimator(plain_fn)\nwords = tf.train.load_variable('words.ckpt', 'table')\n"
    found, files = tiers(HEAD + PLAIN + made)
    assert found == {"plain_fn": "native"} and "tf1_names = {" not in files[PATH]


@pytest.mark.parametrize(("teacher", "named"), [("import network\n", True), ("import plain\n", False)])
def test_a_program_beside_it_starts_from_its_checkpoints(teacher: str, named: bool) -> None:
    network = "import tensorflow as tf\n\n\ndef tower(x):\n    return tf.layers.dense(x, 3, name='tower')\n"
    plain = "import tensorflow as tf\n\n\ndef double(x):\n    return x * 2\n"
    tower = "predictions = tf.layers.dense({}(features['x']), 1)"
    own = function("plain_fn", body=tower.format("network.tower" if named else "plain.double"))
    start = "tf.train.init_from_checkpoint(PATH, {'tower/': 'tower/'})"
    body = f"predictions = network.tower(plain.double(features['x']))\n    {start}"
    other = function("start_fn", body=body) + "b = tf.estimator.Estimator(start_fn)\n"
    files = {
        "network.py": network,
        "plain.py": plain,
        "pretrain.py": teacher + HEAD + own + "a = tf.estimator.Estimator(plain_fn)\n",
        "tune.py": f"import os\nimport network\nimport plain\n{HEAD}PATH = os.environ['START']\n\n\n{other}",
    }
    found, after = tiers(files)
    assert found == {"plain_fn": "native", "start_fn": "native"}
    assert ("tf1_names = {" in after["pretrain.py"]) is named
    assert "tf1_names = {" in after["tune.py"]
