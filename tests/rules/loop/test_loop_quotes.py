"""What takes the place of calls is written with the quotes of its file."""

from __future__ import annotations

from modelfn.programs import joined, migrate
from test_loop import MODEL

AFTER = 'estimator = tf.estimator.Estimator(model_fn, model_dir="here", params={"units": 1})\n' + (
    'estimator.train(make_input_fn(8, None), steps=20)\nprint("it\'s", tf.estimator.ModeKeys.EVAL)\n'
)


def test_quotes() -> None:
    text = joined(migrate(MODEL + AFTER))
    assert 'checkpoint_name="model.ckpt"' in text and text.rstrip().endswith('print("it\'s", "eval")')
    text = joined(migrate((MODEL + AFTER).replace('"', "'").replace("'it's'", '"it\'s"')))
    assert "checkpoint_name='model.ckpt'" in text and text.rstrip().endswith("print(\"it's\", 'eval')")
