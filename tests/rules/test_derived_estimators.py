"""Classes derived from an Estimator that only say how one is made become functions that make it."""

from __future__ import annotations

import textwrap

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

MODEL_FN = """\
import tensorflow as tf


def network(features, labels, mode, params):
    prediction = tf.layers.dense(features["x"], params["units"])
    loss = tf.losses.mean_squared_error(labels, prediction)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, prediction, loss, train_op)


"""
CLASS = """\
class Line(tf.estimator.Estimator):
    \"\"\"A line.

    Units are outputs.
    \"\"\"

    # How it is made.
    def __init__(self, units=1, model_dir=None, config=None):
        # For the model_fn.
        params = {"units": units}
        super(Line, self).__init__(network, model_dir, config=config, params=params)


"""
USE = "line = Line(units=2)\nline.train(input_fn, steps=3)\n"


def migrated(text: str, style: str = "auto", **others: str) -> tuple[str, list[str], list[str]]:
    """All files after the run, what was said, and the tiers."""
    files = {"program.py": text, **{f"{name}.py": textwrap.dedent(other) for name, other in others.items()}}
    sources = [decode(path, content.encode()) for path, content in files.items()]
    outcomes = {outcome.path: outcome for outcome in migrate_component(sources, Settings(style=style))}
    after = "".join(outcomes[path].after.decode() for path in files)
    said = [str(diagnostic) for outcome in outcomes.values() for diagnostic in outcome.remaining]
    return after, said, [unit.tier for outcome in outcomes.values() for unit in outcome.units]


def test_a_class_becomes_a_function() -> None:
    text, _, tiers = migrated(MODEL_FN + CLASS + USE)
    assert tiers == ["native"]
    assert text[text.index("# How") :] == textwrap.dedent(
        """\
        # How it is made.
        def Line(units=1, model_dir=None, config=None):
            \"\"\"A line.

            Units are outputs.
            \"\"\"
            # For the model_fn.
            params = {"units": units}
            return create_network_model(model_dir=model_dir, config=config, params=params)


        line = Line(units=2)
        train(line, input_fn, steps=3)
        """
    )


def test_the_bridge_has_it_too() -> None:
    text, _, tiers = migrated(MODEL_FN + CLASS + USE, "bridge")
    assert tiers == ["bridge"]
    assert "    return graph_model(network, model_dir=model_dir, config=config, params=params)\n" in text


def test_a_model_fn_inside_and_the_super_of_python_3() -> None:
    text, _, tiers = migrated(
        MODEL_FN
        + textwrap.dedent(
            """\
            class Line(tf.estimator.Estimator):
                def __init__(
                    self,
                    units: int = 1,
                    model_dir: str = None,
                ) -> None:
                    \"\"\"Makes a line.\"\"\"

                    def model_fn(features, labels, mode):
                        return network(features, labels, mode, {"units": units})

                    super().__init__(model_fn=model_fn, model_dir=model_dir)

                pass


            """
        )
        + USE
    )
    assert tiers == ["native"]
    assert 'def Line(\n    units: int = 1,\n    model_dir: str = None,\n):\n    """Makes a line' in text
    assert 'params = {"units": units}\n' in text


def test_tabs_stay_tabs() -> None:
    text, _, tiers = migrated((MODEL_FN + CLASS + USE).replace("    ", "\t"))
    assert tiers == ["native"] and '\n\t"""A line.\n' in text and "\n\tparams = " in text


def test_mixed_line_ends_stay_line_ends() -> None:
    lines = (MODEL_FN + CLASS + USE).split("\n")
    mixed = "".join(line + ("\r\n" if number % 3 else "\n") for number, line in enumerate(lines))
    text, _, tiers = migrated(mixed)
    assert tiers == ["native"] and "\r\n" in text and "\r" not in text.replace("\r\n", "")
    assert text.replace("\r\n", "\n").rstrip() == migrated(MODEL_FN + CLASS + USE)[0].rstrip()


def test_lone_carriage_returns_among_other_line_ends_are_refused() -> None:
    text, said, tiers = migrated(MODEL_FN + CLASS + USE.replace("\n", "\r", 1))
    assert tiers == ["manual"] and "\r" in text and any("lone carriage returns" in line for line in said)


def test_both_docstrings_stay() -> None:
    text, _, _ = migrated(MODEL_FN + CLASS.replace("        # For", '        """Makes one."""\n        # For') + USE)
    assert "# A line.\n#\n# Units are outputs.\n# How it is made.\ndef Line(" in text
    assert '    """Makes one."""\n' in text


def test_a_canned_base() -> None:
    text, _, tiers = migrated(
        "import tensorflow.compat.v1 as tf\n\n\n"
        "class Deep(tf.estimator.DNNClassifier):\n    def __init__(self, columns):\n"
        "        super().__init__([8], columns)\n\n\ndeep = Deep([])\n"
    )
    assert tiers == ["native"]
    assert "def Deep(columns):\n    return dnn_classifier(" in text


def test_a_class_of_another_file() -> None:
    text, _, tiers = migrated(MODEL_FN + CLASS, user="from program import Line\n\n" + USE)
    assert tiers == ["native"]
    assert "from program import Line\n" in text and "train(line, input_fn, steps=3)" in text


def test_places_are_those_of_the_file() -> None:
    text = (
        MODEL_FN
        + CLASS.replace("params=params)", "params=params, warm_start_from=tf.estimator.WarmStartSettings('x', ['a']))")
        + USE
    )
    after, said, _ = migrated(text, "native")
    line = text[: text.index("warm_start")].count("\n") + 1
    assert after == text
    assert any(f"program.py:{line}:" in message for message in said), said


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "        # For the model_fn.\n",
            "        if not units:\n            return\n",
            "its `__init__` returns early",
        ),
        ("(tf.estimator.Estimator)", "(tf.estimator.Estimator, Mixin)", "it has other bases"),
        ("class Line", "@register\nclass Line", "it has other bases, keywords or decorators"),
        ("super(Line, self)", "super(Other, self)", "does not call that of the Estimator"),
        ("line.train", "print(isinstance(line, Line))\nline.train", "it is used for more than making Estimators"),
        (
            "line.train",
            "class More(Line, Mixin):\n    pass\n\nline.train",
            "it has other bases",
        ),
    ],
)
def test_what_is_more_than_that_stays(old: str, new: str, reason: str) -> None:
    text = (MODEL_FN + CLASS + USE).replace(old, new)
    assert new in text
    after, said, tiers = migrated(text)
    assert after == text and set(tiers) == {"manual"}
    assert any(
        "a class derived from tf.estimator.Estimator is not migrated yet: " in x and reason in x for x in said
    ), said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        # For the model_fn.\n", "        self.units = units\n"),
        ("    # How", "    kind = 'line'\n    # How"),
        ("\n\nline =", "\n    def fit(self):\n        pass\n\n\nline ="),
        ("params=params)\n\n", "params=params)\n        print()\n\n"),
    ],
)
def test_a_class_with_more_holds_its_model(old: str, new: str) -> None:
    text, _, tiers = migrated((MODEL_FN + CLASS + USE).replace(old, new))
    assert tiers[:1] == ["native"] and "        self.estimator = " in text and "train(line.estimator, " in text
