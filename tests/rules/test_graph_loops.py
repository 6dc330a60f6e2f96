"""Programs whose model_fns stay graphs: trained by `fit` where nothing asks for their sessions."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, run, units

PROGRAM = """\
import tensorflow as tf


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [1.0]))


def model_fn(features, labels, mode, params):
    w = tf.Variable(2.0)
    loss = tf.losses.mean_squared_error(labels, w * features["x"][:, 0])
    train_op = tf.train.FtrlOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"p": w}, loss, train_op)


estimator = tf.estimator.Estimator(model_fn, "folder", tf.estimator.RunConfig(tf_random_seed=1), {"rate": 0.1})
estimator.train(input_fn, max_steps=3)
print(estimator.evaluate(input_fn, steps=1)["loss"])
print([row["p"] for row in estimator.predict(input_fn)])
"""


def migrated(program: str) -> str:
    """The program as a graph, which a second run leaves as it is."""
    outcomes = run(program, style="bridge")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    text = outcomes[PATH].after.decode()
    after = {path: outcome.after.decode() for path, outcome in outcomes.items()}
    assert run(after, style="bridge")[PATH].after.decode() == text
    return text


def test_fit_trains_it() -> None:
    text = migrated(PROGRAM)
    assert "from tf2_training import EstimatorSpec, GraphModel\n" in text
    assert text.split('"p": w}, loss, train_op)\n\n\n')[1].startswith(
        "tf.keras.utils.set_random_seed(1)\n"
        'model = GraphModel(model_fn, params={"rate": 0.1})\n'
        "model.compile()\n"
        "checkpoint = tf.train.Checkpoint(model=model)\n"
    )
    assert "steps = 3 - model.optimizer.iterations.numpy()" in text and "    model.fit(input_fn().take(steps), " in text
    assert 'print(model.evaluate(input_fn().take(1), return_dict=True)["loss"])\n' in text
    assert 'print([p for p in model.predict(input_fn(), verbose=0)["p"]])\n' in text


def test_names_of_version_1_are_not_those_of_the_loop() -> None:
    text = migrated(PROGRAM.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"))
    assert "import tensorflow.compat.v1 as tf\n" in text and "tf.losses.mean_squared_error(labels" in text
    assert "checkpoint = tf.compat.v2.train.Checkpoint(model=model)\n" in text


EVALUATED = """\
tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(input_fn, max_steps=3), tf.estimator.EvalSpec(input_fn, steps=1))
"""


def test_train_and_evaluate_alone_does_not_speak_of_a_cluster() -> None:
    program = PROGRAM.replace("estimator.train(input_fn, max_steps=3)\n", EVALUATED)
    text = migrated(program)
    assert "model = GraphModel(model_fn, " in text and "validation_data=input_fn().take(1)" in text
    assert any("trains on one device now" in item.message for item in run(program, style="bridge")[PATH].remaining)


@pytest.mark.parametrize("word", ["TF_CONFIG", "tf.distribute.MirroredStrategy", "partitioner=p"])
def test_other_words_speak_of_it(word: str) -> None:
    program = PROGRAM.replace("estimator.train(input_fn, max_steps=3)\n", f"{EVALUATED}print({word})\n")
    outcomes = run(program.replace("partitioner=p", "dict(partitioner=p)"), style="bridge")
    assert "graph_model(model_fn, " in outcomes[PATH].after.decode()
    assert [unit.helpers for unit in units(outcomes)] == [
        "it may train on several devices or machines (program.py:15:13)"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    w =", '    tf.summary.scalar("one", 1.0)\n    w ='),
        ("mode, params)", "mode, params, config)"),
        ("loss, train_op)", "loss, train_op, scaffold=tf.train.Scaffold())"),
        ("loss, train_op)", "loss, train_op, scaffold=make(w))"),
        ('{"p": w}', "OUTPUTS[0]"),
        ("steps=1)", 'steps=1, hooks=[tf.train.LoggingTensorHook({"a": "b"}, 1)])'),
        ("max_steps=3)", "max_steps=3)\nprint(estimator.get_variable_names())"),
        ("loss, train_op)", "loss, train_op)\n\n\nHOOK = tf.train.NanTensorHook('loss:0')"),
        ("loss, train_op)", "loss, train_op, {}, None, None, None, make(w))"),
    ],
)
def test_what_needs_a_session_keeps_the_helpers(old: str, new: str) -> None:
    text = migrated(PROGRAM.replace(old, new))
    assert "estimator = graph_model(model_fn, " in text and "train(estimator, input_fn, max_steps=3)" in text


@pytest.mark.parametrize(
    "more",
    [
        ", training_hooks=[tf.train.NanTensorHook(loss)])",
        ", training_hooks=[Unseen(3)])",
        ', training_hooks=params["hooks"])',
        ", evaluation_hooks=HOOKS)",
        ", {}, None, None, [Unseen(3)])",
        ")._replace(training_hooks=params['hooks'])",
    ],
)
def test_the_model_calls_hooks_of_its_graph(more: str) -> None:
    text = migrated(PROGRAM.replace("loss, train_op)", f"loss, train_op{more}"))
    assert "model = HookedGraphModel(model_fn, " in text and "model.compile()\n" in text
    assert "model.fit(input_fn(), steps_per_epoch=steps, " in " ".join(text.replace("(\n", "(").split()).replace(
        "( ", "("
    )
    assert "model.evaluate(input_fn(), steps=1, return_dict=True)" in text  # hooks may take batches of their own


def test_a_scaffold_of_a_program_without_a_folder() -> None:
    program = PROGRAM.replace("loss, train_op)", "loss, train_op, scaffold=tf.train.Scaffold())")
    text = migrated(program.replace('"folder"', "None"))
    assert "model = HookedGraphModel(" in text and "scaffold=tf.compat.v1.train.Scaffold()" in text


def test_hooks_beside_evaluations_amid_a_training_keep_the_helpers() -> None:
    program = PROGRAM.replace("loss, train_op)", "loss, train_op, training_hooks=HOOKS)")
    text = migrated(program.replace("estimator.train(input_fn, max_steps=3)\n", EVALUATED))
    assert "estimator = graph_model(model_fn, " in text


PREDICTED = "estimator.predict(input_fn, hooks=[tf.train.LoggingTensorHook(['Const'], 1)])"


def test_hooks_of_predictions() -> None:
    text = migrated(PROGRAM.replace("estimator.predict(input_fn)", PREDICTED))
    assert "model = HookedPredictions(model_fn, " in text
    hooks = "graph_hooks([tf.compat.v1.train.LoggingTensorHook(['Const'], 1)])"
    assert f"model.predict(input_fn(),callbacks={hooks},verbose=0)".replace(" ", "") in "".join(text.split())


def test_hooks_of_one_prediction_keep_the_helpers() -> None:
    loop = '[row["p"] for row in estimator.predict(input_fn)]'
    text = migrated(PROGRAM.replace(loop, f"next({PREDICTED})"))
    assert "estimator = graph_model(model_fn, " in text


@pytest.mark.parametrize("given", ["training_hooks=[]", "scaffold=None", "export_outputs=None"])
def test_fields_that_say_nothing_need_no_session(given: str) -> None:
    assert "model = GraphModel(" in migrated(PROGRAM.replace("loss, train_op)", f"loss, train_op, {given})"))


def test_summaries_without_a_folder_go_nowhere() -> None:
    text = migrated(
        PROGRAM.replace("    w =", '    tf.summary.scalar("one", 1.0)\n    w =').replace('"folder"', "None")
    )
    assert "model = GraphModel(" in text


def test_predictions_that_are_a_tensor_are_rows() -> None:
    text = migrated(PROGRAM.replace('{"p": w}', "tf.square(features['x'])").replace('row["p"] for', "row for"))
    assert "print([row for row in model.predict(input_fn(), verbose=0)])" in text


OUTPUTS = PROGRAM.replace(
    '{"p": w}, loss, train_op)',
    '{"p": w}, loss, train_op, export_outputs={"serving_default": tf.estimator.export.PredictOutput({"p": w})})',
)


def test_outputs_of_exports_that_nobody_makes() -> None:
    text = migrated(OUTPUTS)
    assert "GraphModel(" in text and "model.fit(" in text and 'export_outputs={"serving_default": {"p": w}}' in text


def test_predictions_that_a_comprehension_makes() -> None:
    text = migrated(PROGRAM.replace('{"p": w}, loss', "{name: w for name in 'p'}, loss"))
    assert 'print([p for p in model.predict(input_fn(), verbose=0)["p"]])' in text


def test_an_export_keeps_the_helpers() -> None:
    receiver = 'tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 1])})'
    text = migrated(OUTPUTS + f'estimator.export_saved_model("out", {receiver})\n')
    assert "train(estimator, input_fn, max_steps=3)" in text


SERVING = """\
def serving_input_fn():
    features = {"x": tf.placeholder(tf.float32, [None, 1])}
    return tf.estimator.export.ServingInputReceiver(features, features)


estimator.export_saved_model("served", serving_input_fn)
"""
NAMED = PROGRAM.replace("    return tf.estimator", '    predictions = {"p": w}\n    return tf.estimator').replace(
    'mode, {"p": w}, ', "mode, predictions, "
)
OUTPUT = 'export_outputs={"rows": tf.estimator.export.PredictOutput(predictions)}'


def exporting(outputs: str, program: str = NAMED) -> str:
    return program.replace("train_op)", f"train_op, {outputs})") + SERVING


@pytest.mark.parametrize(
    ("outputs", "keys"),
    [
        ("export_outputs=None", ["serving_default"]),
        (OUTPUT, ["serving_default", "rows"]),
        (OUTPUT.replace("rows", "serving_default"), ["serving_default"]),
        (OUTPUT.replace("(predictions)", "(outputs=predictions)"), ["serving_default", "rows"]),
    ],
)
def test_signatures_that_give_the_predictions(outputs: str, keys: list[str]) -> None:
    text = migrated(exporting(outputs))
    assert "model = GraphModel(model_fn, " in text and "tf.keras.export.ExportArchive()\n" in text
    assert "model.predict_step, input_signature=[serving_input_fn()]" in text
    assert [key for key in ("serving_default", "rows") if f'archive.add_endpoint("{key}", ' in text] == keys


def test_signatures_that_a_name_holds_in_the_model_fn() -> None:
    held = NAMED.replace(
        "    return tf.estimator", f"    outputs = {OUTPUT.partition('=')[2]}\n    return tf.estimator"
    )
    assert 'archive.add_endpoint("rows", ' in migrated(exporting("export_outputs=outputs", held))


@pytest.mark.parametrize(
    "outputs",
    [
        OUTPUT.replace("(predictions)", '({"p": w, "q": w})'),
        OUTPUT.replace("Predict", "Regression"),
        "export_outputs={KEY: tf.estimator.export.PredictOutput(predictions)}",
        "export_outputs=OUTPUTS",
        OUTPUT[:-1] + ', "more": tf.estimator.export.PredictOutput(predictions)}',
    ],
)
def test_other_signatures_keep_the_helpers(outputs: str) -> None:
    text = migrated(exporting(outputs))
    assert "estimator = graph_model(model_fn, " in text and "export_saved_model(estimator, " in text


def test_predictions_that_may_be_others_keep_the_helpers() -> None:
    again = NAMED.replace("    return tf.estimator", "    predictions = dict(predictions)\n    return tf.estimator")
    assert "estimator = graph_model(model_fn, " in migrated(exporting(OUTPUT, again))


def test_tables_keep_the_helpers_of_what_is_exported() -> None:
    table = "TABLE = tf.contrib.lookup.index_table_from_tensor\n\n\ndef model_fn("
    assert "estimator = graph_model(model_fn, " in migrated(exporting(OUTPUT, NAMED.replace("def model_fn(", table)))
