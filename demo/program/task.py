"""Trains DeepFM, evaluates it at each checkpoint, and writes its predictions for the test rows."""
import os

import tensorflow as tf

import data
from model import model_fn

tf.app.flags.DEFINE_string("model_dir", "model", "Where checkpoints and predictions go.")
tf.app.flags.DEFINE_integer("num_ps", 2, "Parameter servers.")
tf.app.flags.DEFINE_integer("embedding_size", 8, "Width of an embedding.")
tf.app.flags.DEFINE_string("deep_layers", "32,16", "Units of the deep part.")
tf.app.flags.DEFINE_float("keep_prob", 0.8, "Dropout: the probability to keep a unit.")
tf.app.flags.DEFINE_float("l2", 1e-4, "Strength of the L2 penalty on the deep part.")
tf.app.flags.DEFINE_float("learning_rate", 0.002, "Step size.")
tf.app.flags.DEFINE_integer("batch_size", 32, "Rows per step.")
tf.app.flags.DEFINE_integer("max_steps", 100, "Steps to train.")
FLAGS = tf.app.flags.FLAGS


def input_fn(split, num_epochs=None):
    dataset = tf.data.Dataset.from_tensor_slices(data.load(split))
    if split == "train":
        dataset = dataset.shuffle(448, seed=1)
    dataset = dataset.repeat(num_epochs).batch(FLAGS.batch_size)
    features, labels = dataset.make_one_shot_iterator().get_next()
    return features, labels


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    config = tf.estimator.RunConfig(
        model_dir=FLAGS.model_dir, save_checkpoints_steps=25, save_summary_steps=25, keep_checkpoint_max=3)
    params = {
        "fields": data.FIELDS,
        "features": data.FEATURES,
        "num_ps": FLAGS.num_ps,
        "embedding_size": FLAGS.embedding_size,
        "deep_layers": [int(units) for units in FLAGS.deep_layers.split(",")],
        "keep_prob": FLAGS.keep_prob,
        "l2": FLAGS.l2,
        "learning_rate": FLAGS.learning_rate,
    }
    estimator = tf.estimator.Estimator(model_fn=model_fn, params=params, config=config)

    train_spec = tf.estimator.TrainSpec(lambda: input_fn("train"), max_steps=FLAGS.max_steps)
    eval_spec = tf.estimator.EvalSpec(lambda: input_fn("test", num_epochs=1), steps=None, throttle_secs=0)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)

    with tf.gfile.GFile(os.path.join(FLAGS.model_dir, "predictions.txt"), "w") as out:
        for row in estimator.predict(lambda: input_fn("test", num_epochs=1)):
            out.write("%.6f\n" % row["probability"][0])


if __name__ == "__main__":
    tf.app.run()
