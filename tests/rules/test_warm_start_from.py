"""`warm_start_from` of Estimators with a model_fn, which becomes layers or stays a graph."""

from __future__ import annotations

import textwrap

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf

def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]]))

def model_fn(features, labels, mode):
    prediction = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, prediction)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, prediction, loss, train_op)

"""


def migrated(lines: str, style: str = "bridge") -> tuple[str, str, list[str]]:
    """What becomes of the lines below the model_fn, all of the text, and what was said."""
    text = PROGRAM + textwrap.dedent(lines)
    outcome = migrate_component([decode("program.py", text.encode())], Settings(style=style))[0]
    after = outcome.after.decode()
    return (
        after[after.rfind("train_op)\n") :].partition("\n\n")[2],
        after,
        [diagnostic.message for diagnostic in outcome.remaining],
    )


def test_a_path() -> None:
    lines, text, _ = migrated('e = tf.estimator.Estimator(model_fn, "new", warm_start_from="old")\n')
    assert lines == 'e = warm_graph_model(model_fn, model_dir="new", warm_start_from="old")\n'
    assert "from tf2_cluster import warm_graph_model\nfrom tf2_training import EstimatorSpec\n" in text


@pytest.mark.parametrize("style", ["auto", "bridge"])
def test_none_is_nothing(style: str) -> None:
    _, text, _ = migrated('e = tf.estimator.Estimator(model_fn, "new", None, None, None)\n', style)
    assert "warm" not in text and 'model_dir="new"' in text
    assert ("graph_model" in text) == (style == "bridge")


def test_settings_stand_where_they_are_made() -> None:
    lines, text, _ = migrated(
        """\
        from tensorflow import estimator as est
        settings = est.WarmStartSettings("old", ".*kernel", None, {"dense/kernel": "other/kernel"})
        e = tf.estimator.Estimator(model_fn, "new", None, {}, settings)
        """
    )
    assert lines == textwrap.dedent(
        """\
        settings = WarmStartSettings("old", ".*kernel", None, {"dense/kernel": "other/kernel"})
        e = warm_graph_model(model_fn, model_dir="new", config=None, params={}, warm_start_from=settings)
        """
    )
    assert "import EstimatorSpec, WarmStartSettings\n" in text


def test_vocabularies() -> None:
    lines, text, _ = migrated(
        """\
        words = tf.train.VocabInfo("new.txt", 4, 0, old_vocab="old.txt")
        settings = tf.estimator.WarmStartSettings("old", None, {"table": words})
        e = tf.estimator.Estimator(model_fn, warm_start_from=settings)
        """
    )
    assert lines == textwrap.dedent(
        """\
        words = VocabInfo("new.txt", 4, 0, old_vocab="old.txt")
        settings = WarmStartSettings("old", None, {"table": words})
        e = warm_graph_model(model_fn, warm_start_from=settings)
        """
    )
    assert "import EstimatorSpec, VocabInfo, WarmStartSettings\n" in text


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("**named", "the arguments of WarmStartSettings are hidden"),
    ],
)
def test_what_is_refused(settings: str, reason: str) -> None:
    lines = f"e = tf.estimator.Estimator(model_fn, warm_start_from=tf.estimator.WarmStartSettings({settings}))\n"
    after, text, said = migrated(lines)
    assert text == PROGRAM + lines
    assert any(reason in message for message in said), said


def test_settings_that_are_handed_on_are_refused() -> None:
    lines = "make(tf.estimator.WarmStartSettings)\ne = tf.estimator.Estimator(model_fn, warm_start_from='old')\n"
    assert migrated(lines)[1] == PROGRAM + lines


WARM = "e = tf.estimator.Estimator(model_fn, 'new', warm_start_from=tf.estimator.WarmStartSettings({}))\n"


@pytest.mark.parametrize(
    ("lines", "written"),
    [
        (
            "e = tf.estimator.Estimator(model_fn, 'new', None, {}, 'old')\n",
            "e = create_model(model_dir='new', config=None, warm_start_from='old')\n",
        ),
        (
            WARM.format("'old', '.*kernel'"),
            "e = create_model(model_dir='new', warm_start_from=WarmStartSettings('old', '.*kernel'))\n",
        ),
        (
            "v = tf.train.VocabInfo('a', 4, 0, 'b')\n" + WARM.format("'old', None, {'dense/kernel': v}"),
            "v = VocabInfo('a', 4, 0, 'b')\n"
            "e = create_model(model_dir='new', warm_start_from=WarmStartSettings('old', None, {'dense/kernel': v}))\n",
        ),
        (
            "def make(start=None):\n    return tf.estimator.Estimator(model_fn, warm_start_from=start)\n",
            "def make(start=None):\n    return create_model(warm_start_from=start)\n",
        ),
    ],
)
def test_layers(lines: str, written: str) -> None:
    text = migrated(lines, "native")[1]
    assert text.endswith(written)
    assert (
        '    tf1_names = {\n        "dense/kernel": "prediction.kernel",\n        "dense/bias": "prediction.bias",\n    }\n'
        in text
    )
    assert "def create_model(config=None, model_dir=None, warm_start_from=None):" in text
    assert "(model, config, model_dir=model_dir)\n    return begin_warm(model, warm_start_from)\n" in text


def test_models_that_others_may_start_from_keep_the_names() -> None:
    other = PROGRAM[PROGRAM.index("def model_fn") :].replace("model_fn", "teacher_fn")
    uses = (
        "t = tf.estimator.Estimator(teacher_fn, 'old')\ne = tf.estimator.Estimator(model_fn, warm_start_from='old')\n"
    )
    text = migrated(f"{other}{uses}", "native")[1]
    assert text.count("tf1_names = {") == 2
    assert "    return keep_names(model)\n" in text and "    return begin_warm(model, warm_start_from)\n" in text
    assert "t = create_teacher_model(model_dir='old')\n" in text


@pytest.mark.parametrize(
    ("lines", "replaced", "reason"),
    [
        (WARM.format("'old', ['dense.*']"), ("", ""), "takes the state of optimizers along"),
        (WARM.format("'old', PATTERN"), ("", ""), "the pattern of a warm start is not seen"),
        (
            WARM.format("'old'"),
            ("    loss =", "    tf.train.init_from_checkpoint('c', {'/': '/'})\n    loss ="),
            "a checkpoint gives first values beside warm_start_from",
        ),
        (
            WARM.format("'old'"),
            ("tf.layers.dense(features['x'], 1)", "tf.keras.layers.Dense(1)(features['x'])"),
            "scopes of TensorFlow 1 do not hold",
        ),
    ],
)
def test_layers_that_cannot_start_so(lines: str, replaced: tuple[str, str], reason: str) -> None:
    text = PROGRAM.replace('"', "'").replace(*replaced) + lines
    outcomes = [migrate_component([decode("program.py", text.encode())], Settings(style=s)) for s in ("native", "auto")]
    assert outcomes[0][0].after.decode() == text
    assert any(reason in diagnostic.message for diagnostic in outcomes[0][0].remaining), outcomes[0][0].remaining
    assert "warm_graph_model(model_fn, " in outcomes[1][0].after.decode()


def test_a_tpu_estimator() -> None:
    lines = (
        "e = tf.estimator.tpu.TPUEstimator(model_fn, 'new', use_tpu=False, train_batch_size=8, warm_start_from='old')\n"
    )
    after, text, _ = migrated(lines)
    given = "use_tpu=False, train_batch_size=8, warm_start_from='old'"
    assert after == f"e = warm_tpu_graph_model(model_fn, model_dir='new', {given})\n"
    assert "= tpu_graph_model(model_fn, model_dir='new', use_tpu=False" in migrated(lines.replace("'old'", "None"))[1]
