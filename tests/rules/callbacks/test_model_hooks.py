"""Hooks of an EstimatorSpec."""

from __future__ import annotations

import pytest
from hook_programs import SAVED, TRAIN, fitted, messages, program, stays
from modelfn.programs import joined, migrate

EVALUATE = f"{TRAIN}print(estimator.evaluate(lambda: input_fn(1)))\n"
SHOWN = 'tf.train.SummarySaverHook(params["every"], output_dir=params["dir"], summary_op=tf.summary.merge_all())'


def spec(hooks: str, use: str = TRAIN, made: str = "", **parts: str) -> str:
    return program(use, made, spec=f", training_hooks=[{hooks}]", **parts)


@pytest.mark.parametrize(
    ("hook", "above", "written"),
    [
        ("Count(3)", "pass", "Count(3)"),
        ("Count(EVERY)", "pass", "Count(EVERY)"),
        ('Count(params["every"])', "pass", "Count(7)"),
        ('Count(params["dir"])', "pass", "Count(FLAGS.dir)"),
        ("Count(every=FLAGS.n)", "pass", "Count(every=FLAGS.n)"),
        ("hook", 'hook = Count(params["every"])', "Count(7)"),
        ("Count(n)", 'n = params["every"] * 2', "Count(7 * 2)"),
    ],
)
def test_what_a_hook_is_made_from(hook: str, above: str, written: str) -> None:
    assert f"callbacks=[{written}]" in fitted(spec(hook, above=above))


def test_params_that_have_a_name() -> None:
    source = spec('Count(params["every"])').replace(
        '    estimator = tf.estimator.Estimator(model_fn, params={"every": 7, "dir": FLAGS.dir})',
        "    hparams = make()\n    estimator = tf.estimator.Estimator(model_fn, params=hparams)",
    )
    assert 'callbacks=[Count(hparams["every"])]' in fitted(source)


def test_a_logged_line_every_so_many_steps() -> None:
    text = fitted(spec('tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=params["every"])'))
    assert "if batch % 7 == 0:" in text


def test_hooks_of_the_library() -> None:
    hooks = "tf.train.StopAtStepHook(last_step=EVERY), tf.train.StepCounterHook(10)"
    text = fitted(spec(hooks, "estimator.train(input_fn, max_steps=50)\n"))
    assert "        if model.optimizer.iterations.numpy() >= EVERY:\n            model.stop_training = True\n" in text
    alone = fitted(spec(hooks, "estimator.train(input_fn)\n"))
    assert "model.fit(input_fn().take(EVERY))" in alone


def test_a_saver() -> None:
    saver = 'tf.train.CheckpointSaverHook("here", save_steps=5)'
    assert "if (batch + 1) % 5 == 0:\n            checkpoints.save(" in fitted(spec(saver, made=SAVED))


def test_what_only_a_final_hook_fetched_is_gone() -> None:
    text = migrate(spec("tf.train.FinalOpsHook(tf.train.get_global_step())"))
    assert "final" not in text and "callbacks" not in text


def test_summaries_go_to_the_folder_of_the_hook() -> None:
    text = joined(migrate(spec(SHOWN, summary='tf.summary.scalar("again", loss)')))
    lines = "model.summary_writer = tf.summary.create_file_writer(FLAGS.dir)\n    model.summary_steps = 7\n"
    assert lines in text and "callbacks=[tf.keras.callbacks.TensorBoard(FLAGS.dir, update_freq=7)]" in text


def test_summaries_beside_checkpoints_stay_there() -> None:
    source = spec(SHOWN, made=SAVED, summary='tf.summary.scalar("again", loss)')
    assert 'model.summary_writer = tf.summary.create_file_writer("here")' in fitted(source)
    assert "is written to that of the checkpoints now" in messages(source)


def test_evaluations_log() -> None:
    hook = 'tf.train.LoggingTensorHook({"loss": loss, "error": error[1]}, every_n_iter=2)'
    text = fitted(program(EVALUATE, evaluation=f", evaluation_hooks=[{hook}]"))
    line = 'logging.info("loss = %.6g, error = %.6g", logs["loss"], logs["mae"])'
    assert f"    def log_evaluation(batch, logs):\n        if batch % 2 == 0:\n            {line}\n    print(" in text
    assert "callbacks=[tf.keras.callbacks.LambdaCallback(on_test_batch_end=log_evaluation)]" in text


def test_a_hook_of_the_program_in_evaluations() -> None:
    source = program(EVALUATE, evaluation=", evaluation_hooks=[Count()]")
    text = migrate(source)
    assert "def on_test_batch_end(" in text and "model.fit(input_fn().take(20))" in text
    assert "model.evaluate(input_fn(1), callbacks=[Count()], return_dict=True)" in joined(text)


LOGS = 'tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=10)'


@pytest.mark.parametrize(
    ("above", "chosen"),
    [
        (f"hooks = [{LOGS}] if FLAGS.log else None", "FLAGS.log"),
        (f"hooks = None\n    if not FLAGS.use_tpu:\n        hooks = [{LOGS}]", "not FLAGS.use_tpu"),
        (f'hooks = []\n    if params["every"] > 3:\n        hooks.append({LOGS})', "7 > 3"),
    ],
)
def test_hooks_under_a_condition(above: str, chosen: str) -> None:
    text = fitted(spec("Count()", above=above).replace("[Count()]", "hooks"))
    call = "callbacks.append(tf.keras.callbacks.LambdaCallback(on_train_batch_end=log_progress))"
    assert f"    callbacks = []\n    if {chosen}:\n        {call}\n    model.fit(" in text


def test_a_choice_of_two() -> None:
    above = "hooks = [Count(1)] if FLAGS.log else [Count(2)]"
    text = fitted(spec("Count()", above=above).replace("[Count()]", "hooks"))
    assert "if FLAGS.log:\n        callbacks.append(Count(1))\n    else:\n        callbacks.append(Count(2))\n" in text


def test_a_condition_of_evaluations() -> None:
    source = program(EVALUATE, evaluation=", evaluation_hooks=[Count()] if FLAGS.log else []")
    chosen = "    callbacks = []\n    if FLAGS.log:\n        callbacks.append(Count())\n"
    assert f"{chosen}    print(model.evaluate(input_fn(1), callbacks=callbacks, return_dict=True))" in fitted(source)


@pytest.mark.parametrize(
    "source",
    [
        spec("hook").replace("[hook]", "[tf.train.StopAtStepHook(last_step=3)] if FLAGS.a else None"),
        spec("hook").replace("[hook]", "([Count()] if FLAGS.a else []) if FLAGS.b else None"),
        spec("Count(params)"),
        spec("Count(params.get('every'))"),
        spec("Count(n)", above="n = FLAGS.n\n    n += 1"),
        spec("Count(lambda: 1)"),
        spec("tf.train.StopAtStepHook(num_steps=5)"),
        spec("Count()", above="hook = tf.train.FinalOpsHook(tf.train.get_global_step().assign_add(1))").replace(
            "[Count()]", "[hook]"
        ),
        program(EVALUATE, evaluation=', evaluation_hooks=[tf.train.LoggingTensorHook({"p": predictions}, 2)]'),
        program("print([estimator.evaluate(input_fn, steps=n) for n in (1, 2)])\n").replace(
            '{"mae": error}', '{"mae": error}, evaluation_hooks=[tf.train.LoggingTensorHook({"l": loss}, 2)]'
        ),
    ],
)
def test_what_stays(source: str) -> None:
    stays(source)
