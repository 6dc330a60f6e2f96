"""Writes what the optimizers of `tf.contrib.opt` compute on our problem; for TensorFlow 1.15, see test_optimizers.py."""

from __future__ import annotations

import json

import tensorflow as tf
from optimizer_problem import train_v1

opt = tf.contrib.opt


class ReadingFirst:
    """An optimizer whose changes wait for all gradients: TensorFlow 1 leaves it to chance whether weights decay first."""

    def __init__(self, optimizer: tf.train.Optimizer) -> None:
        self.optimizer = optimizer

    def minimize(self, loss: tf.Tensor, global_step: tf.Variable) -> tf.Operation:
        """The train op."""
        pairs = self.optimizer.compute_gradients(loss)
        with tf.control_dependencies([loss, *(gradient for gradient, _ in pairs)]):
            return self.optimizer.apply_gradients(pairs, global_step)


# The names are those in test_optimizers.py.
OPTIMIZERS = {
    "lazy adam": (0.01, lambda r, _: opt.LazyAdamOptimizer(r)),
    "nadam": (0.01, lambda r, _: opt.NadamOptimizer(r, epsilon=1e-3)),
    "adamax": (0.01, lambda r, _: opt.AdaMaxOptimizer(r, 0.8)),
    "adamw": (0.01, lambda r, _: ReadingFirst(opt.AdamWOptimizer(0.01, r))),
    "momentumw": (0.1, lambda r, _: ReadingFirst(opt.MomentumWOptimizer(0.01, r, 0.9, use_nesterov=True))),
    "lars": (1.0, lambda r, _: opt.LARSOptimizer(r, weight_decay=0.01, eeta=0.1, skip_list=["bias"])),
    "lars nesterov": (1.0, lambda r, _: opt.LARSOptimizer(r, 0.8, eeta=0.1, epsilon=0.1, use_nesterov=True)),
    "add sign": (0.1, lambda r, _: opt.AddSignOptimizer(r, 0.9)),
    "power sign": (0.1, lambda r, _: opt.PowerSignOptimizer(r, 3.0, 0.8)),
}


def main() -> None:
    """Print the losses and last weights of all, as JSON with a line for each list."""
    found = {}
    for name, (rate, create) in OPTIMIZERS.items():
        for decayed in (False, True):
            losses, weights = train_v1(create, decayed, rate, resource=False)
            values = {key: [round(float(x), 8) for x in value.flatten()] for key, value in weights.items()}
            key = "{} {}".format(name, "decayed" if decayed else "constant")
            found[key] = {"losses": [float("%.9g" % loss) for loss in losses], **values}
    lines = [
        "  {}: {{\n{}\n  }}".format(
            json.dumps(key), ",\n".join(f"    {json.dumps(n)}: {json.dumps(v)}" for n, v in entry.items())
        )
        for key, entry in found.items()
    ]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
