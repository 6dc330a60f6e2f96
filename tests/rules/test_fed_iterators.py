"""Iterators that hooks initialize with arrays become datasets of the arrays; the hooks go."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, migrate, migrate_all, model_fn

HOOK = """\
class IteratorHook(tf.train.SessionRunHook):
    \"\"\"Initializes an iterator.\"\"\"

    def __init__(self):
        super(IteratorHook, self).__init__()
        self.initialize = None

    def after_create_session(self, session, coord):
        self.initialize(session)
"""
INPUTS = """\
def get_inputs(x, y, size):
    hook = IteratorHook()

    def inputs():
        images = tf.placeholder(x.dtype, x.shape)
        labels = tf.placeholder(dtype=tf.float32, shape=y.shape)
        dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(size)
        iterator = dataset.make_initializable_iterator()
        # the hook runs it
        hook.initialize = lambda s: s.run(iterator.initializer, feed_dict={images: x, labels: y})
        return iterator.get_next()

    return inputs, hook
"""
USE = """\
fn, hook = get_inputs(X, Y, 4)
other_fn, other = get_inputs(X, Y, 5)
estimator.train(fn, hooks=[hook, tf.train.StopAtStepHook(9)], steps=3)
estimator.evaluate(other_fn, hooks=[other], steps=2)
"""
NET = "predictions = tf.layers.dense(features, 1)"


def program(hook: str = HOOK, inputs: str = INPUTS, use: str = USE) -> str:
    after = f"estimator = tf.estimator.Estimator(model_fn, params={{}})\n{use}"
    end = f"{LOSS}\n{TRAIN_OP}\n{SPEC}"
    return model_fn(NET, end=end, before=f"from arrays import X, Y\n\n\n{hook}\n\n{inputs}", after=after)


def test_the_dataset_is_made_of_the_arrays() -> None:
    text = migrate(program())
    assert (
        "def get_inputs(x, y, size):\n    def inputs():\n"
        "        dataset = tf.data.Dataset.from_tensor_slices((x, labels)).batch(size)\n"
    ) in text.replace("        labels = tf.constant(y, dtype=tf.float32)\n", "")
    assert "        labels = tf.constant(y, dtype=tf.float32)\n" in text
    assert "        return dataset\n\n    return inputs\n" in text
    assert "fn = get_inputs(X, Y, 4)\nother_fn = get_inputs(X, Y, 5)\n" in text
    assert "train(estimator, fn, callbacks=[StopAtStep(9)], steps=3)\nevaluate(estimator, other_fn, steps=2)" in text
    assert "IteratorHook" not in text and "the hook runs it" not in text


def test_the_hook_may_stand_in_another_file() -> None:
    hooks = f"import tensorflow as tf\n\n\n{HOOK}"
    imported = "from hooks import IteratorHook\n"
    after = migrate_all({"hooks.py": hooks, "program.py": program(imported)})
    assert "make_initializable_iterator" not in after["program.py"] and "IteratorHook()" not in after["program.py"]


def test_a_hook_beside_its_input_function() -> None:
    inputs = INPUTS.replace("def get_inputs(x, y, size):\n    ", "x, y, size = X, Y, 4\n").replace("\n    ", "\n")
    inputs = inputs.replace("return inputs, hook\n", "").replace("x.dtype", "X.dtype").replace("images: x", "images: X")
    inputs = inputs.replace("labels: y", "labels: Y")
    text = migrate(program(inputs=inputs, use="estimator.train(inputs, hooks=[hook], steps=3)\n"))
    assert "model.fit(inputs().take(3))" in text and "from_tensor_slices((X, labels))" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.initialize(session)", "self.initialize(session)\n        print(1)"),
        ("self.initialize(session)", "self.initialize(coord)"),
        ("self.initialize = None", "self.initialize = None\n        self.steps = 0"),
        (
            "        self.initialize(session)\n",
            "        self.initialize(session)\n\n    def end(self, session):\n        pass\n",
        ),
        ("lambda s: s.run(", "lambda s: r.run("),
        ("lambda s: s.run(", "lambda s, r=1: s.run("),
        ("images: x,", "images: x * 2,"),
        ("images: x,", "images: load(),"),
        ("images: x,", "None: x,"),
        ("    def inputs():\n", "    x = x + 1\n\n    def inputs():\n"),
        ("return inputs, hook\n", "return inputs, hook, size\n"),
        ("return inputs, hook\n", "print(hook)\n    return inputs, hook\n"),
        ("return inputs, hook\n", "if size:\n        return inputs, None\n    return inputs, hook\n"),
        ("fn, hook = get_inputs(X, Y, 4)", "fn, hook = pair = get_inputs(X, Y, 4)"),
        ("fn, hook = get_inputs(X, Y, 4)", "fn, *hook = get_inputs(X, Y, 4)"),
        ("other_fn, other = get_inputs(X, Y, 5)", "other_fn, other = wrap(get_inputs)(X, Y, 5)"),
        ("hooks=[other]", "hooks=make(other)"),
        ("hooks=[hook, ", "hooks=[*hook, "),
    ],
)
def test_other_forms_are_left(old: str, new: str) -> None:
    text = program()
    assert old in text
    assert "an initializable iterator is not migrated yet" in manual_reason(text.replace(old, new, 1))


def test_what_is_fed_may_have_a_name() -> None:
    inputs = INPUTS.replace("feed_dict={images: x, labels: y})", "feed_dict=values)").replace(
        "        # the hook", "        values = {images: x, labels: y}\n        # the hook"
    )
    text = migrate(program(inputs=inputs))
    assert "values" not in text and "from_tensor_slices((x, labels))" in text
    assert "iterator" in manual_reason(
        program(inputs=inputs.replace("        # the hook", "        print(values)\n        # the hook"))
    )


def test_a_hook_of_the_same_name_for_each_use() -> None:
    text = migrate(program(use=USE.replace("other_fn", "fn").replace("other", "hook")))
    assert "IteratorHook" not in text and "hook" not in text.replace("StopAtStepHook", "")
    use = USE.replace("other_fn", "fn").replace("other", "hook") + "hook = None\nprint(hook)\n"
    assert "iterator" in manual_reason(program(use=use))


def test_an_iterator_of_a_dataset_without_a_name() -> None:
    batched = "        dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(size)\n"
    assert batched in INPUTS
    chained = "tf.data.Dataset.from_tensor_slices((images, labels)).batch(size).make_initializable_iterator()"
    inputs = INPUTS.replace(batched, "").replace("dataset.make_initializable_iterator()", chained)
    text = migrate(program(inputs=inputs))
    assert (
        "        dataset = tf.data.Dataset.from_tensor_slices((x, labels)).batch(size)\n        return dataset\n"
        in text
    )
    assert "IteratorHook" not in text


HANDED = """\
def make_inputs(x, hook, size):
    def inputs():
        images = tf.placeholder(x.dtype, x.shape)
        dataset = tf.data.Dataset.from_tensor_slices(images).batch(size)
        iterator = dataset.make_initializable_iterator()
        hook.initialize = lambda s: s.run(iterator.initializer, feed_dict={images: x})
        return iterator.get_next()

    return inputs
"""
GIVEN = """\
first = IteratorHook()
hooks = [first, tf.train.StopAtStepHook(9)]
estimator.train(make_inputs(X, first, 4), hooks=hooks, steps=3)
second = IteratorHook()
more = []
more.append(second)
estimator.evaluate(make_inputs(Y, size=5, hook=second), hooks=more, steps=2)
third = IteratorHook()
estimator.evaluate(make_inputs(Y, third, 6), hooks=[third], steps=2)
"""


def test_callers_may_make_the_hook_and_hand_it_in() -> None:
    text = migrate(program(inputs=HANDED, use=GIVEN))
    assert "def make_inputs(x, size):\n    def inputs():\n" in text and "IteratorHook" not in text
    assert "dataset = tf.data.Dataset.from_tensor_slices(x).batch(size)\n        return dataset\n" in text
    assert "make_inputs(X, 4)" in text and "make_inputs(Y, size=5)" in text and "make_inputs(Y, 6)" in text
    assert not any(name in text for name in ("first", "second", "third"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("first = IteratorHook()\n", "first = IteratorHook() if X else None\n"),
        ("first = IteratorHook()\n", "first = tf.train.StepCounterHook()\n"),
        ("hooks = [first, ", "print(first)\nhooks = [first, "),
        ("more.append(second)", "more.insert(0, second)"),
        ("third, 6", "second, 6"),
        (
            "estimator.evaluate(make_inputs(Y, third, 6)",
            "makes = [make_inputs]\nestimator.evaluate(makes[0](Y, third, 6)",
        ),
    ],
)
def test_hooks_that_do_more_are_left(old: str, new: str) -> None:
    assert old in GIVEN
    assert "initializable iterator" in manual_reason(program(inputs=HANDED, use=GIVEN.replace(old, new)))


def test_a_hook_that_the_function_reads_as_well_is_left() -> None:
    inputs = HANDED.replace("    def inputs():\n", "    print(hook)\n\n    def inputs():\n")
    assert "initializable iterator" in manual_reason(program(inputs=inputs, use=GIVEN))
