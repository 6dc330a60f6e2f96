"""Words about model_fns and modes beside code that has none any more."""

from __future__ import annotations

import pytest

from migrator.emit.polishing.wording import documented, reworded


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("The `model_fn` for TPUEstimator.", ""),
        ("Model function.", ""),
        ("model_fn for tf.estimator.Estimator", ""),
        ("Build model function f(x) for Estimator.", ""),
        ("Model function for CNN.", "CNN."),
        ("The model function for a small net", "A small net"),
        ("Tells digits apart.", "Tells digits apart."),
        ("Models functions of one variable.", "Models functions of one variable."),
        ("\n    A net.\n    In two lines.\n\n    ", "\n    A net.\n    In two lines.\n\n    "),
        ("The model_fn is called once.", "The model_fn is called once."),
        ("A model function\n\n    Reads the words twice.\n    ", "Reads the words twice."),
        ("Tags.\n\n    Twice.\n\n    Args:\n      mode: one\n    ", "Tags.\n\n    Twice.\n    "),
        ("Tags.\n\n    Args:\n      features: dict\n      mode: one\n\n    Returns:\n      an EstimatorSpec\n    ", "Tags."),
        ("Tags.\n\n    Args:\n      labels: tags\n\n    As fast as any.\n    ", "Tags.\n\n    As fast as any.\n    "),
        ("Tags.\n\n    Args:\n      params: sizes\n    ", "Tags.\n\n    Args:\n      params: sizes\n    "),
        ("Model function.\n\n    Args:\n      mode: a mode\n    ", ""),
    ],
)  # fmt: skip
def test_docstrings(docstring: str, expected: str) -> None:
    assert documented(docstring) == expected


HEAD = "class CnnModel(tf.keras.Model):\n"
INIT = "    def __init__(self):\n        super().__init__()\n"


def test_the_docstring_of_a_class() -> None:
    assert reworded(f'{HEAD}    """The `model_fn`."""\n\n{INIT}') == HEAD + INIT
    assert reworded(f'{HEAD}    """Model function for CNN."""\n\n{INIT}') == f'{HEAD}    """CNN."""\n\n{INIT}'
    deeper = f"    {HEAD}        '''Model function for CNN.'''\n\n"
    assert reworded(deeper + INIT) == deeper.replace("Model function for ", "") + INIT
    kept = f'{HEAD}    """Tells digits apart."""\n\n    def __init__(self):\n        """The `model_fn`."""\n\n'
    assert reworded(kept) == kept
    assert reworded(HEAD + INIT) == HEAD + INIT


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# Calculate Loss (for both TRAIN and EVAL modes)", "# Calculate Loss"),
        ("# Add metrics (for EVAL mode), all of them", "# Add metrics, all of them"),
        ("# Generate predictions (for PREDICT and EVAL mode)", "# Generate predictions"),
        ("# (for TRAIN mode)", "# (for TRAIN mode)"),
        ("# as the words come (see eval.py)", "# as the words come (see eval.py)"),
        ("# Provide an estimator spec for `ModeKeys.EVAL`", None),
        ("# Provide an estimate of it", "# Provide an estimate of it"),
    ],
)
def test_comments(comment: str, expected: str | None) -> None:
    code = f"{HEAD}{INIT}        {comment}\n        x = 'ä'  # Calculate (for TRAIN mode)\n"
    wanted = HEAD + INIT + (f"        {expected}\n" if expected else "") + "        x = 'ä'  # Calculate\n"
    assert reworded(code) == wanted


def test_strings_are_no_comments() -> None:
    code = f'{HEAD}    x = "# Calculate (for TRAIN mode)"\n    y = """\n# (for EVAL mode) 1 (for EVAL mode)\n"""\n'
    assert reworded(code) == code
    assert reworded(code + "  )") == code + "  )"  # what cannot be read
