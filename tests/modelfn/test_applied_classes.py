"""Optimizer classes with `_apply_dense` and its like: what the text of the Keras optimizer is, and which are refused."""

from __future__ import annotations

import pytest
from modelfn import applied_optimizers
from modelfn.own_optimizers import program
from modelfn.programs import manual_reason, method, migrate, run, units

MINIMIZE = "train_op = opt.minimize(loss, global_step=step)\n"
BOUND = "AdaBoundOptimizer"


def source_of(name: str, made: str, old: str = "", new: str = "", apply: str = MINIMIZE) -> str:
    """A program with one of the classes, in which `old` is replaced."""
    text = getattr(applied_optimizers, name)
    assert old in text
    text = text.replace(old, new) if old else text
    written = program(f"{applied_optimizers.IMPORTS}\n{text}", made, apply)
    return written.replace("\n    optimizer = ", "\n    opt = ")


def test_an_update_is_written_in_the_order_of_its_ops() -> None:
    text = migrate(source_of("SGDW", "SGDW(rate)"))
    assert method(text, "_apply_dense", "SGDW") == (
        "def _apply_dense(self, grad, var):\n"
        '    mom = self.slot("momentum", var)\n'
        '    scale = self.slot("scale", var)\n'
        "    var.assign_sub(self.learning_rate * self.decay * var)\n"
        "    scale_t = scale.assign(0.9 * scale)\n"
        "    mom_t = mom.assign(self.momentum * mom + grad)\n"
        "    var.assign_sub(self.learning_rate * scale_t * mom_t)\n"
    )
    assert method(text, "update", "SGDW") == (
        "def update(self, var, grad, learning_rate):\n"
        "    if isinstance(grad, tf.IndexedSlices):\n"
        "        self._resource_apply_sparse(grad.values, var, grad.indices)\n"
        "    else:\n"
        "        self._apply_dense(grad, var)\n"
    )
    assert 'return {"momentum": 0.0, "scale": 1.0}' in method(text, "initial_slots", "SGDW")
    assert "_create_slots" not in text and "def _resource_apply_dense" not in text
    assert "mom.scatter_update(tf.IndexedSlices(rows, grad.indices))" in method(text, "_apply_sparse", "SGDW")


def test_variables_of_the_optimizer_itself() -> None:
    text = migrate(source_of("ADABOUND", f"{BOUND}(rate)"))
    constructor = method(text, "__init__", BOUND)
    assert 'initializer=tf.keras.initializers.Constant(self._gamma), name="gamma_multi"' in constructor.replace(
        "\n", ""
    )
    assert "_t = None" not in constructor and "self._lr = " not in constructor
    assert "gamma_multi.assign(gamma_multi + tf.convert_to_tensor(self._gamma))" in method(text, "finish_step", BOUND)
    update = method(text, "_resource_apply_dense", BOUND)
    assert "lr_t = math_ops.cast(self.learning_rate, grad.dtype.base_dtype)" in update
    assert "# amsgrad\n" in update and "control_flow_ops" not in update and "graph" not in update
    assert "def _apply_dense" not in text and "def _apply_sparse(" not in text
    assert "x.scatter_add(tf.IndexedSlices(v, i))\n    return x.value()" in method(text, "_resource_scatter_add", BOUND)


def test_slots_that_depend_on_the_variable() -> None:
    text = migrate(source_of("ADAFACTOR", "AdafactorOptimizer(rate)"))
    slots = method(text, "slots_of", "AdafactorOptimizer")
    assert '    if self._beta1:\n        slots["m"] = 0.0\n' in slots and 'slots["vr"] = r_val' in slots
    update = method(text, "_resource_apply_dense", "AdafactorOptimizer")
    assert "tf.cast(self.iterations, tf.float32)" in update
    conditional = method(migrate(source_of("RADAM", "RAdamOptimizer(rate)")), "initial_slots", "RAdamOptimizer")
    assert '    if self._amsgrad:\n        slots["vhat"] = 0.0\n    return slots' in conditional


def test_an_update_of_dense_gradients_only() -> None:
    whole = applied_optimizers.SGDW
    text = migrate(source_of("SGDW", "SGDW(rate)", whole[whole.index("    def _apply_sparse") :], ""))
    assert "IndexedSlices):" not in method(text, "update", "SGDW") and "def _apply_dense" not in text
    assert "def update(self, var, grad, learning_rate):\n" in text


SCALE = 'scale = self.get_slot(var, "scale")'
SPARSE = "def _apply_sparse("
MOMENTUM = 'mom = self.get_slot(var, "momentum")\n        scale'


def added(text: str) -> str:
    """A method above another one."""
    return f"def {text}\n\n    {SPARSE}"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("return tf.group(var_update, mom_t)", "return var_update", ""),
        ("return tf.group(var_update, mom_t)", "return mom_t", "does not return it"),
        ("scale_t * mom_t)\n", "scale_t * mom)\n", "order that matters"),
        ("with tf.control_dependencies([decay]):", "if True:", "order that matters"),
        ("mom_t = mom.assign(", "mom.assign_add(grad)\n            mom_t = mom.assign(", "order that matters"),
        ("decay = tf.assign_sub(", "decay = tf.scatter_nd_sub(", "does to variables is not followed"),
        (SCALE, "scale = self.scales[var]", "which variable"),
        (SCALE, f"{SCALE} if var.name else None", "which variable"),
        (SCALE, "scale = self.get_slot(var, KEY)", "which variable"),
        ("self.momentum * mom + grad", "self.momentum * mom + grad * len(var.name)", "names of variables"),
        ("self.momentum * mom + grad", "self.momentum * mom + grad * self._use_locking", "of the base of an optimizer class"),
        ("mom_t = mom.assign(", "self.last = grad\n            mom_t = mom.assign(", "keeps something on the way"),
        ("tf.ones_like(v)", "tf.random_uniform(v.shape)", ""),
        ("self._get_or_make_slot(v, tf.ones_like(v)", "self._get_or_make_slot(v, self.start(v)", ""),
        ("for v in var_list:", "for v in reversed(var_list):", "`_create_slots` of an optimizer class makes"),
        (SPARSE, added("_prepare(self):\n        print('now')"), "`_prepare`"),
        (SPARSE, added("_apply_sparse_duplicate_indices(self, grad, var):\n        pass"), "duplicate_indices"),
        (SPARSE, added("compute_gradients(self, loss):\n        pass"), "compute_gradients"),
        (SPARSE, added("_finish(self, ops, name):\n        return tf.group(*ops, self.learning_rate)"), "reads the learning"),
        (MOMENTUM, f"if self.learning_rate > 1.0:\n            grad = -grad\n        {MOMENTUM}", "asks how large"),
        ("self.decay = decay", "self.decay = decay\n        self.step = 2 * learning_rate", "computes with its learning rate"),
    ],
)  # fmt: skip
def test_what_is_not_followed(old: str, new: str, reason: str) -> None:
    source = source_of("SGDW", "SGDW(rate)", old, new)
    if reason:
        assert reason in manual_reason(source)
        assert [unit.tier for unit in units(run(source, "auto"))] in (["bridge"], ["manual"])
    else:
        assert "class SGDW(tf.train" not in migrate(source)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("        with ops.control_dependencies(update_ops):", "        if True:", "before the step is done"),
        ("initial_value=self._gamma", "initial_value=[self._gamma]", "starts as is not seen"),
        ("lambda x, i, v: state_ops", "lambda x, i, v: state_ops", ""),
        ("ops.convert_to_tensor(self._gamma)", "ops.convert_to_tensor(self._gamma * 2.0)", "`_prepare`"),
        ("[update_beta1, update_beta2, update_gamma]", "[update_beta1, update_beta2]", "does not return it"),
        ("vhat_t = state_ops.assign(vhat, vhat)", "vhat_t = self._refresh(var)", "of the base of an optimizer class"),
        ("return x.value()", "return i", ""),
    ],
)
def test_what_is_not_followed_of_a_larger_class(old: str, new: str, reason: str) -> None:
    source = source_of("ADABOUND", f"{BOUND}(rate)", old, new)
    if reason:
        assert reason in manual_reason(source)
    else:
        assert f"class {BOUND}(KernelOptimizer)" in migrate(source)


def test_a_function_that_reads_the_step() -> None:
    old = "def reduce_rms(x):\n"
    source = source_of("ADAFACTOR", "AdafactorOptimizer(rate)", old, f"{old}    tf.train.get_global_step()\n")
    assert "does more than compute" in manual_reason(source)


def test_slots_that_the_model_reads() -> None:
    apply = MINIMIZE + "tf.summary.scalar('m', tf.norm(opt.get_slot(tvars[0], 'momentum')))\n"
    assert manual_reason(source_of("SGDW", "SGDW(rate)", apply=apply))
