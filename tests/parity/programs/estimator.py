"""A program for TensorFlow 1 that resumes: trains up to the step in its second argument."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], params["units"], tf.nn.relu, name="hidden")
    with tf.variable_scope("head"):
        net = tf.layers.batch_normalization(net, training=mode == tf.estimator.ModeKeys.TRAIN)
        output = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"output": output})
    loss = tf.losses.mean_squared_error(labels, output)
    rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), 3, 0.8)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(start):
    random = np.random.RandomState(0)
    x = random.randn(160, 3).astype("float32")
    y = x[:, :1] * x[:, 1:2]
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8).skip(start)


def main():
    model_dir, steps = sys.argv[1], int(sys.argv[2])
    newest = tf.train.latest_checkpoint(model_dir)
    start = int(newest.rpartition("-")[2]) if newest else 0
    estimator = tf.estimator.Estimator(model_fn, model_dir, params={"units": 4})
    estimator.train(lambda: input_fn(start), max_steps=steps)
    rows = [row["output"] for row in estimator.predict(lambda: input_fn(0))]
    np.save(model_dir + ".npy", np.array(rows))


if __name__ == "__main__":
    main()
