"""`train_and_evaluate` on one device: one `fit` with evaluations between its epochs."""

from __future__ import annotations

import re
import textwrap

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop import ESTIMATOR, MODEL, kept

CLUSTER = "tf2_cluster.py"
SPECS = """\
train_spec = tf.estimator.TrainSpec(make_input_fn(8, None), max_steps=20)
eval_spec = tf.estimator.EvalSpec(make_input_fn(4, 1), steps=None)
tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
"""
CALL = """\
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec({train}),
    tf.estimator.EvalSpec({evaluate}))
"""


def made(config: str = "", call: str = SPECS, before: str = "") -> str:
    """What becomes of the code behind the functions, without line breaks at brackets."""
    estimator = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}{config})\n'
    text = migrate(MODEL + textwrap.dedent(before) + estimator + call)
    text = joined(text[text.index("model = create_model(") :]).partition("\n")[2].strip()
    return text.replace(",\n)", ")")


def configured(fields: str) -> str:
    return f", config=tf.estimator.RunConfig({fields})"


def called(train: str, evaluate: str = "make_input_fn(4, 1), steps=None") -> str:
    return CALL.format(train=train, evaluate=evaluate)


def stop(last: object, indent: str = "") -> str:
    """The function that ends a training at a step."""
    lines = f"""\
def stop_at_last_step(batch, logs):
    if model.optimizer.iterations.numpy() >= {last}:
        model.stop_training = True
"""
    return textwrap.indent(lines, indent) + ("\n" if indent else "\n\n")


STEPS = configured("save_checkpoints_steps=5")
SAVES = configured('"here", save_checkpoints_steps=5')
VALIDATION = "validation_data=make_input_fn(4, 1)()"


def test_one_epoch_where_checkpoints_are_not_told() -> None:
    assert made() == f"model.fit(make_input_fn(8, None)().take(20), {VALIDATION})"


def test_nothing_is_vendored_for_it() -> None:
    assert not {HELPERS, CLUSTER} & set(run(MODEL + ESTIMATOR + SPECS))


def test_one_epoch_where_the_first_checkpoint_is_the_last_one() -> None:
    assert made(configured("save_checkpoints_steps=20")) == made()
    assert made(configured("save_checkpoints_steps=25")) == made()


def test_an_epoch_for_each_checkpoint() -> None:
    assert made(STEPS) == f"model.fit(make_input_fn(8, None)(), steps_per_epoch=5, epochs=4, {VALIDATION})"


def test_the_last_epoch_may_be_shorter() -> None:
    callbacks = "callbacks=[tf.keras.callbacks.LambdaCallback(on_train_batch_end=stop_at_last_step)]"
    after = f"{stop(23)}model.fit(make_input_fn(8, None)(), steps_per_epoch=5, epochs=-(-23 // 5), {VALIDATION}, {callbacks})"
    assert made(STEPS, called("make_input_fn(8, None), max_steps=23")) == after


def test_steps_that_options_say() -> None:
    before = "STEPS, EVERY = load()\n"
    text = made(configured("save_checkpoints_steps=EVERY"), called("make_input_fn(8, None), max_steps=STEPS"), before)
    assert "steps_per_epoch=EVERY, epochs=-(-STEPS // EVERY), " in text and "iterations.numpy() >= STEPS" in text


def test_a_folder_of_checkpoints() -> None:
    text = made(SAVES)
    assert text.endswith(
        "done = model.optimizer.iterations.numpy()\n"
        f"if done < 20:\n{stop(20, '    ')}"
        "    model.fit(make_input_fn(8, None)(), steps_per_epoch=5, initial_epoch=done // 5, epochs=4, "
        f"{VALIDATION}, callbacks=[tf.keras.callbacks.LambdaCallback(on_train_batch_end=stop_at_last_step, "
        "on_epoch_end=lambda epoch, logs: checkpoints.save(model.optimizer.iterations)), "
        'tf.keras.callbacks.TensorBoard("here")])'
    )


@pytest.mark.parametrize(
    "every, summaries, told", [(5, 5, ""), (5, 3, ", update_freq=3"), (200, 100, ", update_freq=100")]
)
def test_epochs_show_what_summaries_would(every: int, summaries: int, told: str) -> None:
    text = made(configured(f'"here", save_checkpoints_steps={every}, save_summary_steps={summaries}'))
    assert f'tf.keras.callbacks.TensorBoard("here"{told})' in text


def test_a_hundred_batches_where_an_evaluation_is_not_limited() -> None:
    call = called("make_input_fn(8, 1)", "make_input_fn(4, None)")
    assert made(call=call) == "model.fit(make_input_fn(8, 1)(), validation_data=make_input_fn(4, None)().take(100))"


def test_a_limit_of_evaluations() -> None:
    call = called("make_input_fn(8, 1)", "make_input_fn(4, None), steps=7, name='test'")
    assert made(call=call).endswith("validation_data=make_input_fn(4, None)().take(7))")


def test_arguments_by_name_and_comments() -> None:
    call = """\
train_spec = tf.estimator.TrainSpec(
    input_fn=lambda: make_input_fn(8, None)(),  # all of it
    max_steps=20)
tf.estimator.train_and_evaluate(
    train_spec=train_spec, estimator=estimator,
    eval_spec=tf.estimator.EvalSpec(make_input_fn(4, 1), None))
"""
    assert made(call=call) == f"# all of it\nmodel.fit(make_input_fn(8, None)().take(20), {VALIDATION})"


TIMES = """\
train_spec = tf.estimator.TrainSpec(make_input_fn(8, None), max_steps=20)
eval_spec = tf.estimator.EvalSpec(
    make_input_fn(4, 1),
    steps=None,  # to the end
    start_delay_secs = 1, # start evaluating after N seconds
    throttle_secs=10,  # evaluate every N seconds
)
tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
"""


def test_comments_on_arguments_without_a_match_go_with_them() -> None:
    text = made(call=TIMES)
    assert "# to the end" in text and "N seconds" not in text


def test_a_training_that_follows_goes_on() -> None:
    text = made(call=SPECS + called("make_input_fn(8, None), max_steps=40"))
    assert "steps = 40 - model.optimizer.iterations.numpy()\nif steps > 0:\n    model.fit(" in text


def test_epochs_that_may_start_from_any_step_end_at_the_last_one() -> None:
    first, second = called("make_input_fn(8, None), max_steps=23"), called("make_input_fn(8, None), max_steps=40")
    assert made(STEPS, first + second).count(".iterations.numpy() >= 40") == 1


def test_numbers_that_are_computed_are_computed_once() -> None:
    text = made(STEPS, called("make_input_fn(8, None), max_steps=2 * int('10')"))
    assert text.startswith(
        f"max_steps = 2 * int('10')\n\n\n{stop('max_steps')}model.fit(make_input_fn(8, None)(), steps_per_epoch=5, "
    )
    assert "epochs=-(-max_steps // 5), " in text and ".iterations.numpy() >= max_steps:" in text
    text = made(configured("'here', save_checkpoints_steps=5 + len('a')"), before="max_steps = 1\n")
    assert "save_steps = 5 + len('a')\ndone = model.optimizer.iterations.numpy()\nif done < 20:\n" in text
    assert "steps_per_epoch=save_steps, initial_epoch=done // save_steps, epochs=-(-20 // save_steps), " in text


def test_steps_are_not_grouped_where_training_may_end_amid_a_group() -> None:
    fields = '"here", save_checkpoints_steps=100, save_summary_steps=100'
    estimator = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}{configured(fields)})\n'
    assert "steps_per_execution" not in migrate(MODEL + estimator + SPECS.replace("20", "3000"))


@pytest.mark.parametrize(
    "every, limit, together",
    [(100, 3000, 100), (100, 300, 100), (100, 100, 1), (100, 2550, 1), (50, 3000, 50), (25, 3000, 1)],
)
def test_steps_are_grouped_where_epochs_hold_whole_groups(every: int, limit: int, together: int) -> None:
    config = f", config=tf.estimator.RunConfig(save_checkpoints_steps={every})"
    estimator = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}{config})\n'
    text = migrate(MODEL + estimator + SPECS.replace("20", str(limit)))
    found = re.search(r"steps_per_execution=(\d+)", text)
    assert (int(found[1]) if found else 1) == together


def counted(text: str, data: str = "make_input_fn(8, 9)()") -> str:
    """A training whose steps are counted before it."""
    lines = f"train_data = {data}\nmax_steps = {text}.numpy()\n\n\n{stop('max_steps')}"
    callbacks = "callbacks=[tf.keras.callbacks.LambdaCallback(on_train_batch_end=stop_at_last_step)]"
    return f"{lines}model.fit(train_data, steps_per_epoch=5, epochs=-(-max_steps // 5), {VALIDATION}, {callbacks})"


def test_data_that_end_are_counted() -> None:
    assert made(STEPS, called("make_input_fn(8, 9)")) == counted("train_data.cardinality()")
    assert made(STEPS, called("make_input_fn(8, 9), max_steps=20")) == counted("train_data.take(20).cardinality()")
    assert made(STEPS, called("make_input_fn(8, 5), max_steps=N"), "N = load()\n").count("take(N).cardinality()") == 1


LINES = "tf.data.TextLineDataset('train').map(parse).batch(8)"
EVAL = "make_input_fn(4, 1)()"


@pytest.mark.parametrize(
    ("data", "before"),
    [
        (LINES, ""),
        ("generated()", "def generated():\n    return tf.data.Dataset.from_generator(rows, tf.float32)\n\n\n"),
        ("make_input_fn(8, unknown())()", ""),
    ],
)
def test_data_that_nobody_has_counted_are_one_epoch(data: str, before: str) -> None:
    call = called("generated" if before else f"lambda: {data}")
    assert f"model.fit({data}, callbacks=[ValidateEvery({EVAL}, 5)])" in made(STEPS, before + call)


def test_one_epoch_saves_by_steps() -> None:
    text = made(SAVES, called(f"lambda: {LINES}, max_steps=N"), "N = load()\n")
    assert "reduce(" not in text and f'ValidateEvery({EVAL}, 5, os.path.join("here", "validation"))' in text
    assert "if (batch + 1) % 5 == 0:\n" in text and ".save(model.optimizer.iterations)" in text


def test_a_training_of_one_epoch_tells_who_stops_it_of_its_evaluations() -> None:
    hooks = "tf.estimator.experimental.stop_if_no_decrease_hook(estimator, 'loss', 10)"
    text = joined(made(STEPS, called(f"lambda: {LINES}, hooks=[{hooks}]")))
    stop = 'tf.keras.callbacks.EarlyStopping(monitor="val_loss", mode="min", patience=2)'
    assert f"callbacks=[ValidateEvery({EVAL}, 5, callbacks=[{stop}])]" in text


def test_a_hook_reads_evaluations_without_a_name_alone() -> None:
    hooks = "tf.estimator.experimental.stop_if_no_decrease_hook(estimator, 'loss', 10)"
    for name, fits in (("None", True), ("'valid'", False)):
        call = called(f"make_input_fn(8, None), max_steps=20, hooks=[{hooks}]", f"make_input_fn(4, 1), name={name}")
        text = migrate(MODEL + f"estimator = tf.estimator.Estimator(model_fn, params={{'units': 1}}{STEPS})\n" + call)
        assert (".fit(" in text) is fits


def test_a_training_that_goes_on_counts_from_where_it_is() -> None:
    text = made(SAVES, called("make_input_fn(8, 9)"))
    assert "\ntrain_data = make_input_fn(8, 9)()\nmax_steps = done + train_data.cardinality().numpy()\n" in text
    text = made(SAVES, called("make_input_fn(8, 9), max_steps=20"))
    assert "max_steps = min(20, done + train_data.take(20).cardinality().numpy())\nif done < max_steps:\n" in text


@pytest.mark.parametrize(
    "config, call",
    [
        (STEPS, "if make_input_fn: " + called("make_input_fn(8, 9)").replace("\n", "") + "\n"),
        (STEPS, "if make_input_fn: " + SPECS.splitlines()[2].replace("train_spec", "tf.estimator.TrainSpec(\
            make_input_fn(8, None), max_steps=2 * int('10'))").replace("eval_spec", "tf.estimator.EvalSpec(\
            make_input_fn(4, 1), steps=None)") + "\n"),
        ("", called("make_input_fn(8, None)")),
        ("", called("make_input_fn(8, 1)", "make_input_fn(4, None), steps=None")),
        ("", called("make_input_fn(8, 1), hooks=[tf.train.StopAtStepHook(5)]")),
        ("", called("make_input_fn(8, 1)", "make_input_fn(4, 1), exporters=load()")),
        ("", SPECS + "print(train_spec.max_steps)\n"),
        ("", "name = make_input_fn\n" + SPECS.replace("TrainSpec(make_", "TrainSpec(name").replace("(name", "(name or ")),
        ("", "def specs():\n    " + SPECS.splitlines()[0] + "\n    return train_spec\n\n\n" + SPECS.replace(
            SPECS.splitlines()[0], "train_spec = specs()")),
        (", model_dir='here', config=tf.estimator.RunConfig(save_checkpoints_secs=None)", SPECS),
    ],
)  # fmt: skip
def test_what_is_not_understood_stays_with_helpers(config: str, call: str) -> None:
    estimator = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}{config})\n'
    text = kept(call, MODEL + estimator)
    assert "train_and_evaluate(" in text and CLUSTER in run(MODEL + estimator + call)


def test_values_that_change_before_the_call_stay_with_helpers() -> None:
    lines = SPECS.splitlines(keepends=True)
    kept("steps = 20\n" + lines[0].replace("20", "steps") + "steps = 30\n" + "".join(lines[1:]))


def speaking(words: str) -> str:
    """A program with a line that speaks of clusters."""
    return MODEL.replace("import tensorflow as tf", "import os\n\nimport tensorflow as tf") + words + "\n" + ESTIMATOR


def test_programs_with_a_strategy_beside_their_configuration_stay_with_helpers() -> None:
    kept(SPECS, speaking("strategy = tf.distribute.MirroredStrategy()"))


def test_none_as_a_partitioner_speaks_of_no_cluster() -> None:
    text = migrate(MODEL.replace("def model_fn", "partitioner = None\n\n\ndef model_fn") + ESTIMATOR + SPECS)
    assert ".fit(" in text and "make_strategy" not in text


@pytest.mark.parametrize("words", ['os.environ["TF_CONFIG"] = "{}"', "partitioner = print"])
def test_programs_that_speak_of_clusters_make_their_strategy(words: str) -> None:
    text = migrate(speaking(words) + SPECS)
    assert "def make_strategy(" in text and "model.distribute_strategy.distribute_datasets_from_function(" in text


def test_a_strategy_that_is_asked_for() -> None:
    text = migrate(MODEL + ESTIMATOR + SPECS, strategy="parameter_server")
    assert "model.fit(" in text and "def make_strategy(" in text
    assert ".fit(" in migrate(MODEL + ESTIMATOR + SPECS, strategy="none")


def said(config: str, call: str = SPECS) -> str:
    estimator = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}{config})\n'
    outcome = run(MODEL + estimator + call)["program.py"]
    return " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))


def test_what_changes_is_said() -> None:
    assert "one device now, whatever TF_CONFIG says" in said("")
    assert "evaluates amid the training, too, by save_checkpoints_secs" in said("")
    assert "passes over those within throttle_secs" in said(STEPS) and "amid the training, too" not in said(STEPS)
    assert "throttle_secs" not in said(
        STEPS, called("make_input_fn(8, None), 20", "make_input_fn(4, 1), throttle_secs=0")
    )


@pytest.mark.parametrize("asked, said", [(", throttle_secs=60", True), ("", False)])
def test_evaluations_by_time_are_said_to_be_none(asked: str, said: bool) -> None:
    text = made(call=called("make_input_fn(8, 1)", f"make_input_fn(4, 1){asked}"))
    assert text.startswith("# It is evaluated once, at the end: nothing goes by throttle_secs.\nmodel.fit(") is said


def test_a_training_in_a_context_of_the_program() -> None:
    *specs, call = SPECS.splitlines()
    text = made(call="\n".join([*specs, "with Timer() as timer:", f"    {call}", "    print(timer)\n"]))
    assert text.startswith("with Timer() as timer:\n    model.fit(make_input_fn(8, None)().take(20), ")
    assert text.endswith("\n    print(timer)") and "Spec" not in text
