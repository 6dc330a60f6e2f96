"""Optimizer classes of programs whose model_fn stays a graph: what they need there, and which are left alone."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import LOSS, PATH, model_fn, run, units

BODY = "predictions = tf.layers.dense(features['x'], 3)"
STEP = "train_op = Own(0.1).minimize(loss, tf.train.get_global_step())"
SPEC = "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)"
DENSE = """
def _apply_dense(self, grad, var):
    return var.assign_sub(self.rate * grad)
"""
RESOURCE = DENSE.replace("_apply", "_resource_apply")
SPARSE = """
def _apply_sparse(self, grad, var):
    return self._apply_dense(tf.convert_to_tensor(grad), var)
"""
POWER = """
def _finish(self, ops, scope):
    power = self._get_non_slot_variable("power", graph=tf.get_default_graph())
    return tf.group(*ops, power.assign(power * 0.9), name=scope)
"""


def migrated(methods: str, base: str = "tf.train.Optimizer", before: str = "") -> tuple[str, str, str]:
    """The file after migration, the tier, and the reason."""
    inner = "def __init__(self, rate):\n    super().__init__(False, 'Own')\n    self.rate = rate\n" + methods
    source = f"{before}\nclass Own({base}):\n{textwrap.indent(textwrap.dedent(inner), '    ')}\n"
    outcomes = run(model_fn(BODY, end=f"{LOSS}\n{STEP}\n{SPEC}", before=source), "bridge")
    [unit] = units(outcomes)
    return outcomes[PATH].after.decode(), unit.tier, str(unit.reason)


@pytest.mark.parametrize("methods", [DENSE, DENSE + RESOURCE + SPARSE, DENSE + RESOURCE + POWER])
@pytest.mark.parametrize(
    ("base", "before"),
    [
        ("tf.train.Optimizer", ""),
        ("optimizer.Optimizer", "from tensorflow.python.training import optimizer\nimport tensorflow as tf\n"),
    ],
)
def test_a_class_that_was_written_for_references(methods: str, base: str, before: str) -> None:
    text, tier, _ = migrated(methods, base, before)
    assert tier == "bridge"
    assert "class Own(GraphOptimizer):" in text and "GraphOptimizer" in text.split("class Own")[0]


def test_a_class_that_updates_resources_is_left_alone() -> None:
    text, tier, _ = migrated(DENSE + RESOURCE)
    assert tier == "bridge" and "class Own(tf.compat.v1.train.Optimizer):" in text


def test_methods_of_a_base_of_the_program_count() -> None:
    base = f"class Base(tf.train.Optimizer):\n{textwrap.indent(RESOURCE, '    ')}\n\n"
    text, tier, _ = migrated(DENSE, "Base", base)
    assert tier == "bridge" and "class Base(tf.compat.v1.train.Optimizer):" in text and "class Own(Base):" in text
    text, _, _ = migrated(SPARSE, "Base", base)
    assert "class Base(GraphOptimizer):" in text and "class Own(Base):" in text


def test_a_class_of_another_library_is_left_alone() -> None:
    text, _, _ = migrated(DENSE, "optim.Optimizer", "import tensorflow as tf\nimport optim\n")
    assert "class Own(optim.Optimizer):" in text and "GraphOptimizer" not in text


@pytest.mark.parametrize("base", ["tf.train.AdamOptimizer", "adam.AdamOptimizer"])
def test_a_formula_that_a_graph_would_not_call_is_refused(base: str) -> None:
    before = "from tensorflow.python.training import adam\nimport tensorflow as tf\n"
    _, tier, reason = migrated(DENSE, base, before)
    assert tier == "manual" and "changes `_apply_dense`, but not `_resource_apply_dense`" in reason
    text, tier, _ = migrated(DENSE + RESOURCE, base, before)
    assert tier == "bridge" and "GraphOptimizer" not in text
    _, tier, reason = migrated(RESOURCE + POWER, base, before)
    assert tier == "manual" and "`_get_non_slot_variable`" in reason


def test_kernels_for_references_are_refused() -> None:
    before = "from tensorflow.python.training import training_ops\nimport tensorflow as tf\n"
    kernel = DENSE.replace(
        "var.assign_sub(self.rate * grad)", "training_ops.apply_gradient_descent(var, self.rate, grad)"
    )
    _, tier, reason = migrated(kernel, before=before)
    assert tier == "manual" and "write `_resource_apply_dense`" in reason
    assert migrated(kernel + RESOURCE, before=before)[1] == "bridge"
