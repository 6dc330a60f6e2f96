"""What `train` returns, where nothing reads it."""

from __future__ import annotations

import pytest
from desugared import ESTIMATOR, MODEL, below
from modelfn.programs import HELPERS, run

FIT = """def fit(model):
    if model is None:
        return model.train(make_input_fn(4, None), steps=1)
    return model.train(make_input_fn(8, None), steps=20)


"""
ONE = """def fit(estimator):
    return estimator.train(make_input_fn(8, None), steps=20)


"""


def test_a_function() -> None:
    text = below(MODEL + ONE + ESTIMATOR + "fit(estimator)\n")
    assert ".fit(make_input_fn(8, None)().take(20))" in text and "return" not in text


def test_a_return_amid_a_function() -> None:
    text = below(MODEL + FIT + ESTIMATOR + "fit(estimator)\n")
    assert "        return\n" in text


@pytest.mark.parametrize("use", ["trained = fit(estimator)\n", "keep(fit)\n", "fit(estimator).evaluate(EVAL)\n"])
def test_what_is_read_stays(use: str) -> None:
    assert HELPERS in run(MODEL + ONE + ESTIMATOR + use)
