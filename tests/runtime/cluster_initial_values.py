"""Prints the first values of variables in four parts, on a cluster of one process, and those that are not in parts."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.parity.run.local_cluster import free_ports
from migrator.runtime.cluster.strategy import make_strategy

SHAPE = (64, 32)
ROWS = np.arange(64 * 32, dtype=np.float32).reshape(SHAPE)


def own_orthogonal(shape: Any, dtype: Any = None) -> tf.Tensor:
    return tf.linalg.qr(tf.random.normal(shape, dtype=dtype))[0]


def own_limit(shape: Any, dtype: Any = None) -> tf.Tensor:
    return tf.random.uniform(shape, -1.0 / shape[0], 1.0 / shape[0], dtype=dtype)


def initializers() -> dict[str, Any]:
    keras, v1 = tf.keras.initializers, tf.compat.v1
    scaling = ("GlorotUniform", "GlorotNormal", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform")
    return {
        **{name: getattr(keras, name)(seed=1) for name in scaling},
        "fan_out": keras.VarianceScaling(2.0, "fan_out", "uniform", seed=1),
        "untruncated": keras.VarianceScaling(1.0, "fan_avg", "untruncated_normal", seed=1),
        "normal": keras.RandomNormal(seed=1),
        "uniform": keras.RandomUniform(seed=1),
        "truncated": keras.TruncatedNormal(stddev=0.1, seed=1),
        "by name": "glorot_uniform",
        "v1 glorot": v1.glorot_uniform_initializer(),
        "v1 unit scaling": v1.uniform_unit_scaling_initializer(),
        "orthogonal": keras.Orthogonal(seed=1),
        "identity": keras.Identity(),
        "zeros": tf.zeros_initializer(),
        "constant": keras.Constant(3.0),
        "rows": tf.constant_initializer(ROWS),
        "own orthogonal": own_orthogonal,
        "own limit": own_limit,
    }


def old_sizes(rows: int) -> list[int]:
    """Rows of each part in a graph of TensorFlow 1."""
    with tf.Graph().as_default():
        partitioner = tf.compat.v1.fixed_size_partitioner(4)
        return [part.shape[0] for part in tf.compat.v1.get_variable("w", [rows, 3], partitioner=partitioner)]


def main() -> None:
    ports = [f"127.0.0.1:{port}" for port in free_ports(4)]
    cluster = {"chief": ports[:1], "worker": ports[1:2], "ps": ports[2:]}
    servers = [  # which have to be held
        tf.distribute.Server(tf.train.ClusterSpec(cluster), job, index, protocol="grpc")
        for job in ("worker", "ps")
        for index in range(len(cluster[job]))
    ]
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}})
    found = {}
    with make_strategy(variable_partitioner=tf.distribute.experimental.partitioners.FixedShardsPartitioner(4)).scope():
        for name, initializer in initializers().items():
            variable = tf.keras.layers.Layer().add_weight(name="w", shape=SHAPE, initializer=initializer)
            assert len(variable.variables) == 4
            whole = np.asarray(tf.keras.initializers.get(initializer)(shape=SHAPE, dtype=tf.float32))
            found[name] = np.concatenate([part.numpy() for part in variable.variables]).tolist(), whole.tolist()
        sizes = {}
        for rows in (4, 5, 6, 7, 63, 64, 1001):
            parts = tf.keras.layers.Layer().add_weight(name="w", shape=(rows, 3)).variables
            sizes[rows] = [part.shape[0] for part in parts], old_sizes(rows)
    print("RESULT", json.dumps([found, sizes]), flush=True)
    assert servers
    os._exit(0)  # servers in one process would not end


if __name__ == "__main__":
    main()
