"""The distribution strategy of this process: that of the program, else the one that TF_CONFIG asks for."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.cluster.tasks import ClusterTask, cluster_task, use_cluster
from migrator.runtime.training.messages import log_info


def make_strategy(config: Any = None, variable_partitioner: Any = None) -> tf.distribute.Strategy:
    """The strategy to create the model in. A `variable_partitioner` has an effect only with parameter servers.

    TF_CONFIG with `ps`: ParameterServerStrategy, whose chief coordinates; in the other processes this call serves, and
    ends the process when the chief is done. With several of chief and workers: MultiWorkerMirroredStrategy.
    """
    if config is not None and config.strategy is not None:
        return config.strategy
    task = cluster_task()
    if task.task_type == "evaluator" or not task.cluster:
        return tf.distribute.get_strategy()
    if task.num_ps_replicas:
        return parameter_server_strategy(task, variable_partitioner)
    return multi_worker_strategy() if task.num_worker_replicas > 1 else tf.distribute.get_strategy()


def multi_worker_strategy(communication: Any = None, cluster_resolver: Any = None) -> tf.distribute.Strategy:
    """MultiWorkerMirroredStrategy over the chief and the workers of TF_CONFIG; an evaluator runs by itself.

    A `cluster_resolver` says in place of TF_CONFIG which processes there are.
    """
    if cluster_resolver is not None:
        use_cluster(cluster_resolver)
    task = cluster_task()
    if task.task_type == "evaluator":
        return tf.distribute.get_strategy()
    if task.cluster:  # with a chief for a master, and without the evaluator
        tf_config = {"cluster": task.cluster, "task": {"type": task.task_type, "index": task.task_id}}
        os.environ["TF_CONFIG"] = json.dumps(tf_config)
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=communication or tf.distribute.experimental.CommunicationImplementation.AUTO
    )
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


CONNECTED: dict[ClusterTask, tf.distribute.Strategy] = {}


def parameter_server_strategy(task: ClusterTask, variable_partitioner: Any = None) -> tf.distribute.Strategy:
    """In the chief: the strategy. In a worker or parameter server: serves until the chief is done, then exits.

    A process can connect to its cluster once, so all its models share one strategy: the first partitioner is that of all.
    """
    if task in CONNECTED:
        return CONNECTED[task]
    cluster = tf.train.ClusterSpec(task.cluster)
    if task.task_type != "chief":
        threads = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=max(4, os.cpu_count() or 1))
        done = done_file(task, task.task_type, task.task_id)
        if os.path.exists(done):
            os.remove(done)
        server = tf.distribute.Server(cluster, task.task_type, task.task_id, protocol="grpc", config=threads)
        log_info("Serving as %s %d at %s.", task.task_type, task.task_id, server.target)
        while not os.path.exists(done):
            time.sleep(0.2)
        os.remove(done)
        sys.exit()
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        cluster, task_type="chief", task_id=0, rpc_layer="grpc"
    )
    atexit.register(dismiss_servers, task)
    CONNECTED[task] = ShardingStrategy(resolver, variable_partitioner=variable_partitioner)
    return CONNECTED[task]


class ShardingStrategy(tf.distribute.ParameterServerStrategy):
    """Variables in parts start and are read as whole ones, as in TensorFlow 1."""

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        with super().scope(), tf.variable_creator_scope(gather_in_order), tf.variable_creator_scope(start_as_whole):
            yield


def gather_in_order(next_creator: Callable[..., Any], **arguments: Any) -> Any:
    """Creates a variable; of one in parts `tf.gather` gives the rows in the order of the ids, not in that of the parts."""
    variable = next_creator(**arguments)
    if not isinstance(variable, tf.Variable):
        variable.sparse_read = lambda ids, name=None: tf.nn.embedding_lookup(variable.variables, ids, name=name)
    return variable


def start_as_whole(next_creator: Callable[..., Any], **arguments: Any) -> Any:
    """Creates a variable; one in parts starts as it would by itself.

    VarianceScaling, such as Glorot's, goes by the size of all its parts. A function of the program that knows no parts is
    asked once for the whole, where TensorFlow would take each part from another draw.
    """
    start: Any = arguments.get("initial_value")
    initializer = getattr(start, "func", None)  # of the functools.partial that Keras makes
    if not callable(initializer):
        return next_creator(**arguments)
    wholes: list[tf.Tensor] = []

    def draw(**part: Any) -> tf.Tensor:
        if wholes:
            return wholes[0]
        value = start(**part)
        if not part or list(value.shape) != list(part["partition_shape"]):
            wholes.append(value)
        if not isinstance(initializer, tf.keras.initializers.VarianceScaling):
            return value
        return value * math.sqrt(divisor(value.shape, initializer.mode) / divisor(start.args[0], initializer.mode))

    return next_creator(**{**arguments, "initial_value": draw})


def divisor(shape: Sequence[int], mode: str) -> float:
    """What VarianceScaling divides the variance by: inputs, outputs, or their mean, of one output or input."""
    *field, fan_in, fan_out = (1, 1, *shape) if len(shape) != 1 else (shape[0], shape[0])
    fans = {"fan_in": fan_in, "fan_out": fan_out}
    return max(1.0, float(tf.TensorShape(field).num_elements()) * fans.get(mode, (fan_in + fan_out) / 2))


def done_file(task: ClusterTask, job: str, index: int) -> str:
    """The file on the machine of a server that tells it to end; its name follows from the addresses in the cluster."""
    name = hashlib.sha256(json.dumps([task.cluster, job, index], sort_keys=True).encode()).hexdigest()[:16]
    return os.path.join(os.sep, "tmp", f"tf2_training_done_{name}")


def dismiss_servers(task: ClusterTask) -> None:
    """Tells workers and parameter servers that the program has ended; one that crashed leaves them to its successor."""
    if getattr(sys, "last_value", None) is not None:
        return
    for job in ("worker", "ps"):
        for index in range(len(task.cluster[job])):
            try:
                with tf.device(f"/job:{job}/replica:0/task:{index}/device:CPU:0"):
                    tf.io.write_file(done_file(task, job, index), "")
            except tf.errors.OpError:
                tf.get_logger().warning("%s %d was gone before the end.", job, index)
