"""A TF1 program as its author left it: `tensorflow` is TF1, the model_dir is hard-coded, the input is shuffled."""

import numpy as np
import tensorflow as tf

X = np.random.RandomState(0).rand(64, 5).astype(np.float32)
Y = (X.sum(1, keepdims=True) * 2).astype(np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).shuffle(64).repeat(4).batch(8)


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], params["units"], activation=tf.nn.relu)
    net = tf.layers.dense(net, params["units"], activation=tf.nn.relu)
    out = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, out)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir="/tmp/parity-test-regression", params={"units": 8})
    estimator.train(input_fn, steps=10)
    print(estimator.evaluate(input_fn))
    for row in estimator.predict(input_fn):
        print(row["out"])
        break


if __name__ == "__main__":
    main()
