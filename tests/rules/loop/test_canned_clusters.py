"""Canned Estimators of programs that speak of TF_CONFIG or of partitioners: their models on parameter servers, by `fit`."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop_canned import TRAIN, program

CLUSTER = "tf2_cluster.py"
SPLIT = "tf.min_max_variable_partitioner(max_partitions=2, min_slice_size=64 << 10)"
SHARDS = "tf.distribute.experimental.partitioners.MinSizePartitioner(max_shards=2, min_shard_bytes=64 << 10)"
NETWORK = f"DNNClassifier([8], COLUMNS, input_layer_partitioner={SPLIT})"
SAVED = "DNNClassifier([8], COLUMNS, config=tf.estimator.RunConfig('logs', save_checkpoints_steps=5){more})"
SPECS = """\
    train_spec = tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=10)
    eval_spec = tf.estimator.EvalSpec(lambda: input_fn({repeat}), steps={steps}, throttle_secs=0)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
"""
TOLD = "import os\nimport sys\nos.environ['TF_CONFIG'] = sys.argv[1]\n"


def written(made: str, uses: str = TRAIN, before: str = "") -> str:
    """A program after migration, on long lines; nothing is vendored for it."""
    source = program(made, uses, before=before)
    assert not {HELPERS, CLUSTER} & set(run(source))
    return joined(migrate(source)).replace("\n)", ")")


def kept(made: str, uses: str = TRAIN, before: str = "") -> None:
    """It is one that stays with helpers."""
    source = program(made, uses, before=before)
    assert CLUSTER in run(source) and ".fit(" not in migrate(source)


def test_a_partitioner_is_that_of_parameter_servers() -> None:
    text = written(NETWORK)
    assert "def make_strategy(variable_partitioner):" in text and "MultiWorker" not in text
    assert f"with make_strategy({SHARDS}).scope():\n    model = DNNClassifier([8], COLUMNS)\n    model.compile(" in text
    data = "model.distribute_strategy.distribute_datasets_from_function(lambda context: input_fn(None))"
    assert text.endswith(f"model.fit({data}, steps_per_epoch=5)\n")


@pytest.mark.parametrize(
    "made",
    [
        "LinearClassifier(COLUMNS, partitioner=split)",
        "LinearRegressor(COLUMNS, partitioner=split)",
        "DNNRegressor([4], COLUMNS, input_layer_partitioner=split)",
        "DNNLinearCombinedClassifier(linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[4], "
        "input_layer_partitioner=split)",
        "DNNClassifier([4], COLUMNS, weight_column='w', input_layer_partitioner=split)",
    ],
)
def test_one_that_has_a_name_goes_by_it(made: str) -> None:
    text = written(made, before=f"split = {SPLIT}\n")
    assert f"split = {SHARDS}\n" in text and "with make_strategy(split).scope():\n" in text
    assert "partitioner=" not in text.partition("with make_strategy")[2]


def test_without_one_large_tables_are_shared_as_an_estimator_did() -> None:
    text = written("DNNClassifier([8], COLUMNS)", SPECS.format(repeat=1, steps=None).replace("    ", ""), before=TOLD)
    assert "def make_strategy():" in text and "with make_strategy().scope():\n" in text
    assert 'MinSizePartitioner(min_shard_bytes=64 << 20, max_shards=len(cluster.job_tasks("ps")))' in text


def test_a_function_makes_it() -> None:
    build = f"def build(folder):\n    return tf.estimator.{SAVED.format(more=f', input_layer_partitioner={SPLIT}')}\n"
    source = program("BUILD", "", before=build.replace("'logs'", "folder")).replace(
        "tf.estimator.BUILD", "build('logs')"
    )
    text = joined(migrate(source + SPECS.format(repeat=1, steps=None).replace("    ", "")))
    assert f"    with make_strategy({SHARDS}).scope():\n        model = DNNClassifier([8], COLUMNS)\n" in text
    assert "    return model\n" in text and "lambda context: input_fn(None)" in text and ".fit(" in text


@pytest.mark.parametrize(("repeat", "steps", "count"), [("1", "None", "len(input_fn(1))"), ("None", "3", "3")])
def test_one_worker_evaluates_at_the_ends_of_epochs(repeat: str, steps: str, count: str) -> None:
    uses = SPECS.format(repeat=repeat, steps=steps).replace("    ", "")
    text = written(SAVED.format(more=f", input_layer_partitioner={SPLIT}"), uses)
    data = "input_fn(1).repeat()" if repeat == "1" else "input_fn(None).take(3)"
    assert (
        f"""
    steps = {count}

    def save_and_evaluate(epoch, logs):
        checkpoints.save(model.optimizer.iterations)
        model.steps_per_execution = steps  # by one worker, as each reads the data from their start
        results = model.evaluate({data}, steps=steps, return_dict=True)
        model.steps_per_execution = 1
        logs.update({{f"val_{{name}}": value for name, value in results.items()}})
"""
        in text
    )
    assert "validation_data" not in text and "on_epoch_end=save_and_evaluate" in text


def test_arrays_become_datasets_of_each_worker() -> None:
    arrays = "tf.estimator.inputs.numpy_input_fn({'x': x}, x, batch_size=2, num_epochs=None, shuffle=False)"
    before = f"import numpy as np\nx = np.array([1.0, 0.0])\nfeed = {arrays}\n"
    text = written(NETWORK, "estimator.train(feed, steps=5)\n", before=before)
    assert "distribute_datasets_from_function(lambda context: feed)" in text
    assert "feed = tf.data.Dataset.from_tensor_slices(({'x': x}, x)).repeat().batch(2)\n" in text


def test_a_program_on_one_device_has_no_strategy() -> None:
    text = written("DNNClassifier([8], COLUMNS, input_layer_partitioner=None)")
    assert "Strategy" not in text and "scope()" not in text


@pytest.mark.parametrize(
    ("made", "uses", "before"),
    [
        (NETWORK.replace("max_partitions=2", "max_partitions=CONFIG.num_ps_replicas"), TRAIN, "CONFIG = None\n"),
        (NETWORK, "estimator.train(lambda: input_fn(None), hooks=[tf.train.StepCounterHook()], steps=5)\n", ""),
        (
            SAVED.format(more=f", input_layer_partitioner={SPLIT}"),
            SPECS.format(repeat="None", steps="None").replace("    ", ""),
            "",
        ),
        (
            "DNNClassifier([8], COLUMNS, config=tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy()))",
            TRAIN,
            "",
        ),
    ],
    ids=["a number of servers", "hooks", "evaluations without end", "a strategy of its own"],
)
def test_others_keep_helpers(made: str, uses: str, before: str) -> None:
    kept(made, uses, before)
