"""Programs whose configuration has a strategy: the model is made in its scope, and `fit` shares whole batches out."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, LOSS, joined, migrate, run
from test_loop import MODEL, kept

CLUSTER = "tf2_cluster.py"
MIRRORED = "tf.distribute.MirroredStrategy()"
TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"
COMPILED = MODEL.replace(LOSS, "loss = tf.losses.mean_squared_error(labels, predictions)")
SHARED = ".distribute_datasets_from_function(lambda context: make_input_fn(8, None)())"


def program(strategy: str, before: str = "", after: str = TRAIN, fields: str = "", model: str = MODEL) -> str:
    config = f"config=tf.estimator.RunConfig(train_distribute={strategy}{fields})"
    return f'{model}{before}estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, {config})\n{after}'


def made(strategy: str, before: str = "", after: str = TRAIN, fields: str = "", model: str = MODEL) -> str:
    """What becomes of the code behind the functions, without line breaks at brackets."""
    text = joined(migrate(program(strategy, before, after, fields, model)))
    text = text.partition("    return model\n")[2]
    return text.partition("return input_fn\n")[2].strip() if "return input_fn" in text else text.strip()


def test_the_model_is_made_in_the_scope_of_the_strategy() -> None:
    assert made(MIRRORED) == (
        f'strategy = {MIRRORED}\nwith strategy.scope():\n    model = create_model(params={{"units": 1}})\n'
        f"model.fit(strategy{SHARED}, steps_per_epoch=20)"
    )


def test_nothing_is_vendored_for_it() -> None:
    assert not {HELPERS, CLUSTER} & set(run(program(MIRRORED)))


def test_several_devices_are_for_keras_2() -> None:
    said = [str(diagnostic) for outcome in run(program(MIRRORED)).values() for diagnostic in outcome.remaining]
    assert any("several devices are for Keras 2" in text for text in said)


def test_a_strategy_that_has_a_name_keeps_it() -> None:
    text = made("spread", f"spread = {MIRRORED}\n")
    assert text.startswith(f"spread = {MIRRORED}\nwith spread.scope():\n") and f"spread{SHARED}" in text


def test_none_is_the_default_strategy() -> None:
    text = made("spread", f"spread = {MIRRORED} if DEVICES else None\n", model=f"DEVICES = 2\n{MODEL}")
    assert f"spread = {MIRRORED} if DEVICES else tf.distribute.get_strategy()\n" in text
    assert "train_distribute" not in text


def test_none_stays_where_the_program_reads_it() -> None:
    text = made(
        "spread", f"spread = {MIRRORED} if DEVICES else None\nprint(spread is None)\n", model=f"DEVICES = 2\n{MODEL}"
    )
    assert "else None\nprint(spread is None)\nwith (spread or tf.distribute.get_strategy()).scope():\n" in text
    assert f"model.fit(model.distribute_strategy{SHARED}" in text


def test_in_another_function_the_model_knows_its_strategy() -> None:
    before = f"def main():\n    spread = {MIRRORED}\n"
    estimator = program("spread").partition(MODEL)[2]
    text = migrate(MODEL + before + textwrap.indent(estimator, "    ") + "\n\nmain()\n")
    assert "    with spread.scope():\n        model = create_model(" in text and f"model.fit(spread{SHARED}" in joined(
        text
    )


def test_an_input_function_is_told_of_replicas() -> None:
    model = MODEL.replace("def input_fn():", "def input_fn(input_context=None):")
    text = made(
        MIRRORED,
        model=model + "train_input = make_input_fn(8, None)\n",
        after="estimator.train(train_input, steps=20)\n",
    )
    assert text.endswith("model.fit(strategy.distribute_datasets_from_function(train_input), steps_per_epoch=20)")
    text = made(MIRRORED, model=model)
    assert "(lambda context: make_input_fn(8, None)(input_context=context))" in text


def test_evaluations_read_each_batch_once() -> None:
    model = COMPILED.replace("def input_fn():", "def input_fn(input_context=None):")
    text = made(MIRRORED, after=TRAIN + "estimator.evaluate(make_input_fn(4, 1))\n", model=model)
    assert text.endswith("model.evaluate(make_input_fn(4, 1)())")


def test_steps_of_earlier_runs_count() -> None:
    after = "estimator.train(make_input_fn(8, None), max_steps=20)\n"
    text = made(MIRRORED, after=after, fields=', model_dir="here"')
    assert "steps = 20 - model.optimizer.iterations.numpy()\nif steps > 0:\n" in text
    assert f"model.fit(strategy{SHARED}, steps_per_epoch=steps, callbacks=[" in text


NORMALIZED = COMPILED.replace(
    'tf.layers.dense(features["x"], params["units"])',
    'tf.layers.dense(tf.layers.batch_normalization(features["x"], training=mode == "train"), params["units"])',
)
RESTORED = "checkpoint.restore(checkpoints.latest_checkpoint)  # which has means of replicas' moving averages\n"


def test_moving_statistics_are_evened_out_by_the_checkpoint() -> None:
    after = f"{TRAIN}estimator.evaluate(make_input_fn(4, 1))\nprint(list(estimator.predict(make_input_fn(4, 1))))\n"
    text = made(MIRRORED, after=after, fields=', model_dir="here"', model=NORMALIZED)
    assert text.count(RESTORED) == 1 and f"{RESTORED}model.evaluate(" in text
    assert RESTORED not in made(MIRRORED, after=after, fields=', model_dir="here"', model=COMPILED)


PENALIZED = MODEL.replace("train_op =", "loss += 0.1 * tf.reduce_sum(predictions ** 2)\n    train_op =")


def test_a_loss_of_the_model_is_the_share_of_a_replica() -> None:
    text = migrate(program(MIRRORED, model=PENALIZED))
    assert "return loss / tf.distribute.get_strategy().num_replicas_in_sync" in text
    assert "num_replicas_in_sync" not in migrate(PENALIZED + program("None").partition(MODEL)[2])


def test_means_over_the_examples_of_a_batch_that_replicas_share_stay_with_helpers() -> None:
    kept(program(MIRRORED, after=TRAIN + "estimator.evaluate(make_input_fn(4, 1))\n", model=PENALIZED), "")


def test_replicas_share_the_batches_of_data_that_end() -> None:
    text = made(MIRRORED, after="estimator.train(make_input_fn(8, 3))\n")
    assert ".distribute_datasets_from_function(lambda context: make_input_fn(8, 3)().repeat())" in text
    assert "steps_per_epoch=len(make_input_fn(8, 3)()) // strategy.num_replicas_in_sync" in text


def test_data_that_may_end_before_a_limit_stay_with_helpers() -> None:
    kept(program(MIRRORED, after="estimator.train(make_input_fn(8, 3), steps=20)\n"), "")


def test_moving_statistics_without_checkpoints_stay_with_helpers() -> None:
    kept(program(MIRRORED, after=TRAIN + "estimator.evaluate(make_input_fn(4, 1))\n", model=NORMALIZED), "")


def test_gradients_that_a_replica_clips_stay_with_helpers() -> None:
    clipped = (
        "optimizer = tf.train.GradientDescentOptimizer(0.1)\n"
        "    gradients, variables = zip(*optimizer.compute_gradients(loss))\n"
        "    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)\n"
        "    train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=tf.train.get_global_step())\n"
    )
    head, _, rest = MODEL.partition("train_op =")
    kept(program(MIRRORED, model=head + clipped + rest.partition("\n")[2]), "")


def test_what_is_not_seen_to_be_a_strategy_stays_with_helpers() -> None:
    kept(program("choose()", "from here import choose\n"), "")


def test_another_strategy_for_evaluations_stays_with_helpers() -> None:
    kept(program(MIRRORED, fields=f", eval_distribute={MIRRORED}"), "")
    assert "steps_per_epoch=20" in made(MIRRORED, fields=", eval_distribute=None")


def test_the_same_strategy_for_evaluations_is_that_of_the_model() -> None:
    text = made("spread", f"spread = {MIRRORED}\n", fields=", eval_distribute=spread")
    assert "with spread.scope():" in text and "eval" not in text


def test_parameters_that_input_functions_get_stay_with_helpers() -> None:
    model = MODEL + "def read(params):\n    return make_input_fn(params['units'] * 8, None)()\n\n\n"
    kept(program(MIRRORED, after="estimator.train(read, steps=20)\n", model=model), "")


@pytest.mark.parametrize("before", ["", "read = "])
def test_arrays_of_an_input_function_stay_with_helpers(before: str) -> None:
    made = 'tf.estimator.inputs.numpy_input_fn({"x": LIST}, LIST, num_epochs=None, shuffle=False)'
    given = "read" if before else made
    program_of = program(MIRRORED, f"{before}{made}\n" if before else "", f"estimator.train({given}, steps=20)\n")
    kept(program_of.replace("import tensorflow as tf\n", "import tensorflow as tf\n\nLIST = [[1.0]] * 8\n", 1), "")


WORKERS = "tf.distribute.experimental.MultiWorkerMirroredStrategy()"


@pytest.mark.parametrize(
    ("strategy", "before"),
    [(WORKERS, ""), ("workers", f"workers = {WORKERS}\n"), ("s", f"s = {WORKERS.replace('experimental.', '')}\n")],
)
def test_a_strategy_for_workers_is_that_of_tf_config(strategy: str, before: str) -> None:
    given = program(strategy, before, fields=f", eval_distribute={strategy}" if before else "")
    text = joined(migrate(given))
    assert not {HELPERS, CLUSTER} & set(run(given)) and "with make_strategy().scope():\n" in text
    assert text.count("MultiWorkerMirroredStrategy()") == 1  # in the function that reads TF_CONFIG
    assert f"model.distribute_strategy{SHARED}" in text


@pytest.mark.parametrize("more", ["print(workers)\n", "print(workers.num_replicas_in_sync)\n"])
def test_a_strategy_for_workers_that_is_read_stays(more: str) -> None:
    assert CLUSTER in run(program("workers", f"workers = {WORKERS}\n", TRAIN + more))
    assert CLUSTER in run(program(WORKERS.replace("()", "(COMMUNICATION)")))
