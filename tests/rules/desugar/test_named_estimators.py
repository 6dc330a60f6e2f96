"""Estimators that are made in the midst of an expression."""

from __future__ import annotations

import importlib

import pytest
from desugared import INPUT, MODEL, plain
from modelfn.programs import migrate

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

named_estimators = importlib.import_module("migrator.rules.desugar.named_estimators")

COLUMNS = 'import tensorflow as tf\n\ncolumns = [tf.feature_column.numeric_column("x")]\n\n\n' + INPUT
LINEAR = "tf.estimator.LinearRegressor(columns)"
DEEP = "tf.estimator.DNNRegressor([2], columns)"
REPORT = """def report(name, estimator):
    estimator.train(make_input_fn(8, None), steps=20)
    print(name, estimator.evaluate(make_input_fn(8, 1)))


"""


def test_an_argument() -> None:
    text = plain(COLUMNS + REPORT + f'report("a", {LINEAR})\nreport("b", {DEEP})\n')
    assert "\nlinear_regressor.compile(" in text and '\nreport("a", linear_regressor)\n' in text
    assert "\ndnn_regressor.compile(" in text and text.endswith('report("b", dnn_regressor)\n')
    assert text.count("estimator.fit(make_input_fn(8, None)().take(20))") == 1


@pytest.mark.parametrize(
    "made",
    [
        f"estimators = [{DEEP}, {LINEAR}, {DEEP}]\n",
        f'estimators = {{"one": {DEEP}, "two": {LINEAR}, "three": {DEEP}}}.values()\n',
    ],
)
def test_several_in_a_display(made: str) -> None:
    text = plain(COLUMNS + REPORT + made + 'for estimator in estimators:\n    report("a", estimator)\n')
    order = [text.index(f"\n{name} = ") for name in ("dnn_regressor", "linear_regressor", "dnn_regressor_2")]
    assert order == sorted(order) and text.count(".compile(") == 3


def test_a_call_of_a_method() -> None:
    text = plain(COLUMNS + f"{LINEAR}.train(make_input_fn(8, None), steps=20)\n")
    assert text.endswith("\nlinear_regressor.fit(make_input_fn(8, None)().take(20))\n")


def test_one_or_the_other() -> None:
    build = f"def build(deep):\n    return ({DEEP}\n            if deep else {LINEAR})\n\n\n"
    text = plain(COLUMNS + REPORT + build + 'report("a", build(True))\nreport("b", build(False))\n')
    function = text[text.index("def build(deep):") :]
    assert (
        function.startswith("def build(deep):\n    if deep:\n        model = ")
        and "    else:\n        model = " in function
    )
    text = plain(COLUMNS + f"one = {DEEP} if columns else {LINEAR}\none.train(make_input_fn(8, None), steps=20)\n")
    assert "if columns:\n    one = " in text and "else:\n    one = " in text


def test_a_folder_of_checkpoints() -> None:
    use = 'report("a", tf.estimator.Estimator(model_fn, "here", params={"units": 1}))\n'
    text = plain(MODEL + REPORT + use)
    assert text.endswith('\nreport("a", estimator)\n') and 'CheckpointManager(checkpoint, "here"' in text


def test_an_estimator_without_more_stays_in_its_expression() -> None:
    use = 'report("a", tf.estimator.Estimator(model_fn, params={"units": 1}))\n'
    assert plain(MODEL + REPORT + use).endswith('\nreport("a", create_model(params={"units": 1}))\n')


@pytest.mark.parametrize(
    "use",
    [
        f"report(load(), {LINEAR})\n",
        f'for estimator in [{DEEP} for _ in range(2)]:\n    report("a", estimator)\n',
        f'make = lambda: {LINEAR}\nreport("a", make())\n',
        f'if load(): report("a", {LINEAR})\n',
    ],
)
def test_what_is_computed_otherwise_stays(use: str) -> None:
    assert "regressor.compile(" not in migrate(COLUMNS + REPORT + use)


@pytest.mark.parametrize(
    ("choice", "test"),
    [
        (f"(({DEEP} if load() else {LINEAR}))", "if load():"),
        (f"({DEEP} if load()\n             and load() else {LINEAR})", "if (load()\n             and load()):"),
        (f"({DEEP}\n    if load(\n        1)\n    else {LINEAR})", "if load(\n        1):"),
    ],
)
def test_a_condition_within_parentheses(choice: str, test: str) -> None:
    module = Module("program.py", f"{COLUMNS}estimator = {choice}\n")
    drafts = Drafts(Project({"program.py": module}))
    named_estimators.expand.expand(drafts, ["program.py"])
    text = drafts.project.modules["program.py"].text
    assert text.endswith(f"{test}\n    estimator = {DEEP}\nelse:\n    estimator = {LINEAR}\n")
