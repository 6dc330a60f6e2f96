"""The same in plain Keras. The arguments say how the second model comes by its weights, and which fault there is."""

import sys

import numpy as np
import tensorflow as tf

WAY, WHAT, FAULT = (sys.argv[1:] + ["", "", ""])[:3]
RNG = np.random.RandomState(5)
WORDS = RNG.randint(0, 12, (32, 3)).astype(np.int64)
TOPICS, MOODS = WORDS.sum(1) % 3, WORDS[:, 0] % 3


class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.words = tf.keras.layers.Embedding(
            12, 6, embeddings_initializer=tf.keras.initializers.RandomNormal(stddev=0.3), name="words"
        )
        self.hidden = tf.keras.layers.Dense(5, activation="relu", name="hidden")

    def call(self, words):
        return self.hidden(tf.reduce_mean(self.words(words), 1))


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.gate = tf.keras.layers.Dense(5, name="gate")
        self.logits = tf.keras.layers.Dense(3, name="logits")

    def call(self, features):
        return self.logits(self.gate(self.encoder(features["words"])))

    def predict_step(self, data):
        return {"logits": super().predict_step(data)}


def create_model():
    model = Classifier()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.02, epsilon=1e-8), loss)
    return model


def dataset(labels):
    return tf.data.Dataset.from_tensor_slices(({"words": WORDS}, labels)).repeat().batch(8)


def weights(model):
    """What is loaded, by the keys in a checkpoint."""
    encoder = model.encoder
    found = {"words": encoder.words.embeddings, "kernel": encoder.hidden.kernel, "bias": encoder.hidden.bias}
    if WHAT in ("table", "rows", "vocabulary"):
        found = {"words": found["words"]}
    if WHAT == "all":
        found.update({f"{layer.name}{i}": weight for layer in (model.gate, model.logits)
                      for i, weight in enumerate(layer.weights)})
    if FAULT == "one fewer":
        found.pop("kernel")
    if FAULT == "one more":
        found["gate0"] = model.gate.kernel
    return found


class Loading(tf.keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        if WAY == "callback" and FAULT != "dropped":
            assign(self.model, "first.ckpt")
        if FAULT == "overwritten late":
            self.model.encoder.hidden.kernel.assign(tf.ones([6, 5]))


def assign(model, path):
    reader = tf.train.load_checkpoint(path)
    for name, weight in weights(model).items():
        value = reader.get_tensor(f"{name}/.ATTRIBUTES/VARIABLE_VALUE")
        if FAULT == "rows swapped" and name == "words":
            value = value[::-1]
        if WHAT == "rows":
            value = np.concatenate([value[:9], weight.numpy()[9:]])
        if WHAT == "vocabulary":
            drawn = weight.numpy()
            value = np.stack([value[word] if word < 12 else drawn[word % 12] for word in [11, 3, 20, *range(4, 11), 21, 0]])
        weight.assign(value)


def load(model):
    path = "first.ckpt" if FAULT != "other checkpoint" else "early.ckpt"
    if WAY == "restore":  # nothing is built: the values wait for their variables
        tf.train.Checkpoint(encoder=model.encoder).restore("encoder.ckpt").expect_partial()
    if WAY in ("load_weights", "hdf5", "assign", "set_weights") or FAULT == "overwritten":
        model({"words": WORDS[:8]})
    if WAY == "resume":  # with the state of the optimizer
        tf.train.Checkpoint(model=model).restore("resume.ckpt")
    if WAY == "load_weights":
        model.load_weights("whole.weights.h5")
    if WAY == "hdf5":
        model.encoder.load_weights("encoder.weights.h5")
    if WAY == "set_weights":
        model.encoder.set_weights(first.encoder.get_weights())
    if WAY == "assign":
        assign(model, path)
    if FAULT == "overwritten":
        model.encoder.hidden.kernel.assign(tf.keras.initializers.GlorotUniform()([6, 5]))


def save(model, path):
    tf.train.Checkpoint(**weights(model)).write(path)


first = create_model()
first.fit(dataset(TOPICS), steps_per_epoch=2, epochs=3, verbose=0, callbacks=[
    tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epoch or save(first, "early.ckpt"))])
save(first, "first.ckpt")
first.save_weights("whole.weights.h5")
tf.train.Checkpoint(encoder=first.encoder).write("encoder.ckpt")
tf.train.Checkpoint(model=first).write("resume.ckpt")
first.encoder.save_weights("encoder.weights.h5")

second = create_model()
if FAULT != "dropped":
    load(second)
if WHAT == "predict":
    inputs = tf.data.Dataset.from_tensor_slices({"words": WORDS}).batch(8)
    print(len(second.predict(inputs, verbose=0)["logits"]))
else:
    second.fit(dataset(MOODS), steps_per_epoch=4, epochs=1, verbose=0, callbacks=[Loading()])
