"""Arguments of Estimators that nobody sets."""

from __future__ import annotations

import pytest
from desugared import MODEL, plain
from modelfn.programs import HELPERS, run

BUILD = """def build(model_dir, {name}=None):
    return tf.estimator.Estimator(model_fn, model_dir=model_dir, params={{"units": 1}}, {name}={name})


"""
MAIN = """estimator = build("folder"{given})
estimator.train(make_input_fn(8, None), steps=20)
"""


@pytest.mark.parametrize("name", ["warm_start_from", "config"])
@pytest.mark.parametrize("given", ["", ", None", ", {name}=None"])
def test_a_parameter_that_is_none_in_all_calls(name: str, given: str) -> None:
    text = plain(MODEL + BUILD.format(name=name) + MAIN.format(given=given.format(name=name)))
    assert f"def build(model_dir, {name}=None):\n" in text and f"{name}={name}" not in text


@pytest.mark.parametrize(
    "main",
    [
        MAIN.format(given=", CONFIG"),
        MAIN.format(given="") + 'build("other", config=CONFIG).evaluate(make_input_fn(8, 1))\n',
        MAIN.format(given="") + "print(build)\n",
    ],
)
def test_one_that_may_be_set_stays(main: str) -> None:
    above = "CONFIG = configured()\n\n\n"
    assert HELPERS in run(MODEL + above + BUILD.format(name="config") + main)
