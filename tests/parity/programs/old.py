"""A small Estimator program: two labels for each row, an embedding, dropout, a regulariser, two training calls."""

import numpy as np
import tensorflow.compat.v1 as tf

RNG = np.random.RandomState(3)
IDS = RNG.randint(0, 20, (64, 3)).astype(np.int64)
VALUES = RNG.rand(64, 4).astype(np.float32)
WORDS = np.array([b"red", b"green", b"blue"])[RNG.randint(0, 3, 64)]
LABELS = np.stack([VALUES.sum(1) > 2, IDS[:, 0] % 2 == 0], axis=1).astype(np.float32)


def input_fn(epochs=None):
    data = tf.data.Dataset.from_tensor_slices(({"ids": IDS, "values": VALUES, "word": WORDS}, LABELS))
    return data.repeat(epochs).batch(8)


def model_fn(features, labels, mode):
    l2 = tf.keras.regularizers.l2(0.01)
    with tf.variable_scope("wide", partitioner=tf.fixed_size_partitioner(2)):
        embedding = tf.get_variable("embedding", [20, 4])
    embedded = tf.reduce_mean(tf.nn.embedding_lookup(embedding, features["ids"], partition_strategy="div"), 1)
    is_red = tf.cast(tf.equal(features.pop("word"), "red"), tf.float32)
    inputs = tf.concat([embedded, features["values"], tf.expand_dims(is_red, 1)], 1)
    hidden = tf.layers.dense(inputs, 8, activation=tf.nn.relu, kernel_regularizer=l2, use_bias=False, name="hidden")
    hidden = tf.layers.batch_normalization(hidden, training=mode == "train", name="norm")
    hidden = tf.layers.dropout(hidden, 0.4, training=mode == "train")
    logits = tf.layers.dense(hidden, 2, name="logits")
    predictions = {"probability": tf.sigmoid(logits), "label": tf.cast(logits > 0, tf.int64)}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    loss += tf.losses.get_regularization_loss()
    metrics = {"mse": tf.metrics.mean_squared_error(labels, predictions["probability"])}
    if mode == "eval":
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    folder = "/tmp/parity-test-model-dir"
    estimator = tf.estimator.Estimator(model_fn, model_dir=folder)
    for _ in range(2):
        estimator.train(input_fn, steps=4)
        print(estimator.evaluate(lambda: input_fn(1), steps=3))
    for row in estimator.predict(lambda: input_fn(1)):
        print(row)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {
            "ids": tf.placeholder(tf.int64, [None, 3]),
            "values": tf.placeholder(tf.float32, [None, 4]),
            "word": tf.placeholder(tf.string, [None]),
        }
    )
    assert tf.gfile.Exists(estimator.export_saved_model(folder + "/export", receiver))
    assert tf.train.latest_checkpoint(folder).endswith(("model.ckpt-4", "model.ckpt-8")) and tf.gfile.Exists(folder + "/checkpoint")


if __name__ == "__main__":
    main()
