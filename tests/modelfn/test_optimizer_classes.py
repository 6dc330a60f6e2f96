"""Optimizers of classes that the program derives from TensorFlow 1's: Keras optimizers of the same name and formulas."""

from __future__ import annotations

import pytest
from modelfn.own_optimizers import ADAM, LAMB, program
from modelfn.programs import manual_reason, method, migrate, migrate_all, run, units

MADE = "AdamWeightDecayOptimizer(rate, weight_decay_rate=0.01, exclude_from_weight_decay=['layer_norm', 'LayerNorm', 'bias'])"
UPDATE = '''def update(self, param, grad, learning_rate):
    """Update one variable; see KernelOptimizer."""
    param_name = self._get_variable_name(variable_path(param))

    m = self.slot("adam_m", param)
    v = self.slot("adam_v", param)

    # Standard Adam update.
    next_m = (
        tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad))
    next_v = (
        tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad)))

    update = next_m / (tf.sqrt(next_v) + self.epsilon)

    # The decay stays out of the moments.
    if self._do_use_weight_decay(param_name):
        update += self.weight_decay_rate * param

    update_with_lr = learning_rate * update
    next_param = param - update_with_lr
    param.assign(next_param)
    m.assign(next_m)
    v.assign(next_v)
'''


def test_the_loop_over_variables_becomes_the_update_of_one() -> None:
    text = migrate(program(ADAM, MADE))
    assert "class AdamWeightDecayOptimizer(KernelOptimizer):" in text
    assert method(text, "update", "AdamWeightDecayOptimizer") == UPDATE
    assert 'return {"adam_m": 0.0, "adam_v": 0.0}' in method(text, "initial_slots")
    constructor = method(text, "__init__", "AdamWeightDecayOptimizer")
    assert "super(AdamWeightDecayOptimizer, self).__init__(learning_rate, name, **kwargs)" in constructor
    assert 'name="AdamWeightDecayOptimizer", **kwargs):' in constructor
    assert "self.learning_rate" not in text and "self.beta_1 = beta_1" in constructor
    assert "apply_gradients" not in method(text, "create_model") and "def apply_gradients" not in text
    names = text[text.index("hyperparameters = (") : text.index("def __init__")]
    assert '"weight_decay_rate",' in names and '"exclude_from_weight_decay",' in names and "learning" not in names


def test_the_model_takes_its_step_with_it() -> None:
    text = migrate(program(ADAM, MADE))
    assert "self.optimizer.apply_gradients(zip(grads, tvars))" in method(text, "train_step")
    assert "optimizer = AdamWeightDecayOptimizer(tf.keras.optimizers.schedules.PolynomialDecay(" in method(
        text, "create_model"
    ) or "rate = tf.keras.optimizers.schedules.PolynomialDecay(" in method(text, "create_model")


def test_minimize_with_it() -> None:
    apply = "train_op = optimizer.minimize(loss)\ntrain_op = tf.group(train_op, step.assign_add(1))\n"
    text = migrate(program(ADAM, MADE, apply))
    assert "def train_step" not in text


def test_a_class_in_a_file_of_its_own() -> None:
    source = program("import optimization\n", f"optimization.{MADE}")
    files = migrate_all({"optimization.py": f"import re\nimport tensorflow as tf\n\n{ADAM}", "program.py": source})
    assert "from tf2_training import KernelOptimizer, variable_path" in files["optimization.py"]
    assert "optimization.AdamWeightDecayOptimizer(" in files["program.py"]


def test_another_class_of_the_kind() -> None:
    text = migrate(program(LAMB, "LAMB(lr=rate, exclude=['bias', 'layer_norm|LayerNorm'])"))
    update = method(text, "update", "LAMB")
    assert 'm = self.slot("lamb_m", var)' in update
    assert "    m.assign(next_m)\n    var.assign_sub(ratio * learning_rate * update)\n" in update
    assert "super().__init__(lr, name, **kwargs)" in text and "_lr" not in method(text, "__init__", "LAMB")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("assignments = []", "assignments = []\n        scale = 2.0", "does is not followed"),
        ("super(AdamWeightDecayOptimizer, self).__init__(False, name)", "pass", "does not begin with that of its base"),
        ("initializer=tf.zeros_initializer()", "initializer=tf.ones_initializer()", "does not start as zeros"),
        ("trainable=False", "trainable=True", "trained itself"),
        ("shape=param.shape.as_list()", "shape=[3]", "not of the shape of its variable"),
        ('name=param_name + "/adam_m"', 'name="m"', "with an ending"),
        ("[param.assign(next_param),", "[param.assign(param - self.beta_1 * m), m.assign_add(grad),", "not followed"),
        ("v.assign(next_v)]", "v.assign(m * 2.0)]", "order that matters"),
        ("self.beta_2 = beta_2", "self.beta_2 = beta_2\n        self.weight_decay = 0.1", "means something else"),
        ("self.learning_rate = learning_rate", "self.learning_rate = 2 * learning_rate", "computes with its learning rate"),
        ("return tf.group(*assignments, name=name)", "return tf.group(*assignments, self.last())", "not followed"),
        ("update_with_lr = self", "learning_rate = 1.0\n            update_with_lr = self", "`learning_rate` is a name"),
        ("next_param = param", "global_step\n            next_param = param", "counts the steps itself"),
        ("def _do_use", "def _apply_dense(self, grad, var):\n        pass\n\n    def _do_use", "`apply_gradients`"),
        ("if re.search(r, param_name)", "if re.match(r, param_name)", "is not followed"),
        ("(tf.train.Optimizer)", "(tf.train.Optimizer, object)", "several bases"),
    ],
)  # fmt: skip
def test_a_class_that_does_more_is_refused(old: str, new: str, reason: str) -> None:
    assert old in ADAM
    assert reason in manual_reason(program(ADAM.replace(old, new), MADE))


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ("['LayerNorm', 'bias']", "names of variables that differ in Keras: LayerNorm/"),
        ("['hidden/kernel']", ""),
        ("['dense_1']", ""),
        ("['model']", "names of variables that differ in Keras"),
        ("params['excluded']", "not a literal list"),
        ("None", ""),
    ],
)
def test_names_that_tell_variables_apart(names: str, reason: str) -> None:
    source = program(ADAM, f"AdamWeightDecayOptimizer(rate, 0.01, exclude_from_weight_decay={names})")
    if reason:
        assert reason in manual_reason(source)
    else:
        assert names in migrate(source)


@pytest.mark.parametrize(
    "test",
    ["'bias' in param_name", "param_name.endswith('bias')", "param_name == 'hidden/bias'", "len(param_name) > 3"],
)
def test_other_questions_about_names_are_refused(test: str) -> None:
    for old in ("if self._do_use_weight_decay(param_name)", "if not self.weight_decay_rate"):
        source = program(ADAM.replace(old, f"if {test}"), MADE)
        assert "with the names of variables is not followed" in manual_reason(source)


def test_a_class_that_other_code_uses_too() -> None:
    source = program(ADAM, MADE) + "\n\nother = AdamWeightDecayOptimizer(0.1)  # HERE\n"
    assert "used outside of the model_fn" in manual_reason(source)


def test_a_step_that_nobody_counts() -> None:
    apply = "train_op = optimizer.apply_gradients(optimizer.compute_gradients(loss), global_step=step)\n"
    assert "the step never advances" in manual_reason(program(ADAM, MADE, apply))


APPLIED = """
class Sgd(BASE):
    def __init__(self, learning_rate, name="Sgd"):
        super().__init__(False, name)
        self._learning_rate = learning_rate

    def _apply_dense(self, grad, var):
        return var.assign_sub(self._learning_rate * grad)

    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(self._learning_rate * grad)
"""
MINIMIZE = "train_op = optimizer.minimize(loss, global_step=step)\n"


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        ("tf.train.AdamOptimizer", "a class that is not known"),
        ("Base", "a class that is not known"),
    ],
)
def test_a_class_that_the_base_calls_is_not_taken_for_one_of_keras(base: str, reason: str) -> None:
    imports = "from tensorflow.python.training import optimizer as optimizer_lib\nBase = tf.train.MomentumOptimizer\n"
    source = program(imports + APPLIED.replace("BASE", base), "Sgd(rate)", MINIMIZE)
    assert reason in manual_reason(source)
    assert [unit.tier for unit in units(run(source, "auto"))] == ["bridge"]


@pytest.mark.parametrize(
    "made", ["radam.RAdam(rate)", "params['optimizer']", "make(rate)", "tf.train.AdamOptimizer(rate) or make(rate)"]
)
def test_an_optimizer_that_nobody_sees(made: str) -> None:
    source = program("import radam\nmake = radam.make_optimizer\n", made, MINIMIZE)
    assert "a class that is not known" in manual_reason(source)
    choice = "optimizer = tf.train.AdamOptimizer(rate)\nif params['own']:\n    optimizer = radam.RAdam(rate)\n"
    assert "a class that is not known" in manual_reason(program("import radam\n", made, choice + MINIMIZE))
