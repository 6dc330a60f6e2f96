"""The symbol table: rewrites, and things left alone."""

from __future__ import annotations

import pytest

from migrator.vendor.short_helpers import short_helpers
from migrator.vendor.vendored_runtime import training_library
from migrator.vocabulary.diagnostics import Severity
from tools import check, check_noop, check_transformed, rules_of, transform

RULES = rules_of("symbols.symbol_table")
V1 = "import tensorflow as tf\ntf.train.Saver()\n"


def one(before: str, after: str, head: str = V1) -> None:
    check_transformed(f"{head}{before}\n", f"{head}{after}\n", RULES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # another name for the same object
        ("tf.log(x)", "tf.math.log(x)"),
        ("map(tf.log, xs)", "map(tf.math.log, xs)"),
        ("tf.FixedLenFeature([], tf.int64)", "tf.io.FixedLenFeature([], tf.int64)"),
        ("tf.VarLenFeature(tf.int64)", "tf.io.VarLenFeature(tf.int64)"),
        ("tf.random_uniform([2], 0, 1, seed=3)", "tf.random.uniform([2], 0, 1, seed=3)"),
        ("tf.is_nan(x)", "tf.math.is_nan(x)"),
        ("tf.rsqrt(x)", "tf.math.rsqrt(x)"),
        ("tf.lgamma(x)", "tf.math.lgamma(x)"),
        ("tf.mod(x, y)", "tf.math.mod(x, y)"),
        ("tf.python_io.TFRecordWriter(path)", "tf.io.TFRecordWriter(path)"),
        ("tf.sparse_tensor_to_dense(s, default_value='')", "tf.sparse.to_dense(s, default_value='')"),
        ("tf.matching_files(p)", "tf.io.matching_files(p)"),
        ("tf.gfile.GFile(p, 'w')", "tf.io.gfile.GFile(p, 'w')"),
        ("tf.gfile.Open(p)", "tf.io.gfile.GFile(p)"),
        ("tf.gfile.FastGFile(p)", "tf.io.gfile.GFile(p)"),
        # another name and other parameters
        ("tf.gfile.MakeDirs(p)", "tf.io.gfile.makedirs(p)"),
        ("tf.gfile.MakeDirs(dirname=p)", "tf.io.gfile.makedirs(path=p)"),
        ("tf.gfile.Copy(a, b, overwrite=True)", "tf.io.gfile.copy(a, b, overwrite=True)"),
        ("tf.gfile.Copy(oldpath=a, newpath=b)", "tf.io.gfile.copy(src=a, dst=b)"),
        ("tf.gfile.Walk(top=p, in_order=False)", "tf.io.gfile.walk(top=p, topdown=False)"),
        ("tf.parse_single_example(s, f)", "tf.io.parse_single_example(s, f)"),
        ("tf.parse_single_example(s, f, 'n')", "tf.io.parse_single_example(s, f, name='n')"),
        ("tf.decode_csv(s, d, ',')", "tf.io.decode_csv(s, d, ',')"),
        ("tf.decode_raw(bytes=s, out_type=tf.uint8)", "tf.io.decode_raw(input_bytes=s, out_type=tf.uint8)"),
        ("tf.string_to_number(s, tf.int32)", "tf.strings.to_number(s, tf.int32)"),
        ("tf.string_to_hash_bucket_fast(s, 9)", "tf.strings.to_hash_bucket_fast(s, 9)"),
        ("tf.set_random_seed(1)", "tf.random.set_seed(1)"),
        ("tf.multinomial(x, 3, seed=1)", "tf.random.categorical(x, 3, seed=1)"),
        ("tf.multinomial(x, 3, 1)", "tf.random.categorical(x, 3, seed=1)"),
        ("tf.py_func(f, [x], tf.float32)", "tf.numpy_function(f, [x], tf.float32)"),
        ("tf.count_nonzero(x, keep_dims=True)", "tf.math.count_nonzero(x, keepdims=True)"),
        ("tf.contrib.data.map_and_batch(f, 3)", "tf.data.experimental.map_and_batch(f, 3)"),
        (
            "tf.keras.initializers.normal(stddev=0.1, dtype=tf.float32)",
            "tf.keras.initializers.RandomNormal(stddev=0.1)",
        ),
        ("tf.keras.initializers.uniform(-1, 1, 7)", "tf.keras.initializers.RandomUniform(-1, 1, 7)"),
        (
            "tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(k, v), -1, shared_name='t')",
            "tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(k, v), -1)",
        ),
        ("tf.contrib.lookup.TextFileInitializer(p, d, 0, d, -1)", "tf.lookup.TextFileInitializer(p, d, 0, d, -1)"),
        ("tf.sparse.merge(i, v, 3)", "tf.compat.v1.sparse.merge(i, v, 3)"),
        (
            "tf.data.experimental.map_and_batch_with_legacy_function(f, batch_size=3)",
            "tf.data.experimental.map_and_batch(f, batch_size=3)",
        ),
        ("tf.contrib.framework.nest.flatten(x)", "tf.nest.flatten(x)"),
        # casts
        ("tf.to_float(x)", "tf.cast(x, tf.float32)"),
        ("tf.to_int32(x, 'n')", "tf.cast(x, tf.int32, name='n')"),
        ("tf.to_int64(x=y)", "tf.cast(x=y, dtype=tf.int64)"),
        ("tf.to_float(x, name='n')", "tf.cast(x, tf.float32, name='n')"),
        ("tf.to_float(tf.to_int32(tf.log(x)))", "tf.cast(tf.cast(tf.math.log(x), tf.int32), tf.float32)"),
        ("tf.to_double(x for x in y)", "tf.cast((x for x in y), tf.float64)"),
        ("tf.to_float(x,)", "tf.cast(x, tf.float32)"),
        # keywords
        ("tf.reduce_sum(x, 1, keep_dims=True)", "tf.reduce_sum(x, 1, keepdims=True)"),
        ("tf.reduce_mean(x, reduction_indices=[1])", "tf.reduce_mean(x, axis=[1])"),
        ("tf.argmax(x, dimension=1)", "tf.argmax(x, axis=1)"),
        ("tf.argmax(x, 1, 'n')", "tf.argmax(x, 1, name='n')"),
        ("tf.expand_dims(x, dim=1)", "tf.expand_dims(x, axis=1)"),
        ("tf.squeeze(x, squeeze_dims=[1])", "tf.squeeze(x, axis=[1])"),
        ("tf.nn.softmax(x, dim=-1)", "tf.nn.softmax(x, axis=-1)"),
        ("tf.nn.l2_normalize(x, dim=1)", "tf.nn.l2_normalize(x, axis=1)"),
        ("tf.nn.moments(x, [0], keep_dims=True)", "tf.nn.moments(x, [0], keepdims=True)"),
        ("tf.cond(p, fn1=f, fn2=g)", "tf.cond(p, true_fn=f, false_fn=g)"),
        (
            "tf.nn.conv2d(x, filter=w, strides=1, padding='SAME')",
            "tf.nn.conv2d(x, filters=w, strides=1, padding='SAME')",
        ),
        ("tf.nn.conv2d(x, w, 1, 'SAME', False)", "tf.nn.conv2d(x, w, 1, 'SAME')"),
        ("tf.boolean_mask(x, m, 'n', 1)", "tf.boolean_mask(x, m, name='n', axis=1)"),
        ("tf.pad(x, p, 'CONSTANT', 'n')", "tf.pad(x, p, 'CONSTANT', name='n')"),
        ("tf.zeros_like(tensor=x, optimize=False)", "tf.zeros_like(input=x)"),
        ("tf.nn.in_top_k(a, b, 3)", "tf.nn.in_top_k(predictions=a, targets=b, k=3)"),
        ("tf.convert_to_tensor(x, tf.int32, 'n')", "tf.convert_to_tensor(x, tf.int32, name='n')"),
        ("tf.transpose(x, [1, 0], 'n')", "tf.transpose(x, [1, 0], name='n')"),
        (
            "tf.nn.softmax_cross_entropy_with_logits_v2(labels=a, logits=b, dim=1)",
            "tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b, axis=1)",
        ),
        # dropout
        ("tf.nn.dropout(x, 0.9)", "tf.nn.dropout(x, rate=1 - 0.9)"),
        ("tf.nn.dropout(x, keep_prob=k)", "tf.nn.dropout(x, rate=1 - k)"),
        ("tf.nn.dropout(x, 1.0 - rate)", "tf.nn.dropout(x, rate=rate)"),
        ("tf.nn.dropout(x, keep_prob=1 - (a + b))", "tf.nn.dropout(x, rate=(a + b))"),
        ("tf.nn.dropout(x, (1 - p['drop']), seed=3)", "tf.nn.dropout(x, rate=p['drop'], seed=3)"),
        ("tf.nn.dropout(x, 1 - a - b)", "tf.nn.dropout(x, rate=1 - (1 - a - b))"),
        ("tf.nn.dropout(x, a - b)", "tf.nn.dropout(x, rate=1 - (a - b))"),
        ("tf.nn.dropout(x, (a - b))", "tf.nn.dropout(x, rate=1 - (a - b))"),
        ("tf.nn.dropout(x, a if b else c)", "tf.nn.dropout(x, rate=1 - (a if b else c))"),
        ("tf.nn.dropout(x, p['keep'], [1], 3)", "tf.nn.dropout(x, rate=1 - p['keep'], noise_shape=[1], seed=3)"),
        ("tf.nn.dropout(tf.nn.dropout(x, a), b)", "tf.nn.dropout(tf.nn.dropout(x, rate=1 - a), rate=1 - b)"),
        # embeddings
        ("tf.nn.embedding_lookup(t, i, partition_strategy='div')", "tf.nn.embedding_lookup(t, i)"),
        ("tf.nn.embedding_lookup(t, i, 'mod', 'n')", "tf.nn.embedding_lookup(t, i, name='n')"),
        # initializers and regularizers
        ("tf.zeros_initializer(tf.float32)", "tf.zeros_initializer()"),
        ("tf.zeros_initializer(dtype=tf.float32)", "tf.zeros_initializer()"),
        ("tf.constant_initializer(1, tf.int32)", "tf.constant_initializer(1)"),
        ("tf.truncated_normal_initializer()", "tf.keras.initializers.TruncatedNormal(stddev=1.0)"),
        ("tf.truncated_normal_initializer(stddev=.1)", "tf.keras.initializers.TruncatedNormal(stddev=.1)"),
        ("tf.truncated_normal_initializer(0, .1, 3, tf.float32)", "tf.keras.initializers.TruncatedNormal(0, .1, 3)"),
        ("tf.random_normal_initializer(1.0)", "tf.keras.initializers.RandomNormal(1.0, stddev=1.0)"),
        ("tf.random_uniform_initializer(-1)", "tf.keras.initializers.RandomUniform(-1, maxval=1.0)"),
        (
            "tf.layers.dense(x, 2, kernel_initializer=tf.truncated_normal_initializer)",
            "tf.layers.dense(x, 2, kernel_initializer=tf.keras.initializers.TruncatedNormal(stddev=1.0))",
        ),
        (
            "layer.add_weight('w', initializer=tf.initializers.random_uniform)",
            "layer.add_weight('w', initializer=tf.keras.initializers.RandomUniform(minval=0.0, maxval=1.0))",
        ),
        (
            "layer.add_weight('w', initializer=tf.initializers.zeros)",
            "layer.add_weight('w', initializer=tf.zeros_initializer())",
        ),
        ("tf.glorot_uniform_initializer(dtype=tf.float32)", "tf.keras.initializers.GlorotUniform()"),
        ("tf.contrib.layers.l2_regularizer(0.1)", "tf.keras.regularizers.L2(0.1 / 2)"),
        ("tf.contrib.layers.l2_regularizer(scale=a + b)", "tf.keras.regularizers.L2(l2=(a + b) / 2)"),
        ("tf.contrib.layers.l1_regularizer(0.1, scope='s')", "tf.keras.regularizers.L1(0.1)"),
        ("tf.contrib.layers.l1_l2_regularizer(0.1)", "tf.keras.regularizers.L1L2(0.1, l2=1.0 / 2)"),
        # only in compat.v1
        ("tf.summary.FileWriterCache.clear()", "tf.compat.v1.summary.FileWriterCache.clear()"),
        (
            "tf.ConfigProto(gpu_options=tf.GPUOptions())",
            "tf.compat.v1.ConfigProto(gpu_options=tf.compat.v1.GPUOptions())",
        ),
        ("tf.OptimizerOptions.ON_1", "tf.compat.v1.OptimizerOptions.ON_1"),
        ("tf.string_split([x], ',')", "tf.compat.v1.string_split([x], ',')"),
        ("tf.Summary.Value(tag='a')", "tf.compat.v1.Summary.Value(tag='a')"),
        ("tf.image.resize_images(x, [1, 1])", "tf.compat.v1.image.resize_images(x, [1, 1])"),
        ("tf.div(x, y)", "tf.compat.v1.div(x, y)"),
        ("tf.VERSION", "tf.version.VERSION"),
        ("tf.extract_image_patches(x, a, b, c, 'SAME')", "tf.image.extract_patches(x, a, b, c, 'SAME')"),
        ("tf.strings.split(x)", "tf.compat.v1.strings.split(x)"),  # a SparseTensor by default
        ("tf.nn.ctc_beam_search_decoder(x, a)", "tf.compat.v1.nn.ctc_beam_search_decoder(x, a)"),  # merges by default
        # hostile layout
        ("tf . gfile\\\n.MakeDirs(p)", "tf.io.gfile.makedirs(p)"),
        ("f'{tf.log(x)!r:>{tf.to_int32(w)}}'", "f'{tf.math.log(x)!r:>{tf.cast(w, tf.int32)}}'"),
        ("(lambda: tf.log)()(x)", "(lambda: tf.math.log)()(x)"),
        ("if (y := tf.to_float(x)): pass", "if (y := tf.cast(x, tf.float32)): pass"),
        ("@tf.log\ndef f(x: tf.log = tf.log): pass", "@tf.math.log\ndef f(x: tf.math.log = tf.math.log): pass"),
        ("tf.to_float(  # why\n    x  # what\n)", "tf.cast(  # why\n    x, tf.float32  # what\n)"),
        ("tf.to_float(\n    x,  # what\n)", "tf.cast(\n    x,  # what\n    tf.float32,\n)"),
        ("tf.reduce_sum(\n    x,\n    keep_dims=True,  # k\n)", "tf.reduce_sum(\n    x,\n    keepdims=True,  # k\n)"),
        (
            "tf.constant_initializer(\n    1,  # one\n    dtype=tf.int32,  # two\n)",
            "tf.constant_initializer(\n    1,  # one\n)",
        ),
    ],
)
def test_rewrites(before: str, after: str) -> None:
    one(before, after)


@pytest.mark.parametrize(
    "source",
    [
        "tf.reduce_sum(x, 1, keepdims=True)",
        "tf.reduce_sum(x, 1, True)",
        "tf.argmax(x, 1, output_type=tf.int32)",
        "tf.nn.dropout(x, rate=0.5)",
        "tf.nn.dropout(x)",
        "tf.concat([x], 0)",
        "tf.shape(x)",
        "map(tf.shape, xs)",
        "x.log(y)",
        "tf.zeros_initializer",
        "tf.zeros_initializer()",
        "tf.data.TextLineDataset(p)",
        "tf.keras.layers.Dense(3)",
        "tf.estimator.Estimator(f)",
        "tf.layers.dense(x, 3)",
        "tf.losses.mean_squared_error(a, b)",
        "tf.metrics.accuracy(a, b)",
        "tf.train.AdamOptimizer(1)",
        "tf.get_variable('a')",
        "tf.variable_scope('a')",
        "tf.summary.scalar('a', b)",
        "tf.contrib.rnn.LSTMCell(3)",
        "tf.log = f",
        "'tf.log(x)'",
        "x = 1  # tf.log(x)",
        "def f(tf): return tf.log(1)",
        "[tf.log(1) for tf in x]",
        "tf.where(x)",
        "tf.while_loop(c, b, v)",
        "tf.name_scope('a')",
    ],
)
def test_left_alone(source: str) -> None:
    text = f"{V1}{source}\n"
    check_noop(text, RULES)
    assert check(text, RULES) == []


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("map(tf.to_float, xs)", "without being called"),
        ("make(2, initializer=tf.initializers.random_normal)", "without being called"),
        ("tf.get_variable('w', tf.initializers.random_normal)", "without being called"),
        ("tf.parse_single_example(*args)", "cannot be seen"),
        ("tf.nn.dropout(x, **options)", "cannot be seen"),
        ("tf.nn.dropout(x, 0.5, rate=0.5)", "given twice"),
        ("tf.reduce_sum(x, keep_dims=True, keepdims=True)", "given twice"),
        ("tf.nn.embedding_lookup([a, b], ids)", "is a list"),
        ("tf.nn.embedding_lookup(t, i, partition_strategy=s)", "no argument `partition_strategy`"),
        ("tf.assert_positive(x, data=[y])", "no argument `data`"),
        ("tf.cond(p, f, g, strict=True)", "no argument `strict`"),
        ("tf.name_scope(None, 'default')", "no argument `default_name`"),
        ("tf.where(c, x, y)", "broadcasts"),
        ("tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b)", "stop_gradient"),
        ("tf.contrib.training.HParams(a=1)", "dataclass"),
        ("tf.contrib.factorization.KMeansClustering(3)", "no part of TensorFlow 2 trains such models"),
        ("from tensorflow.contrib.tensor_forest.client import random_forest\nrandom_forest.Model(p)", "no part of"),
        ("tf.train.get_global_step()", "optimizer.iterations"),
        ("tf.scatter_sub(v, i, x)", "variable.scatter_sub(tf.IndexedSlices(values, indices))"),
        ("tf.GraphKeys.UPDATE_OPS", "collections"),
        ("tf.contrib.lookup.index_table_from_file(p)", "StaticVocabularyTable"),
        ("map(tf.keras.initializers.normal, xs)", "without being called"),
        ("tf.keras.layers.CuDNNLSTM(3)", "tf.keras.layers.LSTM"),
        ("tf.train.experimental.enable_mixed_precision_graph_rewrite(o)", "set_global_policy"),
        ("tf.keras.mixed_precision.experimental.Policy('mixed_float16')", "tf.keras.mixed_precision"),
        ("tf.distributions.Normal(0.0, 1.0)", "tensorflow_probability"),
        ("from tensorflow.python.keras.wrappers.scikit_learn import KerasClassifier\nKerasClassifier(f)", "scikeras"),
    ],
)
def test_reported_without_a_fix(source: str, reason: str) -> None:
    text = f"{V1}{source}\n"
    check_noop(text, RULES)
    (found,) = check(text, RULES)
    assert reason in found.message
    assert (found.code, found.fix) == ("EST003", None)


@pytest.mark.parametrize(
    ("imported", "before", "after"),
    [
        (
            "from tensorflow.python.keras.datasets import mnist",
            "mnist.load_data()",
            "tf.keras.datasets.mnist.load_data()",
        ),
        ("import tensorflow.python.keras.datasets.imdb as i", "i.load_data(p)", "tf.keras.datasets.imdb.load_data(p)"),
        (
            "from tensorflow.python.keras.preprocessing.sequence import pad_sequences as pad",
            "pad(x, 3)",
            "tf.keras.preprocessing.sequence.pad_sequences(x, 3)",
        ),
        (
            "from tensorflow.python.keras.applications.vgg16 import VGG16",
            "VGG16()",
            "tf.keras.applications.vgg16.VGG16()",
        ),
    ],
)
def test_imports_that_reach_into_what_moved(imported: str, before: str, after: str) -> None:
    check_transformed(f"{V1}{imported}\n{before}\n", f"{V1}{imported}\n{after}\n", RULES)


def test_other_private_modules_of_keras_are_left_alone() -> None:
    check_noop(f"{V1}from tensorflow.python.keras.layers import Dense\nDense(3)\n", RULES)


def test_graph_mode_names_say_so() -> None:
    (found, _) = check(f"{V1}tf.Session(config=tf.ConfigProto())\n", RULES)
    assert found.severity == Severity.WARNING
    assert "graph mode" in found.message


@pytest.mark.parametrize(
    "source",
    [
        # Nothing in these files is TensorFlow 1, so the positional meaning of TensorFlow 2 holds.
        "import tensorflow as tf\ntf.nn.dropout(x, 0.9)\n",
        "import tensorflow as tf\ntf.boolean_mask(x, m, 1)\n",
        "import tensorflow as tf\ntf.compat.v1.placeholder(1)\ntf.nn.dropout(x, 0.9)\n",
        "import tensorflow.compat.v2 as tf\ntf.nn.dropout(x, 0.9)\n",
        # This import is the affair of the compat-import rule.
        "import tensorflow.compat.v1 as tf\ntf.nn.dropout(x, 0.9)\ntf.log(x)\n",
        "import numpy as tf\ntf.log(x)\n",
        "from tensorflow import *\nlog(x)\n",
        "x = 3\n",
    ],
)
def test_other_dialects_are_left_alone(source: str) -> None:
    check_noop(source, RULES)


def test_old_keyword_is_evidence_enough() -> None:
    one("tf.nn.dropout(x, keep_prob=k)", "tf.nn.dropout(x, rate=1 - k)", head="import tensorflow as tf\n")
    one("tf.reduce_sum(x, keep_dims=True)", "tf.reduce_sum(x, keepdims=True)", head="import tensorflow as tf\n")


def test_compat_chains_are_modernized() -> None:
    one("tf.compat.v1.log(x)", "tf.math.log(x)", head="import tensorflow as tf\n")
    one("tf.compat.v1.nn.dropout(x, 0.9)", "tf.nn.dropout(x, rate=1 - 0.9)", head="import tensorflow as tf\n")
    one("tf.compat.v1.train.Example()", "tf.train.Example()", head="import tensorflow as tf\n")
    check_noop("import tensorflow as tf\ntf.compat.v1.where(a, b, c)\ntf.compat.v1.placeholder(1)\n", RULES)


def test_aliases() -> None:
    check_transformed(
        "import tensorflow as tf\ng = tf.gfile\nwith g.Open(p) as f: pass\n",
        "import tensorflow as tf\ng = tf.gfile\nwith tf.io.gfile.GFile(p) as f: pass\n",
        RULES,
    )
    check_transformed(
        "from tensorflow import gfile\nx = gfile.Exists(p)\n",
        "import tensorflow as tf\nfrom tensorflow import gfile\nx = tf.io.gfile.exists(p)\n",
        RULES,
    )
    check_transformed(
        "import tensorflow\nx = tensorflow.to_float(y)\n",
        "import tensorflow\nx = tensorflow.cast(y, tensorflow.float32)\n",
        RULES,
    )


def test_windows_line_ends() -> None:
    source = "import tensorflow as tf\r\nx = tf.to_float(\r\n    x,\r\n)\r\n"
    assert transform(source, RULES) == "import tensorflow as tf\r\nx = tf.cast(\r\n    x,\r\n    tf.float32,\r\n)\r\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LSTM(4, input_shape=(5, 3))", 'LSTM(4, input_shape=(5, 3), recurrent_activation="hard_sigmoid")'),
        ("GRU(4)", 'GRU(4, recurrent_activation="hard_sigmoid", reset_after=False)'),
        ("GRU(4, 'relu', 'sigmoid', reset_after=True)", "GRU(4, 'relu', 'sigmoid', reset_after=True)"),
    ],
)
def test_recurrent_layers_of_keras_keep_their_defaults(before: str, after: str) -> None:
    if before == after:
        check_noop(f"{V1}tf.keras.layers.{before}\n", RULES)
    else:
        one(f"tf.keras.layers.{before}", f"tf.keras.layers.{after}")
    check_noop(f"import tensorflow as tf\ntf.keras.layers.{before}\n", RULES)


def test_code_that_cannot_be_printed_is_left_and_told() -> None:
    source = "import tensorflow as tf\ntry:\n    tf.train.Saver()\nexcept tf.to_float(x) :\n    pass\n"
    (found,) = [found for found in check(source, RULES) if "to_float" in found.message]
    assert found.fix is None and found.location.line == 4
    assert found.message == (
        "tf.to_float is left as it is: libcst prints this statement in another way than it is written (line 4); "
        "change it by hand"
    )


def test_helpers_in_a_program_for_tensorflow_1_mean_what_they_say() -> None:
    library = training_library("columns", False)
    texts = {name: short_helpers([name]) for name in library.definitions}
    short = "\n\n".join(dict.fromkeys(text for found in texts.values() for text in (found or {}).values()))
    own = [rule for rule in RULES if rule.name == "changed-parameters"]
    changed = set(short.splitlines()) - set(transform(V1 + short, own).splitlines())
    changed = {line for line in changed if "tf.compat.v1." not in line}  # of graphs, which get other names
    assert own and "def index_table_from_tensor(" in short and not changed


def test_a_loss_that_takes_what_tensorflow_2_does_not_stays() -> None:
    one("tf.nn.ctc_loss(y, x, [5])", "tf.nn.ctc_loss(y, x, None, logit_length=[5], blank_index=-1)")
    kept = "nn.ctc_loss(y, x, [5], ignore_longer_outputs_than_inputs=True)"
    one(f"tf.{kept}", f"tf.compat.v1.{kept}")
    check_noop(f"import tensorflow as tf\ntf.compat.v1.{kept}\n", RULES)
    check_noop(f"{V1}tf.nn.ctc_loss(y, x, None, logit_length=[5], blank_index=-1)\n", RULES)
