"""A program that trains with Horovod, as TensorFlow 1 wrote it; each process starts from first values of its own."""

import argparse

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--model_dir", default="model")
parser.add_argument("--max_steps", type=int, default=40)


def drawn(*shape):
    values = np.random.RandomState(shape[0] + hvd.rank()).normal(0, 0.3, shape)
    return tf.constant_initializer(values.astype(np.float32))


def model_fn(features, labels, mode, params):
    table = tf.get_variable("table", [50, 4], initializer=drawn(50, 4))
    rows = tf.reduce_mean(tf.nn.embedding_lookup(table, features["ids"]), axis=1)
    net = tf.concat([rows, features["x"]], axis=1)
    net = tf.layers.dense(net, 8, activation=tf.nn.relu, kernel_initializer=drawn(6, 8))
    predictions = tf.layers.dense(net, 1, kernel_initializer=drawn(8, 1))
    loss = tf.losses.mean_squared_error(labels, predictions)
    rate = tf.train.exponential_decay(params["rate"] * hvd.size(), tf.train.get_or_create_global_step(), 10, 0.9)
    optimizer = tf.train.AdamOptimizer(rate)
    optimizer = hvd.DistributedOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn():
    rng = np.random.RandomState(0)
    ids, x = rng.randint(50, size=(512, 3)), rng.rand(512, 2).astype(np.float32)
    labels = (ids[:, :1] / 50 + x[:, 1:]).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(({"ids": ids, "x": x}, labels))
    return dataset.shard(hvd.size(), hvd.rank()).repeat().batch(16)


def main():
    args = parser.parse_args()
    hvd.init()
    session = tf.ConfigProto()
    session.gpu_options.visible_device_list = str(hvd.local_rank())
    model_dir = args.model_dir if hvd.rank() == 0 else None
    config = tf.estimator.RunConfig(model_dir=model_dir, session_config=session, save_checkpoints_steps=20)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.01})
    estimator.train(input_fn, max_steps=args.max_steps, hooks=[hvd.BroadcastGlobalVariablesHook(0)])
    if hvd.rank() == 0:
        print("LOSS", estimator.evaluate(input_fn, steps=10)["loss"])


if __name__ == "__main__":
    main()
