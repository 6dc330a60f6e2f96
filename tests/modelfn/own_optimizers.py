"""Optimizer classes as programs write them, for the tests of what becomes of them."""

from __future__ import annotations

import textwrap

ADAM = '''
class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """A basic Adam optimizer that includes "correct" L2 weight decay."""

    def __init__(self,
                 learning_rate,
                 weight_decay_rate=0.0,
                 beta_1=0.9,
                 beta_2=0.999,
                 epsilon=1e-6,
                 exclude_from_weight_decay=None,
                 name="AdamWeightDecayOptimizer"):
        """Constructs a AdamWeightDecayOptimizer."""
        super(AdamWeightDecayOptimizer, self).__init__(False, name)

        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.exclude_from_weight_decay = exclude_from_weight_decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """See base class."""
        assignments = []
        for (grad, param) in grads_and_vars:
            if grad is None or param is None:
                continue

            param_name = self._get_variable_name(param.name)

            m = tf.get_variable(
                name=param_name + "/adam_m",
                shape=param.shape.as_list(),
                dtype=tf.float32,
                trainable=False,
                initializer=tf.zeros_initializer())
            v = tf.get_variable(
                name=param_name + "/adam_v",
                shape=param.shape.as_list(),
                dtype=tf.float32,
                trainable=False,
                initializer=tf.zeros_initializer())

            # Standard Adam update.
            next_m = (
                tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad))
            next_v = (
                tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad)))

            update = next_m / (tf.sqrt(next_v) + self.epsilon)

            # The decay stays out of the moments.
            if self._do_use_weight_decay(param_name):
                update += self.weight_decay_rate * param

            update_with_lr = self.learning_rate * update
            next_param = param - update_with_lr
            assignments.extend(
                [param.assign(next_param),
                 m.assign(next_m),
                 v.assign(next_v)])
        return tf.group(*assignments, name=name)

    def _do_use_weight_decay(self, param_name):
        """Whether to use L2 weight decay for `param_name`."""
        if not self.weight_decay_rate:
            return False
        if self.exclude_from_weight_decay:
            for r in self.exclude_from_weight_decay:
                if re.search(r, param_name) is not None:
                    return False
        return True

    def _get_variable_name(self, param_name):
        """Get the variable name from the tensor name."""
        m = re.match("^(.*):\\\\d+$", param_name)
        if m is not None:
            param_name = m.group(1)
        return param_name
'''

LAMB = """
class LAMB(tf.train.Optimizer):
    def __init__(self, lr, decay=0.01, beta=0.9, exclude=None, exclude_from_layer_adaptation=None, name="LAMB"):
        super().__init__(use_locking=False, name=name)
        self._lr = lr
        self.decay = decay
        self.beta = beta
        self.exclude = exclude
        if exclude_from_layer_adaptation:
            self.exclude_from_layer_adaptation = exclude_from_layer_adaptation
        else:
            self.exclude_from_layer_adaptation = exclude

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        updates = []
        for grad, var in grads_and_vars:
            if grad is None:
                continue
            m = tf.get_variable(var.op.name + "/lamb_m", var.get_shape(), trainable=False, initializer=tf.zeros_initializer)
            next_m = tf.multiply(self.beta, m) + tf.multiply(1.0 - self.beta, grad)
            update = tf.sign(next_m)
            if self._wanted(var.name, self.exclude):
                update += self.decay * var
            ratio = 1.0
            if self._adapts(var.name):
                w_norm = tf.norm(var, ord=2)
                g_norm = tf.norm(update, ord=2)
                ratio = tf.where(tf.greater(w_norm, 0), tf.where(tf.greater(g_norm, 0), (w_norm / g_norm), 1.0), 1.0)
            updates += [m.assign(next_m)]
            updates.append(var.assign_sub(ratio * self._lr * update))
        return tf.group(*updates)

    def _wanted(self, name, exclude):
        return bool(self.decay)

    def _adapts(self, name):
        if self.exclude_from_layer_adaptation:
            for pattern in self.exclude_from_layer_adaptation:
                if re.search(pattern, name):
                    return False
        return True
""".replace("var.op.name", "var.name[:-2]")


def program(source: str, made: str, apply: str = "", body: str = "") -> str:
    """A program that trains with an object of an optimizer class; `made` constructs it."""
    apply = apply or (
        "grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)\n"
        "train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=step)\n"
        "train_op = tf.group(train_op, [step.assign(step + 1)])\n"
    )
    body = body or (
        'hidden = tf.layers.dense(features["x"], 4, activation=tf.nn.relu, name="hidden")\n'
        'hidden = tf.contrib.layers.layer_norm(hidden)\npredictions = tf.layers.dense(hidden, 1, name="out")\n'
    )
    train = (
        f"{body}loss = tf.reduce_mean(tf.square(labels - predictions))\nstep = tf.train.get_or_create_global_step()\n"
        f"rate = tf.train.polynomial_decay(params['rate'], step, 100, end_learning_rate=0.0, power=1.0)\n"
        f"tvars = tf.trainable_variables()\noptimizer = {made}\n{apply}"
        "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)\n"
    )
    inner = textwrap.indent(train, "    ")
    return (
        f"import re\n\nimport tensorflow as tf\n\n{source}\n\ndef model_fn(features, labels, mode, params):\n{inner}\n\n"
        "estimator = tf.estimator.Estimator(model_fn, params=PARAMS)\n"
    )
