"""Two models, of which the second one begins with weights of the first one. The argument says how it comes by them."""

import shutil
import sys

import numpy as np
import tensorflow.compat.v1 as tf

WAY = sys.argv[1]
FIRST, SECOND = "topics", "moods"
RNG = np.random.RandomState(5)
WORDS = RNG.randint(0, 12, (32, 3)).astype(np.int64)
TOPICS, MOODS = WORDS.sum(1) % 3, WORDS[:, 0] % 3


def input_fn(labels):
    return tf.data.Dataset.from_tensor_slices(({"words": WORDS}, labels)).repeat().batch(8)


def encode(words, table=None):
    with tf.variable_scope("encoder"):
        if table is None:
            table = tf.random_normal_initializer(stddev=0.3)
        words = tf.nn.embedding_lookup(tf.get_variable("words", [12, 6], initializer=table), words)
        return tf.layers.dense(tf.reduce_mean(words, 1), 5, activation=tf.nn.relu, name="hidden")


def newest():
    return tf.train.latest_checkpoint(FIRST)


def encoder_saver():
    return tf.train.Saver(tf.trainable_variables("encoder/"))


def model_fn(features, labels, mode, params):
    """Loads the encoder, or the table alone, as `params` say."""
    way, scaffold, table = params.get("way"), None, None
    if way == "initializer":
        table = tf.constant_initializer(tf.train.load_variable(FIRST, "encoder/words"))
    if way == "rows":
        values = tf.train.NewCheckpointReader(newest()).get_tensor("encoder/words").copy()
        values[9:] = RNG.normal(size=values[9:].shape)
        table = tf.constant_initializer(values)
    net = tf.layers.dense(encode(features["words"], table), 5, name="gate")
    logits = tf.layers.dense(net, 3, name="logits")
    if way == "init_from_checkpoint":
        tf.train.init_from_checkpoint(FIRST, {"encoder/": "encoder/"})
    if way == "init_fn":
        saver = encoder_saver()
        scaffold = tf.train.Scaffold(init_fn=lambda _, session: saver.restore(session, newest()))
    if way == "assign":
        (words,) = tf.global_variables("encoder/words")
        value = tf.placeholder(tf.float32, [12, 6])
        assign = words.assign(value)
        read = tf.train.load_checkpoint(FIRST).get_tensor("encoder/words")
        scaffold = tf.train.Scaffold(init_fn=lambda _, session: session.run(assign, {value: read}))
    if way == "drawn":
        (words,) = tf.global_variables("encoder/words")
        draw = words.assign(tf.random_normal([12, 6], stddev=0.3))
        scaffold = tf.train.Scaffold(init_fn=lambda _, session: session.run(draw))
    predictions = {"logits": logits}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    if way == "init_op":
        (words,) = tf.trainable_variables("encoder/words")
        (read,) = tf.raw_ops.RestoreV2(
            prefix=newest(), tensor_names=["encoder/words"], shape_and_slices=[""], dtypes=[tf.float32]
        )
        with tf.control_dependencies([tf.global_variables_initializer()]):
            scaffold = tf.train.Scaffold(init_op=words.assign(tf.reshape(read, [12, 6])))
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, scaffold=scaffold)


def main():
    tf.estimator.Estimator(model_fn, FIRST, params={}).train(lambda: input_fn(TOPICS), steps=6)
    if WAY == "predict":
        second = tf.estimator.Estimator(model_fn, SECOND, params={})
        rows = second.predict(
            lambda: tf.data.Dataset.from_tensor_slices({"words": WORDS}).batch(8), checkpoint_path=newest()
        )
        print(len(list(rows)))
        return
    if WAY == "copied":
        shutil.copytree(FIRST, SECOND)
    start = None
    if WAY == "warm_start_from":
        start = FIRST
    if WAY == "settings":
        start = tf.estimator.WarmStartSettings(FIRST, vars_to_warm_start="encoder/.*")
    if WAY == "vocabulary":
        for name, words in (("old", range(12)), ("new", [11, 3, 20, *range(4, 11), 21, 0])):
            with open(name + ".txt", "w") as file:
                file.write("".join("%d\n" % word for word in words))
        moved = tf.estimator.VocabInfo("new.txt", 12, 0, "old.txt", 12, tf.random_normal_initializer(stddev=0.3))
        start = tf.estimator.WarmStartSettings(FIRST, ".*words", {"encoder/words": moved})
    config = tf.estimator.RunConfig()
    if WAY == "mirrored":
        start = FIRST
        config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy(["/cpu:0"]))
    second = tf.estimator.Estimator(model_fn, SECOND, config, {"way": WAY}, start)
    hooks = [RestoreHook()] if WAY == "hook" else []
    second.train(lambda: input_fn(MOODS), steps=4, hooks=hooks)


class RestoreHook(tf.train.SessionRunHook):
    """Takes the encoder from the first model when there is a session."""

    def begin(self):
        self.saver = encoder_saver()

    def after_create_session(self, session, coord):
        self.saver.restore(session, newest())


if __name__ == "__main__":
    main()
