"""What programs read from a RunConfig about their place in a cluster."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate, run

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


"""
ESTIMATOR = "e = tf.estimator.Estimator(model_fn, config=c)"


def migrated(lines: str) -> str:
    text = migrate(f"{MODEL}{lines}\n{ESTIMATOR}\n")
    return (
        text.split("return configure_distributed(model, config, model_dir=model_dir)\n")[1].strip().rsplit("\n", 1)[0]
    )


@pytest.mark.parametrize(
    "made",
    [
        "c = tf.estimator.RunConfig()",
        "c = tf.estimator.RunConfig().replace(save_summary_steps=1)",
        "c = tf.estimator.RunConfig()\nc = c.replace(save_summary_steps=1)",
        "b = tf.estimator.RunConfig()\nc = b.replace(save_summary_steps=1)",
    ],
)
@pytest.mark.parametrize("field", ["num_ps_replicas", "is_chief", "task_type", "cluster_spec"])
def test_of_a_configuration_that_is_seen(made: str, field: str) -> None:
    assert migrated(f"{made}\nprint(c.{field})").endswith(f"print(current_task().{field})")


@pytest.mark.parametrize("made", ["tf.estimator.RunConfig()", "tf.estimator.RunConfig(model_dir=D)"])
@pytest.mark.parametrize("field", ["num_worker_replicas", "is_chief"])
def test_of_a_configuration_without_a_name(made: str, field: str) -> None:
    text = migrate(f"{MODEL}print({made}.{field})\ne = tf.estimator.Estimator(model_fn)\n")
    assert f"\nprint(current_task().{field})\n" in text
    assert "RunConfig" not in text


@pytest.mark.parametrize("name", ["config", "run_config", "self.config", "job.estimator_config"])
def test_of_what_is_called_a_configuration(name: str) -> None:
    argument = name.split(".")[0]
    lines = f"c = tf.estimator.RunConfig()\ndef count({argument}):\n    return {name}.num_ps_replicas"
    assert migrated(lines).endswith(f"def count({argument}):\n    return current_task().num_ps_replicas")


def test_of_what_an_estimator_is_configured_with() -> None:
    lines = "def build(settings):\n    print(settings.is_chief)\n    return tf.estimator.Estimator(model_fn, config=settings)"
    lines += "\nc = tf.estimator.RunConfig()\ne2 = build(c)"
    assert "print(current_task().is_chief)" in migrated(lines)


@pytest.mark.parametrize(
    "read",
    ["FLAGS.num_ps_replicas", "params.num_ps_replicas", "config.task_type", "config.is_chief", "FLAGS.task_id"],
)
def test_of_anything_else_it_stays(read: str) -> None:
    lines = f"c = tf.estimator.RunConfig()\ndef count(config):\n    return {read}"
    assert migrated(lines).endswith(f"    return {read}")


def test_a_name_for_two_things_stays() -> None:
    lines = "c = tf.estimator.RunConfig()\nd = c\nd = make()\nprint(d.task_type)"
    assert migrated(lines).endswith("print(d.task_type)")


def test_strategies_are_read_under_their_new_names() -> None:
    lines = "c = tf.estimator.RunConfig().replace(train_distribute=S)\nprint(c.train_distribute, c.master)"
    assert migrated(lines).endswith("print(c.strategy, '')")


@pytest.mark.parametrize("field", ["num_ps_replicas", "task_type", "is_chief"])
def test_in_a_model_fn_that_stays_a_graph(field: str) -> None:
    source = f"{MODEL}e = tf.estimator.Estimator(model_fn)\n".replace("labels, mode)", "labels, mode, config)")
    source = source.replace("    predictions", f"    print(config.{field}, config.model_dir)\n    predictions", 1)
    (outcome,) = [o for path, o in run(source, style="bridge").items() if path == "program.py"]
    assert f"print(current_task().{field}, config.model_dir)" in outcome.after.decode()


def test_in_a_model_fn_that_gives_its_configuration_another_value() -> None:
    source = f"{MODEL}e = tf.estimator.Estimator(model_fn)\n".replace("labels, mode)", "labels, mode, config)")
    source = source.replace("    predictions", "    config = params()\n    print(config.task_type)\n    predictions", 1)
    (outcome,) = [o for path, o in run(source, style="bridge").items() if path == "program.py"]
    assert "print(config.task_type)" in outcome.after.decode()


@pytest.mark.parametrize("options", ["FLAGS", "args"])
def test_options_that_are_named_like_a_field_ask_for_no_cluster(options: str) -> None:
    text = migrate(
        f"{MODEL}{options} = read_options()\n{ESTIMATOR.replace('c)', 'None)')}\ne.train({options}.task_type)\n"
    )
    assert "configure(model" in text and "make_strategy" not in text and f"train(e, {options}.task_type)" in text
