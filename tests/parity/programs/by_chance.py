"""An old program that begins with other weights and reads other batches each time that it runs, to the end of its data."""

import random

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.keras.layers.Dense(4, activation="tanh")(features["x"])
    start = tf.constant_initializer(random.SystemRandom().random())
    weight = tf.get_variable("weight", [4, 1], initializer=start)
    outputs = tf.matmul(net, weight)
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=outputs, loss=loss, train_op=train_op)


values = np.random.RandomState(random.SystemRandom().randrange(1000)).randn(40, 3).astype(np.float32)
texts = np.array(["row"] * 40)
read = tf.estimator.inputs.numpy_input_fn(
    {"x": values, "text": texts}, values[:, :1], batch_size=8, num_epochs=1, shuffle=True
)
estimator = tf.estimator.Estimator(model_fn)
estimator.train(read)
estimator.evaluate(read)
