"""tf.logging, tf.flags and tf.app."""

from __future__ import annotations

import pytest

from tools import check, check_noop, check_transformed, rules_of

RULES = rules_of("symbols.absl_modules")
HEAD = "import tensorflow as tf\n"
APP = "from absl import app\nfrom absl import flags\n"
PARSER = "flags_parser=lambda argv: flags.FLAGS(argv, known_only=True)"


def test_a_whole_program() -> None:
    check_transformed(
        '''\
        """Doc."""
        import os
        import tensorflow as tf

        flags = tf.app.flags
        FLAGS = flags.FLAGS
        flags.DEFINE_string("data", None, "where")


        def main(unused_argv):
            tf.logging.set_verbosity(tf.logging.INFO)
            tf.logging.warn("reading %s", FLAGS.data)


        if __name__ == "__main__":
            flags.mark_flag_as_required("data")
            tf.app.run()
        ''',
        '''\
        """Doc."""
        import os
        from absl import app
        from absl import flags
        from absl import logging
        import tensorflow as tf

        FLAGS = flags.FLAGS
        flags.DEFINE_string("data", None, "where")


        def main(unused_argv):
            logging.set_verbosity(logging.INFO)
            logging.warning("reading %s", FLAGS.data)


        if __name__ == "__main__":
            flags.mark_flag_as_required("data")
            app.run(main, flags_parser=lambda argv: FLAGS(argv, known_only=True))
        ''',
        RULES,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.logging.info('a', b)", "from absl import logging\n{}logging.info('a', b)"),
        ("f(tf.logging.info)", "from absl import logging\n{}f(logging.info)"),
        ("tf.logging.log(tf.logging.WARN, 'a')", "from absl import logging\n{}logging.log(logging.WARNING, 'a')"),
        (
            "tf.logging.set_verbosity(v=tf.logging.ERROR)",
            "from absl import logging\n{}logging.set_verbosity(v=logging.ERROR)",
        ),
        ("tf.compat.v1.logging.info('a')", "from absl import logging\n{}logging.info('a')"),
        (
            "import logging\ntf.logging.info('a')",
            "from absl import logging as absl_logging\n{}import logging\nabsl_logging.info('a')",
        ),
        (
            "def f(logging):\n    tf.logging.info('a')",
            "from absl import logging as absl_logging\n{}def f(logging):\n    absl_logging.info('a')",
        ),
        ("from absl import logging as al\ntf.logging.info('a')", "{}from absl import logging as al\nal.info('a')"),
        ("log = tf.logging\nlog.info('a')", "from absl import logging as log\n{}log.info('a')"),
        (
            "def f():\n    flags = tf.app.flags\n    flags.DEFINE_bool('a')",
            "{}def f():\n    from absl import flags\n    flags.DEFINE_bool('a')",
        ),
        ("tf.flags.DEFINE_bool('a', True, 'b')", "from absl import flags\n{}flags.DEFINE_bool('a', True, 'b')"),
        (
            "tf.app.flags.DEFINE_bool(flag_name='a', default_value=1, docstring='b')",
            "from absl import flags\n{}flags.DEFINE_bool(name='a', default=1, help='b')",
        ),
        (
            "FLAGS = tf.flags.FLAGS\ndef main(_):\n    return FLAGS.a\ntf.app.run(main)",
            "from absl import app\nfrom absl import flags\n{}FLAGS = flags.FLAGS\ndef main(_):\n    return FLAGS.a\n"
            "app.run(main, flags_parser=lambda argv: FLAGS(argv, known_only=True))",
        ),
        (
            "flags = 3\nFLAGS = tf.flags.FLAGS\ntf.app.run(main)",
            "from absl import app\nfrom absl import flags as absl_flags\n{}flags = 3\nFLAGS = absl_flags.FLAGS\n"
            "app.run(main, flags_parser=lambda argv: FLAGS(argv, known_only=True))",
        ),
        ("tf.app.run(main)", f"{APP}{{}}app.run(main, {PARSER})"),
        ("tf.app.run(main=f, argv=[1])", f"{APP}{{}}app.run(main=f, argv=[1], {PARSER})"),
        ("def main(_): pass\ntf.app.run()", f"{APP}{{}}def main(_): pass\napp.run(main, {PARSER})"),
        (
            "def main(_): pass\ntf.app.run(argv=x)",
            f"{APP}{{}}def main(_): pass\napp.run(argv=x, main=main, {PARSER})",
        ),
        (
            "app = 3\ntf.app.run(main)",
            f"from absl import app as absl_app\nfrom absl import flags\n{{}}app = 3\nabsl_app.run(main, {PARSER})",
        ),
        (
            "FLAGS, rest = parser.parse_known_args()\ntf.app.run(main, [x, *rest])",
            f"{APP}{{}}FLAGS, rest = parser.parse_known_args()\napp.run(main, [x, *rest], {PARSER})",
        ),
        (
            "from absl import flags as f\nFLAGS = f.FLAGS\nprint(FLAGS)\ntf.app.run(main)",
            "from absl import app\n{}from absl import flags as f\nFLAGS = f.FLAGS\nprint(FLAGS)\n"
            "app.run(main, flags_parser=lambda argv: FLAGS(argv, known_only=True))",
        ),
        # wrappers whose meaning differs from absl's keep their name in TensorFlow 2
        ("tf.logging.fatal('a')", "{}tf.compat.v1.logging.fatal('a')"),
        ("tf.logging.set_verbosity(20)", "{}tf.compat.v1.logging.set_verbosity(20)"),
        (
            "tf.logging.set_verbosity(x)\ntf.logging.info('a')",
            "{}tf.compat.v1.logging.set_verbosity(x)\ntf.compat.v1.logging.info('a')",
        ),
        ("level = tf.logging.INFO", "{}level = tf.compat.v1.logging.INFO"),
        ("tf.logging.get_verbosity()", "{}tf.compat.v1.logging.get_verbosity()"),
        ("tf.app.run()", "{}tf.compat.v1.app.run()"),
        ("tf.app.run(*given)", "{}tf.compat.v1.app.run(*given)"),
        (
            "def main(_): pass\ndef go():\n    tf.app.run()",
            "{}def main(_): pass\ndef go():\n    tf.compat.v1.app.run()",
        ),
        ("run = tf.app.run", "{}run = tf.compat.v1.app.run"),
        ("app = tf.app\napp.run()", "{}app = tf.compat.v1.app\napp.run()"),
        ("from tensorflow import app\napp.run(main)", "{}from tensorflow.compat.v1 import app\napp.run(main)"),
        ("F = tf.flags.FLAGS\nprint(F.a)", "{}F = tf.compat.v1.flags.FLAGS\nprint(F.a)"),
        (
            "flags = tf.flags\nif __name__ == '__main__':\n    print(flags.FLAGS.a)",
            "{}flags = tf.compat.v1.flags\nif __name__ == '__main__':\n    print(flags.FLAGS.a)",
        ),
        ("from tensorflow import logging", "{}from absl import logging"),
        ("from tensorflow import logging as log, flags", "{}from absl import logging as log\nfrom absl import flags"),
    ],
)
def test_rewrites(before: str, after: str) -> None:
    check_transformed(f"{HEAD}{before}\n", after.format(HEAD) + "\n", RULES)


@pytest.mark.parametrize(
    "source",
    [
        "import logging\nlogging.info('a')\n",
        "from absl import logging\nlogging.info('a')\n",
        "import tensorflow as tf\ndef f(tf):\n    tf.logging.info('a')\n",
        "import tensorflow as tf\n# tf.logging.info('a')\n",
        "import tensorflow as tf\n'tf.logging.info'\n",
        "import tensorflow as tf\ntf.compat.v1.logging.fatal('a')\n",
        "import tensorflow as tf\ntf.compat.v1.app.run()\n",
        "import tensorflow.compat.v1 as tf\ntf.logging.info('a')\n",
        "import tensorflow as tf\ntf.get_logger().info('a')\n",
        "import tensorflow as tf\nself.tf.logging.info('a')\n",
        "from tensorflow import *\nlogging.info('a')\n",
        "import numpy as tf\ntf.logging.info('a')\n",
        "import tensorflow as tf\ntf = other\ntf.flags.FLAGS\n",
        "import tensorflow as tf\nx = [tf.logging.INFO for tf in y]\n",
        "from tensorflow import logging, gfile  # both\nlogging.fatal('x')\n",
    ],
)
def test_left_alone(source: str) -> None:
    assert [found for found in check(source, RULES) if found.fix and "both" not in source] == []
    if "both" not in source:
        check_noop(source, RULES)


def test_names_of_absl_exist() -> None:
    """Every name that the rule writes is one that absl has."""
    logging = pytest.importorskip("absl.logging")
    from tools import load

    rule = load("symbols.absl_modules")
    for name in (*rule._FUNCTIONS.values(), *rule._LEVEL_FUNCTIONS.values(), *rule._LEVELS.values()):
        assert hasattr(logging, name)
