"""Input functions that one name holds one after the other."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn, run

HEAD = "import numpy as np\nimport tensorflow as tf\n\n\ndef make(n):\n    return tf.data.Dataset.range(n)\n"
MAKE = "estimator = tf.estimator.Estimator(model_fn, params={})\n"
FIRST = "input_fn = tf.estimator.inputs.numpy_input_fn(A, B, num_epochs=None, shuffle=False)\n"
SECOND = "input_fn = tf.estimator.inputs.numpy_input_fn(C, D, shuffle=False)\n"
TRAIN, EVALUATE = "estimator.train(input_fn, steps=3)\n", "print(estimator.evaluate(input_fn))\n"


def program(after: str) -> str:
    return model_fn(
        "predictions = tf.layers.dense(features, 1)",
        before=HEAD,
        after=f"A = B = C = D = np.ones([8, 1])\n{MAKE}{after}",
    )


def test_each_gets_a_name() -> None:
    after = migrate(program(f"{FIRST}{TRAIN}{SECOND}{EVALUATE}rows = list(estimator.predict(input_fn=input_fn))\n"))
    assert "train_dataset = tf.data.Dataset.from_tensor_slices((A, B)).repeat().batch(128)\n" in after
    assert "model.fit(train_dataset.take(3))" in after and "eval_dataset = tf.data.Dataset.from" in after
    assert (
        "model.evaluate(eval_dataset, return_dict=True)" in after and "model.predict(eval_dataset, verbose=0)" in after
    )


def test_two_of_a_kind_are_numbered() -> None:
    third = SECOND.replace("C", "A")
    after = migrate(program(f"{FIRST}{TRAIN}{SECOND}{EVALUATE}{third}{EVALUATE}"))
    assert "model.evaluate(eval_dataset, " in after and "model.evaluate(eval_input_fn_2, " in after


def test_a_function_of_the_program() -> None:
    inner = f"{FIRST}{TRAIN}{SECOND}{EVALUATE}".replace("\n", "\n    ")
    after = migrate(program(f"def main():\n    {inner}\n\nmain()\n"))
    assert "    train_dataset = " in after and "model.evaluate(eval_dataset" in after


@pytest.mark.parametrize(
    "after",
    [
        f"{FIRST}{TRAIN}{SECOND}{EVALUATE}print(input_fn)\n",
        f"{FIRST}{TRAIN}if A is B:\n    {SECOND}{EVALUATE}",
        f"{FIRST}{TRAIN}{SECOND}{EVALUATE}def again():\n    {TRAIN}",
        f"{FIRST}again = lambda: estimator.evaluate(input_fn)\n{TRAIN}{SECOND}{EVALUATE}",
        f"{FIRST}{SECOND}{TRAIN}{EVALUATE}",
        f"{FIRST}{TRAIN}{SECOND}{EVALUATE}del input_fn\n",
        f"{FIRST}{TRAIN}input_fn, other = make, 3\n{EVALUATE}",
        f"{FIRST}{TRAIN}{SECOND}{EVALUATE}rows = estimator.predict(make, input_fn)\n",
        f"input_fn = None\n{FIRST}{TRAIN}{EVALUATE}",
        f"{FIRST}{TRAIN}with open(str(A)):\n    {SECOND}{EVALUATE}",
        f"for A in B:\n    {EVALUATE}    {FIRST}    {SECOND}",
    ],
)
def test_what_may_read_another_one_stays(after: str) -> None:
    text = run(program(after), "auto")["program.py"].after.decode()
    assert "train_input_fn" not in text and "train_dataset" not in text and "eval_input_fn" not in text
