"""Programs that speak of TF_CONFIG or of partitioners: a `make_strategy` of their own, and `fit` in its scope."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, LOSS, TRAIN_OP, joined, migrate, run
from test_loop import MODEL, kept

CLUSTER = "tf2_cluster.py"
TOLD = '\nos.environ["TF_CONFIG"] = sys.argv[1]\n'
COMPILED = MODEL.replace(LOSS, "loss = tf.losses.mean_squared_error(labels, predictions)")
OF_CLUSTER = COMPILED.replace("import tensorflow as tf\n", f"import os\nimport sys\n\nimport tensorflow as tf\n{TOLD}")
PARTS = MODEL.replace(
    'predictions = tf.layers.dense(features["x"], params["units"])',
    'with tf.variable_scope("wide", partitioner=tf.fixed_size_partitioner({parts})):\n'
    '        predictions = tf.layers.dense(features["x"], params["units"])',
)
OF_SERVERS = PARTS.replace("{parts}", "3")
COMPILED_PARTS = OF_SERVERS.replace(LOSS, "loss = tf.losses.mean_squared_error(labels, predictions)")
MADE = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1})\n'
SAVED = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, model_dir="here")\n'
TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"
EVALUATE = "print(estimator.evaluate(make_input_fn(4, 1)))\n"
SHARED = "model.distribute_strategy.distribute_datasets_from_function(lambda context: make_input_fn(8, None)())"


def made(model: str, after: str = TRAIN, estimator: str = MADE) -> str:
    """What becomes of the code behind the functions, without line breaks at brackets."""
    text = joined(migrate(model + estimator + after)).replace(",\n)", ")")
    head = '\nmodel = create_model(params={"units": 1})\n'
    return text[text.index(head) + len(head) :].strip()


@pytest.mark.parametrize("model", [OF_CLUSTER, OF_SERVERS])
def test_workers_share_batches_out(model: str) -> None:
    assert made(model) == f"model.fit({SHARED}, steps_per_epoch=20)"


@pytest.mark.parametrize("model", [OF_CLUSTER, OF_SERVERS])
def test_nothing_is_vendored_for_it(model: str) -> None:
    assert not {HELPERS, CLUSTER} & set(run(model + MADE + TRAIN))


def test_the_program_makes_the_strategy_of_its_cluster() -> None:
    text = migrate(OF_CLUSTER + MADE + TRAIN)
    assert "def make_strategy():" in text and "    with make_strategy().scope():\n        model = " in text
    assert "return tf.distribute.ParameterServerStrategy(resolver)\n" in text
    assert "return tf.distribute.MultiWorkerMirroredStrategy() if cluster.jobs else" in text


def test_its_partitioner_is_in_plain_sight() -> None:
    text = migrate(PARTS.replace("{parts}", 'params["units"]') + MADE + TRAIN)
    assert 'num_shards=max(1, params["units"]))\n    with make_strategy(partitioner).scope():\n' in text
    assert "def make_strategy(variable_partitioner):" in text and "(resolver, variable_partitioner)\n" in text
    assert "MultiWorker" not in text


def test_data_that_end_are_repeated() -> None:
    data = "model.distribute_strategy.distribute_datasets_from_function(lambda context: make_input_fn(8, 3)().repeat())"
    after = f"model.fit({data}, steps_per_epoch=len(make_input_fn(8, 3)()))"
    assert made(OF_CLUSTER, "estimator.train(make_input_fn(8, 3))\n") == after


def test_of_data_that_workers_share_out_the_first_share_counts() -> None:
    model = OF_CLUSTER.replace("def input_fn():", "def input_fn(input_context=None):")
    replicas = "model.distribute_strategy.num_replicas_in_sync"
    context = f"tf.distribute.InputContext({replicas}, 0, {replicas})"
    spread = "config=tf.estimator.RunConfig(train_distribute=tf.distribute.experimental.MultiWorkerMirroredStrategy())"
    estimator = MADE.replace("model_fn, ", f"model_fn, {spread}, ")
    text = made(model, "estimator.train(make_input_fn(8, 3))\n", estimator)
    assert f"steps_per_epoch=len(make_input_fn(8, 3)(input_context={context}))" in text


def test_parameter_servers_evaluate_amid_a_training_exactly() -> None:
    text = migrate(OF_CLUSTER + EVERY.format(every=10) + SPECS)
    assert '{"pss_evaluation_shards": 1, "metrics": []} if servers else {}\n' in text and "**evaluation" in text
    assert "pss_evaluation_shards" not in migrate(OF_CLUSTER + MADE + TRAIN + EVALUATE + SPECS)


ALL = "model.distribute_strategy.distribute_datasets_from_function(lambda context: make_input_fn(4, 1)().repeat())"
OF_ONE = """\
steps = len(make_input_fn(4, 1)())
model.steps_per_execution = steps  # by one worker, as each reads the data from their start
"""
OWN_LOSS = OF_CLUSTER.replace("loss = tf.losses", "loss = 2.0 * tf.losses")


@pytest.mark.parametrize("model", [OF_CLUSTER, OWN_LOSS], ids=["a loss of Keras", "a loss of its own"])
def test_each_worker_evaluates_all_batches(model: str) -> None:
    text = made(model, TRAIN + EVALUATE)
    assert text.replace("\n)", ")").endswith(f"\n{OF_ONE}print(model.evaluate({ALL}, steps=steps, return_dict=True))")


def test_one_worker_evaluates_parts_of_variables() -> None:
    assert made(OF_SERVERS, TRAIN + EVALUATE).partition("steps_per_epoch=20)\n")[2] == (
        "steps = len(make_input_fn(4, 1)())\n"
        "model.steps_per_execution = steps  # by one worker, as each reads the data from their start\n"
        "print(model.evaluate(make_input_fn(4, 1)().repeat(), steps=steps, return_dict=True))"
    )


def test_steps_of_an_evaluation_are_kept() -> None:
    text = made(OF_SERVERS, TRAIN + "print(estimator.evaluate(make_input_fn(4, None), steps=7))\n")
    assert "\nsteps = 7\n" in text and "make_input_fn(4, None)(), steps=steps," in text


def test_each_step_is_one_again_after_an_evaluation() -> None:
    text = made(OF_SERVERS, TRAIN + EVALUATE + TRAIN)
    assert f"\nmodel.steps_per_execution = 1\nmodel.fit({SHARED}" in text
    text = made(OF_SERVERS, "for _ in range(3):\n" + "".join(f"    {line}" for line in (TRAIN, EVALUATE)))
    assert f"    model.steps_per_execution = 1\n    model.fit({SHARED}" in text


def test_the_chief_saves() -> None:
    text = made(OF_SERVERS, TRAIN, SAVED)
    assert 'tf.train.CheckpointManager(checkpoint, "here"' in text and "save(model.optimizer.iterations)" in text


SPECS = """\
train_spec = tf.estimator.TrainSpec(make_input_fn(8, None), max_steps=20)
eval_spec = tf.estimator.EvalSpec(make_input_fn(4, 1), steps=None)
tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
"""


def test_train_and_evaluate_evaluates_behind_a_training() -> None:
    after = f"model.fit({SHARED}, steps_per_epoch=20)\n{OF_ONE}model.evaluate({ALL}, steps=steps)"
    assert made(OF_CLUSTER, SPECS) == after


SERVED = """\
fed = {"x": tf.placeholder(tf.float32, [None, 1])}
estimator.export_saved_model("served", tf.estimator.export.build_raw_serving_input_receiver_fn(fed))
"""
EVERY = (
    'estimator = tf.estimator.Estimator(model_fn, model_dir="here", params={{"units": 1}}, '
    "config=tf.estimator.RunConfig(save_checkpoints_steps={every}))\n"
)


@pytest.mark.parametrize("model", [OF_CLUSTER, COMPILED_PARTS], ids=["workers", "servers"])
def test_train_and_evaluate_saves_where_an_epoch_ends(model: str) -> None:
    text = made(model, SPECS, EVERY.format(every=10))
    assert "steps_per_epoch=10, initial_epoch=done // 10, epochs=2, validation_data=make_input_fn(4, 1)()" in text
    assert "on_epoch_end=lambda epoch, logs: checkpoints.save(model.optimizer.iterations)" in text
    assert "on_train_batch_end" not in text  # parameter servers tell of none


@pytest.mark.parametrize(("model", "data"), [(OF_SERVERS, "make_input_fn(4, 1)().repeat()"), (OWN_LOSS, ALL)])
def test_a_loss_of_its_own_is_evaluated_apart_from_fit(model: str, data: str) -> None:
    text = made(model, SPECS, EVERY.format(every=10))
    assert f"""
    steps = len(make_input_fn(4, 1)())

    def save_and_evaluate(epoch, logs):
        checkpoints.save(model.optimizer.iterations)
        model.steps_per_execution = steps  # by one worker, as each reads the data from their start
        results = model.evaluate({data}, steps=steps, return_dict=True)
        model.steps_per_execution = 1
        logs.update({{f"val_{{name}}": value for name, value in results.items()}})
""" in text.replace("\n        )", ")")
    assert "validation_data" not in text and "**evaluation" not in migrate(model + EVERY.format(every=10) + SPECS)


def test_a_training_to_a_step_saves_where_an_epoch_ends() -> None:
    text = made(OF_SERVERS, "estimator.train(make_input_fn(8, None), max_steps=20)\n", EVERY.format(every=10))
    assert "steps_per_epoch=10, initial_epoch=done // 10, epochs=2, callbacks=" in text


def test_a_training_without_epochs_saves_at_its_end() -> None:
    program = OF_SERVERS + SAVED + "estimator.train(make_input_fn(8, None), steps=5000)\n"
    assert migrate(program).endswith("\ncheckpoints.save(model.optimizer.iterations)\n")
    assert any("at the end of a training alone" in text for text in said(program))


def test_servers_validate_once_by_one_worker() -> None:
    text = made(OF_SERVERS, SPECS, SAVED)
    assert "validation_data" not in text
    assert text.endswith(
        "    checkpoints.save(model.optimizer.iterations)\n"
        "    steps = len(make_input_fn(4, 1)())\n"
        "    model.steps_per_execution = steps  # by one worker, as each reads the data from their start\n"
        "    model.evaluate(make_input_fn(4, 1)().repeat(), steps=steps)"
    )
    limited = made(OF_SERVERS, SPECS.replace(", steps=None", ", steps=3"), SAVED)
    assert "steps = len(make_input_fn(4, 1)().take(3))\n" in limited
    endless = made(OF_SERVERS, SPECS.replace("4, 1), steps=None", "4, None), steps=3"), SAVED)
    assert "steps = 3\n" in endless and endless.endswith("steps=steps)")
    assert "\nmodel.steps_per_execution = 1\nmodel.fit(" in made(OF_SERVERS, SPECS + TRAIN)


@pytest.mark.parametrize("model", [OF_CLUSTER, OF_SERVERS])
def test_data_of_an_unknown_number_are_counted(model: str) -> None:
    data = "make_input_fn(8, 3)().filter(bool)"
    text = made(model, f"estimator.train(lambda: {data})\n", SAVED)
    assert f"lambda context: {data}.repeat())" in text and f"steps_per_epoch=sum(1 for _ in {data})" in text


def test_options_say_how_often_data_are_repeated() -> None:
    option = 'tf.app.flags.DEFINE_integer("epochs", 3, "Passes.")\n'
    text = made(OF_SERVERS, f"{option}estimator.train(make_input_fn(8, tf.app.flags.FLAGS.epochs))\n")
    assert ".repeat())" in text and "steps_per_epoch=len(make_input_fn(8, " in text


@pytest.mark.parametrize("default", ["None", "-1", "0"])
def test_options_that_may_repeat_data_without_end_stay_with_helpers(default: str) -> None:
    option = f'tf.app.flags.DEFINE_integer("epochs", {default}, "Passes.")\n'
    kept("", OF_SERVERS + MADE + f"{option}estimator.train(make_input_fn(8, tf.app.flags.FLAGS.epochs))\n")


def test_the_chief_exports() -> None:
    text = made(OF_SERVERS, TRAIN + SERVED, SAVED)
    assert 'archive.add_endpoint("serving_default", model.predict_step, input_signature=[fed])\n' in joined(text)


SEVERAL = OF_SERVERS.replace(
    "    loss =",
    '    with tf.variable_scope("narrow", partitioner=tf.fixed_size_partitioner(2)):\n'
    "        predictions = tf.layers.dense(predictions, 1)\n    loss =",
    1,
)


def test_each_of_several_partitioners_stands_around_what_it_splits() -> None:
    outcomes = run(SEVERAL + MADE + TRAIN + EVALUATE)
    text = joined(outcomes["program.py"].after.decode())
    assert text.count("with partitioned(self, tf.distribute.experimental.partitioners.FixedShardsPartitioner(") == 2
    assert "    with make_strategy(partition_by_scope).scope():\n" in text and "model.fit(" in text
    assert HELPERS not in outcomes and "configure_distributed" not in outcomes[CLUSTER].after.decode()


def test_epochs_that_may_not_divide_a_training_are_told() -> None:
    named = "EVERY = 15\n" + EVERY.format(every="EVERY")
    assert any("an epoch of save_checkpoints_steps" in text for text in said(OF_CLUSTER + named + SPECS))
    assert not any("an epoch of" in text for text in said(OF_CLUSTER + EVERY.format(every=10) + SPECS))


def test_all_workers_save_and_go_on_from_what_the_first_one_saved() -> None:
    text = made(OF_CLUSTER, TRAIN, SAVED)
    assert 'own_dir = "here" if model.distribute_strategy.extended.should_checkpoint else tempfile.mkdtemp()\n' in text
    assert "CheckpointManager(checkpoint, own_dir, " in text
    assert 'if tf.train.latest_checkpoint("here"):\n' in text
    assert "own_dir" not in made(OF_SERVERS, TRAIN, SAVED)


def test_the_folder_of_workers_may_be_none() -> None:
    text = made(OF_CLUSTER, TRAIN, SAVED.replace('"here"', "sys.argv[2]"))
    assert "\nmodel_dir = sys.argv[2] or tempfile.mkdtemp()\n" in text
    assert "own_dir = model_dir if model.distribute_strategy.extended.should_checkpoint else tempfile.mkdtemp()" in text
    assert "\nif tf.train.latest_checkpoint(model_dir):\n" in text


def test_of_several_workers_the_first_one_exports_for_good() -> None:
    # An archive would have the moving statistics of one replica alone.
    text = made(OF_CLUSTER, TRAIN + SERVED, SAVED)
    folder = 'export_dir = "served" if model.distribute_strategy.extended.should_checkpoint else tempfile.mkdtemp()\n'
    saved = "tf.saved_model.save(model, os.path.join(export_dir, str(int(time.time()))), signatures="
    assert folder in text and saved in text and "export_dir" not in made(OF_SERVERS, TRAIN + SERVED, SAVED)


EXPORTER = """\
fed = {"x": tf.placeholder(tf.float32, [None, 1])}
exporter = tf.estimator.FinalExporter("final", tf.estimator.export.build_raw_serving_input_receiver_fn(fed))
"""


def test_exporters_of_workers_go_by_the_folder_of_each() -> None:
    specs = EXPORTER + SPECS.replace("steps=None", "steps=None, exporters=exporter")
    text = made(OF_CLUSTER, specs, SAVED)
    assert 'os.path.join(checkpoints.directory, "export", "final", str(int(time.time())))' in text
    assert 'os.path.join("here", "export", "final", ' in made(OF_SERVERS, specs, SAVED)


def recorded(model: str) -> str:
    """A model_fn with a summary of its training."""
    return model.replace("    loss =", '    tf.summary.histogram("predictions", predictions)\n    loss =', 1)


@pytest.mark.parametrize(("model", "folder"), [(OF_CLUSTER, "own_dir"), (OF_SERVERS, '"here"')])
def test_summaries_are_written_but_by_workers_of_parameter_servers(model: str, folder: str) -> None:
    text = made(recorded(model), TRAIN, SAVED)
    test = "if not isinstance(model.distribute_strategy, tf.distribute.ParameterServerStrategy):\n"
    assert f"{test}    model.summary_writer = tf.summary.create_file_writer({folder})\n" in text
    assert any("nobody writes the summaries" in each for each in said(recorded(model) + SAVED + TRAIN))
    assert not any("nobody writes the summaries" in each for each in said(model + SAVED + TRAIN))


def normalized(model: str) -> str:
    """A model_fn with moving statistics."""
    return model.replace(
        "    loss =",
        "    predictions = tf.layers.batch_normalization(predictions, training=mode == tf.estimator.ModeKeys.TRAIN)\n"
        "    loss =",
        1,
    )


def test_workers_evaluate_with_the_means_of_their_moving_statistics() -> None:
    text = made(normalized(OF_CLUSTER), SPECS + EVALUATE, SAVED)
    restored = "checkpoint.restore(checkpoints.latest_checkpoint)  # which has means of replicas' moving averages\n"
    assert f"checkpoints.save(model.optimizer.iterations)\n    {restored}    steps = len(" in text
    assert f"\n{restored}steps = len(" in made(normalized(OF_CLUSTER), TRAIN + EVALUATE, SAVED)
    assert restored not in made(normalized(OF_SERVERS), TRAIN + EVALUATE, SAVED)


@pytest.mark.parametrize(
    ("program", "told"),
    [(MADE + TRAIN + EVALUATE, True), (MADE + TRAIN, False), (SAVED + TRAIN + EVALUATE, False)],
)
def test_moving_statistics_without_checkpoints_are_told(program: str, told: bool) -> None:
    assert any("its own moving statistics" in text for text in said(normalized(OF_CLUSTER) + program)) is told


def test_an_evaluator_leaves_evaluations_to_the_chief() -> None:
    assert '    if resolver.task_type == "evaluator":\n        raise SystemExit  #' in migrate(
        OF_CLUSTER + MADE + SPECS
    )
    assert "evaluator" not in migrate(OF_CLUSTER + MADE + TRAIN + EVALUATE)  # no Estimator waits for one there


def said(program: str) -> list[str]:
    """The messages for the owner of a program."""
    return [str(diagnostic) for outcome in run(program).values() for diagnostic in outcome.remaining]


@pytest.mark.parametrize("model", [OF_CLUSTER, OF_SERVERS], ids=["workers", "servers"])
def test_a_training_that_ends_with_its_data_is_that_of_one_worker(model: str) -> None:
    told = said(model + MADE + "estimator.train(make_input_fn(8, 3))\n")
    assert sum("as many steps as one worker has batches" in text for text in told) == 1
    assert not any("as one worker has batches" in text for text in said(model + MADE + TRAIN))


KEPT = {
    "data that may end before": OF_CLUSTER + MADE + "estimator.train(make_input_fn(8, 3), steps=20)\n",
    "a folder that is read, and may be none": OF_CLUSTER
    + SAVED.replace('"here"', "sys.argv[2]")
    + TRAIN
    + "print(estimator.model_dir)\n",
    "steps between checkpoints, from any step on": OF_SERVERS
    + EVERY.format(every=10)
    + "estimator.train(make_input_fn(8, None), steps=5000)\n",
    "an epoch that is shorter": OF_CLUSTER + EVERY.format(every=15) + SPECS,
    "validations without an end, of a loss of its own": OF_SERVERS
    + EVERY.format(every=10)
    + SPECS.replace("make_input_fn(4, 1)", "make_input_fn(4, None)"),
    "a function of that name": OF_CLUSTER + "\ndef make_strategy():\n    return 1\n\n\n" + MADE + TRAIN,
    "evaluations of workers in a list": OF_CLUSTER
    + MADE
    + TRAIN
    + "print([estimator.evaluate(make_input_fn(4, 1)) for _ in 'ab'])\n",
    "evaluations without an end": OF_CLUSTER + MADE + TRAIN + "estimator.evaluate(make_input_fn(4, None))\n",
    "evaluations in a list": OF_SERVERS
    + MADE
    + TRAIN
    + "print([estimator.evaluate(make_input_fn(4, 1)) for _ in 'ab'])\n",
    "gathered rows": OF_SERVERS.replace("outputs =", "picked = tf.gather(predictions, [0])\n    outputs =").replace(
        '"class"', '"picked": picked, "class"'
    )
    + MADE
    + TRAIN,
}


@pytest.mark.parametrize("program", KEPT.values(), ids=list(KEPT))
def test_others_stay_with_helpers(program: str) -> None:
    kept("", program)


CLIPPED = """\
optimizer = tf.train.GradientDescentOptimizer(0.1)
    gradients, weights = zip(*optimizer.compute_gradients(loss{some}))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    gradients = [tf.sign(each) for each in gradients]
    train_op = optimizer.apply_gradients(zip(gradients, weights), tf.train.get_global_step())"""


def test_workers_of_servers_take_steps_of_the_program() -> None:
    servers = OF_SERVERS.replace(TRAIN_OP, CLIPPED.replace("{some}", ""))
    assert servers != OF_SERVERS and made(servers) == f"model.fit({SHARED}, steps_per_epoch=20)"
    assert "weights = self.trainable_variables\n" in migrate(servers + MADE + TRAIN)
    kept("", OF_CLUSTER.replace(TRAIN_OP, CLIPPED.replace("{some}", "")) + MADE + TRAIN)


def test_weights_in_parts_are_no_variables_that_a_step_may_name() -> None:
    some = ", var_list=tf.trainable_variables('wide')"
    kept("", OF_SERVERS.replace(TRAIN_OP, CLIPPED.replace("{some}", some)) + MADE + TRAIN)


def test_an_estimator_of_a_function_is_trained_where_it_is_used() -> None:
    build = f"def build():\n    {MADE.replace('estimator =', 'return')}\n\nranker = build()\n"
    text = joined(migrate(OF_SERVERS + build + TRAIN.replace("estimator", "ranker")))
    data = SHARED.replace("model.distribute", "ranker.distribute")
    assert f"ranker.fit({data}, steps_per_epoch=20" in text.replace("\n)", ")") and "with make_strategy(" in text


def test_other_words_of_clusters_stay_with_helpers() -> None:
    kept("", OF_CLUSTER + "print(tf.estimator.RunConfig().num_ps_replicas)\n" + MADE + TRAIN)


def test_the_owner_is_told_what_to_do() -> None:
    texts = said(OF_SERVERS + MADE + TRAIN)
    assert any("make_strategy() reads TF_CONFIG" in text for text in texts)
    assert any("goes by that of a part" in text for text in texts)


def test_a_cluster_that_is_asked_for() -> None:
    text = migrate(COMPILED + MADE + TRAIN, strategy="parameter_server")
    assert (
        "with make_strategy().scope():" in text and f"model.fit({SHARED}" not in text and "steps_per_epoch=20" in text
    )
    assert "make_strategy" not in migrate(COMPILED + MADE + TRAIN)


def test_what_an_estimator_did_otherwise_is_said_where_it_is_written() -> None:
    split = "# The strategy splits all variables by this, not those of one scope alone.\n"
    text = migrate(OF_SERVERS + SAVED + TRAIN.replace("20", "2000"))
    assert split not in text  # it stands around all of them
    assert "# A cluster saves a checkpoint at the end alone.\nmodel.fit(" in text
    more = OF_SERVERS.replace(
        "    loss = ", '    predictions = predictions + tf.get_variable("more", [1])\n    loss = '
    )
    assert split in migrate(more + MADE + TRAIN)


def test_a_prediction_in_place_of_an_evaluation_runs_by_steps_as_ever() -> None:
    choice = "if EVAL:\n    {}else:\n    print(estimator.predict(make_input_fn(4, 1)))\n"
    text = made(OF_SERVERS, choice.format(EVALUATE))
    assert "steps_per_execution = steps" in text and "steps_per_execution = 1" not in text
    text = made(OF_SERVERS, choice.replace("else:", "if PREDICT:").format(EVALUATE))
    assert "    model.steps_per_execution = 1\n" in text
