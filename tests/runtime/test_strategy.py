"""`make_strategy` follows the program, then TF_CONFIG, and refuses clusters that TensorFlow 2 cannot train on."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.cluster import strategy
from migrator.runtime.cluster.strategy import (
    done_file,
    gather_in_order,
    make_strategy,
    multi_worker_strategy,
    start_as_whole,
)
from migrator.runtime.cluster.tasks import ClusterError, ClusterTask, cluster_task
from migrator.runtime.training.config import RunConfig

CHIEF, WORKER, PS = {"chief": ["a:1"]}, {"worker": ["b:1"]}, {"ps": ["c:1"]}


def set_config(monkeypatch: pytest.MonkeyPatch, cluster: dict[str, list[str]], task: str, index: Any = 0) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": task, "index": index}}))


@pytest.mark.parametrize(
    "tf_config",
    ["", "{}", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}', '{"environment": "cloud"}'],
)
def test_one_process(tf_config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", tf_config)
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    assert make_strategy(variable_partitioner=partitioner) is tf.distribute.get_strategy()


@pytest.mark.parametrize("listed", [{}, {"evaluator": ["d:1"]}])
def test_an_evaluator_is_by_itself(listed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {**CHIEF, **WORKER, **PS, **listed}, "evaluator")
    assert make_strategy() is tf.distribute.get_strategy()
    assert multi_worker_strategy() is tf.distribute.get_strategy()


@pytest.mark.parametrize(
    ("cluster", "task", "reason"),
    [
        ({"chief": ["a:1", "b:1"], **WORKER}, "chief", "more than one chief"),
        ({**CHIEF, "master": ["d:1"], **WORKER}, "chief", "more than one chief"),
        ({**CHIEF, **PS}, "chief", "no worker. The chief no longer trains"),
        ({**CHIEF, **PS}, "ps", "no worker"),
        ({**WORKER, **PS}, "worker", "no chief"),
        ({**CHIEF, **WORKER, "tpu_worker": ["d:1"]}, "chief", "tpu_worker"),
        ({**CHIEF, **WORKER}, "ps", "has no ps 0"),
        ({"worker": ["a:1", "b:1"]}, "chief", "has no chief 0"),
    ],
)
def test_refused_clusters(
    cluster: dict[str, list[str]], task: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_config(monkeypatch, cluster, task)
    with pytest.raises(ClusterError, match=reason):
        make_strategy()


def test_index_beyond_the_job_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {**CHIEF, **WORKER}, "worker", 1)
    with pytest.raises(ClusterError, match="has no worker 1"):
        make_strategy()


def test_sparse_cluster_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = {"sparseCluster": {"worker": {"0": "a:1"}, "ps": ["b:1"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(sparse))
    with pytest.raises(ClusterError, match="enableDynamicWorker"):
        make_strategy()


def test_a_master_is_the_chief(monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {"master": ["a:1"], **WORKER, **PS, "evaluator": ["d:1"]}, "master", "0")
    assert cluster_task() == ClusterTask({**CHIEF, **WORKER, **PS}, "chief", 0)


def test_strategy_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {**CHIEF, **WORKER}, "chief")
    given = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert make_strategy(RunConfig(strategy=given)) is given


def test_all_models_of_a_process_share_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def connect(resolver: Any, variable_partitioner: Any) -> Any:
        made.append(variable_partitioner)
        return object()

    monkeypatch.setattr(strategy, "ShardingStrategy", connect)
    monkeypatch.setattr(strategy, "CONNECTED", {})
    monkeypatch.setattr(strategy.atexit, "register", lambda *given: None)
    set_config(monkeypatch, {**CHIEF, **WORKER, **PS}, "chief")
    assert make_strategy(variable_partitioner="one") is make_strategy(variable_partitioner="two")
    set_config(monkeypatch, {**CHIEF, **WORKER, "ps": ["c:1", "d:1"]}, "chief")
    make_strategy(variable_partitioner="three")
    assert made == ["one", "three"]


def test_each_server_of_each_cluster_has_a_file_of_its_own() -> None:
    one, other = ClusterTask({**CHIEF, **WORKER, **PS}), ClusterTask({**CHIEF, **WORKER, "ps": ["c:2"]})
    files = {done_file(task, job, index) for task in (one, other) for job in ("worker", "ps") for index in (0, 1)}
    assert len(files) == 8


@pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train with parameter servers")
@pytest.mark.parametrize("kind", ["GlorotUniform", "GlorotNormal", "HeNormal", "LecunUniform"])
@pytest.mark.parametrize("shape", [(400, 50), (4, 4, 30, 20), (400,)])
def test_parts_of_a_variable_are_drawn_as_those_of_the_whole(kind: str, shape: tuple[int, ...]) -> None:
    made: dict[str, Any] = {}
    initial_value = functools.partial(getattr(tf.keras.initializers, kind)(seed=1), shape, dtype=tf.float32)
    start_as_whole(lambda **given: made.update(given), initial_value=initial_value, name="kernel")
    assert made["name"] == "kernel"
    whole = initial_value()
    part = (shape[0] // 4, *shape[1:])
    drawn = made["initial_value"](partition_shape=part, partition_offset=(part[0], *(0 for _ in shape[1:])))
    assert drawn.shape == part
    np.testing.assert_allclose(made["initial_value"](), whole, rtol=1e-6)
    assert np.std(drawn) == pytest.approx(np.std(whole), rel=0.15)


@pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train with parameter servers")
def test_other_initial_values_stay_as_they_are() -> None:
    for value in (tf.zeros([2]), lambda: 1.0, None):
        made: dict[str, Any] = {}
        start_as_whole(lambda made=made, **given: made.update(given), initial_value=value)
        assert made == {"initial_value": value}


def own_uniform(shape: Any, dtype: Any = None) -> tf.Tensor:
    return tf.random.uniform(shape, dtype=dtype)


def own_orthogonal(shape: Any, dtype: Any = None, **ignored: Any) -> tf.Tensor:
    return tf.linalg.qr(tf.random.normal(shape, dtype=dtype))[0]


@pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train with parameter servers")
@pytest.mark.parametrize("draw", [own_uniform, own_orthogonal])
def test_functions_of_the_program_are_asked_once_for_the_whole(draw: Any) -> None:
    made: dict[str, Any] = {}
    start_as_whole(lambda **given: made.update(given), initial_value=functools.partial(draw, (6, 2), dtype=tf.float32))
    start = made["initial_value"]
    try:
        whole = start(partition_shape=(3, 2), partition_offset=(0, 0))
    except TypeError:
        whole = start()  # as TensorFlow does then
    assert start(partition_shape=(3, 2), partition_offset=(3, 0)) is start() is whole


@pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train with parameter servers")
@pytest.mark.parametrize("ids", [[5, 0, 4, 0, 2, 6], [[6, 1], [1, 3]]])
def test_rows_of_a_variable_in_parts_are_gathered_in_the_order_of_the_ids(ids: Any) -> None:
    from tensorflow.python.distribute.sharded_variable import ShardedVariable

    rows = np.random.RandomState(0).rand(7, 2).astype(np.float32)
    whole, parts = tf.Variable(rows), [tf.Variable(rows[:3]), tf.Variable(rows[3:5]), tf.Variable(rows[5:])]
    table = gather_in_order(lambda **given: ShardedVariable(parts), name="table")
    weights = np.random.RandomState(1).rand(*np.shape(ids), 2).astype(np.float32)

    def rows_and_gradients(table: Any, variables: Any) -> Any:
        with tf.GradientTape() as tape:
            found = tf.gather(table, ids)
            loss = tf.reduce_sum(found * weights)
        return found, [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]

    found, by_part = tf.function(lambda: rows_and_gradients(table, parts))()
    wanted, (by_whole,) = rows_and_gradients(whole, [whole])
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(np.concatenate(by_part), by_whole, rtol=1e-6)


def test_whole_variables_stay_as_they_are() -> None:
    variable = tf.Variable([1.0])
    assert gather_in_order(lambda **given: variable, name="bias") is variable
    assert "sparse_read" not in vars(variable)
