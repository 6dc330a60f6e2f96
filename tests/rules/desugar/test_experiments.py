"""Experiments of tf.contrib.learn, spelled out."""

from __future__ import annotations

import textwrap

import pytest
from desugared import MODEL, below
from modelfn.programs import HELPERS, joined, manual_reason, migrate, run

MAKER = """def experiment_fn(run_config, hparams):
    estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, config=run_config)
    return tf.contrib.learn.Experiment(
        estimator, make_input_fn(8, None), make_input_fn(8, 1), {arguments}
    )


"""
RUN = """tf.contrib.learn.learn_runner.run(
    experiment_fn, run_config=tf.contrib.learn.RunConfig(model_dir="m", save_checkpoints_steps=10), {arguments})
"""
EXPORTED = 'export_saved_model(estimator, estimator.run_config.model_dir + "/export/Servo", serve)'
FIT = "model.fit(make_input_fn(8, None)().take("


def program(arguments: str = "train_steps=20", run: str = "") -> str:
    """A program with a function that makes one."""
    return MODEL + MAKER.format(arguments=arguments) + RUN.format(arguments=run)


def experiment(arguments: str, use: str) -> str:
    """A program that makes one where it runs it."""
    made = 'estimator = tf.estimator.Estimator(model_fn, "m", params={"units": 1})\n'
    return MODEL + made + f"experiment = tf.contrib.learn.Experiment(estimator, {arguments})\n" + use


def test_train_and_evaluate_is_what_a_run_does() -> None:
    for schedule in ("", 'schedule="train_and_evaluate",', "schedule=None,"):
        text = below(program(run=schedule))
        assert "validation_data=make_input_fn(8, 1)()" in text and "learn" not in text and "throttle" not in text


def test_one_method() -> None:
    text = below(program(run='schedule="train",'))
    assert FIT in text and "evaluate" not in text
    text = below(program(run='schedule="evaluate",'))
    assert ".fit(" not in text and "make_input_fn(8, 1)()" in text
    text = below(program(run='schedule="test",'))
    assert f"{FIT}1)" in text and "make_input_fn(8, 1)().take(1)" in text


def test_evaluations_at_the_end_alone() -> None:
    text = below(program("train_steps=20, eval_steps=None, min_eval_frequency=0"))
    assert FIT in text and "validation_data" not in text and "evaluate(make_input_fn(8, 1)()" in text
    assert text == below(program("train_steps=20, eval_steps=None", 'schedule="local_run",'))


def test_batches_of_an_evaluation() -> None:
    assert "make_input_fn(8, 1)().take(100)" in below(program(run='schedule="evaluate",'))
    assert "take(7)" in below(program("eval_steps=7", 'schedule="evaluate",'))


def test_a_method_that_is_chosen_when_the_program_runs() -> None:
    text = below(program(run="schedule=input(),"))
    assert 'if schedule == "train":' in text and 'elif schedule in (None, "train_and_evaluate"):' in text
    assert 'raise ValueError("Schedule references non-existent task %s" % schedule)' in text
    assert "schedule=input()" in text


def test_a_function_around_the_one_that_makes_it() -> None:
    inner = textwrap.indent(MAKER.format(arguments="**more").strip(), "    ")
    maker = f"def generate(count, **more):\n    print(count)\n\n{inner}\n\n    return experiment_fn\n\n\n"
    run_ = RUN.format(arguments="").replace("experiment_fn,", "generate(8, train_steps=20, eval_steps=None),")
    text = below(MODEL + maker + run_)
    assert (
        "def generate(count, train_steps, eval_steps, hparams):" in text
        and "**more" not in text
        and "experiment_fn" not in text
    )
    assert "generate(8, train_steps=20, eval_steps=None, " in text


def test_a_partial() -> None:
    maker = MAKER.format(arguments="train_steps=20").replace("run_config, hparams", "steps, run_config, hparams")
    run_ = RUN.format(arguments="").replace("experiment_fn,", "functools.partial(experiment_fn, 3),")
    text = below("import functools\n\n" + MODEL + maker + run_)
    assert "\nexperiment_fn(3, " in text and "partial" not in text


def test_an_output_directory() -> None:
    maker = MAKER.format(arguments="train_steps=20").replace("run_config, hparams", "output_dir")
    maker = maker.replace("config=run_config", "model_dir=output_dir")
    text = below(MODEL + maker + 'tf.contrib.learn.learn_runner.run(experiment_fn, "m")\n')
    assert 'experiment_fn(output_dir="m")' in text and ".fit(make_input_fn(8, None)().take(steps)" in text


def test_methods_called_by_the_program() -> None:
    arguments = "make_input_fn(8, None), make_input_fn(8, 1), train_steps=20, eval_steps=None"
    text = below(experiment(arguments, "experiment.train()\nprint(experiment.evaluate(delay_secs=0))\n"))
    assert "print(model.evaluate(make_input_fn(8, 1)()" in text and ".fit(make_input_fn(8, None)().take(" in text


def test_exports() -> None:
    made = "tf.contrib.learn.utils.saved_model_export_utils.make_export_strategy(serve, exports_to_keep=1)"
    serve = """def serve():
    inputs = {"x": tf.placeholder(tf.float32, [None, 1])}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


"""
    text = program(f"train_steps=20, eval_steps=None, export_strategies=[{made}]")
    text = joined(migrate(text.replace("def experiment_fn", serve + "def experiment_fn")))
    assert EXPORTED in text and "FinalExporter" not in text and "export_strateg" not in text


SERVE = """def serve():
    inputs = {"x": tf.placeholder(tf.float32, [None, 1])}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


"""
STRATEGY = "export_strategies=[tf.contrib.learn.make_export_strategy(serve, exports_to_keep=1)]"


def handed(call: str, around: str = "**more") -> str:
    """A program whose function that makes the maker of an Experiment is called in some way."""
    inner = textwrap.indent(MAKER.format(arguments="eval_steps=None, **more").strip(), "    ")
    maker = f"{SERVE}def generate({around}):\n{inner}\n\n    return experiment_fn\n\n\n"
    return MODEL + maker + RUN.format(arguments="").replace("experiment_fn,", f"{call},")


def test_exports_that_the_caller_hands_in() -> None:
    text = joined(migrate(handed(f"generate(train_steps=20, {STRATEGY})")))
    assert EXPORTED in text and "export_strateg" not in text and "def generate(train_steps, hparams)" in text
    assert "generate(train_steps=20, " in text


def test_exports_that_are_handed_in_by_a_name() -> None:
    strategies = STRATEGY.replace("export_strategies=", "STRATEGIES = ")
    before = handed("generate(train_steps=20, export_strategies=STRATEGIES)").replace(
        "\ntf.contrib.learn.learn", f"\n{strategies}\ntf.contrib.learn.learn"
    )
    text = joined(migrate(before))
    assert EXPORTED in text and "STRATEG" not in text


@pytest.mark.parametrize(
    "before",
    [
        handed(f"generate(train_steps=20, {STRATEGY.replace('serve,', 'SERVE[0],')})").replace(
            "\ntf.contrib.learn.learn", "\nSERVE = [serve]\nSERVE = list(SERVE)\ntf.contrib.learn.learn"
        ),
        handed(f"generate(train_steps=20, {STRATEGY})") + f"generate(train_steps=20, {STRATEGY})\n",
        handed(f"generate({STRATEGY.partition('=')[2]}, 20)", "export_strategies, train_steps")
        .replace("**more", "train_steps=train_steps, export_strategies=export_strategies")
        .replace("    def experiment", "    print(export_strategies)\n\n    def experiment"),
    ],
)
def test_exports_that_are_handed_in_and_may_be_others(before: str) -> None:
    assert "Experiment" in manual_reason(before)


def test_a_value_that_changes_before_the_run() -> None:
    arguments = "make_input_fn(8, None), make_input_fn(8, 1), train_steps=steps"
    source = experiment(arguments, "steps = 30\nexperiment.train()\n").replace(
        "experiment = ", "steps = 20\nexperiment = "
    )
    assert "what an Experiment is made of may change before it runs" in manual_reason(source)


@pytest.mark.parametrize(
    ("arguments", "run_", "reason"),
    [
        ("eval_metrics=METRICS", "", "`eval_metrics` of an Experiment is not followed"),
        ("checkpoint_and_export=True", "", "`checkpoint_and_export` of an Experiment is not followed"),
        ("**MORE", "", "the arguments of an Experiment are not seen"),
        ("export_strategies=STRATEGIES", "", "the ExportStrategies of an Experiment are not seen"),
        ("", 'schedule="continuous_eval",', "`continuous_eval` of an Experiment is not followed"),
    ],
)
def test_what_is_not_followed(arguments: str, run_: str, reason: str) -> None:
    assert reason in manual_reason(program(arguments, run_))


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("keep(experiment)\n", "an Experiment is handed on"),
        ("experiment.extend_train_hooks([])\n", "`extend_train_hooks` of an Experiment is not followed"),
        ("experiment.continuous_eval()\n", "`continuous_eval` of an Experiment is not followed"),
        ("print(experiment.test())\n", "what a run of an Experiment returns is read"),
    ],
)
def test_uses_that_are_not_followed(use: str, reason: str) -> None:
    assert reason in manual_reason(experiment("make_input_fn(8, None), make_input_fn(8, 1)", use))


def test_a_function_that_nothing_runs() -> None:
    source = MODEL + MAKER.format(arguments="train_steps=20") + "print(experiment_fn)\n"
    assert "a function that makes an Experiment is handed on" in manual_reason(source)


def test_hooks_of_a_chosen_method_keep_helpers() -> None:
    source = program("train_monitors=hooks", "schedule=input(),")
    hooks = "    hooks = [tf.train.StepCounterHook(5)]\n"
    assert HELPERS in run(source.replace("    return tf.contrib", hooks + "    return tf.contrib"))


def test_parameters_by_position() -> None:
    text = below(program().replace("hparams):", "settings):"))
    assert "experiment_fn(settings=None)" in text
    source = program().replace("(run_config, hparams)", "(run_config)")
    assert "a function that makes an Experiment takes no `hparams`" in manual_reason(source)


def test_comments_beside_its_arguments_go_with_it_and_are_named() -> None:
    source = program("train_steps=20,  # enough\n")
    assert "# enough" not in migrate(source) and "make_input_fn(8, None)()" in migrate(source)
    said = [found.message for outcome in run(source).values() for found in (*outcome.applied, *outcome.remaining)]
    assert any("go with it: # enough" in message for message in said)
