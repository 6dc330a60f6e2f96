"""Old programs that leave open whether a step reads or assigns its number first are recorded with reads first."""

from __future__ import annotations

import types
from typing import Any

import pytest
import tensorflow as tf

from migrator.parity.probe.tf1.ordering import HOOKS_READ, decay_with_data, read_step_first, read_weights_first

v1 = tf.compat.v1


def slowly(step: Any) -> Any:
    """The value of `step`, read as late as TensorFlow may."""
    with tf.control_dependencies([tf.numpy_function(lambda: __import__("time").sleep(0.05), [], [])]):
        return tf.cast(tf.identity(step), tf.float32)


@pytest.mark.parametrize("resource", [False, True])
def test_reads_come_before_the_assignment(resource: bool) -> None:
    with tf.Graph().as_default(), v1.variable_scope("", use_resource=resource), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        late = slowly(step)
        train_op = tf.group([step.assign(step + 1)])
        spec = types.SimpleNamespace(train_op=train_op, loss=late)
        assert read_step_first(spec)
        assert not read_step_first(spec)
        v1.train.Saver([step])
        session.run(step.initializer)
        assert [session.run([late, train_op])[0] for _ in range(3)] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("resource", [False, True])
def test_hooks_read_the_step_that_a_step_began_with(resource: bool) -> None:
    with tf.Graph().as_default(), v1.variable_scope("", use_resource=resource):
        step = v1.train.create_global_step()
        v1.train.StepCounterHook(1, summary_writer=object()).begin()
        train_op = step.assign_add(1).op
        assert not read_step_first(types.SimpleNamespace(train_op=train_op, loss=tf.zeros([])))  # as in each program
        (counted,) = v1.get_collection(HOOKS_READ)
        (write,) = [
            op for op in v1.get_default_graph().get_operations() if op.type.startswith("Assign") and op.control_inputs
        ]
        assert counted.op in write.control_inputs


@pytest.mark.parametrize("resource", [False, True])
def test_weights_are_read_before_they_decay(resource: bool) -> None:
    with tf.Graph().as_default(), v1.variable_scope("", use_resource=resource), v1.Session() as session:
        weight = v1.get_variable("weight", initializer=8.0)
        late = slowly(weight) * 3.0
        decay = weight.assign_sub(0.5 * weight)
        with tf.control_dependencies([decay]):
            train_op = v1.train.GradientDescentOptimizer(1.0).apply_gradients([(tf.gradients(late, weight)[0], weight)])
        spec = types.SimpleNamespace(train_op=train_op, loss=late)
        assert read_weights_first(spec)
        assert not read_weights_first(spec)
        session.run(weight.initializer)
        assert [session.run([late, train_op])[0] for _ in range(3)] == [24.0, 3.0, -7.5]


def test_weights_that_decay_after_the_step_stay_as_they_are() -> None:
    with tf.Graph().as_default():
        weight = v1.get_variable("weight", [3])
        loss = tf.reduce_sum(tf.tanh(weight))
        update = v1.train.AdamOptimizer().minimize(loss)
        with tf.control_dependencies([update]):
            after = weight.assign(0.9 * weight)
        assert not read_weights_first(types.SimpleNamespace(train_op=after, loss=loss))
        assert not read_weights_first(types.SimpleNamespace(train_op=None, loss=None))


def test_what_is_ordered_stays_as_it_is() -> None:
    with tf.Graph().as_default():
        step = v1.train.get_or_create_global_step()
        weight = v1.get_variable("weight", [])
        rate = v1.train.exponential_decay(0.1, step, 10, 0.9)
        train_op = v1.train.GradientDescentOptimizer(rate).minimize(weight, step)
        with tf.control_dependencies([train_op]):
            train_op = tf.group(tf.identity(step))
        assert not read_step_first(types.SimpleNamespace(train_op=train_op, loss=weight + 0.0))
        assert not read_step_first(types.SimpleNamespace(train_op=None, loss=None))
    with tf.Graph().as_default():
        assert not read_step_first(types.SimpleNamespace(train_op=tf.no_op(), loss=None))


@pytest.mark.parametrize("resource", [False, True])
def test_weights_whose_value_no_gradient_needs_are_read_before_the_update(resource: bool) -> None:
    with tf.Graph().as_default(), v1.variable_scope("", use_resource=resource), v1.Session() as session:
        weight = v1.get_variable("weight", initializer=8.0)
        with tf.control_dependencies([tf.numpy_function(lambda: __import__("time").sleep(0.05), [], [])]):
            late = tf.identity(weight) + 1.0
        train_op = v1.train.MomentumOptimizer(2.0, 0.5).apply_gradients([(tf.gradients(late, weight)[0], weight)])
        spec = types.SimpleNamespace(train_op=train_op, loss=late)
        assert read_weights_first(spec)
        assert not read_weights_first(spec)
        session.run(v1.global_variables_initializer())
        assert [session.run([late, train_op])[0] for _ in range(2)] == [9.0, 7.0]


@pytest.mark.parametrize("resource", [False, True])
def test_moments_do_not_decay_in_a_step_without_data(resource: bool) -> None:
    def moments(waits: bool) -> list[float]:
        """The first moments of a table after one step, and after one that found no data."""
        with tf.Graph().as_default(), v1.variable_scope("", use_resource=resource), v1.Session() as session:
            ids = v1.data.make_one_shot_iterator(tf.data.Dataset.from_tensors([0, 2])).get_next()
            table = v1.get_variable("table", initializer=tf.ones([4, 1]))
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
            optimizer = v1.train.AdamOptimizer(0.1)
            train_op = optimizer.minimize(loss)
            spec = types.SimpleNamespace(train_op=train_op, loss=loss)
            if waits:
                assert decay_with_data(spec) and not decay_with_data(spec)
            session.run(v1.global_variables_initializer())
            session.run(train_op)
            first = session.run(optimizer.get_slot(table, "m"))
            for _ in range(20):  # whether it decays is a race that it wins nearly always
                with pytest.raises(tf.errors.OutOfRangeError):
                    session.run(train_op)
            return [float(first.sum()), float(session.run(optimizer.get_slot(table, "m")).sum())]

    first, last = moments(waits=True)
    assert first == last
    first, last = moments(waits=False)
    assert last < first  # as TensorFlow does


def test_dense_moments_stay_as_they_are() -> None:
    with tf.Graph().as_default():
        weight = v1.get_variable("weight", [3])
        loss = tf.reduce_sum(weight**2)
        assert not decay_with_data(types.SimpleNamespace(train_op=v1.train.AdamOptimizer().minimize(loss), loss=loss))
        assert not decay_with_data(types.SimpleNamespace(train_op=None, loss=None))
