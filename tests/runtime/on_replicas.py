"""On two replicas, `train` and `evaluate` do what Estimator does under MirroredStrategy."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y, create_model, model_fn, read_events

from migrator.runtime.checkpoints.weight_averages import WeightAverages
from migrator.runtime.cluster import replicas
from migrator.runtime.cluster.graph import graph_model
from migrator.runtime.cluster.replicas import share_out
from migrator.runtime.cluster.tasks import ClusterError
from migrator.runtime.cluster.training import configure_distributed
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_hooks import GraphHook
from migrator.runtime.graph_v1.without_tpu import TPUParams
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.inputs import read_input
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, report_batch_loss, train

DEVICES = ["/cpu:0", "/cpu:1"]
keras_2 = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train on several replicas")


@functools.lru_cache(maxsize=1)
def mirrored() -> tf.distribute.Strategy:
    """One for all tests: a process remembers the shapes that collective ops had, and a second strategy counts them anew."""
    return tf.distribute.MirroredStrategy(DEVICES)


def train_input() -> tf.data.Dataset:
    """17 batches: the last one finds no partner."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(3).batch(4)


def eval_input() -> tf.data.Dataset:
    """5 batches, the last one of 2 examples."""
    return tf.data.Dataset.from_tensor_slices(({"x": X[:18]}, Y[:18])).batch(4)


def mirrored_model(folder: Path, strategy: Any, **config: Any) -> tf.keras.Model:
    with strategy.scope():
        return create_model(folder, 100, strategy=strategy, **config)


@keras_2
@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_same_as_estimator(tmp_path: Path) -> None:
    config = tf.estimator.RunConfig(
        train_distribute=mirrored(),
        session_config=tf.compat.v1.ConfigProto(device_count={"CPU": 2}),
        save_summary_steps=1,
    )
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "old"), config)
    estimator.train(train_input)
    model = mirrored_model(tmp_path / "new", mirrored())
    train(model, train_input)
    old, new = (read_events(tmp_path / folder)["loss"] for folder in ("old", "new"))
    assert sorted(old) == sorted(new) == list(range(1, 9))
    np.testing.assert_allclose([new[step] for step in sorted(new)], [old[step] for step in sorted(old)], rtol=1e-5)
    for steps in (None, 1, 2):
        assert evaluate(model, eval_input, steps) == pytest.approx(estimator.evaluate(eval_input, steps), rel=1e-5)
    kernel = estimator.get_variable_value("kernel")
    np.testing.assert_allclose(model.dense.kernel.numpy(), kernel, rtol=1e-5)
    outputs = [row["output"] for row in estimator.predict(eval_input)]
    np.testing.assert_allclose([row["output"] for row in predict(model, eval_input)], outputs, rtol=1e-5)
    on_replicas = tf.estimator.Estimator(model_fn, str(tmp_path / "old"), config.replace(eval_distribute=mirrored()))
    model = mirrored_model(tmp_path / "new", mirrored(), eval_strategy=mirrored())
    for steps in (
        1,
        2,
    ):  # the Estimator itself sometimes counts a last batch that has no partner, and sometimes does not
        assert evaluate(model, eval_input, steps) == pytest.approx(on_replicas.evaluate(eval_input, steps), rel=1e-5)


@keras_2
def test_steps_restart_and_metrics_that_count(tmp_path: Path) -> None:
    strategy = mirrored()
    endless = lambda: train_input().repeat()  # noqa: E731
    straight = mirrored_model(tmp_path / "straight", strategy)
    train(straight, endless, max_steps=6)
    assert int(straight.optimizer.iterations.numpy()) == 6
    again = mirrored_model(tmp_path / "straight", strategy)
    assert evaluate(again, eval_input) == evaluate(straight, eval_input)
    train(again, endless, steps=2)
    assert int(again.optimizer.iterations.numpy()) == 8


@keras_2
def test_replicas_evaluate_with_the_mean_of_their_moving_statistics(tmp_path: Path) -> None:
    def input_fn() -> tf.data.Dataset:  # replicas see other numbers
        return tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4)

    def create(strategy: Any) -> tf.keras.Model:
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(momentum=0.5), tf.keras.layers.Dense(1)])
            model.compile(tf.keras.optimizers.SGD(0.1), tf.keras.losses.MeanSquaredError())
        return configure_distributed(model, model_dir=str(tmp_path))

    trained = create(mirrored())
    train(trained, input_fn, steps=3)
    loaded = create(tf.distribute.get_strategy())
    assert evaluate(trained, input_fn, steps=3) == pytest.approx(evaluate(loaded, input_fn, steps=3), rel=1e-5)


@keras_2
@pytest.mark.parametrize(("fixed", "small"), [(True, False), (False, False), (False, True)])
def test_steps_that_gather_rows_are_grouped_where_batches_have_one_shape(
    tmp_path: Path, fixed: bool, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of small tables are not gathered, but summed as they are."""
    if not small:
        monkeypatch.setattr(replicas, "SMALL_TABLE", 0)

    def input_fn() -> tf.data.Dataset:
        ids = np.arange(64) % 5
        return tf.data.Dataset.from_tensor_slices((ids, ids[:, None] / 5)).repeat().batch(4, drop_remainder=fixed)

    with mirrored().scope():
        model = tf.keras.Sequential([tf.keras.layers.Embedding(5, 1, embeddings_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.5), tf.keras.losses.MeanSquaredError(), steps_per_execution=10)
    report_batch_loss(model)
    configure_distributed(model, RunConfig(str(tmp_path), save_checkpoints_steps=100, strategy=mirrored()))
    run = model.run_state.run
    run.create_variables(input_fn().element_spec, training=True)
    assert run.step_grouper().most == (10 if fixed or small else 1)
    train(model, input_fn, steps=8)
    table, ids = np.ones(5), np.arange(64) % 5
    for step in range(8):
        batch = ids[8 * step : 8 * step + 8]
        np.subtract.at(table, batch, 0.5 * 2 / 8 * (table[batch] - batch / 5))
    np.testing.assert_allclose(model.get_weights()[0][:, 0], table, rtol=1e-5)
    loss = evaluate(model, input_fn, steps=2)["loss"]
    assert loss == pytest.approx(np.mean(np.square(table - np.arange(5) / 5)[ids[:8]]), rel=1e-5)


@pytest.mark.parametrize("shape", [(6,), (6, 2), (6, 2, 3)])
@pytest.mark.parametrize("ids", [[4, 1, 4, 0], []])
def test_rows_that_are_summed_as_a_whole_come_back(shape: tuple[int, ...], ids: list[int]) -> None:
    """A row whose gradient is zero is still one that was looked up."""
    table = tf.Variable(tf.zeros(shape))
    values = np.random.RandomState(0).rand(len(ids), *shape[1:]).astype(np.float32)
    values[-1:] = 0
    gradient = tf.IndexedSlices(tf.constant(values), tf.constant(ids, tf.int64), tf.constant(shape))
    rows = replicas.looked_up_rows(2 * replicas.sum_rows(gradient, table), table)
    expected = np.zeros(shape, np.float32)
    np.add.at(expected, np.array(ids, int), 2 * values)
    assert rows.indices.numpy().tolist() == sorted(set(ids))
    np.testing.assert_allclose(tf.convert_to_tensor(rows), expected, rtol=1e-6)


@keras_2
def test_cores_that_share_a_batch_out_train_as_one_device(tmp_path: Path) -> None:
    """Replicas stand for the cores of a TPU, to which a TPUEstimator gave `train_batch_size` together."""

    def input_fn(params: Any) -> tf.data.Dataset:
        return (
            tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(params["batch_size"], drop_remainder=True)
        )

    weights = []
    for name, strategy in (("cores", mirrored()), ("one", tf.distribute.get_strategy())):
        model = mirrored_model(tmp_path / name, strategy)
        model.run_state.params = TPUParams({}, train_batch_size=8, num_shards=strategy.num_replicas_in_sync)
        train(model, input_fn, steps=6)
        weights.append(model.dense.kernel.numpy())
    np.testing.assert_allclose(*weights, rtol=1e-5)


@keras_2
@pytest.mark.parametrize("repeats", [None, 3])
def test_replicas_do_not_ask_each_other_for_data_that_do_not_end(repeats: int | None) -> None:
    dataset = tf.data.Dataset.range(10).repeat(repeats).batch(4)
    batches = iter(share_out(mirrored(), dataset))
    assert getattr(batches, "_enable_get_next_as_optional") is (repeats is not None)  # noqa: B009
    assert [part.numpy().tolist() for part in next(batches).values] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@keras_2
def test_input_context(tmp_path: Path) -> None:
    seen = []

    def input_fn(input_context: Any = None) -> tf.data.Dataset:
        seen.append(input_context and (input_context.num_input_pipelines, input_context.num_replicas_in_sync))
        return train_input()

    for name, eval_strategy in (("one", None), ("all", mirrored())):
        model = mirrored_model(tmp_path / name, mirrored(), eval_strategy=eval_strategy)
        for mode in ("train", "eval"):
            read_input(model, input_fn, mode)
    assert seen == [(1, 2), None, (1, 2), (1, 2)]  # as an Estimator gives it


@keras_2
@pytest.mark.parametrize("option", ["clipnorm", "clipvalue", "global_clipnorm"])
def test_clipping_of_each_replica_is_refused(tmp_path: Path, option: str) -> None:
    with mirrored().scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.SGD(0.1, **{option: 1.0}))
        with pytest.raises(ClusterError, match="use one device"):
            configure_distributed(model, model_dir=str(tmp_path))


@keras_2
def test_evaluation_on_several_replicas_needs_as_many_to_train_on(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="same strategy"):
        create_model(tmp_path, eval_strategy=mirrored())


@keras_2
def test_evaluation_on_other_replicas_is_refused(tmp_path: Path) -> None:
    other = tf.distribute.MirroredStrategy(["/cpu:0"])
    with pytest.raises(ClusterError, match="same strategy"):
        mirrored_model(tmp_path, mirrored(), eval_strategy=other)


@keras_2
def test_a_model_outside_of_its_strategy_is_refused(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.raises(ClusterError, match="not created in the scope of the strategy"):
        configure_distributed(model, RunConfig(str(tmp_path), strategy=mirrored()))


@keras_2
def test_devices_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ClusterError, match=r"CPU:7, which this process does not have.*set_logical_device_configuration"
    ):
        mirrored_model(tmp_path, tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:7"]))


@pytest.mark.skipif(not hasattr(tf.keras, "ops"), reason="Keras 2 trains on several replicas")
def test_keras_3_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="tf_keras"):
        mirrored_model(tmp_path, mirrored())


def graph_model_fn(features: Any, labels: Any, mode: str, spec: Any = None) -> Any:
    """Has rows looked up, moving statistics, gradients clipped for each replica, and a train op in every mode."""
    v1 = tf.compat.v1
    table = v1.get_variable("table", [5, 2], initializer=v1.ones_initializer())
    rows = v1.nn.embedding_lookup(table, tf.cast(features["x"][:, 0] * 5, tf.int32))
    net = v1.layers.dense(tf.concat([features["x"], rows], 1), 4, kernel_initializer=v1.ones_initializer())
    net = v1.layers.batch_normalization(net, momentum=0.9, training=mode == "train")
    outputs = v1.layers.dense(net, 1, kernel_initializer=v1.constant_initializer(0.3))
    if mode == "infer":
        return spec(mode, {"output": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, outputs)}
    v1.summary.scalar("mae", metrics["mae"][1])
    optimizer = v1.train.AdamOptimizer(0.05)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        pairs = optimizer.compute_gradients(loss)
        clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 1.0)
        pairs = zip(clipped, [variable for _, variable in pairs])
        train_op = optimizer.apply_gradients(pairs, global_step=v1.train.get_global_step())
    return spec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@keras_2
@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_a_kept_graph_is_the_same_as_in_an_estimator(tmp_path: Path) -> None:
    devices = tf.compat.v1.ConfigProto(device_count={"CPU": 2})
    config = tf.estimator.RunConfig(train_distribute=mirrored(), session_config=devices, save_summary_steps=1)
    old_fn = functools.partial(graph_model_fn, spec=tf.estimator.EstimatorSpec)
    estimator = tf.estimator.Estimator(old_fn, str(tmp_path / "old"), config)
    estimator.train(train_input, steps=8)
    config = RunConfig(strategy=mirrored(), save_summary_steps=1)
    model = graph_model(functools.partial(graph_model_fn, spec=EstimatorSpec), str(tmp_path / "new"), config)
    assert evaluate(model, eval_input)["global_step"] == 0  # before there are copies of the variables
    train(model, train_input, steps=8)
    old, new = (read_events(tmp_path / folder)["loss"] for folder in ("old", "new"))
    np.testing.assert_allclose([new[step] for step in range(1, 9)], [old[step] for step in range(1, 9)], rtol=1e-5)
    assert evaluate(model, eval_input) == pytest.approx(estimator.evaluate(eval_input), rel=1e-5)
    for name, variable in model.tf1_variables.items():
        np.testing.assert_allclose(variable.numpy(), estimator.get_variable_value(name), rtol=1e-4, atol=1e-9)
    outputs = [row["output"] for row in estimator.predict(eval_input)]
    np.testing.assert_allclose([row["output"] for row in predict(model, eval_input)], outputs, rtol=1e-5)
    again = graph_model(functools.partial(graph_model_fn, spec=EstimatorSpec), str(tmp_path / "new"))
    assert evaluate(again, eval_input) == pytest.approx(evaluate(model, eval_input), rel=1e-6)

    def without_metrics(features: Any, labels: Any, mode: str) -> Any:
        return graph_model_fn(features, labels, mode, EstimatorSpec)._replace(eval_metric_ops=None)

    bare = graph_model(without_metrics, str(tmp_path / "new"), config)
    assert evaluate(bare, eval_input)["loss"] == pytest.approx(evaluate(model, eval_input)["loss"], rel=1e-6)


class Counting(tf.compat.v1.train.SessionRunHook):
    """Sees the loss of each step, which is a vector of those of the replicas."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def before_run(self, run_context: Any) -> Any:
        return tf.compat.v1.train.SessionRunArgs(run_context.original_args.fetches[0])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(run_values.results)


@keras_2
def test_hooks_of_a_kept_graph_on_replicas(tmp_path: Path) -> None:
    hook, config = Counting(), RunConfig(strategy=mirrored())
    model = graph_model(functools.partial(graph_model_fn, spec=EstimatorSpec), str(tmp_path), config)
    train(model, train_input, steps=2, callbacks=[GraphHook(hook)])
    assert np.shape(hook.seen) == (2, 2)
    assert int(model.optimizer.iterations.numpy()) == 2


@keras_2
def test_a_kept_graph_does_not_evaluate_on_replicas(tmp_path: Path) -> None:
    config = RunConfig(strategy=mirrored(), eval_strategy=mirrored())
    with pytest.raises(ClusterError, match="evaluates on one device"):
        graph_model(functools.partial(graph_model_fn, spec=EstimatorSpec), str(tmp_path), config)


def test_averages_of_weights() -> None:
    strategy = mirrored()
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])
        optimizer = tf.keras.optimizers.SGD(1.0)
        averages = WeightAverages(0.75)

    def step() -> None:
        averages.begin([weight])
        optimizer.apply_gradients([(tf.constant([0.5, 0.5]), weight)])
        averages.update([weight])

    run = tf.function(lambda: strategy.run(step))
    expected = weight.numpy()
    for _ in range(3):
        run()
        expected = expected - 0.25 * (expected - weight.numpy())
    np.testing.assert_allclose(weight.numpy(), [-2.0, -1.0])
    for copy in strategy.experimental_local_results(averages.averages[0]):
        np.testing.assert_allclose(copy.numpy(), expected, rtol=1e-6)
