"""Classes that edit gradients on the way to an optimizer: their methods become statements of the train step."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, PATH, SPEC, joined, manual_reason, method, migrate, model_fn, run, units

STEP = "tf.train.get_global_step()"
DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
USE = f"optimizer = Own(params['rate'], 0.5)\ntrain_op = optimizer.minimize(loss, global_step={STEP})"
CLASS = '''
class Own({base}):
    """Clips gradients."""

    def __init__(self, rate, limit, **kwargs):
        super().__init__(rate{more}, **kwargs)
        self._limit = limit

'''
COMPUTE = """
    def compute_gradients(self, loss, *args, **kwargs):
        pairs = super(Own, self).compute_gradients(loss, *args, **kwargs)
        return [(tf.clip_by_norm(g, self._limit), v) for g, v in pairs]
"""
APPLY = """
    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads, variables = zip(*grads_and_vars)
        grads, _ = tf.clip_by_global_norm(grads, self._limit)
        return super().apply_gradients(zip(grads, variables), global_step=global_step, name=name)
"""
MINIMIZE = """
    def minimize(self, loss, global_step=None):
        pairs = self.compute_gradients(loss)
        pairs = [(self._edited(g), v) for g, v in pairs]
        return self.apply_gradients(pairs, global_step)

    def _edited(self, gradient):
        return tf.clip_by_value(gradient, -self._limit, self._limit)
"""
WRAPPER = """
class Own(tf.train.Optimizer):
    def __init__(self, optimizer, limit, name="Own"):
        super(Own, self).__init__(False, name)
        self._optimizer = optimizer
        self._limit = limit

    def compute_gradients(self, loss, var_list=None):
        pairs = self._optimizer.compute_gradients(loss, var_list)
        return [(tf.clip_by_norm(g, self._limit), v) for g, v in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return self._optimizer.apply_gradients(grads_and_vars, global_step)
"""


def program(methods: str, base: str = "tf.train.AdamOptimizer", more: str = "", use: str = USE) -> str:
    return model_fn(
        DENSE, end=f"{LOSS}\n{use}\n{SPEC}", before=CLASS.format(base=base, more=more) + methods.lstrip("\n")
    )


@pytest.mark.parametrize(
    ("methods", "edit"),
    [
        (COMPUTE, "clipnorm=0.5)"),
        (APPLY, "global_clipnorm=0.5)"),
        (COMPUTE.replace("tf.clip_by_norm(g, self._limit)", "g * self._limit"), "[(g * 0.5, v) for g, v in pairs]"),
        (MINIMIZE, "[(_edited(g, limit=0.5), v) for g, v in pairs]"),
    ],
)
@pytest.mark.parametrize(
    ("base", "more", "made"),
    [
        ("tf.train.AdamOptimizer", "", "tf.keras.optimizers.Adam(rate, epsilon=1e-8)"),
        ("tf.train.MomentumOptimizer", ", 0.9", "tf.keras.optimizers.SGD(rate, momentum=0.9)"),
        ("tf.train.GradientDescentOptimizer", "", "tf.keras.optimizers.SGD(rate)"),
    ],
)
def test_a_class_with_a_formula_of_tensorflow(methods: str, edit: str, base: str, more: str, made: str) -> None:
    text = migrate(program(methods, base, more))
    where = "create_model" if "clipnorm" in edit else "train_step"
    assert edit in joined(method(text, where)) and made.rstrip(")") in method(text, "create_model")
    assert ("def train_step" in text) == (where == "train_step")
    assert "class Own" not in text and "Clips gradients" not in text and "class Model(tf.keras.Model)" in text


def test_a_class_around_an_optimizer() -> None:
    use = USE.replace("params['rate']", "tf.train.AdamOptimizer(0.1)")
    text = migrate(model_fn(DENSE, end=f"{LOSS}\n{use}\n{SPEC}", before=WRAPPER))
    assert "tf.keras.optimizers.Adam(0.1, epsilon=1e-8, clipnorm=0.5)" in method(text, "create_model")


def test_gradients_that_the_model_fn_computes() -> None:
    use = "optimizer = Own(0.1, 0.5)\npairs = optimizer.compute_gradients(loss)\n"
    use += f"train_op = optimizer.apply_gradients(pairs, global_step={STEP})"
    assert "epsilon=1e-8, clipnorm=0.5)" in method(migrate(program(COMPUTE, use=use)), "create_model")
    step = method(migrate(program(COMPUTE.replace("clip_by_norm", "scaled"), use=use)), "train_step")
    assert "tf.scaled(g, 0.5)" in step and step.count("apply_gradients") == 1


READS_BASE = COMPUTE.replace("self._limit)", "self._lr)")
FORMULA = COMPUTE + "\n    def _apply_dense(self, grad, var):\n        return var.assign_sub(grad)\n"
KEEPS_ARGS = COMPUTE.replace("pairs = super", "print(kwargs)\n        pairs = super")
TWICE = USE + "\nprint(optimizer)"


@pytest.mark.parametrize(
    ("methods", "use"),
    [
        (READS_BASE, USE),
        (FORMULA, USE),
        (KEEPS_ARGS, USE),
        (COMPUTE, TWICE),
        (COMPUTE, USE.replace(f"global_step={STEP}", f"{STEP}, gate_gradients=2")),
    ],
)
def test_classes_that_stay(methods: str, use: str) -> None:
    assert manual_reason(program(methods, use=use))
    outcomes = run(program(methods, use=use), "bridge")
    [unit] = units(outcomes)
    if "_apply_dense" in methods:
        assert unit.tier == "manual"  # a graph of TensorFlow 2 would not call it
    else:
        assert unit.tier == "bridge" and "class Own(tf.compat.v1.train.AdamOptimizer):" in outcomes[PATH].after.decode()


def test_keywords_that_go_to_the_base_are_those_of_its_optimizer() -> None:
    text = migrate(program(COMPUTE, use=USE.replace("0.5)", "0.5, beta1=0.8)")))
    assert "tf.keras.optimizers.Adam(rate, beta_1=0.8, epsilon=1e-8, clipnorm=0.5)" in text
