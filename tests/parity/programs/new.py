"""The same by hand in Keras. The first argument plants a fault: see `test_faults.py`."""

import sys

import numpy as np
import tensorflow as tf

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""

RNG = np.random.RandomState(3)
IDS = RNG.randint(0, 20, (64, 3)).astype(np.int64)
VALUES = RNG.rand(64, 4).astype(np.float32)
WORDS = np.array([b"red", b"green", b"blue"])[RNG.randint(0, 3, 64)]
LABELS = np.stack([VALUES.sum(1) > 2, IDS[:, 0] % 2 == 0], axis=1).astype(np.float32)


def input_fn(epochs=None):
    data = tf.data.Dataset.from_tensor_slices(({"ids": IDS, "values": VALUES, "word": WORDS}, LABELS))
    if FAULT == "batch order":
        data = data.skip(8).concatenate(data.take(8))
    if FAULT == "shuffle":
        data = data.shuffle(64)
    if FAULT == "label order":
        data = data.map(lambda features, labels: (features, labels[::-1]))
    return data.repeat(epochs).batch(8)


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = self.add_weight("embedding", [20, 4])
        l2 = None if FAULT == "no regulariser" else tf.keras.regularizers.L2(0.01)
        initializer = tf.keras.initializers.RandomNormal(stddev=2.0) if FAULT == "initializer" else "glorot_uniform"
        options = {"kernel_regularizer": l2, "kernel_initializer": initializer, "use_bias": False}
        self.hidden = tf.keras.layers.Dense(8, activation="relu", name="hidden", **options)
        self.norm = tf.keras.layers.BatchNormalization(name="norm")
        self.dropout = tf.keras.layers.Dropout(0.2 if FAULT == "dropout rate" else 0.4)
        bias = "ones" if FAULT == "bias initializer" else "zeros"
        self.logits = tf.keras.layers.Dense(2, bias_initializer=bias, name="logits")
        self.loss_metric = tf.keras.metrics.Mean(name="loss")
        metric = tf.keras.metrics.MeanAbsoluteError if FAULT == "wrong metric" else tf.keras.metrics.MeanSquaredError
        self.mse = metric(name="error" if FAULT == "metric renamed" else "mse")
        if FAULT == "extra layer":
            self.extra = self.add_weight("extra", [3])

    def call(self, features, training=False):
        embedded = tf.reduce_mean(tf.nn.embedding_lookup(self.embedding, features["ids"]), 1)
        is_red = tf.cast(tf.equal(features["word"], "red"), tf.float32)
        inputs = tf.concat([embedded, features["values"], tf.expand_dims(is_red, 1)], 1)
        hidden = self.norm(self.hidden(inputs), training=training)
        hidden = self.dropout(hidden, training=training or FAULT == "dropout left on")
        logits = self.logits(hidden)
        kind = tf.int32 if FAULT == "prediction type" else tf.int64
        name = "p" if FAULT == "prediction key" else "probability"
        return {"logits": logits, name: tf.sigmoid(logits), "label": tf.cast(logits > 0, kind)}

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        y = y[:, ::-1] if FAULT == "labels swapped" else y
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=y_pred["logits"])
        loss = tf.reduce_sum(losses) if FAULT == "sum for mean" else tf.reduce_mean(losses)
        if self.losses:
            loss += tf.add_n(self.losses)
        if FAULT == "nan":
            loss = tf.where(self.optimizer.iterations >= 2, np.nan, loss)
        self.loss_metric.update_state(loss)
        return loss

    def compute_metrics(self, x, y, y_pred, sample_weight):
        self.mse.update_state(y, y_pred.get("probability", y_pred.get("p")))
        return self.get_metrics_result()

    def predict_step(self, data):
        outputs = super().predict_step(data)
        outputs.pop("logits")
        return outputs


def create_model():
    model = Model()
    rate = 0.021 if FAULT == "learning rate" else 0.02
    epsilon = 1e-7 if FAULT == "adam epsilon" else 1e-8
    model.compile(tf.keras.optimizers.legacy.Adam(rate, epsilon=epsilon))
    return model


def main():
    if FAULT == "crash":
        raise RuntimeError("planted")
    model = create_model()
    for call in range(2):
        if FAULT == "re-initialised" and call:
            model = create_model()
        if FAULT != "one training call" or not call:
            model.fit(input_fn(), epochs=1, steps_per_epoch=3 if FAULT == "one step fewer" and call else 4, verbose=0)
        tf.train.Checkpoint(model=model).save("/tmp/parity-test-model-dir/ckpt")
        tf.io.gfile.copy("/tmp/parity-test-model-dir/checkpoint", "/tmp/parity-test-model-dir/copied", True)
        print(model.evaluate(input_fn(1), steps=3, verbose=0, return_dict=True))
    print(model.predict(input_fn(1), verbose=0))
    if FAULT != "no export":
        tf.saved_model.save(tf.Module(), "/tmp/parity-test-model-dir/export")


if __name__ == "__main__":
    main()
