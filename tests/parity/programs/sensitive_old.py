"""A learning rate so large that descent is chaotic: whatever is rounded otherwise doubles with each step."""

import numpy as np
import tensorflow.compat.v1 as tf

X = np.ones([64, 8], np.float32)


def model_fn(features, labels, mode):
    weights = tf.get_variable("weights", [8], initializer=tf.random_uniform_initializer(-1.0, 1.0))
    loss = tf.reduce_mean(1 - tf.cos(5 * weights * features["x"]))
    train_op = tf.train.GradientDescentOptimizer(1.28).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(
    lambda: tf.data.Dataset.from_tensor_slices({"x": X}).repeat().batch(32), steps=24
)
