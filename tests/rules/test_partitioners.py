"""The partitioner rule: what it writes, what it leaves alone, and that both sides make the same shards."""

from __future__ import annotations

import itertools

import pytest

from migrator.vocabulary.diagnostics import Applicability, Severity
from tools import check, check_noop, check_transformed, rules_of, transform

RULES = rules_of("partitioners")
NEW = "tf.distribute.experimental.partitioners."


def one(before: str, after: str, least: Applicability = Applicability.SAFE) -> None:
    check_transformed(f"import tensorflow as tf\n{before}\n", f"import tensorflow as tf\n{after}\n", RULES, least)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.fixed_size_partitioner(3)", "FixedShardsPartitioner(num_shards=3)"),
        ("tf.fixed_size_partitioner(num_shards=3)", "FixedShardsPartitioner(num_shards=3)"),
        ("tf.fixed_size_partitioner(n)", "FixedShardsPartitioner(num_shards=max(1, n))"),
        ("tf.fixed_size_partitioner(n, 0)", "FixedShardsPartitioner(num_shards=max(1, n))"),
        ("tf.fixed_size_partitioner(axis=0, num_shards=2)", "FixedShardsPartitioner(num_shards=2)"),
        ("tf.fixed_size_partitioner(max(1, n))", "FixedShardsPartitioner(num_shards=max(1, n))"),
        ("tf.fixed_size_partitioner(max(n, 2))", "FixedShardsPartitioner(num_shards=max(n, 2))"),
        ("tf.fixed_size_partitioner(max(n, 0))", "FixedShardsPartitioner(num_shards=max(1, max(n, 0)))"),
        ("tf.fixed_size_partitioner(2 * 2)", "FixedShardsPartitioner(num_shards=2 * 2)"),
        ("tf.fixed_size_partitioner(a if b else c)", "FixedShardsPartitioner(num_shards=max(1, a if b else c))"),
        ("tf.fixed_size_partitioner((n := 3))", "FixedShardsPartitioner(num_shards=max(1, (n := 3)))"),
        ("tf.fixed_size_partitioner(n := 3)", "FixedShardsPartitioner(num_shards=max(1, n := 3))"),
        ("tf.compat.v1.fixed_size_partitioner(3)", "FixedShardsPartitioner(num_shards=3)"),
        ("tf.min_max_variable_partitioner()", "MinSizePartitioner(max_shards=1, min_shard_bytes=256 << 10)"),
        ("tf.min_max_variable_partitioner(4)", "MinSizePartitioner(max_shards=4, min_shard_bytes=256 << 10)"),
        (
            "tf.min_max_variable_partitioner(max_partitions=run.num_ps, min_slice_size=64 << 20)",
            "MinSizePartitioner(max_shards=max(1, run.num_ps), min_shard_bytes=64 << 20)",
        ),
        (
            "tf.min_max_variable_partitioner(4, 0, 64, 8)",
            "MinSizePartitioner(max_shards=4, min_shard_bytes=64, bytes_per_string=8)",
        ),
        (
            "tf.min_max_variable_partitioner(min_slice_size=size)",
            "MinSizePartitioner(min_shard_bytes=size, max_shards=1)",
        ),
        ("tf.variable_axis_size_partitioner(64)", "MaxSizePartitioner(max_shard_bytes=64)"),
        (
            "tf.variable_axis_size_partitioner(64, 0, 16, 5)",
            "MaxSizePartitioner(max_shard_bytes=64, bytes_per_string=16, max_shards=5)",
        ),
        (
            "tf.variable_axis_size_partitioner(64, max_shards=None)",
            "MaxSizePartitioner(max_shard_bytes=64, max_shards=None)",
        ),
        ("tf.variable_axis_size_partitioner(64, max_shards=n)", "MaxSizePartitioner(max_shard_bytes=64, max_shards=n)"),
        ("tf.variable_axis_size_partitioner(64, axis=1 - 1)", "MaxSizePartitioner(max_shard_bytes=64)"),
    ],
)
def test_calls(before: str, after: str) -> None:
    one(f"p = {before}", f"p = {NEW}{after}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.fixed_size_partitioner(3, 1)", "FixedShardsPartitioner(num_shards=3)"),
        ("tf.fixed_size_partitioner(3, axis=-1)", "FixedShardsPartitioner(num_shards=3)"),
        ("tf.fixed_size_partitioner(3, axis=k)", "FixedShardsPartitioner(num_shards=3)"),
        ("tf.variable_axis_size_partitioner(9, axis=2)", "MaxSizePartitioner(max_shard_bytes=9)"),
    ],
)
def test_other_axis_is_unsafe(before: str, after: str) -> None:
    source = f"import tensorflow as tf\np = {before}\n"
    check_noop(source, RULES)
    (found,) = check(source, RULES)
    assert "axis 0 only" in found.message
    assert found.severity == Severity.WARNING
    one(f"p = {before}", f"p = {NEW}{after}", Applicability.UNSAFE)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("tf.fixed_size_partitioner(0)", "num_shards=0"),
        ("tf.fixed_size_partitioner(-1)", "num_shards=-1"),
        ("tf.fixed_size_partitioner(num_shards=None)", "num_shards=None"),
        ("tf.fixed_size_partitioner('3')", "num_shards='3'"),
        ("tf.fixed_size_partitioner(2.5)", "num_shards=2.5"),
        ("tf.min_max_variable_partitioner(0)", "max_shards=0"),
        ("tf.min_max_variable_partitioner(2, min_slice_size=0)", "min_shard_bytes=0"),
        ("tf.min_max_variable_partitioner(2, bytes_per_string_element=0)", "bytes_per_string=0"),
        ("tf.variable_axis_size_partitioner(0)", "max_shard_bytes=0"),
        ("tf.variable_axis_size_partitioner(8, max_shards=-1)", "max_shards=-1"),
        ("tf.fixed_size_partitioner()", "cannot be read"),
        ("tf.fixed_size_partitioner(*args)", "cannot be read"),
        ("tf.min_max_variable_partitioner(**options)", "cannot be read"),
        ("tf.fixed_size_partitioner(3, num_shards=3)", "cannot be read"),
        ("tf.fixed_size_partitioner(3, 0, 1)", "cannot be read"),
        ("tf.fixed_size_partitioner(3, wrong=1)", "cannot be read"),
        ("tf.fixed_size_partitioner", "without being called"),
        ("functools.partial(tf.min_max_variable_partitioner, 3)", "without being called"),
        ("{'fixed': tf.fixed_size_partitioner}", "without being called"),
    ],
)
def test_reported_and_left_alone(source: str, reason: str) -> None:
    text = f"import tensorflow as tf\np = {source}\n"
    check_noop(text, RULES, Applicability.UNSAFE)
    (found,) = check(text, RULES)
    assert reason in found.message
    assert found.fix is None


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as tf\ntf.fixed_size_partitioner(3)\n",
        "import tensorflow as tf\ndef f(tf):\n    return tf.fixed_size_partitioner(3)\n",
        "import tensorflow as tf\n'tf.fixed_size_partitioner(3)'\n",
        "import tensorflow as tf\n# tf.fixed_size_partitioner(3)\n",
        "import tensorflow as tf\nfixed_size_partitioner(3)\n",
        "import tensorflow as tf\ntf.distribute.experimental.partitioners.FixedShardsPartitioner(3)\n",
        "import tensorflow as tf\ntf.create_partitioned_variables([3], [1], f)\n",
        "import tensorflow as tf\nself.tf.fixed_size_partitioner(3)\n",
        "from tensorflow import *\nfixed_size_partitioner(3)\n",
    ],
)
def test_left_alone(source: str) -> None:
    check_noop(source, RULES)
    assert check(source, RULES) == []


def test_comments_and_lines_stay() -> None:
    check_transformed(
        """\
        import tensorflow as tf

        partitioner = tf.min_max_variable_partitioner(
            max_partitions=config.num_ps_replicas,  # one a server
            # no axis but the first
            axis=0,
            min_slice_size=64 << 20,  # 64 MiB
        )
        """,
        """\
        import tensorflow as tf

        partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(
            max_shards=max(1, config.num_ps_replicas),  # one a server
            # no axis but the first
            min_shard_bytes=64 << 20,  # 64 MiB
        )
        """,
        RULES,
    )


@pytest.mark.parametrize(
    ("imports", "call", "root"),
    [
        ("import tensorflow.compat.v1 as tf1\nimport tensorflow as tf\n", "tf1.fixed_size_partitioner(3)", "tf"),
        ("import tensorflow\n", "tensorflow.fixed_size_partitioner(3)", "tensorflow"),
        ("import tensorflow as T\n", "T.fixed_size_partitioner(3)", "T"),
        ("import tensorflow as tf\nf = tf.fixed_size_partitioner\n", "f(3)", "tf"),
    ],
)
def test_import_styles(imports: str, call: str, root: str) -> None:
    result = transform(f"{imports}x = {call}\n", RULES)
    assert result == f"{imports}x = {root}.{NEW[3:]}FixedShardsPartitioner(num_shards=3)\n"


def test_internal_names() -> None:
    for call in ("partitioned_variables.fixed_size_partitioner(3)", "fixed_size_partitioner(3)"):
        module = "ops import partitioned_variables" if "." in call else "ops.partitioned_variables import " + call[:-3]
        imports = f"import tensorflow as tf\nfrom tensorflow.python.{module}\n"
        assert transform(f"{imports}x = {call}\n", RULES) == f"{imports}x = {NEW}FixedShardsPartitioner(num_shards=3)\n"


def test_file_that_knows_only_compat_v1() -> None:
    check_transformed(
        "import tensorflow.compat.v1 as tf\nx = tf.fixed_size_partitioner(3)\n",
        "import tensorflow.compat.v1 as tf\n"
        "x = tf.compat.v2.distribute.experimental.partitioners.FixedShardsPartitioner(num_shards=3)\n",
        RULES,
    )
    check_transformed(
        "import tensorflow.compat.v1 as tf\nx = tf.fixed_size_partitioner(3)\n",
        f"import tensorflow as tf\nx = {NEW}FixedShardsPartitioner(num_shards=3)\n",
        [*RULES, *rules_of("symbols.compat_v1")],
    )


def test_import_is_added_where_no_name_stands_for_tensorflow() -> None:
    check_transformed(
        "from tensorflow import fixed_size_partitioner\nx = fixed_size_partitioner(3)\n",
        "import tensorflow as tf\nfrom tensorflow import fixed_size_partitioner\n"
        f"x = {NEW}FixedShardsPartitioner(num_shards=3)\n",
        RULES,
    )


def test_no_free_name() -> None:
    source = "from tensorflow import fixed_size_partitioner\ntf = 3\nx = fixed_size_partitioner(3)\n"
    check_noop(source, RULES)
    (found,) = check(source, RULES)
    assert "no name for TensorFlow is free" in found.message


def test_nested_in_a_scope_decorator_and_fstring() -> None:
    one(
        "@decorate(tf.fixed_size_partitioner(2))\ndef f(p=tf.fixed_size_partitioner(3)):\n"
        "    return f'{tf.fixed_size_partitioner(4)}', lambda: tf.fixed_size_partitioner(5)",
        f"@decorate({NEW}FixedShardsPartitioner(num_shards=2))\n"
        f"def f(p={NEW}FixedShardsPartitioner(num_shards=3)):\n"
        f"    return f'{{{NEW}FixedShardsPartitioner(num_shards=4)}}', "
        f"lambda: {NEW}FixedShardsPartitioner(num_shards=5)",
    )


def test_same_shards() -> None:
    """v1 partitioner against the text that the rule writes, over shapes, types and arguments."""
    tf = pytest.importorskip("tensorflow")
    shapes = [(1,), (7,), (64,), (1000,), (3, 5), (100, 8), (5000, 16), (1, 300), (17, 3, 2)]
    dtypes = [tf.float32, tf.float64, tf.int8, tf.int64, tf.bfloat16, tf.string, tf.bool]
    calls = [f"fixed_size_partitioner({n})" for n in (1, 2, 3, 7, 5000)]
    calls += [
        f"min_max_variable_partitioner({n}, 0, {size}, {string})"
        for n, size, string in itertools.product((1, 3, 8), (1, 64, 4096, 262144), (1, 16))
    ]
    calls += ["min_max_variable_partitioner()", "min_max_variable_partitioner(5)"]
    calls += ["min_max_variable_partitioner(max_partitions=servers)"]
    calls += [
        f"variable_axis_size_partitioner({size}, bytes_per_string_element={string}, max_shards={n})"
        for size, string, n in itertools.product((8, 100, 4096), (1, 16), (None, 0, 1, 4))
    ]
    assert tf.compat.v1.compat.v2.distribute.experimental.partitioners is not None
    compared = 0
    for call in calls:
        text = transform(f"import tensorflow as tf\np = tf.{call}\n", RULES).splitlines()[1][len("p = ") :]
        assert text.startswith(NEW)
        old = eval(f"tf.compat.v1.{call}", {"tf": tf, "servers": 3})
        new = eval(text, {"tf": tf, "servers": 3})
        for shape, dtype in itertools.product(shapes, dtypes):
            shards = [list(p(shape=tf.TensorShape(shape), dtype=dtype)) for p in (old, new)]
            assert shards[0] == shards[1], (call, text, shape, dtype)
            compared += 1
    assert compared > 3000
    assert eval(transform_call("tf.fixed_size_partitioner(servers)"), {"tf": tf, "servers": 0})(
        shape=tf.TensorShape([8]), dtype=tf.float32
    ) == [1]


def transform_call(call: str) -> str:
    """The expression that the rule writes for a call."""
    return transform(f"import tensorflow as tf\np = {call}\n", RULES).splitlines()[1][len("p = ") :]
