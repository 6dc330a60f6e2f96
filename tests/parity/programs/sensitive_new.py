"""The same by hand in Keras, by another formula for the same number."""

import sys

import numpy as np
import tensorflow as tf

X = np.ones([64, 8], np.float32)


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.total = self.add_weight("weights", [8], initializer=tf.keras.initializers.RandomUniform(-1.0, 1.0))

    def call(self, features):
        return 2 * tf.sin(2.5 * self.total * features["x"]) ** 2

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        return tf.reduce_mean(y_pred)


model = Model()
model.compile(tf.keras.optimizers.SGD(1.2801 if sys.argv[1:] else 1.28))
model.fit(tf.data.Dataset.from_tensor_slices({"x": X}).repeat().batch(32), steps_per_epoch=24, verbose=0)
