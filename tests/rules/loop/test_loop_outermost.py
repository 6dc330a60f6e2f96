"""Functions that are written among the statements of a script."""

from __future__ import annotations

from modelfn.programs import migrate
from test_loop import MODEL

SAVED = 'estimator = tf.estimator.Estimator(model_fn, model_dir="here", params={"units": 1})\n'
TRAIN = "estimator.train(make_input_fn(8, None), steps=2000)\n"
FUNCTION = "def save_checkpoint(batch, logs):\n"


def test_two_blank_lines_stand_around_them() -> None:
    text = migrate(MODEL + SAVED + TRAIN)
    assert f"\n\n\n{FUNCTION}" in text and f"\n\n\n\n{FUNCTION}" not in text and "\n\n\nmodel.fit(" in text


def test_inside_of_a_function_one_is_enough() -> None:
    body = "".join(f"    {line}\n" for line in (SAVED + TRAIN).splitlines())
    text = migrate(f"{MODEL}def main():\n{body}\n\nmain()\n")
    assert f"\n\n    {FUNCTION}" in text and f"\n\n\n    {FUNCTION}" not in text and "\n\n    model.fit(" in text
