"""From `import tensorflow.compat.v1 as tf` to `import tensorflow as tf`."""

from __future__ import annotations

import pytest

from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Severity
from tools import check, check_noop, check_transformed, load, rules_of

RULES = rules_of("symbols.compat_v1")
OLD = "import tensorflow.compat.v1 as tf\n"
NEW = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.concat([x], 0)", "tf.concat([x], 0)"),
        ("tf.log(x)", "tf.math.log(x)"),
        ("print(tf.__version__, tf.VERSION)", "print(tf.__version__, tf.version.VERSION)"),
        ("map(tf.log, x)", "map(tf.math.log, x)"),
        ("tf.to_float(tf.to_int32(x))", "tf.cast(tf.cast(x, tf.int32), tf.float32)"),
        ("map(tf.to_float, x)", "map(tf.compat.v1.to_float, x)"),
        ("tf.nn.dropout(x, 0.9)", "tf.nn.dropout(x, rate=1 - 0.9)"),
        ("tf.nn.dropout(*x)", "tf.compat.v1.nn.dropout(*x)"),
        ("tf.where(a, b, c)", "tf.compat.v1.where(a, b, c)"),
        ("tf.nn.ctc_loss(y, x, n)", "tf.nn.ctc_loss(y, x, None, logit_length=n, blank_index=-1)"),
        ("tf.nn.ctc_loss(y, x, n, True)", "tf.compat.v1.nn.ctc_loss(y, x, n, True)"),
        ("tf.div(a, b)", "tf.compat.v1.div(a, b)"),
        ("tf.reduce_sum(x, keep_dims=True)", "tf.reduce_sum(x, keepdims=True)"),
        ("tf.reduce_sum(x, 1)", "tf.reduce_sum(x, 1)"),
        ("tf.nn.embedding_lookup([a, b], i)", "tf.compat.v1.nn.embedding_lookup([a, b], i)"),
        ("tf.data.Dataset.range(3).map(tf.square)", "tf.data.Dataset.range(3).map(tf.square)"),
        ("tf.keras.layers.Dense(3)", "tf.keras.layers.Dense(3)"),
        ("tf.keras.layers.BatchNormalization()", "tf.compat.v1.keras.layers.BatchNormalization()"),
        ("tf.train.Example.FromString(x)", "tf.train.Example.FromString(x)"),
        ("tf.int32.as_numpy_dtype", "tf.int32.as_numpy_dtype"),
        ("tf.parse_example(a, b, 'n')", "tf.io.parse_example(a, b, name='n')"),
        (
            "tf.nn.softmax_cross_entropy_with_logits(labels=a + b, logits=c, dim=1)",
            "tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(a + b), logits=c, axis=1)",
        ),
        (
            "tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(a), logits=c)",
            "tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(a), logits=c)",
        ),
        ("tf.nn.softmax_cross_entropy_with_logits(**k)", "tf.compat.v1.nn.softmax_cross_entropy_with_logits(**k)"),
        (
            "tf.nn.softmax_cross_entropy_with_logits_v2(labels=a, logits=b)",
            "tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b)",
        ),
        ("tf.disable_v2_behavior()\ntf.abs(x)", "tf.abs(x)"),
        ("if a:\n    tf.disable_eager_execution()\ntf.abs(x)", "if a:\n    pass\ntf.abs(x)"),
        ("keras = tf.keras\nkeras.layers.Dense(3)", "keras = tf.keras\nkeras.layers.Dense(3)"),
        ("import tensorflow.compat.v2 as tf2\ntf.log(x)", None),
    ],
)
def test_import_and_names_change_together(before: str, after: str | None) -> None:
    if after is None:  # a plain name exists already: see the test of two imports
        after = "import tensorflow.compat.v2 as tf2\ntf2.math.log(x)"
        check_transformed(f"{OLD}{before}\n", f"{after}\n", RULES)
    else:
        check_transformed(f"{OLD}{before}\n", f"{NEW}{after}\n", RULES)


def test_absl_comes_along() -> None:
    check_transformed(
        f"{OLD}flags = tf.flags\nFLAGS = flags.FLAGS\ndef main(_):\n    tf.logging.info('a')\n\ntf.app.run()\n",
        f"from absl import app\nfrom absl import flags\nfrom absl import logging\n{NEW}FLAGS = flags.FLAGS\n"
        "def main(_):\n    logging.info('a')\n\n"
        "app.run(main, flags_parser=lambda argv: FLAGS(argv, known_only=True))\n",
        RULES,
    )


def test_other_spellings_of_the_import() -> None:
    check_transformed("from tensorflow.compat import v1 as tf\ntf.log(x)\n", f"{NEW}tf.math.log(x)\n", RULES)
    check_transformed("import tensorflow.compat.v1 as T\nT.log(x)\n", "import tensorflow as T\nT.math.log(x)\n", RULES)
    check_transformed(
        "def f():\n    import tensorflow.compat.v1 as tf\n    return tf.log(x)\n",
        "def f():\n    import tensorflow as tf\n    return tf.math.log(x)\n",
        RULES,
    )


def test_two_imports_become_one() -> None:
    check_transformed(
        "import tensorflow as tf\nimport tensorflow.compat.v1 as tf1\ntf1.log(tf.abs(x)) + tf1.abs(y) + tf1.div(a, b)\n",
        "import tensorflow as tf\ntf.math.log(tf.abs(x)) + tf.abs(y) + tf.compat.v1.div(a, b)\n",
        RULES,
    )


@pytest.mark.parametrize("name", ["name", "params['activation']", "'relu'"])
def test_an_activation_by_its_name(name: str) -> None:
    line = f"f = getattr(tf.nn, {name})\n"
    check_transformed(f"import tensorflow.compat.v1 as tf\n{line}", f"import tensorflow as tf\n{line}", RULES)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("tf.estimator.Estimator(f)", "tf.estimator.Estimator"),
        ("tf.Session()", "tf.Session"),
        ("tf.placeholder(tf.int32)\ntf.layers.dense(x)", "tf.placeholder and 1 more"),
        ("tf.get_variable('a')", "tf.get_variable"),
        ("tf.train.AdamOptimizer()", "tf.train.AdamOptimizer"),
        ("tf.GraphKeys.UPDATE_OPS", "tf.GraphKeys"),
        ("tf.Graph().as_default()", "tf.Graph"),
        ("tf.summary.scalar('a', b)", "tf.summary.scalar"),
        ("tf.data.Dataset.range(3).make_one_shot_iterator()", "make_one_shot_iterator"),
        ("e = tf.estimator\ne.Estimator(f)", "tf.estimator"),
        ("nn = tf.nn\nnn.dropout(x, 0.5)", "through another name"),
        ("f(tf)", "as a whole"),
        ("tf.no_such_name(x)", "not known"),
        ("getattr(tf.nn, 'dropout')(x, 0.5)", "not known"),
        ("getattr(tf.train, name)()", "tf.train, which TensorFlow 2 does not have"),
        ("f(tf.nn, name)", "not known"),
        ("x = tf.disable_v2_behavior()", "in an expression"),
        ("tf = 3", "bound to something else"),
        ("__all__ = ['tf']\ntf.abs(x)", "__all__"),
    ],
)
def test_import_stays(source: str, reason: str) -> None:
    text = f"{OLD}{source}\n"
    check_noop(text, RULES)
    (found,) = check(text, RULES)
    assert reason in found.message
    assert (found.severity, found.fix) == (Severity.INFO, None)


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\ntf.log(x)\n",
        "import tensorflow.compat.v1 as tf, os\ntf.log(x)\n",
        "from tensorflow.compat.v1 import log\nlog(x)\n",
        "import tensorflow.compat.v1\ntensorflow.compat.v1.log(x)\n",
        "import tensorflow as tf\nimport tensorflow.compat.v1 as tf1\ndef f(tf):\n    return tf1.log(x)\n",
        "import tensorflow as tf\ntf.log(x)\n",
        "import tensorflow as tf\ntf.enable_eager_execution()\ntf.Session()\n",
        "import tensorflow as tf\ntf.compat.v1.disable_v2_behavior()\ntf.compat.v1.get_variable('a')\n",
        "import tensorflow as tf\nx = tf.enable_eager_execution()\n",
        "import numpy as np\n",
        "import tensorflow.compat.v2 as tf\ntf.abs(x)\n",
    ],
)
def test_left_alone(source: str) -> None:
    check_noop(source, RULES)


def test_switches_go_where_nothing_is_left_to_switch() -> None:
    check_transformed(f"{NEW}tf.enable_eager_execution()\ntf.abs(x)\n", f"{NEW}tf.abs(x)\n", RULES)
    check_transformed(f"{NEW}tf.compat.v1.enable_v2_behavior()  # on\ntf.abs(x)\n", f"{NEW}tf.abs(x)\n", RULES)


def test_rename_edits_is_one_fix_for_each_import() -> None:
    module = Module("p.py", f"{OLD}x = tf.log(y) + tf.abs(z)\n")
    (found,) = load("symbols.compat_v1").rename_edits(module)
    assert found.fix is not None
    assert [edit.text for edit in sorted(found.fix.edits)] == ["import tensorflow as tf", "tf.math.log"]


def test_names_in_an_argument_that_goes_go_with_it() -> None:
    check_transformed(
        """\
        import tensorflow.compat.v1 as tf
        with tf.name_scope("a", values=[tf.to_float(x), tf.log(y)]):
            z = tf.log(tf.to_float(x))
        """,
        """\
        import tensorflow as tf
        with tf.name_scope("a"):
            z = tf.math.log(tf.cast(x, tf.float32))
        """,
        RULES,
    )
