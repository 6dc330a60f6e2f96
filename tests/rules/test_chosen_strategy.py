"""``--strategy``: what programs train on, whatever they say themselves."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import STRATEGIES, Settings

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


"""
NEW = {
    "none": "tf.distribute.get_strategy()",
    "mirrored": "tf.distribute.MirroredStrategy()",
    "multi_worker": "multi_worker_strategy()",
    "tpu": "tpu_strategy()",
}
ESTIMATOR = "e = tf.estimator.Estimator(model_fn, config=c)"
MIRRORED = "tf.contrib.distribute.MirroredStrategy(num_gpus=2)"


def migrated(lines: str, strategy: str, model: str = MODEL) -> tuple[str, list[str]]:
    """What becomes of these statements, and the reason of each program that stays."""
    outcomes = migrate_component([decode("program.py", f"{model}{lines}\n".encode())], Settings(strategy=strategy))
    (program,) = (outcome for outcome in outcomes if outcome.path == "program.py")
    text = program.after.decode()
    end = "(model, config, model_dir=model_dir)\n"
    return text.split(end)[-1].strip(), [unit.reason for unit in program.units if unit.tier == "manual"]


@pytest.mark.parametrize("strategy", sorted(NEW))
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c = tf.estimator.RunConfig()", "c = RunConfig(strategy={0})"),
        ("c = tf.estimator.RunConfig(save_summary_steps=1)", "c = RunConfig(save_summary_steps=1, strategy={0})"),
        ("c = tf.estimator.RunConfig(train_distribute=S, tf_random_seed=1)",
         "c = RunConfig(strategy={0}, tf_random_seed=1)"),
        ("c = tf.estimator.RunConfig(train_distribute=S, eval_distribute=S)", "c = RunConfig(strategy={0})"),
        ("c = tf.estimator.RunConfig(eval_distribute=S)", "c = RunConfig(strategy={0})"),
        (f"c = tf.estimator.RunConfig(experimental_distribute=tf.contrib.distribute.DistributeConfig({MIRRORED}))",
         "c = RunConfig(strategy={0})"),
        ("c = tf.estimator.RunConfig().replace(train_distribute=S)", "c = RunConfig(strategy={0})"),
        (f"s = {MIRRORED}\nc = tf.estimator.RunConfig(train_distribute=s)", "c = RunConfig(strategy={0})"),
        (f"s = {MIRRORED} if N else None\nc = tf.estimator.RunConfig(train_distribute=s)",
         "c = RunConfig(strategy={0})"),
        (f"if N > 1:\n    s = {MIRRORED}\nelif N:\n    s = tf.contrib.distribute.OneDeviceStrategy('/gpu:0')\n"
         "else:\n    s = None\nc = tf.estimator.RunConfig(train_distribute=s)", "c = RunConfig(strategy={0})"),
    ],
)  # fmt: skip
def test_configurations(old: str, new: str, strategy: str) -> None:
    text, manual = migrated(f"{old}\n{ESTIMATOR}", strategy)
    assert not manual
    if strategy == "none":  # one device is what there is without helpers for others
        new = re.sub(r"(, )?strategy=\{0\}(?(1)|(, )?)", "", new)
    assert text == f"{new.format(NEW[strategy])}\ne = create_model(config=c)"


@pytest.mark.parametrize("given", ["", ", config=None"])
def test_an_estimator_without_configuration_gets_one(given: str) -> None:
    text, _ = migrated(f"e = tf.estimator.Estimator(model_fn, 'm'{given})", "mirrored")
    assert text == "e = create_model(model_dir='m', config=RunConfig(strategy=tf.distribute.MirroredStrategy()))"


@pytest.mark.parametrize(
    "old",
    [
        f"s = {MIRRORED}\nc = tf.estimator.RunConfig(train_distribute=s, eval_distribute=s)",
        "c = tf.estimator.RunConfig()",
    ],
)
def test_parameter_servers_are_those_of_the_cluster(old: str) -> None:
    text, _ = migrated(f"{old}\n{ESTIMATOR}", "parameter_server")
    assert text == "c = RunConfig()\ne = create_model(config=c)"
    text, _ = migrated("e = tf.estimator.Estimator(model_fn)", "parameter_server")
    assert text == "e = create_model()"


def test_auto_follows_the_program() -> None:
    text, _ = migrated(f"c = tf.estimator.RunConfig(train_distribute={MIRRORED})\n{ESTIMATOR}", "auto")
    assert 'strategy=tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])' in text


@pytest.mark.parametrize("strategy", STRATEGIES[1:])
@pytest.mark.parametrize(
    "old",
    [
        f"s = {MIRRORED}\nprint(s.num_replicas_in_sync)\nc = tf.estimator.RunConfig(train_distribute=s)",
        f"def made():\n    return {MIRRORED}\nc = tf.estimator.RunConfig(train_distribute=made())",
    ],
)
def test_strategies_for_more_than_that_are_refused(old: str, strategy: str) -> None:
    _, manual = migrated(f"{old}\n{ESTIMATOR}", strategy)
    assert manual and "made for more than that" in manual[0]


def test_a_file_without_a_name_for_tensorflow_is_refused() -> None:
    model = "from tensorflow.estimator import Estimator, RunConfig\nimport net\n"
    _, manual = migrated("e = Estimator(net.model_fn, config=RunConfig())", "mirrored", model)
    assert manual and "--strategy needs a name for TensorFlow" in manual[0]


def test_canned_estimators() -> None:
    lines = (
        "import tensorflow.compat.v1 as tf\ne = tf.estimator.LinearRegressor([tf.feature_column.numeric_column('x')])"
    )
    text, manual = migrated(lines, "none", "")
    assert not manual
    assert "strategy" not in text


@pytest.mark.parametrize("strategy", ["mirrored", "multi_worker"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("e = tf.estimator.Estimator(model_fn, None, tf.estimator.RunConfig())", "RunConfig(strategy={0})"),
        ("e = tf.estimator.Estimator(model_fn, None, None, P)", "RunConfig(strategy={0})"),
    ],
)
def test_a_configuration_by_position(old: str, new: str, strategy: str) -> None:
    text, reasons = migrated(old, strategy)
    assert not reasons and new.format(NEW[strategy]) in text
