"""Names, scopes, dialects and spans as `migrator.resolve.module` answers them."""

from __future__ import annotations

import ast
import sys
import textwrap

import pytest

from migrator.resolve.module import Module
from migrator.resolve.symbols import normalize
from migrator.rewrite import Import


def module(source: str) -> Module:
    return Module("program.py", textwrap.dedent(source))


def names(source: str) -> list[str]:
    return [name for _, name in module(source).references()]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import tensorflow as tf\ntf.log(1)", ["tensorflow.log"]),
        ("import tensorflow\ntensorflow.log(1)", ["tensorflow.log"]),
        ("import tensorflow.compat.v1 as tf\ntf.log(1)", ["tensorflow.log"]),
        ("import tensorflow.compat.v2 as tf\ntf.concat(1)", ["tensorflow.concat"]),
        ("import tensorflow.compat.v1\ntensorflow.compat.v1.log(1)", ["tensorflow.log"]),
        ("import tensorflow as tf\ntf.compat.v1.log(1)", ["tensorflow.log"]),
        ("from tensorflow.compat import v1 as tf\ntf.log(1)", ["tensorflow.log"]),
        ("from tensorflow import compat\ncompat.v1.log(1)", ["tensorflow.log"]),
        ("from tensorflow import estimator as e\ne.Estimator(f)", ["tensorflow.estimator.Estimator"]),
        (
            "from tensorflow.contrib import layers\nlayers.xavier_initializer()",
            ["tensorflow.contrib.layers.xavier_initializer"],
        ),
        ("from tensorflow.python.ops import math_ops\nmath_ops.add", ["tensorflow.python.ops.math_ops.add"]),
        ("import tensorflow_core as tf\ntf.log", ["tensorflow.log"]),
        ("from absl import flags\nflags.FLAGS.x", ["absl.flags.FLAGS.x"]),
        ("import os.path\nos.path.join", ["os.path.join"]),
        ("import a.b as c\nc.d", ["a.b.d"]),
        ("from . import model\nmodel.f()", []),
        ("from tensorflow import *\nlog(1)", []),
        ("print(len([]))", []),
        # aliases
        (
            "import tensorflow as tf\ntfe = tf.estimator\ntfe.RunConfig",
            ["tensorflow.estimator", "tensorflow.estimator.RunConfig"],
        ),
        (
            "import tensorflow as tf\nM: object = tf.estimator.ModeKeys\nM.TRAIN",
            ["tensorflow.estimator.ModeKeys"] + ["tensorflow.estimator.ModeKeys.TRAIN"],
        ),
        (
            "import tensorflow as tf\na = tf.app\nb = a.flags\nb.FLAGS.x",
            ["tensorflow.app", "tensorflow.app.flags", "tensorflow.app.flags.FLAGS.x"],
        ),
        ("import tensorflow as tf\ntf.flags.FLAGS.x = 3", ["tensorflow.flags.FLAGS"]),
    ],
)
def test_resolves(source: str, expected: list[str]) -> None:
    assert names(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "def f(tf):\n    tf.log(1)",
        "def f(*tf):\n    tf.log(1)",
        "def f(**tf):\n    tf.log(1)",
        "def f(*, tf):\n    tf.log(1)",
        "def f(tf, /):\n    tf.log(1)",
        "def f():\n    tf = object()\n    tf.log(1)",
        "def f():\n    tf.log(1)\n    tf = 3",
        "def f():\n    for tf in x:\n        tf.log(1)",
        "def f():\n    with x as tf:\n        tf.log(1)",
        "def f():\n    try:\n        pass\n    except E as tf:\n        tf.log(1)",
        "def f():\n    tf += 1\n    tf.log(1)",
        "def f():\n    (a, tf) = x\n    tf.log(1)",
        "def f():\n    if (tf := x):\n        tf.log(1)",
        "def f():\n    [tf := y for y in x]\n    tf.log(1)",
        "def f():\n    def tf(): pass\n    tf.log(1)",
        "def f():\n    class tf: pass\n    tf.log(1)",
        "def f():\n    import other as tf\n    tf.log(1)",
        "def f():\n    del tf\n    tf.log(1)",
        "def f():\n    def g():\n        nonlocal tf\n        tf = 3\n    tf = 2\n    tf.log(1)",
        "[tf.log(1) for tf in x]",
        "{tf.log(1): 2 for tf in x}",
        "(tf.log(1) for a, tf in x)",
        "[tf.log(1) for y in x for tf in y]",
        "lambda tf: tf.log(1)",
        "lambda *tf: tf.log(1)",
        "class A:\n    tf = 3\n    tf.log(1)",
        "tf = 3\ntf.log(1)",
        "def f():\n    global tf\n    tf = 3\ntf.log(1)",
        "for tf in x: tf.log(1)",
        "del tf\ntf.log(1)",
        "import other as tf\ntf.log(1)",
    ],
)
def test_shadowed_names_do_not_resolve(source: str) -> None:
    found = names("import tensorflow as tf\n" + source)
    assert [name for name in found if name.startswith("tensorflow.")] == []


@pytest.mark.skipif(sys.version_info < (3, 10), reason="match")
@pytest.mark.parametrize("pattern", ["tf", "[tf]", "[*tf]", "{1: tf}", "{**tf}", "A(x=tf)", "(1 | 2) as tf"])
def test_match_captures_do_not_resolve(pattern: str) -> None:
    source = f"import tensorflow as tf\ndef f(x):\n    match x:\n        case {pattern}:\n            tf.log(1)\n"
    assert names(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return tf.log(x)",
        "class A:\n    tf = 3\n    def f(self):\n        return tf.log(1)",
        "class A:\n    x = tf.log(1)",
        "class A:\n    tf = 3\n    x = [tf.log(1) for _ in y]",
        "def f(x=tf.log): pass",
        "def f(tf=tf.log): pass",
        "lambda tf=tf.log: 1",
        "@tf.log\ndef tf2(): pass",
        "def f(x: tf.log): pass",
        "def f() -> tf.log: pass",
        "x: tf.log",
        "class A(tf.log): pass",
        "class A(metaclass=tf.log): pass",
        "[tf for tf in tf.log]",
        "[x for x in y if tf.log(x)]",
        "lambda: tf.log",
        "f(*tf.log)",
        "x[tf.log:1]",
        "async def f():\n    await tf.log(1)",
        "if (y := tf.log(1)): pass",
        "(tf\n  .log)(1)",
        "print(f'{tf.log(1)!r:>{2}}')",
        "def f():\n    def g():\n        return tf.log(1)\n    return g",
        "def f():\n    global tf\n    tf.log(1)",
        "assert tf.log(1), 'tf.exp'",
        "x = 1 # type: tf.exp\ntf.log",
        "'tf.exp'\ntf.log",
    ],
)
def test_scopes_that_see_the_import(source: str) -> None:
    assert names("import tensorflow as tf\n" + source) == ["tensorflow.log"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\ntf.log(1)",
            "tensorflow.log",
        ),
        (
            "if x:\n    import tensorflow.compat.v1 as tf\nelse:\n    import tensorflow as tf\ntf.log(1)",
            "tensorflow.log",
        ),
        ("try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\ntf.log(1)", "tensorflow.log"),
        ("try:\n    import tensorflow as tf\nexcept ImportError:\n    import numpy as tf\ntf.log(1)", None),
        ("import tensorflow as tf\nx = tf.a\nx = tf.b\nx.y", None),
        ("import tensorflow as tf\nx = tf.a\nif z:\n    x = q\nx.y", None),
        ("def f():\n    import tensorflow as tf\n    return tf.log(1)", "tensorflow.log"),
        ("def f():\n    import tensorflow as tf\ntf.log(1)", None),
        ("x = x\nx.y", None),
        ("a = b\nb = a\na.y", None),
    ],
)
def test_several_bindings(source: str, expected: str | None) -> None:
    found = module(source)
    outer = max(
        (n for n in ast.walk(found.tree) if isinstance(n, ast.Attribute)), key=lambda n: (n.lineno, n.end_col_offset)
    )
    assert found.resolve(outer) == expected


def test_relative_imports_are_qualified_but_not_resolved() -> None:
    found = module("from .model import f\nfrom .. import g\nf.x\ng.y")
    nodes = [statement.value for statement in found.tree.body if isinstance(statement, ast.Expr)]
    assert [found.qualified(node) for node in nodes] == [".model.f.x", "..g.y"]
    assert [found.resolve(node) for node in nodes] == [None, None]


def test_normalize() -> None:
    assert normalize("tensorflow.compat.v1.compat.v2.X") == "tensorflow.X"
    assert normalize("tensorflow._api.v2.compat.v1.X") == "tensorflow.X"
    assert normalize("tensorflow.compat.v1") == "tensorflow"
    assert normalize("tensorflow.compat.as_str") == "tensorflow.compat.as_str"
    assert normalize("tensorflow_hub.Module") == "tensorflow_hub.Module"
    assert normalize("tensorflow.compat.v11") == "tensorflow.compat.v11"


@pytest.mark.parametrize(
    ("source", "dialect"),
    [
        ("import tensorflow as tf\ntf.placeholder(1)", "v1"),
        ("import tensorflow as tf\ntf.train.AdamOptimizer(1)", "v1"),
        ("import tensorflow as tf\ntf.contrib.layers.flatten(1)", "v1"),
        ("import tensorflow as tf\ntf.app.flags.FLAGS", "v1"),
        ("import tensorflow as tf\ntf.metrics.accuracy(a, b)", "v1"),
        ("import tensorflow as tf\nfrom tensorflow.contrib import rnn", "v1"),
        ("import tensorflow as tf\ntf.compat.v1.placeholder(1)", "v2"),
        ("import tensorflow as tf\ntf.summary.create_file_writer(1)", "v2"),
        ("import tensorflow as tf\nimport tensorflow.compat.v1 as tf1\ntf1.log(1)", "v2"),
        ("import tensorflow as tf\ntf.reduce_sum(1)", None),
        ("import tensorflow.compat.v1 as tf\ntf.placeholder(1)", None),
        ("import tensorflow as tf\ntf.train.ProximalAdagradOptimizer(0.1)", "v1"),
        ("import tensorflow as tf\ntf.train.StopAtStepHook(9)", "v1"),
        ("import tensorflow as tf\ntf.train.latest_checkpoint('a')", None),
        ("import tensorflow as tf\ntf.train.experimental.PythonState", None),
        ("import numpy as np", None),
    ],
)
def test_module_dialect(source: str, dialect: str | None) -> None:
    found = module(source)
    assert found.module_dialect == dialect
    assert found.dialect_reason


def test_dialect_of_one_reference() -> None:
    found = module(
        "import tensorflow as tf\nimport tensorflow.compat.v1 as tf1\ntf.a\ntf1.a\ntf.compat.v1.a\ntf.compat.v2.a"
    )
    assert [found.explicit_dialect(node) for node, _ in found.references()] == [None, "v1", "v1", "v2"]
    assert [found.dialect(node) for node, _ in found.references()] == ["v2", "v1", "v1", "v2"]


def test_spans_are_bytes_and_columns_are_characters() -> None:
    found = module("import tensorflow as tf\nx = 'Zürich 😀', tf.log(1)\r\ny = tf.exp\n")
    (first, _), (second, _) = found.references()
    start, end = found.span(first)
    assert found.source[start:end] == b"tf.log"
    assert found.segment(second) == "tf.exp"
    assert (found.location(first).line, found.location(first).column) == (2, 17)
    assert str(found.location(second)) == "program.py:3:5"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_spans_with_any_newline(newline: str) -> None:
    found = Module("p.py", newline.join(["import tensorflow as tf", "", "def f():", "\treturn tf.log(1)", ""]))
    (node, _) = found.references()[0]
    assert found.segment(node) == "tf.log"
    assert found.newline == newline


def test_fstrings_with_misleading_positions_are_left_out() -> None:
    source = "import tensorflow as tf\nx = f'''\n{tf.log(1)}\n  {tf.exp(2)}'''\n"
    found = module(source)
    for node, name in found.references():
        assert found.segment(node) == "tf." + name[len("tensorflow.") :]


@pytest.mark.parametrize(
    ("source", "index", "expected"),
    [
        ("a()\nb()\n", 0, "b()\n"),
        ("a()  # gone\nb()\n", 0, "b()\n"),
        ("a(\n  1)\nb()\n", 0, "b()\n"),
        ("a(); b()\n", 0, "b()\n"),
        ("a(); b()\n", 1, "a()\n"),
        ("a(); b()  # stays\n", 1, "a()  # stays\n"),
        ("a()", 0, ""),
        ("x\r\na()\r\n", 1, "x\r\n"),
    ],
)
def test_delete_statement(source: str, index: int, expected: str) -> None:
    found = Module("p.py", source)
    edit = found.delete_statement(found.tree.body[index])
    assert (found.source[: edit.start] + edit.text.encode() + found.source[edit.end :]).decode() == expected


def test_delete_only_statement_of_a_block() -> None:
    found = Module("p.py", "if x:\n    a()  # why\nelse:\n    b()\n")
    block = found.tree.body[0]
    assert isinstance(block, ast.If)
    edit = found.delete_statement(block.orelse[0])
    assert (
        (found.source[: edit.start] + edit.text.encode() + found.source[edit.end :])
        .decode()
        .endswith("else:\n    pass\n")
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Doc."""\nimport os\nimport tensorflow as tf\n', '"""Doc."""\nimport os\nNEW\nimport tensorflow as tf\n'),
        ("#!/bin/python\n# licence\nx = 1\n", "#!/bin/python\n# licence\nNEW\nx = 1\n"),
        ("from __future__ import division\nx = 1\n", "from __future__ import division\nNEW\nx = 1\n"),
        (
            "import os\ntry:\n    import tensorflow as tf\nexcept E:\n    pass\n",
            "import os\nNEW\ntry:\n    import tensorflow as tf\nexcept E:\n    pass\n",
        ),
        ("import os", "import os\nNEW\n"),
        ("", "NEW\n"),
        ("import a; import tensorflow as tf\n", "import a; import tensorflow as tf\nNEW\n"),
    ],
)
def test_add_import(source: str, expected: str) -> None:
    found = Module("p.py", source)
    (edit,) = found.cst.apply([Import("NEW")])
    assert (found.source[: edit.start] + edit.text.encode() + found.source[edit.end :]).decode() == expected


def test_file_without_tensorflow_is_not_parsed() -> None:
    found = Module("p.py", "this is not Python (")
    assert not found.mentions_tensorflow
    assert found.module_dialect is None


def test_deep_expressions_do_not_exhaust_the_stack() -> None:
    found = Module("p.py", "import tensorflow as tf\nx = " + " + ".join(["tf.one"] * 900) + "\n")
    assert len(found.references()) == 900


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fresh", "fresh"),
        ("local", "local_"),  # of the function
        ("given", "given_"),
        ("helper", "helper_"),  # of the file, and read in the function
        ("read", "read_"),  # in a function in the function
        ("other", "other"),  # of another function
        ("inner", "inner"),  # a name of a lambda's own
        ("len", "len_"),
        ("twice", "twice__"),
    ],
)
def test_names_that_a_function_may_use_for_more(name: str, expected: str) -> None:
    source = """
        helper = read = 1
        def g():
            other = 2
        def f(given):
            local = twice = twice_ = [helper, len(given)]
            def h():
                return read
            return h(lambda inner: inner + 1)
    """
    module = Module("m.py", textwrap.dedent(source))
    assert module.unused_name(name, module.nodes(ast.Call)[0]) == expected
