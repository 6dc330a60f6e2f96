"""Strategies and the fields of RunConfig that hold them."""

from __future__ import annotations

import re

import pytest
from migrator.rules.distribute.distribution import speaks_of_several
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, migrate, run

from migrator.resolve.module import Module

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


"""
ESTIMATOR = "e = tf.estimator.Estimator(model_fn, config=c)"
CONTRIB, CORE = "tf.contrib.distribute", "tf.distribute"


def program(lines: str) -> str:
    """A program with these statements before its Estimator."""
    return f"{MODEL}{lines}\n{ESTIMATOR}\n"


def migrated(lines: str) -> str:
    text = migrate(program(lines))
    return (
        text.split("return configure_distributed(model, config, model_dir=model_dir)\n")[1].strip().rsplit("\n", 1)[0]
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"{CORE}.MirroredStrategy()", f"{CORE}.MirroredStrategy()"),
        (f"{CORE}.MirroredStrategy(devices=['/gpu:0'])", f"{CORE}.MirroredStrategy(devices=['/gpu:0'])"),
        (f"{CORE}.OneDeviceStrategy('/gpu:0')", f"{CORE}.OneDeviceStrategy('/gpu:0')"),
        (f"{CONTRIB}.MirroredStrategy()", f"{CORE}.MirroredStrategy()"),
        (f"{CONTRIB}.MirroredStrategy(None)", f"{CORE}.MirroredStrategy()"),
        (f"{CONTRIB}.MirroredStrategy(['/gpu:1'])", f"{CORE}.MirroredStrategy(devices=['/gpu:1'])"),
        (f"{CONTRIB}.MirroredStrategy(num_gpus=2)", f'{CORE}.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])'),
        (f"{CONTRIB}.MirroredStrategy(None, 1)", f'{CORE}.MirroredStrategy(devices=["/gpu:0"])'),
        (f"{CONTRIB}.MirroredStrategy(num_gpus=0)", f'{CORE}.MirroredStrategy(devices=["/cpu:0"])'),
        (f"{CONTRIB}.MirroredStrategy(num_gpus_per_worker=1)", f'{CORE}.MirroredStrategy(devices=["/gpu:0"])'),
        (
            f"{CONTRIB}.MirroredStrategy(num_gpus=N)",
            f'{CORE}.MirroredStrategy(devices=[f"/gpu:{{i}}" for i in range(N)] or ["/cpu:0"])',
        ),
        (f"{CONTRIB}.OneDeviceStrategy('/gpu:0')", f"{CORE}.OneDeviceStrategy('/gpu:0')"),
        (f"{CONTRIB}.CollectiveAllReduceStrategy()", "multi_worker_strategy()"),
        (f"{CONTRIB}.CollectiveAllReduceStrategy(num_gpus_per_worker=0)", "multi_worker_strategy()"),
        (f"{CORE}.experimental.MultiWorkerMirroredStrategy()", "multi_worker_strategy()"),
        (f"{CORE}.MultiWorkerMirroredStrategy()", "multi_worker_strategy()"),
        (
            f"{CORE}.experimental.MultiWorkerMirroredStrategy({CORE}.experimental.CollectiveCommunication.NCCL)",
            f"multi_worker_strategy({CORE}.experimental.CollectiveCommunication.NCCL)",
        ),
        (f"{CORE}.experimental.MultiWorkerMirroredStrategy(A, R)", "multi_worker_strategy(A, cluster_resolver=R)"),
        (
            f"{CORE}.experimental.MultiWorkerMirroredStrategy(cluster_resolver=R)",
            "multi_worker_strategy(cluster_resolver=R)",
        ),
        (f"{CORE}.MultiWorkerMirroredStrategy(R)", "multi_worker_strategy(cluster_resolver=R)"),
        (f"{CORE}.MultiWorkerMirroredStrategy(cluster_resolver=None)", "multi_worker_strategy()"),
        (f"{CONTRIB}.TPUStrategy()", "tpu_strategy()"),
        (f"{CONTRIB}.TPUStrategy(R, steps_per_run=10)", "tpu_strategy(R)"),
        (f"{CORE}.experimental.TPUStrategy(tpu_cluster_resolver=R)", "tpu_strategy(R)"),
        (f"{CORE}.experimental.TPUStrategy(None)", "tpu_strategy()"),
        (f"{CONTRIB}.ParameterServerStrategy()", "None"),
        (f"{CORE}.experimental.ParameterServerStrategy()", "None"),
        (f"{CORE}.experimental.ParameterServerStrategy() if CLUSTER else None", "None"),
        (f"None if A else (None if B else {CORE}.experimental.ParameterServerStrategy())", "None"),
        (f"{CORE}.experimental.ParameterServerStrategy() if A else B", "None if A else B"),
        (f"{CORE}.experimental.ParameterServerStrategy() if (n := N) else None", "None if (n := N) else None"),
    ],
)
def test_strategies(old: str, new: str) -> None:
    assert migrated(f"s = {old}\nc = tf.estimator.RunConfig(train_distribute=s)").startswith(f"s = {new}\n")


def test_parameter_servers_of_a_resolver() -> None:
    slurm = "tf.distribute.cluster_resolver.SlurmClusterResolver(jobs={'chief': 1, 'worker': 2, 'ps': 1})"
    lines = f"def main():\n    r = {slurm}\n    s = {CORE}.experimental.ParameterServerStrategy(r)\n"
    lines += "    c = tf.estimator.RunConfig(train_distribute=s)\n    return c\nc = main()"
    found = migrated(lines)
    assert f"    r = {slurm}\n    use_cluster(r)\n    s = None\n    c = RunConfig(strategy=s)\n" in found
    inline = f"c = tf.estimator.RunConfig(train_distribute={CORE}.experimental.ParameterServerStrategy({slurm}))"
    assert migrated(inline) == f"use_cluster({slurm})\nc = RunConfig(strategy=None)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("train_distribute=S", "strategy=S"),
        ("train_distribute=S, eval_distribute=S", "strategy=S, eval_strategy=S"),
        ("train_distribute=None, save_summary_steps=1", "save_summary_steps=1"),
        ("device_fn=F", ""),
        (f"train_distribute={CONTRIB}.MirroredStrategy(num_gpus=1)",
         f'strategy={CORE}.MirroredStrategy(devices=["/gpu:0"])'),
        (f"experimental_distribute={CONTRIB}.DistributeConfig(train_distribute=S)", "strategy=S"),
        (f"experimental_distribute={CONTRIB}.DistributeConfig(S, S), save_summary_steps=1",
         "strategy=S, eval_strategy=S, save_summary_steps=1"),
        (f"experimental_distribute={CONTRIB}.DistributeConfig(S, remote_cluster=None)", "strategy=S"),
        ("experimental_distribute=None", ""),
    ],
)  # fmt: skip
def test_fields_of_run_config(old: str, new: str) -> None:
    assert migrated(f"c = tf.estimator.RunConfig({old})") == f"c = RunConfig({new})"


def test_fields_are_renamed_in_replace_and_where_they_are_read() -> None:
    lines = "c = tf.estimator.RunConfig()\nprint(c)\nd = c.replace(train_distribute=S)"
    assert migrated(lines).endswith("d = c.replace(strategy=S)")
    lines = "c = tf.estimator.RunConfig(train_distribute=S)\nprint(c.train_distribute)"
    assert migrated(lines).endswith("print(c.strategy)")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (f"s = {CONTRIB}.TPUStrategy(R, device_assignment=D)", "device_assignment"),
        (f"make = {CONTRIB}.TPUStrategy", "without being called"),
        (f"s = {CONTRIB}.MirroredStrategy(auto_shard_dataset=True)", "auto_shard_dataset"),
        (f"s = {CONTRIB}.MirroredStrategy(**OPTIONS)", r"hidden behind \* or \*\*"),
        (f"s = {CONTRIB}.MirroredStrategy(cross_device_ops={CONTRIB}.AllReduceCrossDeviceOps('nccl'))",
         "contrib.distribute.AllReduceCrossDeviceOps"),
        (f"s = {CONTRIB}.CollectiveAllReduceStrategy(num_gpus_per_worker=2)", "num_gpus_per_worker"),
        (f"s = {CORE}.experimental.ParameterServerStrategy(R) if A else None", "statement of its own"),
        (f"make = lambda: {CORE}.experimental.ParameterServerStrategy(R)", "statement of its own"),
        (f"x = 1; s = {CORE}.experimental.ParameterServerStrategy(R)", "statement of its own"),
        (f"s = {CORE}.experimental.CentralStorageStrategy()", "use MirroredStrategy"),
        (f"make = {CONTRIB}.MirroredStrategy", "without being called"),
        ("c = tf.estimator.RunConfig(experimental_distribute=D)", "not seen to be a DistributeConfig"),
        (f"c = tf.estimator.RunConfig(experimental_distribute={CONTRIB}.DistributeConfig(S, None, C))",
         "start the program in each process"),
    ],
)  # fmt: skip
def test_refused(lines: str, reason: str) -> None:
    text = lines if lines.startswith("c = ") else f"{lines}\nc = tf.estimator.RunConfig()"
    found = manual_reason(program(text))
    assert re.search(reason, found), found


def test_remarks_say_what_changes() -> None:
    lines = f"s = {CONTRIB}.ParameterServerStrategy()\nc = tf.estimator.RunConfig(train_distribute=s, device_fn=F)"
    outcomes = run(program(lines))
    messages = " ".join(d.message for outcome in outcomes.values() for d in outcome.remaining + outcome.applied)
    assert "its chief coordinates and no longer trains" in messages
    assert "RunConfig(device_fn=…) is dropped" in messages


@pytest.mark.parametrize(
    ("lines", "several"),
    [
        ("def train_and_evaluate(model):\n    model.train(f)", False),
        ("tf.estimator.train_and_evaluate(e, t, v)", True),
        ("from tensorflow.estimator import train_and_evaluate", True),
        ("from tensorflow.estimator import (\n    EvalSpec,\n    train_and_evaluate)", True),
        ('getattr(tf.estimator, "train_and_evaluate")(e, t, v)', True),
        ('f("tpu", "The name of a TPU, or a grpc://address:8470 of one.")  # else a MirroredStrategy', True),
        ('f("name", "The name of a machine, or a grpc://address:8470 of one.")  # not a MirroredStrategy', False),
        ('"""Trains on one device; train_and_evaluate would on those of a Strategy."""', False),
        ('f("grpc://" + address)', True),
        ("N_OUTPUTS = 1; OUTPUT_DIR = f(N_OUTPUTS)", False),
        ("TPU_NAME = f(1)", True),
        ('run("TF_CONFIG={} python -m trainer")', True),
        ('n = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("trial", "")', False),
        ('n = json.loads(os.environ["TF_CONFIG"])["task"]["trial"]', False),
        ('n = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("type")', True),
        ('c = json.loads(os.environ.get("TF_CONFIG", "{}"))', True),
        ('x = "#"; s = tf.distribute.get_strategy()', True),
    ],
)
def test_words_that_ask_for_a_cluster(lines: str, several: bool) -> None:
    module = Module("program.py", f"import tensorflow as tf\n{lines}\n")
    assert bool(speaks_of_several([module], "auto")) == several
