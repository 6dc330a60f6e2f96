"""An optimizer class written for reference variables: the same weights on resources, dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.graph_v1.v1_own_optimizers import GraphOptimizer

v1 = tf.compat.v1
random = np.random.RandomState(0)
INITIAL = {"table": random.randn(6, 3).astype("float32"), "bias": random.randn(3).astype("float32")}
IDS = random.randint(0, 5, [10, 4])


def make(base: type) -> Any:
    """An optimizer with a slot, a power and sparse updates of its own."""

    class Decaying(base):  # type: ignore[misc]
        def _create_slots(self, var_list: Any) -> None:
            self._create_non_slot_variable(initial_value=0.9, name="power", colocate_with=var_list[0])
            for variable in var_list:
                self._zeros_slot(variable, "m", self._name)

        def _power(self) -> Any:
            return self._get_non_slot_variable("power", graph=v1.get_default_graph())

        def _apply_dense(self, grad: Any, var: Any) -> Any:
            m = self.get_slot(var, "m")
            moved = v1.assign(m, 0.9 * m + grad)
            return tf.group(v1.assign_sub(var, 0.1 * self._power() * moved), moved)

        def _apply_sparse(self, grad: Any, var: Any) -> Any:
            return v1.scatter_sub(var, grad.indices, 0.1 * grad.values) if self._lazy else self._dense(grad, var)

        def _dense(self, grad: Any, var: Any) -> Any:
            return self._apply_dense(tf.convert_to_tensor(grad), var)

        def _finish(self, update_ops: Any, name_scope: str) -> Any:
            with tf.control_dependencies(update_ops):
                power = self._power()
                return tf.group(*update_ops, power.assign(power * 0.5), name=name_scope)

    return Decaying(False, "decaying")


def loss_of(weights: dict[str, Any], ids: Any) -> Any:
    return tf.reduce_mean(tf.square(tf.gather(weights["table"], ids) + weights["bias"] - 0.3))


def old(lazy: bool) -> dict[str, np.ndarray]:
    with tf.Graph().as_default(), v1.Session() as session:
        weights = {n: v1.get_variable(n, initializer=x, use_resource=False) for n, x in INITIAL.items()}
        ids = v1.placeholder(tf.int64, [4])
        optimizer = make(v1.train.Optimizer)
        optimizer._lazy = lazy
        train_op = optimizer.minimize(loss_of(weights, ids))
        session.run(v1.global_variables_initializer())
        for batch in IDS:
            session.run(train_op, {ids: batch})
        return session.run(weights)


def new(lazy: bool) -> dict[str, np.ndarray]:
    weights: dict[str, Any] = {}

    def step(ids: Any) -> Any:
        weights.update({n: v1.get_variable(n, initializer=x, use_resource=True) for n, x in INITIAL.items()})
        optimizer = make(GraphOptimizer)
        optimizer._lazy = lazy
        with tf.control_dependencies([optimizer.minimize(loss_of(weights, ids))]):
            return tf.constant(True)

    wrapped = v1.wrap_function(step, [tf.TensorSpec([4], tf.int64)])
    for batch in IDS:
        wrapped(tf.constant(batch))
    return {name: variable.numpy() for name, variable in weights.items()}


def test_same_weights() -> None:
    for lazy in (False, True):
        expected, actual = old(lazy), new(lazy)
        for name, value in expected.items():
            assert not np.allclose(value, INITIAL[name])
            np.testing.assert_allclose(actual[name], value, rtol=1e-6, err_msg=name)
